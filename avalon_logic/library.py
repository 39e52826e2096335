"""The rulebooks that come with the package, and a user's own: files in, a model out.

`open_model` gives the model of a game with modules, parameters still open; parsing the shipped files is done once
per process.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from importlib.resources import files
from pathlib import Path

from rules_dsl import Library, Model, build_model, compose, library, parse
from rules_dsl.diagnostics import fail
from rules_dsl.source import SourceText, Span
from rules_dsl.syntax import Rulebook


@lru_cache(maxsize=1)
def shipped_rulebooks() -> tuple[Rulebook, ...]:
    """Every rulebook of the package, parsed."""
    folder = files("avalon_logic") / "rulebooks"
    found = sorted((f for f in folder.iterdir() if f.name.endswith(".rules")), key=lambda f: f.name)
    return tuple(parse(f.read_text(encoding="utf-8"), f.name) for f in found)


def read_rulebook(path: Path) -> Rulebook:
    """A rulebook from a file of the user's."""
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        start = SourceText("", str(path))
        raise fail("E007", f"this file is not UTF-8 text: {error.reason}", Span(start, 0, 0)) from None
    return parse(text, str(path))


@lru_cache(maxsize=8)
def _library(paths: tuple[Path, ...]) -> Library:
    return library((*shipped_rulebooks(), *(read_rulebook(path) for path in paths)))


def rulebook_library(paths: Iterable[Path] = ()) -> Library:
    """The shipped rulebooks together with the user's files."""
    return _library(tuple(paths))


@lru_cache(maxsize=64)
def _model(
    paths: tuple[Path, ...], game: str, modules: tuple[str, ...], open_modules: tuple[str, ...]
) -> Model:
    return build_model(compose(rulebook_library(paths), game, modules, open_modules))


def open_model(
    game: str,
    modules: Sequence[str] = (),
    *,
    paths: Iterable[Path] = (),
    open_modules: Sequence[str] = (),
) -> Model:
    """The model of a game with modules, its parameters (players, deck, rulings) still to be fixed."""
    return _model(tuple(paths), game, tuple(sorted(set(modules))), tuple(sorted(set(open_modules))))
