"""Verdicts about going on and coming to an end: nobody is ever stuck (`progress`), every game ends (`terminates`).

A game that gets stuck never comes to its end, so it shows both to be false.
"""

from __future__ import annotations

from dataclasses import replace
from time import monotonic
from typing import Any

import z3  # type: ignore[import-untyped]

from proofs.clock import Clock, OutOfTime
from proofs.evidence import Evidence
from proofs.repetition import repetition
from proofs.replays import replay
from proofs.session import Session
from proofs.standstill import Standstill, standstill
from proofs.termination import Ranking, rank
from proofs.verdicts import BOUNDED, PROVED, REFUTED, UNKNOWN, Verdict
from rules_dsl import model as m
from rules_dsl.smt import Unrolling, finite_solver
from rules_dsl.smt.terms import and_, count, less, not_, number, or_, term


def progress(session: Session, property_: m.Property) -> Verdict:
    started = monotonic()
    try:
        found = _standstill(session, Clock.of(session.options.seconds))
    except OutOfTime as error:
        return Verdict(session.family, property_, UNKNOWN, str(error), monotonic() - started)
    outcome = {True: PROVED, False: REFUTED, None: UNKNOWN if found.depth is None else BOUNDED}[
        found.excluded
    ]
    return Verdict(
        session.family,
        property_,
        outcome,
        found.how,
        monotonic() - started,
        found.lemmas,
        found.depth,
        found.game,
        evidence=found.evidence,
    )


def _standstill(session: Session, clock: Clock) -> Standstill:
    """Whether a game can get stuck; worked out once for all claims that ask."""
    if session.standstill is None:
        system = session.prepare()
        session.standstill = standstill(system, session.proved, session.options.deepest, clock)
    return session.standstill


def terminates(session: Session, property_: m.Property) -> Verdict:
    """Every game comes to its end, within so many events: it neither goes on nor gets stuck."""
    started, clock = monotonic(), Clock.of(session.options.seconds)
    made = _ends(session, property_, clock)
    if made.outcome != REFUTED:
        made = _unless_stuck(session, made, clock)
    return replace(made, seconds=monotonic() - started)


def _unless_stuck(session: Session, made: Verdict, clock: Clock) -> Verdict:
    """The verdict on a claim that no game was found to refute by going on for too long."""
    try:
        found = _standstill(session, clock)
    except OutOfTime as error:
        return _perhaps_stuck(made, str(error))
    if found.excluded is None:
        return _perhaps_stuck(made, found.how)
    if found.excluded is False:
        how = f"{found.how}, so the game never comes to its end"
        return replace(made, outcome=REFUTED, how=how, depth=found.depth, game=found.game, evidence=None)
    if made.outcome != PROVED:
        return made
    whole = made.evidence is not None and found.evidence is not None
    evidence = replace(made.evidence, bad=found.condition) if whole else None  # type: ignore[type-var]
    return replace(made, lemmas=found.lemmas, evidence=evidence)


def _perhaps_stuck(made: Verdict, why: str) -> Verdict:
    if made.outcome != PROVED:
        return made
    how = f"no game goes on for ever, but whether one gets stuck was not decided: {why}"
    return replace(made, outcome=UNKNOWN, how=how, depth=None, evidence=None)


def _ends(session: Session, property_: m.Property, clock: Clock) -> Verdict:
    """Does no game have more events than the claim says? (That it may be stuck before is another question.)"""
    system, wanted = session.prepare(), property_.bound
    made = Verdict(session.family, property_, UNKNOWN, "", 0.0)
    try:
        ranking = rank(system, session.proved, clock)
    except OutOfTime as error:
        return replace(made, how=str(error))
    if ranking.circles:
        return _without_ranking(session, made, ranking, clock)
    assert ranking.bound is not None
    if wanted is None or ranking.bound <= wanted:
        how = f"ranking ({'; '.join(ranking.measures)}); at most {ranking.bound} events"
        evidence = Evidence(system, tuple(session.proved), False, ranks=ranking.ranks)
        return replace(made, outcome=PROVED, how=how, depth=ranking.bound, evidence=evidence)
    undecided = (
        f"the ranking allows {ranking.bound} events, and whether {wanted} suffice was not decided in time"
    )
    return _too_long(session, replace(made, how=undecided), wanted)


def _without_ranking(session: Session, made: Verdict, ranking: Ranking, clock: Clock) -> Verdict:
    """No number says that the game ends: does it come back to where it stood, or go on for too long?"""
    system, wanted = session.prepare(), made.claim.bound
    circles = ", ".join(f"{a} to {b}" for a, b in ranking.circles)
    deepest = session.options.deepest if wanted is None else min(session.options.deepest, wanted)
    found = repetition(system, deepest, clock)
    if found.game is not None:
        replay(session.model, found.game)
        return replace(made, outcome=REFUTED, how=found.how, depth=len(found.game.moves), game=found.game)
    if found.complete:
        how = f"complete unrolling: no game has more than {found.depth} events"
        evidence = Evidence(system, tuple(session.proved), False, found.depth)
        return replace(made, outcome=PROVED, how=how, depth=found.depth, evidence=evidence)
    made = replace(made, how=f"no ranking found for {circles}; {found.how}")
    return made if wanted is None else _too_long(session, made, wanted)


def _too_long(session: Session, undecided: Verdict, wanted: int) -> Verdict:
    """Is there a game with more events than claimed? If that is not decided, the verdict given."""
    system, clock = session.prepare(), Clock.of(session.options.seconds)
    solver = finite_solver()
    run = Unrolling(system, solver)
    run.start_initial()
    for _ in range(wanted + 1):
        run.extend()
    silent = [step.awaited is not True for step in system.steps.values()]
    try:
        if not clock.check(solver):
            how = f"complete unrolling: no game has more than {wanted} events"
            evidence = Evidence(system, tuple(session.proved), False, wanted)
            return replace(undecided, outcome=PROVED, how=how, depth=wanted, evidence=evidence)
        while any(silent) and not clock.check(solver, _events(run, wanted + 1)):
            # where a run halts though nobody chooses there, more steps may be as many events
            if run.depth >= session.options.deepest:
                return undecided
            run.extend()
            if not clock.check(solver):
                how = f"complete unrolling: no game has more than {wanted} events"
                return replace(undecided, outcome=PROVED, how=how, depth=wanted)
    except OutOfTime:
        return undecided
    game = run.game(solver.model())
    replay(session.model, game)
    how = f"a game of {wanted + 1} events or more"
    return replace(undecided, outcome=REFUTED, how=how, depth=wanted + 1, game=game)


def _events(run: Unrolling, many: int) -> Any:
    """The run has so many events and rests after them; a literal."""
    system = run.system
    chosen = and_(
        or_((not_(system.at(system.before, place)), step.awaited)) for place, step in system.steps.items()
    )
    events = count(run.at(t, chosen) for t in range(run.depth))
    literal = z3.FreshBool("long")
    enough = and_((not_(less(events, number(many))), run.at(run.depth, system.rests)))
    run.solver.add(z3.Implies(literal, term(enough)))
    return literal
