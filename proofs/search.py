"""Search for the shortest game that reaches something, one event deeper at a time, on one shared unrolling.

If no game is longer than the depth reached, the search was complete and what it did not find does not exist.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import z3  # type: ignore[import-untyped]

from proofs.clock import Clock, OutOfTime
from rules_dsl.evaluate import Environment, evaluate
from rules_dsl.smt import Game, System, Unrolling, finite_solver
from rules_dsl.smt.terms import Truth, less_equal, number, term
from rules_dsl.smt.unroll import is_value

EARLY = 24  # events in which most games that can be found are found
EARLY_SHARE = 0.2  # of the time left then goes to looking for an invariant


@dataclass(frozen=True)
class Found:
    """The shortest game; or none: up to `depth` events, and if `complete` at all. An `invariant` excludes it for ever."""

    game: Game | None
    depth: int
    complete: bool
    why: str = ""  # it went no deeper
    invariant: Any = None

    @property
    def undecided(self) -> str:
        """What there is to say if nothing was found and the search was not complete."""
        if self.depth < 0:
            return self.why
        return f"nothing found in games of up to {self.depth} event(s)" + (
            f", then {self.why}" if self.why else ""
        )


def search(
    system: System,
    goals: Mapping[str, Truth],
    clock_of: Callable[[str], Clock],
    deepest: int,
    confirm: Callable[[str, Game], Truth | None] = lambda _name, _game: None,
    exclude: Callable[[str, float], Any] = lambda _name, _share: None,
) -> dict[str, Found]:
    """The shortest game to each goal; `searching` has the rest."""
    return dict(searching(system, goals, clock_of, deepest, confirm, exclude))


def searching(
    system: System,
    goals: Mapping[str, Truth],
    clock_of: Callable[[str], Clock],
    deepest: int,
    confirm: Callable[[str, Game], Truth | None] = lambda _name, _game: None,
    exclude: Callable[[str, float], Any] = lambda _name, _share: None,
) -> Iterator[tuple[str, Found]]:
    """The shortest game to each goal, as soon as it is found.

    `confirm` looks at a game found; if it is not good enough it gives a condition that rules it out, and the search goes
    on. `exclude` is asked for an invariant against what was not found early, for a share of the time left, and once more
    where the search ends undecided. (Telling the solver what is proved of
    every state makes it two to three times slower.)
    """
    solver = finite_solver()
    unrolling = Unrolling(system, solver)
    unrolling.start_initial()
    waiting = {name: term(goal) for name, goal in goals.items()}
    for depth in range(deepest + 1):
        if depth:
            unrolling.extend()
        for name in list(waiting):
            try:
                game = _at_depth(unrolling, depth, name, waiting, clock_of(name), confirm)
            except OutOfTime as error:
                clock_of(name).stop()
                del waiting[name]
                yield name, Found(None, depth - 1, False, str(error))
                continue
            clock_of(name).stop()
            if game is not None:
                del waiting[name]
                yield name, Found(game, depth, True)
        if depth == EARLY:
            for name in list(waiting):
                found = _excluded(name, depth, EARLY_SHARE, clock_of, exclude)
                if found.complete:
                    del waiting[name]
                    yield name, found
        if not waiting:
            return
        if depth >= 8 and depth % 4 == 0 and exhausted(solver, clock_of(next(iter(waiting)))):
            yield from ((name, Found(None, depth, True)) for name in waiting)
            return
    yield from ((name, _excluded(name, deepest, 1.0, clock_of, exclude)) for name in waiting)


def _excluded(
    name: str,
    depth: int,
    share: float,
    clock_of: Callable[[str], Clock],
    exclude: Callable[[str, float], Any],
) -> Found:
    """Nothing up to a depth, and nothing at all if an invariant says so."""
    invariant = exclude(name, share)
    clock_of(name).stop()
    return Found(None, depth, invariant is not None, invariant=invariant)


def _at_depth(
    unrolling: Unrolling,
    depth: int,
    name: str,
    waiting: dict[str, Any],
    clock: Clock,
    confirm: Callable[[str, Game], Truth | None],
) -> Game | None:
    solver = unrolling.solver
    while True:
        goal = z3.Bool(f"goal {name} {depth} {waiting[name].hash()}")
        solver.add(z3.Implies(goal, unrolling.at(depth, waiting[name])))
        if not clock.check(solver, goal):
            return None
        game = unrolling.game(plainest(unrolling.system, solver, goal, clock), depth)
        refusal = confirm(name, game)
        if refusal is None:
            return game
        waiting[name] = z3.And(waiting[name], term(refusal))


def plainest(system: System, solver: Any, goal: Any, clock: Clock) -> Any:
    """A solution with as few players, modules and unusual rulings as the solver's cores allow."""
    wanted = preferences(system)
    best = solver.model()
    while wanted:
        literals = {f"prefer {i}": z3.Bool(f"prefer {i}") for i in range(len(wanted))}
        solver.push()
        try:
            solver.add(*(z3.Implies(x, w) for x, w in zip(literals.values(), wanted, strict=True)))
            found = clock.check(solver, goal, *literals.values())
            if found:
                best = solver.model()
            core = set() if found else {str(x) for x in solver.unsat_core()}
        finally:
            solver.pop()
        # of what cannot go together the last is given up: the first preferences matter most
        clash = [i for i in range(len(wanted)) if f"prefer {i}" in core]
        if found or not clash:
            return best
        del wanted[clash[-1]]
    return best


def preferences(system: System) -> list[Any]:
    """What makes a game easy to read, the most important first: usual rulings, few players, no modules."""
    model = system.model
    usual: dict[str, list[Any]] = {"ruling": [], "module": []}
    for name, param in model.params.items():
        if param.kind in usual:
            value = evaluate(param.default, Environment(model, model.fewest))
            usual[param.kind].append(is_value(system.params[name], param.type, value))
    few = [term(less_equal(system.players, number(n))) for n in range(model.most - 1, model.fewest - 1, -1)]
    return [x for x in (*usual["ruling"], *few, *usual["module"]) if not z3.is_true(x)]


def exhausted(solver: Any, clock: Clock) -> bool:
    """Is no game as long as the unrolling in the solver?"""
    try:
        return not clock.check(solver)
    except OutOfTime:
        return False
