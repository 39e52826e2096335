"""A record as people type it at the table: headings, then a line for each event. Reads and writes it; `read_record` takes
this form or JSON.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

from avalon_logic.blame import leads_silently
from avalon_logic.configuration import Configuration
from avalon_logic.fields import Field, fields_of
from avalon_logic.records import (
    NONE,
    Event,
    Record,
    RecordError,
    key_in,
    key_out,
    player_names,
    record_from_json,
    value_in,
)
from rules_dsl import Model
from rules_dsl.flow import successors
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
)

MOST_CHARACTERS = 5_000_000
HEADS = (
    "game",
    "with",
    "players",
    "roles",
    "ruling",
    "deal",
    "title",
    "winner",
)  # what a record says besides events
ONCE = ("game", "with", "players", "roles", "title", "winner")  # headings that a second one would contradict


def record_from_text(text: str, model_of: Any, paths: tuple[Path, ...] = ()) -> Record:
    """A record typed at the table: headings, then a line for each event.

    `model_of(configuration)` gives the model whose phases the lines speak of.
    """
    heads: dict[str, Any] = {"game": "avalon", "with": [], "rulings": {}, "deal": {}}
    lines: list[tuple[int, str]] = []
    told: dict[str, int] = {}
    for number, raw in enumerate(text.splitlines(), 1):
        line = raw.split("#")[0].strip()
        if not line:
            continue
        word, _, rest = line.partition(" ")
        word, rest = word.rstrip(":").lower(), rest.strip()
        where = f"line {number}"
        if word in ONCE:
            if word in told:
                raise RecordError(f"'{word}' was said in line {told[word]} already", where)
            told[word] = number
        if word == "game":
            heads["game"] = rest
        elif word in ("with", "roles", "players"):
            heads[word] = [x for x in re.split(r"[\s,]+", rest) if x]
        elif word == "ruling":
            name, sign, choice = (x.strip() for x in rest.partition("="))
            if not sign:
                raise RecordError("write: ruling NAME = ALTERNATIVE", where)
            if heads["rulings"].get(name, choice) != choice:
                raise RecordError(f"ruling '{name}' was {heads['rulings'][name]} before", where)
            heads["rulings"][name] = choice
        elif word == "deal":
            for pair in re.split(r"[\s,]+", rest):
                name, _, role = pair.partition("=")
                if not (name and role):
                    raise RecordError("write: deal Ann=merlin Bob=servant ...", where)
                if heads["deal"].get(name, role) != role:
                    raise RecordError(f"{name} held {heads['deal'][name]} before", where)
                heads["deal"][name] = role
        elif word == "winner":
            heads["winner"] = rest
        elif word == "title":
            heads["title"] = rest
        else:
            lines.append((number, line))
    if "players" not in heads:
        raise RecordError("who plays? write a line: players Ann Bob Cid Dan Eve")
    names = player_names(heads["players"], "players")
    roles = heads.get("roles")
    if roles is None and len(heads["deal"]) == len(names):
        roles = list(heads["deal"].values())
    configuration = Configuration(
        heads["game"],
        len(names),
        tuple(heads["with"]),
        tuple(roles) if roles is not None else None,
        heads["rulings"],
        paths,
    )
    record = Record(configuration, names, (), heads["deal"], heads.get("winner"), heads.get("title", ""))
    for name in record.deal:
        record.seat(name)
    model = model_of(configuration)
    events: list[Event] = []
    for number, line in lines:
        add_event(events, event_from_line(line, model, record, f"line {number}"), model)
    return Record(configuration, names, tuple(events), record.deal, record.winner, record.title)


def add_event(events: list[Event], event: Event, model: Model) -> None:
    """Puts an event after others; what several seats were shown in one phase, line by line, is one event.

    Where a phase can come twice in a row every line is a visit of its own.
    """
    shown = (
        {f.name for f in fields_of(model, event.phase) if f.shown} if event.phase in model.phases else set()
    )
    last = events[-1] if events else None
    if last is None or last.phase != event.phase or not event.values or not set(event.values) <= shown:
        events.append(event)
        return
    if any(
        leads_silently(model, following, event.phase) for following in successors(model.phases[event.phase])
    ):
        events.append(event)
        return
    values = dict(last.values)
    for name, told in event.values.items():
        already = values.get(name, {})
        twice = sorted(set(already) & set(told))
        if twice:
            raise RecordError(f"what {twice[0]} was shown is told twice", event.where)
        values[name] = {**already, **told}
    events[-1] = Event(last.phase, values, last.by, last.then, last.where)


def event_from_line(line: str, model: Model, record: Record, where: str = "") -> Event:
    """One typed line as an event: the phase, then its values in order, or `name=value`."""
    words = [w for w in re.split(r"[\s,]+", line.strip()) if w]
    word = words.pop(0).rstrip(":")
    if word in model.speeches:
        parameters = model.speeches[word].parameters
        if len(words) != len(parameters):
            shown = " ".join(name for name, _ in parameters)
            raise RecordError(f"write: {word} {shown}", where)
        values = {name: _typed(t, w, record, where) for (name, t), w in zip(parameters, words, strict=True)}
        return Event(word, values, None, None, where)
    matches = [p for p in model.phases if p == word] or [p for p in model.phases if p.startswith(word)]
    if len(matches) != 1:
        known = ", ".join(p for p in model.phases if fields_of(model, p))
        what = "could be " + " or ".join(matches) if matches else "is no event of this game"
        heads = "" if matches else f"; before them: {', '.join(HEADS)}"
        raise RecordError(f"'{word}' {what}; events: {known}{heads}", where)
    phase = matches[0]
    by: str | None = None
    if "by" in words:
        at = words.index("by")
        if at + 1 >= len(words):
            raise RecordError("'by' is followed by a name", where)
        by = words[at + 1]
        record.seat(by)
        del words[at : at + 2]
    values = {}
    specs = fields_of(model, phase)
    waiting = list(specs)
    while words and waiting:
        named = words[0].rstrip(":=")
        meant = [s for s in waiting if named == (s.name if s.speaks else s.what)] if len(words) > 1 else []
        if meant:
            words.pop(0)
        spec = next((s for s in meant or waiting if meant or not s.speaks), None)
        if spec is None:
            break
        # a field named passes those before it by, unless they are named later
        waiting = [s for s in waiting if s is not spec]
        if meant:
            after = [s for s in waiting if specs.index(s) > specs.index(spec)]
            waiting = after + [s for s in waiting if s not in after]
        stops = {s.name if s.speaks else s.what for s in waiting}
        value = _take(spec, words, record, where, stops)
        if value is not _UNKNOWN:
            values[spec.name] = value
    if words:
        if specs and isinstance(specs[-1].type, SetType) and isinstance(specs[-1].type.element, PlayerType):
            value_in(specs[-1].type.element, words[0], record, where)  # says that nobody has this name
        raise RecordError(f"'{' '.join(words)}' is too much for '{phase}'", where)
    return Event(phase, values, by, None, where)


_UNKNOWN = object()
NOBODY = ("nobody", "none", "nothing")
_YES = {"+", "yes", "y", "approve", "true", "1"}
_NO = {"-", "no", "n", "reject", "false", "0"}


def _typed(type_: Type, word: str, record: Record, where: str) -> Any:
    match type_:
        case IntType():
            if not re.fullmatch(r"-?[0-9]+", word):
                raise RecordError(f"'{word}' is not a number", where)
            return int(word)
        case BoolType():
            if word.lower() not in _YES | _NO:
                raise RecordError(f"'{word}' is neither + nor -", where)
            return word.lower() in _YES
        case OptionalType(inner) if inner is not None:
            return NONE if word == NONE else _typed(inner, word, record, where)
        case PlayerType():
            record.seat(word)
            return word
        case EnumType(_, members):
            matches = [x for x in members if x == word] or [x for x in members if x.startswith(word)]
            if len(matches) != 1:
                raise RecordError(f"'{word}' is not one of: {', '.join(members)}", where)
            return matches[0]
        case SetType(element) | StackType(element):
            return [] if word in NOBODY else [_typed(element, w, record, where) for w in word.split("+")]
        case _:
            raise RecordError(f"'{word}' cannot be a value of {type_}; write the record as JSON", where)


def _take(spec: Field, words: list[str], record: Record, where: str, stops: set[str]) -> Any:
    """Takes as many words as a field needs; a word of `stops` begins another field."""
    if words[0] == "?":
        words.pop(0)
        return _UNKNOWN
    type_ = spec.type
    if isinstance(type_, OptionalType) and type_.inner is not None:
        if words[0] == NONE:
            words.pop(0)
            return NONE
        type_ = type_.inner
    match type_:
        case SetType(element) | StackType(element):
            if words[0] in NOBODY and words[0] not in record.names:
                words.pop(0)
                return []
            taken: list[Any] = []
            while words and words[0] not in stops:
                if isinstance(element, PlayerType) and words[0] not in record.names:
                    break
                taken.append(_typed(element, words.pop(0), record, where))
            if not taken:
                raise RecordError(
                    f"nobody is called '{words[0]}'; at the table: {', '.join(record.names)}", where
                )
            return taken
        case MapType(PlayerType(), inner):
            return _take_by_seat(inner, words, record, where, stops)
        case MapType(key, inner):
            return _take_by_key(key, inner, words, record, where, stops)
        case BagType(element, most):
            if words[0] in NOBODY:
                words.pop(0)
                return {}
            return _take_by_key(element, IntType(0, most), words, record, where, stops)
        case _:
            return _typed(type_, words.pop(0), record, where)


def _take_by_key(
    key: IndexType, inner: Type, words: list[str], record: Record, where: str, stops: set[str]
) -> dict[str, Any]:
    """`1=won 2=open`, `red=2 blue=1`."""
    taken: dict[str, Any] = {}
    while words and words[0] not in stops:
        name, sign, value = words.pop(0).partition("=")
        if not sign:
            raise RecordError(f"write {name}=value", where)
        place = key_out(key, key_in(key, name, record, where), record.names)
        if place in taken:
            raise RecordError(f"'{name}' is written down twice", where)
        if value != "?":
            taken[place] = _typed(inner, value, record, where)
    return taken


def _take_by_seat(
    inner: Type, words: list[str], record: Record, where: str, stops: set[str]
) -> dict[str, Any]:
    """`+ + - + -` in seat order (also without spaces), `+Ann -Bob`, or `Ann=fail Bob=success`."""
    end = next((i for i, w in enumerate(words) if i and w in stops), len(words))
    mine = words[:end]
    del words[:end]
    if len(mine) == 1 and isinstance(inner, BoolType) and re.fullmatch(r"[-+?]{2,}", mine[0]):
        mine = list(mine[0])
    taken: dict[str, Any] = {}
    in_order = all(w in ("+", "-", "?") for w in mine)
    if in_order and len(mine) != len(record.names):
        raise RecordError(
            f"{len(mine)} votes for {len(record.names)} players; write ? for one not known", where
        )
    for seat, word in enumerate(mine):
        if in_order:
            if word != "?":
                taken[record.names[seat]] = word == "+"
        elif word[0] in "+-" and isinstance(inner, BoolType):
            record.seat(word[1:])
            taken[word[1:]] = word[0] == "+"
        else:
            name, sign, value = word.partition("=")
            if not sign:
                raise RecordError(f"write {name}=value", where)
            record.seat(name)
            if value != "?":
                taken[name] = _typed(inner, value, record, where)
    return taken


def record_to_text(record: Record) -> str:
    """The record as the text form, one line an event; raises `RecordError` for what only JSON can say."""
    c = record.configuration
    out = [f"game {c.game}", f"players {' '.join(record.names)}"]
    if c.modules:
        out.insert(1, f"with {' '.join(c.modules)}")
    if c.roles is not None:
        out.append(f"roles {' '.join(c.roles)}")
    out += [f"ruling {name} = {choice}" for name, choice in c.rulings.items()]
    if record.deal:
        out.append("deal " + " ".join(f"{name}={role}" for name, role in record.deal.items()))
    for event in record.events:
        words = [event.phase]
        said: Counter[str] = Counter()
        for name, value in event.values.items():
            if value is None:
                continue
            what, _, number = name.partition(" ")
            for _ in range(said[what] + 1, int(number or 1)):
                words += [what, "?"]
            said[what] = int(number or 1)
            words += [what, *_shown(value, record.names)]
        if event.by is not None:
            words += ["by", event.by]
        out.append(" ".join(words))
    if record.winner is not None:
        out.append(f"winner {record.winner}")
    return "\n".join(out) + "\n"


def _shown(value: Any, names: tuple[str, ...]) -> list[str]:
    if isinstance(value, bool):
        return ["+" if value else "-"]
    if isinstance(value, dict):
        if set(value) <= set(names) and value and all(isinstance(v, bool) for v in value.values()):
            return [{True: "+", False: "-", None: "?"}[value.get(n)] for n in names]
        entries = [f"{name}={_one(v)}" for name, v in value.items() if v is not None]
        return entries or [NOBODY[0]]
    if isinstance(value, list):
        return [_one(v) for v in value] or [NOBODY[0]]
    return [str(value)]


def _one(value: Any) -> str:
    if isinstance(value, dict):
        raise RecordError("a map inside a map cannot be typed; write the record as JSON")
    if isinstance(value, bool):
        return "+" if value else "-"
    return "+".join(map(_one, value)) or NOBODY[0] if isinstance(value, list) else str(value)


def read_record(path: Path | None, text: str, model_of: Any, paths: tuple[Path, ...] = ()) -> Record:
    """A record from a file's text, JSON or typed form by its first character."""
    name = str(path) if path else "<stdin>"
    if len(text) > MOST_CHARACTERS:
        raise RecordError(f"this record has {len(text):,} characters; {MOST_CHARACTERS:,} is the most", name)
    if text.lstrip()[:1] in ("{", "["):
        try:
            data = json.loads(text)
        except json.JSONDecodeError as error:
            raise RecordError(error.msg, f"{name}:{error.lineno}:{error.colno}") from None
        except RecursionError:
            raise RecordError("this JSON is nested too deep", name) from None
        return record_from_json(data, paths)
    return record_from_text(text, model_of, paths)
