"""Values of the finite types: listing them, counting them, the least one, numbering them, and JSON both ways.

`players` limits `Player` to the seats really taken while a model still leaves the number of players open.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from math import comb
from typing import Any

from rules_dsl.model import Value
from rules_dsl.types import (
    BagType,
    BoolType,
    EnumType,
    IndexType,
    IntType,
    MapType,
    OptionalType,
    PlayerType,
    SetType,
    StackType,
    Type,
    cardinality,
)


def all_values(type_: Type, players: int) -> Iterator[Value]:
    """Every value of a type, the least first."""
    match type_:
        case BoolType():
            yield from (False, True)
        case IntType(low, high):
            yield from range(low, high + 1)
        case EnumType(_, members):
            yield from members
        case PlayerType(count):
            yield from range(min(count, players))
        case SetType(element):
            elements = tuple(all_values(element, players))
            for mask in range(1 << len(elements)):
                yield frozenset(e for i, e in enumerate(elements) if mask >> i & 1)
        case MapType(key, value):
            keys = tuple(all_values(key, players))
            yield from product(tuple(all_values(value, players)), repeat=len(keys))
        case BagType(element, most):
            kinds = tuple(all_values(element, players))
            yield from product(range(most + 1), repeat=len(kinds))
        case StackType(element, depth):
            kinds = tuple(all_values(element, players))
            for length in range(depth + 1):
                yield from product(kinds, repeat=length)
        case OptionalType(inner):
            yield None
            if inner is not None:
                yield from all_values(inner, players)


def count_values(type_: Type, players: int) -> int:
    """How many values a type has."""
    match type_:
        case BoolType():
            return 2
        case IntType(low, high):
            return high - low + 1
        case EnumType(_, members):
            return len(members)
        case PlayerType(count):
            return min(count, players)
        case SetType(element):
            return 1 << count_values(element, players)
        case MapType(key, value):
            return int(count_values(value, players) ** count_values(key, players))
        case BagType(element, most):
            return int((most + 1) ** count_values(element, players))
        case StackType(element, depth):
            kinds = count_values(element, players)
            return sum(kinds**length for length in range(depth + 1))
        case OptionalType(inner):
            return 1 + (count_values(inner, players) if inner is not None else 0)


def least(type_: Type) -> Value:
    """The value a variable has when nothing else is said; maps from Player cover every possible seat."""
    match type_:
        case BoolType():
            return False
        case IntType(low, _):
            return low
        case EnumType(_, members):
            return members[0] if members else ""
        case PlayerType():
            return 0
        case SetType():
            return frozenset()
        case MapType(key, value):
            return (least(value),) * cardinality(key)
        case BagType(element, _):
            return (0,) * cardinality(element)
        case StackType():
            return ()
        case OptionalType():
            return None


def ordinal(type_: IndexType, value: Value) -> int:
    """The place of a value among the values of its type, from 0."""
    match type_:
        case IntType(low, _):
            assert isinstance(value, int)
            return value - low
        case EnumType(_, members):
            assert isinstance(value, str)
            return members.index(value)
        case _:
            assert isinstance(value, int)
            return int(value)


def from_ordinal(type_: IndexType, number: int) -> Value:
    """The value at a place."""
    match type_:
        case BoolType():
            return bool(number)
        case IntType(low, _):
            return low + number
        case EnumType(_, members):
            return members[number]
        case PlayerType():
            return number


def is_value(type_: Type, value: Value, players: int) -> bool:
    """Is this a value of the type, at a table of so many players?"""
    match type_:
        case BoolType():
            return isinstance(value, bool)
        case IntType(low, high):
            return isinstance(value, int) and not isinstance(value, bool) and low <= value <= high
        case EnumType(_, members):
            return isinstance(value, str) and value in members
        case PlayerType(count):
            return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < min(count, players)
        case SetType(element):
            return isinstance(value, frozenset) and all(is_value(element, v, players) for v in value)
        case MapType(key, inner):
            size = count_values(key, players)
            return (
                isinstance(value, tuple)
                and len(value) == size
                and all(is_value(inner, v, players) for v in value)
            )
        case BagType(element, most):
            size = count_values(element, players)
            return (
                isinstance(value, tuple)
                and len(value) == size
                and all(isinstance(v, int) and 0 <= v <= most for v in value)
            )
        case StackType(element, depth):
            return (
                isinstance(value, tuple)
                and len(value) <= depth
                and all(is_value(element, v, players) for v in value)
            )
        case OptionalType(maybe):
            return value is None or (maybe is not None and is_value(maybe, value, players))


def to_json(type_: Type, value: Value) -> Any:
    """A value as plain JSON: sets as sorted lists, maps as lists in key order, seats as numbers from 0."""
    match type_:
        case SetType(element):
            assert isinstance(value, frozenset)
            return [to_json(element, v) for v in sorted(value, key=lambda v: ordinal(element, v))]
        case MapType(_, inner):
            assert isinstance(value, tuple)
            return [to_json(inner, v) for v in value]
        case BagType():
            assert isinstance(value, tuple)
            return list(value)
        case StackType(element, _):
            assert isinstance(value, tuple)
            return [to_json(element, v) for v in value]
        case OptionalType(maybe):
            return None if value is None or maybe is None else to_json(maybe, value)
        case _:
            return value


def from_json(type_: Type, data: Any, players: int) -> Value:
    """The value a piece of JSON stands for; raises `ValueError` if it is none of this type."""
    made = _read(type_, data)
    if not is_value(type_, made, players):
        raise ValueError(f"{data!r} is not a value of {type_}")
    return made


def _read(type_: Type, data: Any) -> Value:
    match type_:
        case SetType(element) if isinstance(data, list):
            return frozenset(_read(element, v) for v in data)
        case MapType(_, inner) if isinstance(data, list):
            return tuple(_read(inner, v) for v in data)
        case BagType() if isinstance(data, list):
            return tuple(data)
        case StackType(element, _) if isinstance(data, list):
            return tuple(_read(element, v) for v in data)
        case OptionalType(maybe) if maybe is not None:
            return None if data is None else _read(maybe, data)
        case _ if isinstance(data, bool | int | str):
            return data
        case _:
            raise ValueError(f"{data!r} is not a value of {type_}")


def arrangements(counts: tuple[int, ...], places: int) -> int:
    """In how many different ways a deck with so many of each kind can lie on that many places."""
    if sum(counts) != places:
        return 0
    ways, left = 1, places
    for count in counts:
        ways *= comb(left, count)
        left -= count
    return ways
