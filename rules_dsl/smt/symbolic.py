"""Values of the language with Z3 terms at their leaves: making, comparing, merging them, and reading them
back.

Bools are truth values; numbers, enum members (by place) and seats are `Num`; the composite types have a
small class each. Values are kept canonical, so that equal values have equal terms: entries of seats that
are not taken, the inside of `none` and the places above a stack's top hold the least value of their
type.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum
from typing import Any

import z3  # type: ignore[import-untyped]

from rules_dsl.model import Value
from rules_dsl.smt.terms import (
    Num,
    Truth,
    and_,
    bits,
    choose,
    equal,
    fit,
    iff,
    implies,
    in_interval,
    less,
    not_,
    number,
    pick,
    term,
    width,
)
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


@dataclass(frozen=True, slots=True)
class SetOf:
    members: tuple[Truth, ...]


@dataclass(frozen=True, slots=True)
class MapOf:
    """Maps by key order, and bags: how many of each kind."""

    entries: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class StackOf:
    size: Num
    cards: tuple[Any, ...]  # from the bottom
    blank: Any  # what lies above the top


class Blank(Enum):
    """What lies inside `none` where that is no plain value."""

    UNKNOWN = "not kept track of"
    ANY = "there is always something"


@dataclass(frozen=True, slots=True)
class Maybe:
    some: Truth
    value: Any
    blank: Any = (
        Blank.UNKNOWN
    )  # the plain value inside `none`; `conform` puts the least of its type there if it is another


Symbolic = Any  # Truth | Num | SetOf | MapOf | StackOf | Maybe


def interval(type_: IndexType) -> tuple[int, int]:
    """The numbers a value of a simple type is kept as."""
    match type_:
        case IntType(low, high):
            return low, high
        case BoolType():
            return 0, 1
        case EnumType(_, members):
            return 0, max(0, len(members) - 1)
        case PlayerType(count):
            return 0, count - 1


def constant(value: Value, type_: Type) -> Symbolic:
    """A plain value as a symbolic one. Values of a smaller table are filled up for the seats not taken."""
    match type_:
        case BoolType():
            return bool(value)
        case IntType():
            return number(int(value))  # type: ignore[arg-type]
        case EnumType() | PlayerType():
            return number(ordinal(type_, value) if value != "" else 0)
        case SetType(element):
            assert isinstance(value, frozenset)
            return SetOf(tuple(from_ordinal(element, i) in value for i in range(cardinality(element))))
        case MapType(key, inner):
            assert isinstance(value, tuple)
            filled = (*value, *(least(inner) for _ in range(cardinality(key) - len(value))))
            return MapOf(tuple(constant(v, inner) for v in filled))
        case BagType(element, _):
            assert isinstance(value, tuple)
            filled = (*value, *(0 for _ in range(cardinality(element) - len(value))))
            return MapOf(tuple(number(int(v)) for v in filled))  # type: ignore[arg-type]
        case StackType(element, depth):
            assert isinstance(value, tuple)
            padding = (least(element),) * (depth - len(value))
            blank = constant(least(element), element)
            cards = tuple(constant(v, element) for v in (*value, *padding))
            return StackOf(number(len(value)), cards, blank)
        case OptionalType(None):
            return Maybe(False, None)
        case OptionalType(maybe):
            assert maybe is not None
            blank = least(maybe)
            return Maybe(value is not None, constant(blank if value is None else value, maybe), blank)


def declare(type_: Type, name: str) -> Symbolic:
    """An unknown value of a type; its leaves are Z3 constants that begin with this name."""
    match type_:
        case BoolType():
            return z3.Bool(name)
        case IntType() | EnumType() | PlayerType():
            low, high = interval(type_)
            return number(low) if low == high else Num(low, high, z3.BitVec(name, width(low, high)))
        case SetType(element):
            return SetOf(tuple(z3.Bool(f"{name}.{i}") for i in range(cardinality(element))))
        case MapType(key, inner):
            return MapOf(tuple(declare(inner, f"{name}.{i}") for i in range(cardinality(key))))
        case BagType(element, most):
            return MapOf(tuple(declare(IntType(0, most), f"{name}.{i}") for i in range(cardinality(element))))
        case StackType(element, depth):
            cards = tuple(declare(element, f"{name}.{i}") for i in range(depth))
            blank = constant(least(element), element)
            return StackOf(declare(IntType(0, depth), f"{name}.size"), cards, blank)
        case OptionalType(inner_):
            assert inner_ is not None
            return Maybe(z3.Bool(f"{name}.some"), declare(inner_, f"{name}.value"), least(inner_))


def is_least(value: Symbolic, type_: Type) -> Truth:
    return same(value, constant(least(type_), type_))


def well_formed(value: Symbolic, type_: Type, players: Num) -> Truth:
    """Is this a canonical value of the type at a table of so many players?"""
    match type_:
        case BoolType():
            return True
        case IntType() | EnumType():
            return in_interval(value)
        case PlayerType():
            return and_((in_interval(value), less(value, players)))
        case SetType(element):
            return and_(
                implies(member, present(i, element, players)) for i, member in enumerate(value.members)
            )
        case MapType(key, inner):
            return and_(_entries_formed(value.entries, key, inner, players))
        case BagType(element, most):
            return and_(_entries_formed(value.entries, element, IntType(0, most), players))
        case StackType(element, _):
            parts = [in_interval(value.size)]
            for i, card in enumerate(value.cards):
                laid = less(number(i), value.size)
                parts.append(implies(laid, well_formed(card, element, players)))
                parts.append(implies(not_(laid), is_least(card, element)))
            return and_(parts)
        case OptionalType(None):
            return True
        case OptionalType(inner_):
            assert inner_ is not None
            return and_(
                (
                    implies(value.some, well_formed(value.value, inner_, players)),
                    implies(not_(value.some), is_least(value.value, inner_)),
                )
            )


def _entries_formed(entries: tuple[Any, ...], key: IndexType, inner: Type, players: Num) -> Iterator[Truth]:
    for i, entry in enumerate(entries):
        taken = present(i, key, players)
        yield implies(taken, well_formed(entry, inner, players))
        if taken is not True:
            yield implies(not_(taken), is_least(entry, inner))


def present(place: int, type_: IndexType, players: Num) -> Truth:
    """Does the type have a value at this place? Only seats may be missing."""
    return less(number(place), players) if isinstance(type_, PlayerType) else True


def same(a: Symbolic, b: Symbolic) -> Truth:
    """Are two values of one type equal?"""
    if a is b:
        return True
    if isinstance(a, Num):
        return equal(a, b)
    if isinstance(a, SetOf):
        return and_(iff(x, y) for x, y in zip(a.members, b.members, strict=True))
    if isinstance(a, MapOf):
        return and_(same(x, y) for x, y in zip(a.entries, b.entries, strict=True))
    if isinstance(a, StackOf):
        least_deep = min(len(a.cards), len(b.cards))
        cards = (same(x, y) for x, y in zip(a.cards[:least_deep], b.cards[:least_deep], strict=True))
        return and_((equal(a.size, b.size), *cards))
    if isinstance(a, Maybe):
        if a.value is None or b.value is None:
            return and_((not_(a.some), not_(b.some)))
        return and_((iff(a.some, b.some), implies(a.some, same(a.value, b.value))))
    return iff(a, b)


def identical(a: Symbolic, b: Symbolic) -> bool:
    """Is `same` of the two known to be true? Asked far more often than `same`, and no term is made for the answer."""
    if a is b:
        return True
    if isinstance(a, Num):
        known = isinstance(a.value, int) and isinstance(b.value, int)
        return bool(a.value == b.value) if known else a.value is b.value
    if isinstance(a, bool | z3.BoolRef):
        return False
    if isinstance(a, SetOf):
        return all(x is y for x, y in zip(a.members, b.members, strict=True))
    if isinstance(a, MapOf):
        return all(identical(x, y) for x, y in zip(a.entries, b.entries, strict=True))
    return same(a, b) is True


def merge(condition: Truth, then: Symbolic, otherwise: Symbolic) -> Symbolic:
    """`then` if the condition holds, else `otherwise`."""
    if then is otherwise or condition is True:
        return then
    if condition is False:
        return otherwise
    if isinstance(then, Num):
        return pick(condition, then, otherwise)
    if isinstance(then, SetOf):
        pairs = zip(then.members, otherwise.members, strict=True)
        return SetOf(tuple(choose(condition, x, y) for x, y in pairs))
    if isinstance(then, MapOf):
        entries = zip(then.entries, otherwise.entries, strict=True)
        return MapOf(tuple(merge(condition, x, y) for x, y in entries))
    if isinstance(then, StackOf):
        deep = max(len(then.cards), len(otherwise.cards))
        ours, theirs = _deepened(then, deep), _deepened(otherwise, deep)
        cards = tuple(merge(condition, x, y) for x, y in zip(ours.cards, theirs.cards, strict=True))
        return StackOf(pick(condition, then.size, otherwise.size), cards, then.blank)
    if isinstance(then, Maybe):
        some = choose(condition, then.some, otherwise.some)
        if then.value is None or otherwise.value is None:
            # what the other one holds lies there also where there is none
            return Maybe(some, then.value if otherwise.value is None else otherwise.value)
        return Maybe(some, merge(condition, then.value, otherwise.value), _blank_of_both(then, otherwise))
    return choose(condition, then, otherwise)


def _blank_of_both(one: Maybe, other: Maybe) -> Any:
    if one.blank is Blank.ANY:
        return other.blank
    return one.blank if other.blank is Blank.ANY or other.blank == one.blank else Blank.UNKNOWN


def _deepened(stack: StackOf, deep: int) -> StackOf:
    padding = (stack.blank,) * (deep - len(stack.cards))
    return StackOf(stack.size, (*stack.cards, *padding), stack.blank) if padding else stack


def conform(value: Symbolic, type_: Type, players: Num | None = None) -> Symbolic:
    """The same value with every number as wide as its place in the type.

    With `players` also entries of seats that are not taken hold the least value of this type: what the value was worked
    out as may have a narrower one, with another least.
    """
    match type_:
        case BoolType():
            return value
        case IntType() | EnumType() | PlayerType():
            return fit(value, *interval(type_))
        case SetType():
            return value
        case MapType(key, inner):
            entries = tuple(conform(v, inner, players) for v in value.entries)
            if players is not None and isinstance(key, PlayerType):
                blank = constant(least(inner), inner)
                laid = (merge(present(i, key, players), v, blank) for i, v in enumerate(entries))
                entries = tuple(conform(v, inner) for v in laid)
            return MapOf(entries)
        case BagType(_, most):
            return MapOf(tuple(fit(v, 0, most) for v in value.entries))
        case StackType(element, depth):
            deep = _deepened(value, depth)
            return StackOf(
                fit(value.size, 0, depth), tuple(conform(c, element) for c in deep.cards), value.blank
            )
        case OptionalType(inner_):
            assert inner_ is not None
            wanted = least(inner_)
            blank = constant(wanted, inner_)
            payload = blank if value.value is None else conform(value.value, inner_, players)
            if value.blank is not Blank.ANY and value.blank != wanted:
                payload = conform(merge(value.some, payload, blank), inner_)
            return Maybe(value.some, payload, wanted)


def leaves(value: Symbolic, type_: Type) -> Iterator[Any]:
    """The Z3 terms of a conforming value, always as many and of the same sorts for a type."""
    match type_:
        case BoolType():
            yield term(value)
        case IntType() | EnumType() | PlayerType():
            low, high = interval(type_)
            if low != high:
                yield bits(value, width(low, high))
        case SetType():
            yield from (term(member) for member in value.members)
        case MapType(_, inner):
            for entry in value.entries:
                yield from leaves(entry, inner)
        case BagType(_, most):
            for entry in value.entries:
                yield from leaves(entry, IntType(0, most))
        case StackType(element, depth):
            yield from leaves(value.size, IntType(0, depth))
            for card in value.cards:
                yield from leaves(card, element)
        case OptionalType(inner_):
            assert inner_ is not None
            yield term(value.some)
            yield from leaves(value.value, inner_)


Reader = Callable[[Any], Any]  # from a Z3 term to the Python bool or int a model gives it


def model_reader(model: Any) -> Reader:
    """Reads terms in a Z3 model, filling in what the model leaves open."""

    def read(value: Any) -> Any:
        if isinstance(value, bool | int):
            return value
        found = model.eval(value, model_completion=True)
        return z3.is_true(found) if z3.is_bool(found) else found.as_long()

    return read


def decode(value: Symbolic, type_: Type, players: int, read: Reader) -> Value:
    """The plain value in a model, for a table of so many players."""
    match type_:
        case BoolType():
            return bool(read(value))
        case IntType() | EnumType() | PlayerType():
            return from_number(read_number(value, read), type_)
        case SetType(element):
            return frozenset(from_ordinal(element, i) for i, x in enumerate(value.members) if read(x))
        case MapType(key, inner):
            taken = min(players, cardinality(key)) if isinstance(key, PlayerType) else cardinality(key)
            return tuple(decode(v, inner, players, read) for v in value.entries[:taken])
        case BagType(element, most):
            taken = (
                min(players, cardinality(element))
                if isinstance(element, PlayerType)
                else cardinality(element)
            )
            return tuple(decode(v, IntType(0, most), players, read) for v in value.entries[:taken])
        case StackType(element, _):
            size = read_number(value.size, read)
            return tuple(decode(c, element, players, read) for c in value.cards[:size])
        case OptionalType(inner_):
            if not read(value.some):
                return None
            assert inner_ is not None
            return decode(value.value, inner_, players, read)


def read_number(num: Num, read: Reader) -> int:
    found = int(read(num.value))
    wide = width(num.low, num.high)
    return (
        found - (1 << wide)
        if num.low < 0 and not isinstance(num.value, int) and found >> (wide - 1)
        else found
    )


def from_number(found: int, type_: IndexType) -> Value:
    return found if isinstance(type_, IntType) else from_ordinal(type_, found)
