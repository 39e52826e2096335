"""Many recorded games at once: did the true deal stay possible after every event, for everybody at the table?

`follow_game(record)` answers for one game with its deal written down. A deal that the rules exclude is a fault of the
record (or of ours), and the answer says which event excludes it and why.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from avalon_logic.deduction.course import IllegalEvent, begin, finish, last_event, setting_of, tell
from avalon_logic.deduction.facts import Fact
from avalon_logic.deduction.inquiry import Inquiry, suppose
from avalon_logic.deduction.refusal import fault_of, refusal
from avalon_logic.deduction.seats import whole_deal
from avalon_logic.deduction.setting import Setting
from avalon_logic.deduction.together import follow_together
from avalon_logic.deduction.why import Explanation, explain
from avalon_logic.records import Record, RecordError
from rules_dsl.arrays.answers import contains

OBSERVER = "observer"


@dataclass(frozen=True)
class Sighting:
    """How one viewer fared: worlds left in the end, and the event that excluded the true deal, if any did."""

    viewer: str
    worlds: int
    excluded: str | None = None  # what was told
    where: str = ""


@dataclass(frozen=True, eq=False)
class Verdict:
    """What became of one game. `illegal` says why it could not be followed to its end."""

    record: Record
    sightings: tuple[Sighting, ...]
    illegal: str | None = None
    explanation: Explanation | None = None

    @property
    def sound(self) -> bool:
        """Did the true deal stay possible for everybody, to the end?"""
        return self.illegal is None and all(s.excluded is None for s in self.sightings)

    def to_json(self) -> dict[str, Any]:
        """The verdict as plain JSON."""
        return {
            "id": self.record.title,
            "sound": self.sound,
            "events": len(self.record.events),
            "illegal": self.illegal,
            "rulings": dict(self.record.configuration.rulings),
            "adopted": dict(self.record.adopted),
            "unused": list(self.record.unused),
            "viewers": {
                s.viewer: {"worlds": s.worlds, "excluded": s.excluded, "where": s.where}
                for s in self.sightings
            },
            "explanation": None if self.explanation is None else self.explanation.to_json(),
        }


def follow_game(record: Record) -> Verdict:
    """Follows a game for the neutral observer and for every seat; raises `RecordError` without the whole deal."""
    setting = setting_of(record)
    deal = _whole_deal(record, setting)
    counts = follow_together(record, setting, deal)
    if counts is None:
        return follow_each(record)
    viewers = (OBSERVER, *record.names)
    sightings = tuple(Sighting(v, n) for v, n in zip(viewers, counts, strict=True))
    return Verdict(record, sightings, _broken_unseen(record))


def _broken_unseen(record: Record) -> str | None:
    """A rule that is broken where no viewer can tell, such as by what others did in secret."""
    fault = fault_of(record)
    return None if fault is None else str(fault)


def _whole_deal(record: Record, setting: Setting) -> tuple[str, ...]:
    deal = whole_deal(record, setting.model)
    if deal is None:
        raise RecordError("the whole deal must be written down to see whether it stays possible")
    return deal


def follow_each(record: Record) -> Verdict:
    """The same, each viewer followed alone: the simple way, which also says what excludes a deal and why."""
    setting = setting_of(record)
    deal = _whole_deal(record, setting)
    sightings: list[Sighting] = []
    fault: IllegalEvent | None = None
    for viewer in (None, *record.names):
        try:
            sightings.append(_sighting(record, setting, deal, viewer))
        except IllegalEvent as error:  # no deal at all explains it
            fault = fault or refusal(record, len(record.events), error)
            sightings.append(Sighting(viewer or OBSERVER, 0, str(fault), fault.where))
    faulty = fault is None and any(s.excluded is not None for s in sightings)
    illegal = str(fault) if fault is not None else None if faulty else _broken_unseen(record)
    return Verdict(record, tuple(sightings), illegal, exclusion(record, setting, deal) if faulty else None)


def course(record: Record, setting: Setting, viewer: str | None) -> Iterator[Inquiry]:
    """The inquiry of a viewer before the first event and after each; the last, and talk after it, with who won."""
    inquiry = begin(record, setting, viewer)
    yield inquiry
    last = last_event(record, setting.model)
    ended = False
    for event in record.events:
        inquiry = tell(inquiry, record, event)
        ended = ended or event is last
        yield finish(inquiry, record) if ended else inquiry


def _sighting(record: Record, setting: Setting, deal: tuple[str, ...], viewer: str | None) -> Sighting:
    held = [setting.roles.index(role) for role in deal]
    excluded: str | None = None
    where = ""
    for inquiry in course(record, setting, viewer):
        if excluded is None and not contains(inquiry.worlds(), held):
            excluded = inquiry.told[-1].text if inquiry.told else "the deck"
            where = inquiry.told[-1].where if inquiry.told else ""
    return Sighting(viewer or OBSERVER, inquiry.count(), excluded, where)


def exclusion(record: Record, setting: Setting, deal: tuple[str, ...]) -> Explanation | None:
    """Why a deal cannot have been the true one, from what everybody could see; None if it can."""
    *_, inquiry = course(record, setting, None)
    for seat, role in enumerate(deal):
        inquiry = suppose(inquiry, Fact(seat, role))
    return None if inquiry.count() else explain(inquiry, None)
