"""How large things may get: the entries of a type, and the depth and work of an expression with what it calls.

A rulebook that passes can be walked by recursion and played without waiting.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from rules_dsl import model as m
from rules_dsl.diagnostics import fail
from rules_dsl.source import Span
from rules_dsl.types import BagType, MapType, OptionalType, StackType, Type, cardinality
from rules_dsl.walk import children, choice_expressions, statement_expressions, statements

MOST_CELLS = 4096
MOST_LEVELS = 80
MOST_STEPS = 1_000_000


class Measure(NamedTuple):
    """How many levels deep an expression is and in how many steps it is worked out, definitions included."""

    levels: int
    steps: int


def cells(type_: Type) -> int:
    """How many simple values a value of the type is made of."""
    match type_:
        case MapType(key, value):
            return cardinality(key) * cells(value)
        case BagType(element, _):
            return cardinality(element)
        case StackType(_, depth):
            return depth
        case OptionalType(inner) if inner is not None:
            return cells(inner)
        case _:
            return 1


def measure(expr: m.Expr, known: Mapping[str, Measure], span: Span) -> Measure:
    """The measure of an expression; refuses one that is too deep or too much work."""
    found = _measure(expr, known)
    if found.levels > MOST_LEVELS:
        raise fail(
            "E332",
            f"with the definitions it rests on, this is more than {MOST_LEVELS} levels deep",
            span,
            "let fewer definitions rest on each other",
        )
    if found.steps > MOST_STEPS:
        raise fail(
            "E226",
            f"this goes through about {found.steps:,} cases; {MOST_STEPS:,} is the most",
            span,
            "range over fewer things at once",
        )
    return found


def _measure(expr: m.Expr, known: Mapping[str, Measure]) -> Measure:
    parts = [_measure(part, known) for part in children(expr)]
    levels = 1 + max((p.levels for p in parts), default=0)
    steps = 1 + sum(p.steps for p in parts)
    if isinstance(expr, m.Invoke):
        called = known[expr.definition]
        return Measure(max(levels, 1 + called.levels), steps + called.steps)
    if isinstance(expr, m.Quantify):
        for over in expr.ranges:
            steps *= max(1, cardinality(over.type))
    return Measure(levels, steps)


def measure_all(model: m.Model, known: Mapping[str, Measure]) -> None:
    """Refuses a model with an expression outside its definitions that is too deep or too much work."""
    for expr, span in _expressions(model):
        measure(expr, known, span)


def _expressions(model: m.Model) -> Iterator[tuple[m.Expr, Span]]:
    for param in model.params.values():
        yield param.default, param.origin.span
    for variable in model.variables.values():
        yield variable.initial, variable.origin.span
        if variable.audience.to is not None:
            yield variable.audience.to, variable.origin.span
    for table in model.tables.values():
        yield from ((cell, table.origin.span) for cell in table.cells)
    for check in model.checks:
        yield check.condition, check.origin.span
    for phase in model.phases.values():
        if phase.when is not None:
            yield phase.when, phase.origin.span
        for choice in phase.choices:
            yield from ((e, choice.origin.span) for e in choice_expressions(choice))
        for statement in statements(phase.body):
            yield from ((e, statement.origin.span) for e in statement_expressions(statement))
    for assumption in model.assumptions.values():
        yield assumption.value, assumption.origin.span
    for claim in model.properties.values():
        if claim.value is not None:
            yield claim.value, claim.origin.span
