"""Quests, votes and scores, found by playing: team sizes, what every number of fails does, how many approvals it takes,
which quests are open, how often a choice such as an examination comes up.

`explore` plays every order and result of quests once and merges states with the same future.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from itertools import combinations, product

from avalon_logic.referee.stage import Answer, Stage
from rules_dsl import Value
from rules_dsl.play import IllegalMove, State


@dataclass(frozen=True)
class Use:
    """A choice that came up after some quests, with how many options it had."""

    after: int
    options: int


@dataclass(frozen=True)
class RoundStart:
    """A round about to begin, after `played` quests."""

    played: int
    state: State
    uses: tuple[Use, ...]


@dataclass(frozen=True)
class QuestFacts:
    """A quest attempted as the k-th: the team's size, and for every number of fails shown the result.

    `evil_aboard` is the least number of evil team members that such a result is possible with.
    """

    attempt: int
    quest: int
    size: int
    results: tuple[str, ...]
    evil_aboard: tuple[int, ...]
    lost: str

    @property
    def fails_needed(self) -> int:
        return self.results.index(self.lost)


@dataclass(frozen=True)
class VoteFacts:
    """Approvals that pass a team, rejections that stop it, how many rejected teams end the game, and whether they are
    counted anew after a quest. `unvoted` are the proposals of a round that go without a vote."""

    approvals: int
    rejections: int
    evil: int
    rejected_teams: int | None
    winner: str | None
    counted_anew: bool
    unvoted: tuple[int, ...]


@dataclass(frozen=True)
class Exploration:
    """All rounds that can begin and all ends the quests can come to, one for each state that differs."""

    rounds: tuple[RoundStart, ...]
    ends: tuple[RoundStart, ...]


def round_choice(stage: Stage) -> str:
    """What is chosen first in a round: the quest where it is chosen, else the team."""
    return stage.names.target if stage.names.target in stage.choices else stage.names.team


def targets(stage: Stage, state: State) -> tuple[int | None, ...]:
    """The quests that may be attempted now; (None,) where there is no choice."""
    if stage.awaits(state) != stage.names.target:
        return (None,)
    return tuple(int(v) for v in stage.options(state))  # type: ignore[arg-type]


def _is_evil(stage: Stage, seat: int) -> bool:
    return stage.sides[stage.deal[seat]] == stage.names.saboteurs


def to_team(stage: Stage, state: State, target: int | None) -> State:
    """Chooses the quest, where it is chosen."""
    answers: dict[str, Answer] = {stage.names.target: lambda s, seat: target}
    return stage.until(state, (stage.names.team,), answers)


def teams(stage: Stage, state: State) -> Iterator[frozenset[int]]:
    """The teams that may be proposed now."""
    for value in stage.options(state):
        assert isinstance(value, frozenset)
        yield value  # type: ignore[misc]


def _approved(stage: Stage, team: frozenset[int]) -> dict[str, Answer]:
    return {stage.names.team: lambda s, seat: team, stage.names.ballot: lambda s, seat: True}


def to_cards(stage: Stage, state: State, target: int | None) -> State:
    """Sends the team with most evil members on a quest, up to the cards."""
    at_team = to_team(stage, state, target)
    return stage.until(at_team, (stage.names.card,), _approved(stage, _evil_team(stage, at_team)))


def lay_cards(stage: Stage, at_cards: State, failed: bool) -> State:
    """Everybody on the team who may fail the quest does so, or nobody does."""

    def card(now: State, seat: int) -> Value:
        options = list(stage.engine.options(now, seat))
        return options[-1] if failed else options[0]

    return stage.play(at_cards, {stage.names.card: card})


def play_quest(stage: Stage, state: State, target: int | None, failed: bool) -> State:
    """A whole quest, failed if that can be."""
    return lay_cards(stage, to_cards(stage, state, target), failed)


def _evil_team(stage: Stage, at_team: State) -> frozenset[int]:
    """A legal team with as many evil members as possible."""
    evil_first = sorted(range(stage.players), key=lambda seat: not _is_evil(stage, seat))
    raw = stage.engine.encode(at_team)
    (leader,) = stage.pending(at_team).seats
    for size in range(1, stage.players + 1):
        team = frozenset(evil_first[:size])
        with suppress(IllegalMove):
            stage.engine.check_value(raw, leader, team)
            return team
    return max(teams(stage, at_team), key=lambda t: sum(_is_evil(stage, s) for s in t))


def explore(stage: Stage, watched: str | None = None) -> Exploration:
    """Every order and result of quests, each team approved at once; counts how often `watched` is chosen."""
    first = round_choice(stage)
    stops = {first, watched} - {None}
    start, _ = stage.opening()
    frontier = [RoundStart(0, start, ())]
    rounds: dict[object, RoundStart] = {}
    ends: dict[object, RoundStart] = {}
    while frontier:
        now = frontier.pop()
        key = (now.played, now.uses, stage.key(now.state))
        if key in rounds:
            continue
        rounds[key] = now
        for target in targets(stage, now.state):
            at_cards = to_cards(stage, now.state, target)
            for failed in (False, True):
                state = lay_cards(stage, at_cards, failed)
                uses = list(now.uses)
                state = stage.until(state, stops, {})  # type: ignore[arg-type]
                while not state.over and stage.awaits(state) == watched:
                    uses.append(Use(now.played + 1, sum(1 for _ in stage.options(state))))
                    state = stage.until(stage.play(state, {}), stops, {})  # type: ignore[arg-type]
                following = RoundStart(now.played + 1, state, tuple(uses))
                if state.over:
                    ends.setdefault((following.played, following.uses, state.result), following)
                else:
                    frontier.append(following)
    return Exploration(tuple(rounds.values()), tuple(ends.values()))


def quest_facts(stage: Stage, exploration: Exploration) -> tuple[QuestFacts, ...]:
    """For every quest and every place in the order it can have: size, results by number of fails."""
    found: dict[tuple[int, int], QuestFacts] = {}
    for start in exploration.rounds:
        for target in targets(stage, start.state):
            at_team = to_team(stage, start.state, target)
            quest = stage.ask(at_team, stage.names.quest)
            assert isinstance(quest, int)
            place = (start.played + 1, quest)
            if place not in found:
                found[place] = _facts(stage, at_team, *place)
    return tuple(found[place] for place in sorted(found))


def _facts(stage: Stage, at_team: State, attempt: int, quest: int) -> QuestFacts:
    names = stage.names
    legal = list(teams(stage, at_team))
    by_evil = {sum(_is_evil(stage, s) for s in team): team for team in legal}
    sizes = {len(team) for team in legal}
    assert len(sizes) == 1, f"quest {quest} has teams of several sizes"
    results: dict[int, set[str]] = {}
    aboard: dict[int, int] = {}
    for evil, team in sorted(by_evil.items()):
        at_cards = stage.until(at_team, (names.card,), _approved(stage, team))
        for fails, result in _outcomes(stage, at_cards, quest):
            results.setdefault(fails, set()).add(result)
            aboard.setdefault(fails, evil)
    shown = range(max(results) + 1)
    assert all(len(results[k]) == 1 for k in shown), f"the fails of quest {quest} do not decide its result"
    return QuestFacts(
        attempt,
        quest,
        sizes.pop(),
        tuple(next(iter(results[k])) for k in shown),
        tuple(aboard[k] for k in shown),
        names.lost,
    )


def _outcomes(stage: Stage, at_cards: State, quest: int) -> set[tuple[int, str]]:
    """All pairs of fails shown and result, over every legal hand of cards and what comes before they are shown."""
    names = stage.names
    seats = stage.pending(at_cards).seats
    hands = product(*(tuple(stage.options(at_cards, seat)) for seat in seats))
    published = {names.fails}
    found: set[tuple[int, str]] = set()
    queue = [tuple(zip(seats, hand, strict=True)) for hand in hands]
    for move in queue:
        steps = [stage.engine.step(at_cards, move)]
        while steps:
            step = steps.pop()
            if any(o.kind == "published" and o.name in published for o in step.observations):
                fails = stage.value(step.state, names.fails)
                marks = stage.value(step.state, names.mark)
                assert isinstance(fails, int)
                assert isinstance(marks, tuple)
                found.add((fails, str(marks[quest - 1])))
                continue
            seat = stage.pending(step.state).seats[0]
            steps += [stage.engine.step(step.state, ((seat, v),)) for v in stage.options(step.state, seat)]
    return found


def vote_facts(stage: Stage) -> VoteFacts:
    """Runs the vote for every number of approvals, and rejects teams until the game ends."""
    names = stage.names
    start, _ = stage.opening()
    at_vote = stage.until(start, (names.ballot,), {})
    seats = stage.pending(at_vote).seats
    passed: dict[int, set[bool]] = {}
    for count in range(len(seats) + 1):
        for who in (*list(combinations(seats, count))[:40], seats[len(seats) - count :]):
            step = stage.engine.step(at_vote, tuple((s, s in who) for s in seats))
            entered = [o.name for o in step.observations if o.kind == "phase"]
            passed.setdefault(count, set()).add(names.approved in entered)
    assert all(len(v) == 1 for v in passed.values()), "the vote depends on who votes how"
    approvals = min(k for k, v in passed.items() if True in v)
    evil = sum(n for role, n in stage.deck.items() if stage.sides[role] == names.saboteurs)
    rejected, winner, unvoted = _rejections(stage, start)
    return VoteFacts(
        approvals,
        len(seats) - approvals + 1,
        evil,
        rejected,
        winner,
        _counted_anew(stage, start),
        unvoted,
    )


def _rejections(stage: Stage, start: State) -> tuple[int | None, str | None, tuple[int, ...]]:
    """How many rejected teams in a row end the game and for whom; which proposals go without a vote."""
    names = stage.names
    state, teams_proposed = start, 0
    while teams_proposed < 2 * stage.players:
        state = stage.play(stage.until(state, (names.team,), {}), {})
        teams_proposed += 1
        if stage.awaits(state) != names.ballot:
            return None, None, (teams_proposed,)
        state = stage.until(state, (round_choice(stage),), {names.ballot: lambda s, seat: False})
        if state.over:
            return teams_proposed, None if state.result is None else str(state.result), ()
    return None, None, ()


def _counted_anew(stage: Stage, start: State) -> bool:
    """Reject one team, approve the next: does the next round start counting at nothing?"""
    names = stage.names
    first = round_choice(stage)
    refuse: dict[str, Answer] = {names.ballot: lambda s, seat: False}
    state = stage.until(stage.until(start, (names.ballot,), {}), (first,), refuse)
    state = play_quest(stage, state, targets(stage, state)[0], failed=False)
    state = stage.until(state, (first,), {})
    return stage.value(state, names.rejections) == 0


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


def uses_by_length(exploration: Exploration) -> Mapping[int, tuple[tuple[Use, ...], ...]]:
    """By number of quests played in a whole game: every way the watched choice can come up."""
    found: dict[int, set[tuple[Use, ...]]] = {}
    for end in exploration.ends:
        found.setdefault(end.played, set()).add(end.uses)
    return {
        k: tuple(sorted(v, key=lambda u: [(x.after, x.options) for x in u])) for k, v in sorted(found.items())
    }
