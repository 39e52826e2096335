"""The words of one field of an event, spelled out: names in full, votes as + and -, numbers as they are."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from avalon_logic.fields import Field
from avalon_logic.table.awaited import value_for
from avalon_logic.table.game import Game, NotTaken
from avalon_logic.table.names import matching, picked, player
from avalon_logic.typed_records import NOBODY
from rules_dsl.types import BoolType, EnumType, IntType, MapType, OptionalType, PlayerType, SetType, Type

EVERYBODY = ("all", "everybody", "everyone")
MINUS = str.maketrans("−–—", "---")  # what telephones make of a hyphen
MARKS = {"+": "+", "y": "+", "yes": "+", "-": "-", "n": "-", "no": "-", "?": "?"}
PLAIN_ANSWERS = (*MARKS, *EVERYBODY, *NOBODY)


def field_words(game: Game, spec: Field, words: list[str], stops: set[str]) -> list[str]:
    """Takes the words of a field."""
    assert game.record is not None
    names = game.record.names
    if words[0] == "?":
        return [words.pop(0)]
    match spec.type:
        case SetType(PlayerType()):
            taken = [player(words.pop(0), names)]
            while words and matching(words[0], names):
                taken.append(player(words.pop(0), names))
            return taken
        case MapType(PlayerType(), inner):
            until = next((i for i, w in enumerate(words) if i and w in stops), len(words))
            taken, words[:] = words[:until], words[until:]
            if isinstance(inner, BoolType):
                return ballot(game, spec, taken)
            return [pair_word(w, game, lambda value: value_word(inner, value, names)) for w in taken]
        case SetType(element):
            taken, words[:] = words[:], []
            return [value_word(element, w, names) for w in taken]
        case MapType():
            taken, words[:] = words[:], []
            return taken
        case _:
            try:
                return [value_word(spec.type, words.pop(0), names)]
            except NotTaken as error:
                raise NotTaken(f"{spec.name}: {error.message}") from None


def value_word(type_: Type, word: str, names: Sequence[str]) -> str:
    """One word that stands for a value."""
    match type_:
        case PlayerType():
            return player(word, names)
        case EnumType(_, members):
            return picked(word, members)
        case OptionalType(inner) if inner is not None:
            return "none" if word.lower() == "none" else value_word(inner, word, names)
        case SetType(element):
            if word.lower() in NOBODY:
                return word.lower()
            return "+".join(value_word(element, w, names) for w in word.split("+"))
        case BoolType():
            return MARKS.get(word.translate(MINUS).lower(), word)
        case IntType() if not re.fullmatch(r"-?[0-9]+", word):
            raise NotTaken(f"'{word}' is not a number")
        case _:
            return word


def pair_word(word: str, game: Game, value: Callable[[str], str]) -> str:
    """`NAME=VALUE` with both spelled out."""
    assert game.record is not None
    name, sign, given = word.partition("=")
    if not sign:
        raise NotTaken(f"write {name}=value")
    return f"{player(name, game.record.names)}={given if given == '?' else value(given)}"


# --- a yes or no of everybody ---


def ballot(game: Game, spec: Field, words: list[str]) -> list[str]:
    """`++-++`, `yynyy`, `+ + - + +`, `+Ann -Bob`, `Ann=+`, the names of those who say yes, or: all, nobody."""
    assert game.record is not None
    names = game.record.names
    plain = [w.translate(MINUS) for w in words]
    marks = [MARKS.get(w.lower(), "") for w in plain]
    if len(plain) == 1 and (pattern := _pattern(game, spec, plain[0])) is not None:
        return [pattern]
    exact = {n.casefold() for n in names}
    if all(marks) and not (len(marks) != len(names) and all(w.casefold() in exact for w in plain)):
        if len(marks) != len(names):
            raise _miscounted(len(marks), len(names))
        return marks
    if all(w[0] in "+-" and len(w) > 1 for w in plain):
        return [w[0] + player(w[1:], names) for w in plain]
    if any("=" in w for w in plain):
        return [pair_word(w, game, lambda value: value_word(BoolType(), value, names)) for w in plain]
    voters = _choosers(game, spec)
    if voters is None:
        raise NotTaken("write + or - before every name")
    alone = plain[0].lower() if len(plain) == 1 and not matching(plain[0], names) else ""
    if alone in EVERYBODY:
        plain = [names[v] for v in voters]
    agreed = [] if alone in NOBODY else [player(w, names) for w in plain]
    twice = next((n for n in agreed if agreed.count(n) > 1), None)
    if twice is not None:
        raise NotTaken(f"{twice} is named twice")
    return ["".join("?" if s not in voters else "+" if n in agreed else "-" for s, n in enumerate(names))]


def _pattern(game: Game, spec: Field, word: str) -> str | None:
    """One mark for every seat, or for everybody who chooses; None if the word is something else."""
    assert game.record is not None
    names = game.record.names
    if len(word) < 2 or not re.fullmatch(r"[-+?yn]+", word.lower()):
        return None
    marks = "".join(MARKS[c] for c in word.lower())
    if len(marks) == len(names):
        return marks
    voters = _choosers(game, spec)
    if voters is not None and len(marks) == len(voters):
        given = iter(marks)
        return "".join(next(given) if s in voters else "?" for s in range(len(names)))
    if matching(word, names):
        return None
    raise _miscounted(len(marks), len(names))


def _miscounted(votes: int, players: int) -> NotTaken:
    return NotTaken(
        f"{votes} {'vote' if votes == 1 else 'votes'} for {players} players; write ? for one not known"
    )


def _choosers(game: Game, spec: Field) -> tuple[int, ...] | None:
    """The seats that choose together, as far as everybody knows who they are."""
    assert game.record is not None and game.neutral is not None
    chooser = None if spec.choice is None else spec.choice.chooser
    if chooser is None or chooser.kind != "each" or chooser.condition is not None:
        return None
    if chooser.domain is None:
        return tuple(range(len(game.record.names)))
    found = {value_for(b, chooser.domain) for b in game.neutral.inquiry.beliefs}
    only = found.pop() if len(found) == 1 else None
    return tuple(sorted(s for s in only if isinstance(s, int))) if isinstance(only, frozenset) else None
