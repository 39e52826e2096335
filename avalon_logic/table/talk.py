"""The conversation at the table: what each typed line does, and what is said back.

`Talk.say(line)` takes a command or a line of a record and prints the answer. After every line that was taken the game is
written to its file, whole and at once, so that nothing is lost when the terminal is closed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from avalon_logic.deduction.display import assumption_lines, certain_lines, headline, world_lines
from avalon_logic.fields import fields_of
from avalon_logic.records import RecordError
from avalon_logic.replay import TooOpen
from avalon_logic.table.answers import needs_event_first, spelled, spelled_fact, spelled_view
from avalon_logic.table.awaited import awaited, forgotten_before, passed_over, what_comes_next
from avalon_logic.table.game import (
    Game,
    NotTaken,
    check_notes,
    enter,
    look,
    numbers_possible,
    text_of,
    viewpoint_of,
)
from avalon_logic.table.possibilities import Possibilities, drawn, possibilities
from avalon_logic.table.status import status
from avalon_logic.writing import write_whole
from rules_dsl import UnknownName
from rules_dsl.arrays import TooManyUnknowns
from rules_dsl.types import BoolType, IntType, MapType, PlayerType, SetType

if TYPE_CHECKING:
    from rich.console import Console

    from avalon_logic.deduction import Result

T = TypeVar("T")

HELP = (
    ("players Ann Bob ...", "who plays, clockwise; also: game, with, roles, ruling"),
    ("propose Ann Bob", "what happened, as in a record; vote + + - + -, tally 1, ..."),
    ("an bo, ++-+-, 1", "the bare answer to the prompt: names (also just begun), votes, a number"),
    ("an bo dan", "to the prompt 'vote': those who approve; also: all, nobody"),
    ("?", "the answer when nobody noted it"),
    ("says Ann Bob evil", "what somebody claims"),
    ("undo, redo", "take the last line back; take it again"),
    ("table", "what everybody can be"),
    ("list [N]", "the deals that are left, the first N (10)"),
    ("why Bob is evil", "why that is certain, or a deal in which it is not"),
    ("if Ann is good", "what would follow"),
    ("advice", "teams for the leader; for the Assassin, who is Merlin"),
    ("as Ann merlin saw Bob Eve", "look through a player's eyes; as nobody"),
    ("assume NAMES", "how people play; 'assumptions' lists them; assume nothing"),
    ("log", "the lines typed so far"),
    ("save FILE", "keep the game there from now on"),
    ("quit", "leave"),
)
LISTED = 10


class Talk:
    """One game at the table. `refused` counts lines that were not taken, `held` is one that waits for something
    forgotten. `prompts` says that what comes next is asked for by the prompt and need not be told."""

    def __init__(
        self, out: Console, games: Sequence[Game], path: Path | None = None, *, prompts: bool = False
    ) -> None:
        self.out = out
        self.prompts = prompts
        self.held = ""
        self.asked: Game | None = None  # the game in which it had to wait
        self.shown: object = None  # the table and what is certain, as printed last
        *before, self.game = games  # as it was after each line so far
        self.path = path
        self.kept = True  # nothing typed yet that the file does not have
        self.before: list[Game] = before
        self.undone: list[Game] = []
        self.refused = 0
        self.over = False
        self.commands: dict[str, Callable[[str], None]] = {
            "undo": self._undo,
            "redo": self._redo,
            "table": lambda rest: self.show(again=True),
            "list": self._list,
            "why": self._why,
            "if": self._if,
            "advice": self._advice,
            "as": lambda rest: self._look(f"as {rest}"),
            "assume": lambda rest: self._look(f"assume {rest}"),
            "assumptions": self._assumptions,
            "log": lambda rest: self.tell(text_of(self.game).rstrip() or "nothing was typed yet"),
            "save": self._save,
            "help": self._help,
            "quit": self._quit,
        }

    def tell(self, text: str, style: str = "") -> None:
        """Prints plain text."""
        self.out.print(text, markup=False, highlight=False, style=style)

    def say(self, line: str) -> None:
        """Takes a line: a command, or what happened."""
        line = line.strip()
        if not line or line.startswith("#"):
            return
        word, _, rest = line.partition(" ")
        try:
            command = self.commands.get(word.lower())
            if command is not None:
                command(rest.strip())
            else:
                self._event(line)
        except NotTaken as error:
            self.refused += 1
            self.tell(f"not taken: {error.message}", "red")
            if error.legal:
                self.tell(f"  legal: {error.legal}")
        except (RecordError, UnknownName, TooManyUnknowns, TooOpen, ValueError) as error:
            self.refused += 1
            self.tell(f"not taken: {error}", "red")

    # --- what happened ---

    def _event(self, line: str) -> None:
        before = self.game

        meant = ""
        try:
            meant = spelled(before, line)
            after = enter(before, meant)
        except NotTaken:
            if meant.split(" ")[0] in {a.phase for a in awaited(before)}:
                raise  # an answer to what was asked, but not one the rules allow
            forgotten = forgotten_before(before, lambda later: enter(later, spelled(later, line)))
            if forgotten is None:
                raise
        else:
            forgotten = passed_over(before, after)
        if forgotten is not None:
            self._ask_for(forgotten, line)
            return
        if not meant.endswith(line):
            self.tell(f"taken as: {meant}", "dim")
        self._become(after)
        self.held = self.held if before is self.asked else ""
        if after.result is None:
            return
        if before.record is None:
            for note in check_notes(after):
                self.tell(note)
            for name in needs_event_first(after, list(self.commands)):
                self.tell(
                    f"note: '{name}' is a word of the table too; a line that begins with this name needs its event"
                )
        self.show(removed=_fewer(before, after))

    def _ask_for(self, event: str, line: str) -> None:
        """Something everybody saw was passed over: asks for it, and holds the line until it is there."""
        self.refused += 1
        self.held, self.asked = line, self.game
        self.tell(f"not taken yet: {_question(self.game, event)}", "yellow")

    def tell_forgotten(self) -> None:
        """Says which events everybody saw were left out of a game that is taken up again."""
        games = (*self.before, self.game)
        for before, after in pairwise(games):
            forgotten = passed_over(before, after)
            if forgotten is not None:
                self.tell(
                    f"note: '{forgotten}' is missing before line {len(after.lines)}; what it showed does not count"
                )

    def offered(self) -> str:
        """The line held back, once it can be taken: an empty line at the prompt takes it."""
        if not self.held or self.game is self.asked:
            return ""
        try:
            after = enter(self.game, spelled(self.game, self.held))
        except NotTaken:
            return ""
        return "" if passed_over(self.game, after) is not None else self.held

    def _become(self, game: Game) -> None:
        self.before.append(self.game)
        self.undone.clear()
        self.game = game
        self.keep()

    def _undo(self, rest: str) -> None:
        if not self.before:
            raise NotTaken("there is nothing to take back")
        self.held = ""
        self.undone.append(self.game)
        self.game = self.before.pop()
        self.keep()
        self.tell(f"back to {len(self.game.lines)} lines")
        self.show()

    def _redo(self, rest: str) -> None:
        if not self.undone:
            raise NotTaken("there is nothing to take again")
        self.held = ""
        self.before.append(self.game)
        self.game = self.undone.pop()
        self.keep()
        self.show()

    def _look(self, said: str) -> None:
        self._become(look(self.game, viewpoint_of(self.game, spelled_view(self.game, said.strip()))))
        self.show()

    # --- keeping it ---

    def keep(self) -> None:
        """Writes the game to its file; `kept` says whether the file has it."""
        if self.path is None:
            return
        try:
            write_whole(self.path, text_of(self.game))
            self.kept = True
        except OSError as error:
            self.kept = False
            self.tell(f"could not be written to {self.path}: {error.strerror}; try: save FILE", "red")

    def _save(self, rest: str) -> None:
        if not rest and self.path is None:
            raise NotTaken("save where? Write: save FILE")
        if rest:
            wanted = Path(rest).expanduser()
            if wanted != self.path and wanted.exists() and wanted.stat().st_size:
                raise NotTaken(f"{wanted} exists already; choose another name")
            if not wanted.parent.is_dir():
                raise NotTaken(f"there is no folder {wanted.parent}")
            self.path = wanted
        self.keep()
        if self.kept:
            self.tell(f"kept in {self.path}")

    # --- answers ---

    def _result(self) -> Result:
        if self.game.result is None:
            raise NotTaken("first say who plays: players Ann Bob Cid Dan Eve")
        return self.game.result

    def show(self, removed: int | None = None, again: bool = False) -> None:
        """How many deals are possible and where the game stands; the table where it changed, or `again`.

        `removed` is how many deals the line just taken has ruled out, if it could.
        """
        if self.game.result is None:
            return
        self._show_result(self.game.result, removed, again)
        if self.game.waiting:
            self.tell("weighted assumptions wait until it is known how the game went on")
        where = status(self.game)
        if where:
            self.tell(where, "cyan")
        if not self.prompts:
            self.tell(f"next: {what_comes_next(self.game)}", "dim")

    def _show_result(self, result: Result, removed: int | None = None, again: bool = True) -> None:
        last = ""
        if removed is not None:
            last = f"; {removed:,} ruled out by this line" if removed else "; none ruled out by this line"
        self.tell(headline(result) + last, "bold")
        told = [line for line in certain_lines(result) if line.startswith("certainly")]
        told += assumption_lines(result) if result.assumptions else []
        table = possibilities(result, self.out.width) if result.possible else None
        if again or (table, told) != self.shown:
            if table is not None:
                self._print_table(table)
            for line in told:
                self.tell(line)
        if not result.supposed:
            self.shown = (table, told)
        if not result.possible and not result.supposed and (result.assumptions or result.seat is not None):
            self.tell(
                "by the rules alone it is possible: why explains; undo, assume nothing or as nobody help"
            )
        for note in result.notes:
            self.tell(f"note: {note}")

    def _print_table(self, table: Possibilities) -> None:
        self.out.print(drawn(table))
        if table.dropped:
            self.tell(f"no room for: {', '.join(table.dropped)} (make the window wider)", "dim")

    def _list(self, rest: str) -> None:
        result = self._result()
        if rest and not rest.isdecimal():
            raise NotTaken("write: list, or list N")
        most = int(rest) if rest else LISTED
        for line in world_lines(result, most):
            self.tell(line)
        if result.count > most:
            self.tell(f"... {result.count - most:,} more")

    def _why(self, rest: str) -> None:
        result = self._result()
        conflict = result.conflict()
        found = conflict if conflict is not None else self._fact(rest, result.why)
        self.tell("\n".join(found.lines()))

    def _fact(self, text: str, read: Callable[[str], T]) -> T:
        if not text:
            raise NotTaken("write a fact, for example: Ann is good")
        try:
            return read(spelled_fact(self.game, text))
        except (ValueError, UnknownName) as error:
            raise NotTaken(str(error)) from None

    def _if(self, rest: str) -> None:
        result = self._result()
        self._show_result(self._fact(rest, result.what_if))

    def _advice(self, rest: str) -> None:
        from avalon_logic.cli.advise import naming_table, team_table
        from avalon_logic.deduction.advice import (
            advise_naming,
            advise_teams,
            awaits_naming,
            holds_killer,
            open_quests,
        )

        result = self._result()
        if not awaits_naming(result):
            for quest in open_quests(result):
                self.out.print(team_table(advise_teams(result, quest), 5, "chance"))
        if awaits_naming(result) or holds_killer(result):
            self.out.print(naming_table(advise_naming(result)))

    def _assumptions(self, rest: str) -> None:
        from avalon_logic.deduction.setting import assumption_list

        result = self._result()
        used = result.setting.assumptions
        for a in assumption_list(result.record.configuration.game, self.game.paths):
            mark = "*" if a.name in used else " "
            weighted = " (weighted)" if a.kind == "weight" else ""
            self.tell(f"{mark} {a.name}: {a.text}{weighted}")

    def _help(self, rest: str) -> None:
        for words, line in HELP:
            self.tell(f"  {words:<25}  {line}")
        if self.game.model is not None:
            model = self.game.model
            self.tell(
                f"events: {', '.join([*(p for p in model.phases if fields_of(model, p)), *model.speeches])}"
            )

    def _quit(self, rest: str) -> None:
        self.over = True


def _fewer(before: Game, after: Game) -> int | None:
    """How many deals something that happened has ruled out, for the same viewer; None for a line of another kind."""
    if before.record is None or before.result is None or after.record is None or after.result is None:
        return None
    if (after.record.events, after.record.winner) == (before.record.events, before.record.winner):
        return None
    return before.result.count - after.result.count


def _question(game: Game, event: str) -> str:
    """What to ask when something was forgotten, with the answers the rules allow."""
    assert game.model is not None
    spec = next(f for f in fields_of(game.model, event) if not f.shown)
    match spec.type:
        case IntType() if spec.choice is None:
            answers = ", ".join(map(str, numbers_possible(game, event, spec)))
        case IntType():
            answers = "a number"
        case PlayerType():
            answers = "a name"
        case SetType(PlayerType()):
            answers = "names"
        case MapType(PlayerType(), BoolType()):
            answers = "+ or - for everybody, or the names of those who say yes"
        case _:
            answers = f"as in: {event} ..."
    return f"'{event}' comes first and is missing; {spec.name}? ({answers}; ? if nobody noted it)"
