"""A game that comes back to a state in which it stood before: choosing as before, it can go on like that for ever."""

from __future__ import annotations

from dataclasses import dataclass

import z3  # type: ignore[import-untyped]

from proofs.clock import Clock, OutOfTime
from proofs.search import exhausted, plainest
from rules_dsl.smt import Game, System, Unrolling, finite_solver


@dataclass(frozen=True)
class Repetition:
    """The shortest game whose last state is one it stood in before; or none up to `depth` events, and if `complete`
    because no game has more.
    """

    game: Game | None
    depth: int
    complete: bool
    how: str


def repetition(system: System, deepest: int, clock: Clock) -> Repetition:
    """The shortest game that need never end, as far as the time and the depth go."""
    solver = finite_solver()
    run = Unrolling(system, solver)
    run.start_initial()
    why = ""
    depth = 0
    try:
        for depth in range(1, deepest + 1):
            run.extend()
            if exhausted(solver, clock):
                return Repetition(None, depth - 1, True, "")
            again = z3.Bool(f"again {depth}")
            solver.add(z3.Implies(again, z3.Or(*(_same(run, t, depth) for t in range(depth)))))
            if clock.check(solver, again):
                game = run.game(plainest(system, solver, again, clock), depth)
                before = game.states.index(game.states[-1])
                how = (
                    f"after {depth} event(s) the game stands where it stood after {before}: it need never end"
                )
                return Repetition(game, depth, False, how)
    except OutOfTime as error:
        depth, why = depth - 1, f", then {error}"
    how = f"no state comes again in games of up to {depth} event(s){why}"
    return Repetition(None, depth, False, how)


def _same(run: Unrolling, one: int, other: int) -> z3.BoolRef:
    """The game stands in the same state at both moments."""
    many = len(run.relation.before)
    pairs = zip(run.moments[one][:many], run.moments[other][:many], strict=True)
    return z3.And(*(a[1] == b[1] for a, b in pairs))
