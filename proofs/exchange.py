"""A value with two seats exchanged wherever it names them; the seats may be unknown themselves."""

from __future__ import annotations

from typing import Any

from rules_dsl.smt.expressions import entry
from rules_dsl.smt.symbolic import MapOf, Maybe, SetOf, StackOf, Symbolic, merge
from rules_dsl.smt.terms import Num, equal, less, number, pick
from rules_dsl.types import BagType, IndexType, MapType, OptionalType, PlayerType, SetType, StackType, Type


def exchanged(value: Symbolic, type_: Type, a: Num, b: Num) -> Symbolic:
    """The value with seat `a` for seat `b` and the other way round. What is canonical stays so."""
    match type_:
        case PlayerType():
            return pick(equal(value, a), b, pick(equal(value, b), a, value))
        case SetType(element):
            return SetOf(_entries(value.members, element, a, b))
        case MapType(key, inner):
            entries = _entries(value.entries, key, a, b)
            return MapOf(tuple(exchanged(x, inner, a, b) for x in entries))
        case BagType(element, _):
            return MapOf(_entries(value.entries, element, a, b))
        case StackType(element, _):
            cards = (
                merge(less(number(i), value.size), exchanged(card, element, a, b), card)
                for i, card in enumerate(value.cards)
            )
            return StackOf(value.size, tuple(cards), value.blank)
        case OptionalType(inner_) if inner_ is not None:
            inside = merge(value.some, exchanged(value.value, inner_, a, b), value.value)
            return Maybe(value.some, inside, value.blank)
        case _:
            return value


def _entries(entries: tuple[Any, ...], key: IndexType, a: Num, b: Num) -> tuple[Any, ...]:
    """Entries by key, those of the two seats exchanged."""
    if not isinstance(key, PlayerType):
        return entries
    whole = MapOf(entries)
    at_a, at_b = entry(whole, a, key), entry(whole, b, key)
    return tuple(
        merge(equal(a, number(i)), at_b, merge(equal(b, number(i)), at_a, old))
        for i, old in enumerate(entries)
    )
