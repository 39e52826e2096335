"""One game found among many, as a record; and the rulings a user names for all of them, of which each game takes its own."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from avalon_logic.configuration import modules_for_roles
from avalon_logic.library import open_model, rulebook_library
from avalon_logic.many.sources import Source
from avalon_logic.reading import record_of_data, record_of_text
from avalon_logic.records import Record, RecordError
from rules_dsl import RulebookError, UnknownName
from rules_dsl.model import Param
from rules_dsl.selection import family_of


def record_of(source: Source, rulings: Mapping[str, str], paths: tuple[Path, ...]) -> Record:
    """The record of a game that was found; raises `RecordError` with its place."""
    assert source.content is not None
    try:
        text = source.content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise RecordError(f"this is not UTF-8 text: {error.reason}", source.place) from None
    if source.place.removesuffix(".gz").endswith(".txt"):
        record = record_of_text(text, Path(source.place), rulings, paths)
    else:
        record = record_of_data(_parsed(text, source.place), rulings, source.place, paths)
    return with_rulings(record, rulings)


def _parsed(text: str, place: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise RecordError(error.msg, f"{place}:{error.colno}") from None
    except (RecursionError, ValueError):
        raise RecordError("this JSON is nested too deep or has a number that is too long", place) from None


def title_of(source: Source) -> str:
    """The game's own name for itself, if it can be read that far."""
    try:
        data = json.loads((source.content or b"").decode("utf-8-sig"))
    except (ValueError, RecursionError):
        return ""
    if not isinstance(data, dict):
        return ""
    return str(data.get("id") or data.get("title") or "")


def with_rulings(record: Record, rulings: Mapping[str, str]) -> Record:
    """The record under the user's rulings, as far as its game knows them."""
    if not rulings:
        return record
    c = record.configuration
    roles = modules_for_roles(c.game, c.roles, c.paths) if c.roles is not None else ()
    params = open_model(c.game, (*c.modules, *roles), paths=c.paths).params
    own = {name: alternative for name, alternative in c.rulings.items() if name not in rulings}
    own |= {name: alternative for name, alternative in rulings.items() if name in params}
    return replace(record, configuration=replace(c, rulings=own))


def check_rulings(rulings: Mapping[str, str], paths: tuple[Path, ...]) -> None:
    """Each must be a ruling of some game or module, with such an alternative; raises `UnknownName`."""
    known: dict[str, dict[str, None]] = {}
    for param in _rulings_there_are(paths):
        known.setdefault(param.name, {}).update(dict.fromkeys(a for a, _ in param.alternatives))
    for name, alternative in rulings.items():
        if name not in known:
            raise UnknownName(
                f"there is no ruling '{name}' in any game; there are: {', '.join(sorted(known))}"
            )
        if alternative not in known[name]:
            allowed = ", ".join(known[name])
            raise UnknownName(f"ruling '{name}' cannot be '{alternative}'; it is one of: {allowed}")


def _rulings_there_are(paths: tuple[Path, ...]) -> Iterator[Param]:
    library = rulebook_library(paths)
    for game in library.games:
        family = {g.name for g in family_of(library, game)}
        fitting = [m.name for m in library.modules.values() if any(b.name in family for b in m.bases)]
        for modules in ((), *((name,) for name in fitting)):
            # what cannot be played by itself, or only with another module, is declared elsewhere too
            with suppress(UnknownName, RulebookError):
                params = open_model(game, modules, paths=paths).params.values()
                yield from (param for param in params if param.kind == "ruling")
