"""Raw values: what generated code computes with, and the way there and back.

Booleans, enum members and seats are small ints, numbers are themselves, sets are bit masks by the members'
ordinals, maps to a two-valued type are bit masks by the keys' ordinals, other maps, bags and stacks are
tuples, `none` is None.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
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
from rules_dsl.values import ordinal

# An int, None, or a tuple of raw values. Typed loosely because generated code is not typed at all.
Raw = Any


def is_bit(type_: Type) -> bool:
    """Is every raw value of the type 0 or 1? Number ranges are not counted: they may stand for wider ones."""
    return isinstance(type_, BoolType) or (isinstance(type_, EnumType) and len(type_.members) <= 2)


def lowest(type_: IndexType) -> int:
    """The raw value of the first value of an index type: raw value less this is the ordinal."""
    return type_.low if isinstance(type_, IntType) else 0


def raw_index(type_: IndexType) -> range:
    """The raw values of an index type in order."""
    low = lowest(type_)
    return range(low, low + cardinality(type_))


def encoder(type_: Type) -> Callable[[Value], Raw]:
    """The function from plain values of a type to raw ones."""
    match type_:
        case BoolType():
            return int  # type: ignore[return-value]
        case IntType() | PlayerType():
            return _same
        case EnumType(_, members):
            places = {member: i for i, member in enumerate(members)} or {"": 0}
            return places.__getitem__  # type: ignore[return-value]
        case SetType(element):
            return lambda value: _mask(element, value)
        case MapType(_, inner) if is_bit(inner):
            one = encoder(inner)
            return lambda value: sum(one(v) << i for i, v in enumerate(value))  # type: ignore[arg-type]
        case MapType(_, inner):
            each = encoder(inner)
            return lambda value: tuple(map(each, value))  # type: ignore[arg-type]
        case BagType():
            return _same
        case StackType(element, _):
            card = encoder(element)
            return lambda value: tuple(map(card, value))  # type: ignore[arg-type]
        case OptionalType(maybe):
            some = encoder(maybe) if maybe is not None else _same
            return lambda value: None if value is None else some(value)


def _same(value: Value) -> Raw:
    return value


def _mask(element: IndexType, value: Value) -> int:
    assert isinstance(value, frozenset)
    return sum(1 << ordinal(element, v) for v in value)


def decoder(type_: Type) -> Callable[[Raw], Value]:
    """The function from raw values of a type to plain ones."""
    match type_:
        case BoolType():
            return bool
        case IntType() | PlayerType() | BagType():
            return _same
        case EnumType(_, members):
            return (members or ("",)).__getitem__
        case SetType(element):
            return _set_decoder(element)
        case MapType(key, inner) if is_bit(inner):
            of_bit = (decoder(inner)(0), decoder(inner)(cardinality(inner) - 1))  # type: ignore[arg-type]
            count = cardinality(key)
            return lambda raw: tuple(of_bit[raw >> i & 1] for i in range(count))
        case MapType(_, inner):
            each = decoder(inner)
            return lambda raw: tuple(map(each, raw))
        case StackType(element, _):
            card = decoder(element)
            return lambda raw: tuple(map(card, raw))
        case OptionalType(maybe):
            some = decoder(maybe) if maybe is not None else _same
            return lambda raw: None if raw is None else some(raw)


def _set_decoder(element: IndexType) -> Callable[[Raw], Value]:
    one = decoder(element)
    members = [one(raw) for raw in raw_index(element)]
    return lambda raw: frozenset(v for i, v in enumerate(members) if raw >> i & 1)


def entries(type_: MapType) -> Callable[[Raw], tuple[Raw, ...]]:
    """The function from a raw map to the raw values of its entries."""
    count = cardinality(type_.key)
    if is_bit(type_.value):
        return lambda raw: tuple(raw >> i & 1 for i in range(count))
    return _same


def gathered(type_: MapType, values: tuple[Raw, ...]) -> Raw:
    """The raw map with these entries."""
    return sum(v << i for i, v in enumerate(values)) if is_bit(type_.value) else values


def unpacked(type_: Type) -> Callable[[Raw], Raw]:
    """The function to a form in which equal values of comparable types are equal, however their types
    pack them.
    """
    match type_:
        case MapType(_, inner) if not is_bit(inner):
            each = unpacked(inner)
            return lambda raw: tuple(map(each, raw))
        case MapType():
            return entries(type_)
        case OptionalType(inner) if inner is not None:
            some = unpacked(inner)
            return lambda raw: None if raw is None else some(raw)
        case _:
            return _same


def shape(type_: Type) -> object:
    """What decides how values of a type are packed: values of types of one shape can be compared as they
    are.
    """
    match type_:
        case MapType(_, inner):
            return "bits" if is_bit(inner) else ("map", shape(inner))
        case OptionalType(inner):
            return shape(inner) if inner is not None else "plain"
        case _:
            return "plain"


def raw_values(type_: Type) -> Iterator[Raw]:
    """Every raw value of a type, in the order of `values.all_values`."""
    match type_:
        case SetType(element):
            yield from range(1 << cardinality(element))
        case MapType(key, inner):
            for values in product(tuple(raw_values(inner)), repeat=cardinality(key)):
                yield gathered(type_, values)
        case BagType(element, most):
            yield from product(range(most + 1), repeat=cardinality(element))
        case StackType(element, depth):
            for length in range(depth + 1):
                yield from product(raw_index(element), repeat=length)
        case OptionalType(inner):
            yield None
            if inner is not None:
                yield from raw_values(inner)
        case _:
            yield from raw_index(type_)


def raw_arrangements(type_: MapType, counts: tuple[int, ...]) -> Iterator[Raw]:
    """Every way to lay cards, so many of each kind, on the keys of a map, in the order of `reference`."""
    first = lowest(type_.value)  # type: ignore[arg-type]
    left = list(counts)

    def lay(places: int) -> Iterator[tuple[int, ...]]:
        if places == 0:
            if not any(left):
                yield ()
            return
        for kind, count in enumerate(left):
            if count:
                left[kind] -= 1
                for rest in lay(places - 1):
                    yield (first + kind, *rest)
                left[kind] += 1

    return (gathered(type_, laid) for laid in lay(cardinality(type_.key)))
