"""What Tab offers at the table: commands and events first, then names, cards and numbers that fit."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from avalon_logic.deduction.setting import assumption_list
from avalon_logic.fields import fields_of
from avalon_logic.table.awaited import awaited
from avalon_logic.table.game import Game
from avalon_logic.table.names import folded, matching
from rules_dsl import model as m
from rules_dsl.types import (
    BOOL,
    BoolType,
    EnumType,
    IntType,
    MapType,
    OptionalType,
    PlayerType,
    SetType,
    Type,
)

HEADINGS = ("players", "game", "with", "roles", "ruling", "deal", "winner")
FACTS = ("why", "if")


def completions(game: Game, text: str, commands: Sequence[str]) -> list[str]:
    """The words that may stand where the text ends, those already begun only."""
    words = text.split()
    begun = "" if not text or text[-1].isspace() else words.pop()
    names = game.record.names if game.record is not None else ()
    return sorted(
        {
            w
            for w in _words(game, words, commands)
            if w != begun and (w.startswith(begun) or (w in names and folded(w).startswith(folded(begun))))
        }
    )


def _words(game: Game, words: list[str], commands: Sequence[str]) -> Iterable[str]:
    if not words:
        return [*commands, *HEADINGS, *_events(game), *_answers(game, [])]
    if game.result is None or game.model is None:
        return ()
    names, model = game.result.record.names, game.model
    command, *said = words
    if command in FACTS:
        places = (names, ("is",), ("not", *game.result.setting.sides, *game.result.setting.roles))
        if said[2:] == ["not"]:
            return (*game.result.setting.sides, *game.result.setting.roles)
        return places[len(said)] if len(said) < 3 else ()
    if command == "assume":
        every = assumption_list(game.result.record.configuration.game, game.paths)
        return [*(a.name for a in every if a.name not in said), "nothing"]
    if command == "as":
        if not said:
            return (*names, "nobody")
        return (*(n for n in names if n not in said), "nobody") if "saw" in said else (*_deck(game), "saw")
    if command == "deal":
        return (f"{name}={role}" for name in names for role in _deck(game))
    if command in model.speeches:
        parameters = model.speeches[command].parameters
        return _values(parameters[len(said)][1], names, ()) if len(said) < len(parameters) else ()
    return [*_of_event(model, command, said, names), *_answers(game, words)]


def _answers(game: Game, words: list[str]) -> Iterator[str]:
    """What goes on with a bare answer to the prompt."""
    if game.result is None or game.model is None:
        return
    names = game.result.record.names
    told = [name for w in words for name in matching(w, names)[:1]]
    if len(told) == len(words):
        for due in awaited(game):
            yield from _of_event(game.model, due.phase, told, names)
            if _says_who(game.model, due.phase):
                yield from (n for n in names if n not in told)


def _says_who(model: m.Model, phase: str) -> bool:
    """Can the event be told by the names of those who say yes?"""
    return any(isinstance(f.type, MapType) and f.type.value == BOOL for f in fields_of(model, phase))


def _deck(game: Game) -> list[str]:
    assert game.result is not None
    return list(game.result.setting.roles)


def _events(game: Game) -> Iterator[str]:
    if game.model is not None:
        yield from (p for p in game.model.phases if fields_of(game.model, p))
        yield from game.model.speeches


def _of_event(model: m.Model, word: str, said: list[str], names: tuple[str, ...]) -> Iterator[str]:
    matches = [p for p in model.phases if p == word] or [p for p in model.phases if p.startswith(word)]
    if len(matches) != 1:
        return
    if said[-1:] == ["by"]:
        yield from names
        return
    for spec in fields_of(model, matches[0]):
        yield from _values(spec.type, names, said)
    if said and "by" not in said:
        yield "by"


def _values(type_: Type, names: tuple[str, ...], said: Sequence[str]) -> Iterator[str]:
    match type_:
        case PlayerType():
            yield from names
        case SetType(element):
            yield from (w for w in _values(element, names, ()) if w not in said)
        case EnumType(_, members):
            yield from members
        case IntType(low, high) if high - low <= 12:
            yield from map(str, range(low, high + 1))
        case OptionalType(inner) if inner is not None:
            yield from (*_values(inner, names, said), "none")
        case MapType(PlayerType(), BoolType()):
            yield from ("+", "-", "?")
        case MapType(PlayerType(), inner):
            yield from (f"{n}={v}" for n in names for v in _values(inner, names, ()))
        case _:
            return
