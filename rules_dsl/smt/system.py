"""The transition system of a model: initial states and every step from choice to choice, as Z3 terms.

`compile_smt` takes a model, settled or with parameters still open, and gives a `System`. A state is a
*place* (a phase and one of its choices, or over in a phase) and a value for every variable. Every place
has one `Step`: the unknown inputs of whoever chooses there, the conditions a legal choice meets, each
under the name and citation of the rule it comes from, the state after it, and what became known. Steps
are functions of state and inputs, so a run is fixed by its inputs.

Where phases may come round again without anybody choosing, a run *halts* (see `execute`): there is a place there even
when nobody chooses, and the step from it is the only one there is. The game does not *rest* in such a state: no claim
speaks of it, and a game read back leaves it out. In a system made by `compile_paced` every choice is such a place.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import z3  # type: ignore[import-untyped]

from rules_dsl import model as m
from rules_dsl.dealing import decided_deals
from rules_dsl.smt.execute import (
    CIRCLE,
    Run,
    Stop,
    Values,
    choosing_seats,
    circular_phases,
    is_awaited,
    merge_values,
    passed_in_a_circle,
    passed_over,
    run_from,
)
from rules_dsl.smt.expressions import Scene, is_place, truth_of, value_of
from rules_dsl.smt.observations import Slot
from rules_dsl.smt.raw import substituted
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
    choose,
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
from rules_dsl.types import BOOL, IntType, MapType, OptionalType, Type, cardinality
from rules_dsl.walk import reads, statements


@dataclass(frozen=True, slots=True)
class Place:
    """Where a game can stand: before a choice of a phase, or over (`step` is None). The empty phase is
    a circle of phases that are passed over.
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
    group. Where the game may halt without anybody choosing, `awaited` says when somebody does; if nobody does, the only
    legal step is to choose the least value for no seat, and `choice` has passed.
    """

    place: Place
    choice: m.Choice
    awaited: Truth
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

    @cached_property
    def rests(self) -> Truth:
        """The state `before` is one in which somebody is to choose, or the game is over."""
        passing = [self._here[p] for p in self.places if p.phase == CIRCLE]
        passing += [and_((self._here[p], not_(s.awaited))) for p, s in self.steps.items()]
        return not_(or_(passing))

    def moves_to(self, state: SymbolicState) -> list[tuple[Any, Any]]:
        """What in a term about the state `before` is to be replaced to say it of another."""
        pairs = zip(self.state_leaves(self.before), self.state_leaves(state), strict=True)
        return [(old, new) for old, new in pairs if not old.eq(new)]

    def resting(self, state: SymbolicState) -> Truth:
        """`rests`, said of any state."""
        if state is self.before or isinstance(self.rests, bool):
            return self.rests
        return substituted(self.rests, self.moves_to(state))

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
    return IntType(0, max(1, len(places) - 1))


def compile_smt(model: m.Model, name: str = "") -> System:
    """The transition system of a model. Systems of different names share the parameters and nothing else."""
    return Compiler(model, name).system()


def compile_paced(model: m.Model, name: str = "") -> System:
    """The same, but every run halts before every choice, whether or not somebody makes it, unless that follows from the
    parameters alone.

    Then what a seat sees of a step says where the step ends: with a choice, before the next choice of the phase; else with
    a phase entered, which everybody sees. Two games that have looked the same to a seat have taken the same places, up to
    choices of the last phase of which it sees nothing.
    """
    return Compiler(model, name, paced=True).system()


# what stands at a place where a phase without choices halts: a choice nobody makes
NOBODY = m.Choice("", m.Chooser("chance"), BOOL, False, m.Audience("public"), ())


class Compiler:
    """Makes the terms of a model's choices. `input` makes the unknown a choice is; it is declared by default."""

    def __init__(self, model: m.Model, name: str = "", *, paced: bool = False) -> None:
        self.model = model
        self.name = f"{name} " if name else ""
        self.halting = _halting(model, paced)
        self.places = _places(model, self.halting)
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
            name: conform(value_of(v.initial, start_scene), v.type, self.players)
            for name, v in model.variables.items()
        }
        nothing = constant(None, OptionalType(model.result))
        run = run_from(model, model.start, None, first, self.scene_of, self.halting)
        initial, slots = self._outcome(run, nothing)
        steps = {place: self._step(place, before) for place in self.places if place.step is not None}
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
        for choice, conditions in decided_deals(self.model):
            takes_place = and_(truth_of(c, scene) for c in conditions)
            parts.append(implies(takes_place, self._fits(choice, scene)))
        return and_(parts)

    def _fits(self, choice: m.Choice, scene: Scene) -> Truth:
        """Are there as many cards as places to deal them to?"""
        assert choice.deal is not None
        assert isinstance(choice.type, MapType)
        places = count(deal_places(choice.type, self.players))
        return equal(total(value_of(choice.deal, scene).entries), places)

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

    def choice_at(self, place: Place) -> m.Choice:
        choices = self.model.phases[place.phase].choices
        return choices[place.step] if place.step is not None and place.step < len(choices) else NOBODY

    def _step(self, place: Place, before: SymbolicState) -> Step:
        assert place.step is not None
        phase, choice = self.model.phases[place.phase], self.choice_at(place)
        scene = self.scene_of(phase.name, before.values)
        awaited: Truth = True
        if (place.phase, place.step) in self.halting:
            awaited = is_awaited(choice, scene) if choice is not NOBODY else False
        made = (
            self.each(place, choice, scene, awaited)
            if choice.chooser.kind == "each"
            else self.single(place, choice, scene, awaited)
        )
        seen, values = self.choice_slots(place, choice, scene, made), before.values
        if choice is not NOBODY:
            values = self._written(choice, values, made)
            if awaited is not True:
                values = merge_values(awaited, values, passed_over(self.model, choice, before.values))
        nothing = constant(None, OptionalType(self.model.result))
        run = run_from(self.model, phase.name, place.step + 1, values, self.scene_of, self.halting)
        after, slots = self._outcome(run, nothing)
        return replace(made, after=after, slots=(*seen, *slots))

    def _written(self, choice: m.Choice, values: Values, made: Step) -> Values:
        chosen = conform(made.value, self.model.variables[choice.variable].type)
        by = {} if made.seat is None else {f"{choice.variable}_by": made.seat}
        return {**values, choice.variable: chosen, **by}

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

    def each(self, place: Place, choice: m.Choice, scene: Scene, awaited: Truth = True) -> Step:
        type_ = m.choice_type(choice)
        entries: MapOf = self.input(MapType(self.model.players, type_), f"{self.name}input {place}")
        seats = tuple(and_((awaited, chooses)) for chooses in choosing_seats(choice, scene))
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
        return Step(place, choice, awaited, entries, None, seats, conditions, tuple(oughts), _NOWHERE, ())

    def single(self, place: Place, choice: m.Choice, scene: Scene, awaited: Truth = True) -> Step:
        type_ = m.choice_type(choice)
        value = self.input(type_, f"{self.name}input {place}")
        domain = [implies(awaited, well_formed(value, type_, self.players))]
        domain.append(or_((awaited, is_least(value, type_))))
        inner = value.value if choice.optional else value
        given = and_((awaited, value.some)) if choice.optional else awaited
        names: dict[str, Symbolic] = {choice.variable: inner}
        seats: tuple[Truth, ...] = ()
        speaker: Num | None = None
        if choice.chooser.kind == "one":
            speaker = self.input(self.model.players, f"{self.name}input {place} by")
            seats = tuple(and_((awaited, chooses)) for chooses in choosing_seats(choice, scene))
            speaking = or_(
                and_((chooses, is_place(speaker, i, self.model.players))) for i, chooses in enumerate(seats)
            )
            domain.append(choose(awaited, speaking, equal(speaker, number(0))))
            names[choice.chooser.seat] = speaker
        if choice.deal is not None:
            domain.append(implies(given, self._dealt(choice, inner, scene)))
        inside = scene.bind(**names)
        if choice.weight is not None:
            domain.append(implies(given, not_(equal(value_of(choice.weight, inside), number(0)))))
        requires, oughts = self._requirements(place, choice, [(given, inside)])
        conditions = (self._domain(place, choice, and_(domain)), *requires)
        return Step(place, choice, awaited, value, speaker, seats, conditions, tuple(oughts), _NOWHERE, ())

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

    def choice_slots(self, place: Place, choice: m.Choice, scene: Scene, step: Step) -> tuple[Slot, ...]:
        phase, name, kind = place.phase, choice.variable, choice.chooser.kind
        type_, everyone = m.choice_type(choice), range(self.model.players.count)
        if step.awaited is False:
            return ()
        if kind == "each":
            return tuple(
                Slot(
                    "choice",
                    phase,
                    name,
                    chooses,
                    v,
                    type_,
                    number(i),
                    self._audience(choice, scene, number(i)),
                )
                for i, (chooses, v) in enumerate(zip(step.seats, step.value.entries, strict=True))
            )
        if choice.audience.kind == "own":
            assert isinstance(type_, MapType)
            slots = []
            for i, v in enumerate(step.value.entries):
                there = and_((step.awaited, less(number(i), self.players)))
                to = tuple(s == i for s in everyone)
                slots.append(Slot("choice", phase, name, there, v, type_.value, number(i), to))
            return tuple(slots)
        seat = step.seat
        if kind == "player":
            assert choice.chooser.who is not None
            seat = value_of(choice.chooser.who, scene)
        to_whom = self._audience(choice, scene, seat)
        return (Slot("choice", phase, name, step.awaited, step.value, type_, seat, to_whom),)

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


def _halting(model: m.Model, paced: bool) -> frozenset[tuple[str, int]]:
    """Where every run halts, whether or not somebody chooses there."""
    circular = circular_phases(model)
    return frozenset(
        (name, i)
        for name, phase in model.phases.items()
        for i in range(max(len(phase.choices), name in circular))
        if name in circular or (paced and _depends_on_the_game(model, phase.choices[i]))
    )


def _depends_on_the_game(model: m.Model, choice: m.Choice) -> bool:
    """Can it depend on more than the table whether anybody makes this choice? If not, two games at one table agree."""
    conditions = (choice.when, choice.chooser.domain, choice.chooser.condition)
    return any(reads(x, model.definitions) for x in conditions if x is not None)


def _places(model: m.Model, halting: frozenset[tuple[str, int]]) -> tuple[Place, ...]:
    """Every place of a model: its choices in order and where it halts without one, then over in each phase that can end
    the game, then the circle if phases can be passed over in one.
    """
    choices = {(name, i) for name, phase in model.phases.items() for i in range(len(phase.choices))}
    order = {name: i for i, name in enumerate(model.phases)}
    made = [Place(*x) for x in sorted(choices | halting, key=lambda x: (order[x[0]], x[1]))]
    for name, phase in model.phases.items():
        if any(isinstance(x, m.Win) for x in statements(phase.body)):
            made.append(Place(name, None))
    if any(passed_in_a_circle(model, phase) for phase in model.phases.values()):
        made.append(Place(CIRCLE, None))
    return tuple(made)


def deal_exists(system: System, step: Step) -> Truth:
    """For a deal: are there exactly as many cards as places?"""
    assert step.choice.deal is not None
    assert isinstance(step.choice.type, MapType)
    scene = system.scene(system.before)
    counts = value_of(step.choice.deal, scene).entries
    places = count(deal_places(step.choice.type, system.players))
    return equal(total(counts), places)
