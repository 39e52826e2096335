"""All viewers of one game followed together: what everybody hears alike is read once, not once for each of them.

`follow_together(record, setting, deal)` gives what `games.follow_each` finds by following each viewer alone, or None
where there is something to tell that takes the simple way: a deal that is excluded, an event that is not legal. The
simple way stays the judge, this one only saves time on games in which all is well.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from avalon_logic.deduction.course import ends_by_breach, finish, last_event, see, tell
from avalon_logic.deduction.hearing import listen, mentioned_variables, speech_of
from avalon_logic.deduction.inquiry import Inquiry, open_inquiry
from avalon_logic.deduction.seats import breaks_duty, card_of, sights_in_deal, sights_told, with_duties
from avalon_logic.deduction.setting import CARDS, Setting
from avalon_logic.deduction.sides import side_needs
from avalon_logic.fields import fields_of
from avalon_logic.records import Event, Record, RecordError, winner_in
from rules_dsl.arrays import Belief
from rules_dsl.arrays.answers import contains, count, worlds
from rules_dsl.arrays.follow import UnreadableRecord
from rules_dsl.arrays.shapes import known
from rules_dsl.arrays.visits import Tour, Visit, visit, visit_both

MOST_STARTS = 4_096
# a seat after the deal and the reveal, by game, seat, card, whom it saw, what is kept: many games begin alike
_STARTS: dict[tuple[object, ...], Tour] = {}


class _Apart(Exception):
    """This game must be followed for each viewer alone."""


def follow_together(record: Record, setting: Setting, deal: tuple[str, ...]) -> list[int] | None:
    """The deals left in the end for the observer and for every seat, if the true one always was among them."""
    if setting.assumptions:
        return None
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
        self.kept = mentioned_variables(record, setting.model) | side_needs(setting)
        self.final = last_event(record, setting.model)
        first = open_inquiry(setting, kept=self.kept).tour
        self.tours = [first, *(_sharing(first, self._start(seat)) for seat in range(len(deal)))]
        for tour in self.tours:
            self._check(tour)

    def _start(self, seat: int) -> Tour:
        """A seat after the deal, and the reveal if nobody wrote it down."""
        model = self.setting.model
        events = [e for e in self.record.events if e.phase in model.phases]
        told = any(sights_told(e, self.record, model, seat) for e in events)
        sights = tuple(sorted(sights_in_deal(model, self.deal, seat).items()))
        key = (self.setting.machine, seat, self.deal[seat], sights, told, self.kept)
        if key not in _STARTS:
            if len(_STARTS) >= MOST_STARTS:
                _STARTS.clear()
            card = card_of(self.record, self.setting, seat, None)
            inquiry = open_inquiry(self.setting, seat, card, self.kept)
            _STARTS[key] = (inquiry if told else see(inquiry, dict(sights))).tour
        return _STARTS[key]

    def _inquiry(self, viewer: int | None, tour: Tour) -> Inquiry:
        known_cards = {} if viewer is None else {viewer: self.deal[viewer]}
        return Inquiry(self.setting, viewer, tour, known=known_cards)

    def run(self) -> list[int]:
        events = self.record.events
        final = next((i for i, e in enumerate(events) if e is self.final), len(events))
        end = final if self._ends_apart() else len(events)
        at = 0
        while at < end:
            at += self._hear(events[at : min(at + 2, end)])
        if end == len(events):
            return [count(worlds(tour.current(), CARDS)) for tour in self.tours]
        counts: list[int] = []
        for viewer, tour in zip(self.viewers, self.tours, strict=True):
            inquiry = self._inquiry(viewer, tour)
            for event in events[end:]:
                inquiry = tell(inquiry, self.record, event)
            inquiry = finish(inquiry, self.record)
            self._check(inquiry.tour)
            counts.append(inquiry.count())
        return counts

    def _ends_apart(self) -> bool:
        """Must the last event be told to each viewer by itself, because who won may mean another thing for each?"""
        if self.final is None or self.record.winner is None:
            return False
        return self._tells_sights(self.final) or ends_by_breach(self.record, self.setting.model)

    def _hear(self, events: Sequence[Event]) -> int:
        """The next event, and the one after it if that came about by it; how many events were heard."""
        event = events[0]
        if event.phase in self.setting.model.speeches:
            speech_of(event, self.record, self.setting.model)  # talk binds nobody, but must make sense
            return 1
        if self._tells_sights(event):
            self._tell_each(event)
            return 1
        seen = self._listen(event)
        if len(events) > 1 and self._leads_to(seen, events[1]):
            more = self._listen(events[1])
            self.tours = [self._checked(visit_both(tour, seen, more)) for tour in self.tours]
            return 2
        observer = self.tours[0]
        after = self._visited(observer, seen)
        if _open(after, seen):
            change = _change(observer, after)
            self.tours[1:] = [
                _shared(observer, tour, change, seen) or self._visited(tour, seen) for tour in self.tours[1:]
            ]
            self.tours[0] = after
            return 1
        self.tours = [after, *(self._visited(tour, seen) for tour in self.tours[1:])]
        return 1

    def _listen(self, event: Event) -> Visit:
        """What all viewers hear of an event; of the last one together with who won (see `course.finish`)."""
        model = self.setting.model
        seen = listen(with_duties(event, self.record, model, self.deal), self.record, model, None)
        if event is not self.final:
            return seen
        if self.record.winner is not None:
            return replace(seen, winner=(winner_in(model, self.record),), due=False)
        return replace(seen, dutiful=not breaks_duty(event, self.record, model))

    def _leads_to(self, seen: Visit, event: Event) -> bool:
        """Does an event tell what came of secret choices? Then nothing is learnt from these alone, or is told again."""
        phases = self.setting.model.phases
        if seen.due or seen.phase not in phases or event.phase not in phases or self._tells_sights(event):
            return False
        secret = any(c.audience.kind != "public" for c in phases[seen.phase].choices)
        return secret and not phases[event.phase].choices

    def _tells_sights(self, event: Event) -> bool:
        """Does an event, or talk, say what seats were shown? Each of them hears something else of that."""
        if event.phase not in self.setting.model.phases:
            return True
        return any(
            spec.shown and spec.name in event.values for spec in fields_of(self.setting.model, event.phase)
        )

    def _tell_each(self, event: Event) -> None:
        made = [
            tell(self._inquiry(viewer, tour), self.record, event).tour
            for viewer, tour in zip(self.viewers, self.tours, strict=True)
        ]
        self.tours = [self._checked(made[0]), *(self._checked(_sharing(made[0], t)) for t in made[1:])]

    def _visited(self, tour: Tour, seen: Visit) -> Tour:
        return self._checked(visit(tour, seen))

    def _checked(self, tour: Tour) -> Tour:
        self._check(tour)
        return tour

    def _check(self, tour: Tour) -> None:
        if not contains(worlds(tour.current(), CARDS), self.held):
            raise _Apart


def _sharing(observer: Tour, own: Tour) -> Tour:
    """A seat's tour with the observer's variables: what the seat knows is left to its worlds alone, where it can be.

    That lets both have the same variables from here on. It can be done where the seat knows more of cards dealt only.
    """
    if len(observer.beliefs) != 1 or len(own.beliefs) != 1:
        return own
    (shared,), (belief,) = observer.beliefs, own.beliefs
    if not _same_place(shared, belief) or shared.values.keys() != belief.values.keys():
        return own
    there = {cell for table in belief.tables for cell in table.cells}
    for name, nest in shared.values.items():
        mine = belief.values[name]
        if mine == nest:
            continue
        if name not in belief.dealt or not isinstance(nest, tuple) or not isinstance(mine, tuple):
            return own
        if any(a != b and not (known(b) and a in there) for a, b in zip(nest, mine, strict=True)):
            return own
    return replace(own, beliefs=(replace(belief, values=shared.values),))


def _open(after: Tour, seen: Visit) -> bool:
    """Has everybody seen all of a visit, and was nothing passed by on the way that others may know more of?"""
    if after.strayed or seen.account:
        return False
    choices = after.machine.model.phases[seen.phase].choices
    return seen.due or (bool(choices) and all(c.audience.kind == "public" for c in choices))


def _change(before: Tour, after: Tour) -> Belief | None:
    """What became of the observer's only belief, if no world went and nothing else came to hang on the cards."""
    if after.base is not before.beliefs or len(before.beliefs) != 1 or len(after.beliefs) != 1:
        return None
    (old,), (new,) = before.beliefs, after.beliefs
    same = len(old.tables) == len(new.tables) and all(
        x is y for x, y in zip(old.tables, new.tables, strict=True)
    )
    return new if same and old.constraints == new.constraints else None


def _shared(observer: Tour, tour: Tour, change: Belief | None, seen: Visit) -> Tour | None:
    """A seat's tour after a visit that changed the observer's belief so; None if it must be followed by itself."""
    if change is None or len(tour.beliefs) != 1:
        return None
    (old,), (belief,) = observer.beliefs, tour.beliefs
    if not _same_place(old, belief) or (belief.values is not old.values and belief.values != old.values):
        return None
    now = replace(
        change, tables=belief.tables, constraints=belief.constraints, whole=belief.whole and change.whole
    )
    return Tour(tour.machine, tour.viewer, (now,), tour.beliefs, (seen,), kept=tour.kept)


def _same_place(one: Belief, other: Belief) -> bool:
    """Are two beliefs the same, but for what is known of the variables and the worlds?"""
    return (one.point, one.over, one.result, one.dealt, one.forks, one.fresh, one.passed, one.kept) == (
        other.point,
        other.over,
        other.result,
        other.dealt,
        other.forks,
        other.fresh,
        other.passed,
        other.kept,
    )
