"""Conditions over all values of a bound name at once, as masks: one bit a value.

Takes an emitter, a condition and the bound name; gives source. Logic becomes bit operations, membership and
packed maps are masks already, a condition on the entries of one map is a table, and what is left is written
out value by value.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rules_dsl import model as m
from rules_dsl.python.raw import encoder, is_bit, lowest, raw_index
from rules_dsl.types import BOOL, IndexType, IntType, MapType, SetType, Type, cardinality, is_index
from rules_dsl.walk import every, rebuild

if TYPE_CHECKING:
    from rules_dsl.python.expressions import Emitter

LARGEST_UNROLLED = 800
MOST_LANES = 64  # entries of a map that are looked up one by one


def lanes(emitter: Emitter, expr: m.Expr, name: str, type_: IndexType) -> str:
    """Source for the mask of the values of a bound name for which a condition holds."""
    count = cardinality(type_)
    full = (1 << count) - 1
    free = emitter.facts.free(expr)
    if isinstance(expr, m.Literal):
        return str(full if expr.value else 0)
    if name not in free:
        return f"({full} if {emitter.scalar(expr)} else 0)"
    if free == {name}:
        if not _depends(emitter, expr):
            return str(_constant_lanes(emitter, expr, name, type_))
        if emitter.instead is not None:
            as_set = m.Quantify("set", (m.Range(name, type_, None),), expr, None, SetType(type_))
            other = emitter.instead(as_set)
            if other is not None:
                return other
    return (
        _logic_lanes(emitter, expr, name, type_, full)
        or _direct_lanes(emitter, expr, name, type_, full)
        or _mapped_lanes(emitter, expr, name, type_)
        or _unrolled_lanes(emitter, expr, name, type_)
    )


def _constant_lanes(emitter: Emitter, expr: m.Expr, name: str, type_: IndexType) -> int:
    with emitter.plainly():
        truths = eval(
            f"[{emitter.scalar(expr)} for {emitter.bound(name)} in {raw_index(type_)!r}]",
            dict(emitter.namespace),
        )
    return sum(1 << i for i, truth in enumerate(truths) if truth)


def _depends(emitter: Emitter, expr: m.Expr) -> bool:
    """Does the value depend on the state, or on a function that is not there yet?"""
    return bool(emitter.facts.reads(expr)) or any(isinstance(p, m.Invoke) for p in every(expr))


def _logic_lanes(emitter: Emitter, expr: m.Expr, name: str, type_: IndexType, full: int) -> str | None:
    if not isinstance(expr, m.Apply) or expr.operation not in (
        "not",
        "and",
        "or",
        "implies",
        "iff",
        "if",
    ):
        return None
    parts = [lanes(emitter, a, name, type_) for a in expr.arguments]
    match expr.operation, parts:
        case "not", [a]:
            return f"({full} ^ {a})"
        case "and", [a, b]:
            return f"({a} & {b})"
        case "or", [a, b]:
            return f"({a} | {b})"
        case "implies", [a, b]:
            return f"({full} ^ {a} | {b})"
        case "iff", [a, b]:
            return f"({full} ^ {a} ^ {b})"
        case _, [a, b, c]:
            return f"({a} & {b} | ({full} ^ {a}) & {c})"
    return None


def _direct_lanes(emitter: Emitter, expr: m.Expr, name: str, type_: IndexType, full: int) -> str | None:
    """Conditions that are masks already: membership, an entry of a packed map, being a certain value."""
    if isinstance(expr, m.At):
        return _packed(emitter, expr, name, type_)
    if not isinstance(expr, m.Apply) or len(expr.arguments) != 2:
        return None
    left, right = expr.arguments
    if expr.operation == "in" and _is_name(left, name) and right.type == SetType(type_):
        return emitter.scalar(right) if name not in emitter.facts.free(right) else None
    if expr.operation not in ("eq", "ne"):
        return None
    if name in emitter.facts.free(right):
        left, right = right, left
    if name in emitter.facts.free(right):
        return None
    opposite = expr.operation == "ne"
    if _is_name(left, name) and is_index(right.type) and _within(right.type, type_):
        mask = f"(1 << {emitter.place(right, type_)})"
        return f"({full} ^ {mask})" if opposite else mask
    if (
        isinstance(left, m.At)
        and isinstance(right, m.Literal)
        and right.type == left.type
        and is_bit(left.type)
    ):
        packed = _packed(emitter, left, name, type_)
        raw = encoder(right.type)(right.value)
        if packed is not None:
            return packed if bool(raw) != opposite else f"({full} ^ {packed})"
    return None


def _packed(emitter: Emitter, expr: m.At, name: str, type_: IndexType) -> str | None:
    fits = (
        isinstance(expr.base.type, MapType) and expr.base.type.key == type_ and is_bit(expr.base.type.value)
    )
    if fits and _is_name(expr.key, name) and name not in emitter.facts.free(expr.base):
        return emitter.scalar(expr.base)
    return None


def _mapped_lanes(emitter: Emitter, expr: m.Expr, name: str, type_: IndexType) -> str | None:
    """Conditions on nothing but the entry of one map: a table of the entries that fulfil it."""
    maps = {e for e in every(expr) if isinstance(e, m.At) and _is_name(e.key, name)}
    if len(maps) != 1 or cardinality(type_) > MOST_LANES:
        return None
    entry = maps.pop()
    inner = entry.type
    if not isinstance(entry.base.type, MapType) or entry.base.type.key != type_ or not is_index(inner):
        return None
    if emitter.facts.free(entry.base) or is_bit(inner):
        return None
    value = emitter.preparer.fresh()
    about = _replaced(expr, entry, m.Bound(value, inner))
    if emitter.facts.free(about) != {value} or _depends(emitter, about):
        return None
    mask = _constant_lanes(emitter, about, value, inner)
    low = lowest(inner)
    table = emitter.constant(tuple(mask >> i & 1 for i in range(cardinality(inner))))
    base = emitter.scalar(entry.base)
    terms = []
    for i in range(cardinality(type_)):
        place = f"{base}[{i}]" if not low else f"{base}[{i}] - {low}"
        terms.append(f"{table}[{place}] << {i}" if i else f"{table}[{place}]")
    return f"({' | '.join(terms)})"


def _unrolled_lanes(emitter: Emitter, expr: m.Expr, name: str, type_: IndexType) -> str:
    if cardinality(type_) * emitter.facts.size(expr) > LARGEST_UNROLLED:
        local = emitter.bound(name)
        shift = f"({local} - {lowest(type_)})"
        over = emitter.iterable(m.Range(name, type_, None))
        return f"sum([({emitter.scalar(expr)}) << {shift} for {local} in {over}])"
    terms = []
    for i, here in enumerate(emitter.each(expr, name, type_)):
        if here == m.Literal(False, BOOL):
            continue
        terms.append(f"({emitter.scalar(here)}) << {i}" if i else f"({emitter.scalar(here)})")
    return f"({' | '.join(terms)})" if terms else "0"


def _is_name(expr: m.Expr, name: str) -> bool:
    return isinstance(expr, m.Bound) and expr.name == name


def _within(inner: Type, outer: Type) -> bool:
    if isinstance(inner, IntType) and isinstance(outer, IntType):
        return outer.low <= inner.low and inner.high <= outer.high
    return inner == outer


def _replaced(expr: m.Expr, old: m.Expr, new: m.Expr) -> m.Expr:
    return new if expr == old else rebuild(expr, lambda part: _replaced(part, old, new))
