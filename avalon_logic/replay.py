"""Is a recorded game legal? The record is played through the rules; what is unknown may be anything the rules allow.

The replay keeps every state the game can be in. When none is left, the event that emptied it is the first illegal one,
and the clause is that of the rule which refused it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import islice, product
from typing import Any

from avalon_logic.configuration import describe_check, examine
from avalon_logic.records import SAW, Event, Record, RecordError, fields_of, value_in, value_out
from rules_dsl import Value
from rules_dsl import model as m
from rules_dsl import reference as rules
from rules_dsl.liveness import live_on_entry
from rules_dsl.play import CHANCE, IllegalMove, Move, Observation, State
from rules_dsl.types import MapType
from rules_dsl.values import least
from rules_dsl.walk import statements

MOST_STATES = 20_000

# What became public since the last event that was written down, for events of phases in which nobody chooses.
Trail = tuple[Observation, ...]
Outcome = tuple[State, Trail, list[m.Require]]


@dataclass(frozen=True)
class Finding:
    """A rule broken: by which event (0 is the set-up), which clauses, what happened, what would have been legal."""

    event: int
    clauses: tuple[str, ...]
    message: str
    legal: str = ""
    fatal: bool = True


@dataclass(frozen=True)
class Replay:
    """What became of a record. `result` is the engine's winner as far as it is determined."""

    findings: tuple[Finding, ...]
    over: bool
    result: str | None
    winner_differs: bool
    awaits: str = ""
    notes: tuple[str, ...] = field(default=())

    @property
    def legal(self) -> bool:
        return not self.findings


class TooOpen(Exception):
    """So much of the record is unknown that it cannot be followed."""


def replay(record: Record) -> Replay:
    """Plays a record through the rules."""
    settled = examine(record.configuration)
    findings = [Finding(0, c.origin.cites, c.text, fatal=False) for c in settled.errors]
    notes = tuple(describe_check(c) for c in settled.findings if c.severity != "error")
    player = _Player(settled.model, record)
    broken = player.run()
    findings += player.breaches
    if broken is not None:
        findings.append(broken)
    last = [state for state, _ in player.ways]
    results = {s.result for s in last} if broken is None else set()
    over = broken is None and all(s.over for s in last)
    result = next(iter(results)) if over and len(results) == 1 else None
    shown = str(result) if result is not None else None
    differs = over and record.winner is not None and record.winner not in {str(r) for r in results}
    awaits = ""
    if broken is None and not over:
        awaits = _awaited(player.model, next(s for s in last if not s.over), record.names)
    return Replay(tuple(findings), over, shown, differs, awaits, notes)


class _Player:
    def __init__(self, model: m.Model, record: Record) -> None:
        self.model = model
        self.record = record
        self.live = live_on_entry(model)
        self.breaches: list[Finding] = []
        first = rules.start(model)
        self.ways: list[tuple[State, Trail]] = [(first.state, _trail(first.observations))]

    def run(self) -> Finding | None:
        if self.record.deal:
            found = self._deal()
            if found is not None:
                return found
        for number, event in enumerate(self.record.events, 1):
            if event.phase in self.model.speeches:
                self._speech(event)
                continue
            found = self._event(number, event)
            if found is not None:
                return found
        return None

    def _speech(self, event: Event) -> None:
        for name, type_ in self.model.speeches[event.phase].parameters:
            if name not in event.values:
                raise RecordError(f"'{event.phase}' needs '{name}'", event.where)
            value_in(type_, event.values[name], self.record, event.where)

    def _deal(self) -> Finding | None:
        """The deal is the first choice of chance; what is known of it is fixed."""
        state, _ = self.ways[0]
        awaited = rules.pending(self.model, state)
        if awaited is None or awaited.choice.deal is None:
            raise RecordError("this game does not begin with a deal")
        kind = awaited.choice.type
        assert isinstance(kind, MapType)
        known = {
            self.record.seat(n): value_in(kind.value, r, self.record, "deal")
            for n, r in self.record.deal.items()
        }
        if len(known) == len(self.record.names):
            try:
                step = rules.step(self.model, state, ((CHANCE, tuple(known[i] for i in range(len(known)))),))
            except IllegalMove as error:
                return Finding(0, error.cites, error.message)
            self.ways = [(step.state, _trail(step.observations))]
            return None
        deals = (
            v
            for v in rules.options(self.model, state, CHANCE)
            if isinstance(v, tuple) and all(v[i] == r for i, r in known.items())
        )
        steps = [rules.step(self.model, state, ((CHANCE, v),)) for v in islice(deals, MOST_STATES + 1)]
        self.ways = [(step.state, _trail(step.observations)) for step in steps]
        self._limit()
        return (
            None
            if self.ways
            else Finding(0, awaited.choice.origin.cites, "no deal fits the roles written down")
        )

    def _limit(self) -> None:
        if len(self.ways) > MOST_STATES:
            raise TooOpen(
                f"more than {MOST_STATES:,} ways this game may have gone; write down the deal, or use 'avalon deduce'"
            )

    # --- one event ---

    def _event(self, number: int, event: Event) -> Finding | None:
        if event.phase not in self.model.phases:
            known = ", ".join(p for p in self.model.phases if fields_of(self.model, p))
            raise RecordError(f"there is no event '{event.phase}'; there are: {known}", event.where)
        specs = {f.name: f for f in fields_of(self.model, event.phase)}
        for name in event.values:
            if name not in specs and name not in self.model.variables:
                raise RecordError(
                    f"'{event.phase}' has no '{name}'; it has: {', '.join(specs) or 'nothing'}", event.where
                )
        self._check_values(event)
        kept: list[Outcome] = []
        failures: list[Finding] = []
        for state, trail in self.ways:
            for outcome in self._until(state, number, event, list(trail), [], False):
                if isinstance(outcome, Finding):
                    failures.append(outcome)
                else:
                    kept.append(outcome)
        if not kept:
            return self._blame(number, event, failures)
        if all(broken for _, _, broken in kept):
            legal = self._legal(self.ways[0][0])
            for requirement in kept[0][2]:
                self.breaches.append(
                    Finding(number, requirement.origin.cites, requirement.text, legal, False)
                )
        self.ways = list(dict.fromkeys((self._reduced(state), trail) for state, trail, _ in kept))
        self._limit()
        return None

    def _check_values(self, event: Event) -> None:
        """Every value written down must be a value at all, whatever the rules say of it."""
        specs = {f.name: f.type for f in fields_of(self.model, event.phase)}
        for name, data in event.values.items():
            type_ = specs[name] if name in specs else self.model.variables[name].type
            if isinstance(data, dict) and isinstance(type_, MapType):
                for who, entry in data.items():
                    self.record.seat(who)
                    if entry is not None:
                        value_in(type_.value, entry, self.record, event.where)
            elif data is not None:
                value_in(type_, data, self.record, event.where)
        if event.by is not None:
            self.record.seat(event.by)

    def _reduced(self, state: State) -> State:
        """The state without what can no longer matter, so that equal futures are followed once."""
        if state.over or state.step > 0:
            return state
        live = self.live[state.phase]
        values = tuple(
            v if name in live else least(variable.type)
            for (name, variable), v in zip(self.model.variables.items(), state.values, strict=True)
        )
        return replace(state, values=values)

    def _until(
        self,
        state: State,
        number: int,
        event: Event,
        seen: list[Observation],
        broken: list[m.Require],
        begun: bool,
    ) -> Iterator[Outcome | Finding]:
        """Plays one event from one state: unknown choices on the way, then the event's own."""
        # does what happened already show the event, with nothing of it left to choose?
        shows = any(o.phase == event.phase and o.kind == "phase" for o in seen)
        waiting = not state.over and state.phase == event.phase
        if shows and not waiting:
            mismatch = self._mismatch(state, number, event, seen)
            yield mismatch if mismatch is not None else (state, _after(event.phase, seen), broken)
            return
        if state.over:
            yield Finding(number, self._ending_cites(state), "the game is over by then")
            return
        awaited = rules.pending(self.model, state)
        assert awaited is not None
        if not waiting and not self._may_be_unwritten(awaited.choice):
            yield self._out_of_turn(state, number, event)
            return
        if waiting and not begun:
            mismatch = self._state_mismatch(state, number, event)
            if mismatch is not None:
                yield mismatch
                return
        try:
            moves = list(self._moves(state, event if waiting else None, number))
        except IllegalMove as error:
            yield Finding(number, error.cites, error.message, self._legal(state))
            return
        for move in moves:
            try:
                step = rules.step(self.model, state, move)
            except IllegalMove as error:
                yield Finding(number, error.cites, error.message, self._legal(state))
                continue
            own = waiting and event.values.get(awaited.choice.variable) is not None
            after = [*broken, *(step.breaches if own else [])]
            observed = [*seen, *step.observations]
            if waiting and (step.state.over or step.state.phase != event.phase):
                mismatch = self._mismatch(step.state, number, event, [*observed, _entered(event.phase)])
                yield mismatch if mismatch is not None else (step.state, _trail(step.observations), after)
                continue
            yield from self._until(step.state, number, event, observed, after, waiting)

    def _may_be_unwritten(self, choice: m.Choice) -> bool:
        """Chance and secret choices need no line of their own; public choices do."""
        return choice.chooser.kind == "chance" or choice.audience.kind != "public"

    def _moves(self, state: State, event: Event | None, number: int) -> Iterator[Move]:
        """The moves that agree with what was written down, and for the rest are proper."""
        awaited = rules.pending(self.model, state)
        assert awaited is not None
        choice = awaited.choice
        data: Any = event.values.get(choice.variable) if event is not None else None
        where = event.where if event is not None else ""
        seats: tuple[int, ...] = awaited.seats
        if choice.chooser.kind in ("one", "player") and event is not None and event.by is not None:
            speaker = self.record.seat(event.by)
            if speaker not in seats and choice is self.model.phases[state.phase].choices[0]:
                names = " or ".join(self.record.names[s] for s in seats)
                raise IllegalMove(f"{names} chooses {choice.variable}, not {event.by}", choice=choice)
            seats = (speaker,) if speaker in seats else seats
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

    def _values(self, state: State, choice: m.Choice, seat: int, data: Any, where: str) -> list[Value]:
        if data is not None:
            type_ = m.choice_type(choice)
            return [value_in(type_, data, self.record, where)]
        env = rules.environment(self.model, state)
        found: list[Value] = []
        for value in islice(rules.options(self.model, state, seat), MOST_STATES + 1):
            if seat == CHANCE or value is None or not rules.check_value(choice, env, seat, value):
                found.append(value)
        return found

    # --- what went wrong ---

    def _state_mismatch(self, state: State, number: int, event: Event) -> Finding | None:
        """Public values an event mentions besides its own fields, such as who led."""
        specs = {f.name for f in fields_of(self.model, event.phase)}
        for name, data in event.values.items():
            if name in specs or data is None:
                continue
            variable = self.model.variables[name]
            actual = state.values[list(self.model.variables).index(name)]
            wanted = value_in(variable.type, data, self.record, event.where)
            if wanted != actual:
                shown = value_out(variable.type, actual, self.record.names)
                return Finding(number, variable.origin.cites, f"{name} is {shown}, not {data}")
        return None

    def _mismatch(self, state: State, number: int, event: Event, seen: list[Observation]) -> Finding | None:
        """Published values that differ from what was written down, or another phase than came next."""
        for observation in seen:
            if observation.kind == "published" and observation.phase == event.phase:
                data = event.values.get(observation.name)
                if data is None:
                    continue
                variable = self.model.variables[observation.name]
                if value_in(variable.type, data, self.record, event.where) != observation.value:
                    shown = value_out(variable.type, observation.value, self.record.names)
                    return Finding(
                        number,
                        variable.origin.cites,
                        f"{observation.name} is {shown}, not {data}",
                        fatal=True,
                    )
        wrong = self._wrong_sight(number, event, seen)
        if wrong is not None:
            return wrong
        if event.then is not None:
            entered = {o.phase for o in seen if o.kind == "phase"} | (
                {state.phase} if not state.over else set()
            )
            if event.then not in entered:
                cites = self._route_cites(event.phase)
                return Finding(number, cites, f"after this, '{event.then}' does not follow")
        return None

    def _wrong_sight(self, number: int, event: Event, seen: list[Observation]) -> Finding | None:
        """What somebody says to have been shown in this phase, against what he was shown."""
        names = self.record.names
        shown = [o for o in seen if o.kind == "shown" and o.phase == event.phase]
        for spec in fields_of(self.model, event.phase):
            told = event.values.get(spec.name) if spec.shown else None
            for who, data in (told or {}).items():
                if data is None:
                    continue
                mine = [o for o in shown if o.seat == names.index(who) and spec.name in (o.name, SAW)]
                assert isinstance(spec.type, MapType)
                wanted = value_in(spec.type.value, data, self.record, event.where)
                if isinstance(wanted, frozenset):
                    found: Value = frozenset().union(*(o.value for o in mine))  # type: ignore[arg-type]
                else:
                    found = mine[0].value if mine else None
                if found != wanted:
                    actual = value_out(spec.type.value, found, names) if found is not None else None
                    message = f"{who} was shown {_spoken(actual)}, not {_spoken(data)}"
                    return Finding(number, self._show_cites(event.phase, spec.name), message)
        return None

    def _out_of_turn(self, state: State, number: int, event: Event) -> Finding:
        awaited = self.model.phases[state.phase]
        recorded = self.model.phases[event.phase]
        if recorded.when is not None and recorded.origin.cites:
            cites = recorded.origin.cites
        else:
            cites = awaited.origin.cites or awaited.choices[0].origin.cites
        names = self.record.names
        return Finding(
            number,
            cites,
            f"'{event.phase}' is out of turn: {_awaited(self.model, state, names)}",
            self._legal(state),
        )

    def _show_cites(self, phase: str, name: str) -> tuple[str, ...]:
        shows = [s for s in statements(self.model.phases[phase].body) if isinstance(s, m.Show)]
        return tuple(dict.fromkeys(c for s in shows if name in (s.name, SAW) for c in s.origin.cites))

    def _route_cites(self, phase: str) -> tuple[str, ...]:
        for statement in statements(self.model.phases[phase].body):
            if isinstance(statement, m.If) and statement.origin.cites:
                return statement.origin.cites
        return self.model.phases[phase].origin.cites

    def _ending_cites(self, state: State) -> tuple[str, ...]:
        found: tuple[str, ...] = ()
        for statement in statements(self.model.phases[state.phase].body):
            if isinstance(statement, m.If | m.Win) and statement.origin.cites:
                found = statement.origin.cites
        return found

    def _blame(self, number: int, event: Event, failures: list[Finding]) -> Finding:
        """The rule at fault when no way is left: for a published value, the requirement without which it could be."""
        first = failures[0]
        published = {f.name for f in fields_of(self.model, event.phase) if f.choice is None}
        if not any(event.values.get(name) is not None for name in published):
            return first
        if not all(any(f.message.startswith(f"{p} is ") for p in published) for f in failures):
            return first
        for requirement in self._hidden_requirements():
            relaxed = _Player(_without(self.model, requirement), self.record)
            outcomes = (
                o
                for state, trail in self.ways
                for o in relaxed._until(state, number, event, list(trail), [], False)
            )
            if any(not isinstance(o, Finding) for o in outcomes):
                return replace(
                    first, clauses=requirement.origin.cites, message=f"{first.message}: {requirement.text}"
                )
        return first

    def _hidden_requirements(self) -> Iterator[m.Require]:
        for phase in self.model.phases.values():
            for choice in phase.choices:
                if choice.audience.kind != "public":
                    yield from (r for r in choice.requires if r.kind == "require")

    def _legal(self, state: State) -> str:
        """A few examples of what would have been legal."""
        awaited = rules.pending(self.model, state)
        if awaited is None or awaited.choice.chooser.kind == "chance":
            return ""
        seat = awaited.seats[0]
        type_ = m.choice_type(awaited.choice)
        values = list(islice(rules.options(self.model, state, seat), 4))
        shown = [_spoken(value_out(type_, v, self.record.names)) for v in values[:3]]
        more = ", ..." if len(values) > 3 else ""
        return f"{self.record.names[seat]} may choose for {awaited.choice.variable}: {'; '.join(shown)}{more}"


def _trail(observations: tuple[Observation, ...]) -> Trail:
    """The course of things: phases entered, values published, and what seats were shown."""
    return tuple(o for o in observations if o.kind in ("phase", "published", "shown"))


def _after(phase: str, seen: list[Observation]) -> Trail:
    """What was seen after a phase was over."""
    last = max(i for i, o in enumerate(seen) if o.phase == phase)
    return _trail(tuple(seen[last + 1 :]))


def _entered(phase: str) -> Observation:
    return Observation(phase, "phase", phase, None, None)


def _spoken(value: Any) -> str:
    if isinstance(value, list):
        return " ".join(str(v) for v in value) or "nobody"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "none" if value is None else str(value)


def _without(model: m.Model, requirement: m.Require) -> m.Model:
    """The model with one requirement dropped."""
    phases = {
        name: replace(
            phase,
            choices=tuple(
                replace(c, requires=tuple(r for r in c.requires if r is not requirement))
                for c in phase.choices
            ),
        )
        for name, phase in model.phases.items()
    }
    return replace(model, phases=phases)


def _awaited(model: m.Model, state: State, names: tuple[str, ...]) -> str:
    awaited = rules.pending(model, state)
    if awaited is None:
        return "the game is over"
    who = ", ".join("chance" if s == CHANCE else names[s] for s in awaited.seats)
    return f"'{state.phase}' comes first: {who} to choose {awaited.choice.variable}"
