"""Whole games at random, written as one function: every choice uniform among the proper ones, chance as it
is weighed.

Takes a program; gives two functions of `bits` (a source of random bits): `play`, which gives the raw
result, and `play_logged`, which also gives the log, one entry a choice: its number, the seat that spoke if
it was one of several, and the raw value. Values are drawn from what the rules allow, and each is held
against the rules again before it is played. Variables on which nothing in the rest of the game depends are
left out.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from rules_dsl import model as m
from rules_dsl.flow import successors
from rules_dsl.python.draws import Drawing
from rules_dsl.python.flow import DEEPEST, MOST_IN_PLACE, Flow
from rules_dsl.python.program import ChoicePlan, Program, Writer
from rules_dsl.python.raw import Raw, is_bit, raw_index
from rules_dsl.python.runtime import Bits
from rules_dsl.types import IntType, MapType, SetType, Type, cardinality, is_index
from rules_dsl.walk import every, statements

MOST_TABLED = 1024  # values of a variable for which an expression is worked out in advance
WORTH_A_TABLE = 4  # parts an expression must have for that
MOST_ROUNDS = 1_000_000  # how often a game may go round before it is said that it does not end


class Playouts(NamedTuple):
    """The functions that play a game at random, and the source they were made of."""

    play: Callable[[Bits], Raw]
    play_logged: Callable[[Bits], tuple[Raw, list[tuple[Raw, ...]]]]
    source: str


def write_playouts(program: Program) -> Playouts:
    """The functions `play` and `play_logged` of a program."""
    live = needed(program)
    headers = loop_phases(program.model)
    made: list[Any] = []
    sources = []
    for logged in (False, True):
        flow = PlayFlow(program, live, headers, logged)
        body = flow.written()
        sources.append("\n".join(program.emitter.functions) + body)
        space = dict(program.emitter.namespace)
        exec(compile(sources[-1], "<generated>", "exec"), space)
        for link in flow.drawing.links:
            link(space)
        made.append(space["play"])
    return Playouts(made[0], made[1], "\n".join(sources))


def needed(program: Program) -> frozenset[str]:
    """The variables on which choices, branches or the result depend, directly or through others."""
    reads = program.preparer.facts.reads
    live: set[str] = set()
    assigned: list[tuple[str, frozenset[str]]] = []
    for plan in program.plans:
        for expr in (plan.domain, plan.condition, plan.deal, plan.weight, plan.when, *plan.requires):
            if expr is not None:
                live |= reads(expr)
    for phase in program.model.phases.values():
        if phase.when is not None:
            live |= reads(program.ready(phase.when))
        for statement in statements(phase.body):
            match statement:
                case m.If():
                    live |= reads(program.ready(statement.condition))
                case m.Win() if statement.value is not None:
                    live |= reads(program.ready(statement.value))
                case m.Assign():
                    parts = [program.ready(e) for e in (statement.value, *statement.keys)]
                    assigned.append((statement.variable, frozenset().union(*(reads(p) for p in parts))))
    while True:
        more = {name for variable, names in assigned if variable in live for name in names} - live
        if not more:
            return frozenset(live)
        live |= more


def loop_phases(model: m.Model) -> tuple[str, ...]:
    """Few phases such that every way round in the game passes one of them."""
    following = {name: successors(phase) for name, phase in model.phases.items()}
    chosen: list[str] = []
    while True:
        rest = _circling({n: f - set(chosen) for n, f in following.items() if n not in chosen})
        if not rest:
            return tuple(chosen)

        def left(name: str, rest: dict[str, set[str]] = rest) -> int:
            return len(_circling({n: f - {name} for n, f in rest.items() if n != name}))

        chosen.append(min(rest, key=left))


def _circling(following: dict[str, set[str]]) -> dict[str, set[str]]:
    """The part of a graph that is left when ends, and starts, are taken away until there are none."""
    left = dict(following)
    while True:
        entered = {n for f in left.values() for n in f}
        keep = {n: {x for x in f if x in left} for n, f in left.items() if n in entered}
        keep = {n: f for n, f in keep.items() if any(x in keep for x in f)}
        if len(keep) == len(left):
            return keep
        left = keep


class PlayFlow(Flow):
    """Writes one function that plays a whole game."""

    def __init__(
        self, program: Program, live: frozenset[str], headers: tuple[str, ...], logged: bool
    ) -> None:
        super().__init__(program)
        self.live = live
        self.headers = list(headers)
        self.logged = logged
        self.jump = "continue"
        self.hoisted: dict[str, tuple[str, frozenset[str]]] = {}
        self.drawing = Drawing(program)
        self.invariant: frozenset[str] = frozenset()

    # --- the whole function ---

    def written(self) -> str:
        while True:
            planned = len(self.headers)
            self.hoisted = {}
            loop = self._loop() if self.headers else Writer()
            prologue = self._prologue()
            if (
                len(self.headers) == planned
            ):  # otherwise a phase too deep to be written in place became a header
                break
        whole = Writer()
        with whole.block("def play(bits):"):
            if self.logged:
                whole.line("log = []")
                whole.line("note = log.append")
            for name, variable in self.model.variables.items():
                if name in self.live:
                    initial = self.program.ready(variable.initial)
                    whole.line(f"{self.emitter.variable(name)} = {self.emitter.scalar(initial)}")
            whole.lines += prologue.lines
            dealt = self.drawing.dealt
            for source, (name, reads) in self.hoisted.items():
                if reads != {dealt}:
                    whole.line(f"{name} = {source}")
            whole.lines += loop.lines
        return whole.text()

    def _reached(self) -> set[str]:
        reached: set[str] = set()
        queue = list(self.headers)
        while queue:
            name = queue.pop()
            if name not in reached:
                reached.add(name)
                queue += successors(self.model.phases[name])
        return reached

    def _loop(self) -> Writer:
        """The part that is gone round in; what never changes in it is worked out before."""
        changed: set[str] = set()
        for name in self._reached():
            phase = self.model.phases[name]
            changed |= {s.variable for s in statements(phase.body) if isinstance(s, m.Assign)}
            for choice in phase.choices:
                changed.update(m.written_by(choice))
        self.invariant = frozenset(self.model.variables) - changed
        self.writer = Writer()
        self.writer.depth = 1
        self.jump = "continue"
        self.emitter.instead = self._instead
        try:
            with self.writer.block(f"for _ in range({MOST_ROUNDS}):"):
                for number, name in enumerate(self.headers):
                    self.path, self.in_place = [], 0
                    if len(self.headers) == 1:
                        self._from_header(name)
                    else:
                        with self.writer.block(f"if goto == {number}:"):
                            self._from_header(name)
        finally:
            self.emitter.instead = None
        self.writer.line(f"raise Stuck('a game has not ended after going round {MOST_ROUNDS:,} times')")
        return self.writer

    def _prologue(self) -> Writer:
        self.writer = Writer()
        self.writer.depth = 1
        self.path, self.in_place = [], 0
        self.jump = "break"
        self.drawing.derived = [
            (source, name) for source, (name, reads) in self.hoisted.items() if reads == {self.drawing.dealt}
        ]
        with self.writer.block("while True:"):
            self.enter(self.model.start)
        return self.writer

    def _from_header(self, name: str) -> None:
        phase = self.model.phases[name]
        self.path.append(name)
        if phase.when is None:
            self.entered(phase)
        else:
            with self.writer.block(f"if {self.emitter.scalar(self.program.ready(phase.when))}:"):
                self.entered(phase)
            self.enter(phase.otherwise)
        self.path.pop()

    # --- what a flow decides ---

    def leave(self, phase: str) -> bool:
        too_much = self.in_place > MOST_IN_PLACE or self.writer.depth > DEEPEST
        if too_much and phase not in self.headers:
            self.headers.append(phase)
        if phase not in self.headers:
            return False
        if len(self.headers) > 1:
            self.writer.line(f"goto = {self.headers.index(phase)}")
        self.writer.line(self.jump)
        return True

    def finish(self, phase: m.Phase, result: str) -> None:
        self.writer.line(f"return {result}, log" if self.logged else f"return {result}")

    def keeps(self, variable: str) -> bool:
        return variable in self.live

    def arrive(self, plan: ChoicePlan) -> bool:
        value = self.drawing.draw(self.writer, plan)
        if self.logged:
            seat = f"{self.emitter.bound(plan.seat)}, " if plan.kind == "one" else ""
            self.writer.line(f"note(({plan.number}, {seat}{value}))")
        if self.keeps(plan.choice.variable):
            self.writer.line(f"{self.emitter.variable(plan.choice.variable)} = {value}")
        if plan.kind == "one" and self.keeps(f"{plan.choice.variable}_by"):
            name = self.emitter.variable(f"{plan.choice.variable}_by")
            self.writer.line(f"{name} = {self.emitter.bound(plan.seat)}")
        return False

    def _instead(self, expr: m.Expr) -> str | None:
        """A name worked out before the loop, or a table worked out now."""
        reads = self.program.preparer.facts.reads(expr)
        if not reads or any(isinstance(p, m.Invoke) for p in every(expr)):
            return None
        if reads <= self.invariant:
            with self.emitter.plainly():
                source = self.emitter.scalar(expr)
            if source not in self.hoisted:
                self.hoisted[source] = (self.emitter.name("h"), reads)
            return self.hoisted[source][0]
        if len(reads) == 1 and self.program.preparer.facts.size(expr) > WORTH_A_TABLE:
            return self._tabled(expr, next(iter(reads)))
        return None

    def _tabled(self, expr: m.Expr, variable: str) -> str | None:
        values = _few(self.model.variables[variable].type)
        if values is None:
            return None
        name = self.emitter.variable(variable)
        with self.emitter.plainly():
            source = f"[{self.emitter.scalar(expr)} for {name} in {values!r}]"
        made = eval(source, dict(self.emitter.namespace))
        return f"{self.emitter.constant((0,) * values.start + tuple(made))}[{name}]"


def _few(type_: Type) -> range | None:
    """The raw values of a type, if they are few and not negative."""
    match type_:
        case SetType(element) if 1 << cardinality(element) <= MOST_TABLED:
            return range(1 << cardinality(element))
        case MapType(key, inner) if is_bit(inner) and 1 << cardinality(key) <= MOST_TABLED:
            return range(1 << cardinality(key))
        case IntType(low, high):
            return raw_index(type_) if low >= 0 and high < MOST_TABLED else None
        case _ if is_index(type_) and cardinality(type_) <= MOST_TABLED:
            return raw_index(type_)
        case _:
            return None
