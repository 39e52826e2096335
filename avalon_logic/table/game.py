"""A game as it is being typed: its lines, whose eyes, what is assumed, and what follows so far.

`enter(game, line)` is the game after one more line of a record, `look(game, ...)` the same game seen otherwise. Both give
a new game or raise `NotTaken` and leave the old one as it was, so taking something back is going back to the game
before. A game is kept as the text of a record; how it is looked at stands in comments that `reopened` reads.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from avalon_logic.configuration import Refused, describe_check, load
from avalon_logic.deduction import Result
from avalon_logic.deduction.setting import assumption_list
from avalon_logic.deduction.underway import Underway, answer, extend, start
from avalon_logic.fields import Field, fields_of
from avalon_logic.reading import model_of
from avalon_logic.records import Event, Record, RecordError
from avalon_logic.replay import TooOpen, replay
from avalon_logic.typed_records import (
    HEADS,
    MOST_CHARACTERS,
    add_event,
    event_from_line,
    record_from_text,
)
from rules_dsl import BadParameter, UnknownName
from rules_dsl import model as m
from rules_dsl.arrays.answers import Unweighable
from rules_dsl.smt.cores import Undecided
from rules_dsl.types import IntType

MOST_LINES = 5_000  # with remarks; events are at most `MOST_EVENTS`
MOST_NUMBERS = 20  # tried when one was refused
KEPT = "#: "  # a comment that says how the table is looked at
NOBODY = "nobody"


class NotTaken(Exception):
    """A line that was refused: why, with the clause, and what would have been legal."""

    def __init__(self, message: str, legal: str = "") -> None:
        self.message = message
        self.legal = legal
        super().__init__(message)


@dataclass(frozen=True)
class Viewpoint:
    """Whose eyes (None: a neutral observer), with which card, having seen whom; and what is assumed."""

    seat: str | None = None
    role: str | None = None
    saw: tuple[str, ...] | None = None
    assume: tuple[str, ...] = ()

    def words(self) -> list[str]:
        """The commands that would set it."""
        made: list[str] = []
        if self.seat is not None:
            words = ["as", self.seat, *([self.role] if self.role is not None else [])]
            if self.saw is not None:
                words += ["saw", *(self.saw or (NOBODY,))]
            made.append(" ".join(words))
        if self.assume:
            made.append(" ".join(["assume", *self.assume]))
        return made


@dataclass(frozen=True, eq=False)
class Game:
    """What was typed and what follows. `result` is None until it is known who plays."""

    lines: tuple[str, ...] = ()
    viewpoint: Viewpoint = Viewpoint()
    paths: tuple[Path, ...] = ()
    record: Record | None = None
    result: Result | None = None
    neutral: Result | None = None  # the same by the rules alone, as anybody can see it
    waiting: bool = False  # likelihoods do not count until the record says how the game went on
    characters: int = 0
    watched: Underway | None = None  # how far the record was told to the neutral observer
    followed: tuple[Underway, ...] = ()  # and to the viewer, under the assumptions; then under hard ones only

    @property
    def model(self) -> m.Model | None:
        """The game that is played."""
        return None if self.result is None else self.result.setting.model


def enter(game: Game, line: str) -> Game:
    """The game after one more line; raises `NotTaken` for a line the rules do not allow here."""
    return _entered(game, (line.strip(),))


def _entered(game: Game, lines: tuple[str, ...]) -> Game:
    """The game after more lines: one, or several headings of which not every one alone makes a table to play at."""
    size = game.characters + sum(len(line) + 1 for line in lines)
    grown = replace(game, lines=(*game.lines, *lines), characters=size)
    if len(grown.lines) > MOST_LINES:
        raise NotTaken(f"a game at the table has {MOST_LINES:,} lines at most")
    if grown.characters > MOST_CHARACTERS:
        raise NotTaken(f"a game at the table has {MOST_CHARACTERS:,} characters at most")
    words = [word for word in map(_first_word, lines) if word]
    if not words:
        return grown  # a remark
    if game.record is None and "players" not in words:
        if words[-1] in HEADS and words[-1] not in ("deal", "winner"):
            return grown
        raise NotTaken("who plays? Begin with a line such as: players Ann Bob Cid Dan Eve")
    headings = game.record is None or words[-1] in HEADS
    record = _read(grown) if game.record is None or headings else _with_event(game.record, grown)
    try:
        load(record.configuration)
    except Refused as refused:
        raise NotTaken(str(refused)) from None
    try:
        watched = extend(_told_to_all(game, record), record)
    except RecordError as error:
        raise _with_hint(game, record, _without_line(error)) from None
    neutral = answer(watched, record)
    if not neutral.possible:
        raise _impossible(game, neutral, record)
    return _seen(replace(grown, record=record, neutral=neutral, watched=watched), game)


def _first_word(line: str) -> str:
    words = line.split("#")[0].split()
    return words[0].rstrip(":").lower() if words else ""


def _with_event(record: Record, grown: Game) -> Record:
    """The record with the last line of a game as its next event."""
    try:
        model = model_of(record.configuration)
        events = list(record.events)
        where = f"line {len(grown.lines)}"
        add_event(events, event_from_line(grown.lines[-1].split("#")[0], model, record, where), model)
    except (RecordError, UnknownName) as error:
        raise NotTaken(_without_line(error)) from None
    return replace(record, events=tuple(events))


def _told_to_all(game: Game, record: Record) -> Underway:
    """How far the record was told to the neutral observer before the last line."""
    if game.watched is not None and _goes_on(game.record, record):
        return game.watched
    return start(record)


def _goes_on(before: Record | None, record: Record) -> bool:
    """Is it the same record with more events, so that what was told need not be told again?"""
    if before is None:
        return False
    return replace(before, events=()) == replace(record, events=())


def look(game: Game, viewpoint: Viewpoint) -> Game:
    """The same game through other eyes, or under other assumptions."""
    if game.record is None:
        raise NotTaken("first say who plays: players Ann Bob Cid Dan Eve")
    return _seen(replace(game, viewpoint=viewpoint, followed=()))


def _seen(game: Game, before: Game | None = None) -> Game:
    """The game with what the viewer can conclude; `before` is the game so far, seen through the same eyes."""
    view, record = game.viewpoint, game.record
    assert record is not None and game.neutral is not None
    if view == Viewpoint():
        return replace(game, result=game.neutral, followed=(), waiting=False)
    told = before.followed if before is not None and _goes_on(before.record, record) else ()
    try:
        full = _followed(told[0] if told else None, record, view, view.assume)
        return replace(game, result=_concluded(full, record), followed=(full, *told[1:]), waiting=False)
    except (
        Unweighable
    ):  # no reason to refuse what happened: until the record says more, only hard assumptions count
        kinds = {a.name: a.kind for a in assumption_list(record.configuration.game, game.paths)}
        assumed = tuple(name for name in view.assume if kinds[name] == "require")
        hard = _followed(told[1] if len(told) > 1 else None, record, view, assumed)
        kept = told[0] if told else start(record, view.seat, role=view.role, saw=view.saw, assume=view.assume)
        return replace(game, result=_concluded(hard, record), followed=(kept, hard), waiting=True)


def _followed(told: Underway | None, record: Record, view: Viewpoint, assumed: tuple[str, ...]) -> Underway:
    try:
        if told is None:
            told = start(record, view.seat, role=view.role, saw=view.saw, assume=assumed)
        return extend(told, record)
    except Unweighable:
        raise
    except (RecordError, UnknownName, ValueError) as error:
        raise NotTaken(_without_line(error)) from None


def _concluded(told: Underway, record: Record) -> Result:
    try:
        result = answer(told, record)
        result.inquiry.worlds()
    except Unweighable:
        raise
    except (RecordError, UnknownName, ValueError) as error:
        raise NotTaken(_without_line(error)) from None
    return result


def _read(game: Game) -> Record:
    try:
        return record_from_text("\n".join(game.lines), model_of, game.paths)
    except (RecordError, UnknownName, BadParameter) as error:
        raise NotTaken(_without_line(error)) from None


def _without_line(error: Exception) -> str:
    """The message without the number of a line that was never taken."""
    return error.message if isinstance(error, RecordError) else str(error)


def _with_hint(game: Game, record: Record, message: str) -> NotTaken:
    """Which rule refuses the last line, and what would be legal instead, in a deal that was possible until now."""
    if game.neutral is None or not game.neutral.possible:
        return NotTaken(message)
    try:
        findings = replay(replace(record, deal=game.neutral.worlds(1)[0])).findings
    except (RecordError, TooOpen):
        return NotTaken(message)
    broken = [f for f in findings if f.event == len(record.events) and f.fatal]
    if not broken:
        return NotTaken(message)
    found = broken[-1]
    clause = f" ({', '.join(found.clauses)})" if found.clauses else ""
    return NotTaken(f"{found.message}{clause}", found.legal)


def _impossible(game: Game, result: Result, record: Record) -> NotTaken:
    """A last line that no deal allows: which rules stand against it, and which numbers would do."""
    numbers = _numbers(game, record)
    if not numbers:
        return _with_hint(game, record, "no deal of the cards allows this")
    try:
        conflict = result.conflict()
    except Undecided:
        conflict = None
    rules = () if conflict is None else conflict.rules
    clauses = ", ".join(dict.fromkeys(c for rule in rules for c in rule.cites))
    because = f": {'; '.join(rule.text for rule in rules)} ({clauses})" if clauses else ""
    return NotTaken(f"no deal of the cards allows this{because}", numbers)


def _numbers(game: Game, record: Record) -> str:
    """The last event with the numbers it might have had, if it published a number."""
    if game.watched is None or not _goes_on(game.record, record) or not record.events:
        return ""
    last = record.events[-1]
    model = model_of(record.configuration)
    for spec in fields_of(model, last.phase) if last.phase in model.phases else ():
        if spec.choice is None and isinstance(spec.type, IntType) and spec.name in last.values:
            legal = numbers_possible(game, last.phase, spec)
            return f"{last.phase} {' or '.join(map(str, legal))}" if legal else ""
    return ""


def numbers_possible(game: Game, phase: str, spec: Field) -> list[int]:
    """The numbers that may come out in a phase that would be next."""
    assert game.record is not None and game.watched is not None and isinstance(spec.type, IntType)
    found: list[int] = []
    for number in range(spec.type.low, min(spec.type.high, spec.type.low + MOST_NUMBERS) + 1):
        event = Event(phase, {spec.name: number})
        grown = replace(game.record, events=(*game.record.events, event))
        try:
            if extend(game.watched, grown).inquiry.count():
                found.append(number)
        except RecordError:
            continue
    return found


# --- keeping it ---


def text_of(game: Game) -> str:
    """The game as a record, with how it was looked at in comments."""
    return "".join(f"{line}\n" for line in (*game.lines, *(KEPT + w for w in game.viewpoint.words())))


def reopened(text: str, paths: Sequence[Path] = ()) -> list[Game]:
    """The game a text stands for, after each of its lines; raises `NotTaken` with the line that is refused."""
    game = Game(paths=tuple(paths))
    games = [game]
    words: list[str] = []
    waiting: tuple[str, ...] = ()  # headings that need those after them
    refused: NotTaken | None = None
    for number, raw in enumerate(text.splitlines(), 1):
        if raw.startswith(KEPT):
            words.append(raw.removeprefix(KEPT).strip())
            continue
        heading = _first_word(raw) in HEADS
        if refused is not None and not heading and _first_word(raw):
            raise refused
        waiting = (*waiting, raw.strip())
        try:
            game = _entered(game, waiting)
        except NotTaken as error:
            refused = refused or NotTaken(f"line {number}: {error.message}", error.legal)
            if not heading and _first_word(raw):
                raise refused from None
            continue
        if any(map(_first_word, waiting)):
            games.append(game)
        else:
            games[-1] = game  # a remark is not taken back by itself
        waiting, refused = (), None
    if refused is not None:
        raise refused
    for said in words:
        games = looked_at(games, viewpoint_of(games[-1], said))
    return games


def looked_at(games: Sequence[Game], viewpoint: Viewpoint) -> list[Game]:
    """A game after each of its lines, seen otherwise; where that is too early to be seen so, as it was."""
    *before, last = games
    made: list[Game] = []
    so_far: Game | None = None  # the last that could be seen so, from which the next goes on
    for game in before:
        try:
            so_far = _from(game, viewpoint, so_far)
            made.append(so_far)
        except NotTaken:
            made.append(game)
    return [*made, _from(last, viewpoint, so_far)]


def _from(game: Game, viewpoint: Viewpoint, before: Game | None) -> Game:
    looking = replace(game, viewpoint=viewpoint, followed=())
    return looking if game.record is None else _seen(looking, before)


def viewpoint_of(game: Game, said: str) -> Viewpoint:
    """The viewpoint after `as NAME [ROLE] [saw NAMES]`, `as nobody`, `assume NAMES` or `assume nothing`."""
    command, *words = said.split()
    view = game.viewpoint
    if command == "assume":
        if not words:
            raise NotTaken(
                "assume what? Name one or more (the command 'assumptions' lists them), or: nothing"
            )
        return replace(view, assume=() if words in (["nothing"], ["none"]) else tuple(dict.fromkeys(words)))
    if not words:
        raise NotTaken("write: as NAME [ROLE] [saw NAME ...], or: as nobody")
    if words == [NOBODY]:
        return replace(view, seat=None, role=None, saw=None)
    saw: tuple[str, ...] | None = None
    if "saw" in words:
        at = words.index("saw")
        saw = tuple(w for w in words[at + 1 :] if w != NOBODY)
        words = words[:at]
    if len(words) not in (1, 2):
        raise NotTaken("write: as NAME [ROLE] [saw NAME ...], or: as nobody")
    return replace(view, seat=words[0], role=words[1] if len(words) == 2 else None, saw=saw)


def check_notes(game: Game) -> list[str]:
    """Remarks of the set-up check."""
    if game.record is None:
        return []
    settled = load(game.record.configuration)
    return [f"{c.severity}: {describe_check(c)}" for c in settled.findings]
