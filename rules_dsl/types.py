"""The finite types of the language and the relations between them.

Every type has finitely many values. The *index types* (Bool, ranges, enums, Player) are those whose values
can be numbered and so can be members of sets, keys of maps and kinds of cards in bags and stacks.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeGuard


@dataclass(frozen=True, slots=True)
class BoolType:
    def __str__(self) -> str:
        return "Bool"


@dataclass(frozen=True, slots=True)
class IntType:
    low: int
    high: int

    def __str__(self) -> str:
        return f"{self.low}..{self.high}"


@dataclass(frozen=True, slots=True)
class EnumType:
    name: str
    members: tuple[str, ...]

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class PlayerType:
    """Seats 0..count-1; while the number of players is open, `count` is the largest it can be."""

    count: int

    def __str__(self) -> str:
        return "Player"


@dataclass(frozen=True, slots=True)
class SetType:
    element: IndexType

    def __str__(self) -> str:
        return f"Set<{self.element}>"


@dataclass(frozen=True, slots=True)
class MapType:
    key: IndexType
    value: Type

    def __str__(self) -> str:
        return f"{self.key} -> {self.value}"


@dataclass(frozen=True, slots=True)
class BagType:
    """How many of each kind, at most `most` of one kind."""

    element: IndexType
    most: int

    def __str__(self) -> str:
        return f"Bag<{self.element}, {self.most}>"


@dataclass(frozen=True, slots=True)
class StackType:
    """A pile of at most `depth` cards; the last one laid is the top."""

    element: IndexType
    depth: int

    def __str__(self) -> str:
        return f"Stack<{self.element}, {self.depth}>"


@dataclass(frozen=True, slots=True)
class OptionalType:
    """A value or `none`. `inner` is None only for the literal `none` before it is given a place."""

    inner: Type | None

    def __str__(self) -> str:
        return f"{self.inner}?" if self.inner else "none"


IndexType = BoolType | IntType | EnumType | PlayerType
Type = IndexType | SetType | MapType | BagType | StackType | OptionalType

BOOL = BoolType()


def is_index(type_: Type) -> TypeGuard[IndexType]:
    """Can values of the type be numbered, and so be keys and members?"""
    return isinstance(type_, BoolType | IntType | EnumType | PlayerType)


def cardinality(type_: IndexType) -> int:
    """How many values an index type has."""
    match type_:
        case BoolType():
            return 2
        case IntType(low, high):
            return high - low + 1
        case EnumType(_, members):
            return len(members)
        case PlayerType(count):
            return count


def fits(actual: Type, wanted: Type) -> bool:
    """May a value of the one type stand where the other is wanted, without conversion?"""
    match actual, wanted:
        case IntType(a, b), IntType(c, d):
            return c <= a and b <= d
        case SetType(a), SetType(b):
            return a == b
        case MapType(k1, v1), MapType(k2, v2):
            return k1 == k2 and fits(v1, v2)
        case BagType(a, m), BagType(b, n):
            return a == b and m <= n
        case StackType(a, m), StackType(b, n):
            return a == b and m <= n
        case OptionalType(None), OptionalType():
            return True
        case OptionalType(a), OptionalType(b) if a is not None and b is not None:
            return fits(a, b)
        case _:
            return actual == wanted


def join(left: Type, right: Type) -> Type | None:
    """The smallest type both fit, or None if there is none."""
    match left, right:
        case IntType(a, b), IntType(c, d):
            return IntType(min(a, c), max(b, d))
        case MapType(k1, v1), MapType(k2, v2) if k1 == k2:
            value = join(v1, v2)
            return None if value is None else MapType(k1, value)
        case BagType(a, m), BagType(b, n) if a == b:
            return BagType(a, max(m, n))
        case StackType(a, m), StackType(b, n) if a == b:
            return StackType(a, max(m, n))
        case OptionalType(a), OptionalType(b):
            if a is None or b is None:
                return right if a is None else left
            inner = join(a, b)
            return None if inner is None else OptionalType(inner)
        case OptionalType(a), _:
            inner = right if a is None else join(a, right)
            return None if inner is None else OptionalType(inner)
        case _, OptionalType():
            return join(right, left)
        case _:
            return left if left == right else None
