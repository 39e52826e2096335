"""avalon_logic: the games of the Resistance family, as rulebooks, and what people do with them.

What a program of yours needs stands here: `Match` (docs/server.md), records, deduction; `replay` is in the module of that
name. A name is loaded when it is first asked for, so that importing the package is quick.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from avalon_logic.configuration import Configuration, Refused, engine_of
    from avalon_logic.deduction import deduce
    from avalon_logic.match import Match
    from avalon_logic.records import Record, RecordError, record_from_json, record_to_json
    from avalon_logic.simulation import simulate
    from avalon_logic.typed_records import read_record
    from rules_dsl import BadParameter, Game, RulebookError, UnknownName
    from rules_dsl.play import IllegalMove

_HOMES = {
    "BadParameter": "rules_dsl",
    "Configuration": "avalon_logic.configuration",
    "Game": "rules_dsl",
    "IllegalMove": "rules_dsl.play",
    "Match": "avalon_logic.match",
    "Record": "avalon_logic.records",
    "RecordError": "avalon_logic.records",
    "Refused": "avalon_logic.configuration",
    "RulebookError": "rules_dsl",
    "UnknownName": "rules_dsl",
    "deduce": "avalon_logic.deduction",
    "engine_of": "avalon_logic.configuration",
    "read_record": "avalon_logic.typed_records",
    "record_from_json": "avalon_logic.records",
    "record_to_json": "avalon_logic.records",
    "simulate": "avalon_logic.simulation",
}

__all__ = [
    "BadParameter",
    "Configuration",
    "Game",
    "IllegalMove",
    "Match",
    "Record",
    "RecordError",
    "Refused",
    "RulebookError",
    "UnknownName",
    "deduce",
    "engine_of",
    "read_record",
    "record_from_json",
    "record_to_json",
    "simulate",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'avalon_logic' has no attribute '{name}'")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
