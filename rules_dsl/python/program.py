"""The parts of a model as generated code needs them: every choice numbered, its expressions prepared, and
the small functions about one choice (who chooses, what is allowed, how heavily chance weighs a value).

A raw state is a tuple: the number of the choice awaited (or `~phase` when the game is over), the raw
result, then one raw value for every variable.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from rules_dsl import model as m
from rules_dsl.python.expressions import Emitter
from rules_dsl.python.prepare import TRUE, Preparer, conjunction
from rules_dsl.types import IndexType, is_index

FIRST_VARIABLE = 2  # where the variables begin in a raw state


class Writer:
    """Lines of source, indented."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.depth = 0

    def line(self, text: str) -> None:
        self.lines.append("    " * self.depth + text)

    @contextmanager
    def block(self, head: str) -> Iterator[None]:
        self.line(head)
        self.depth += 1
        before = len(self.lines)
        yield
        if len(self.lines) == before:
            self.line("pass")
        self.depth -= 1

    def text(self) -> str:
        return "\n".join(self.lines) + "\n"


@dataclass(frozen=True)
class ChoicePlan:
    """A choice with its expressions prepared; `seat` and `value` are the bound names of chooser and value."""

    number: int
    phase: m.Phase
    choice: m.Choice
    seat: str
    value: str
    who: m.Expr | None
    domain: m.Expr | None
    condition: m.Expr | None
    requires: tuple[m.Expr, ...]
    deal: m.Expr | None
    weight: m.Expr | None
    when: m.Expr | None
    audience: m.Expr | None

    @property
    def kind(self) -> str:
        return self.choice.chooser.kind

    def refusals(self, kinds: tuple[str, ...]) -> m.Expr:
        """What a value must fulfil, of the requirements of these kinds together."""
        return conjunction(
            [e for e, r in zip(self.requires, self.choice.requires, strict=True) if r.kind in kinds]
        )


class Program:
    """A settled model made ready for code."""

    def __init__(self, model: m.Model) -> None:
        if not model.settled:
            raise ValueError("only a settled model can be played: fix its parameters first")
        self.model = model
        self.preparer = Preparer(model)
        self.emitter = Emitter(self.preparer)
        self.phase_number = {name: i for i, name in enumerate(model.phases)}
        self.plans: list[ChoicePlan] = []
        self.by_phase: dict[str, list[ChoicePlan]] = {}
        for phase in model.phases.values():
            own = self.by_phase[phase.name] = []
            for choice in phase.choices:
                own.append(self._plan(len(self.plans), phase, choice))
                self.plans.append(own[-1])
        self._ready: dict[int, tuple[m.Expr, m.Expr]] = {}

    def _plan(self, number: int, phase: m.Phase, choice: m.Choice) -> ChoicePlan:
        seat, value = self.preparer.fresh(), self.preparer.fresh()
        chooser = choice.chooser
        outside: dict[str, m.Expr] = {}
        speaking: dict[str, m.Expr] = (
            {chooser.seat: m.Bound(seat, self.model.players)} if chooser.seat else {}
        )
        inside: dict[str, m.Expr] = {choice.variable: m.Bound(value, choice.type), **speaking}

        def ready(expr: m.Expr | None, names: dict[str, m.Expr]) -> m.Expr | None:
            return None if expr is None else self.preparer.expr(expr, names)

        return ChoicePlan(
            number,
            phase,
            choice,
            seat,
            value,
            ready(chooser.who, outside),
            ready(chooser.domain, outside),
            ready(chooser.condition, speaking),
            tuple(self.preparer.expr(r.condition, inside) for r in choice.requires),
            ready(choice.deal, outside),
            ready(choice.weight, inside),
            ready(choice.when, outside),
            ready(choice.audience.to, speaking),
        )

    def ready(self, expr: m.Expr) -> m.Expr:
        """An expression of a statement, prepared once."""
        if id(expr) not in self._ready:
            self._ready[id(expr)] = (expr, self.preparer.expr(expr, {}))
        return self._ready[id(expr)][1]

    def choosers(self, plan: ChoicePlan) -> str:
        """Source for the mask of the seats that choose."""
        if plan.who is not None:
            return f"(1 << {self.emitter.scalar(plan.who)})"
        return self.emitter.chosen(m.Range(plan.seat, self.model.players, plan.domain), plan.condition)

    def option_mask(self, plan: ChoicePlan, kinds: tuple[str, ...]) -> str:
        """Source for the mask of the values of an index type that fulfil the requirements of these kinds."""
        assert is_index(plan.choice.type)
        type_: IndexType = plan.choice.type
        return self.emitter.chosen(m.Range(plan.value, type_, None), plan.refusals(kinds))

    # --- the small functions ---

    def write_choice_functions(self, writer: Writer) -> None:
        """For every choice: `w` who chooses, `q` what is wrong with a value, `o` and `r` masks of what is
        allowed and proper, `x` its weight, `l` the cards dealt.
        """
        for plan in self.plans:
            number, seat, value = plan.number, self.emitter.bound(plan.seat), self.emitter.bound(plan.value)
            if plan.kind != "chance":
                self._function(
                    writer, f"w{number}(s)", self.choosers(plan), plan.who, plan.domain, plan.condition
                )
            if plan.weight is not None:
                self._function(
                    writer, f"x{number}(s, {value})", self.emitter.scalar(plan.weight), plan.weight
                )
            if plan.deal is not None:
                self._function(writer, f"l{number}(s)", self.emitter.scalar(plan.deal), plan.deal)
            self._write_check(writer, plan, seat, value)
            if is_index(plan.choice.type):
                for letter, kinds in (("o", ("require",)), ("r", ("require", "ought"))):
                    mask = self.option_mask(plan, kinds)
                    self._function(writer, f"{letter}{number}(s, {seat})", mask, *plan.requires)
        for number, variable in enumerate(self.model.variables.values()):
            if variable.audience.to is not None:
                to = self.ready(variable.audience.to)
                self._function(writer, f"a{number}(s)", self.emitter.scalar(to), to)

    def _write_check(self, writer: Writer, plan: ChoicePlan, seat: str, value: str) -> None:
        """`q` gives the place of the first requirement broken, or `~breaches`, a mask of the "ought" ones
        broken.
        """
        with writer.block(f"def q{plan.number}(s, {seat}, {value}):"):
            self._unpack(writer, *plan.requires)
            writer.line("u = 0")
            for place, (condition, declared) in enumerate(
                zip(plan.requires, plan.choice.requires, strict=True)
            ):
                if condition != TRUE:
                    with writer.block(f"if not {self.emitter.scalar(condition)}:"):
                        writer.line(f"return {place}" if declared.kind == "require" else f"u |= {1 << place}")
            writer.line("return ~u")

    def _function(self, writer: Writer, head: str, source: str, *about: m.Expr | None) -> None:
        with writer.block(f"def {head}:"):
            self._unpack(writer, *about)
            writer.line(f"return {source}")

    def _unpack(self, writer: Writer, *about: m.Expr | None) -> None:
        """Only the variables that are read."""
        read: set[str] = set()
        for expr in about:
            if expr is not None:
                read |= self.preparer.facts.reads(expr)
        for name in sorted(read, key=self.emitter.number.__getitem__):
            writer.line(f"{self.emitter.variable(name)} = s[{self.emitter.number[name] + FIRST_VARIABLE}]")
