"""Values of every type as nests of leaves: a set is a truth value per member, a map a value per key, and so on.

`encode` and `decode` go from plain values to such nests and back; the other functions work on nests entry by entry.
An optional is (there?, value), a stack (how many, one leaf per place); what is not there holds the least value, so that
two nests are equal exactly if all their leaves are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, cast

from rules_dsl.arrays.columns import Cell, Leaf, Tensor, both, chosen, combined, either, equal
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
from rules_dsl.values import from_ordinal, least, ordinal

Nest = Leaf | tuple["Nest", ...]


def encode(type_: Type, value: Value) -> Nest:
    """A plain value as a nest of plain leaves."""
    match type_:
        case EnumType(_, members):
            return members.index(cast(str, value)) if members else 0
        case BoolType() | IntType() | PlayerType():
            return cast(int, value)
        case SetType(element):
            assert isinstance(value, frozenset)
            return tuple(from_ordinal(element, i) in value for i in range(cardinality(element)))
        case MapType(_, inner):
            assert isinstance(value, tuple)
            return tuple(encode(inner, v) for v in value)
        case BagType():
            return cast("tuple[int, ...]", value)
        case StackType(element, depth):
            assert isinstance(value, tuple)
            filled = [*value, *[least(element)] * (depth - len(value))]
            return (len(value), *(encode(element, v) for v in filled))
        case OptionalType(maybe):
            if maybe is None:
                return (False, 0)
            return (value is not None, encode(maybe, least(maybe) if value is None else value))


def decode(type_: Type, nest: Nest) -> Value:
    """The plain value of a nest whose leaves are all plain."""
    match type_:
        case EnumType(_, members):
            return members[cast(int, nest)] if members else ""
        case BoolType():
            return bool(nest)
        case IntType() | PlayerType():
            return int(cast(int, nest))
    assert isinstance(nest, tuple)
    match type_:
        case SetType(element):
            return frozenset(from_ordinal(element, i) for i, there in enumerate(nest) if there)
        case MapType(_, inner):
            return tuple(decode(inner, v) for v in nest)
        case BagType():
            return tuple(int(cast(int, v)) for v in nest)
        case StackType(element, _):
            return tuple(decode(element, v) for v in nest[1 : 1 + int(cast(int, nest[0]))])
        case OptionalType(maybe):
            return decode(maybe, nest[1]) if nest[0] and maybe is not None else None
    raise TypeError(f"no values of {type_}")


def refit(nest: Nest, actual: Type, wanted: Type) -> Nest:
    """A nest of one type laid out as another type it fits."""
    if actual == wanted:
        return nest
    match actual, wanted:
        case OptionalType(a), OptionalType(b):
            assert isinstance(nest, tuple)
            if b is None or a == b:
                return nest
            return (nest[0], encode(b, least(b)) if a is None else refit(nest[1], a, b))
        case _, OptionalType(b) if b is not None:
            return (True, refit(nest, actual, b))
        case MapType(_, a), MapType(_, b):
            assert isinstance(nest, tuple)
            return tuple(refit(n, a, b) for n in nest)
        case StackType(element, few), StackType(_, many):
            assert isinstance(nest, tuple)
            return (*nest, *[encode(element, least(element))] * (many - few))
        case _:
            return nest


def leaves(nest: Nest) -> Iterator[Leaf]:
    """The leaves in order."""
    if isinstance(nest, tuple):
        for part in nest:
            yield from leaves(part)
    else:
        yield nest


def replaced(nest: Nest, change: Callable[[Leaf], Leaf]) -> Nest:
    """The same nest with every leaf changed."""
    if isinstance(nest, tuple):
        return tuple(replaced(part, change) for part in nest)
    return change(nest)


def known(nest: Nest) -> bool:
    """Are all leaves plain?"""
    return not any(isinstance(leaf, Cell | Tensor) for leaf in leaves(nest))


def select(condition: Leaf, a: Nest, b: Nest) -> Nest:
    """a where the condition holds, else b, leaf by leaf."""
    if condition is True:
        return a
    if condition is False:
        return b
    if isinstance(a, tuple):
        assert isinstance(b, tuple)
        return tuple(select(condition, x, y) for x, y in zip(a, b, strict=True))
    assert not isinstance(b, tuple)
    return chosen(condition, a, b)


def same(a: Nest, b: Nest) -> Iterator[Leaf]:
    """Truth values that all hold exactly if the nests are equal."""
    if isinstance(a, tuple):
        assert isinstance(b, tuple)
        for x, y in zip(a, b, strict=True):
            yield from same(x, y)
    else:
        assert not isinstance(b, tuple)
        yield equal(a, b)


def place(type_: IndexType, key: Leaf) -> Leaf:
    """The number of a key among the values of its type."""
    if isinstance(type_, IntType) and type_.low:
        return combined(_minus, _minus, key, type_.low)
    return int(key) if isinstance(key, bool) else key


def _minus(a: Any, b: Any) -> Any:
    return a - b


def key_value(type_: IndexType, number: int) -> Leaf:
    """The leaf of the key with this number."""
    return cast(Leaf, encode(type_, from_ordinal(type_, number)))


def entry(nest: Nest, where: Leaf) -> Nest:
    """The part of a nest at a place that may be unknown."""
    assert isinstance(nest, tuple)
    if not isinstance(where, Cell | Tensor):
        return nest[where]
    found = nest[-1]
    for i in reversed(range(len(nest) - 1)):
        found = select(equal(where, i), nest[i], found)
    return found


def with_entry(nest: Nest, where: Leaf, part: Nest) -> Nest:
    """The nest with the part at a place replaced."""
    assert isinstance(nest, tuple)
    if not isinstance(where, Cell | Tensor):
        return (*nest[:where], part, *nest[int(where) + 1 :])
    return tuple(select(equal(where, i), part, old) for i, old in enumerate(nest))


def conjunction(parts: Iterator[Leaf]) -> Leaf:
    """Do all hold?"""
    made: Leaf = True
    for part in parts:
        made = both(made, part)
        if made is False:
            return False
    return made


def disjunction(parts: Iterator[Leaf]) -> Leaf:
    """Does one hold?"""
    made: Leaf = False
    for part in parts:
        made = either(made, part)
        if made is True:
            return True
    return made


def ordinals(type_: IndexType) -> range:
    """The numbers of the values of an index type."""
    return range(cardinality(type_))


def number_of(type_: IndexType, value: Value) -> int:
    """The number of a plain key."""
    return ordinal(type_, value)
