"""The conversation at the table: what each typed line does, and what is said back.

`Talk.say(line)` takes a command or a line of a record and prints the answer. After every line that was taken the game is
written to its file, whole and at once, so that nothing is lost when the terminal is closed.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from avalon_logic.deduction.display import assumption_lines, certain_lines, headline, percent, world_lines
from avalon_logic.deduction.seats import cards_in_deck
from avalon_logic.records import RecordError, fields_of
from avalon_logic.replay import TooOpen
from avalon_logic.table.awaited import what_comes_next
from avalon_logic.table.game import (
    Game,
    NotTaken,
    check_notes,
    enter,
    look,
    text_of,
    viewpoint_of,
)
from rules_dsl import UnknownName
from rules_dsl.arrays import TooManyUnknowns

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

    from avalon_logic.deduction import Result

T = TypeVar("T")

HELP = (
    ("players Ann Bob ...", "who plays, clockwise; also: game, with, roles, ruling"),
    ("propose Ann Bob", "what happened, as in a record; vote + + - + -, tally 1, ..."),
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


def possibilities(result: Result) -> RenderableType:
    """A row for each player, a column for each card of the deck; a dot where the card is ruled out."""
    from rich.table import Table
    from rich.text import Text

    few = result.setting.sides[-1]
    roles = [role for role, number in cards_in_deck(result.setting).items() if number]
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column("player", no_wrap=True, max_width=14)
    for head in (few, *roles):
        table.add_column(head, justify="right", no_wrap=True)
    for player in result.players:
        share = player.sides.get(few, 0)
        style = "green" if share == 0 else "red" if share == 1 else ""
        cells = [percent(player.roles[role]) if role in player.roles else "." for role in roles]
        table.add_row(Text(player.name), Text(percent(share), style=style), *cells)
    return table


class Talk:
    """One game at the table. `refused` counts lines that were not taken."""

    def __init__(self, out: Console, games: Sequence[Game], path: Path | None = None) -> None:
        self.out = out
        *before, self.game = games  # as it was after each line so far
        self.path = path
        self.before: list[Game] = before
        self.undone: list[Game] = []
        self.refused = 0
        self.over = False
        self.commands: dict[str, Callable[[str], None]] = {
            "undo": self._undo,
            "redo": self._redo,
            "table": lambda rest: self.show(),
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
            command = self.commands.get(word)
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
        new = self.game.record is None
        self._become(enter(self.game, line))
        if self.game.result is not None:
            if new:
                for note in check_notes(self.game):
                    self.tell(note)
            self.show()

    def _become(self, game: Game) -> None:
        self.before.append(self.game)
        self.undone.clear()
        self.game = game
        self.keep()

    def _undo(self, rest: str) -> None:
        if not self.before:
            raise NotTaken("there is nothing to take back")
        self.undone.append(self.game)
        self.game = self.before.pop()
        self.keep()
        self.tell(f"back to {len(self.game.lines)} lines")
        self.show()

    def _redo(self, rest: str) -> None:
        if not self.undone:
            raise NotTaken("there is nothing to take again")
        self.before.append(self.game)
        self.game = self.undone.pop()
        self.keep()
        self.show()

    def _look(self, said: str) -> None:
        self._become(look(self.game, viewpoint_of(self.game, said.strip())))
        self.show()

    # --- keeping it ---

    def keep(self) -> None:
        """Writes the game to its file: a new file beside it first, then in its place."""
        if self.path is None:
            return
        beside = self.path.with_name(f".{self.path.name}.new")
        try:
            beside.write_text(text_of(self.game), encoding="utf-8")
            os.replace(beside, self.path)
        except OSError as error:
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
        self.tell(f"kept in {self.path}")

    # --- answers ---

    def _result(self) -> Result:
        if self.game.result is None:
            raise NotTaken("first say who plays: players Ann Bob Cid Dan Eve")
        return self.game.result

    def show(self) -> None:
        """The table of possibilities, what is certain, and what comes next."""
        if self.game.result is None:
            return
        self._show_result(self.game.result)
        if self.game.waiting:
            self.tell("weighted assumptions wait until it is known how the game went on")
        self.tell(f"next: {what_comes_next(self.game)}", "dim")

    def _show_result(self, result: Result) -> None:
        last = ""
        if result.steps and not result.supposed:
            removed = result.steps[-1].removed
            last = f"; {removed:,} ruled out" if removed else "; none ruled out"
        self.tell(headline(result) + last, "bold")
        if result.possible:
            self.out.print(possibilities(result))
            certain = [line for line in certain_lines(result) if line.startswith("certainly")]
            for line in certain:
                self.tell(line)
        elif not result.supposed and (result.assumptions or result.seat is not None):
            self.tell(
                "by the rules alone it is possible: why explains; undo, assume nothing or as nobody help"
            )
        if result.assumptions:
            for line in assumption_lines(result):
                self.tell(line)
        for note in result.notes:
            self.tell(f"note: {note}")

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
            return read(text)
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
