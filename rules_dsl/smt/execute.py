"""From one choice to the next: phases nobody chooses in are run symbolically, all their paths merged into
one outcome.

Takes a model, the place after a choice and symbolic values of the variables; gives where the game can
stop next, with the condition and the values for each stop, and every observation made on the way.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from rules_dsl import model as m
from rules_dsl.flow import successors
from rules_dsl.smt.expressions import Scene, cases, truth_of, updated, value_of
from rules_dsl.smt.symbolic import Maybe, Symbolic, conform, constant, merge, same
from rules_dsl.smt.terms import Num, Truth, and_, choose, iff, implies, not_, or_
from rules_dsl.types import OptionalType
from rules_dsl.values import least

Values = Mapping[str, Symbolic]


@dataclass(frozen=True, slots=True)
class Slot:
    """Something that may become known at one point of a step: under `made`, to the seats `to` (None: to all).

    Every possible observation has one slot, named by `key`; slots of branches that exclude each other are
    one.
    """

    key: tuple[str, ...]
    made: Truth
    value: Symbolic
    to: tuple[Truth, ...] | None

    def seen_by(self, seat: int) -> Truth:
        return self.made if self.to is None else and_((self.made, self.to[seat]))


def looks_same(ours: tuple[Slot, ...], theirs: tuple[Slot, ...], seat: int) -> Truth:
    """Does a seat see the same in two runs of one step?"""
    parts = []
    for a, b in zip(ours, theirs, strict=True):
        seen_a, seen_b = a.seen_by(seat), b.seen_by(seat)
        parts.append(iff(seen_a, seen_b))
        if a.value is not None:
            parts.append(implies(and_((seen_a, seen_b)), same(a.value, b.value)))
    return and_(parts)


def merge_slots(condition: Truth, then: list[Slot], otherwise: list[Slot]) -> list[Slot]:
    """The slots of two branches of which exactly one is taken; each slot's `made` already says when."""
    others = {slot.key: slot for slot in otherwise}
    made: list[Slot] = []
    for slot in then:
        other = others.pop(slot.key, None)
        if other is None:
            made.append(slot)
            continue
        to = slot.to
        if slot.to is not None and other.to is not None:
            to = tuple(choose(condition, x, y) for x, y in zip(slot.to, other.to, strict=True))
        value = slot.value if slot.value is None else merge(condition, slot.value, other.value)
        made.append(Slot(slot.key, or_((slot.made, other.made)), value, to))
    return made + list(others.values())


def append_slots(slots: list[Slot], later: list[Slot]) -> list[Slot]:
    """Slots followed by those of a later statement. What ends a phase has one slot however many statements may end
    it; at most one of them does.
    """
    made = list(slots)
    places = {slot.key: i for i, slot in enumerate(made)}
    for slot in later:
        place = places.get(slot.key)
        if place is None:
            made.append(slot)
        else:
            (made[place],) = merge_slots(slot.made, [slot], [made[place]])
    return made


@dataclass(frozen=True, slots=True)
class Stop:
    """The game comes to rest: in a phase before choice `step`, or over in it (then `step` is None)."""

    phase: str
    step: int | None
    condition: Truth
    values: Values
    result: Maybe | None = None


CIRCLE = ""  # the phase of a stop that means: phases went round in a circle


@dataclass
class Run:
    """What one symbolic run has found so far."""

    stops: list[Stop]
    slots: list[Slot]
    arriving: dict[str, list[tuple[Truth, Values]]]


SceneOf = Callable[[str, Values], Scene]  # the scene in which expressions of a phase are read
# told what is published, when, and what it is; gives what is known of it instead
Publish = Callable[[m.Assign, Truth, Symbolic], Symbolic]


def run_from(
    model: m.Model,
    phase: str,
    index: int | None,
    values: Values,
    scene_of: SceneOf,
    publish: Publish = lambda statement, condition, value: value,
) -> Run:
    """Runs on from a phase: from its entry (`index` None) or from before one of its choices."""
    run = Run([], [], {})
    executor = _Executor(model, scene_of, run, publish)
    if index is None:
        run.arriving[phase] = [(True, values)]
    else:
        executor.onward(model.phases[phase], index, True, values)
    order = _order(model, phase if index is None else None, tuple(run.arriving))
    budget = 3 * len(model.phases) + 3
    while run.arriving:
        name = min(run.arriving, key=lambda n: order.get(n, len(order)))
        condition, merged = _merged(run.arriving.pop(name))
        if budget == 0:
            run.stops.append(Stop(CIRCLE, None, condition, merged))
            continue
        budget -= 1
        executor.enter(model.phases[name], condition, merged)
    return run


def _order(model: m.Model, first: str | None, starts: tuple[str, ...]) -> dict[str, int]:
    """Phases in an order in which each comes after those that lead to it, as far as nobody must choose
    on the way.
    """
    done: list[str] = []
    seen: set[str] = set()

    def visit(name: str) -> None:
        seen.add(name)
        phase = model.phases[name]
        if not any(_certain(c) for c in phase.choices):
            for following in sorted(successors(phase)):
                if following not in seen:
                    visit(following)
        elif phase.when is not None and phase.otherwise not in seen:
            visit(phase.otherwise)
        done.append(name)

    for name in (*((first,) if first else ()), *starts):
        if name not in seen:
            visit(name)
    return {name: place for place, name in enumerate(reversed(done))}


def _certain(choice: m.Choice) -> bool:
    """Does somebody always make this choice?"""
    chooser = choice.chooser
    somebody = chooser.kind in ("player", "chance") or (chooser.domain is None and chooser.condition is None)
    return choice.when is None and somebody


def _merged(arrivals: list[tuple[Truth, Values]]) -> tuple[Truth, Values]:
    """Several ways to the same place as one; at most one of the conditions holds."""
    condition, values = arrivals[0]
    for other, theirs in arrivals[1:]:
        values = merge_values(other, theirs, values)
        condition = or_((condition, other))
    return condition, values


def merge_values(condition: Truth, then: Values, otherwise: Values) -> Values:
    return {name: merge(condition, then[name], old) for name, old in otherwise.items()}


def choosing_seats(choice: m.Choice, scene: Scene) -> tuple[Truth, ...]:
    """For "each" and "one": which seats are to choose."""
    chooser = choice.chooser
    seats: list[Truth] = [False] * scene.model.players.count
    for guard, inside in cases(scene, (m.Range(chooser.seat, scene.model.players, chooser.domain),)):
        seats[inside.bound[chooser.seat].value] = and_((guard, truth_of(chooser.condition, inside)))
    return tuple(seats)


def is_awaited(choice: m.Choice, scene: Scene) -> Truth:
    """Is there anybody who makes this choice now?"""
    when = truth_of(choice.when, scene)
    if choice.chooser.kind in ("player", "chance") or when is False:
        return when
    if choice.chooser.domain is None and choice.chooser.condition is None:
        return when
    return and_((when, or_(choosing_seats(choice, scene))))


class _Executor:
    def __init__(self, model: m.Model, scene_of: SceneOf, run: Run, publish: Publish) -> None:
        self.model = model
        self.publish = publish
        self.scene_of = scene_of
        self.run = run

    def enter(self, phase: m.Phase, condition: Truth, values: Values) -> None:
        when = truth_of(phase.when, self.scene_of(phase.name, values))
        passed = and_((condition, not_(when)))
        if passed is not False:
            self.run.arriving.setdefault(phase.otherwise, []).append((passed, values))
        entered = and_((condition, when))
        if entered is not False:
            seen = Slot(("phase", phase.name), entered, None, None)
            self.run.slots = merge_slots(entered, [seen], self.run.slots)
            self.onward(phase, 0, entered, values)

    def onward(self, phase: m.Phase, index: int, condition: Truth, values: Values) -> None:
        for place in range(index, len(phase.choices)):
            choice = phase.choices[place]
            awaited = is_awaited(choice, self.scene_of(phase.name, values))
            stopped = and_((condition, awaited))
            if stopped is not False:
                self.run.stops.append(Stop(phase.name, place, stopped, values))
            condition = and_((condition, not_(awaited)))
            if condition is False:
                return
            values = self._passed_over(choice, values)
        slots: list[Slot] = []
        left, values, slots = self._body(phase, phase.body, condition, values, {})
        self.run.slots = merge_slots(condition, slots, self.run.slots)
        assert left is False, "a phase's body ends on every path"

    def _passed_over(self, choice: m.Choice, values: Values) -> Values:
        type_ = self.model.variables[choice.variable].type
        made = {**values, choice.variable: constant(least(type_), type_)}
        if choice.chooser.kind == "one":
            made[f"{choice.variable}_by"] = constant(0, self.model.players)
        return made

    def _body(
        self,
        phase: m.Phase,
        body: tuple[m.Statement, ...],
        condition: Truth,
        values: Values,
        counted: dict[tuple[str, ...], int],
    ) -> tuple[Truth, Values, list[Slot]]:
        """Runs statements; gives the condition under which their end is reached, and the values there."""
        slots: list[Slot] = []
        for statement in body:
            if condition is False:
                break
            scene = self.scene_of(phase.name, values)
            match statement:
                case m.Next():
                    self.run.arriving.setdefault(statement.phase, []).append((condition, values))
                    condition = False
                case m.Win():
                    result = self._result(statement, scene)
                    ended = Slot(("result", phase.name), condition, result, None)
                    slots = append_slots(slots, [ended])
                    self.run.stops.append(Stop(phase.name, None, condition, values, result))
                    condition = False
                case m.If():
                    condition, values, slots = self._branch(
                        phase, statement, condition, values, slots, counted
                    )
                case m.Assign():
                    type_ = self.model.variables[statement.variable].type
                    value = value_of(statement.value, scene)
                    if statement.published:
                        value = self.publish(statement, condition, value)
                    keys = [value_of(k, scene) for k in statement.keys]
                    new = conform(updated(values[statement.variable], type_, keys, value), type_)
                    values = {**values, statement.variable: new}
                    if statement.published:
                        key = _numbered(("published", phase.name, statement.variable), counted)
                        slots.append(Slot(key, condition, new, None))
                case m.Show():
                    slots += self._shown(phase, statement, scene, condition, counted)
        return condition, values, slots

    def _result(self, statement: m.Win, scene: Scene) -> Maybe:
        type_ = self.model.result
        if statement.value is None:
            return Maybe(False, constant(least(type_), type_))
        made: Maybe = conform(Maybe(True, value_of(statement.value, scene)), OptionalType(type_))
        return made

    def _branch(
        self,
        phase: m.Phase,
        statement: m.If,
        condition: Truth,
        values: Values,
        slots: list[Slot],
        counted: dict[tuple[str, ...], int],
    ) -> tuple[Truth, Values, list[Slot]]:
        test = truth_of(statement.condition, self.scene_of(phase.name, values))
        ours, theirs = dict(counted), dict(counted)
        then, after_then, shown_then = self._body(
            phase, statement.then, and_((condition, test)), values, ours
        )
        other, after_other, shown_other = self._body(
            phase, statement.otherwise, and_((condition, not_(test))), values, theirs
        )
        for key in {*ours, *theirs}:
            counted[key] = max(ours.get(key, 0), theirs.get(key, 0))
        seen = append_slots(slots, merge_slots(test, shown_then, shown_other))
        if then is False:
            return other, after_other, seen
        if other is False:
            return then, after_then, seen
        return or_((then, other)), merge_values(test, after_then, after_other), seen

    def _shown(
        self,
        phase: m.Phase,
        statement: m.Show,
        scene: Scene,
        condition: Truth,
        counted: dict[tuple[str, ...], int],
    ) -> list[Slot]:
        made: list[Slot] = []
        seats = self.model.players.count
        name = _numbered(("shown", phase.name, statement.name), counted)
        for guard, inside in cases(scene, (m.Range(statement.seat, self.model.players, statement.domain),)):
            seat = inside.bound[statement.seat]
            assert isinstance(seat, Num)
            shown = and_((condition, guard, truth_of(statement.condition, inside)))
            to: tuple[Any, ...] = tuple(i == seat.value for i in range(seats))
            made.append(Slot((*name, str(seat.value)), shown, value_of(statement.value, inside), to))
        return made


def _numbered(key: tuple[str, ...], counted: dict[tuple[str, ...], int]) -> tuple[str, ...]:
    counted[key] = counted.get(key, 0) + 1
    return (*key, str(counted[key]))
