"""Reading a record, for every command alike: a file's text or a line of JSON in, a `Record` out.

A record is typed at the table, is JSON of ours, or is a game of another site's log. Rulings that a user names win over
those of the record and over those taken from a log.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from avalon_logic.configuration import Configuration, examine
from avalon_logic.logs import import_game, is_log
from avalon_logic.records import Record, RecordError, record_from_json, under_rulings
from avalon_logic.typed_records import read_record
from rules_dsl import Model


def model_of(configuration: Configuration) -> Model:
    """The model a text record speaks of."""
    return examine(configuration).model


def record_of_text(
    text: str, path: Path | None, rulings: Mapping[str, str] | None = None, paths: tuple[Path, ...] = ()
) -> Record:
    """The record a text stands for, which was read from a file (None: from anywhere else)."""
    if text.lstrip().startswith("{"):
        try:
            data = json.loads(text)
        except (json.JSONDecodeError, RecursionError):
            data = None  # read_record says where
        if data is not None and is_log(data):
            return import_game(data, rulings)
    return under_rulings(read_record(path, text, model_of, paths), rulings or {})


def record_of_data(
    data: Any | RecordError,
    rulings: Mapping[str, str] | None = None,
    where: str = "",
    paths: tuple[Path, ...] = (),
) -> Record:
    """The record a piece of JSON stands for, such as a line of a file of many games; an error is passed on."""
    if isinstance(data, RecordError):
        raise data
    if is_log(data):
        return import_game(data, rulings, where)
    return under_rulings(record_from_json(data, paths), rulings or {})
