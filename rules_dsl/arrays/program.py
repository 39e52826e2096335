"""The phases of a settled model with all their expressions compiled, and which variables matter from where on.

`Program(model)` holds a compiled form of every choice and statement. `live` tells, for every place where a choice can
be awaited, the variables somebody may still read before they are written again; all others can be forgotten there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from rules_dsl import model as m
from rules_dsl.arrays.columns import Leaf
from rules_dsl.arrays.formulas import Formulas
from rules_dsl.arrays.scene import Code, Parts, Scene
from rules_dsl.types import IndexType, MapType, Type
from rules_dsl.walk import choice_expressions, reads, statement_expressions

Truth = Callable[[Scene], Leaf]
Point = tuple[str, int]  # a phase and the number of one of its choices


@dataclass(frozen=True, slots=True, eq=False)
class ChoiceCode:
    choice: m.Choice
    type: Type  # what a single chooser chooses, `none` included
    variable_type: Type
    when: Truth
    who: Code | None
    domain: Code | None
    condition: Truth
    requires: tuple[tuple[m.Require, Parts], ...]
    duties: tuple[tuple[m.Require, Parts], ...]  # of secret choices
    deal: Code | None
    weight: Code | None


@dataclass(frozen=True, slots=True, eq=False)
class AssignCode:
    statement: m.Assign
    keys: tuple[tuple[IndexType, Code], ...]
    value: Code
    type: Type


@dataclass(frozen=True, slots=True, eq=False)
class IfCode:
    statement: m.If
    condition: Truth
    then: tuple[StatementCode, ...]
    otherwise: tuple[StatementCode, ...]
    quiet: bool  # neither branch ends the phase or lets anybody see anything


@dataclass(frozen=True, slots=True, eq=False)
class ShowCode:
    statement: m.Show
    domain: Code | None
    condition: Truth
    value: Code


@dataclass(frozen=True, slots=True, eq=False)
class WinCode:
    statement: m.Win
    value: Code | None


@dataclass(frozen=True, slots=True, eq=False)
class NextCode:
    statement: m.Next


StatementCode = AssignCode | IfCode | ShowCode | WinCode | NextCode


@dataclass(frozen=True, slots=True, eq=False)
class PhaseCode:
    phase: m.Phase
    when: Truth
    choices: tuple[ChoiceCode, ...]
    body: tuple[StatementCode, ...]


class Program:
    """A model's phases, compiled when first entered."""

    def __init__(self, model: m.Model) -> None:
        if not model.settled:
            raise ValueError("only a settled model can be compiled to arrays")
        self.model = model
        self.formulas = Formulas(model)
        self._phases: dict[str, PhaseCode] = {}
        self.liveness = Liveness(model)
        self.live = self.liveness.points

    def phase(self, name: str) -> PhaseCode:
        """A phase, compiled."""
        if name not in self._phases:
            phase = self.model.phases[name]
            self._phases[name] = PhaseCode(
                phase,
                self.formulas.truth(phase.when),
                tuple(self._choice(c) for c in phase.choices),
                self._body(phase.body),
            )
        return self._phases[name]

    def find(self, variable: str) -> Point:
        """Where a variable is chosen."""
        for name, phase in self.model.phases.items():
            for step, choice in enumerate(phase.choices):
                if choice.variable == variable:
                    return name, step
        raise KeyError(f"nobody chooses '{variable}'")

    def _choice(self, choice: m.Choice) -> ChoiceCode:
        f, chooser = self.formulas, choice.chooser
        return ChoiceCode(
            choice,
            m.choice_type(choice),
            self.model.variables[choice.variable].type,
            f.truth(choice.when),
            None if chooser.who is None else f.value(chooser.who),
            None if chooser.domain is None else f.value(chooser.domain),
            f.truth(chooser.condition),
            tuple((r, f.parts(r.condition)) for r in choice.requires if r.kind == "require"),
            tuple(
                (r, f.parts(r.condition))
                for r in choice.requires
                if r.kind == "ought" and choice.audience.kind != "public"
            ),
            None if choice.deal is None else f.value(choice.deal),
            None if choice.weight is None else f.value(choice.weight),
        )

    def _body(self, body: tuple[m.Statement, ...]) -> tuple[StatementCode, ...]:
        return tuple(self._statement(s) for s in body)

    def _statement(self, statement: m.Statement) -> StatementCode:
        f = self.formulas
        match statement:
            case m.Assign():
                type_ = self.model.variables[statement.variable].type
                keys: list[tuple[IndexType, Code]] = []
                for key in statement.keys:
                    key_type: IndexType
                    if isinstance(type_, MapType):
                        key_type, type_ = type_.key, type_.value
                    else:
                        key_type = type_.element  # type: ignore[union-attr]
                    keys.append((key_type, f.value(key)))
                return AssignCode(statement, tuple(keys), f.wanted(statement.value, type_), type_)
            case m.If():
                return IfCode(
                    statement,
                    f.truth(statement.condition),
                    self._body(statement.then),
                    self._body(statement.otherwise),
                    all(_quiet(s) for s in (*statement.then, *statement.otherwise)),
                )
            case m.Show():
                return ShowCode(
                    statement,
                    None if statement.domain is None else f.value(statement.domain),
                    f.truth(statement.condition),
                    f.value(statement.value),
                )
            case m.Win():
                value = None if statement.value is None else f.wanted(statement.value, self.model.result)
                return WinCode(statement, value)
            case m.Next():
                return NextCode(statement)


def _quiet(statement: m.Statement) -> bool:
    match statement:
        case m.Assign():
            return not statement.published
        case m.If():
            return all(_quiet(s) for s in (*statement.then, *statement.otherwise))
        case _:
            return False


class Liveness:
    """Which variables may be read from somewhere on before they are written again."""

    def __init__(self, model: m.Model) -> None:
        self._definitions = model.definitions
        self._entry: dict[str, frozenset[str]] = dict.fromkeys(model.phases, frozenset())
        self._known: dict[
            int, frozenset[str]
        ] = {}  # by an expression's identity: the model keeps them all alive
        self.points: dict[Point, frozenset[str]] = {}
        changed = True
        while changed:
            changed = False
            for name, phase in model.phases.items():
                live = self.before(phase.body)
                for step in reversed(range(len(phase.choices))):
                    choice = phase.choices[step]
                    live = live - set(m.written_by(choice))
                    live |= self._needs(choice_expressions(choice))
                    self.points[name, step] = live
                if phase.when is not None:
                    live = live | self._needs(iter((phase.when,))) | self._entry[phase.otherwise]
                if live != self._entry[name]:
                    self._entry[name] = live
                    changed = True

    def _needs(self, exprs: Iterator[m.Expr]) -> frozenset[str]:
        found: frozenset[str] = frozenset()
        for expr in exprs:
            if id(expr) not in self._known:
                self._known[id(expr)] = reads(expr, self._definitions)
            found |= self._known[id(expr)]
        return found

    def before(
        self, statements: tuple[m.Statement, ...], after: frozenset[str] = frozenset()
    ) -> frozenset[str]:
        """The variables that matter before some statements, those that matter after them given."""
        for statement in reversed(statements):
            match statement:
                case m.Next():
                    after = self._entry[statement.phase]
                case m.Win():
                    after = self._needs(statement_expressions(statement))
                case m.If():
                    inner = self.before(statement.then, after) | self.before(statement.otherwise, after)
                    after = inner | self._needs(iter((statement.condition,)))
                case m.Assign():
                    if not statement.keys:
                        after = after - {statement.variable}
                    after = after | self._needs(statement_expressions(statement))
                case m.Show():
                    after = after | self._needs(statement_expressions(statement))
        return after
