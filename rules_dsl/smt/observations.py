"""What may become known on a run, as terms: the sequence of observations a seat makes, and when two are the same.

A `Slot` is one observation that may be made, under a condition; the slots of a run stand in the order in which they are
made, on whichever path. What a seat has seen of the run is the sequence of the slots made and shown to it, read as the
language defines it: phase, kind, name, seat and value of each, and nothing about which statement made it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from rules_dsl.smt.symbolic import Symbolic, same
from rules_dsl.smt.terms import Num, Truth, and_, choose, equal, iff, implies, not_
from rules_dsl.types import Type


@dataclass(frozen=True, slots=True)
class Slot:
    """An observation that may be made: under `made`, by the seats `to` (None: by all).

    `kind`, `phase`, `name`, `seat` and `value` are those of `rules_dsl.play.Observation`; `type` is the value's.
    """

    kind: str
    phase: str
    name: str
    made: Truth
    value: Symbolic = None
    type: Type | None = None
    seat: Num | None = None
    to: tuple[Truth, ...] | None = None

    def seen_by(self, seat: int) -> Truth:
        return self.made if self.to is None else and_((self.made, self.to[seat]))

    @property
    def label(self) -> tuple[str, str, str]:
        return self.kind, self.phase, self.name


def could_be_same(a: Slot, b: Slot) -> bool:
    """Could the two be one and the same to somebody who sees them?"""
    if a.label != b.label or type(a.type) is not type(b.type):
        return False
    plain = a.seat is not None and b.seat is not None and isinstance(a.seat.value, int)
    if not plain or a.seat is None or b.seat is None or not isinstance(b.seat.value, int):
        return True
    return bool(a.seat.value == b.seat.value)


def same_content(a: Slot, b: Slot) -> Truth:
    """Do two observations that are made tell the same?"""
    if not could_be_same(a, b):
        return False
    parts = []
    if a.seat is not None and b.seat is not None:
        parts.append(equal(a.seat, b.seat))
    if a.value is not None:
        parts.append(same(a.value, b.value))
    return and_(parts)


def looks_same(ours: Sequence[Slot], theirs: Sequence[Slot], seat: int) -> Truth:
    """Does a seat see the same sequence in two runs?"""
    parts = []
    for here, there in _independent(_seen(ours, seat), _seen(theirs, seat)):
        if len(here) == len(there) == 1:
            parts.append(_one_looks_same(here[0], there[0]))
        else:
            parts.append(_sequences_same(here, there))
    return and_(parts)


def nothing_seen(slots: Sequence[Slot], seat: int) -> Truth:
    """Does a seat see nothing at all of a run?"""
    return and_(not_(slot.seen_by(seat)) for slot in slots)


def _seen(slots: Sequence[Slot], seat: int) -> list[Slot]:
    """What the seat may see, as something everybody sees: without who else does, which may be a secret itself."""
    seen = (replace(slot, made=slot.seen_by(seat), to=None) for slot in slots)
    return [slot for slot in seen if slot.made is not False]


def _one_looks_same(a: Slot, b: Slot) -> Truth:
    return and_((iff(a.made, b.made), implies(and_((a.made, b.made)), same_content(a, b))))


def _sequences_same(ours: Sequence[Slot], theirs: Sequence[Slot]) -> Truth:
    """The first of each that is made tells the same, and so do all that follow."""
    # row[k]: what is left of ours from here looks like what is left of theirs from k
    row: list[Truth] = [True]
    for b in reversed(theirs):
        row.append(and_((not_(b.made), row[-1])))
    row.reverse()
    for a in reversed(ours):
        new: list[Truth] = [and_((not_(a.made), row[-1]))]
        for k in range(len(theirs) - 1, -1, -1):
            both = and_((same_content(a, theirs[k]), row[k + 1]))
            new.append(choose(a.made, choose(theirs[k].made, both, new[-1]), row[k]))
        new.reverse()
        row = new
    return row[0]


Slots = Sequence[Slot]


def _independent(ours: Slots, theirs: Slots) -> list[tuple[Slots, Slots]]:
    """Both cut into parts that can be compared one by one, because nothing in one part could be mistaken for anything
    in another. Only where both list the same things in the same order; else the whole is one part.
    """
    alike = len(ours) == len(theirs) and all(map(could_be_same, ours, theirs))
    if not alike:
        return [(ours, theirs)]
    ends = list(range(len(ours)))  # for every slot: the last that could be mistaken for it
    for i, a in enumerate(ours):
        for k in range(len(ours) - 1, i, -1):
            if could_be_same(a, ours[k]) or could_be_same(a, theirs[k]) or could_be_same(theirs[i], ours[k]):
                ends[i] = k
                break
    parts: list[tuple[Slots, Slots]] = []
    start = 0
    while start < len(ours):
        end = start
        here = start
        while here <= end:
            end = max(end, ends[here])
            here += 1
        parts.append((ours[start : end + 1], theirs[start : end + 1]))
        start = end + 1
    return parts
