"""One record of a game: who sat where, what was agreed, and what happened; as JSON, or typed (see `typed_records`).

An event is a phase of the rulebook with whatever of it was written down; what is left out is unknown, not false. The
fields of an event are the choices and published values of that phase, so every module is covered without new code.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from avalon_logic.configuration import Configuration
from rules_dsl import Model, Value
from rules_dsl import model as m
from rules_dsl.types import BoolType, EnumType, IntType, MapType, OptionalType, PlayerType, SetType, Type
from rules_dsl.walk import statements


class RecordError(Exception):
    """A record that cannot be read; says where."""

    def __init__(self, message: str, where: str = "") -> None:
        self.where = where
        self.message = message
        super().__init__(f"{where}: {message}" if where else message)


class NamedTwice(RecordError):
    """Something that can be in a set only once was written down twice."""


@dataclass(frozen=True)
class Event:
    """Something that happened. `values` are plain JSON values by field name; `by` who did it; `then` what came next.

    `after` are public values as they were said to be when it was done (of a map, some entries by key), `result` the
    result it was said to bring. `number` counts events as the source does, where that is another count.
    """

    phase: str
    values: Mapping[str, Any] = field(default_factory=dict)
    by: str | None = None
    then: str | None = None
    where: str = ""
    after: Mapping[str, Any] = field(default_factory=dict)
    result: str | None = None
    number: int | None = None


@dataclass(frozen=True)
class Record:
    """A game as written down. `deal` gives roles by name, as far as known."""

    configuration: Configuration
    names: tuple[str, ...]
    events: tuple[Event, ...] = ()
    deal: Mapping[str, str] = field(default_factory=dict)
    winner: str | None = None
    title: str = ""
    saved: Mapping[str, Any] = field(default_factory=dict)  # what a server needs to go on; see `saving`

    def seat(self, name: str) -> int:
        try:
            return self.names.index(name)
        except ValueError:
            raise RecordError(f"nobody is called '{name}'; at the table: {', '.join(self.names)}") from None


@dataclass(frozen=True)
class Field:
    """A field of an event: a choice of the phase, a value it publishes, or (by seat) what somebody was shown in it."""

    name: str
    type: Type
    choice: m.Choice | None
    shown: bool = False


SAW = "saw"  # the field for what a seat saw in all showings of a phase together


_FIELDS: dict[
    int, tuple[Model, dict[str, tuple[Field, ...]]]
] = {}  # by the model's identity, kept alive with it
_MOST_MODELS = 256


def fields_of(model: Model, phase: str) -> tuple[Field, ...]:
    """What can be written down about a phase, in order."""
    kept = _FIELDS.get(id(model))
    if kept is None or kept[0] is not model:
        if len(_FIELDS) >= _MOST_MODELS:
            _FIELDS.clear()
        kept = _FIELDS[id(model)] = (model, {})
    if phase not in kept[1]:
        kept[1][phase] = _fields_of(model, phase)
    return kept[1][phase]


def _fields_of(model: Model, phase: str) -> tuple[Field, ...]:
    declared = model.phases[phase]
    found = [Field(c.variable, model.variables[c.variable].type, c) for c in declared.choices]
    names = {f.name for f in found}
    for statement in statements(declared.body):
        if isinstance(statement, m.Assign) and statement.published and statement.variable not in names:
            names.add(statement.variable)
            found.append(Field(statement.variable, model.variables[statement.variable].type, None))
    shows = [s for s in statements(declared.body) if isinstance(s, m.Show) and s.name not in names]
    seats = SetType(model.players)
    if shows and SAW not in names and all(s.value.type == seats for s in shows):
        found.append(Field(SAW, MapType(model.players, seats), None, True))
    found += [
        Field(name, MapType(model.players, type_), None, True)
        for name, type_ in {s.name: s.value.type for s in shows}.items()
    ]
    return tuple(found)


# --- values, with names for seats -------------------------------------------------------------------------


def value_in(type_: Type, data: Any, record: Record, where: str) -> Value:
    """A JSON value of a record as a value of the game; raises `RecordError`."""
    match type_:
        case BoolType() if isinstance(data, bool):
            return data
        case IntType(low, high) if isinstance(data, int) and not isinstance(data, bool):
            if not low <= data <= high:
                raise RecordError(f"{data} is not in {low}..{high}", where)
            return data
        case EnumType(_, members) if isinstance(data, str):
            if data not in members:
                raise RecordError(f"'{data}' is not one of: {', '.join(members)}", where)
            return data
        case PlayerType() if isinstance(data, str):
            try:
                return record.seat(data)
            except RecordError as error:
                raise RecordError(str(error), where) from None
        case SetType(element) if isinstance(data, list):
            members_ = [value_in(element, d, record, where) for d in data]
            if len(set(members_)) != len(members_):
                raise NamedTwice(f"{' '.join(map(str, data))} names somebody twice", where)
            return frozenset(members_)
        case OptionalType(inner) if inner is not None:
            return None if data in (None, "none") else value_in(inner, data, record, where)
        case _:
            raise RecordError(f"{json.dumps(data)} is not a value of {type_}", where)


def value_out(type_: Type, value: Value, names: tuple[str, ...]) -> Any:
    """A value of the game as JSON, seats by name."""
    match type_:
        case PlayerType():
            assert isinstance(value, int)
            return names[value]
        case SetType(element):
            assert isinstance(value, frozenset)
            return [value_out(element, v, names) for v in sorted(value)]  # type: ignore[type-var]
        case MapType(PlayerType(), inner):
            assert isinstance(value, tuple)
            return {names[i]: value_out(inner, v, names) for i, v in enumerate(value)}
        case OptionalType(inner):
            return None if value is None or inner is None else value_out(inner, value, names)
        case _:
            return value


# --- JSON --------------------------------------------------------------------------------------------------


def record_to_json(record: Record) -> dict[str, Any]:
    """The record as plain JSON (the documented schema)."""
    c = record.configuration
    events: list[dict[str, Any]] = []
    for e in record.events:
        entry: dict[str, Any] = {"phase": e.phase, **e.values}
        if e.by is not None:
            entry["by"] = e.by
        events.append(entry)
    made: dict[str, Any] = {"game": c.game, "players": list(record.names)}
    if c.modules:
        made["modules"] = list(c.modules)
    if c.roles is not None:
        made["roles"] = list(c.roles)
    if c.rulings:
        made["rulings"] = dict(c.rulings)
    if record.deal:
        made["deal"] = dict(record.deal)
    made["events"] = events
    if record.winner is not None:
        made["winner"] = record.winner
    if record.saved:
        made["saved"] = dict(record.saved)
    return made


_TOP = {"game", "players", "modules", "roles", "rulings", "deal", "events", "winner", "title", "saved"}


def record_from_json(data: Any, paths: tuple[Path, ...] = ()) -> Record:
    """The record a piece of JSON stands for."""
    if not isinstance(data, dict) or "players" not in data:
        raise RecordError("a record is an object with at least 'players'")
    unknown = sorted(set(data) - _TOP)
    if unknown:
        raise RecordError(f"unknown field '{unknown[0]}'; a record has: {', '.join(sorted(_TOP))}")
    names = player_names(data["players"], "players")
    roles = data.get("roles")
    rulings = data.get("rulings", {})
    deal = data.get("deal", {})
    if not isinstance(rulings, dict) or not isinstance(deal, dict):
        raise RecordError("'rulings' and 'deal' are objects")
    if roles is None and len(deal) == len(names):
        roles = list(deal.values())
    configuration = Configuration(
        str(data.get("game", "avalon")),
        len(names),
        tuple(_strings(data.get("modules", []), "modules")),
        tuple(_strings(roles, "roles")) if roles is not None else None,
        {str(k): str(v) for k, v in rulings.items()},
        paths,
    )
    events_data = data.get("events", [])
    if not isinstance(events_data, list):
        raise RecordError("'events' is a list")
    events: list[Event] = []
    for number, entry in enumerate(events_data, 1):
        where = f"event {number}"
        if not isinstance(entry, dict) or not isinstance(entry.get("phase"), str):
            raise RecordError("an event is an object with a 'phase'", where)
        values = {k: v for k, v in entry.items() if k not in ("phase", "by")}
        events.append(Event(entry["phase"], values, entry.get("by"), None, where))
    winner = data.get("winner")
    saved = data.get("saved", {})
    if not isinstance(saved, dict):
        raise RecordError("'saved' is an object")
    record = Record(
        configuration, names, tuple(events), {str(k): str(v) for k, v in deal.items()}, winner, saved=saved
    )
    for name in record.deal:
        record.seat(name)
    return record


def _strings(data: Any, what: str) -> list[str]:
    if not isinstance(data, list) or not all(isinstance(x, str) for x in data):
        raise RecordError(f"'{what}' is a list of names")
    return data


def player_names(data: Any, what: str) -> tuple[str, ...]:
    names = tuple(_strings(data, what))
    if len(set(names)) != len(names):
        raise RecordError(f"two players have the same name: {', '.join(names)}")
    return names
