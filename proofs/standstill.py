"""Can a game get stuck, so that it neither goes on nor comes to its end? Somebody must choose and has no legal choice, or
phases in which nobody chooses lead to each other for ever.

Ruled out in every state the proved claims allow; else searched for, event by event. Every game found is played again on
the interpreter, which must find it stuck as well.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import z3  # type: ignore[import-untyped]

from proofs.clock import Clock
from proofs.evidence import Evidence
from proofs.induction import said
from proofs.lemmas import Lemma
from proofs.literals import Literals
from proofs.progress import Stuckness, goes_round
from proofs.repetition import silent_circle
from proofs.replays import Disagreement, replay
from proofs.search import search
from proofs.termination import silent_circles
from rules_dsl.smt import Game, System, finite_solver
from rules_dsl.smt.execute import CIRCLE
from rules_dsl.smt.symbolic import model_reader
from rules_dsl.smt.terms import Truth, term
from rules_dsl.smt.unroll import decode_params, decode_state

MOST_LESSONS = 300  # states looked at for legal choices, before the search begins


@dataclass(frozen=True)
class Standstill:
    """`excluded` is True (no game gets stuck), False (`game` does, after its last event) or None (undecided).

    `condition` holds of every state that is stuck. A game of no event may be missing: the very start leads nowhere.
    """

    excluded: bool | None
    how: str
    condition: Truth
    lemmas: tuple[str, ...] = ()
    depth: int | None = None
    game: Game | None = None
    evidence: Evidence | None = None


def standstill(system: System, proved: Sequence[Lemma], deepest: int, clock: Clock) -> Standstill:
    """Whether any game gets stuck; raises `OutOfTime`."""
    found = _without_a_choice(system, proved, deepest, clock)
    if found.excluded is False or all(step.awaited is True for step in system.steps.values()):
        return found
    left = silent_circles(system, proved, clock)
    if not left:
        # what rules the circles out is no part of the certificate, so there is none
        return replace(found, evidence=None)
    round_ = silent_circle(system, deepest, clock)
    if round_.game is not None:
        return _going_round(system, round_.game, found.condition)
    if round_.complete:
        return replace(found, evidence=None)
    circles = ", ".join(f"{a} to {b}" for a, b in left)
    how = f"whether phases without a choice go round for ever was not decided: {circles}; {round_.how}"
    return replace(found, excluded=None, how=how, lemmas=(), depth=round_.depth, evidence=None)


def _without_a_choice(system: System, proved: Sequence[Lemma], deepest: int, clock: Clock) -> Standstill:
    """Whether somebody who must choose ever has no legal choice, or phases are passed over in a circle."""
    stuckness = Stuckness(system)
    for _ in range(MOST_LESSONS):
        condition = stuckness.condition()
        game = _possible_state(system, proved, condition, clock)
        if game is None:
            used = tuple(c.text for c in _lemmas_against(system, proved, condition, clock))
            evidence = Evidence(system, tuple(proved), condition)
            return Standstill(True, "induction", condition, used, evidence=evidence)
        if not stuckness.learn(game, clock):
            break

    def confirm(_name: str, found: Game) -> Truth | None:
        return stuckness.condition() if stuckness.learn(found, clock) else None

    result = search(system, {"": stuckness.condition()}, lambda _: clock, deepest, confirm)[""]
    condition = stuckness.condition()
    if result.game is not None:
        return _shown(system, result.game, condition)
    if result.complete:
        how = f"complete unrolling: no game has more than {result.depth} events"
        evidence = Evidence(system, tuple(proved), condition, result.depth)
        return Standstill(True, how, condition, depth=result.depth, evidence=evidence)
    return Standstill(None, result.undecided, condition, depth=result.depth if result.depth >= 0 else None)


def _shown(system: System, game: Game, condition: Truth) -> Standstill:
    if game.states[-1].phase == CIRCLE:
        return _going_round(system, game, condition)
    replay(system.model, game)
    events = len(game.moves)
    return Standstill(False, f"stuck after {events} event(s)", condition, depth=events, game=game)


def _going_round(system: System, game: Game, condition: Truth) -> Standstill:
    """A game whose last move leads to no state; the game shown stops before it."""
    if not goes_round(system.model, game):
        raise Disagreement(
            "the solver finds phases that lead to each other for ever, the interpreter does not"
        )
    round_ = "phases in which nobody chooses lead to each other for ever"
    if not game.moves:
        return Standstill(False, f"from the start {round_}", condition, depth=0)
    before = replace(game, states=game.states[:-1], moves=game.moves[:-1])
    replay(system.model, before)
    state, events = before.states[-1], len(game.moves)
    choice = system.model.phases[state.phase].choices[state.step]
    chosen = ", ".join(str(value).lower() for _, value in game.moves[-1])
    how = f"after {events - 1} event(s) {choice.variable} {chosen}: then {round_}"
    return Standstill(False, how, condition, depth=events, game=before)


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
