"""A deduction that grows with its record: what was told stays told, and only what was added is told next.

`start` begins one for a record, `extend` goes on with the same record once it has more events, `answer` gives the
result. A game typed line by line costs as much as the whole record read once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from avalon_logic.deduction.course import IllegalEvent, begin, contradict, finish, setting_of, tell
from avalon_logic.deduction.facts import parse_fact
from avalon_logic.deduction.hearing import mentioned_variables
from avalon_logic.deduction.inquiry import Inquiry, note_sights, suppose
from avalon_logic.deduction.refusal import refusal
from avalon_logic.deduction.result import Result, conclude
from avalon_logic.deduction.seats import card_shows, sights_told, whole_deal
from avalon_logic.records import Event, Record, RecordError, remarks
from rules_dsl import Model

MOST_EVENTS = 2_000  # a game has at most 25 votes; the rest is talk


@dataclass(frozen=True, eq=False)
class Underway:
    """A deduction as far as a record was told. `event` was told last, `earlier` is the deduction before it."""

    inquiry: Inquiry
    seat: str | None = None
    role: str | None = None
    saw: tuple[str, ...] | None = None
    assume: tuple[str, ...] = ()
    number: int = 0
    event: Event | None = None
    earlier: Underway | None = None


def start(
    record: Record,
    seat: str | None = None,
    *,
    role: str | None = None,
    saw: Sequence[str] | None = None,
    assume: Sequence[str] = (),
) -> Underway:
    """Before the first event; raises `RecordError` for a record that is too long or cannot be dealt."""
    _check_length(record)
    setting = setting_of(record, assume)
    seen = None if saw is None else tuple(saw)
    return Underway(begin(record, setting, seat, role, saw), seat, role, seen, tuple(assume))


def extend(underway: Underway, record: Record) -> Underway:
    """The deduction after every event of the record, of which some may have been told already."""
    _check_length(record)
    here = underway
    while here.earlier is not None and (
        here.number > len(record.events) or record.events[here.number - 1] is not here.event
    ):
        here = here.earlier
    here = _before_an_end(here, record)
    if _tells_of_sights(here, record) or _mentions_more(here, record):
        here = start(record, here.seat, role=here.role, saw=here.saw, assume=here.assume)
    for number in range(here.number + 1, len(record.events) + 1):
        event = record.events[number - 1]
        try:
            inquiry = tell(here.inquiry, record, event)
        except IllegalEvent as error:
            if not here.assume:
                raise refusal(record, number, error) from None
            extend(start(record, here.seat, role=here.role, saw=here.saw), _cut(record, number))
            inquiry = contradict(here.inquiry, record, event)  # legal, but not if the assumptions hold
        here = replace(here, inquiry=inquiry, number=number, event=event, earlier=here)
    return here


def answer(underway: Underway, record: Record, if_: Sequence[str] = ()) -> Result:
    """What can be concluded from the record, all of which was told."""
    setting = underway.inquiry.setting
    facts = [parse_fact(text, setting) for text in if_]
    inquiry = finish(underway.inquiry, record)
    notes = [*_notes(inquiry, record, underway.saw is not None), *remarks(record), *inquiry.aside]
    for fact in facts:
        inquiry = suppose(inquiry, fact)
    return conclude(inquiry, record, if_, notes)


def _check_length(record: Record) -> None:
    if len(record.events) > MOST_EVENTS:
        raise RecordError(f"this record has {len(record.events):,} events; {MOST_EVENTS:,} is the most")


def _cut(record: Record, number: int) -> Record:
    return replace(record, events=record.events[:number])


def _before_an_end(underway: Underway, record: Record) -> Underway:
    """The deduction before an event that may have ended the game, if the record now has it go on."""
    speeches = underway.inquiry.setting.model.speeches
    goes_on = any(event.phase not in speeches for event in record.events[underway.number :])
    here = underway
    if goes_on and any(belief.over for belief in here.inquiry.beliefs):
        while here.earlier is not None and here.event is not None:
            talk = here.event.phase in speeches
            here = here.earlier
            if not talk:
                break
    return here


def _mentions_more(underway: Underway, record: Record) -> bool:
    """Does the record speak of variables now that were not kept track of, as no rule reads them any more?"""
    kept = underway.inquiry.beliefs[0].kept
    return underway.number > 0 and not mentioned_variables(record, underway.inquiry.setting.model) <= kept


def _tells_of_sights(underway: Underway, record: Record) -> bool:
    """Does the seat tell whom it saw only now, after this had been taken from the deal written down?"""
    viewer, model = underway.inquiry.viewer, underway.inquiry.setting.model
    if viewer is None or underway.number == 0 or whole_deal(record, model) is None:
        return False
    before, after = record.events[: underway.number], record.events[underway.number :]
    return any(_tells(e, record, viewer, model) for e in after) and not any(
        _tells(e, record, viewer, model) for e in before
    )


def _tells(event: Event, record: Record, viewer: int, model: Model) -> bool:
    return event.phase in model.phases and sights_told(event, record, model, viewer) is not None


def _notes(inquiry: Inquiry, record: Record, seen: bool) -> list[str]:
    """Says if nobody wrote down whom the seat saw although it matters."""
    model, viewer = inquiry.setting.model, inquiry.viewer
    if viewer is None or seen or whole_deal(record, model) is not None:
        return []
    if any(_tells(e, record, viewer, model) for e in record.events):
        return []
    every = tuple(dict.fromkeys(show.name for _, show in card_shows(model)))
    if not every or note_sights(inquiry, {every: frozenset()}, "").count() == inquiry.count():
        return []
    name = record.names[viewer]
    return [
        f"whom {name} saw at the reveal is not written down; add --saw NAMES (or nobody), or: reveal {name}=NAME+NAME"
    ]
