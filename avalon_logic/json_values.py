"""Values of a game as plain JSON and back, with names for seats: what `records` writes, and maps, bags and stacks too."""

from __future__ import annotations

from typing import Any

from avalon_logic.records import Record, RecordError, value_in, value_out
from rules_dsl import Value
from rules_dsl.types import BagType, IndexType, MapType, OptionalType, PlayerType, StackType, Type
from rules_dsl.values import all_values


def value_to_json(type_: Type, value: Value, names: tuple[str, ...]) -> Any:
    """A value as JSON: maps and bags as objects by the name of the key, sets and stacks as lists, seats by name."""
    match type_:
        case MapType(key, inner):
            assert isinstance(value, tuple)
            pairs = zip(_labels(key, names), value, strict=False)
            return {label: value_to_json(inner, v, names) for label, v in pairs}
        case BagType(element, _):
            assert isinstance(value, tuple)
            return dict(zip(_labels(element, names), value, strict=False))
        case StackType(element, _):
            assert isinstance(value, tuple)
            return [value_out(element, v, names) for v in value]
        case OptionalType(inner):
            return None if value is None or inner is None else value_to_json(inner, value, names)
        case _:
            return None if value is None else value_out(type_, value, names)


def value_from_json(type_: Type, data: Any, record: Record, where: str) -> Value:
    """The value a piece of JSON stands for; raises `RecordError`, with `where` it stood."""
    match type_:
        case MapType(key, inner):
            entries = _entries(key, data, record, where)
            return tuple(value_from_json(inner, entry, record, where) for entry in entries)
        case BagType(element, _):
            counts = _entries(element, data, record, where)
            if not all(isinstance(n, int) and not isinstance(n, bool) for n in counts):
                raise RecordError(f"{data} is not a value of {type_}", where)
            return tuple(counts)
        case StackType(element, _) if isinstance(data, list):
            return tuple(value_in(element, entry, record, where) for entry in data)
        case OptionalType(inner) if inner is not None:
            return None if data is None else value_from_json(inner, data, record, where)
        case _:
            return value_in(type_, data, record, where)


def _labels(key: IndexType, names: tuple[str, ...]) -> list[str]:
    """The keys of a map as an object has them."""
    if isinstance(key, PlayerType):
        return list(names)
    keys = all_values(key, len(names))
    return [str(k).lower() if isinstance(k, bool) else str(k) for k in keys]


def _entries(key: IndexType, data: Any, record: Record, where: str) -> list[Any]:
    labels = _labels(key, record.names)
    if not isinstance(data, dict) or set(data) != set(labels):
        raise RecordError(f"an object with the keys {', '.join(labels)} is needed, not {data!r}", where)
    return [data[label] for label in labels]
