"""Which rules forbid it: every condition of a legal choice under a literal of its own, so that an unsat core is a
list of rules.

`refusal` names the rules that forbid one move; `why_never` the rules that keep something from happening within so
many events, or gives the game in which it does happen.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import z3  # type: ignore[import-untyped]

from rules_dsl.model import Value
from rules_dsl.play import Move, State
from rules_dsl.smt.raw import listened
from rules_dsl.smt.system import Condition, Place, System
from rules_dsl.smt.terms import Truth, and_, or_, term
from rules_dsl.smt.unroll import (
    Game,
    Relation,
    Unrolling,
    are_params,
    finite_solver,
    is_move,
    is_state,
    relation,
)


class Undecided(Exception):
    """The solver gave up."""


def tracked_legal(system: System) -> Any:
    """Some step is legal, as far as the conditions whose literals hold are concerned."""
    legal: list[Truth] = []
    for place, step in system.steps.items():
        here = system.at(system.before, place)
        legal.append(and_((here, *(z3.Implies(c.literal, term(c.term)) for c in step.conditions))))
    return term(or_(legal))


def conditions(system: System) -> dict[str, Condition]:
    """Every condition of the system by the name of its literal."""
    return {str(c.literal): c for step in system.steps.values() for c in step.conditions}


class TrackedUnrolling(Unrolling):
    """Moments of a run in which a rule holds at all of them if its literal is assumed."""

    def _steps(self) -> Relation:
        return replace(relation(self.system), legal=tracked_legal(self.system))


def refusal(system: System, params: Mapping[str, Value], state: State, move: Move) -> tuple[Condition, ...]:
    """The rules that forbid this move; none if it is legal."""
    step = system.steps[Place(state.phase, state.step)]
    solver = finite_solver()
    solver.add(
        are_params(system, params), is_state(system, system.before, state), is_move(system, step, move)
    )
    solver.add(*(z3.Implies(c.literal, term(c.term)) for c in step.conditions))
    known = {str(c.literal): c for c in step.conditions}
    return tuple(known[name] for name in smallest_core(solver, [c.literal for c in step.conditions]))


def why_never(system: System, goal: Truth, events: int) -> tuple[Condition, ...] | Game:
    """The rules that keep the goal from holding after any number of events up to this one; or a game where it does."""
    solver = finite_solver()
    unrolling = TrackedUnrolling(system, solver)
    unrolling.start_initial()
    for _ in range(events):
        unrolling.extend()
    known = conditions(system)
    literals = [c.literal for c in known.values()]
    solver.add(z3.Or(*(unrolling.at(t, goal) for t in range(events + 1))))
    if listened(solver.check(*literals), solver) == z3.sat:
        found = solver.model()
        when = next(t for t in range(events + 1) if z3.is_true(found.eval(unrolling.at(t, goal), True)))
        return unrolling.game(found, when)
    return tuple(known[name] for name in smallest_core(solver, literals))


def smallest_core(solver: Any, literals: Sequence[Any]) -> list[str]:
    """Names of literals that cannot all hold, none of which can be left out; none if all of them can hold."""
    answer = listened(solver.check(*literals), solver)
    if answer == z3.sat:
        return []
    kept = list(solver.unsat_core())
    for literal in sorted(kept, key=str):
        fewer = [x for x in kept if not z3.eq(x, literal)]
        answer = listened(solver.check(*fewer), solver)
        if answer == z3.unsat:
            kept = fewer
    if answer == z3.unknown:
        raise Undecided(solver.reason_unknown())
    return sorted(str(x) for x in kept)
