"""A game that was played, written down: the moves and what was observed in, the events of a record out.

An event is made for every visit of a phase of which anything can be written down, so that a reader who takes each
event for the next visit of its phase finds the right one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from avalon_logic.fields import SAW, fields_of, numbered, speaker
from avalon_logic.records import Event, value_out
from rules_dsl import Model, Value
from rules_dsl import model as m
from rules_dsl.play import Move, Observation, State, Step
from rules_dsl.types import EnumType, MapType, PlayerType, SetType
from rules_dsl.walk import reads


@dataclass
class _Visit:
    """One visit of a phase, being written down."""

    phase: str
    values: dict[str, Any] = field(default_factory=dict)
    by: str | None = None
    shown: list[Observation] = field(default_factory=list)
    heading: bool = False  # the cards dealt in it stand in the heading


def has_heading(choice: m.Choice) -> bool:
    """If the game begins with this choice, does a record have a heading for it? That is a card dealt to every seat."""
    kind = choice.type
    return (
        choice.deal is not None
        and isinstance(kind, MapType)
        and isinstance(kind.key, PlayerType)
        and isinstance(kind.value, EnumType)
    )


def tells(choice: m.Choice, model: Model) -> bool:
    """Does it tell something who made a choice, other than what everybody could see before?"""
    chooser = choice.chooser
    if chooser.kind != "player":
        return chooser.kind == "one"
    assert chooser.who is not None
    read = [model.variables.get(name) for name in reads(chooser.who, model.definitions)]
    return any(v is not None and v.audience.kind != "public" for v in read)


def events_of(
    model: Model,
    first: Step,
    played: Iterable[tuple[State, Move, Step]],
    names: Sequence[str],
    sights: bool = False,
) -> tuple[Event, ...]:
    """The events of a game: from its first step, and every move with the state before it and the step it led to.

    What chance dealt first stands in a record's heading. `sights`: also what every seat was shown, and what it was not.
    """
    recorder = _Recorder(model, tuple(names), sights)
    recorder.see(first.observations)
    last = first.state
    for number, (state, move, step) in enumerate(played):
        choice = model.phases[state.phase].choices[state.step]
        if number == 0 and has_heading(choice):
            recorder.visits[-1].heading = True
        else:
            recorder.choose(choice, move)
        recorder.see(step.observations)
        last = step.state
    found = recorder.events()
    if not last.over and found and recorder.visits[-1].phase == found[-1].phase == last.phase:
        # the game waits there: an event of which nothing is noted yet would say that it has taken place
        return found if found[-1].values else found[:-1]
    return found


class _Recorder:
    def __init__(self, model: Model, names: tuple[str, ...], sights: bool) -> None:
        self.model = model
        self.names = names
        self.sights = sights
        self.visits: list[_Visit] = []

    def see(self, observations: Iterable[Observation]) -> None:
        for seen in observations:
            if seen.kind == "phase":
                self.visits.append(_Visit(seen.name))
            elif seen.kind == "published":
                values = self.visits[-1].values
                type_ = self.model.variables[seen.name].type
                number = 1 + sum(name.split()[0] == seen.name for name in values)
                values[numbered(seen.name, number)] = value_out(type_, seen.value, self.names)
            elif seen.kind == "shown":
                self.visits[-1].shown.append(seen)

    def choose(self, choice: m.Choice, move: Move) -> None:
        visit = self.visits[-1]
        visit.values[choice.variable] = self._chosen(choice, move)
        if tells(choice, self.model):
            if choice is speaker(self.model.phases[visit.phase]):
                visit.by = self.names[move[0][0]]
            else:
                visit.values[f"{choice.variable}_by"] = self.names[move[0][0]]

    def _chosen(self, choice: m.Choice, move: Move) -> Any:
        type_ = m.choice_type(choice)
        if choice.chooser.kind == "each":
            return {self.names[seat]: value_out(type_, value, self.names) for seat, value in move}
        return value_out(type_, move[0][1], self.names)

    def events(self) -> tuple[Event, ...]:
        found: list[Event] = []
        for visit in self.visits:
            values = {**visit.values, **self._sights(visit)}
            if values or (fields_of(self.model, visit.phase) and not visit.heading):
                found.append(Event(visit.phase, values, visit.by))
        return tuple(found)

    def _sights(self, visit: _Visit) -> dict[str, dict[str, Any]]:
        """What every seat was shown, by showing; a set of seats nobody was shown is empty."""
        found: dict[str, dict[str, Any]] = {}
        if not self.sights:
            return found
        for spec in fields_of(self.model, visit.phase):
            if not spec.shown or spec.what == SAW:
                continue
            assert isinstance(spec.type, MapType)
            told = found[spec.name] = {}
            for seat, name in enumerate(self.names):
                mine = [o.value for o in visit.shown if o.seat == seat and o.name == spec.what]
                value: Value
                if isinstance(spec.type.value, SetType):
                    value = frozenset().union(*mine)  # type: ignore[arg-type]
                else:
                    value = mine[spec.number - 1] if len(mine) >= spec.number else None
                told[name] = value_out(spec.type.value, value, self.names)
        return found
