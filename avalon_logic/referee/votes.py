"""Votes needed: the vote held with every number of approvals, teams rejected until the game ends."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

from avalon_logic.referee.rounds import play_quest, round_choice, targets
from avalon_logic.referee.stage import Answer, Stage, be_clear
from rules_dsl.play import Observation, State


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


def vote_facts(stage: Stage) -> VoteFacts:
    """Runs the vote for every number of approvals, and rejects teams until the game ends."""
    names = stage.names
    start, _ = stage.opening()
    at_vote = stage.until(start, (names.ballot,), {})
    seats = stage.pending(at_vote).seats
    passed: dict[int, set[bool]] = {}
    for count in range(len(seats) + 1):
        for who in (*list(combinations(seats, count))[:40], seats[len(seats) - count :]):
            passed.setdefault(count, set()).add(_passes(stage, at_vote, who))
    be_clear(all(len(v) == 1 for v in passed.values()), "the vote depends on who votes how")
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


def _passes(stage: Stage, at_vote: State, approving: tuple[int, ...]) -> bool:
    """Does the team go if these approve? What else is chosen before it does is chosen somehow."""
    names = stage.names
    seen: list[Observation] = []
    answers: dict[str, Answer] = {names.ballot: lambda s, seat: seat in approving}
    voted = stage.play(at_vote, answers, seen)
    if not any(o.kind == "phase" and o.name in (names.approved, names.rejected) for o in seen):
        stage.until(voted, (names.card, round_choice(stage)), {}, seen)
    entered = [o.name for o in seen if o.kind == "phase" and o.name in (names.approved, names.rejected)]
    return entered[:1] == [names.approved]


def _rejections(stage: Stage, start: State) -> tuple[int | None, str | None, tuple[int, ...]]:
    """How many rejected teams in a row end the game and for whom; which proposals go without a vote."""
    names = stage.names
    state, teams_proposed = start, 0
    while teams_proposed < 2 * stage.players:
        state = stage.play(stage.until(state, (names.team,), {}), {})
        teams_proposed += 1
        # something else may be chosen between the team and the vote on it
        state = stage.until(state, (names.ballot, names.card, round_choice(stage)), {})
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
