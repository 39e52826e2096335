"""Quests, found by playing: team sizes, what every number of fails does, how often an examination comes up.

`explore` plays every order and result of quests once and merges states with the same future.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from itertools import product

from avalon_logic.referee.stage import Answer, Stage, be_clear
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
    be_clear(len(sizes) == 1, f"quest {quest} has teams of several sizes")
    results: dict[int, set[str]] = {}
    aboard: dict[int, int] = {}
    for evil, team in sorted(by_evil.items()):
        at_cards = stage.until(at_team, (names.card,), _approved(stage, team))
        for fails, result in _outcomes(stage, at_cards, quest):
            results.setdefault(fails, set()).add(result)
            aboard.setdefault(fails, evil)
    shown = range(max(results) + 1)
    be_clear(all(len(results[k]) == 1 for k in shown), f"the fails of quest {quest} do not decide its result")
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


def uses_by_length(exploration: Exploration) -> Mapping[int, tuple[tuple[Use, ...], ...]]:
    """By number of quests played in a whole game: every way the watched choice can come up."""
    found: dict[int, set[tuple[Use, ...]]] = {}
    for end in exploration.ends:
        found.setdefault(end.played, set()).add(end.uses)
    return {
        k: tuple(sorted(v, key=lambda u: [(x.after, x.options) for x in u])) for k, v in sorted(found.items())
    }
