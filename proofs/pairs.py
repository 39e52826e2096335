"""Two games that look the same to one seat: the ground on which claims about knowledge are decided.

A seat knows a fact if it holds in every game of which it has seen the same sequence of observations. A `Pair` is a paced
system, a twin of it with the same parameters, and the seat that watches; `PairSearch` runs both forward together, and
`Mind` decides what a seat knows at the end of one given game, exactly.

In paced systems two games that have looked the same have come through the same places, one by one (`compile_paced`),
but one of them may since have gone further in its phase by choices the seat sees nothing of: `Pair.anywhere`.
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
from rules_dsl.smt import Game, Place, Step, System, Unrolling, compile_paced, finite_solver
from rules_dsl.smt.expressions import Scene, truth_of, value_of
from rules_dsl.smt.observations import Slot, looks_same, nothing_seen
from rules_dsl.smt.raw import substituted
from rules_dsl.smt.symbolic import Maybe, constant, declare, model_reader, read_number, well_formed
from rules_dsl.smt.terms import Num, Truth, and_, equal, implies, not_, number, or_, term
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

    def sees_nothing(self, slots: tuple[Slot, ...]) -> Truth:
        """Does the watcher, who is one of the seats, see nothing at all of a step?"""
        unseen = [nothing_seen(slots, i) for i in range(self.system.model.players.count)]
        if all(x is False for x in unseen):
            return False
        return and_(implies(equal(self.watcher, number(i)), x) for i, x in enumerate(unseen))

    @cached_property
    def unnoticed(self) -> Mapping[Place, tuple[Truth, Truth]]:
        """The places from which a step may go unnoticed, in our game and in the twin: legal, and nothing of it is seen.
        After the last choice of a phase another phase is entered or the game ends, and everybody sees that.
        """
        found: dict[Place, tuple[Truth, Truth]] = {}
        for place, step in self.system.steps.items():
            if place.step is not None and place.step + 1 < len(self.system.model.phases[place.phase].choices):
                sides = tuple(
                    and_((s.legal, self.sees_nothing(s.slots))) for s in (step, self.twin.steps[place])
                )
                if sides != (False, False):
                    found[place] = sides[0], sides[1]
        return found

    @cached_property
    def most_unnoticed(self) -> int:
        """How many steps in a row may go unnoticed, at the most: choices of one phase."""
        phases = [place.phase for place in self.unnoticed]
        return max((phases.count(phase) for phase in phases), default=0)

    def anywhere(self, condition: Truth) -> Truth:
        """The condition on two games that look the same, or that it comes to hold when one of them goes on unnoticed."""
        return or_((condition, self.ahead(condition, 0), self.ahead(condition, 1)))

    def ahead(self, condition: Truth, side: int) -> Truth:
        """It comes to hold when our game (side 0) or the twin (side 1) goes on, and the watcher sees nothing of it."""
        found: list[Truth] = []
        for _ in range(self.most_unnoticed):
            condition = or_(
                and_(
                    (
                        system.at(system.before, place),
                        sides[side],
                        substituted(term(condition), system.moves_to(system.steps[place].after)),
                    )
                )
                for place, sides in self.unnoticed.items()
                for system in ((self.system, self.twin)[side],)
            )
            found.append(condition)
        return or_(found)

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

        It is said of two games that both rest. Exact for claims in which every `knows` must hold by itself
        (`each_must_hold`): one twin refutes them.
        """

        def knows(scene: Scene, expr: m.Knows) -> Truth:
            theirs = replace(self.twin.scene(self.twin.before), bound=scene.bound)
            watching = equal(value_of(expr.player, scene), self.watcher)
            return not_(and_((watching, self.twin.rests, not_(truth_of(expr.fact, theirs)))))

        scene = replace(self.system.scene(self.system.before), knows=knows)
        return and_((self.system.rests, not_(truth_of(claim, scene))))


def pair_of(model: m.Model) -> Pair:
    return Pair(compile_paced(model), compile_paced(model, "twin"), declare(model.players, "watcher"))


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
        model = self.solution(self.pair.anywhere(condition), clock)
        if model is None:
            return None
        seat = self.seat(model)
        ours, theirs = self._gone_on(condition, self.ours.trace(model), self.theirs.trace(model), seat, clock)
        return ours.at_rest, theirs.at_rest, seat

    def _gone_on(
        self, condition: Truth, ours: Game, theirs: Game, seat: int, clock: Clock
    ) -> tuple[Game, Game]:
        """The two games, one of them gone on unnoticed until the condition holds."""
        if self.pair.most_unnoticed == 0:
            return ours, theirs
        for steps in range(self.pair.most_unnoticed + 1):
            for side in (0, 1):
                found = Drift(self.pair, ours, theirs, seat, side, steps).found(condition, clock)
                if found is not None:
                    return found
        raise AssertionError("neither game goes on to where the condition holds")

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

    def fixed(self, game: Game) -> Any:
        """A literal that fixes the first game, moment by moment to the depth of this search."""
        system, literal = self.pair.system, z3.FreshBool("fixed")
        parts = [are_params(system, game.params), self.at(0, is_state(system, system.before, game.states[0]))]
        for t, move in enumerate(game.moves[: self.ours.depth]):
            step = system.steps[Place(game.states[t].phase, game.states[t].step)]
            parts.append(self.at(t, is_move(system, step, move)))
        self.solver.add(z3.Implies(literal, z3.And(*parts)))
        return literal

    def watched_by(self, seat: int) -> Any:
        """A literal that fixes who watches."""
        literal = z3.Bool(f"watched by {seat}")
        self.solver.add(z3.Implies(literal, term(equal(self.pair.watcher, number(seat)))))
        return literal

    def twin(self, game: Game, fixed: Any, condition: Truth, seat: int, clock: Clock) -> Game | None:
        """The second of two such games, however plain, moment by moment, if the first is a given one (`fixed` is its
        literal); it may have gone on unnoticed.
        """
        goal = self._goal(or_((condition, self.pair.ahead(condition, 1))))
        if not clock.check(self.solver, goal, fixed, self.watched_by(seat)):
            return None
        theirs = self.theirs.trace(self.solver.model())
        return self._gone_on(condition, game, theirs, seat, clock)[1]

    def seat(self, model: Any) -> int:
        """Who watched."""
        return read_number(self.pair.watcher, model_reader(model))


@dataclass
class Drift:
    """Two games that look the same to a seat, of which one goes on for so many steps the seat sees nothing of."""

    pair: Pair
    ours: Game
    theirs: Game
    seat: int
    side: int
    steps: int

    def found(self, condition: Truth, clock: Clock) -> tuple[Game, Game] | None:
        """The two games when the condition holds; None if it cannot come to."""
        pair, solver = self.pair, finite_solver()
        solver.add(are_params(pair.system, self.ours.params), term(equal(pair.watcher, number(self.seat))))
        runs = [Unrolling(pair.system, solver), Unrolling(pair.twin, solver, "twin")]
        for run, game in zip(runs, (self.ours, self.theirs), strict=True):
            solver.add(run.at(0, is_state(run.system, run.system.before, game.states[-1])))
        going = runs[self.side]
        for t in range(self.steps):
            unnoticed = (
                and_((going.system.at(going.system.before, place), sides[self.side]))
                for place, sides in pair.unnoticed.items()
            )
            going.extend()
            solver.add(
                substituted(term(or_(unnoticed)), [*going.moments[t], *runs[1 - self.side].moments[0]])
            )
        moments = [*runs[0].moments[-1], *runs[1].moments[-1]]
        if not clock.check(solver, substituted(term(condition), moments)):
            return None
        model = solver.model()
        games = [self.ours, self.theirs]
        games[self.side] = joined(games[self.side], going.trace(model))
        return games[0], games[1]


def joined(game: Game, more: Game) -> Game:
    """A game, and how it went on from its last state."""
    return Game(game.params, (*game.states, *more.states[1:]), (*game.moves, *more.moves))


@dataclass(frozen=True)
class Doubt:
    """A fact a seat cannot be certain of: a game that looks the same to it and in which the fact does not hold, moment by
    moment. Without a twin: a fact it is certain of.
    """

    expr: m.Knows
    bound: Mapping[str, Any]
    seat: int
    twin: Game | None


@dataclass
class Mind:
    """What seats know at the end of one game, moment by moment, decided over all games that look the same to them.

    `searches` are two games side by side, by how many moments; making them takes most of the time, so whoever asks about
    many games keeps them.
    """

    pair: Pair
    game: Game
    clock: Clock
    searches: dict[int, PairSearch] = field(default_factory=dict)
    doubts: list[Doubt] = field(default_factory=list)  # what was asked, and the twins that were found
    _fixed: dict[int, Any] = field(default_factory=dict)

    def _search(self, depth: int) -> PairSearch:
        """This game up to a moment, fixed, beside every game that looks the same to somebody."""
        if depth not in self.searches:
            self.searches[depth] = PairSearch(self.pair)
            for _ in range(depth):
                self.searches[depth].extend()
        if depth not in self._fixed:
            self._fixed[depth] = self.searches[depth].fixed(self.game)
        return self.searches[depth]

    def _step(self, moment: int) -> Step:
        state = self.game.states[moment]
        return self.pair.system.steps[Place(state.phase, state.step)]

    def _fixed_params(self) -> Any:
        return are_params(self.pair.system, self.game.params)

    def _last_noticed(self, seat: int) -> int:
        """The moment after which the seat has seen nothing any more."""
        system, depth = self.pair.system, len(self.game.moves)
        while depth:
            step, solver = self._step(depth - 1), finite_solver()
            if step.place not in self.pair.unnoticed:
                break
            solver.add(self._fixed_params(), is_state(system, system.before, self.game.states[depth - 1]))
            solver.add(is_move(system, step, self.game.moves[depth - 1]))
            if self.clock.check(solver, term(not_(nothing_seen(step.slots, seat)))):
                break
            depth -= 1
        return depth

    def twin_without(self, seat: int, fact: m.Expr, bound: Mapping[str, Any]) -> Game | None:
        """A game that looks the same to the seat and in which the fact does not hold, if there is one."""
        twin = self.pair.twin
        scene = replace(twin.scene(twin.before), bound=dict(bound))
        failing = and_((twin.rests, not_(truth_of(fact, scene))))
        for depth in range(len(self.game.moves), self._last_noticed(seat) - 1, -1):
            # a twin that has made fewer choices than the game itself, or as many, or more
            search = self._search(depth)
            short = Game(self.game.params, self.game.states[: depth + 1], self.game.moves[:depth])
            found = search.twin(short, self._fixed[depth], failing, seat, self.clock)
            if found is not None:
                return found
        return None

    def holds(self, claim: m.Expr) -> bool:
        """Is a claim, knowledge included, true at the end of the game?"""
        return truth_of(claim, replace(plain_scene(self.pair.system, self.game), knows=self._knows)) is True

    def _knows(self, scene: Scene, expr: m.Knows) -> Truth:
        seat = value_of(expr.player, scene).value
        if truth_of(expr.fact, scene) is False:
            return False
        twin = self.twin_without(seat, expr.fact, scene.bound)
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
