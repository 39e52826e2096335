"""No hollow proofs: does a claim that was proved ever say anything?

Every part of it must be touched by some game: a state in which its condition holds. What no allowed table and no state
the proved claims leave open can be is noticed at once; else a game is searched for.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from proofs.clock import Clock, OutOfTime
from proofs.conditions import Reader, speaks_of_knowing, without_knowing
from proofs.findings import Finding
from proofs.horn import found_invariant
from proofs.induction import excluded
from proofs.lemmas import apply
from proofs.replays import replay
from proofs.samples import sample_environment
from proofs.search import search
from proofs.session import Session
from proofs.verdicts import UNKNOWN, VACUOUS
from rules_dsl import model as m
from rules_dsl.evaluate import holds
from rules_dsl.smt import System, finite_solver
from rules_dsl.smt.terms import Truth, and_, term

Decide = Callable[[m.Expr, Clock], Finding]  # decides a claim about what players know

NOTHING = "nothing ever happens: its condition is never met"
NO_TABLE = "nothing was looked at: the set-up checks refuse every table"


@dataclass(frozen=True)
class Idle:
    """Why a claim that was proved says nothing, or may say nothing."""

    outcome: str  # vacuous, or unknown where that was not decided
    how: str


def no_table(system: System, clock: Clock) -> bool:
    """Do the set-up checks refuse every table, so that there is no game to speak of?"""
    solver = finite_solver()
    solver.add(term(system.valid))
    return not clock.check(solver)


def vacuous(session: Session, property_: m.Property, decide: Decide | None = None) -> Idle | None:
    """Why some part of the property says nothing, or None if every part is touched by some reachable state.

    `decide` is asked about conditions that speak of what players know.
    """
    assert property_.value is not None
    found: Idle | None = None
    for condition in Reader(session.model.definitions).conditions(property_.value):
        idle = _never_met(session, condition, decide)
        if idle is not None and idle.outcome == VACUOUS:
            return idle
        found = found or idle
    return found


def _never_met(session: Session, condition: m.Expr, decide: Decide | None) -> Idle | None:
    if speaks_of_knowing(condition):
        return _never_known(session, condition, decide)
    if any(holds(condition, sample_environment(session.model, s)) for s in session.seen):
        return None
    system = session.prepare()
    return never(session, and_((system.rests, system.holds(condition))))


def _never_known(session: Session, condition: m.Expr, decide: Decide | None) -> Idle | None:
    """The condition names what somebody knows: that it never holds is a claim of its own."""
    clock = Clock.of(session.options.seconds)
    try:
        system = session.prepare()
        if _ruled_out(session, and_((system.rests, system.holds(without_knowing(condition)))), clock):
            return Idle(VACUOUS, NOTHING)
        if decide is None:
            return _undecided("it speaks of what players know")
        found = decide(apply("not", condition), clock)
    except OutOfTime as error:
        return _undecided(str(error))
    if found.holds is None:
        return _undecided(found.how)
    return Idle(VACUOUS, NOTHING) if found.holds else None


def never(session: Session, condition: Truth) -> Idle | None:
    """Why a condition on a state, or on a choice made there, is never met; None if some game meets it."""
    system = session.prepare()
    clock = Clock.of(session.options.seconds)
    try:
        if _ruled_out(session, condition, clock):
            return Idle(VACUOUS, NOTHING)
    except OutOfTime as error:
        return _undecided(str(error))
    facts = [claim for claim in session.proved if claim.place is None]

    def exclude(_name: str, share: float) -> Any:
        return found_invariant(system, condition, facts, clock, share)

    result = search(system, {"": condition}, lambda _: clock, session.options.deepest, exclude=exclude)[""]
    if result.game is not None:
        replay(session.model, result.game)
        return None
    return Idle(VACUOUS, NOTHING) if result.complete else _undecided(result.undecided)


def _ruled_out(session: Session, condition: Truth, clock: Clock) -> bool:
    """Does no allowed table have a state with the condition that the proved claims leave open?"""
    return excluded(session.prepare(), session.proved, condition, clock)


def _undecided(why: str) -> Idle:
    return Idle(UNKNOWN, f"it holds, but whether it ever applies was not decided: {why}")
