"""A record told to an inquiry, event by event.

`begin(record, ...)` is the inquiry before the first event, with what a seat knows of its own; `tell(inquiry, record,
event)` the inquiry after one more. Both leave what they were given as it was. An event that no game could contain
raises `RecordError` with the clause; one that fits no deal leaves no world.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from avalon_logic.configuration import describe_check
from avalon_logic.deduction.hearing import (
    listen,
    mentioned_variables,
    sentence,
    shown_to_somebody,
    speech_of,
)
from avalon_logic.deduction.inquiry import (
    Evidence,
    Heard,
    Inquiry,
    Spoken,
    Told,
    hear,
    hear_speech,
    note_sights,
    open_inquiry,
)
from avalon_logic.deduction.seats import (
    Sights,
    breaks_duty,
    card_of,
    card_shows,
    sights_in_deal,
    sights_told,
    whole_deal,
    with_duties,
)
from avalon_logic.deduction.setting import Setting, lay
from avalon_logic.deduction.sides import side_needs
from avalon_logic.fields import SAW
from avalon_logic.records import Event, Record, RecordError, winner_in
from rules_dsl import Model
from rules_dsl.arrays.belief import exhausted
from rules_dsl.arrays.follow import UnreadableRecord
from rules_dsl.arrays.visits import Visit


class IllegalEvent(RecordError):
    """An event that cannot come here by the rules, whatever the cards are. `cites` are the clauses it breaks."""

    def __init__(self, message: str, where: str, cites: tuple[str, ...]) -> None:
        self.cites = cites
        super().__init__(message, where)


DECK_CLAUSE = "CORE-02"  # without as many cards of each side as the rules say there is no game to speak of


def setting_of(record: Record, assumptions: Sequence[str] = ()) -> Setting:
    """The table a record speaks of; raises `RecordError` if its deck cannot be dealt."""
    setting = lay(record.configuration, record.names, assumptions)
    wrong = [c for c in setting.settled.errors if DECK_CLAUSE in c.origin.cites]
    if wrong:
        raise RecordError("; ".join(describe_check(c) for c in wrong))
    return setting


def begin(
    record: Record,
    setting: Setting,
    seat: str | None = None,
    role: str | None = None,
    saw: Sequence[str] | None = None,
) -> Inquiry:
    """Before the first event: for a seat with its card, and with whom it saw if that is known already."""
    kept = mentioned_variables(record, setting.model) | side_needs(setting)
    if seat is None:
        if role is not None or saw is not None:
            raise RecordError("a role and what was seen belong to a seat: say whose they are (--as NAME)")
        whole_deal(record, setting.model)
        return open_inquiry(setting, kept=kept)
    viewer = record.seat(seat)
    deal = whole_deal(record, setting.model)
    inquiry = open_inquiry(setting, viewer, card_of(record, setting, viewer, role), kept)
    if saw is not None:
        seats = frozenset(record.seat(name) for name in saw)
        return see(inquiry, {SAW: seats})
    if deal is not None and not any(
        sights_told(e, record, setting.model, viewer)
        for e in record.events
        if e.phase in setting.model.phases
    ):
        return see(inquiry, sights_in_deal(setting.model, deal, viewer))
    return inquiry


def see(inquiry: Inquiry, sights: Sights) -> Inquiry:
    """The inquiry after the viewer saw these seats at the reveal."""
    assert inquiry.viewer is not None
    names = inquiry.setting.names
    every = tuple(dict.fromkeys(show.name for _, show in card_shows(inquiry.setting.model)))
    seen = {(every if name == SAW else (name,)): seats for name, seats in sights.items()}
    if not every:
        seen = {}
    told = [
        ", ".join(n for s, n in enumerate(names) if s in seats) + ("" if name == SAW else f" ({name})")
        for name, seats in sights.items()
        if seats
    ]
    text = f"{names[inquiry.viewer]} saw at the reveal: {'; '.join(told) or 'nobody'}"
    if not seen:
        if told:
            raise RecordError("in this game nobody is shown anybody")
        return inquiry
    return note_sights(inquiry, seen, text)


def tell(inquiry: Inquiry, record: Record, event: Event) -> Inquiry:
    """The inquiry after one more event.

    Where the record does not say otherwise the game is taken to go on: nobody broke a duty in secret that ends it.
    """
    model = inquiry.setting.model
    if event.phase in model.speeches:
        values = speech_of(event, record, model)
        text = sentence(inquiry, event, record)
        if not inquiry.beliefs[0].possible:
            return _told_in_vain(inquiry, text, event)
        return hear_speech(inquiry, event.phase, values, text, event.where)
    deal = whole_deal(record, model)
    last = event is last_event(record, model)
    broken = last and breaks_duty(event, record, model)
    if deal is not None:
        event = with_duties(event, record, model, deal)
    visit = listen(event, record, model, inquiry.viewer)
    text = sentence(inquiry, event, record)
    if inquiry.viewer is not None:
        sights = sights_told(event, record, model, inquiry.viewer)
        if sights is not None:
            inquiry = see(inquiry, sights)
            if not _says_more(visit):
                return inquiry
    if not inquiry.beliefs[0].possible:
        return _told_in_vain(inquiry, text, event)
    visit = replace(visit, dutiful=not broken)
    inquiry = replace(inquiry, aside=(*inquiry.aside, *shown_to_somebody(inquiry, event, record)))
    try:
        told = hear(inquiry, visit, text, event.where)
    except UnreadableRecord as error:
        return _impossible(inquiry, visit, text, event, error)
    if last and not told.beliefs[0].possible:
        return _ended_by_breach(inquiry, visit, text, event) or told
    return told


def last_event(record: Record, model: Model) -> Event | None:
    """The last thing that happened, talk aside."""
    return next((e for e in reversed(record.events) if e.phase not in model.speeches), None)


def _ended_by_breach(inquiry: Inquiry, visit: Visit, text: str, event: Event) -> Inquiry | None:
    """What nobody who kept to his duties can have shown the viewer: one was broken, and that ended the game."""
    try:
        ended = hear(inquiry, replace(visit, dutiful=False), f"{text}, against a duty", event.where)
    except UnreadableRecord:
        return None
    return ended if ended.beliefs[0].possible else None


def _says_more(visit: Visit) -> bool:
    """Does an event say more than whom somebody saw?"""
    return bool(visit.told or visit.speakers or visit.after or visit.then or visit.leads or visit.result)


def contradict(inquiry: Inquiry, record: Record, event: Event) -> Inquiry:
    """The inquiry after an event that leaves no world."""
    visit = listen(event, record, inquiry.setting.model, inquiry.viewer)
    return _without_worlds(inquiry, visit, sentence(inquiry, event, record), event.where)


def finish(inquiry: Inquiry, record: Record) -> Inquiry:
    """The inquiry after the last event, when the record says who won: the last thing told is told again with that.

    If the game can have ended by then it ended so; where it goes on, the record breaks off before its end.
    """
    if record.winner is None or not record.events or not inquiry.beliefs[0].possible:
        return inquiry
    model = inquiry.setting.model
    result = winner_in(model, record)
    last = inquiry
    speeches: list[Spoken] = []
    while last.base is not None and isinstance(spoken := _last(last), Spoken):
        speeches.insert(0, spoken)
        last = last.base
    heard = _last(last)
    if last.base is None or not isinstance(heard, Heard):
        return _broken_off(inquiry, record.winner)
    text = f"{last.told[-1].text}; {record.winner} won"
    again = None
    if ends_by_breach(record, model):
        again = _ended(last, replace(heard.visit, result=(result,), due=False), text)
    if again is None or not again.beliefs[0].possible:
        again = _ended(last, replace(heard.visit, winner=(result,), due=False), text)
    if not any(belief.over for belief in again.beliefs) and again.count() == last.count():
        return _broken_off(inquiry, record.winner)
    whole = replace(again.told[-1], label=last.told[-1].label, before=last.told[-1].before)
    again = replace(again, told=(*last.told[:-1], whole))
    for speech, told in zip(speeches, inquiry.told[len(last.told) :], strict=True):
        again = hear_speech(again, speech.speech, speech.values, told.text, told.where)
    return again


def _ended(last: Inquiry, visit: Visit, text: str) -> Inquiry:
    """What was told last, told again with who won."""
    assert last.base is not None
    try:
        return hear(last.base, visit, text, last.told[-1].where)
    except UnreadableRecord:
        return _without_worlds(last.base, visit, text, last.told[-1].where)


def ends_by_breach(record: Record, model: Model) -> bool:
    """Did the last event end the game because a duty was broken in secret, if it can have?

    Where the record has all cards it says so itself; otherwise who won is taken to be said of this event.
    """
    event = last_event(record, model)
    if event is None or event.phase not in model.phases:
        return False
    secret = [c for c in model.phases[event.phase].choices if c.audience.kind != "public"]
    if not any(r.kind == "ought" for c in secret for r in c.requires):
        return False
    return whole_deal(record, model) is None or breaks_duty(event, record, model)


def _broken_off(inquiry: Inquiry, winner: str) -> Inquiry:
    """Who won tells nothing where the game goes on by the rules."""
    total = inquiry.count()
    text = f"{winner} won (left aside: the record breaks off before the end)"
    told = Told(len(inquiry.told), text, total, total, "winner")
    return replace(inquiry, told=(*inquiry.told, told), base=inquiry)


def _last(inquiry: Inquiry) -> Evidence | None:
    """The evidence of the last thing told, if there is one."""
    return next(iter(inquiry.told[-1].evidence), None) if inquiry.told else None


def _impossible(inquiry: Inquiry, visit: Visit, text: str, event: Event, error: UnreadableRecord) -> Inquiry:
    """What nobody can have seen is a contradiction; what nobody can have done in public is no part of a game."""
    assumed = {a.text for a in inquiry.setting.assumed()}
    if any(r.text in assumed for r in error.refusals):
        return _without_worlds(inquiry, visit, text, event.where)  # legal, but not what was assumed
    model = inquiry.setting.model
    secret = {c.variable for p in model.phases.values() for c in p.choices if c.audience.kind != "public"}
    bare = replace(
        visit,
        told={name: () if name in secret else seen for name, seen in visit.told.items()},
        after=tuple(o for o in visit.after if o.kind != "published"),
        then=(),
    )
    if (bare.told, bare.after, bare.then) != (visit.told, visit.after, visit.then):
        try:
            hear(inquiry, bare, text, event.where)
        except UnreadableRecord:
            pass
        else:
            return _without_worlds(inquiry, visit, text, event.where)
    clause = f" ({error.cites[0]})" if error.cites else ""
    hint = f"; write: {error.awaited[0]} ? if nobody noted it" if error.awaited else ""
    raise IllegalEvent(f"{error.message}{clause}{hint}", event.where, error.cites) from None


def _without_worlds(inquiry: Inquiry, visit: Visit, text: str, where: str) -> Inquiry:
    """The inquiry after something that no deal allows."""
    tour = inquiry.tour
    gone = replace(tour, beliefs=tuple(exhausted(b) for b in tour.beliefs[:1]))
    heard = Heard(replace(visit, index=len(inquiry.told)))
    told = Told(len(inquiry.told), text, inquiry.count(), 0, where, (heard,))
    return replace(inquiry, tour=gone, told=(*inquiry.told, told), base=inquiry)


def _told_in_vain(inquiry: Inquiry, text: str, event: Event) -> Inquiry:
    """Once no world is left nothing more can be learnt."""
    told = Told(len(inquiry.told), text, 0, 0, event.where)
    return replace(inquiry, told=(*inquiry.told, told), base=inquiry)
