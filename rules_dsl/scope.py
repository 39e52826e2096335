"""Names in expressions: what each means where it stands, and fitting a value to the type a place wants."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from difflib import get_close_matches

from rules_dsl import model as m
from rules_dsl import syntax as s
from rules_dsl.diagnostics import fail
from rules_dsl.source import Span
from rules_dsl.types import BOOL, EnumType, IntType, MapType, OptionalType, Type, fits

MOST_MEMBERS = 64


@dataclass(frozen=True)
class Scope:
    """The names an expression may use."""

    types: Mapping[str, Type]
    members: Mapping[str, tuple[EnumType, ...]]
    params: Mapping[str, Type]
    tables: Mapping[str, m.Table]
    variable: Callable[[str], Type | None]
    signature: Callable[[str], tuple[tuple[Type, ...], Type] | None]
    phases: frozenset[str] = frozenset()
    result: Type | None = None
    in_property: bool = False
    bound: Mapping[str, Type] = field(default_factory=dict)

    def bind(self, name: str, type_: Type, span: Span) -> Scope:
        if name in self.bound:
            raise fail("E210", f"'{name}' already stands for something else here", span, "use another name")
        return replace(self, bound={**self.bound, name: type_})


def resolve(expr: s.Name, scope: Scope, wanted: Type | None) -> m.Expr:
    """What a name stands for; the type wanted tells members of two enums apart."""
    name = expr.text
    if name in ("true", "false"):
        return m.Literal(name == "true", BOOL)
    if name == "none":
        return m.Literal(None, OptionalType(None))
    if name in scope.bound:
        return m.Bound(name, scope.bound[name])
    variable = scope.variable(name)
    if variable is not None:
        return m.Variable(name, variable)
    if name in scope.params:
        return m.Parameter(name, scope.params[name])
    signature = scope.signature(name)
    if signature is not None:
        if signature[0]:
            raise fail(
                "E204", f"'{name}' takes {len(signature[0])} argument(s)", expr.span, f"write {name}(...)"
            )
        return m.Invoke(name, (), signature[1])
    enums = scope.members.get(name, ())
    if enums:
        while isinstance(wanted, OptionalType | MapType):
            wanted = wanted.value if isinstance(wanted, MapType) else wanted.inner
        if wanted in enums:
            assert isinstance(wanted, EnumType)
            return m.Literal(name, wanted)
        if len(enums) > 1:
            owners = " and ".join(e.name for e in enums)
            raise fail(
                "E205", f"'{name}' could be of {owners}", expr.span, "compare it with a value of one of them"
            )
        return m.Literal(name, enums[0])
    if scope.in_property and name == "over":
        return m.Over()
    if scope.in_property and name == "winner" and scope.result is not None:
        return m.Winner(OptionalType(scope.result))
    if name in scope.tables:
        raise fail("E206", f"'{name}' is a table", expr.span, f"write {name}[...]")
    if name in scope.types:
        raise fail("E207", f"'{name}' is a type, not a value", expr.span)
    raise fail("E208", f"nothing is named '{name}' here", expr.span, _similar(name, scope))


def _similar(name: str, scope: Scope) -> str:
    known = [*scope.bound, *scope.params, *scope.members, *scope.tables]
    close = get_close_matches(name, known, 1)
    return f"did you mean '{close[0]}'?" if close else ""


def coerce(value: m.Expr, wanted: Type, span: Span) -> m.Expr:
    """Makes the value fit, or says why it cannot."""
    actual = value.type
    if isinstance(value, m.Literal) and value.value is None and isinstance(wanted, OptionalType):
        return m.Literal(None, wanted)
    if fits(actual, wanted):
        return value
    if isinstance(wanted, OptionalType) and wanted.inner is not None and not isinstance(actual, OptionalType):
        return m.Apply("some", (coerce(value, wanted.inner, span),), wanted)
    if isinstance(wanted, MapType) and not isinstance(actual, MapType):
        inner = coerce(value, wanted.value, span)
        # a reserved word as the name: no rulebook can have used it for something in the value
        return m.Quantify("map", (m.Range("each", wanted.key, None),), None, inner, wanted)
    if isinstance(actual, IntType) and isinstance(wanted, IntType):
        shown = f"{actual.low}" if actual.low == actual.high else f"anything in {actual}"
        raise fail(
            "E203",
            f"this can be {shown}, but only {wanted} fits here",
            span,
            "keep it inside with min(..., ...) or max(..., ...), or widen the range",
        )
    advice = ""
    if isinstance(actual, OptionalType) and actual.inner is not None and fits(actual.inner, wanted):
        advice = "it may be none: write 'x otherwise default'"
    raise fail("E201", f"this is {described(actual)}, but {described(wanted)} is wanted", span, advice)


def described(type_: Type) -> str:
    return "a number" if isinstance(type_, IntType) else str(type_)


def lone_type(expr: s.Expr, scope: Scope) -> Type | None:
    """The type of a name that is not an enum member, to help understand the other side."""
    if isinstance(expr, s.Name):
        if expr.text in scope.bound:
            return scope.bound[expr.text]
        signature = scope.signature(expr.text)
        return (
            scope.variable(expr.text) or scope.params.get(expr.text) or (signature[1] if signature else None)
        )
    return None
