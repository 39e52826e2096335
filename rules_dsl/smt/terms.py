"""Truth values and bounded whole numbers as Z3 terms, folded in Python as long as they are known.

A truth value is a Python `bool` or a Z3 Boolean. A number is a `Num`: the interval it lies in and either
a Python `int` or a bit-vector just wide enough for that interval (two's complement if it can be
negative). Knowing the interval keeps adders narrow and decides many comparisons before a solver sees
them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import z3  # type: ignore[import-untyped]

from rules_dsl.smt.raw import below, choice, conjunction, disjunction, equality, negation

Truth = Any  # bool or z3.BoolRef


def known(term: Truth) -> bool:
    return isinstance(term, bool)


def term(value: Truth) -> Any:
    """A truth value as a Z3 term."""
    return z3.BoolVal(value) if isinstance(value, bool) else value


def not_(a: Truth) -> Truth:
    return (not a) if isinstance(a, bool) else negation(a)


def and_(parts: Iterable[Truth]) -> Truth:
    kept = []
    for part in parts:
        if part is False:
            return False
        if part is not True:
            kept.append(part)
    if not kept:
        return True
    return kept[0] if len(kept) == 1 else conjunction(kept)


def or_(parts: Iterable[Truth]) -> Truth:
    kept = []
    for part in parts:
        if part is True:
            return True
        if part is not False:
            kept.append(part)
    if not kept:
        return False
    return kept[0] if len(kept) == 1 else disjunction(kept)


def implies(a: Truth, b: Truth) -> Truth:
    return or_((not_(a), b))


def iff(a: Truth, b: Truth) -> Truth:
    if isinstance(a, bool):
        return b if a else not_(b)
    if isinstance(b, bool):
        return a if b else not_(a)
    return True if a is b else equality(a, b)


def choose(condition: Truth, then: Truth, otherwise: Truth) -> Truth:
    """`then` if the condition holds, else `otherwise`, all truth values."""
    if isinstance(condition, bool):
        return then if condition else otherwise
    if then is otherwise:
        return then
    if isinstance(then, bool):
        if isinstance(otherwise, bool):
            return then if then == otherwise else (condition if then else negation(condition))
        return or_((condition, otherwise)) if then else and_((negation(condition), otherwise))
    if isinstance(otherwise, bool):
        return or_((negation(condition), then)) if otherwise else and_((condition, then))
    return choice(condition, then, otherwise)


def width(low: int, high: int) -> int:
    """How many bits the numbers of an interval need."""
    if low >= 0:
        return max(1, high.bit_length())
    return max((-low - 1).bit_length(), max(high, 0).bit_length()) + 1


@dataclass(frozen=True, slots=True)
class Num:
    """A number between `low` and `high`: a Python int or a bit-vector of `width(low, high)` bits."""

    low: int
    high: int
    value: Any


def in_interval(num: Num) -> Truth:
    """Do the bits of an unknown number really stand for one of its interval? (All other operations
    take it as given.)
    """
    if isinstance(num.value, int):
        return True
    wide = width(num.low, num.high)
    if num.low < 0:
        return z3.And(num.value >= num.low, num.value <= num.high)
    above = True if num.low == 0 else z3.UGE(num.value, num.low)
    return and_((above, True if num.high == (1 << wide) - 1 else z3.ULE(num.value, num.high)))


def number(value: int) -> Num:
    return Num(value, value, value)


@lru_cache(maxsize=4096)
def _known_bits(value: int, wide: int) -> Any:
    return z3.BitVecVal(value, wide)  # half of the time terms take to make went into these few


def bits(num: Num, wide: int) -> Any:
    """The number as a bit-vector of this width; wider ones lose their upper bits, as in arithmetic
    modulo 2^width.
    """
    if isinstance(num.value, int):
        return _known_bits(num.value, wide)
    have = width(num.low, num.high)
    if have == wide:
        return num.value
    if have > wide:
        return z3.Extract(wide - 1, 0, num.value)
    return z3.ZeroExt(wide - have, num.value) if num.low >= 0 else z3.SignExt(wide - have, num.value)


def fit(num: Num, low: int, high: int) -> Num:
    """The same number with the interval of the place it is put in. A number that is known stays known."""
    if isinstance(num.value, int) or (num.low == low and num.high == high):
        return num
    return Num(low, high, bits(num, width(low, high)))


def _made(low: int, high: int, build: Any, a: Num, b: Num) -> Num:
    if low == high:
        return number(low)
    wide = width(low, high)
    return Num(low, high, build(bits(a, wide), bits(b, wide)))


def add(a: Num, b: Num) -> Num:
    if a.value == 0 and isinstance(a.value, int):
        return b
    if b.value == 0 and isinstance(b.value, int):
        return a
    return _made(a.low + b.low, a.high + b.high, lambda x, y: x + y, a, b)


def sub(a: Num, b: Num) -> Num:
    if b.value == 0 and isinstance(b.value, int):
        return a
    return _made(a.low - b.high, a.high - b.low, lambda x, y: x - y, a, b)


def mul(a: Num, b: Num) -> Num:
    ends = [x * y for x in (a.low, a.high) for y in (b.low, b.high)]
    return _made(min(ends), max(ends), lambda x, y: x * y, a, b)


def total(parts: Sequence[Num]) -> Num:
    """The sum, as a balanced tree of adders that are only as wide as they must be."""
    queue = list(parts) or [number(0)]
    while len(queue) > 1:
        paired = [add(queue[i], queue[i + 1]) for i in range(0, len(queue) - 1, 2)]
        queue = paired + ([queue[-1]] if len(queue) % 2 else [])
    return queue[0]


def count(parts: Iterable[Truth]) -> Num:
    """How many of these hold."""
    sure, unsure = 0, []
    for part in parts:
        if isinstance(part, bool):
            sure += part
        else:
            unsure.append(Num(0, 1, choice(part, _known_bits(1, 1), _known_bits(0, 1))))
    return add(total(unsure), number(sure)) if unsure else number(sure)


def div(a: Num, by: int) -> Num:
    """Rounded down, also below zero."""
    low, high = a.low // by, a.high // by
    if low == high:
        return number(low)
    shifted = sub(a, number(low * by))  # never negative
    wide = max(width(shifted.low, shifted.high), by.bit_length())
    quotient = z3.UDiv(bits(shifted, wide), z3.BitVecVal(by, wide))
    return add(_cut(quotient, wide, high - low), number(low))


def mod(a: Num, by: int) -> Num:
    """Never negative."""
    if a.low // by == a.high // by:
        return sub(a, number(a.low // by * by))
    shifted = sub(a, number(a.low // by * by))
    wide = max(width(shifted.low, shifted.high), by.bit_length())
    return _cut(z3.URem(bits(shifted, wide), z3.BitVecVal(by, wide)), wide, by - 1)


def _cut(value: Any, wide: int, high: int) -> Num:
    return Num(0, high, z3.Extract(width(0, high) - 1, 0, value) if width(0, high) < wide else value)


def equal(a: Num, b: Num) -> Truth:
    if a.high < b.low or b.high < a.low:
        return False
    if isinstance(a.value, int) and isinstance(b.value, int):
        return a.value == b.value
    if a.value is b.value:
        return True
    wide = width(min(a.low, b.low), max(a.high, b.high))
    return equality(bits(a, wide), bits(b, wide))


def less(a: Num, b: Num) -> Truth:
    if a.high < b.low:
        return True
    if a.low >= b.high:
        return False
    wide = width(min(a.low, b.low), max(a.high, b.high))
    x, y = bits(a, wide), bits(b, wide)
    return x < y if min(a.low, b.low) < 0 else below(x, y)


def less_equal(a: Num, b: Num) -> Truth:
    return not_(less(b, a))


def pick(condition: Truth, then: Num, otherwise: Num) -> Num:
    """`then` if the condition holds, else `otherwise`."""
    if isinstance(condition, bool):
        return then if condition else otherwise
    if then is otherwise or then.value is otherwise.value:
        return then
    if isinstance(then.value, int) and isinstance(otherwise.value, int) and then.value == otherwise.value:
        return then
    low, high = min(then.low, otherwise.low), max(then.high, otherwise.high)
    wide = width(low, high)
    return Num(low, high, choice(condition, bits(then, wide), bits(otherwise, wide)))


def as_number(value: Truth) -> Num:
    """Nought or one."""
    return count((value,))


def unknowns(terms: Iterable[Any]) -> list[Any]:
    """The constants nothing is said about that occur in terms, by name; every shared part is looked at once."""
    found: dict[str, Any] = {}
    seen: set[int] = set()
    queue = list(terms)
    while queue:
        here = queue.pop()
        if here.get_id() in seen:
            continue
        seen.add(here.get_id())
        if z3.is_const(here) and here.decl().kind() == z3.Z3_OP_UNINTERPRETED:
            found[here.decl().name()] = here
        queue += here.children()
    return [found[name] for name in sorted(found)]
