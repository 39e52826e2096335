"""Verdicts about going on and coming to an end: nobody is ever stuck (`progress`), every game ends (`terminates`)."""

from __future__ import annotations

from collections.abc import Sequence
from time import monotonic

import z3  # type: ignore[import-untyped]

from proofs.clock import Clock, OutOfTime
from proofs.evidence import Evidence
from proofs.induction import said
from proofs.lemmas import Lemma
from proofs.literals import Literals
from proofs.progress import Stuckness
from proofs.replays import replay
from proofs.search import search
from proofs.session import Session
from proofs.termination import rank
from proofs.verdicts import BOUNDED, PROVED, REFUTED, UNKNOWN, Verdict
from rules_dsl import model as m
from rules_dsl.smt import Game, System, Unrolling, finite_solver
from rules_dsl.smt.symbolic import model_reader
from rules_dsl.smt.terms import Truth, term
from rules_dsl.smt.unroll import decode_params, decode_state


def progress(session: Session, property_: m.Property) -> Verdict:
    system, started = session.prepare(), monotonic()
    clock = Clock.of(session.options.seconds)
    stuckness = Stuckness(system)
    try:
        for _ in range(300):
            condition = stuckness.condition()
            game = _possible_state(system, session.proved, condition, clock)
            if game is None:
                used = _lemmas_against(system, session.proved, condition, clock)
                return Verdict(
                    session.family,
                    property_,
                    PROVED,
                    "induction",
                    monotonic() - started,
                    tuple(c.text for c in used),
                    evidence=Evidence(system, tuple(session.proved), condition),
                )
            if not stuckness.learn(game):
                break

        def confirm(_name: str, found: Game) -> Truth | None:
            return stuckness.condition() if stuckness.learn(found) else None

        result = search(
            system,
            {"": stuckness.condition()},
            lambda _: clock,
            session.options.deepest,
            confirm,
        )[""]
    except OutOfTime as error:
        return Verdict(session.family, property_, UNKNOWN, str(error), monotonic() - started)
    seconds = monotonic() - started
    if result.game is not None:
        replay(session.model, result.game)
        how = f"stuck after {result.depth} event(s)"
        return Verdict(session.family, property_, REFUTED, how, seconds, depth=result.depth, game=result.game)
    if result.complete:
        how = f"complete unrolling: no game has more than {result.depth} events"
        evidence = Evidence(system, tuple(session.proved), stuckness.condition(), result.depth)
        return Verdict(session.family, property_, PROVED, how, seconds, depth=result.depth, evidence=evidence)
    if result.depth < 0:
        return Verdict(session.family, property_, UNKNOWN, result.undecided, seconds)
    return Verdict(session.family, property_, BOUNDED, result.undecided, seconds, depth=result.depth)


def _possible_state(system: System, proved: Sequence[Lemma], condition: Truth, clock: Clock) -> Game | None:
    """A state the proved claims allow in which the condition holds, as a game without a beginning."""
    solver = finite_solver()
    solver.add(term(system.valid), term(system.formed), term(condition))
    solver.add(*(term(said(system, claim, system.before)) for claim in proved))
    if not clock.check(solver):
        return None
    read = model_reader(solver.model())
    return Game(decode_params(system, read), (decode_state(system, system.before, read),), ())


def _lemmas_against(system: System, proved: Sequence[Lemma], condition: Truth, clock: Clock) -> list[Lemma]:
    """Few proved claims that rule the condition out."""
    solver = finite_solver()
    solver.add(term(system.valid), term(system.formed), term(condition))
    literals = Literals("needed ", len(proved))
    for i, claim in enumerate(proved):
        solver.add(z3.Implies(literals[i], term(said(system, claim, system.before))))
    kept = list(range(len(proved)))
    for left_out in (None, *kept):
        fewer = [i for i in kept if i != left_out]
        if (left_out is None or left_out in kept) and not clock.check(solver, *(literals[i] for i in fewer)):
            core = literals.in_core(solver)
            kept = [i for i in fewer if i in core]
    return [proved[i] for i in kept]


def terminates(session: Session, property_: m.Property) -> Verdict:
    system, started = session.prepare(), monotonic()
    clock = Clock.of(session.options.seconds)
    try:
        ranking = rank(system, session.proved, clock)
    except OutOfTime as error:
        return Verdict(session.family, property_, UNKNOWN, str(error), monotonic() - started)
    seconds = monotonic() - started
    if ranking.circles:
        shown = ", ".join(f"{a} to {b}" for a, b in ranking.circles)
        return Verdict(session.family, property_, UNKNOWN, f"no ranking found for {shown}", seconds)
    assert ranking.bound is not None
    wanted = property_.bound
    if wanted is None or ranking.bound <= wanted:
        how = f"ranking ({'; '.join(ranking.measures)}); at most {ranking.bound} events"
        evidence = Evidence(system, tuple(session.proved), False, ranks=ranking.ranks)
        return Verdict(
            session.family, property_, PROVED, how, seconds, depth=ranking.bound, evidence=evidence
        )
    return _too_long(session, property_, wanted, ranking.bound, started)


def _too_long(session: Session, property_: m.Property, wanted: int, bound: int, started: float) -> Verdict:
    """The ranking allows more events than claimed: is there a game with more?"""
    system = session.prepare()
    clock = Clock.of(session.options.seconds)
    solver = finite_solver()
    unrolling = Unrolling(system, solver)
    unrolling.start_initial()
    for _ in range(wanted + 1):
        unrolling.extend()
    try:
        if not clock.check(solver):
            how = f"complete unrolling: no game has more than {wanted} events"
            evidence = Evidence(system, (), False, wanted)
            return Verdict(
                session.family,
                property_,
                PROVED,
                how,
                monotonic() - started,
                depth=wanted,
                evidence=evidence,
            )
    except OutOfTime:
        how = f"the ranking allows {bound} events, and whether {wanted} suffice was not decided in time"
        return Verdict(session.family, property_, UNKNOWN, how, monotonic() - started)
    game = unrolling.game(solver.model())
    replay(session.model, game)
    how = f"a game of {wanted + 1} events or more"
    return Verdict(
        session.family, property_, REFUTED, how, monotonic() - started, depth=wanted + 1, game=game
    )
