"""The prover: every property of a model, decided for all its parameters at once, by the strongest method that works.

In order: induction over declared invariants and guessed lemmas together; the shortest counterexample or witness by
search, event by event, played again on the interpreter; if the search exhausts the game, that is a proof too; if it
does not, the verdict is only "bounded". What players know is decided in `knowledge`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from time import monotonic
from typing import Any

import z3  # type: ignore[import-untyped]

from proofs.clock import Clock, OutOfTime
from proofs.evidence import Evidence
from proofs.families import speaks_of_knowing
from proofs.findings import Finding
from proofs.horn import found_invariant
from proofs.induction import Induction, leaned_on, said, strengthen
from proofs.knowledge import Knowledge
from proofs.lemmas import Lemma, apply, guesses
from proofs.literals import Literals
from proofs.progress import Stuckness
from proofs.replays import Disagreement, holds_at_end, replay
from proofs.samples import Sample, sample_environment, samples
from proofs.search import Found, search, searching
from proofs.symmetry import Symmetry
from proofs.termination import rank
from proofs.verdicts import BOUNDED, PROVED, REFUTED, UNKNOWN, VACUOUS, Verdict
from rules_dsl import model as m
from rules_dsl.evaluate import holds
from rules_dsl.smt import Game, System, compile_smt, finite_solver
from rules_dsl.smt.terms import Truth, not_, term
from rules_dsl.types import BOOL
from rules_dsl.walk import every


@dataclass(frozen=True)
class Options:
    """`seconds` is the limit for each property (processor time); `deepest` how many events a search looks ahead."""

    seconds: float = 60.0
    deepest: int = 110
    games: int = 60
    seed: int = 0
    only: tuple[str, ...] = ()
    memory: int | None = None  # megabytes for the solver of each process


@dataclass
class Session:
    """What is worked out once for a model and used for all its properties."""

    family: str
    model: m.Model
    options: Options
    seen: list[Sample] = field(default_factory=list)
    system: System | None = None
    induction: Induction | None = None
    proved: list[Lemma] = field(default_factory=list)
    shared_seconds: float = 0.0

    def prepare(self) -> System:
        if self.system is None:
            self.system = compile_smt(self.model)
            self.seen = list(samples(self.model, self.options.games, self.options.seed))
        return self.system


Report = Callable[[Verdict], None]


def chosen(model: m.Model, options: Options) -> list[m.Property]:
    return [p for p in model.properties.values() if not options.only or p.name in options.only]


def prove(model: m.Model, family: str, options: Options, session: Session | None = None) -> Iterator[Verdict]:
    """A verdict for every property of the model, as soon as it is decided."""
    session = session or Session(family, model, options)
    wanted = chosen(model, options)
    plain = [p for p in wanted if p.kind in ("invariant", "reachable") and not speaks_of_knowing(p)]
    if not wanted:
        return
    session.prepare()
    yield from _by_induction(session, plain, need_lemmas=len(wanted) > len(plain))
    for property_ in wanted:
        if property_.kind == "progress":
            yield _progress(session, property_)
        elif property_.kind == "terminates":
            yield _terminates(session, property_)
        elif property_.kind == "symmetric":
            yield _symmetric(session, property_)
    knowing = [p for p in wanted if speaks_of_knowing(p)]
    if knowing:
        knowledge = Knowledge(session.prepare(), session.proved, options.deepest)
        for property_ in knowing:
            yield _knows(session, knowledge, property_)


# --- claims about single states ---


def _claim(property_: m.Property) -> Lemma:
    """The claim that holds of every state if an invariant is true, or a reachable thing is not."""
    assert property_.value is not None
    value = property_.value if property_.kind == "invariant" else apply("not", property_.value)
    return Lemma(property_.text, value, property_.name)


def _by_induction(session: Session, plain: Sequence[m.Property], need_lemmas: bool) -> Iterator[Verdict]:
    system, started = session.prepare(), monotonic()
    claims: list[Lemma] = []
    seen = [sample_environment(session.model, s) for s in session.seen]
    for property_ in session.model.properties.values():
        # properties not asked for may still carry the proof of those that are
        if property_.kind in ("invariant", "reachable") and not speaks_of_knowing(property_):
            claim = _claim(property_)
            if all(holds(claim.value, env) for env in seen):
                claims.append(claim)
    asked = {p.name for p in plain}
    if not need_lemmas and not any(claim.declared in asked for claim in claims):
        claims = []  # a state already seen shows every claim asked for to be false: only its game is left to find
    if claims or need_lemmas:
        claims += guesses(session.model, session.seen)
    names = {claim.declared: i for i, claim in enumerate(claims) if claim.declared}
    clock = Clock.of(session.options.seconds)
    try:
        session.induction = strengthen(system, claims, clock)
        session.proved = [claims[i] for i in sorted(session.induction.alive)]
    except OutOfTime:
        session.induction = None
    session.shared_seconds = monotonic() - started
    left: list[m.Property] = []
    for property_ in plain:
        index = names.get(property_.name)
        if session.induction is None or index is None or index not in session.induction.alive:
            left.append(property_)
        else:
            yield _inductive(session, property_, session.induction, index)
    yield from _by_search(session, left)


def _inductive(session: Session, property_: m.Property, induction: Induction, index: int) -> Verdict:
    started = monotonic()
    try:
        used = leaned_on(induction, index, Clock.of(session.options.seconds))
        lemmas = tuple(induction.claims[i].text for i in used)
    except OutOfTime:
        used = sorted(induction.alive)
        lemmas = ("(which ones were needed was not worked out in time)",)
    spent = monotonic() - started
    evidence = _evidence(session, [induction.claims[i] for i in {index, *used}], property_)
    if property_.kind == "reachable":
        how = "unreachable, by induction"
        return Verdict(session.family, property_, REFUTED, how, spent, lemmas, evidence=evidence)
    idle = vacuous(session, property_)
    if idle is not None:
        return Verdict(session.family, property_, VACUOUS, idle, monotonic() - started, lemmas)
    spent = monotonic() - started
    return Verdict(session.family, property_, PROVED, "induction", spent, lemmas, evidence=evidence)


def _evidence(
    session: Session, claims: Sequence[Lemma], property_: m.Property, events: int | None = None
) -> Evidence:
    system = session.prepare()
    bad = not_(system.holds(_claim(property_).value))
    return Evidence(system, tuple(claims), bad, events)


def _by_search(session: Session, left: Sequence[m.Property]) -> Iterator[Verdict]:
    if not left:
        return
    system = session.prepare()
    clocks: dict[str, Clock] = {}
    by_name = {p.name: p for p in left}

    def clock_of(name: str) -> Clock:
        return clocks.setdefault(name, Clock.of(session.options.seconds))

    goals = {p.name: not_(system.holds(_claim(p).value)) for p in left}
    facts = _declared(session)

    def exclude(name: str) -> Any:
        return found_invariant(system, goals[name], facts, clock_of(name))

    for name, result in searching(system, goals, clock_of, session.options.deepest, exclude=exclude):
        yield _searched(session, by_name[name], result, clocks[name].passed)


def _declared(session: Session) -> list[Lemma]:
    """Proved claims worth telling Spacer about: those about all states."""
    return [c for c in session.proved if c.place is None]


def _searched(session: Session, property_: m.Property, result: Found, seconds: float) -> Verdict:
    positive = property_.kind == "invariant"
    if result.game is not None:
        replay(session.model, result.game)
        assert property_.value is not None
        if holds_at_end(session.model, result.game, property_.value) is positive:
            raise Disagreement(f"the solver's game for '{property_.name}' does not show it")
        outcome = REFUTED if positive else PROVED
        how = f"{'counterexample' if positive else 'witness'} of {result.depth} event(s)"
        return Verdict(session.family, property_, outcome, how, seconds, depth=result.depth, game=result.game)
    if result.complete:
        outcome = PROVED if positive else REFUTED
        how = f"complete unrolling: no game has more than {result.depth} events"
        if result.invariant is not None:
            how = "Horn clauses: an invariant found by Spacer, checked by induction"
        if positive and (idle := vacuous(session, property_)) is not None:
            return Verdict(session.family, property_, VACUOUS, idle, seconds)
        if result.invariant is not None:
            evidence = replace(_evidence(session, _declared(session), property_), invariant=result.invariant)
            return Verdict(session.family, property_, outcome, how, seconds, evidence=evidence)
        evidence = _evidence(session, session.proved, property_, result.depth)
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

    return _found(session, property_, decide)


def _symmetric(session: Session, property_: m.Property) -> Verdict:
    question = Symmetry(session.prepare(), property_)
    return _found(session, property_, lambda clock: question.decide(session.options.deepest, clock))


def _found(session: Session, property_: m.Property, decide: Callable[[Clock], Finding]) -> Verdict:
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
    idle = vacuous(session, property_) if known is None else _never(session, known)
    return made if idle is None else replace(made, outcome=VACUOUS, how=idle)


# --- no hollow proofs ---


def antecedent(value: m.Expr) -> m.Expr | None:
    """When an implication, or one for all of something, says anything at all."""
    match value:
        case m.Apply("implies", (condition, conclusion), _):
            inner = antecedent(conclusion)
            return condition if inner is None else apply("and", condition, inner)
        case m.Quantify("all", ranges, condition, _, _) if condition is not None:
            inner = antecedent(condition)
            return m.Quantify(
                "exists", ranges, inner if inner is not None else m.Literal(True, BOOL), None, BOOL
            )
        case _:
            return None


def vacuous(session: Session, property_: m.Property) -> str | None:
    """Why the property says nothing, or None if some reachable state is really touched by it."""
    assert property_.value is not None
    condition = antecedent(property_.value)
    if condition is None or any(isinstance(e, m.Knows) for e in every(condition)):
        return None
    if any(holds(condition, sample_environment(session.model, s)) for s in session.seen):
        return None
    return _never(session, session.prepare().holds(condition))


def _never(session: Session, condition: Truth) -> str | None:
    """Why a condition on a state, or on a choice made there, is never met; None if some game meets it."""
    system = session.prepare()
    clock = Clock.of(session.options.seconds)
    result = search(system, {"": condition}, lambda _: clock, session.options.deepest)[""]
    if result.game is not None:
        replay(session.model, result.game)
        return None
    if result.complete:
        return "nothing ever happens: its condition is never met"
    return "its condition was not met in any game searched"


# --- progress and termination ---


def _progress(session: Session, property_: m.Property) -> Verdict:
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
    from rules_dsl.smt.symbolic import model_reader
    from rules_dsl.smt.unroll import decode_params, decode_state

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


def _terminates(session: Session, property_: m.Property) -> Verdict:
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
    from rules_dsl.smt import Unrolling

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
