"""Phases and statements as Python source: from a choice made to the next choice awaited.

`Flow` writes the shared part: phases follow each other in place as long as nobody has to choose.
`write_steps` makes of it, for every choice, a quiet function `c` (the state after it) and a noting one `n`
(which also says who saw what), and for phases that lead round in a circle the functions `e` and `g` that
enter them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from rules_dsl import model as m
from rules_dsl.model import Value
from rules_dsl.python.prepare import FALSE, TRUE
from rules_dsl.python.program import ChoicePlan, Program, Writer
from rules_dsl.python.raw import Raw, decoder, encoder, is_bit
from rules_dsl.types import BOOL, MapType, OptionalType, Type, cardinality
from rules_dsl.values import least, ordinal

DEEPEST = 60
MOST_IN_PLACE = 80  # phases written in place into one function before the rest is left to calls


@dataclass(frozen=True)
class Note:
    """What stands behind the number of an observation in generated code."""

    phase: str
    kind: str
    name: str
    decode: Callable[[Raw], Value]


class Flow:
    """Writes the way from choice to choice; what happens at a choice is for the two kinds of flow to say."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.model = program.model
        self.emitter = program.emitter
        self.writer = Writer()
        self.path: list[str] = []
        self.in_place = 0

    # --- what the kinds of flow decide ---

    def arrive(self, plan: ChoicePlan) -> bool:
        """Writes what happens when a choice is awaited; gives whether the path ends there."""
        raise AssertionError

    def leave(self, phase: str) -> bool:
        """Writes a jump to a phase, if it is not to be written in place."""
        raise AssertionError

    def finish(self, phase: m.Phase, result: str) -> None:
        raise AssertionError

    def keeps(self, variable: str) -> bool:
        """Is the value of this variable needed?"""
        return True

    def note(self, phase: m.Phase, kind: str, name: str, type_: Type | None, rest: str) -> None:
        """Writes down an observation; `rest` is source for seat, value and audience."""

    def show(self, statement: m.Show, phase: m.Phase) -> None:
        """Writes what a `show` lets seats see."""

    # --- phases ---

    def enter(self, name: str) -> None:
        """Writes the entry into a phase and all that follows; the path always ends."""
        if self.leave(name):
            return
        phase = self.model.phases[name]
        self.path.append(name)
        self.in_place += 1
        when = self.program.ready(phase.when) if phase.when is not None else TRUE
        if when == TRUE:
            self.entered(phase)
        elif when == FALSE:
            self.enter(phase.otherwise)
        else:
            with self.writer.block(f"if {self.emitter.scalar(when)}:"):
                self.entered(phase)
            self.enter(phase.otherwise)
        self.path.pop()

    def entered(self, phase: m.Phase) -> None:
        self.note(phase, "phase", phase.name, None, "-1, None, -1")
        self.onward(phase, 0)

    def onward(self, phase: m.Phase, index: int) -> None:
        """Writes what comes from a choice of the phase on."""
        for plan in self.program.by_phase[phase.name][index:]:
            condition = self.awaited(plan)
            if condition is None:
                if self.arrive(plan):
                    return
                continue
            with self.writer.block(f"if {condition}:"):
                ended = self.arrive(plan)
            if ended:
                self.pass_over(plan)
            else:
                with self.writer.block("else:"):
                    self.pass_over(plan)
        ended = self.body(phase, phase.body)
        assert ended, "every path through a phase ends"

    def awaited(self, plan: ChoicePlan) -> str | None:
        """Source for whether somebody really has this choice; None if it is certain."""
        conditions = [] if plan.when is None or plan.when == TRUE else [self.emitter.scalar(plan.when)]
        if plan.kind in ("each", "one"):
            seats = self.program.choosers(plan)
            if seats == "0" or not seats.isdigit():
                conditions.append(seats)
        return " and ".join(conditions) if conditions else None

    def pass_over(self, plan: ChoicePlan) -> None:
        name = plan.choice.variable
        type_ = self.model.variables[name].type
        if self.keeps(name):
            self.writer.line(
                f"{self.emitter.variable(name)} = {self.emitter.literal(encoder(type_)(least(type_)))}"
            )
        if plan.kind == "one" and self.keeps(f"{name}_by"):
            self.writer.line(f"{self.emitter.variable(f'{name}_by')} = 0")

    # --- statements ---

    def body(self, phase: m.Phase, body: tuple[m.Statement, ...]) -> bool:
        """Writes statements; gives whether every path through them ends the phase."""
        for statement in body:
            match statement:
                case m.Next(target, _):
                    self.enter(target)
                    return True
                case m.Win(value, _):
                    self.finish(
                        phase, "None" if value is None else self.emitter.scalar(self.program.ready(value))
                    )
                    return True
                case m.If():
                    if self.branch(phase, statement):
                        return True
                case m.Assign():
                    self.assign(phase, statement)
                case m.Show():
                    self.show(statement, phase)
        return False

    def branch(self, phase: m.Phase, statement: m.If) -> bool:
        condition = self.program.ready(statement.condition)
        if isinstance(condition, m.Literal):
            return self.body(phase, statement.then if condition.value else statement.otherwise)
        with self.writer.block(f"if {self.emitter.scalar(condition)}:"):
            ended = self.body(phase, statement.then)
        if ended:  # what follows needs no further indentation
            return self.body(phase, statement.otherwise)
        if statement.otherwise:
            with self.writer.block("else:"):
                self.body(phase, statement.otherwise)
        return False

    def assign(self, phase: m.Phase, statement: m.Assign) -> None:
        if not self.keeps(statement.variable):
            return
        name = self.emitter.variable(statement.variable)
        declared = self.model.variables[statement.variable].type
        value = self.program.ready(statement.value)
        source = self.emitter.scalar(value)
        if statement.keys:
            places = []
            inner: Type = declared
            for key in statement.keys:
                assert isinstance(inner, MapType) or hasattr(inner, "element")
                index = inner.key if isinstance(inner, MapType) else inner.element
                ready = self.program.ready(key)
                if isinstance(ready, m.Literal):
                    places.append(str(ordinal(index, ready.value)))
                else:
                    places.append(self.emitter.name("t"))
                    self.writer.line(f"{places[-1]} = {self.emitter.place(ready, index)}")
                inner = inner.value if isinstance(inner, MapType) else BOOL
            if statement.published and not source.isidentifier():
                kept = self.emitter.name("t")
                self.writer.line(f"{kept} = {source}")
                source = kept
            self.writer.line(f"{name} = {self.changed(declared, name, places, source)}")
        else:
            self.writer.line(f"{name} = {source}")
            source = name
        if statement.published:
            self.note(phase, "published", statement.variable, value.type, f"-1, {source}, -1")

    def changed(self, type_: Type, old: str, places: list[str], value: str) -> str:
        """Source for the old map or bag with one entry replaced."""
        if not places:
            return value
        place = places[0]
        if isinstance(type_, MapType) and is_bit(type_.value):
            if value.isdigit():
                return f"{old} | 1 << {place}" if int(value) else f"{old} & ~(1 << {place})"
            return f"{old} & ~(1 << {place}) | {value} << {place}"
        inner = type_.value if isinstance(type_, MapType) else BOOL
        made = self.changed(inner, f"{old}[{place}]", places[1:], value)
        return f"(*{old}[:{place}], {made}, *{old}[{place} + 1:])"


class StepFlow(Flow):
    """From a choice to the state in which the next one is awaited."""

    def __init__(self, program: Program, steps: Steps) -> None:
        super().__init__(program)
        self.steps = steps
        self.values = ", ".join(f"v{i}" for i in range(len(self.model.variables)))

    def unpack(self) -> None:
        self.writer.line(f"u, u, {self.values}{',' if self.values else ''} = s")

    def arrive(self, plan: ChoicePlan) -> bool:
        self.writer.line(f"return ({plan.number}, None, {self.values})")
        return True

    def leave(self, phase: str) -> bool:
        if phase in self.path or self.in_place > MOST_IN_PLACE or self.writer.depth > DEEPEST:
            self.steps.wanted.add(phase)
            number = len(self.program.plans) + self.program.phase_number[phase]
            self.writer.line(f"return ({number}, None, {self.values})")
            return True
        return False

    def finish(self, phase: m.Phase, result: str) -> None:
        self.writer.line(f"return ({~self.program.phase_number[phase.name]}, {result}, {self.values})")


class NotingFlow(StepFlow):
    """The same, and writes down what becomes known on the way."""

    def note(self, phase: m.Phase, kind: str, name: str, type_: Type | None, rest: str) -> None:
        self.writer.line(f"note(({self.steps.noted(phase.name, kind, name, type_)}, {rest}))")

    def finish(self, phase: m.Phase, result: str) -> None:
        self.note(phase, "result", "result", OptionalType(self.model.result), f"-1, {result}, -1")
        super().finish(phase, result)

    def show(self, statement: m.Show, phase: m.Phase) -> None:
        prepare = self.program.preparer
        seat = prepare.fresh()
        bound = self.emitter.bound(seat)
        inside: dict[str, m.Expr] = {statement.seat: m.Bound(seat, self.model.players)}
        domain = self.program.ready(statement.domain) if statement.domain is not None else None
        condition = prepare.expr(statement.condition, inside) if statement.condition is not None else None
        value = prepare.expr(statement.value, inside)
        mask = self.emitter.chosen(m.Range(seat, self.model.players, domain), condition)
        with self.writer.block(f"for {bound} in bits_of({mask}):"):
            rest = f"{bound}, {self.emitter.scalar(value)}, 1 << {bound}"
            self.note(phase, "shown", statement.name, value.type, rest)

    def choice_made(self, plan: ChoicePlan) -> None:
        """Who sees what was chosen, by what held before it."""
        choice, phase = plan.choice, plan.phase
        seat, value = self.emitter.bound(plan.seat), self.emitter.bound(plan.value)
        type_ = m.choice_type(choice)
        if plan.kind == "each":
            map_type = self.model.variables[choice.variable].type
            assert isinstance(map_type, MapType)
            entry = f"({value} >> {seat} & 1)" if is_bit(map_type.value) else f"{value}[{seat}]"
            with self.writer.block(f"for {seat} in bits_of({self.program.choosers(plan)}):"):
                self.note(
                    phase, "choice", choice.variable, type_, f"{seat}, {entry}, {self._audience(plan, seat)}"
                )
        elif choice.audience.kind == "own":
            assert isinstance(choice.type, MapType)
            with self.writer.block(f"for {seat} in range({cardinality(choice.type.key)}):"):
                entry = f"({value} >> {seat} & 1)" if is_bit(choice.type.value) else f"{value}[{seat}]"
                self.note(
                    phase, "choice", choice.variable, choice.type.value, f"{seat}, {entry}, 1 << {seat}"
                )
        else:
            if plan.who is not None:
                self.writer.line(f"{seat} = {self.emitter.scalar(plan.who)}")
            by = "-1" if plan.kind == "chance" else seat
            self.note(phase, "choice", choice.variable, type_, f"{by}, {value}, {self._audience(plan, by)}")

    def _audience(self, plan: ChoicePlan, seat: str) -> str:
        if plan.choice.audience.kind == "public":
            return "-1"
        chooser = "0" if seat == "-1" else f"1 << {seat}"
        return chooser if plan.audience is None else f"{chooser} | {self.emitter.scalar(plan.audience)}"


class Steps:
    """The step functions of a program and what stands behind the numbers of their observations."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.notes: list[Note] = []
        self.wanted: set[str] = set()
        self._numbers: dict[tuple[str, str, str, Type | None], int] = {}

    def noted(self, phase: str, kind: str, name: str, type_: Type | None) -> int:
        key = (phase, kind, name, type_)
        if key not in self._numbers:
            self._numbers[key] = len(self.notes)
            self.notes.append(Note(phase, kind, name, _nothing if type_ is None else decoder(type_)))
        return self._numbers[key]

    def write(self, writer: Writer) -> None:
        """All step functions."""
        for plan in self.program.plans:
            for flow in (StepFlow(self.program, self), NotingFlow(self.program, self)):
                self._write_choice(flow, plan)
                writer.lines += flow.writer.lines
        self.wanted.add(self.program.model.start)
        done: set[str] = set()
        while self.wanted - done:
            phase = min(self.wanted - done)
            done.add(phase)
            for letter, flow in (("e", StepFlow(self.program, self)), ("g", NotingFlow(self.program, self))):
                with flow.writer.block(f"def {letter}{self.program.phase_number[phase]}(s, note):"):
                    flow.unpack()
                    flow.enter(phase)
                writer.lines += flow.writer.lines

    def _write_choice(self, flow: StepFlow, plan: ChoicePlan) -> None:
        emitter = self.program.emitter
        seat, value = emitter.bound(plan.seat), emitter.bound(plan.value)
        letter = "n" if isinstance(flow, NotingFlow) else "c"
        with flow.writer.block(f"def {letter}{plan.number}(s, {seat}, {value}, note):"):
            flow.unpack()
            if isinstance(flow, NotingFlow):
                flow.choice_made(plan)
            flow.writer.line(f"{emitter.variable(plan.choice.variable)} = {value}")
            if plan.kind == "one":
                flow.writer.line(f"{emitter.variable(plan.choice.variable + '_by')} = {seat}")
            index = self.program.by_phase[plan.phase.name].index(plan)
            flow.onward(plan.phase, index + 1)


def _nothing(raw: Raw) -> Value:
    return None
