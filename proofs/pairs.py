"""Two games that look the same to one seat: the ground on which claims about knowledge are decided.

A seat knows a fact if it holds in every game that has looked the same to it, event by event; that an event took place is
itself seen. A `Pair` is a system, a twin of it with the same parameters, and the seat that watches; `PairSearch` runs
both forward together, and `Mind` decides what a seat knows at the end of one given game, exactly.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import z3  # type: ignore[import-untyped]

from proofs.clock import Clock
from proofs.search import plainest
from rules_dsl import model as m
from rules_dsl.smt import Game, Place, System, Unrolling, compile_smt, finite_solver
from rules_dsl.smt.execute import Slot, looks_same
from rules_dsl.smt.expressions import Scene, truth_of, value_of
from rules_dsl.smt.raw import substituted
from rules_dsl.smt.symbolic import Maybe, constant, declare, model_reader, read_number, well_formed
from rules_dsl.smt.terms import Num, Truth, and_, equal, implies, not_, number, term
from rules_dsl.smt.unroll import are_params, is_move, is_state
from rules_dsl.types import OptionalType


@dataclass(frozen=True)
class Pair:
    """A system, its twin, and the watching seat."""

    system: System
    twin: System
    watcher: Num

    @cached_property
    def seated(self) -> Truth:
        return well_formed(self.watcher, self.system.model.players, self.system.players)

    def look_same(self, ours: tuple[Slot, ...], theirs: tuple[Slot, ...]) -> Truth:
        """Does the watcher see the same of one step in both?"""
        seats = range(self.system.model.players.count)
        return and_(implies(equal(self.watcher, number(i)), looks_same(ours, theirs, i)) for i in seats)

    @cached_property
    def same_step(self) -> Mapping[Place, Truth]:
        """For every place: the watcher sees the same of the step from there."""
        steps, others = self.system.steps, self.twin.steps
        return {place: self.look_same(steps[place].slots, others[place].slots) for place in steps}

    @cached_property
    def same_start(self) -> Truth:
        return self.look_same(self.system.first_slots, self.twin.first_slots)

    def violated(self, claim: m.Expr) -> Truth:
        """The claim is false in the first game, where what the twin shows to be unknown is unknown.

        Exact for claims in which every `knows` must hold by itself (`each_must_hold`): one twin refutes them.
        """

        def knows(scene: Scene, expr: m.Knows) -> Truth:
            theirs = replace(self.twin.scene(self.twin.before), bound=scene.bound)
            watching = equal(value_of(expr.player, scene), self.watcher)
            return not_(and_((watching, not_(truth_of(expr.fact, theirs)))))

        scene = replace(self.system.scene(self.system.before), knows=knows)
        return not_(truth_of(claim, scene))


def pair_of(system: System) -> Pair:
    return Pair(system, compile_smt(system.model, "twin"), declare(system.model.players, "watcher"))


class PairSearch:
    """Both games forward together, each event looking the same to the watcher."""

    def __init__(self, pair: Pair) -> None:
        self.pair = pair
        self.solver = finite_solver()
        self.ours = Unrolling(pair.system, self.solver)
        self.theirs = Unrolling(pair.twin, self.solver, "twin")
        self.solver.add(term(pair.seated), term(pair.same_start))
        self.ours.start_initial()
        self.theirs.start_initial()

    def at(self, moment: int, condition: Truth) -> Any:
        """A condition on both games, said of a moment."""
        return substituted(term(condition), [*self.ours.moments[moment], *self.theirs.moments[moment]])

    def extend(self) -> None:
        t = self.ours.depth
        self.ours.extend()
        self.theirs.extend()
        system, twin = self.pair.system, self.pair.twin
        together = and_(
            implies(system.at(system.before, place), and_((twin.at(twin.before, place), same)))
            for place, same in self.pair.same_step.items()
        )
        self.solver.add(self.at(t, together))

    def find(self, condition: Truth, clock: Clock) -> tuple[Game, Game, int] | None:
        """Two games to this depth in which the condition holds, and the seat that watched."""
        model = self.solution(condition, clock)
        return None if model is None else (self.ours.game(model), self.theirs.game(model), self.seat(model))

    def solution(self, condition: Truth, clock: Clock) -> Any:
        """The solver's model of two such games, or None."""
        goal = self._goal(condition)
        if not clock.check(self.solver, goal):
            return None
        return plainest(self.pair.system, self.solver, goal, clock)

    def _goal(self, condition: Truth) -> Any:
        goal = z3.FreshBool("goal")
        self.solver.add(z3.Implies(goal, self.at(self.ours.depth, condition)))
        return goal

    def twin(self, condition: Truth, clock: Clock) -> Game | None:
        """The second of two such games, however plain."""
        found = clock.check(self.solver, self._goal(condition))
        return self.theirs.game(self.solver.model()) if found else None

    def seat(self, model: Any) -> int:
        """Who watched."""
        return read_number(self.pair.watcher, model_reader(model))


@dataclass(frozen=True)
class Doubt:
    """A fact a seat cannot be certain of: a game that looks the same to it and in which the fact does not hold."""

    expr: m.Knows
    bound: Mapping[str, Any]
    seat: int
    twin: Game


@dataclass
class Mind:
    """What seats know at the end of one game, decided over all games that look the same to them."""

    pair: Pair
    game: Game
    clock: Clock
    doubts: list[Doubt] = field(default_factory=list)  # the twins that were found
    _watching: dict[int, PairSearch] = field(default_factory=dict)

    def _search(self, seat: int) -> PairSearch:
        """The game itself, fixed, beside every game that looks the same to the seat."""
        if seat not in self._watching:
            system = self.pair.system
            made = PairSearch(self.pair)
            made.solver.add(term(equal(self.pair.watcher, number(seat))), self._fixed_params())
            made.solver.add(made.at(0, is_state(system, system.before, self.game.states[0])))
            for t, move in enumerate(self.game.moves):
                made.extend()
                state = self.game.states[t]
                step = system.steps[Place(state.phase, state.step)]
                made.solver.add(made.at(t, is_move(system, step, move)))
            self._watching[seat] = made
        return self._watching[seat]

    def _fixed_params(self) -> Any:
        return are_params(self.pair.system, self.game.params)

    def twin_without(self, seat: int, fact: m.Expr, bound: Mapping[str, Any]) -> Game | None:
        """A game that looks the same to the seat and in which the fact does not hold, if there is one."""
        twin = self.pair.twin
        scene = replace(twin.scene(twin.before), bound=dict(bound))
        return self._search(seat).twin(not_(truth_of(fact, scene)), self.clock)

    def holds(self, claim: m.Expr) -> bool:
        """Is a claim, knowledge included, true at the end of the game?"""
        return truth_of(claim, replace(plain_scene(self.pair.system, self.game), knows=self._knows)) is True

    def _knows(self, scene: Scene, expr: m.Knows) -> Truth:
        seat = value_of(expr.player, scene).value
        if truth_of(expr.fact, scene) is False:
            return False
        twin = self.twin_without(seat, expr.fact, scene.bound)
        if twin is not None:
            self.doubts.append(Doubt(expr, scene.bound, seat, twin))
        return twin is None


def plain_scene(system: System, game: Game) -> Scene:
    """The last state of a game as a scene of plain values."""
    state = game.states[-1]
    players = game.params.get(m.PLAYERS, system.model.players.count)
    assert isinstance(players, int)
    params = {
        name: constant(game.params[name], p.type)
        for name, p in system.model.params.items()
        if name != m.PLAYERS
    }
    values = {
        name: constant(value, type_)
        for (name, type_), value in zip(system.types.items(), state.values, strict=True)
    }
    result: Maybe = constant(state.result, OptionalType(system.model.result))
    return Scene(
        system.model,
        number(players),
        params,
        values,
        {},
        lambda phase: state.phase == phase,
        state.over,
        result,
    )
