"""What is typed at the table as a line of a record: an event, or the bare answer to what the prompt asks for.

`spelled(game, line)` gives the line as it is kept: with the event before it, names in full, votes as + and -. Nothing is
decided here: whether the line is allowed, the rules say when it is entered.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from avalon_logic.configuration import Configuration, Refused
from avalon_logic.fields import fields_of
from avalon_logic.reading import model_of
from avalon_logic.records import RecordError
from avalon_logic.table.awaited import awaited
from avalon_logic.table.game import Game, NotTaken, enter
from avalon_logic.table.names import matching, meant, picked, player
from avalon_logic.table.spelling import MINUS, PLAIN_ANSWERS, field_words, pair_word, value_word
from avalon_logic.typed_records import HEADS, NOBODY, event_from_line, record_from_text
from rules_dsl import BadParameter, UnknownName
from rules_dsl import model as m
from rules_dsl.types import EnumType, PlayerType, SetType

LONGEST_WORD = 400


def spelled(game: Game, line: str) -> str:
    """The line of a record that was meant; raises `NotTaken` if that is not clear."""
    said, sign, remark = line.partition("#")
    words = [w for w in re.split(r"[\s,]+", said.strip()) if w]
    if not words:
        return line
    if max(map(len, words)) > LONGEST_WORD:
        raise NotTaken(f"a word of more than {LONGEST_WORD} characters is no name and no event")
    made = _begun(game, words) if game.record is None else _meant(game, words)
    if made == words:
        return line
    return f"{' '.join(made)}{'  #' + remark if sign else ''}"


def needs_event_first(game: Game, commands: Sequence[str]) -> tuple[str, ...]:
    """The players whose names are words of the table: a line cannot begin with them."""
    if game.record is None or game.model is None:
        return ()
    words = {w.lower() for w in (*commands, *HEADS, *game.model.phases, *game.model.speeches)}
    return tuple(name for name in game.record.names if name.lower() in words)


# --- before it is known who plays ---


def _begun(game: Game, words: list[str]) -> list[str]:
    word = words[0].rstrip(":")
    if word.lower() in HEADS:
        return words
    known = (*HEADS, *_events_to_come(game))
    guess = "" if word in PLAIN_ANSWERS else meant(word, known)
    if word.lower() in known or guess:
        raise NotTaken(
            f"who plays? For example: players Ann Bob Cid Dan Eve{'' if word.lower() in known else guess}"
        )
    return ["players", *words]


def _events_to_come(game: Game) -> tuple[str, ...]:
    """The events of the game that the lines so far speak of, played by nobody yet."""
    try:
        record = record_from_text("\n".join((*game.lines, "players 1 2 3 4 5")), model_of, game.paths)
        model = model_of(Configuration(record.configuration.game, 5, paths=game.paths))
    except (RecordError, UnknownName, BadParameter, Refused):
        return ()
    return (*model.phases, *model.speeches)


# --- during the game ---


def _meant(game: Game, words: list[str]) -> list[str]:
    assert game.record is not None and game.model is not None
    word = words[0].rstrip(":").lower()
    if word in HEADS:
        return _heading(game, word, words)
    events = (*_phases(game.model), *game.model.speeches)
    if words[0] in events and _reads_as_it_is(game, words):
        return words
    if word in (e.lower() for e in events):
        return _event(game, next(e for e in events if e.lower() == word), words)
    answers, faults = _answers(game, words)
    if len(answers) == 1:
        return answers[0]
    if len(answers) > 1:
        forms = " or: ".join(" ".join(a) for a in answers)
        raise NotTaken(f"that could be several things; write: {forms}")
    begun = [e for e in events if e.lower().startswith(word) and word not in PLAIN_ANSWERS]
    if len(begun) == 1:
        return _event(game, begun[0], words)
    if begun:
        raise NotTaken(f"'{word}' could be {' or '.join(begun)}")
    known = [e for e in events if e in game.model.speeches or fields_of(game.model, e)]
    guess = "" if word in PLAIN_ANSWERS else meant(word, known)
    if faults and _like_an_answer(game, words) and not (guess and not matching(words[0], game.record.names)):
        raise faults[0]
    if not awaited(game):
        raise NotTaken("the game is over; 'undo' takes the last line back")
    raise NotTaken(
        f"'{words[0]}' is no event of this game, no command and nobody's name{guess}; "
        f"events: {', '.join(known)}; 'help' says more"
    )


def _reads_as_it_is(game: Game, words: list[str]) -> bool:
    """Is it a line of a record already, with nothing to spell out?"""
    assert game.record is not None and game.model is not None
    try:
        event_from_line(" ".join(words), game.model, game.record)
    except RecordError:
        return False
    return True


def _phases(model: m.Model) -> list[str]:
    """The phases of which something can be written down, and those that can only be said to have come."""
    return sorted(model.phases, key=lambda p: not fields_of(model, p))


def _answers(game: Game, words: list[str]) -> tuple[list[list[str]], list[NotTaken]]:
    """The lines that a bare answer can stand for, and what is wrong with it if there is none."""
    made: list[list[str]] = []
    faults: list[NotTaken] = []
    for due in awaited(game):
        try:
            made.append(_event(game, due.phase, [due.phase, *words]))
        except NotTaken as fault:
            faults.append(fault)
    if len(made) > 1:
        made = [line for line in made if _allowed(game, line)] or made
    return made, faults


def _allowed(game: Game, words: list[str]) -> bool:
    try:
        enter(game, " ".join(words))
    except NotTaken:
        return False
    return True


def _like_an_answer(game: Game, words: list[str]) -> bool:
    """Does it look more like an answer than like an event mistyped?"""
    assert game.record is not None
    names = game.record.names
    return any(
        matching(w.lstrip("+-"), names)
        or w.isdecimal()
        or w.lower() in PLAIN_ANSWERS
        or re.fullmatch(r"[-+?yn]+", w.translate(MINUS).lower())
        for w in words
    )


def _heading(game: Game, word: str, words: list[str]) -> list[str]:
    assert game.record is not None and game.result is not None and game.model is not None
    head, *rest = words
    if word == "deal":
        roles = game.result.setting.roles
        return [head, *(pair_word(w, game, lambda role: picked(role, roles)) for w in rest)]
    if word == "winner" and len(rest) == 1 and isinstance(game.model.result, EnumType):
        return [head, picked(rest[0], game.model.result.members)]
    return words


def _event(game: Game, event: str, words: list[str]) -> list[str]:
    """A line of an event, its first word aside, with everything spelled out."""
    assert game.record is not None and game.model is not None
    names, model = game.record.names, game.model
    rest = words[1:]
    if event in model.speeches:
        types = [t for _, t in model.speeches[event].parameters]
        if len(types) != len(rest):
            return [event, *rest]
        return [event, *(value_word(t, w, names) for t, w in zip(types, rest, strict=True))]
    by: list[str] = []
    at = next((i for i, w in enumerate(rest) if w.lower() == "by"), None)
    if at is not None and at + 1 < len(rest):
        by = ["by", player(rest[at + 1], names)]
        del rest[at : at + 2]
    made: list[str] = []
    specs = fields_of(model, event)
    for place, spec in enumerate(specs):
        if not rest:
            break
        named = rest[0].rstrip(":=").lower()
        if named == spec.name.lower() and len(rest) > 1:
            made.append(spec.name)
            rest.pop(0)
        elif named in {s.name.lower() for s in specs[place + 1 :]}:
            continue
        made += field_words(game, spec, rest, {s.name for s in specs[place + 1 :]})
    if rest:
        if specs and isinstance(specs[-1].type, SetType) and isinstance(specs[-1].type.element, PlayerType):
            player(rest[0], names)  # says that nobody has this name
        raise NotTaken(f"'{' '.join(rest)}' is too much for '{event}'")
    return [event, *made, *by]


# --- commands ---


def spelled_view(game: Game, said: str) -> str:
    """`as NAME [ROLE] [saw NAMES]` with names and card in full."""
    if game.record is None or game.result is None:
        return said
    names, roles = game.record.names, game.result.setting.roles
    command, *words = said.split()
    if command != "as" or [w.lower() for w in words] in ([n] for n in NOBODY):
        return said.lower() if command == "as" else said
    made: list[str] = []
    seeing = False
    for place, word in enumerate(words):
        if word.lower() == "saw" and place:
            seeing = True
            made.append("saw")
        elif seeing and word.lower() in NOBODY:
            made.append(NOBODY[0])
        elif seeing or place == 0:
            made.append(player(word, names))
        else:
            made.append(picked(word, roles))
    return " ".join([command, *made])


def spelled_fact(game: Game, said: str) -> str:
    """`NAME is [not] ROLE-OR-SIDE` with the name and what it is in full."""
    words = said.split()
    if game.record is None or game.result is None or len(words) < 3 or words[1].lower() != "is":
        return said
    setting = game.result.setting
    what = words[-1].rstrip(".")
    return " ".join(
        [
            player(words[0], game.record.names),
            *(w.lower() for w in words[1:-1]),
            picked(what, (*setting.sides, *setting.roles)),
        ]
    )
