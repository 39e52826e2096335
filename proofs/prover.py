"""The prover: every property of a model, decided for all its parameters at once, by the strongest method that works.

In order: induction over declared invariants and guessed lemmas together; the shortest counterexample or witness by
search, event by event, played again on the interpreter; if the search exhausts the game, that is a proof too; if it
does not, the verdict is only "bounded". What players know is decided in `knowledge`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from time import monotonic
from typing import Any

from proofs.clock import Clock, OutOfTime
from proofs.evidence import Evidence
from proofs.families import speaks_of_knowing
from proofs.findings import Finding
from proofs.hollow import NO_TABLE, Decide, Idle, never, no_table, vacuous
from proofs.horn import found_invariant
from proofs.induction import Induction, leaned_on, strengthen
from proofs.knowledge import Knowledge
from proofs.lemmas import Lemma, apply, guesses
from proofs.liveness import progress, terminates
from proofs.pauses import with_pause, without_pause
from proofs.replays import Disagreement, holds_at_end, replay
from proofs.samples import sample_environment
from proofs.search import Found, searching
from proofs.session import Options, Session, chosen
from proofs.symmetry import Symmetry
from proofs.verdicts import BOUNDED, PROVED, REFUTED, UNKNOWN, VACUOUS, Verdict
from rules_dsl import model as m
from rules_dsl.evaluate import holds
from rules_dsl.smt.terms import and_, not_

__all__ = ["Options", "Session", "chosen", "prove"]


def prove(model: m.Model, family: str, options: Options, session: Session | None = None) -> Iterator[Verdict]:
    """A verdict for every property of the model, as soon as it is decided."""
    session = session or Session(family, model, options)
    wanted = chosen(model, options)
    plain = [p for p in wanted if p.kind in ("invariant", "reachable") and not speaks_of_knowing(p)]
    if not wanted:
        return
    try:
        session.prepare()
    except OutOfTime as error:
        yield from (Verdict(family, p, UNKNOWN, str(error), options.seconds) for p in wanted)
        return
    try:
        empty = no_table(session.prepare(), Clock.of(options.seconds))
    except OutOfTime:
        empty = False  # each claim will run out of time by itself
    if empty:
        yield from (Verdict(family, p, VACUOUS, NO_TABLE, 0.0) for p in wanted)
        return
    yield from _by_induction(session, plain, need_lemmas=len(wanted) > len(plain))
    for property_ in wanted:
        if property_.kind == "progress":
            yield _in_time(session, property_, progress)
        elif property_.kind == "terminates":
            yield _in_time(session, property_, terminates, questions=2)
        elif property_.kind == "symmetric":
            yield _in_time(session, property_, _symmetric, questions=2)
    yield from _knowing(session, [p for p in wanted if speaks_of_knowing(p)])


STRUCK = "out of time, in the middle of work"


def _in_time(
    session: Session,
    property_: m.Property,
    decide: Callable[[Session, m.Property], Verdict],
    questions: int = 1,
) -> Verdict:
    """The verdict, or that there was no time for one: what was found when time struck is not to be relied on."""
    clock = Clock.of(questions * session.options.seconds)
    try:
        with clock.within():
            verdict = decide(session, property_)
    except OutOfTime:
        clock.stop()
        return Verdict(session.family, property_, UNKNOWN, STRUCK, clock.passed)
    return verdict


def _knowing(session: Session, wanted: Sequence[m.Property]) -> Iterator[Verdict]:
    """Verdicts about what players know, from one `Knowledge` as long as all is in time; one that was stopped at work is
    not used again.
    """
    knowledge: Knowledge | None = None

    def decide(session: Session, property_: m.Property) -> Verdict:
        nonlocal knowledge
        if property_.phase is not None and not session.model.phases[property_.phase].choices:
            return _silent_without_choices(session, property_)
        if knowledge is None:
            knowledge = Knowledge(session.prepare(), session.proved, session.options.deepest)
        return _knows(session, knowledge, property_)

    for property_ in wanted:
        verdict = _in_time(session, property_, decide, questions=3)
        if verdict.how == STRUCK:
            knowledge = None
        yield verdict


# --- claims about single states ---


def _claim(property_: m.Property) -> Lemma:
    """The claim that holds of every state if an invariant is true, or a reachable thing is not."""
    assert property_.value is not None
    value = property_.value if property_.kind == "invariant" else apply("not", property_.value)
    return Lemma(property_.text, value, property_.name, at_rest=True)


def _read(session: Session, property_: m.Property, clock: Clock) -> tuple[Lemma, bool]:
    """The claim, with the terms it takes, and whether it held in every state seen. What is endless to write down costs its
    own time here, and none of the others'.
    """
    claim, system = _claim(property_), session.prepare()
    with clock.within():
        system.holds(claim.value)
        held = all(holds(claim.value, sample_environment(session.model, s)) for s in session.seen)
    clock.stop()
    return claim, held


SLOW = 0.1  # share of a claim's time after which it is proved apart from the others


def _by_induction(session: Session, plain: Sequence[m.Property], need_lemmas: bool) -> Iterator[Verdict]:
    system, started = session.prepare(), monotonic()
    claims: list[Lemma] = []
    asked = {p.name for p in plain}
    clocks = {name: Clock.of(session.options.seconds) for name in asked}
    for clock in clocks.values():
        clock.stop()  # each runs when its claim is looked at
    read: dict[str, Lemma] = {}
    slow: list[Lemma] = []
    for property_ in session.model.properties.values():
        # properties not asked for may still carry the proof of those that are
        if property_.kind not in ("invariant", "reachable") or speaks_of_knowing(property_):
            continue
        clock = clocks.get(property_.name) or Clock.of(SLOW * session.options.seconds)
        try:
            claim, held = _read(session, property_, clock)
        except OutOfTime:
            if property_.name in asked:
                how = "out of time while the claim was turned into formulas"
                clock.stop()
                yield Verdict(session.family, property_, UNKNOWN, how, clock.passed)
            continue
        read[property_.name] = claim
        if held and clock.used > SLOW * session.options.seconds:
            slow.append(claim)
        elif held:
            claims.append(claim)
    plain = [p for p in plain if p.name in read]
    if not need_lemmas and not any(claim.declared in asked for claim in (*claims, *slow)):
        claims = []  # a state already seen shows every claim asked for to be false: only its game is left to find
    clock = Clock.of(session.options.seconds)
    try:
        with clock.within():
            if claims or slow or need_lemmas:
                claims += guesses(session.model, session.seen)
            if system.rests is not True:
                # some guesses hold wherever a run halts, others only where somebody chooses
                claims += [replace(c, at_rest=not c.at_rest, declared="") for c in claims]
            session.induction = strengthen(system, claims, clock)
        session.proved = [claims[i] for i in sorted(session.induction.alive)]
    except OutOfTime:
        session.induction = None
    names = {claim.declared: i for i, claim in enumerate(claims) if claim.declared}
    session.shared_seconds = monotonic() - started
    left: list[m.Property] = []
    for property_ in plain:
        index = names.get(property_.name)
        if session.induction is None or index is None or index not in session.induction.alive:
            left.append(property_)
        else:
            yield _inductive(session, property_, session.induction, index)
    for claim in slow:
        alone = next((p for p in left if p.name == claim.declared), None)
        apart = None if alone is None else _apart(session, claim, clocks[claim.declared])
        if alone is not None and apart is not None:
            left.remove(alone)
            yield _inductive(session, alone, apart, 0)
    yield from _by_search(session, left, read, clocks)


def _apart(session: Session, claim: Lemma, clock: Clock) -> Induction | None:
    """The induction that proves a claim which takes long to write down, with what is proved already; None if it fails."""
    try:
        with clock.within():
            made = strengthen(session.prepare(), [claim, *session.proved], clock)
    except OutOfTime:
        return None
    finally:
        clock.stop()
    return made if 0 in made.alive else None


def _inductive(session: Session, property_: m.Property, induction: Induction, index: int) -> Verdict:
    started = monotonic()
    clock = Clock.of(session.options.seconds)
    try:
        with clock.within():
            used = leaned_on(induction, index, clock)
        lemmas = tuple(induction.claims[i].text for i in used)
    except OutOfTime:
        used = sorted(induction.alive)
        lemmas = ("(which ones were needed was not worked out in time)",)
    spent = monotonic() - started
    evidence = _evidence(session, [induction.claims[i] for i in {index, *used}], induction.claims[index])
    if property_.kind == "reachable":
        how = "unreachable, by induction"
        return Verdict(session.family, property_, REFUTED, how, spent, lemmas, evidence=evidence)
    idle = _idle(session, property_)
    if idle is not None:
        return Verdict(session.family, property_, idle.outcome, idle.how, monotonic() - started, lemmas)
    spent = monotonic() - started
    return Verdict(session.family, property_, PROVED, "induction", spent, lemmas, evidence=evidence)


def _evidence(session: Session, claims: Sequence[Lemma], claim: Lemma, events: int | None = None) -> Evidence:
    system = session.prepare()
    bad = and_((system.rests, not_(system.holds(claim.value))))
    return Evidence(system, tuple(claims), bad, events)


def _idle(session: Session, property_: m.Property) -> Idle | None:
    """Why a claim that was proved says nothing; that this could not be decided in time is a reason."""
    try:
        with Clock.of(session.options.seconds).within():
            found = vacuous(session, property_)
    except OutOfTime:
        return Idle(UNKNOWN, "it holds, but whether it ever applies was not decided: out of time")
    return found


def _by_search(
    session: Session, left: Sequence[m.Property], read: Mapping[str, Lemma], clocks: Mapping[str, Clock]
) -> Iterator[Verdict]:
    if not left:
        return
    system = session.prepare()
    by_name = {p.name: p for p in left}

    def clock_of(name: str) -> Clock:
        return clocks[name]

    goals = {p.name: and_((system.rests, not_(system.holds(read[p.name].value)))) for p in left}
    facts = _declared(session)

    def exclude(name: str, share: float) -> Any:
        return found_invariant(system, goals[name], facts, clock_of(name), share)

    for name, result in searching(system, goals, clock_of, session.options.deepest, exclude=exclude):
        yield _searched(session, by_name[name], read[name], result, clocks[name].passed)


def _declared(session: Session) -> list[Lemma]:
    """Proved claims worth telling Spacer about: those about all states."""
    return [c for c in session.proved if c.place is None]


def _searched(
    session: Session, property_: m.Property, claim: Lemma, result: Found, seconds: float
) -> Verdict:
    positive = property_.kind == "invariant"
    if result.game is not None:
        replay(session.model, result.game)
        assert property_.value is not None
        if holds_at_end(session.model, result.game, property_.value) is positive:
            raise Disagreement(f"the solver's game for '{property_.name}' does not show it")
        outcome = REFUTED if positive else PROVED
        events = len(result.game.moves)
        how = f"{'counterexample' if positive else 'witness'} of {events} event(s)"
        return Verdict(session.family, property_, outcome, how, seconds, depth=events, game=result.game)
    if result.complete:
        outcome = PROVED if positive else REFUTED
        how = f"complete unrolling: no game has more than {result.depth} events"
        if result.invariant is not None:
            how = "Horn clauses: an invariant found by Spacer, checked by induction"
        if positive and (idle := _idle(session, property_)) is not None:
            return Verdict(session.family, property_, idle.outcome, idle.how, seconds)
        if result.invariant is not None:
            evidence = replace(_evidence(session, _declared(session), claim), invariant=result.invariant)
            return Verdict(session.family, property_, outcome, how, seconds, evidence=evidence)
        evidence = _evidence(session, session.proved, claim, result.depth)
        return Verdict(
            session.family, property_, outcome, how, seconds, depth=result.depth, evidence=evidence
        )
    if result.depth < 0:
        return Verdict(session.family, property_, UNKNOWN, result.undecided, seconds)
    return Verdict(session.family, property_, BOUNDED, result.undecided, seconds, depth=result.depth)


# --- claims about what players know, and about seatings ---


def _knows(session: Session, knowledge: Knowledge, property_: m.Property) -> Verdict:
    def decide(clock: Clock) -> Finding:
        if property_.kind == "silent":
            return knowledge.silent(property_, clock)
        return knowledge.decide(_claim(property_).value, clock)

    return _found(session, property_, decide, knowledge.decide)


def _silent_without_choices(session: Session, property_: m.Property) -> Verdict:
    """Of a phase in which nobody chooses: does what happens there tell anybody more than that it is entered?"""
    started, paused = monotonic(), _paused(session, property_)
    for _ in _by_induction(paused, (), need_lemmas=True):
        pass
    knowledge = Knowledge(paused.prepare(), paused.proved, session.options.deepest)
    verdict = _found(paused, property_, lambda clock: knowledge.silent(property_, clock))
    made = _unpaused(session, verdict)
    if made.game is not None and made.twin is not None:
        events, phase = len(made.game.moves), property_.phase
        how = (
            f"two games of {events} event(s) that look the same until '{phase}' is entered, and not after it"
        )
        made = replace(made, how=how, depth=events)
    return replace(made, seconds=monotonic() - started)


def _symmetric(session: Session, property_: m.Property) -> Verdict:
    question = Symmetry(session.prepare(), property_)
    if question.at_the_start:
        paused = _paused(session, property_)
        question = Symmetry(paused.prepare(), property_)
        made = _found(paused, property_, lambda clock: question.decide(session.options.deepest, clock))
        return _unpaused(session, made)
    return _found(session, property_, lambda clock: question.decide(session.options.deepest, clock))


def _paused(session: Session, property_: m.Property) -> Session:
    """The same questions to the game with a moment of its own for the phase the claim is about."""
    assert property_.phase is not None
    return Session(session.family, with_pause(session.model, property_.phase), session.options)


def _unpaused(session: Session, verdict: Verdict) -> Verdict:
    """The games of a verdict as games of the model itself. Of the model with a pause there is no certificate: its
    obligations would have the names of those of the model itself.
    """
    phase = verdict.claim.phase
    assert phase is not None
    game, twin = (g and without_pause(session.model, phase, g) for g in (verdict.game, verdict.twin))
    return replace(verdict, game=game, twin=twin, evidence=None)


def _found(
    session: Session,
    property_: m.Property,
    decide: Callable[[Clock], Finding],
    about_knowing: Decide | None = None,
) -> Verdict:
    started = monotonic()
    try:
        found = decide(Clock.of(session.options.seconds))
    except OutOfTime as error:
        return Verdict(session.family, property_, UNKNOWN, str(error), monotonic() - started)
    positive = property_.kind != "reachable"
    outcome = BOUNDED if found.depth is not None else UNKNOWN
    if found.holds is not None:
        outcome = PROVED if found.holds is positive else REFUTED
    made = Verdict(
        session.family,
        property_,
        outcome,
        found.how,
        monotonic() - started,
        found.lemmas,
        found.depth,
        found.game,
        found.twin,
        found.seat,
        evidence=found.evidence,
    )
    if outcome != PROVED or not positive:
        return made
    known = found.happens
    idle = vacuous(session, property_, about_knowing) if known is None else never(session, known)
    return made if idle is None else replace(made, outcome=idle.outcome, how=idle.how, evidence=None)
