"""Quests open to choice: asked in every round that can begin, and put as shortly as the answers allow."""

from __future__ import annotations

from dataclasses import dataclass

from avalon_logic.referee.rounds import Exploration, targets
from avalon_logic.referee.stage import Stage


@dataclass(frozen=True)
class OpenQuests:
    """Which quests may be attempted. `rows` pairs what decides it with the open quests.

    `by` says what decides: "successes" (then an attempted quest is `again` open or not), "order" (the number of
    the round) or "score" (the quests attempted and the successes).
    """

    by: str
    rows: tuple[tuple[tuple[int, ...], frozenset[int]], ...]
    again: bool
    kept_after_rejection: bool


def open_quests(stage: Stage, exploration: Exploration) -> OpenQuests:
    """Asks in every round that can begin which quests are legal, and puts the answer as shortly as it goes."""
    names = stage.names
    seen: dict[tuple[int, frozenset[int], int], set[frozenset[int]]] = {}
    for start in exploration.rounds:
        marks = stage.value(start.state, names.mark)
        assert isinstance(marks, tuple)
        attempted = frozenset(q for q, mark in enumerate(marks, 1) if mark != names.open)
        successes = stage.value(start.state, names.successes)
        assert isinstance(successes, int)
        legal = frozenset(q for q in targets(stage, start.state) if q is not None)
        seen.setdefault((successes, attempted, start.played), set()).add(legal)
    kept = _kept_after_rejection(stage)
    for again in (False, True):
        gates: dict[int, frozenset[int]] = {}
        for successes in sorted({w for w, _, _ in seen}):
            sets = (x for (w, _, _), found in seen.items() if w == successes for x in found)
            gates[successes] = frozenset().union(*sets)
        if all(x == (gates[w] if again else gates[w] - a) for (w, a, _), sets in seen.items() for x in sets):
            return OpenQuests("successes", tuple(((w,), g) for w, g in gates.items()), again, kept)
    by_order: dict[int, set[frozenset[int]]] = {}
    for (_, _, played), legal_sets in seen.items():
        by_order.setdefault(played + 1, set()).update(legal_sets)
    if all(len(v) == 1 for v in by_order.values()):
        rows = tuple(((k,), next(iter(v))) for k, v in sorted(by_order.items()))
        return OpenQuests("order", rows, False, kept)
    listed = sorted(((w, *sorted(a)), frozenset().union(*sets)) for (w, a, _), sets in seen.items())
    return OpenQuests("score", tuple(listed), False, kept)


def _kept_after_rejection(stage: Stage) -> bool:
    """Choose a quest, reject the team: is the same quest the only one the next leader may choose?"""
    names = stage.names
    start, _ = stage.opening()
    before = targets(stage, start)
    chosen = before[0]
    at_vote = stage.until(start, (names.ballot,), {names.target: lambda s, seat: chosen})
    after = stage.until(at_vote, (names.target,), {names.ballot: lambda s, seat: False})
    return targets(stage, after) == (chosen,) != before
