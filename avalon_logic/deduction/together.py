"""All viewers of one game followed together: what everybody hears alike is read once, not once for each of them.

`follow_together(record, setting, deal)` gives what `games.follow_game` finds by following each viewer alone, or None
where there is something to tell that takes the simple way: a deal that is excluded, an event that is not legal. The
simple way stays the judge, this one only saves time on games in which all is well.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from avalon_logic.deduction.course import begin, finish, see, tell
from avalon_logic.deduction.hearing import Hearing, listen
from avalon_logic.deduction.inquiry import Inquiry, open_inquiry
from avalon_logic.deduction.seats import card_shows, sights_in_deal, sights_told, with_duties
from avalon_logic.deduction.setting import CARDS, Setting
from avalon_logic.records import SAW, Event, Record, RecordError, fields_of
from rules_dsl.arrays import Belief
from rules_dsl.arrays.answers import contains, worlds
from rules_dsl.arrays.follow import SAID, Clump, Follower, UnreadableRecord, follow
from rules_dsl.arrays.worlds import Table

MOST_STARTS = 4_096
# the worlds of a seat after the reveal, by game, seat, card and whom it saw: many games begin alike
_STARTS: dict[tuple[object, ...], tuple[Table, ...]] = {}


class _Apart(Exception):
    """This game must be followed for each viewer alone."""


def follow_together(record: Record, setting: Setting, deal: tuple[str, ...]) -> list[int] | None:
    """The deals left in the end for the observer and for every seat, if the true one always was among them."""
    try:
        return _Company(record, setting, deal).run()
    except (_Apart, RecordError, UnreadableRecord, ValueError):
        return None


class _Company:
    """The observer and all seats, each with what it can conclude so far."""

    def __init__(self, record: Record, setting: Setting, deal: tuple[str, ...]) -> None:
        self.record = record
        self.setting = setting
        self.deal = deal
        self.held = [setting.roles.index(role) for role in deal]
        self.viewers: tuple[int | None, ...] = (None, *range(len(deal)))
        events = [e for e in record.events if e.phase in setting.model.phases]
        self.told = [
            any(sights_told(e, record, setting.model, s) for e in events) for s in range(len(deal))
        ]  # whose account of the reveal is in the record
        first = open_inquiry(setting)
        self.followers = [first.follower, *(self._start(first, seat) for seat in range(len(deal)))]

    def _start(self, first: Inquiry, seat: int) -> Follower:
        """A seat after the deal, and the reveal if nobody wrote it down.

        What it knows is put into its worlds alone, not into the variables, so that all viewers share these.
        """
        (shared,) = first.beliefs
        sights = sights_in_deal(self.setting.model, self.deal, seat)
        key = (self.setting.machine, seat, self.deal[seat], tuple(sorted(sights.items())), self.told[seat])
        tables = _STARTS.get(key)
        if tables is None:
            (own,) = begin(self.record, self.setting, self.record.names[seat]).beliefs
            if len(_STARTS) >= MOST_STARTS:
                _STARTS.clear()
            tables = _STARTS[key] = own.tables
        return Follower(((replace(shared, tables=tables), ()),), seat)

    def _inquiry(self, viewer: int | None, follower: Follower) -> Inquiry:
        known = {} if viewer is None else {viewer: self.deal[viewer]}
        return Inquiry(self.setting, viewer, follower, known=known)

    def run(self) -> list[int]:
        events = self.record.events
        last = self._last_choice()
        at = 0
        while at < last:
            at += self._hear(events[at : min(at + 2, last)])
        counts: list[int] = []
        for viewer, follower in zip(self.viewers, self.followers, strict=True):
            inquiry = self._inquiry(viewer, follower)
            for event in events[last:]:
                inquiry = tell(inquiry, self.record, event)
                self._check(inquiry.follower)
            inquiry = finish(inquiry, self.record)
            self._check(inquiry.follower)
            counts.append(inquiry.count())
        return counts

    def _last_choice(self) -> int:
        """The number of the event with the last choice: how a game ended is told together with that."""
        model = self.setting.model
        for at in reversed(range(len(self.record.events))):
            phase = model.phases.get(self.record.events[at].phase)
            if phase is not None and phase.choices:
                return at
        return 0

    def _hear(self, events: Sequence[Event]) -> int:
        """The next event, with what became known of it if that is the next one; how many events that were."""
        first = self._heard(events[0])
        pieces = first.pieces
        joined = False
        if len(events) > 1 and pieces[-1].kind == "choice" and not first.joins:
            after = self._heard(events[1])
            joined = after.joins
            if joined:
                (more,), end = after.pieces, pieces[-1]
                whole = replace(end, after=(*end.after, *more.after), silent=end.silent and more.silent)
                if more.given or end.then:
                    raise _Apart
                pieces = (*pieces[:-1], replace(whole, then=more.then))
        for piece in pieces:
            self._follow(piece)
        for event in events[: 1 + joined]:
            self._see(event)
        return 1 + joined

    def _heard(self, event: Event) -> Hearing:
        """What all viewers hear of an event."""
        model = self.setting.model
        filled = with_duties(event, self.record, model, self.deal)
        return listen(filled, self.record, model, None)

    def _see(self, event: Event) -> None:
        """Whom seats saw at the reveal by their own account; other things shown are not heard by all alike."""
        model = self.setting.model
        if event.phase not in model.phases:
            return
        told = {spec.name for spec in fields_of(model, event.phase) if spec.shown} & set(event.values)
        if not told:
            return
        if not told <= {SAW, *(show.name for phase, show in card_shows(model) if phase == event.phase)}:
            raise _Apart
        for seat in range(len(self.deal)):
            sights = sights_told(event, self.record, model, seat)
            if sights is not None:
                (belief, owed), *others = self.followers[seat + 1].beliefs
                own = see(self._inquiry(seat, self.followers[seat + 1]), sights).beliefs[0]
                if others:
                    raise _Apart
                knowing = replace(belief, tables=own.tables)
                self.followers[seat + 1] = Follower(((knowing, owed),), seat)

    def _follow(self, piece: Clump) -> None:
        """One more piece of the record. What tells the observer nothing of the cards tells the same to all."""
        observer = self.followers[0]
        after = follow(observer, piece)
        self._check(after)
        change = _change(observer, after) if self._open(piece) else None
        made = [after]
        for follower in self.followers[1:]:
            shared = _shared(observer, follower, change)
            if shared is None:
                shared = follow(follower, piece)
                self._check(shared)
            made.append(shared)
        self.followers = made

    def _open(self, piece: Clump) -> bool:
        """Does everybody see all of a piece?"""
        if piece.kind == SAID:
            return True
        choices = [
            c for p in self.setting.model.phases.values() for c in p.choices if c.variable == piece.name
        ]
        return piece.silent and bool(choices) and all(c.audience.kind == "public" for c in choices)

    def _check(self, follower: Follower) -> None:
        if not contains(worlds(follower.current(), CARDS), self.held):
            raise _Apart


def _change(before: Follower, after: Follower) -> Belief | None:
    """What became of the observer's only belief, if no world went and nothing else came to hang on the cards."""
    if len(before.beliefs) != 1 or len(after.beliefs) != 1:
        return None
    (old, owed), (new, left) = before.beliefs[0], after.beliefs[0]
    same = len(old.tables) == len(new.tables) and all(
        x is y for x, y in zip(old.tables, new.tables, strict=True)
    )
    return new if same and not owed and not left and old.constraints == new.constraints else None


def _shared(observer: Follower, follower: Follower, change: Belief | None) -> Follower | None:
    """A seat's follower after a piece that changed the observer's belief so; None if it must be followed by itself."""
    if change is None or len(follower.beliefs) != 1:
        return None
    old = observer.beliefs[0][0]
    belief, owed = follower.beliefs[0]
    alike = (belief.point, belief.over, belief.result, belief.dealt) == (
        old.point,
        old.over,
        old.result,
        old.dealt,
    )
    if not alike or owed or (belief.values is not old.values and belief.values != old.values):
        return None
    now = replace(
        belief,
        point=change.point,
        values=change.values,
        over=change.over,
        result=change.result,
        met=change.met,
        forks=change.forks,
    )
    return Follower(((now, ()),), follower.viewer)
