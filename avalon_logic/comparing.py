"""What was written down against what the rules make of it: before an event, and of what came of it.

Each function gives the finding if the two differ, with the clauses of the rule that made it so, else None.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from avalon_logic import blame
from avalon_logic.records import SAW, Event, Record, fields_of, value_in, value_out
from rules_dsl import Value, reference
from rules_dsl import model as m
from rules_dsl.evaluate import evaluate, key_ordinal
from rules_dsl.play import Observation, State
from rules_dsl.types import MapType, Type

# What became public since the last event that was written down, for events of phases in which nobody chooses.
Trail = tuple[Observation, ...]


@dataclass(frozen=True)
class Finding:
    """A rule broken: by which event (0 is the set-up), which clauses, what happened, what would have been legal."""

    event: int
    clauses: tuple[str, ...]
    message: str
    legal: str = ""
    fatal: bool = True


@dataclass(frozen=True)
class Unlike(Finding):
    """What came out differs from what was written down, though every choice was allowed."""


def mentionable(model: m.Model, name: str) -> Type | None:
    """The type of a public value that an event may mention: a variable, or a definition without parameters."""
    if name in model.variables:
        return model.variables[name].type
    definition = model.definitions.get(name)
    return definition.type if definition is not None and not definition.parameters else None


def unlike_before(
    model: m.Model, record: Record, state: State, number: int, event: Event, course: tuple[str, ...]
) -> Finding | None:
    """Public values an event mentions besides its own fields, such as who led."""
    specs = {f.name for f in fields_of(model, event.phase)}
    for name, data in event.values.items():
        if name in specs or data is None:
            continue
        type_ = mentionable(model, name)
        assert type_ is not None
        variable = model.variables.get(name)
        env = reference.environment(model, state)
        actual = env.variables[name] if variable is not None else evaluate(model.definitions[name].value, env)
        if value_in(type_, data, record, event.where) == actual:
            continue
        if variable is None:
            cites = model.definitions[name].origin.cites
        elif variable.kind == "choice":
            cites = blame.entry_cites(model, course) or variable.origin.cites
        else:
            cites = blame.writer_cites(model, course[:-1], name)
        said = spoken(value_out(type_, actual, record.names))
        return Finding(number, cites, f"{name} is {said}, not {spoken(data)}")
    return None


def unlike_after(
    model: m.Model, record: Record, state: State, number: int, event: Event, seen: tuple[Observation, ...]
) -> Finding | None:
    """Published values that differ from what was written down, or another phase or result than came of it."""
    for observation in seen:
        if observation.kind == "published" and observation.phase == event.phase:
            data = event.values.get(observation.name)
            if data is None:
                continue
            variable = model.variables[observation.name]
            if value_in(variable.type, data, record, event.where) != observation.value:
                shown = value_out(variable.type, observation.value, record.names)
                return Unlike(
                    number,
                    variable.origin.cites,
                    f"{observation.name} is {spoken(shown)}, not {spoken(data)}",
                )
    wrong = _wrong_sight(model, record, number, event, seen)
    if wrong is not None:
        return wrong
    cites = blame.deciding_cites(model, event.phase)
    if event.then is not None:
        entered = phases_of(trail_after(event.phase, seen))
        if event.then not in entered:
            follows = f"'{entered[0]}' follows" if entered else "the game ends"
            return Finding(number, cites, f"after this {follows}, not '{event.then}'")
    if event.result is not None and event.result != str(state.result):
        shown = f"{state.result} wins" if state.over else "the game goes on"
        return Unlike(number, cites, f"{shown}, but the record has {event.result} win by this")
    for name, data in event.after.items():
        found = _unlike_value(model, record, state, name, data, event)
        if found is not None:
            return Unlike(number, cites, found)
    return None


def _wrong_sight(
    model: m.Model, record: Record, number: int, event: Event, seen: tuple[Observation, ...]
) -> Finding | None:
    """What somebody says to have been shown in this phase, against what he was shown."""
    names = record.names
    shown = [o for o in seen if o.kind == "shown" and o.phase == event.phase]
    for spec in fields_of(model, event.phase):
        told = event.values.get(spec.name) if spec.shown else None
        for who, data in (told or {}).items():
            if data is None:
                continue
            mine = [o for o in shown if o.seat == names.index(who) and spec.name in (o.name, SAW)]
            assert isinstance(spec.type, MapType)
            wanted = value_in(spec.type.value, data, record, event.where)
            if isinstance(wanted, frozenset):
                found: Value = frozenset().union(*(o.value for o in mine))  # type: ignore[arg-type]
            else:
                found = mine[0].value if mine else None
            if found != wanted:
                actual = value_out(spec.type.value, found, names) if found is not None else None
                message = f"{who} was shown {spoken(actual)}, not {spoken(data)}"
                return Finding(number, blame.show_cites(model, event.phase, spec.name), message)
    return None


def _unlike_value(
    model: m.Model, record: Record, state: State, name: str, data: Any, event: Event
) -> str | None:
    """How a public value afterwards differs from what was written down."""
    type_ = model.variables[name].type
    actual = state.values[list(model.variables).index(name)]
    if isinstance(data, dict) and isinstance(type_, MapType):
        assert isinstance(actual, tuple)
        for key, entry in data.items():
            value = actual[key_ordinal(type_, value_in(type_.key, key, record, event.where))]
            if entry is not None and value_in(type_.value, entry, record, event.where) != value:
                shown = spoken(value_out(type_.value, value, record.names))
                return f"{name} {key} is then {shown}, not {spoken(entry)}"
        return None
    if data is None or value_in(type_, data, record, event.where) == actual:
        return None
    return f"{name} is then {spoken(value_out(type_, actual, record.names))}, not {spoken(data)}"


def trail_of(observations: tuple[Observation, ...]) -> Trail:
    """The course of things: phases entered, values published, and what seats were shown."""
    return tuple(o for o in observations if o.kind in ("phase", "published", "shown"))


def phases_of(observations: tuple[Observation, ...]) -> tuple[str, ...]:
    return tuple(o.phase for o in observations if o.kind == "phase")


def trail_after(phase: str, seen: tuple[Observation, ...]) -> Trail:
    """What was seen after a phase was over."""
    last = max((i for i, o in enumerate(seen) if o.phase == phase), default=-1)
    return trail_of(seen[last + 1 :])


def spoken(value: Any) -> str:
    if isinstance(value, list):
        return " ".join(str(v) for v in value) or "nobody"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "none" if value is None else str(value)
