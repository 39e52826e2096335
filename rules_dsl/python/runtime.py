"""The few functions generated code may call, and the tables it draws from when it plays at random.

Random numbers come as `bits`: a function that gives so many random bits, like `random.Random.getrandbits`.
Draws are exactly uniform: what does not fit is thrown away and drawn again, never folded back with a
remainder.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from rules_dsl.play import Stuck
from rules_dsl.python.raw import Raw, gathered, raw_index
from rules_dsl.types import BagType, IndexType, MapType, OptionalType, SetType, StackType, Type, cardinality
from rules_dsl.values import count_values

Bits = Callable[[int], int]

MOST_REMEMBERED = 1 << 14  # tables kept for one choice before it starts afresh
MOST_TRIES = 1_000_000
SPARE = 4  # a draw table has at least 2**SPARE slots a value, so that few draws fall on an empty slot


def bits_of(mask: int) -> list[int]:
    """The places of the ones in a mask, least first."""
    found = []
    while mask:
        low = mask & -mask
        found.append(low.bit_length() - 1)
        mask ^= low
    return found


def bag_change(bag: tuple[int, ...], place: int, by: int, most: int) -> tuple[int, ...]:
    """The bag with one card of a kind more or less, within its limits."""
    return (*bag[:place], min(max(bag[place] + by, 0), most), *bag[place + 1 :])


def push_on(stack: tuple[int, ...], card: int, depth: int) -> tuple[int, ...]:
    return (*stack, card) if len(stack) < depth else stack


def top_of(stack: tuple[int, ...]) -> int | None:
    return stack[-1] if stack else None


def value_or(value: Raw, default: Raw) -> Raw:
    return default if value is None else value


def below(limit: int, bits: Bits) -> int:
    """A number from 0 to limit - 1, all alike."""
    width = limit.bit_length()
    drawn = bits(width)
    while drawn >= limit:
        drawn = bits(width)
    return drawn


def slots(values: Sequence[Raw], width: int) -> tuple[Raw, ...]:
    """A table of 2**width slots in which every value stands equally often; the slots left over hold
    `EMPTY`.
    """
    if not values:
        raise Stuck("somebody must choose and nothing is allowed")
    times = (1 << width) // len(values)
    return tuple(values) * times + (EMPTY,) * ((1 << width) - times * len(values))


class _Empty:
    """Marks a slot that stands for no value: draw again."""


EMPTY = _Empty()


def slot_width(values: int) -> int:
    """How many bits to draw from a table of at most so many values."""
    return max(values - 1, 1).bit_length() + SPARE


class Members(dict[int, tuple[Raw, ...]]):
    """Draw tables by option mask, made when first asked for."""

    def __init__(self, values: Sequence[Raw], width: int) -> None:
        super().__init__()
        self._values = values
        self._width = width

    def __missing__(self, mask: int) -> tuple[Raw, ...]:
        made = slots([self._values[i] for i in bits_of(mask)], self._width)
        if len(self) < MOST_REMEMBERED:
            self[mask] = made
        return made


class Allowed(dict[Any, Any]):
    """What `find` gives by what the rules of a choice depend on, worked out when first asked for."""

    def __init__(self, find: Callable[[Any], Any]) -> None:
        super().__init__()
        self._find = find

    def __missing__(self, key: Any) -> Any:
        if len(self) >= MOST_REMEMBERED:
            self.clear()
        made = self[key] = self._find(key)
        return made


def pick(values: Sequence[Raw], bits: Bits) -> Raw:
    """One of the values, all alike."""
    if not values:
        raise Stuck("somebody must choose and nothing is allowed")
    return values[below(len(values), bits)]


Weighted = tuple[Sequence[Raw], Sequence[int]]


def weighted(values: Iterable[Raw], weight: Callable[[Raw], int]) -> Weighted:
    """The values that have weight, and their running sums."""
    kept: list[Raw] = []
    sums: list[int] = []
    total = 0
    for value in values:
        heavy = weight(value)
        if heavy > 0:
            total += heavy
            kept.append(value)
            sums.append(total)
    return kept, sums


def pick_weighted(table: Weighted, bits: Bits) -> Raw:
    """One of the values, each as often as it weighs."""
    values, sums = table
    if not values:
        raise Stuck("nothing can come up")
    return values[bisect_right(sums, below(sums[-1], bits))]


def deal(counts: Sequence[int], places: int, first: int, bits: Bits) -> tuple[int, ...]:
    """One arrangement of the cards, all alike: a shuffle of the cards one by one."""
    cards = [first + kind for kind, count in enumerate(counts) for _ in range(count)]
    if len(cards) != places:
        raise Stuck("there are not as many cards as places to deal them to")
    for last in range(places - 1, 0, -1):
        other = below(last + 1, bits)
        cards[last], cards[other] = cards[other], cards[last]
    return tuple(cards)


def arrangement(counts: Sequence[int], rank: int, ways: int, first: int) -> tuple[int, ...]:
    """The arrangement with this number among all of them in order."""
    left = list(counts)
    places = sum(left)
    laid: list[int] = []
    for remaining in range(places, 0, -1):
        for kind, count in enumerate(left):
            here = ways * count // remaining
            if rank < here:
                laid.append(first + kind)
                left[kind] -= 1
                ways = here
                break
            rank -= here
    return tuple(laid)


def uniform(type_: Type, allowed: Callable[[Raw], bool]) -> Callable[[Bits], Raw]:
    """A draw among the allowed values of a type too large to list: values are tried until one is allowed."""
    draw = _any_value(type_)

    def find(bits: Bits) -> Raw:
        for _ in range(MOST_TRIES):
            value = draw(bits)
            if allowed(value):
                return value
        raise Stuck(f"no allowed value was found among {MOST_TRIES:,} of {type_}")

    return find


def _any_value(type_: Type) -> Callable[[Bits], Raw]:
    """A draw among all values of a type."""
    match type_:
        case SetType(element):
            width = cardinality(element)
            return lambda bits: bits(width)
        case MapType(key, inner):
            one, count = _any_value(inner), cardinality(key)
            return lambda bits: gathered(type_, tuple(one(bits) for _ in range(count)))
        case BagType(element, most):
            kinds = cardinality(element)
            return lambda bits: tuple(below(most + 1, bits) for _ in range(kinds))
        case StackType(element, depth):
            return lambda bits: _any_stack(element, depth, bits)
        case OptionalType(inner):
            if inner is None:
                return lambda bits: None
            some, number = _any_value(inner), count_values(inner, 1 << 30)
            return lambda bits: some(bits) if below(number + 1, bits) else None
        case _:
            values = raw_index(type_)
            return lambda bits: values[below(len(values), bits)]


def _any_stack(element: IndexType, depth: int, bits: Bits) -> tuple[int, ...]:
    kinds = cardinality(element)
    rank = below(sum(kinds**length for length in range(depth + 1)), bits)
    length = 0
    while rank >= kinds**length:
        rank -= kinds**length
        length += 1
    cards = []
    for _ in range(length):
        rank, kind = divmod(rank, kinds)
        cards.append(raw_index(element)[kind])
    return tuple(cards)
