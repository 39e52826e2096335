"""Playing one record through the rules, event by event, with every state the game can be in.

When no state is left, the event that emptied it is the first illegal one, and the clause is that of the rule which
refused it. What is unknown may be anything the rules allow.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice, product
from typing import Any

from avalon_logic import blame
from avalon_logic.blame import may_be_unwritten
from avalon_logic.comparing import (
    Finding,
    Trail,
    Unlike,
    not_made,
    phases_of,
    spoken,
    to_next_phase,
    trail_of,
    uncompared,
    unlike_after,
    unlike_before,
    visit_in,
)
from avalon_logic.fields import check_event, fields_of, only_mentions, speaker
from avalon_logic.recording import has_heading
from avalon_logic.records import Event, NamedTwice, Record, RecordError, entries_in, value_in, value_out
from rules_dsl import Value
from rules_dsl import model as m
from rules_dsl.liveness import live_on_entry
from rules_dsl.play import CHANCE, IllegalMove, Move, State
from rules_dsl.python import Engine, compile_python
from rules_dsl.types import MapType
from rules_dsl.values import least

MOST_STATES = 20_000
MOST_DEALS = 120
MOST_STEPS = 400_000  # choices tried for one record: some ten seconds


@dataclass(frozen=True)
class _Outcome:
    """A way an event may have gone: where it led, what was seen, which duties were broken, phases entered."""

    state: State
    trail: Trail
    broken: tuple[m.Require, ...]
    entered: tuple[str, ...]


@dataclass(frozen=True)
class _Passing:
    """What has happened since the last event while an event is being played: visits not spoken of, duties broken,
    phases entered. `visit` is what was seen of the event's own visit once that has begun."""

    trail: Trail
    broken: tuple[m.Require, ...] = ()
    entered: tuple[str, ...] = ()
    visit: Trail | None = None


class TooOpen(Exception):
    """So much of the record is unknown that it cannot be followed."""


class TooManyDeals(Exception):
    """There are too many deals to try every one of them."""


class Player:
    """A record being played: the states the game can be in, and how it came there."""

    def __init__(self, engine: Engine, record: Record, deals: Sequence[Mapping[str, str]] = ()) -> None:
        self.engine = engine
        self.deals = deals or (record.deal,)
        self.model = model = engine.model
        self.record = record
        self.live = live_on_entry(model)
        self.mentioned = {
            name
            for e in record.events
            for name in (*e.values, *e.after)
            if name not in e.values
            or (e.phase in model.phases and name not in {f.name for f in fields_of(model, e.phase)})
        }
        self.breaches: list[Finding] = []
        self.steps = 0
        self.dutiful = True  # is it taken that nobody broke a duty where it was not written down?
        first = engine.start()
        self.ways: list[tuple[State, Trail]] = [(first.state, trail_of(first.observations))]
        self.course: tuple[str, ...] = phases_of(first.observations)
        self.before: tuple[int, Event, list[tuple[State, Trail]], tuple[str, ...]] | None = None

    def run(self) -> Finding | None:
        if self._deals():
            found = self._deal()
            if found is not None:
                return found
        happened = [e for e in self.record.events if e.phase not in self.model.speeches]
        for number, event in enumerate(self.record.events, 1):
            # by the last event of a game that somebody won, a duty may have been broken to end it
            self.dutiful = self.record.winner is None or event is not happened[-1]
            if event.phase in self.model.speeches:
                self._speech(event)
                continue
            found = self._event(number, event)
            if found is not None:
                return found
        return None

    def _speech(self, event: Event) -> None:
        for name, type_ in self.model.speeches[event.phase].parameters:
            said = event.values.get(name, event.by if name == "by" else None)
            if said is None:
                raise RecordError(f"'{event.phase}' needs '{name}'", event.where)
            value_in(type_, said, self.record, event.where)

    def _deals(self) -> bool:
        """Does the game begin with a deal?"""
        awaited = self.engine.pending(self.ways[0][0])
        if awaited is not None and has_heading(awaited.choice):
            return True
        if self.record.deal:
            raise RecordError("this game does not begin with a card dealt to every player")
        return False

    def _deal(self) -> Finding | None:
        """The deal is the first choice of chance; what is known of it is fixed."""
        state, before = self.ways[0]
        awaited = self.engine.pending(state)
        assert awaited is not None
        kind = awaited.choice.type
        assert isinstance(kind, MapType)
        deals: list[Value] = []
        for cards in self.deals:
            known = {
                self.record.seat(n): value_in(kind.value, r, self.record, "deal") for n, r in cards.items()
            }
            if len(known) == len(self.record.names):
                deals.append(tuple(known[i] for i in range(len(known))))
            else:
                deals += self._agreeing(state, known, MOST_DEALS + 1)
                if len(deals) > MOST_DEALS:
                    raise TooManyDeals
        if not deals:
            return Finding(0, awaited.choice.origin.cites, "no deal fits the roles written down")
        try:
            steps = [self.engine.step(state, ((CHANCE, v),)) for v in deals]
        except IllegalMove as error:
            return Finding(0, error.cites, error.message)
        self.ways = [(step.state, (*before, *trail_of(step.observations))) for step in steps]
        self.course += phases_of(steps[0].observations)
        self._limit()
        return None

    def _agreeing(self, state: State, known: Mapping[int, Value], most: int) -> list[Value]:
        """The deals that agree with the cards known, at most so many."""
        agreeing = (
            v
            for v in self.engine.options(state, CHANCE)
            if isinstance(v, tuple) and all(v[i] == r for i, r in known.items())
        )
        return list(islice(agreeing, most))

    def _limit(self) -> None:
        if len(self.ways) > MOST_STATES:
            raise TooOpen(f"more than {MOST_STATES:,} ways this game may have gone; write down more of it")

    # --- one event ---

    def _event(self, number: int, event: Event) -> Finding | None:
        try:
            check_event(event, self.record, self.model)
        except NamedTwice as error:
            specs = fields_of(self.model, event.phase)
            cites = next((f.choice.origin.cites for f in specs if f.choice is not None), ())
            return Finding(number, cites, error.message, self._legal(self.ways[0][0]))
        kept, failures = self._follow(number, event)
        if not kept:
            return self._blame(number, event, failures)
        if all(outcome.broken for outcome in kept):
            legal = self._legal(self.ways[0][0])
            for requirement in kept[0].broken:
                self.breaches.append(
                    Finding(number, requirement.origin.cites, requirement.text, legal, False)
                )
        self._keep(number, event, kept)
        return None

    def _follow(self, number: int, event: Event) -> tuple[list[_Outcome], list[Finding]]:
        """Plays an event from every state the game may be in."""
        kept: list[_Outcome] = []
        failures: list[Finding] = []
        for state, trail in self.ways:
            for outcome in self._until(state, number, event, _Passing(trail)):
                if isinstance(outcome, Finding):
                    failures.append(outcome)
                else:
                    kept.append(outcome)
        return kept, failures

    def _keep(self, number: int, event: Event, kept: list[_Outcome]) -> None:
        self.before = (number, event, self.ways, self.course)
        self.course += kept[0].entered
        self.ways = list(dict.fromkeys((self._reduced(o.state), o.trail) for o in kept))
        self._limit()

    def _reduced(self, state: State) -> State:
        """The state without what can no longer matter, so that equal futures are followed once."""
        if state.over or state.step > 0:
            return state
        live = self.live[state.phase]
        values = tuple(
            v if name in live or name in self.mentioned else least(variable.type)
            for (name, variable), v in zip(self.model.variables.items(), state.values, strict=True)
        )
        return replace(state, values=values)

    def _until(
        self, state: State, number: int, event: Event, passing: _Passing
    ) -> Iterator[_Outcome | Finding]:
        """Plays one event from one state: unknown choices on the way, then the event's own."""
        work = [(state, passing)]
        passed: set[State] = (
            set()
        )  # where the event's visit was not reached yet: what happens next depends on no more
        while work:
            here, so_far = work.pop()
            if so_far.visit is None:
                if here in passed:
                    continue
                passed.add(here)
            onward: list[tuple[State, _Passing]] = []
            yield from self._once(here, number, event, so_far, onward)
            work += reversed(onward)

    def _once(
        self,
        state: State,
        number: int,
        event: Event,
        passing: _Passing,
        onward: list[tuple[State, _Passing]],
    ) -> Iterator[_Outcome | Finding]:
        """One choice more, or the event seen in what happened already; what must be played on is put into `onward`."""
        choices = self.model.phases[event.phase].choices
        course = (*self.course, *passing.entered)
        if passing.visit is None:
            found = visit_in(passing.trail, event.phase)
            if found is not None:
                visit, after = found
                if after or state.over or state.phase != event.phase:
                    wrong = (
                        not_made(self.model, number, event, choices)
                        or uncompared(self.model, number, event)
                        or unlike_after(self.model, self.record, state, number, event, visit, after, True)
                    )
                    yield wrong or _Outcome(state, after, passing.broken, passing.entered)
                    return
                wrong = unlike_before(self.model, self.record, state, number, event, course) or not_made(
                    self.model, number, event, choices[: state.step]
                )
                if wrong is not None:
                    yield wrong
                    return
                if only_mentions(event, self.model):
                    yield _Outcome(state, passing.trail, passing.broken, passing.entered)
                    return
                passing = replace(passing, visit=visit)
        if state.over:
            cites = blame.out_of_turn_cites(self.model, course, True, event.phase)
            yield Finding(number, cites, "the game is over by then")
            return
        awaited = self.engine.pending(state)
        assert awaited is not None
        own = passing.visit is not None
        if not own and not may_be_unwritten(awaited.choice):
            yield self._out_of_turn(state, number, event, course)
            return
        try:
            moves = list(self._moves(state, event if own else None, course))
        except IllegalMove as error:
            yield Finding(number, error.cites, error.message, self._legal(state))
            return
        for move in moves:
            self.steps += 1
            if self.steps > MOST_STEPS:
                raise TooOpen(f"more than {MOST_STEPS:,} ways to go on were tried; write down more of it")
            try:
                step = self.engine.step(state, move)
            except IllegalMove as error:
                yield Finding(number, error.cites, error.message, self._legal(state))
                continue
            here, later = to_next_phase(step.observations)
            told = own and event.values.get(awaited.choice.variable) is not None
            broken = (*passing.broken, *(step.breaches if told else ()))
            entered = (*passing.entered, *phases_of(later))
            if passing.visit is None:
                onward.append((step.state, _Passing((*passing.trail, *here, *later), broken, entered)))
                continue
            ended = step.state.over or bool(later)
            missed = choices[state.step + 1 : None if ended else step.state.step]
            visit = (*passing.visit, *here)
            wrong = not_made(self.model, number, event, missed)
            if wrong is None and not ended:
                onward.append((step.state, _Passing((), broken, entered, visit)))
                continue
            wrong = wrong or unlike_after(self.model, self.record, step.state, number, event, visit, later)
            yield wrong or _Outcome(step.state, later, broken, entered)

    def _moves(self, state: State, event: Event | None, course: tuple[str, ...]) -> Iterator[Move]:
        """The moves that agree with what was written down, and for the rest are proper."""
        awaited = self.engine.pending(state)
        assert awaited is not None
        choice = awaited.choice
        data: Any = event.values.get(choice.variable) if event is not None else None
        where = event.where if event is not None else ""
        seats: tuple[int, ...] = awaited.seats
        by: str | None = None
        if event is not None and choice.chooser.kind in ("one", "player"):
            first = choice is speaker(self.model.phases[state.phase])
            by = event.by if first else event.values.get(f"{choice.variable}_by")
        if by is not None:
            if self.record.seat(by) not in seats:
                raise self._wrong_chooser(choice, seats, by, course)
            seats = (self.record.seat(by),)
        if choice.chooser.kind == "each":
            given = data if isinstance(data, dict) else {}
            extra = [n for n, v in given.items() if v is not None and self.record.seat(n) not in seats]
            if extra:
                raise IllegalMove(f"{extra[0]} does not choose {choice.variable}", choice=choice)
            per_seat = [self._values(state, choice, s, given.get(self.record.names[s]), where) for s in seats]
            for values in product(*per_seat):
                yield tuple(zip(seats, values, strict=True))
            return
        for seat in seats:
            for value in self._values(state, choice, seat, data, where):
                yield ((seat, value),)

    def _wrong_chooser(
        self, choice: m.Choice, seats: tuple[int, ...], by: str, course: tuple[str, ...]
    ) -> IllegalMove:
        """Somebody else had the choice; if a variable says who, the rule that gave it its value is at fault."""
        names = " or ".join(self.record.names[s] for s in seats)
        who = choice.chooser.who
        if isinstance(who, m.Variable):
            cites = blame.writer_cites(self.model, course[:-1], who.name)
            if cites:
                choice = replace(choice, origin=replace(choice.origin, cites=cites))
        return IllegalMove(f"{names} chooses {choice.variable}, not {by}", choice=choice)

    def _values(self, state: State, choice: m.Choice, seat: int, data: Any, where: str) -> list[Value]:
        if data is not None and choice.deal is not None:
            assert isinstance(choice.type, MapType)
            known = entries_in(choice.type.key, choice.type.value, data, self.record, where)
            return self._agreeing(state, known, MOST_STATES + 1)
        if data is not None:
            type_ = m.choice_type(choice)
            return [value_in(type_, data, self.record, where)]
        options = self.engine.proper_options if self.dutiful else self.engine.options
        return list(islice(options(state, seat), MOST_STATES + 1))

    # --- what went wrong ---

    def _out_of_turn(self, state: State, number: int, event: Event, course: tuple[str, ...]) -> Finding:
        cites = blame.out_of_turn_cites(self.model, course, False, event.phase)
        awaited = self.awaited(state)
        return Finding(number, cites, f"'{event.phase}' is out of turn: {awaited}", self._legal(state))

    def _blame(self, number: int, event: Event, failures: list[Finding]) -> Finding:
        """The rule at fault when no way is left: for what came out, the requirement without which it could be."""
        differing = [f for f in failures if isinstance(f, Unlike)]
        if len(differing) < len(failures):
            too_early = self._noted_too_early(event)
            return too_early or next(f for f in failures if not isinstance(f, Unlike))
        first = max(differing, key=lambda f: f.agreed)
        for requirement in blame.hidden_requirements(self.model):
            relaxed = Player(compile_python(blame.without(self.model, requirement)), self.record)
            if self._possible_for(relaxed, number, event):
                message = f"{first.message}: {requirement.text}"
                return Finding(number, requirement.origin.cites, message, first.legal)
        return first

    def _noted_too_early(self, event: Event) -> Finding | None:
        """The event before this one, if what this one speaks of had to come before it."""
        if self.before is None:
            return None
        number, earlier, _, course = self.before
        # the phase that was awaited then, and those that came since
        entered = (*course[-1:], *self.course[len(course) :])
        if earlier.phase == event.phase or earlier.phase not in entered:
            return None
        if event.phase not in entered[: entered.index(earlier.phase)]:
            return None
        phase = self.model.phases[earlier.phase]
        cites = phase.origin.cites or blame.entry_cites(self.model, (*course, *entered))
        cites = cites or next((c.origin.cites for c in phase.choices), ())
        return Finding(number, cites, f"'{earlier.phase}' is out of turn: '{event.phase}' comes first")

    def _possible_for(self, relaxed: Player, number: int, event: Event) -> bool:
        """Could the event, or the one before it and then this one, have happened by other rules?"""
        relaxed.ways, relaxed.course = self.ways, self.course
        if relaxed._follow(number, event)[0]:
            return True
        if self.before is None:
            return False
        earlier_number, earlier, relaxed.ways, relaxed.course = self.before
        kept, _ = relaxed._follow(earlier_number, earlier)
        if not kept:
            return False
        relaxed._keep(earlier_number, earlier, kept)
        return bool(relaxed._follow(number, event)[0])

    def awaited(self, *states: State) -> str:
        """What must come next; who must choose is said only if it is the same whatever the cards are."""
        found = [p for p in map(self.engine.pending, states) if p is not None]
        if not found:
            return "the game is over"
        who = ", ".join("chance" if s == CHANCE else self.record.names[s] for s in found[0].seats)
        if any(p.seats != found[0].seats for p in found):
            who = "somebody"
        return f"'{found[0].phase}' comes first: {who} to choose {found[0].choice.variable}"

    def _legal(self, state: State) -> str:
        """A few examples of what would have been legal."""
        awaited = self.engine.pending(state)
        if awaited is None or awaited.choice.chooser.kind == "chance":
            return ""
        seat = awaited.seats[0]
        type_ = m.choice_type(awaited.choice)
        values = list(islice(self.engine.options(state, seat), 4))
        shown = [spoken(value_out(type_, v, self.record.names)) for v in values[:3]]
        more = ", ..." if len(values) > 3 else ""
        return f"{self.record.names[seat]} may choose for {awaited.choice.variable}: {'; '.join(shown)}{more}"
