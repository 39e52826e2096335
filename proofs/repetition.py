"""A game that comes back to a state in which it stood before: choosing as before, it can go on like that for ever."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import z3  # type: ignore[import-untyped]

from proofs.clock import Clock, OutOfTime
from proofs.search import exhausted, plainest
from rules_dsl.smt import Game, System, Unrolling, finite_solver
from rules_dsl.smt.terms import not_, or_


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
    """The shortest game that comes back to a choice with everything as it was, as far as time and depth go."""

    def again(run: Unrolling) -> list[z3.BoolRef]:
        here = run.at(run.depth, system.rests)
        return [z3.And(here, _same(run, t, run.depth)) for t in range(run.depth)]

    return _shortest(system, deepest, clock, again)


def silent_circle(system: System, deepest: int, clock: Clock) -> Repetition:
    """The shortest game that comes to go round without anybody choosing any more. It has no state to end in: the last one
    read back is one of those it goes through.
    """
    nobody = or_(system.at(system.before, p) for p, step in system.steps.items() if step.awaited is not True)

    def again(run: Unrolling) -> list[z3.BoolRef]:
        found, silent = [], [run.at(t, nobody) for t in range(run.depth)]
        silent = [z3.And(x, run.at(t, not_(system.rests))) for t, x in enumerate(silent)]
        for t in range(run.depth):
            found.append(z3.And(_same(run, t, run.depth), *silent[t:]))
        return found

    return _shortest(system, deepest, clock, again)


def _shortest(
    system: System, deepest: int, clock: Clock, again: Callable[[Unrolling], list[z3.BoolRef]]
) -> Repetition:
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
            goal = z3.Bool(f"again {depth}")
            solver.add(z3.Implies(goal, z3.Or(*again(run))))
            if clock.check(solver, goal):
                game = run.game(plainest(system, solver, goal, clock), depth)
                return Repetition(game, len(game.moves), False, _told(game))
    except OutOfTime as error:
        depth, why = depth - 1, f", then {error}"
    how = f"no state comes again in games of up to {depth} event(s){why}"
    return Repetition(None, depth, False, how)


def _told(game: Game) -> str:
    after = len(game.moves)
    before = game.states.index(game.states[-1])
    return f"after {after} event(s) the game stands where it stood after {before}: it need never end"


def _same(run: Unrolling, one: int, other: int) -> z3.BoolRef:
    """The game stands in the same state at both moments."""
    many = len(run.relation.before)
    pairs = zip(run.moments[one][:many], run.moments[other][:many], strict=True)
    return z3.And(*(a[1] == b[1] for a, b in pairs))
