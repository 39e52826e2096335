"""One record of a game: who sat where, what was agreed, and what happened; as JSON, or typed (see `typed_records`).

An event is a phase of the rulebook with whatever of it was written down; what is left out is unknown, not false. The
fields of an event are the choices and published values of that phase, so every module is covered without new code.
An event speaks of the next visit of its phase that no event before it has spoken of.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from avalon_logic.configuration import Configuration
from rules_dsl import Model, Value
from rules_dsl.types import (
    BagType,
    BoolType,
    EnumType,
    IndexType,
    IntType,
    MapType,
    OptionalType,
    PlayerType,
    SetType,
    StackType,
    Type,
    cardinality,
    is_index,
)
from rules_dsl.values import all_values, ordinal


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
    """A game as written down. `deal` gives roles by name, as far as known.

    `adopted` are rulings that were taken from what the record shows, with what showed them; `unused` names what the
    record says and nobody reads.
    """

    configuration: Configuration
    names: tuple[str, ...]
    events: tuple[Event, ...] = ()
    deal: Mapping[str, str] = field(default_factory=dict)
    winner: str | None = None
    title: str = ""
    adopted: Mapping[str, str] = field(default_factory=dict)
    unused: tuple[str, ...] = ()
    saved: Mapping[str, Any] = field(default_factory=dict)  # what a server needs to go on; see `saving`

    def seat(self, name: str) -> int:
        try:
            return self.names.index(name)
        except ValueError:
            raise RecordError(f"nobody is called '{name}'; at the table: {', '.join(self.names)}") from None


def remarks(record: Record) -> Iterator[str]:
    """What must be said of how a record was read: rulings that were adopted, and what nobody reads."""
    for name, why in record.adopted.items():
        yield f"ruling {name} = {record.configuration.rulings[name]}, because {why}"
    if record.unused:
        yield f"not used: {'; '.join(record.unused)}"


def under_rulings(record: Record, rulings: Mapping[str, str]) -> Record:
    """The record under rulings that a user names; they win over its own and over what was adopted."""
    merged = {**record.configuration.rulings, **rulings}
    adopted = {name: why for name, why in record.adopted.items() if name not in rulings}
    return replace(record, configuration=replace(record.configuration, rulings=merged), adopted=adopted)


def without_places(unused: tuple[str, ...]) -> set[str]:
    """What was not used, without saying where, to count it over many games."""
    return {re.sub(r"^event \d+: | \(\d+\)$", "", what) for what in unused}


# --- values, with names for seats -------------------------------------------------------------------------

NONE = "none"  # nothing was chosen or shown; null says only that nobody wrote it down


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
        case MapType(key, inner) if isinstance(data, dict):
            entries = entries_in(key, inner, data, record, where)
            keys = [key_out(key, k, record.names) for k in all_values(key, len(record.names))]
            missing = next((k for i, k in enumerate(keys) if i not in entries), None)
            if missing is not None:
                raise RecordError(f"'{missing}' is missing; write one for each of: {', '.join(keys)}", where)
            return tuple(entries[i] for i in range(len(keys)))
        case BagType(element, most) if isinstance(data, dict):
            counts = entries_in(element, IntType(0, most), data, record, where)
            return tuple(counts.get(i, 0) for i in range(cardinality(element)))
        case StackType(element, depth) if isinstance(data, list):
            if len(data) > depth:
                raise RecordError(f"{len(data)} lie there, and {depth} is the most", where)
            return tuple(value_in(element, d, record, where) for d in data)
        case OptionalType(inner) if inner is not None:
            if data == NONE and isinstance(inner, PlayerType) and NONE in record.names:
                raise RecordError(
                    f"'{NONE}' means nobody here; give the player called so another name", where
                )
            return None if data in (None, NONE) else value_in(inner, data, record, where)
        case _:
            raise RecordError(f"{json.dumps(data)} is not a value of {type_}", where)


def entries_in(
    key: IndexType, inner: Type, data: Mapping[Any, Any], record: Record, where: str
) -> dict[int, Value]:
    """The entries of a map that were written down, by their places."""
    found: dict[int, Value] = {}
    for written, entry in data.items():
        place = ordinal(key, key_in(key, written, record, where))
        if place in found:
            raise RecordError(f"'{written}' is written down twice", where)
        if entry is not None:
            found[place] = value_in(inner, entry, record, where)
    return found


def key_in(type_: IndexType, data: Any, record: Record, where: str) -> Value:
    """A key of a JSON object, where everything is a string, as a value."""
    if isinstance(type_, IntType) and isinstance(data, str) and re.fullmatch(r"-?[0-9]{1,9}", data):
        return value_in(type_, int(data), record, where)
    if isinstance(type_, BoolType) and data in ("true", "false"):
        return bool(data == "true")
    return value_in(type_, data, record, where)


def as_key(type_: Type) -> IndexType:
    """The type of a result, which a record writes as it writes a key."""
    if not is_index(type_):
        raise RecordError(f"a winner of type {type_} cannot be written down")
    return type_


def key_out(type_: IndexType, value: Value, names: tuple[str, ...]) -> str:
    """A value as a key of a JSON object."""
    shown = value_out(type_, value, names)
    return str(shown).lower() if isinstance(shown, bool) else str(shown)


NOBODY_WON = "nobody"  # the winner of a game that ended without one


def winner_in(model: Model, record: Record) -> Value:
    """Who won by the record, None for a game that ended without a winner; raises `RecordError`."""
    if record.winner == NOBODY_WON:
        return None
    return key_in(as_key(model.result), record.winner, record, "winner")


def value_out(type_: Type, value: Value, names: tuple[str, ...]) -> Any:
    """A value of the game as JSON, seats by name."""
    match type_:
        case PlayerType():
            assert isinstance(value, int)
            return names[value]
        case SetType(element):
            assert isinstance(value, frozenset)
            return [value_out(element, v, names) for v in sorted(value, key=lambda v: ordinal(element, v))]
        case MapType(key, inner):
            assert isinstance(value, tuple)
            keys = all_values(key, len(names))
            return {
                key_out(key, k, names): value_out(inner, v, names) for k, v in zip(keys, value, strict=False)
            }
        case BagType(element, _):
            assert isinstance(value, tuple)
            kinds = all_values(element, len(names))
            return {key_out(element, k, names): n for k, n in zip(kinds, value, strict=False) if n}
        case StackType(element, _):
            assert isinstance(value, tuple)
            return [value_out(element, v, names) for v in value]
        case OptionalType(inner):
            return NONE if value is None or inner is None else value_out(inner, value, names)
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
    if record.title:
        made["title"] = record.title
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
    for name, given in (("rulings", rulings), ("deal", deal)):
        if not isinstance(given, dict) or not all(isinstance(v, str) for v in given.values()):
            raise RecordError(f"'{name}' is an object of strings")
    for name in ("game", "winner", "title"):
        if not isinstance(data.get(name, ""), str | None if name == "winner" else str):
            raise RecordError(f"'{name}' is a string, not {json.dumps(data[name])}")
    if roles is None and len(deal) == len(names):
        roles = list(deal.values())
    configuration = Configuration(
        data.get("game", "avalon"),
        len(names),
        tuple(_strings(data.get("modules", []), "modules")),
        tuple(_strings(roles, "roles")) if roles is not None else None,
        dict(rulings),
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
    saved = data.get("saved", {})
    if not isinstance(saved, dict):
        raise RecordError("'saved' is an object")
    record = Record(
        configuration,
        names,
        tuple(events),
        dict(deal),
        data.get("winner"),
        data.get("title", ""),
        saved=saved,
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
