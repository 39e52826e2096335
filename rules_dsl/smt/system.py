"""The transition system of a model: initial states and every step from choice to choice, as Z3 terms.

`compile_smt` takes a model, settled or with parameters still open, and gives a `System`. A state is a
*place* (a phase and one of its choices, or over in a phase) and a value for every variable. Every place
has one `Step`: the unknown inputs of whoever chooses there, the conditions a legal choice meets, each
under the name and citation of the rule it comes from, the state after it, and what became known. Steps
are functions of state and inputs, so a run is fixed by its inputs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import z3  # type: ignore[import-untyped]

from rules_dsl import model as m
from rules_dsl.smt.execute import CIRCLE, Run, Slot, Stop, Values, choosing_seats, merge_values, run_from
from rules_dsl.smt.expressions import Scene, is_place, truth_of, value_of
from rules_dsl.smt.symbolic import (
    MapOf,
    Maybe,
    Symbolic,
    conform,
    constant,
    declare,
    is_least,
    leaves,
    merge,
    present,
    well_formed,
)
from rules_dsl.smt.terms import (
    Num,
    Truth,
    and_,
    count,
    equal,
    implies,
    in_interval,
    less,
    not_,
    number,
    or_,
    pick,
    total,
)
from rules_dsl.types import IntType, MapType, OptionalType, Type, cardinality
from rules_dsl.walk import statements


@dataclass(frozen=True, slots=True)
class Place:
    """Where a game can stand: before a choice of a phase, or over (`step` is None). The empty phase is
    a circle.
    """

    phase: str
    step: int | None

    def __str__(self) -> str:
        if self.phase == CIRCLE:
            return "a circle of phases"
        return f"{self.phase}:{'over' if self.step is None else self.step}"


@dataclass(frozen=True, slots=True)
class Condition:
    """One thing a legal choice meets. `rule` is the requirement it comes from, None for the domain of
    the choice.
    """

    name: str
    term: Truth
    rule: m.Require | None
    cites: tuple[str, ...]

    @property
    def literal(self) -> Any:
        """The Boolean that stands for this condition where an unsat core is to name it."""
        return z3.Bool(f"rule {self.name}")


@dataclass(frozen=True)
class SymbolicState:
    place: Num
    values: Values
    result: Maybe


@dataclass(frozen=True)
class Step:
    """What happens at a place. `value` is what is chosen (for "each" a map), `seat` who speaks for a
    group.
    """

    place: Place
    choice: m.Choice
    value: Symbolic
    seat: Num | None
    seats: tuple[Truth, ...]  # for "each" and "one": who may choose
    conditions: tuple[Condition, ...]
    oughts: tuple[Condition, ...]
    after: SymbolicState
    slots: tuple[Slot, ...]

    @property
    def legal(self) -> Truth:
        return and_(c.term for c in self.conditions)


@dataclass(frozen=True)
class System:
    """A model as terms over `params`, the state `before` and the inputs of the steps."""

    model: m.Model
    players: Num
    params: Mapping[str, Symbolic]
    valid: Truth  # the parameters are in their domains and no set-up check of kind "error" objects
    places: tuple[Place, ...]
    before: SymbolicState
    formed: Truth  # the state is well formed
    initial: SymbolicState
    first_slots: tuple[Slot, ...]
    steps: Mapping[Place, Step]

    def index(self, place: Place) -> int:
        return self._indices[place]

    @cached_property
    def _indices(self) -> dict[Place, int]:
        return {place: i for i, place in enumerate(self.places)}

    @cached_property
    def types(self) -> dict[str, Type]:
        return {name: v.type for name, v in self.model.variables.items()}

    def at(self, state: SymbolicState, place: Place) -> Truth:
        if state is self.before:
            return self._here[place]
        return equal(state.place, number(self.index(place)))

    # What is said of the state `before` is said again and again: these are made once.

    @cached_property
    def _here(self) -> dict[Place, Truth]:
        return {p: equal(self.before.place, number(i)) for i, p in enumerate(self.places)}

    @cached_property
    def _scene_before(self) -> Scene:
        return self._scene(self.before, self.params)

    @cached_property
    def _held(self) -> dict[int, tuple[m.Expr, Truth]]:
        """Conditions on `before` by the identity of their expressions, which are kept so that it stays theirs."""
        return {}

    def state_leaves(self, state: SymbolicState) -> list[Any]:
        """The terms of a state, in a fixed order."""
        found = list(leaves(conform(state.place, _place_type(self.places)), _place_type(self.places)))
        for name, type_ in self.types.items():
            found += leaves(conform(state.values[name], type_), type_)
        found += leaves(
            conform(state.result, OptionalType(self.model.result)), OptionalType(self.model.result)
        )
        return found

    def scene(self, state: SymbolicState, params: Mapping[str, Symbolic] | None = None) -> Scene:
        """The scene in which properties of a state are read."""
        if state is self.before and params is None:
            return self._scene_before
        return self._scene(state, params or self.params)

    def _scene(self, state: SymbolicState, params: Mapping[str, Symbolic]) -> Scene:
        def standing(phase: str) -> Truth:
            return or_(self.at(state, p) for p in self.places if p.phase == phase and p.step is not None)

        over = or_(self.at(state, p) for p in self.places if p.step is None and p.phase != CIRCLE)
        return Scene(self.model, self.players, params, state.values, {}, standing, over, state.result)

    def holds(self, expr: m.Expr, state: SymbolicState | None = None) -> Truth:
        """A condition on a state, as a term."""
        if state is not None and state is not self.before:
            return truth_of(expr, self.scene(state))
        known = self._held.get(id(expr))
        if known is None:
            known = self._held[id(expr)] = (expr, truth_of(expr, self._scene_before))
        return known[1]


def _place_type(places: tuple[Place, ...]) -> Type:
    return IntType(0, len(places) - 1)  # there are two at least: a start and the circle


def compile_smt(model: m.Model, name: str = "") -> System:
    """The transition system of a model. Systems of different names share the parameters and nothing else."""
    return Compiler(model, name).system()


class Compiler:
    """Makes the terms of a model's choices. `input` makes the unknown a choice is; it is declared by default."""

    def __init__(self, model: m.Model, name: str = "") -> None:
        self.model = model
        self.name = f"{name} " if name else ""
        self.places = _places(model)
        self.indices = {place: i for i, place in enumerate(self.places)}
        open_players = model.params.get(m.PLAYERS)
        self.players: Num = (
            declare(open_players.type, "players") if open_players else number(model.players.count)
        )
        self.params = {
            name: declare(p.type, f"param {name}") for name, p in model.params.items() if name != m.PLAYERS
        }

    def input(self, type_: Type, name: str) -> Symbolic:
        return declare(type_, name)

    def scene_of(self, phase: str, values: Values) -> Scene:
        return Scene(self.model, self.players, self.params, values, {}, lambda name: name == phase)

    def system(self) -> System:
        model = self.model
        before = SymbolicState(
            declare(_place_type(self.places), f"{self.name}place"),
            {name: declare(v.type, f"{self.name}state {name}") for name, v in model.variables.items()},
            declare(OptionalType(model.result), f"{self.name}result"),
        )
        start_scene = self.scene_of("", {})
        first = {
            name: conform(value_of(v.initial, start_scene), v.type) for name, v in model.variables.items()
        }
        nothing = constant(None, OptionalType(model.result))
        initial, slots = self._outcome(run_from(model, model.start, None, first, self.scene_of), nothing)
        steps = {
            place: self._step(place, before)
            for place in self.places
            if place.step is not None and place.phase != CIRCLE
        }
        return System(
            model,
            self.players,
            self.params,
            self._valid(),
            self.places,
            before,
            self._formed(before),
            initial,
            slots,
            steps,
        )

    def _valid(self) -> Truth:
        parts: list[Truth] = []
        for name, param in self.model.params.items():
            value = self.players if name == m.PLAYERS else self.params[name]
            parts.append(well_formed(value, param.type, self.players))
        scene = self.scene_of("", {})
        parts += [truth_of(c.condition, scene) for c in self.model.checks if c.severity == "error"]
        return and_(parts)

    def _formed(self, state: SymbolicState) -> Truth:
        parts = [
            well_formed(state.values[name], v.type, self.players) for name, v in self.model.variables.items()
        ]
        parts.append(well_formed(state.result, OptionalType(self.model.result), self.players))
        parts.append(in_interval(state.place))
        over = or_(equal(state.place, number(i)) for i, p in enumerate(self.places) if p.step is None)
        parts.append(implies(state.result.some, over))
        return and_(parts)

    def _outcome(self, run: Run, nothing: Maybe) -> tuple[SymbolicState, tuple[Slot, ...]]:
        """All the stops of a run as one state; exactly one of their conditions holds."""
        place: Num | None = None
        values: Values = {}
        result = nothing
        for stop in run.stops:
            here = number(self._place(stop))
            if place is None:
                place, values, result = here, stop.values, stop.result or nothing
            else:
                place = pick(stop.condition, here, place)
                values = merge_values(stop.condition, stop.values, values)
                result = merge(stop.condition, stop.result or nothing, result)
        assert place is not None
        return SymbolicState(place, values, result), tuple(run.slots)

    def _place(self, stop: Stop) -> int:
        return self.indices[Place(stop.phase, stop.step)]

    # --- choices ---

    def _step(self, place: Place, before: SymbolicState) -> Step:
        assert place.step is not None
        phase = self.model.phases[place.phase]
        choice = phase.choices[place.step]
        scene = self.scene_of(phase.name, before.values)
        made = (
            self.each(place, choice, scene)
            if choice.chooser.kind == "each"
            else self.single(place, choice, scene)
        )
        values = {
            **before.values,
            choice.variable: conform(made.value, self.model.variables[choice.variable].type),
        }
        if made.seat is not None:
            values[f"{choice.variable}_by"] = made.seat
        nothing = constant(None, OptionalType(self.model.result))
        run = run_from(self.model, phase.name, place.step + 1, values, self.scene_of)
        after, slots = self._outcome(run, nothing)
        seen = self._choice_slots(place, choice, scene, made)
        return replace(made, after=after, slots=(*seen, *slots))

    def _domain(self, place: Place, choice: m.Choice, term: Truth) -> Condition:
        return Condition(f"{place} {choice.variable}", term, None, choice.origin.cites)

    def _requirements(
        self, place: Place, choice: m.Choice, bound: list[tuple[Truth, Scene]]
    ) -> tuple[list[Condition], list[Condition]]:
        """The requirements, each holding in all the scenes given, as far as the guard of each scene holds."""
        made: dict[str, list[Condition]] = {"require": [], "ought": []}
        for i, rule in enumerate(choice.requires):
            term = and_(implies(guard, truth_of(rule.condition, inside)) for guard, inside in bound)
            cites = rule.origin.cites or choice.origin.cites
            made[rule.kind].append(Condition(f"{place} {choice.variable} {rule.kind} {i}", term, rule, cites))
        return made["require"], made["ought"]

    def each(self, place: Place, choice: m.Choice, scene: Scene) -> Step:
        type_ = m.choice_type(choice)
        entries: MapOf = self.input(MapType(self.model.players, type_), f"{self.name}input {place}")
        seats = choosing_seats(choice, scene)
        domain: list[Truth] = []
        bound: list[tuple[Truth, Scene]] = []
        for seat, (chooses, value) in enumerate(zip(seats, entries.entries, strict=True)):
            domain.append(implies(chooses, well_formed(value, type_, self.players)))
            domain.append(implies(not_(chooses), is_least(value, type_)))
            inner = value.value if choice.optional else value
            given = and_((chooses, value.some)) if choice.optional else chooses
            if given is not False:
                bound.append(
                    (given, scene.bind(**{choice.chooser.seat: number(seat), choice.variable: inner}))
                )
        requires, oughts = self._requirements(place, choice, bound)
        conditions = (self._domain(place, choice, and_(domain)), *requires)
        return Step(place, choice, entries, None, seats, conditions, tuple(oughts), _NOWHERE, ())

    def single(self, place: Place, choice: m.Choice, scene: Scene) -> Step:
        type_ = m.choice_type(choice)
        value = self.input(type_, f"{self.name}input {place}")
        domain = [well_formed(value, type_, self.players)]
        inner = value.value if choice.optional else value
        given = value.some if choice.optional else True
        names: dict[str, Symbolic] = {choice.variable: inner}
        seats: tuple[Truth, ...] = ()
        speaker: Num | None = None
        if choice.chooser.kind == "one":
            speaker = self.input(self.model.players, f"{self.name}input {place} by")
            seats = choosing_seats(choice, scene)
            domain.append(
                or_(
                    and_((chooses, is_place(speaker, i, self.model.players)))
                    for i, chooses in enumerate(seats)
                )
            )
            names[choice.chooser.seat] = speaker
        if choice.deal is not None:
            domain.append(implies(given, self._dealt(choice, inner, scene)))
        inside = scene.bind(**names)
        if choice.weight is not None:
            domain.append(implies(given, not_(equal(value_of(choice.weight, inside), number(0)))))
        requires, oughts = self._requirements(place, choice, [(given, inside)])
        conditions = (self._domain(place, choice, and_(domain)), *requires)
        return Step(place, choice, value, speaker, seats, conditions, tuple(oughts), _NOWHERE, ())

    def _dealt(self, choice: m.Choice, value: MapOf, scene: Scene) -> Truth:
        """Every kind lies on as many places as there are cards of it."""
        assert choice.deal is not None
        assert isinstance(choice.type, MapType)
        counts = value_of(choice.deal, scene).entries
        kind: Any = choice.type.value
        taken = deal_places(choice.type, self.players)
        parts = []
        for i, wanted in enumerate(counts):
            here = count(and_((t, is_place(v, i, kind))) for t, v in zip(taken, value.entries, strict=True))
            parts.append(equal(here, wanted))
        return and_(parts)

    # --- what is seen of a choice ---

    def _choice_slots(self, place: Place, choice: m.Choice, scene: Scene, step: Step) -> tuple[Slot, ...]:
        name, kind = choice.variable, choice.chooser.kind
        everyone = range(self.model.players.count)
        if kind == "each":
            slots = []
            for i, (chooses, value) in enumerate(zip(step.seats, step.value.entries, strict=True)):
                to = self._audience(choice, scene, number(i))
                slots.append(Slot(("choice", str(place), name, str(i)), chooses, value, to))
            return tuple(slots)
        if choice.audience.kind == "own":
            return tuple(
                Slot(
                    ("own", str(place), name, str(i)),
                    less(number(i), self.players),
                    v,
                    tuple(s == i for s in everyone),
                )
                for i, v in enumerate(step.value.entries)
            )
        if kind == "chance":
            return (
                Slot(("choice", str(place), name), True, step.value, self._audience(choice, scene, None)),
            )
        seat = step.seat
        if kind == "player":
            assert choice.chooser.who is not None
            seat = value_of(choice.chooser.who, scene)
        assert seat is not None
        to = self._audience(choice, scene, seat)
        return (
            Slot(("choice", str(place), name), True, step.value, to),
            Slot(("chooser", str(place), name), True, seat, to),
        )

    def _audience(self, choice: m.Choice, scene: Scene, seat: Num | None) -> tuple[Truth, ...] | None:
        if choice.audience.kind == "public":
            return None
        seats = range(self.model.players.count)
        own = [False if seat is None else equal(seat, number(i)) for i in seats]
        if choice.audience.to is None:
            return tuple(own)
        inside = scene.bind(**{choice.chooser.seat: seat}) if choice.chooser.seat else scene
        let = value_of(choice.audience.to, inside).members
        return tuple(or_((a, b)) for a, b in zip(own, let, strict=True))


def deal_places(type_: MapType, players: Num) -> tuple[Truth, ...]:
    """Which entries of a dealt map there are at this table."""
    return tuple(present(i, type_.key, players) for i in range(cardinality(type_.key)))


_NOWHERE = SymbolicState(number(0), {}, Maybe(False, None))


def _places(model: m.Model) -> tuple[Place, ...]:
    """Every place of a model: its choices in order, then over in each phase that can end the game,
    then the circle.
    """
    made = [Place(name, i) for name, phase in model.phases.items() for i in range(len(phase.choices))]
    for name, phase in model.phases.items():
        if any(isinstance(x, m.Win) for x in statements(phase.body)):
            made.append(Place(name, None))
    return (*made, Place(CIRCLE, None))


def deal_exists(system: System, step: Step) -> Truth:
    """For a deal: are there exactly as many cards as places?"""
    assert step.choice.deal is not None
    assert isinstance(step.choice.type, MapType)
    scene = system.scene(system.before)
    counts = value_of(step.choice.deal, scene).entries
    places = count(deal_places(step.choice.type, system.players))
    return equal(total(counts), places)
