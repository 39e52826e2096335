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
from avalon_logic.deduction import Result, deduce
from avalon_logic.deduction.api import model_of
from avalon_logic.deduction.setting import assumption_list
from avalon_logic.records import Record, RecordError, fields_of
from avalon_logic.replay import TooOpen, replay
from avalon_logic.typed_records import record_from_text
from rules_dsl import BadParameter, UnknownName
from rules_dsl import model as m
from rules_dsl.arrays.answers import Unweighable
from rules_dsl.arrays.scene import Scene
from rules_dsl.flow import successors
from rules_dsl.smt.cores import Undecided
from rules_dsl.types import IntType

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

    @property
    def model(self) -> m.Model | None:
        """The game that is played."""
        return None if self.result is None else self.result.setting.model


def enter(game: Game, line: str) -> Game:
    """The game after one more line; raises `NotTaken` for a line the rules do not allow here."""
    said = line.split("#")[0].strip()
    grown = replace(game, lines=(*game.lines, line.strip()))
    if not said:
        return grown  # a remark
    if not any(_is_players(one) for one in grown.lines):
        if said.split()[0].rstrip(":") not in ("game", "with", "roles", "ruling", "title"):
            raise NotTaken("who plays? Begin with a line such as: players Ann Bob Cid Dan Eve")
        return grown
    record = _read(grown)
    try:
        load(record.configuration)
    except Refused as refused:
        raise NotTaken(str(refused)) from None
    try:
        neutral = deduce(record)
    except RecordError as error:
        raise _with_hint(game, record, _without_line(error)) from None
    if not neutral.possible:
        raise _impossible(game, neutral, record)
    return _seen(replace(grown, record=record, neutral=neutral))


def look(game: Game, viewpoint: Viewpoint) -> Game:
    """The same game through other eyes, or under other assumptions."""
    if game.record is None:
        raise NotTaken("first say who plays: players Ann Bob Cid Dan Eve")
    return _seen(replace(game, viewpoint=viewpoint))


def _seen(game: Game) -> Game:
    view, record = game.viewpoint, game.record
    assert record is not None
    try:
        return replace(game, result=_deduced(record, view, view.assume), waiting=False)
    except (
        Unweighable
    ):  # no reason to refuse what happened: until the record says more, only hard assumptions count
        kinds = {a.name: a.kind for a in assumption_list(record.configuration.game, game.paths)}
        hard = tuple(name for name in view.assume if kinds[name] == "require")
        return replace(game, result=_deduced(record, view, hard), waiting=True)


def _deduced(record: Record, view: Viewpoint, assumed: tuple[str, ...]) -> Result:
    try:
        result = deduce(record, view.seat, role=view.role, saw=view.saw, assume=assumed)
        result.inquiry.worlds()
    except Unweighable:
        raise
    except (RecordError, UnknownName, ValueError) as error:
        raise NotTaken(_without_line(error)) from None
    return result


def _is_players(line: str) -> bool:
    return line.split(" ")[0].rstrip(":").lower() == "players"


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
    numbers = _numbers(record)
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


def _numbers(record: Record) -> str:
    """The last event with the numbers it might have had, if it published a number."""
    *before, last = record.events
    model = model_of(record.configuration)
    legal: list[str] = []
    for spec in fields_of(model, last.phase) if last.phase in model.phases else ():
        if spec.choice is None and isinstance(spec.type, IntType) and spec.name in last.values:
            for number in range(spec.type.low, spec.type.high + 1):
                other = replace(last, values={**last.values, spec.name: number})
                try:
                    if deduce(replace(record, events=(*before, other))).possible:
                        legal.append(str(number))
                except RecordError:
                    continue
    return f"{last.phase} {' or '.join(legal)}" if legal else ""


# --- keeping it ---


def text_of(game: Game) -> str:
    """The game as a record, with how it was looked at in comments."""
    return "".join(f"{line}\n" for line in (*game.lines, *(KEPT + w for w in game.viewpoint.words())))


def reopened(text: str, paths: Sequence[Path] = ()) -> list[Game]:
    """The game a text stands for, after each of its lines; raises `NotTaken` with the line that is refused."""
    game = Game(paths=tuple(paths))
    games = [game]
    words: list[str] = []
    for number, raw in enumerate(text.splitlines(), 1):
        if raw.startswith(KEPT):
            words.append(raw.removeprefix(KEPT).strip())
            continue
        try:
            game = enter(game, raw)
        except NotTaken as error:
            raise NotTaken(f"line {number}: {error.message}", error.legal) from None
        if raw.split("#")[0].strip():
            games.append(game)
        else:
            games[-1] = game  # a remark is not taken back by itself
    for said in words:
        games = looked_at(games, viewpoint_of(games[-1], said))
    return games


def looked_at(games: Sequence[Game], viewpoint: Viewpoint) -> list[Game]:
    """A game after each of its lines, seen otherwise; where that is too early to be seen so, as it was."""
    *before, last = games
    made: list[Game] = []
    for game in before:
        try:
            made.append(_from(game, viewpoint))
        except NotTaken:
            made.append(game)
    return [*made, _from(last, viewpoint)]


def _from(game: Game, viewpoint: Viewpoint) -> Game:
    return replace(game, viewpoint=viewpoint) if game.record is None else look(game, viewpoint)


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


# --- what comes next ---


def what_comes_next(game: Game) -> str:
    """The events the rules await, for a prompt."""
    if game.neutral is None or game.model is None:
        return "players"
    beliefs = game.neutral.inquiry.beliefs
    if all(b.over for b in beliefs):
        return "the game is over"
    found: dict[str, None] = {}
    for belief in beliefs:
        if belief.point is None:
            continue
        phase, step = belief.point
        choice = game.model.phases[phase].choices[step]
        if choice.audience.kind != "public" and choice.chooser.kind != "chance":
            phase = _published_after(game.model, phase)
            found[phase] = None
            continue
        who = ""
        if choice.chooser.who is not None:
            seat = belief.machine.program.formulas.value(choice.chooser.who)(Scene(belief.values))
            who = f" by {game.neutral.record.names[seat]}" if isinstance(seat, int) else ""
        found[phase + who] = None
    return " or ".join(found)


def _published_after(model: m.Model, phase: str) -> str:
    """The next phase of which something can be written down that everybody sees."""
    here = phase
    for _ in range(len(model.phases)):
        following = sorted(successors(model.phases[here]))
        for name in following:
            if any(f.choice is None and not f.shown for f in fields_of(model, name)):
                return name
        if not following:
            break
        here = following[0]
    return phase


def check_notes(game: Game) -> list[str]:
    """Remarks of the set-up check."""
    if game.record is None:
        return []
    settled = load(game.record.configuration)
    return [f"{c.severity}: {describe_check(c)}" for c in settled.findings]
