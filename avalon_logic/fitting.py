"""Deals that fit a record in which the cards were not all written down: a record in, some of its possible deals out.

Where there are too many deals to play the record with each, the worlds that deduction leaves are the deals to try:
if the record is legal with one of them it is legal, and if deduction finds no deal at all for an event it is not.
"""

from __future__ import annotations

from dataclasses import dataclass

from avalon_logic.deduction.course import begin, setting_of, tell
from avalon_logic.deduction.facts import Fact
from avalon_logic.deduction.inquiry import Inquiry, suppose
from avalon_logic.records import Record, RecordError
from rules_dsl import Model, Value
from rules_dsl.arrays.answers import matrix
from rules_dsl.arrays.shapes import decode, known
from rules_dsl.types import OptionalType
from rules_dsl.values import all_values

MOST_ROWS = 4_000
MOST_TRIED = 24


@dataclass(frozen=True)
class Fitting:
    """Deals that fit the record as far as any does. `stopped` is the event that fits none, `results` what they lead to.

    `over` is None where some lead to an end and others do not.
    """

    deals: tuple[dict[str, str], ...]
    stopped: int | None
    results: frozenset[Value]
    over: bool | None


def fitting_deals(record: Record, model: Model) -> Fitting:
    """Some of the deals that fit the record as far as any does; raises `RecordError` if it cannot be read so far."""
    setting = setting_of(record)
    here = begin(record, setting)
    for name, role in record.deal.items():
        here = suppose(here, Fact(record.seat(name), role))
    stopped = None
    for number, event in enumerate(record.events, 1):
        try:
            after = tell(here, record, event)
        except RecordError:
            stopped = number
            break
        if not after.beliefs[0].possible:
            stopped = number
            break
        here = after
    rows = matrix(here.worlds(), MOST_ROWS)
    picked = rows[:: max(1, len(rows) // MOST_TRIED)][:MOST_TRIED]
    deals = tuple(
        {name: setting.roles[int(role)] for name, role in zip(record.names, row, strict=True)}
        for row in picked
    )
    ended = {b.over for b in here.beliefs if b.possible}
    return Fitting(deals, stopped, _results(here, model), ended.pop() if len(ended) == 1 else None)


def _results(inquiry: Inquiry, model: Model) -> frozenset[Value]:
    """What the deals that fit lead to; of what depends on the cards, every result there is."""
    type_ = OptionalType(model.result)
    found: set[Value] = set()
    for belief in inquiry.beliefs:
        if belief.possible and belief.over:
            if known(belief.result):
                found.add(decode(type_, belief.result))
            else:
                found |= set(all_values(model.result, model.players.count))
    return frozenset(found)
