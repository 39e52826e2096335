"""What was written down against what the rules make of it: before an event, and of what came of it.

Each function gives the finding if the two differ, with the clauses of the rule that made it so, else None.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from avalon_logic import blame
from avalon_logic.fields import SAW, fields_of, mentionable, tells_of
from avalon_logic.records import Event, Record, value_in, value_out
from rules_dsl import Value, reference
from rules_dsl import model as m
from rules_dsl.evaluate import evaluate, key_ordinal
from rules_dsl.flow import passing_cites
from rules_dsl.play import Observation, State
from rules_dsl.types import MapType

# Visits of phases since the last one that was written down, with what became known in each; the last may be going on.
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
    """What came out differs from what was written down, though every choice was allowed.

    `agreed` counts what the record says of the event that does fit, in the order in which it comes about.
    """

    agreed: int = 0


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
    model: m.Model,
    record: Record,
    state: State,
    number: int,
    event: Event,
    visit: Trail,
    after: Trail,
    passed: bool = False,
) -> Finding | None:
    """What came of an event, seen in its own visit of the phase and after it, against what was written down.

    `passed` says that nobody had a choice in this visit.
    """
    for spec in fields_of(model, event.phase):
        data = event.values.get(spec.name)
        if data is None or spec.shown or spec.choice is not None:
            continue
        variable = model.variables[spec.what]
        told = [o.value for o in visit if (o.kind, o.name) == ("published", spec.what)]
        if len(told) < spec.number:
            again = " again" if told else ""
            return Unlike(number, variable.origin.cites, f"{spec.what} was not told{again} here")
        value = told[spec.number - 1]
        if value_in(variable.type, data, record, event.where) != value:
            shown = value_out(variable.type, value, record.names)
            message = f"{spec.what} is {spoken(shown)}, not {spoken(data)}"
            return Unlike(number, variable.origin.cites, message)
    wrong = _wrong_sight(model, record, number, event, visit)
    if wrong is not None:
        return wrong
    cites = blame.deciding_cites(model, event.phase)
    choices = model.phases[event.phase].choices
    if passed and choices and all(choice.when is not None for choice in choices):
        cites = passing_cites(model, choices[0])
    if event.then is not None:
        entered = phases_of(after)
        if event.then not in entered:
            follows = f"'{entered[0]}' follows" if entered else "the game ends"
            return Finding(number, cites, f"after this {follows}, not '{event.then}'")
    if event.result is not None and event.result != str(state.result):
        shown = f"{state.result} wins" if state.over else "the game goes on"
        text = f"{shown}, but the record has {event.result} win by this"
        return Unlike(number, cites, text, agreed=1)
    for name, data in event.after.items():
        found = _unlike_value(model, record, state, name, data, event)
        if found is not None:
            return Unlike(number, cites, found, agreed=2)
    return None


def not_made(model: m.Model, number: int, event: Event, passed_over: Sequence[m.Choice]) -> Finding | None:
    """Something written down about a choice that nobody had."""
    for choice in passed_over:
        if tells_of(event, choice, model):
            return Unlike(number, passing_cites(model, choice), f"nobody chooses {choice.variable} here")
    return None


def uncompared(model: m.Model, number: int, event: Event) -> Finding | None:
    """A public value mentioned of a visit in which nobody came to choose: there is no moment to compare it at."""
    fields = {f.name for f in fields_of(model, event.phase)}
    name = next((n for n, data in event.values.items() if n not in fields and data is not None), None)
    if name is None:
        return None
    return Unlike(
        number, (), f"'{name}' cannot be compared here, where nobody chose; write it on another event"
    )


def _wrong_sight(model: m.Model, record: Record, number: int, event: Event, visit: Trail) -> Finding | None:
    """What somebody says to have been shown in this phase, against what he was shown."""
    names = record.names
    for spec in fields_of(model, event.phase):
        told = event.values.get(spec.name) if spec.shown else None
        for who, data in (told or {}).items():
            if data is None:
                continue
            seat = names.index(who)
            mine = [
                o.value for o in visit if o.kind == "shown" and o.seat == seat and spec.what in (o.name, SAW)
            ]
            assert isinstance(spec.type, MapType)
            wanted = value_in(spec.type.value, data, record, event.where)
            if isinstance(wanted, frozenset):
                found: Value = frozenset().union(*mine)  # type: ignore[arg-type]
            else:
                found = mine[spec.number - 1] if len(mine) >= spec.number else None
            if found != wanted:
                message = (
                    f"{who} was shown {spoken(value_out(spec.type.value, found, names))}, not {spoken(data)}"
                )
                return Finding(number, blame.show_cites(model, event.phase, spec.what), message)
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


def visit_in(trail: Trail, phase: str) -> tuple[Trail, Trail] | None:
    """The first visit of a phase in a trail, and what came after it."""
    starts = [i for i, o in enumerate(trail) if o.kind == "phase"]
    for start, end in zip(starts, (*starts[1:], len(trail)), strict=False):
        if trail[start].name == phase:
            return trail[start:end], trail[end:]
    return None


def to_next_phase(observations: tuple[Observation, ...]) -> tuple[Trail, Trail]:
    """What was seen in the phase a step began in, and from the next one on."""
    end = next((i for i, o in enumerate(observations) if o.kind == "phase"), len(observations))
    return trail_of(observations[:end]), trail_of(observations[end:])


def spoken(value: Any) -> str:
    if isinstance(value, list):
        return " ".join(str(v) for v in value) or "nobody"
    if isinstance(value, dict):
        return " ".join(f"{k}={spoken(v)}" for k, v in value.items()) or "nothing"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "none" if value is None else str(value)
