"""From one choice to the next: phases nobody chooses in are run symbolically, all their paths merged into
one outcome.

Takes a model, the place after a choice and symbolic values of the variables; gives where the game can
stop next, with the condition and the values for each stop, and every observation made on the way, in order.

Nothing is cut off. Where phases may follow each other without anybody choosing and come round again, a run *halts*
on entering them, whether or not anybody chooses there (`circular_phases`); the next run goes on from that place. So a run
enters every phase at most once, and a game that goes round and round is a game of many runs.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass, replace

from rules_dsl import model as m
from rules_dsl.flow import successors
from rules_dsl.smt.expressions import Scene, cases, truth_of, type_of_entry, updated, value_of
from rules_dsl.smt.observations import Slot
from rules_dsl.smt.symbolic import Maybe, Symbolic, conform, constant, merge
from rules_dsl.smt.terms import Num, Truth, and_, not_, or_
from rules_dsl.types import OptionalType
from rules_dsl.values import least

Values = Mapping[str, Symbolic]


@dataclass(frozen=True, slots=True)
class Stop:
    """The game comes to rest: in a phase before choice `step`, or over in it (then `step` is None)."""

    phase: str
    step: int | None
    condition: Truth
    values: Values
    result: Maybe | None = None


CIRCLE = (
    ""  # the phase of a stop that means: phases are passed over in a circle, and nothing ever changes again
)


@dataclass
class Run:
    """What one symbolic run has found so far. The slots stand in the order in which they may be made."""

    stops: list[Stop]
    slots: list[Slot]
    arriving: dict[str, list[Arrival]]


@dataclass(frozen=True, slots=True)
class Arrival:
    """One way to come to a phase; `passed` are the phases passed over since anything was done."""

    condition: Truth
    values: Values
    passed: frozenset[str] = frozenset()


SceneOf = Callable[[str, Values], Scene]  # the scene in which expressions of a phase are read
# told what is published, when, and what it is; gives what is known of it instead
Publish = Callable[[m.Assign, Truth, Symbolic], Symbolic]


Halting = Container[tuple[str, int]]  # phases, each with the choices before which every run stops


def run_from(
    model: m.Model,
    phase: str,
    index: int | None,
    values: Values,
    scene_of: SceneOf,
    halting: Halting,
    publish: Publish = lambda statement, condition, value: value,
) -> Run:
    """Runs on from a phase: from its entry (`index` None) or from before one of its choices; one that nobody has made
    where every run halts counts as passed over by whoever calls.
    """
    run = Run([], [], {})
    executor = _Executor(model, scene_of, run, publish, halting)
    if index is None:
        run.arriving[phase] = [Arrival(True, values)]
    else:
        executor.onward(model.phases[phase], index, True, values)
    order = _order(model, tuple(run.arriving), halting)
    while run.arriving:
        name = min(run.arriving, key=lambda n: order[n])
        executor.arrive(model.phases[name], run.arriving.pop(name))
    return run


def passing(phase: m.Phase) -> set[str]:
    """The phases this one may lead to without anybody choosing."""
    found = set() if any(_certain(c) for c in phase.choices) else successors(replace(phase, when=None))
    return found | ({phase.otherwise} if phase.when is not None else set())


def circular_phases(model: m.Model) -> frozenset[str]:
    """The phases that may follow upon themselves without anybody choosing."""
    graph = {name: passing(phase) for name, phase in model.phases.items()}

    def reached(start: str) -> set[str]:
        seen: set[str] = set()
        queue = [*graph[start]]
        while queue:
            here = queue.pop()
            if here not in seen:
                seen.add(here)
                queue += graph[here]
        return seen

    return frozenset(name for name in graph if name in reached(name))


def passed_in_a_circle(model: m.Model, phase: m.Phase) -> bool:
    """Can passing over this phase and those after it lead back to it?"""
    seen: set[str] = set()
    here = phase
    while here.when is not None and here.otherwise not in seen:
        seen.add(here.otherwise)
        here = model.phases[here.otherwise]
    return phase.name in seen


def _order(model: m.Model, starts: tuple[str, ...], halting: Halting) -> dict[str, int]:
    """Phases in an order in which each comes after those a run may enter before it. (Phases that are passed over in a
    circle have no such order; see `arrive`.)
    """
    done: list[str] = []
    seen: set[str] = set()

    def visit(name: str) -> None:
        seen.add(name)
        phase = model.phases[name]
        halts = any((name, i) in halting for i in range(max(1, len(phase.choices))))
        following = {phase.otherwise} if halts and phase.when is not None else set()
        for other in sorted(following if halts else passing(phase)):
            if other not in seen:
                visit(other)
        done.append(name)

    for name in starts:
        if name not in seen:
            visit(name)
    return {name: place for place, name in enumerate(reversed(done))}


def _certain(choice: m.Choice) -> bool:
    """Does somebody always make this choice?"""
    chooser = choice.chooser
    somebody = chooser.kind in ("player", "chance") or (chooser.domain is None and chooser.condition is None)
    return choice.when is None and somebody


def _merged(arrivals: list[Arrival]) -> tuple[Truth, Values]:
    """Several ways to the same place as one; at most one of the conditions holds."""
    condition, values = arrivals[0].condition, arrivals[0].values
    for other in arrivals[1:]:
        values = merge_values(other.condition, other.values, values)
        condition = or_((condition, other.condition))
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
    def __init__(
        self, model: m.Model, scene_of: SceneOf, run: Run, publish: Publish, halting: Halting
    ) -> None:
        self.model = model
        self.publish = publish
        self.scene_of = scene_of
        self.run = run
        self.halting = halting

    def arrive(self, phase: m.Phase, arrivals: list[Arrival]) -> None:
        """Passes a phase over or enters it, and runs on.

        Only passing over can lead back to a phase within one run, for on entering a circle every run halts. What comes
        back has changed nothing, so it comes back for ever.
        """
        for arrival in (a for a in arrivals if phase.name in a.passed):
            self.run.stops.append(Stop(CIRCLE, None, arrival.condition, arrival.values))
        coming = [a for a in arrivals if phase.name not in a.passed]
        if not coming:
            return
        condition, values = _merged(coming)
        when = truth_of(phase.when, self.scene_of(phase.name, values))
        passed = and_((condition, not_(when)))
        if passed is not False and not passed_in_a_circle(self.model, phase):
            self._to(phase.otherwise, Arrival(passed, values))
        elif passed is not False:
            # a phase passed over on one way may be come to anew on another, so each way is kept by itself
            for arrival in coming:
                here = truth_of(phase.when, self.scene_of(phase.name, arrival.values))
                gone = and_((arrival.condition, not_(here)))
                if gone is not False:
                    self._to(phase.otherwise, Arrival(gone, arrival.values, arrival.passed | {phase.name}))
        entered = and_((condition, when))
        if entered is not False:
            self.run.slots.append(Slot("phase", phase.name, phase.name, entered))
            self.onward(phase, 0, entered, values)

    def _to(self, phase: str, arrival: Arrival) -> None:
        self.run.arriving.setdefault(phase, []).append(arrival)

    def onward(self, phase: m.Phase, index: int, condition: Truth, values: Values) -> None:
        if index == 0 and not phase.choices and (phase.name, 0) in self.halting:
            self.run.stops.append(Stop(phase.name, 0, condition, values))
            return
        for place in range(index, len(phase.choices)):
            if (phase.name, place) in self.halting:
                self.run.stops.append(Stop(phase.name, place, condition, values))
                return
            choice = phase.choices[place]
            awaited = is_awaited(choice, self.scene_of(phase.name, values))
            stopped = and_((condition, awaited))
            if stopped is not False:
                self.run.stops.append(Stop(phase.name, place, stopped, values))
            condition = and_((condition, not_(awaited)))
            if condition is False:
                return
            values = passed_over(self.model, choice, values)
        left, values = self._body(phase, phase.body, condition, values)
        assert left is False, "a phase's body ends on every path"

    def _body(
        self, phase: m.Phase, body: tuple[m.Statement, ...], condition: Truth, values: Values
    ) -> tuple[Truth, Values]:
        """Runs statements; gives the condition under which their end is reached, and the values there."""
        for statement in body:
            if condition is False:
                break
            scene = self.scene_of(phase.name, values)
            match statement:
                case m.Next():
                    self._to(statement.phase, Arrival(condition, values))
                    condition = False
                case m.Win():
                    result = self._result(statement, scene)
                    told = OptionalType(self.model.result)
                    self.run.slots.append(Slot("result", phase.name, "result", condition, result, told))
                    self.run.stops.append(Stop(phase.name, None, condition, values, result))
                    condition = False
                case m.If():
                    condition, values = self._branch(phase, statement, condition, values)
                case m.Assign():
                    type_ = self.model.variables[statement.variable].type
                    value = value_of(statement.value, scene)
                    if statement.published:
                        value = self.publish(statement, condition, value)
                    keys = [value_of(k, scene) for k in statement.keys]
                    value = conform(value, type_of_entry(type_, len(keys)), scene.players)
                    new = conform(updated(values[statement.variable], type_, keys, value), type_)
                    values = {**values, statement.variable: new}
                    if statement.published:
                        kind = statement.value.type if keys else type_
                        self.run.slots.append(
                            Slot(
                                "published",
                                phase.name,
                                statement.variable,
                                condition,
                                conform(value, kind, scene.players),
                                kind,
                            )
                        )
                case m.Show():
                    self._show(phase, statement, scene, condition)
        return condition, values

    def _result(self, statement: m.Win, scene: Scene) -> Maybe:
        type_ = self.model.result
        if statement.value is None:
            nobody: Maybe = constant(None, OptionalType(type_))
            return nobody
        made: Maybe = conform(Maybe(True, value_of(statement.value, scene)), OptionalType(type_))
        return made

    def _branch(
        self, phase: m.Phase, statement: m.If, condition: Truth, values: Values
    ) -> tuple[Truth, Values]:
        test = truth_of(statement.condition, self.scene_of(phase.name, values))
        then, after_then = self._body(phase, statement.then, and_((condition, test)), values)
        other, after_other = self._body(phase, statement.otherwise, and_((condition, not_(test))), values)
        if then is False:
            return other, after_other
        if other is False:
            return then, after_then
        return or_((then, other)), merge_values(test, after_then, after_other)

    def _show(self, phase: m.Phase, statement: m.Show, scene: Scene, condition: Truth) -> None:
        seats = self.model.players.count
        for guard, inside in cases(scene, (m.Range(statement.seat, self.model.players, statement.domain),)):
            seat = inside.bound[statement.seat]
            assert isinstance(seat, Num)
            shown = and_((condition, guard, truth_of(statement.condition, inside)))
            if shown is not False:
                value, type_ = value_of(statement.value, inside), statement.value.type
                to = tuple(i == seat.value for i in range(seats))
                self.run.slots.append(
                    Slot("shown", phase.name, statement.name, shown, value, type_, seat, to)
                )


def passed_over(model: m.Model, choice: m.Choice, values: Values) -> Values:
    """The variables when nobody has made a choice."""
    type_ = model.variables[choice.variable].type
    made = {**values, choice.variable: constant(least(type_), type_)}
    if choice.chooser.kind == "one":
        made[f"{choice.variable}_by"] = constant(0, model.players)
    return made
