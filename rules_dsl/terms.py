"""Expressions and types as they are written, the part of the syntax tree that stands inside declarations."""

# ruff: noqa: RUF009 - the default of a place is a dataclass field, not a shared value

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from rules_dsl.source import Span


def at_span() -> Span:
    return field(compare=False, repr=False)  # type: ignore[no-any-return]


# --- expressions -------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Number:
    value: int
    span: Span = at_span()


@dataclass(frozen=True, slots=True)
class Name:
    text: str
    span: Span = at_span()


@dataclass(frozen=True, slots=True)
class Index:
    base: Expr
    keys: tuple[Expr, ...]
    span: Span = at_span()


@dataclass(frozen=True, slots=True)
class Attribute:
    base: Expr
    name: str
    span: Span = at_span()


@dataclass(frozen=True, slots=True)
class Call:
    name: str
    arguments: tuple[Expr, ...]
    span: Span = at_span()


@dataclass(frozen=True, slots=True)
class Unary:
    operator: str
    operand: Expr
    span: Span = at_span()


@dataclass(frozen=True, slots=True)
class Binary:
    operator: str
    left: Expr
    right: Expr
    span: Span = at_span()


@dataclass(frozen=True, slots=True)
class Conditional:
    condition: Expr
    then: Expr
    otherwise: Expr
    span: Span = at_span()


@dataclass(frozen=True, slots=True)
class Binder:
    name: str
    domain: Expr
    span: Span = at_span()


@dataclass(frozen=True, slots=True)
class Comprehension:
    """`count`, `sum`, `exists`, `all`, `set` or `map` over the values of binders."""

    kind: str
    binders: tuple[Binder, ...]
    condition: Expr | None
    body: Expr | None
    span: Span = at_span()


@dataclass(frozen=True, slots=True)
class SetLiteral:
    members: tuple[Expr, ...]
    span: Span = at_span()


@dataclass(frozen=True, slots=True)
class IsNone:
    operand: Expr
    negated: bool
    span: Span = at_span()


@dataclass(frozen=True, slots=True)
class ModuleIn:
    """Is this open module in play? Nobody can write this, so no name of a rulebook can be mistaken for it."""

    module: str
    span: Span = at_span()


Expr = (
    Number
    | Name
    | Index
    | Attribute
    | Call
    | Unary
    | Binary
    | Conditional
    | Comprehension
    | SetLiteral
    | IsNone
    | ModuleIn
)


def parts(expr: Expr) -> tuple[Expr, ...]:
    """The expressions that stand directly in an expression."""
    match expr:
        case Index():
            return (expr.base, *expr.keys)
        case Attribute():
            return (expr.base,)
        case Call():
            return expr.arguments
        case Unary() | IsNone():
            return (expr.operand,)
        case Binary():
            return (expr.left, expr.right)
        case Conditional():
            return (expr.condition, expr.then, expr.otherwise)
        case Comprehension():
            others = (expr.condition, expr.body)
            return (*(b.domain for b in expr.binders), *(e for e in others if e is not None))
        case SetLiteral():
            return expr.members
        case _:
            return ()


def every_part(expr: Expr) -> Iterator[Expr]:
    """The expression and everything in it."""
    queue = [expr]
    while queue:
        current = queue.pop()
        yield current
        queue += reversed(parts(current))


# --- types -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class TypeName:
    name: str
    span: Span = at_span()


@dataclass(frozen=True, slots=True)
class TypeRange:
    low: int
    high: int
    span: Span = at_span()


@dataclass(frozen=True, slots=True)
class TypeApply:
    """`Set<T>`, `Bag<T, n>` or `Stack<T, n>`."""

    name: str
    element: TypeExpr
    capacity: int | None
    span: Span = at_span()


@dataclass(frozen=True, slots=True)
class TypeMap:
    key: TypeExpr
    value: TypeExpr
    span: Span = at_span()


@dataclass(frozen=True, slots=True)
class TypeOptional:
    inner: TypeExpr
    span: Span = at_span()


TypeExpr = TypeName | TypeRange | TypeApply | TypeMap | TypeOptional
