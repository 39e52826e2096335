"""Follows a record through the phases visit by visit: what was written down about a visit in, the beliefs after it out.

A record speaks of visits in the order in which they came, each the next of its phase; it may leave visits out, and of
the others say as much as it likes. So whether a phase was visited in passing, without a choice of anybody, is known
only once the record comes to speak of it: then the visits since the last choice are read again, together. (A sequence
of everything somebody saw is followed by `follow`.)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from rules_dsl import model as m
from rules_dsl.arrays.belief import (
    Belief,
    advance,
    balanced,
    begin,
    begin_seeing,
    grant,
    settled_columns,
)
from rules_dsl.arrays.event import Event, Mention, Refusal, Seen
from rules_dsl.arrays.follow import Faults, awaited_choice, event_of, passable, sure_who_sees
from rules_dsl.arrays.program import Point
from rules_dsl.arrays.run import Machine, mentioned
from rules_dsl.arrays.scene import Scene, leaf
from rules_dsl.flow import passing_cites
from rules_dsl.model import Value
from rules_dsl.play import Observation


@dataclass(frozen=True, slots=True, eq=False)
class Visit:
    """What is known of one visit of a phase.

    `told` are the choices known to have been made and what was seen of them (a seat that is None: whose is not known),
    `speakers` who made
    a choice of which no more is known. `after` is what the visit published and showed, and in what order if that is the
    same thing twice; `account` says that it is all the viewer was shown. `given` holds on entering, `then` when the next
    choice is due, one of `leads` is visited by then, and `result` is how the game ends by it. `winner` is how it ends by
    it or later, by more that is not told. `due`: it is only said
    that the visit has come to where somebody must choose. `dutiful` takes it that nobody ended the game by breaking a duty
    in secret, where nothing is said of its end.
    """

    index: int
    phase: str
    told: Mapping[str, tuple[Observation, ...]] = field(default_factory=dict)
    speakers: Mapping[str, int] = field(default_factory=dict)
    after: tuple[Seen, ...] = ()
    account: bool = False
    given: tuple[Mention, ...] = ()
    then: tuple[Mention, ...] = ()
    leads: str | None = None
    result: tuple[Value, ...] = ()
    winner: tuple[Value, ...] = ()
    due: bool = False
    dutiful: bool = True

    def things(self, viewer: int | None) -> tuple[Seen, ...]:
        """What comes about in the visit and by it, in order, its beginning first."""
        accounted = frozenset({viewer} if self.account and viewer is not None else ())
        entered = Seen("phase", self.phase, claims=True, given=self.given, account=accounted)
        leads = () if self.leads is None else (Seen("phase", self.leads),)
        return (entered, *self.after, *leads)

    def speaks_of(self, choice: m.Choice) -> bool:
        return choice.variable in self.told or choice.variable in self.speakers

    def binds(self, choice: m.Choice, viewer: int | None) -> bool:
        """Does the viewer know from this that the choice was made?"""
        if choice.audience.kind == "public":
            return self.speaks_of(choice)
        return any(o.seat == viewer for o in self.told.get(choice.variable, ()) if o.seat is not None)

    def waits(
        self, choices: Sequence[m.Choice], viewer: int | None, may_see: Callable[[m.Choice, int | None], bool]
    ) -> bool:
        """Does the viewer know more of the visit than that it came to the first of these choices?

        What others chose out of his sight is nothing to him, or his answers would tell of it.
        """
        ends = bool(self.result or self.winner)
        return self.account or ends or any(self._heard(c, viewer, may_see) for c in choices)

    def _heard(
        self, choice: m.Choice, viewer: int | None, may_see: Callable[[m.Choice, int | None], bool]
    ) -> bool:
        if choice.audience.kind == "public":
            return choice.chooser.kind != "chance" or self.speaks_of(choice)
        told = self.told.get(choice.variable)
        if told is None:
            return False
        return not told or (
            viewer is not None and any(o.seat == viewer or may_see(choice, o.seat) for o in told)
        )


def own_secret(choice: m.Choice, seat: int | None) -> bool:
    """Does nobody but the one player who makes a choice see it, and the record does not say who that was?"""
    return (
        seat is None
        and choice.chooser.kind == "player"
        and choice.audience.kind == "to"
        and choice.audience.to is None
    )


Note = Callable[[Belief], Belief]  # something that became known besides the course of the game


@dataclass(frozen=True, slots=True, eq=False)
class Tour:
    """Beliefs, and how they came about since nothing could be passed by any more.

    `beliefs` are those after reading `visits` from `base` (None: from before the game) and then taking `notes`.
    """

    machine: Machine
    viewer: int | None
    beliefs: tuple[Belief, ...]
    base: tuple[Belief, ...] | None = None
    visits: tuple[Visit, ...] = ()
    notes: tuple[Note, ...] = ()
    kept: frozenset[str] = frozenset()  # variables that are kept track of although no rule may read them
    strayed: bool = False  # were choices passed by that nothing was said of, in reading the last visits?

    def current(self) -> tuple[Belief, ...]:
        """The beliefs with a world left, or one without if there is none."""
        return tuple(b for b in self.beliefs if b.possible) or self.beliefs[:1]


def tour_from(machine: Machine, viewer: int | None, kept: frozenset[str] = frozenset()) -> Tour:
    """Before the record starts. `kept` are variables that it speaks of, to keep track of in any case."""
    return Tour(machine, viewer, (begin(machine, kept),), kept=kept)


def noted(tour: Tour, note: Note) -> Tour:
    """The beliefs after something became known besides the course of the game."""
    found = tuple(note(b) for b in tour.beliefs)
    alive = tuple(b for b in found if b.possible) or found[:1]
    return replace(tour, beliefs=tuple(balanced(list(alive))), notes=(*tour.notes, note))


def visit(tour: Tour, seen: Visit) -> Tour:
    """The beliefs after a visit; raises `UnreadableRecord` if it cannot come here whatever is unknown."""
    if passed_by(tour, seen):
        return _read(tour, tour.base, (*tour.visits, seen), tour.notes)
    return _read(tour, tour.beliefs, (seen,), ())


def visit_both(tour: Tour, first: Visit, second: Visit) -> Tour:
    """The beliefs after two visits, of which the second comes about by what is chosen in the first, read at once."""
    if passed_by(tour, first):
        return visit(visit(tour, first), second)
    return _read(tour, tour.beliefs, (first, second), ())


def passed_by(tour: Tour, seen: Visit) -> bool:
    """Can this be a visit of a phase that was passed by since the last visit that the record spoke of?"""
    return any(seen.phase in b.passed for b in tour.beliefs)


def _read(
    tour: Tour, base: tuple[Belief, ...] | None, visits: tuple[Visit, ...], notes: tuple[Note, ...]
) -> Tour:
    faults, seen = Faults(), visits[-1]
    reader = _Reader(tour.viewer, faults, tour.kept)
    found = list(reader.read(tour.machine, base, visits))
    if not found:
        raise faults.refusal(seen.index, seen.phase, f"'{seen.phase}'")
    for note in notes:
        found = [note(b) for b in found]
    alive = [b for b in found if b.possible] or found[:1]
    made = tuple(balanced(alive))
    return Tour(tour.machine, tour.viewer, made, base, visits, notes, tour.kept, reader.strayed)


@dataclass(slots=True)
class _Reader:
    """Reads some visits together. `left` is always what has not come about yet, of the visit being read and those after."""

    viewer: int | None
    faults: Faults
    kept: frozenset[str]
    visits: tuple[Visit, ...] = ()
    passing: int = 0  # how many choices have been passed by one after the other
    strayed: bool = False  # has any been passed by?

    def read(
        self, machine: Machine, base: tuple[Belief, ...] | None, visits: tuple[Visit, ...]
    ) -> Iterator[Belief]:
        self.visits = visits
        things = tuple(t for v in visits for t in v.things(self.viewer))
        if base is not None:
            for belief in base:
                yield from self._reach(belief, 0, things)
            return
        change = begin_seeing(machine, Event(after=things), self.kept)
        self.faults.refusals += change.refusals
        for belief in change.beliefs:
            yield from self._after(belief, -1, 0, self._unmet(belief, things))

    def _unmet(self, belief: Belief, things: tuple[Seen, ...]) -> tuple[Seen, ...]:
        return tuple(t for i, t in enumerate(things) if i not in belief.met)

    def _after(self, belief: Belief, at: int, step: int, left: tuple[Seen, ...]) -> Iterator[Belief]:
        """On after a choice: `at` is the visit that was being read, `step` the first of its choices not made yet."""
        now = len(self.visits) - 1 - sum(t.claims for t in left)
        for number in range(max(at, 0), now):  # these are over
            if not self._nobody_had(belief, number, step if number == at else 0, None):
                return
        if now == at or now < 0:
            yield from self._go_on(belief, at, step, left) if at >= 0 else self._reach(belief, 0, left)
        else:
            yield from self._go_on(belief, now, 0, left)

    def _reach(self, belief: Belief, number: int, left: tuple[Seen, ...]) -> Iterator[Belief]:
        """Passes by choices that need no line in a record, up to a visit."""
        seen = self.visits[number]
        choice = awaited_choice(belief)
        if choice is None or belief.point is None:
            return
        if belief.fresh and belief.point[0] == seen.phase:
            given = self._given(belief, seen)
            if given is None:
                return
            if seen.due and number == len(self.visits) - 1:
                yield given
                return
            begun = replace(given, fresh=False, passed=frozenset())
            entered = next(t for t in left if t.claims)
            yield from self._go_on(begun, number, 0, tuple(t for t in left if t is not entered))
            return
        if not passable(choice):
            self.faults.wait(belief, choice)
            return
        yield from self._pass_by(belief, number - 1, left)

    def _pass_by(self, belief: Belief, at: int, left: tuple[Seen, ...]) -> Iterator[Belief]:
        """One choice that nothing is said of, after a visit that is over."""
        over = len(belief.machine.model.phases[self.visits[at].phase].choices) if at >= 0 else 0
        event = replace(event_of(belief, (), self.viewer), viewers=frozenset(), throughout=False)
        self.passing += 1
        self.strayed = True
        for now, still in self._step(belief, event, left):
            if not now.possible and self.passing > 2 * len(belief.machine.model.phases):
                yield now  # choices nobody sees may go round in a circle, and nothing is left to learn from that
            else:
                yield from self._after(now, at, over, still)
        self.passing -= 1

    def _go_on(self, belief: Belief, number: int, step: int, left: tuple[Seen, ...]) -> Iterator[Belief]:
        """On in a visit that has begun; it may be over already."""
        seen, last = self.visits[number], number == len(self.visits) - 1
        inside = belief.point is not None and belief.point[0] == seen.phase and not belief.fresh
        here = belief.point[1] if inside and belief.point is not None else None
        if not self._nobody_had(belief, number, step, here):
            return
        if here is None:
            if not last:
                yield from self._reach(belief, number + 1, left)
            elif not left and (belief.over or not (seen.result or seen.winner)):
                yield belief
            elif not left and not seen.result:
                yield from self._to_the_end(belief)
            else:
                yield from self._settle(belief, number, left)
            return
        choices = belief.machine.model.phases[seen.phase].choices[here:]
        if seen.due and last and not left:
            yield replace(belief, fresh=True)
            return
        if last and not left and not seen.waits(choices, self.viewer, partial(self._may_see, belief)):
            yield belief
            return
        told = self._chosen(belief, choices[0], seen)
        for sure, visible in sure_who_sees(belief, told, seen.index, self.viewer):
            viewers = frozenset({self.viewer} if seen.account and self.viewer is not None else ())
            event = replace(event_of(sure, visible, self.viewer), viewers=viewers, throughout=False)
            if choices[0].variable in seen.speakers and choices[0].audience.kind == "public":
                event = replace(event, speaker=seen.speakers[choices[0].variable])
            for now, still in self._step(sure, event, left):
                yield from self._after(now, number, here + 1, still)

    def _may_see(self, belief: Belief, choice: m.Choice, seat: int | None) -> bool:
        """Can the viewer be among those who see a choice?"""
        formulas, scene = belief.machine.program.formulas, Scene(belief.values)
        try:
            if own_secret(choice, seat):
                assert choice.chooser.who is not None
                return formulas.value(choice.chooser.who)(scene) == self.viewer
            if choice.audience.to is None or self.viewer is None:
                return False
            if choice.chooser.seat:
                scene = scene.bind(**{choice.chooser.seat: -1 if seat is None else seat})
            members = formulas.value(choice.audience.to)(scene)
            assert isinstance(members, tuple)
            return leaf(members[self.viewer]) is not False
        except KeyError:
            return True  # it hangs on what is not kept track of before choices that come first

    def _chosen(self, belief: Belief, choice: m.Choice, seen: Visit) -> tuple[Observation, ...]:
        """What was written down about a choice; with its seat, where only who made it can have told."""
        told = seen.told.get(choice.variable, ())
        if not told or not own_secret(choice, told[0].seat):
            return told
        assert choice.chooser.who is not None
        who = belief.machine.program.formulas.value(choice.chooser.who)(Scene(belief.values))
        return (replace(told[0], seat=who),) if isinstance(who, int) else told

    def _settle(self, belief: Belief, number: int, left: tuple[Seen, ...]) -> Iterator[Belief]:
        """Passes choices by until what a visit led to has come about."""
        choice = awaited_choice(belief)
        if choice is None or not passable(choice):
            self.faults.miss(belief, left or (Seen("result", ""),))
            return
        yield from self._pass_by(belief, number, left)

    def _to_the_end(self, belief: Belief) -> Iterator[Belief]:
        """On by choices that nobody sees; where somebody must choose in the open, what comes may not have been told."""
        self.strayed = True
        work = [(belief, frozenset[Point]())]
        while work:
            here, passed = work.pop()
            choice = awaited_choice(here)
            if choice is None or here.point is None or here.point in passed or not passable(choice):
                yield here
            else:
                event = replace(event_of(here, (), self.viewer), viewers=frozenset(), throughout=False)
                ending = replace(event, result=self.visits[-1].winner, fresh=here.fresh, passed=here.passed)
                change = advance(here, ending, self.visits[-1].index)
                self.faults.refusals += change.refusals
                work += [(now, passed | {here.point}) for now in change.beliefs]

    def _step(
        self, belief: Belief, event: Event, left: tuple[Seen, ...]
    ) -> Iterator[tuple[Belief, tuple[Seen, ...]]]:
        """One choice made, and what has not come about after it."""
        last = self.visits[-1]
        event = replace(
            event,
            after=left,
            dutiful=last.dutiful and not (last.result or last.winner),
            then=tuple(mention for v in self.visits for mention in v.then),
            result=last.result or last.winner,
            fresh=belief.fresh,
            passed=belief.passed,
        )
        change = advance(belief, event, last.index)
        self.faults.refusals += change.refusals
        for now in change.beliefs:
            yield now, self._unmet(now, left)

    def _nobody_had(self, belief: Belief, number: int, start: int, end: int | None) -> bool:
        """Is nothing said of choices of a visit that were passed over?"""
        seen = self.visits[number]
        for choice in belief.machine.model.phases[seen.phase].choices[start:end]:
            if seen.binds(choice, self.viewer):
                text = f"nobody chooses {choice.variable} here"
                cites = passing_cites(belief.machine.model, choice)
                self.faults.refusals.append(Refusal(replace(choice.origin, cites=cites), text))
                return False
        return True

    def _given(self, belief: Belief, seen: Visit) -> Belief | None:
        """The belief with what the record mentions of public variables; None if that cannot be."""
        for mention in seen.given:
            origin = m.Origin("", mention.cites)
            parts = mentioned(belief.machine.program.formulas, belief.values, mention)
            if any(part is False for part in parts):
                self.faults.refusals.append(Refusal(origin, mention.text))
                return None
            if any(part is not True for part in parts):
                belief = settled_columns(grant(belief, mention.fact, label=seen.index, origin=origin))
        return belief
