"""`avalon table`: type a game as it happens and see after each line what is still possible."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from avalon_logic.cli.output import BadInput, bad_input, console
from avalon_logic.cli.viewpoint import add_viewpoint, seen

if TYPE_CHECKING:
    from avalon_logic.table.game import Game
    from avalon_logic.table.talk import Talk

EPILOG = """The prompt says what comes next and takes the bare answer: names ('an bo': the beginning will do, in any case),
votes ('++-++', 'yynyy', or who approves: 'an bo dan', 'all', 'nobody'), a number, or '?' when nobody noted it. Whole lines
of a record do as well; 'help' lists the rest, Tab completes names and events. A line the rules do not allow is refused
with its clause, and nothing changes; what was forgotten is asked for. The game is kept in FILE after every line; FILE is
an ordinary record, so all other commands read it, and 'avalon table FILE' goes on with it. Without a terminal, lines are
read from standard input; the exit code is then 1 if a line was refused.

examples:
  avalon table friday.txt
  avalon table friday.txt --as Ann --role merlin --saw Bob Eve
  printf 'Ann Bob Cid Dan Eve\\nann\\nann bob\\n++-++\\n2\\n' | avalon table"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = EPILOG
    parser.add_argument(
        "file", nargs="?", type=Path, metavar="FILE", help="where the game is kept; resumed if it is there"
    )
    add_viewpoint(parser)


def run(args: argparse.Namespace) -> int:
    from avalon_logic.table.game import Game, NotTaken, reopened
    from avalon_logic.table.talk import Talk

    at_terminal = sys.stdin.isatty() and sys.stdout.isatty()
    path: Path | None = args.file
    games = [Game(paths=tuple(args.rules))]
    resumed = path is not None and path.exists()
    if resumed:
        assert path is not None
        try:
            with bad_input(str(path)):
                text = _kept_in(path)
                if text.lstrip().startswith(("{", "[")):
                    raise BadInput(f"{path} is JSON; the table keeps its games as text: choose another file")
                games = reopened(text, args.rules)
        except NotTaken as error:
            raise BadInput(f"{path}: {error.message}; mend the file, or choose another") from None
    if path is None and at_terminal:
        path = Path(f"table-{datetime.now():%Y-%m-%d-%H%M%S}.txt")
    if path is not None and not path.absolute().parent.is_dir():
        raise BadInput(f"{path.parent}: no such folder")
    try:
        games = _viewed(games, args)
    except NotTaken as error:
        raise BadInput(error.message) from None
    talk = Talk(console(), games, path, prompts=at_terminal)
    if resumed:
        talk.tell(f"{path}: {len(games[-1].lines)} lines")
        talk.tell_forgotten()
        talk.show()
    if not at_terminal:
        for line in _piped():
            talk.tell(f"> {line.rstrip()}")
            talk.say(line)
            if talk.over:
                break
        return 2 if not talk.kept else 1 if talk.refused else 0
    talk.tell(f"The game is kept in {path}. Tab completes, 'help' explains, 'quit' leaves.", "dim")
    if talk.game.record is None:
        talk.tell("Who plays? For example: players Ann Bob Cid Dan Eve", "dim")
    for line in _typed(talk):
        talk.say(line if line.strip() else talk.offered())
        if talk.over:
            break
    if talk.game.lines and talk.kept:
        talk.tell(f"kept in {talk.path}; go on with: avalon table {talk.path}", "dim")
    return 0 if talk.kept else 2


def _kept_in(path: Path) -> str:
    """The text of a file, of which no more is read than a record can have."""
    from avalon_logic.typed_records import MOST_CHARACTERS

    with path.open("rb") as file:
        data = file.read(4 * MOST_CHARACTERS + 4)
    text = data.decode("utf-8-sig") if len(data) < 4 * MOST_CHARACTERS + 4 else ""
    if (not text and data) or len(text) > MOST_CHARACTERS:
        raise BadInput(f"{path}: a record has {MOST_CHARACTERS:,} characters at most")
    return text


def _piped() -> Iterator[str]:
    """Lines from a pipe; what is no text is refused before it is echoed."""
    from avalon_logic.typed_records import MOST_CHARACTERS

    with bad_input("-"):
        while line := sys.stdin.readline(MOST_CHARACTERS + 1):
            if len(line) > MOST_CHARACTERS:
                raise BadInput(f"stdin: a line has {MOST_CHARACTERS:,} characters at most")
            if "\0" in line or any("\udc80" <= c <= "\udcff" for c in line):
                raise BadInput("stdin: not a text file")
            yield line


def _viewed(games: list[Game], args: argparse.Namespace) -> list[Game]:
    """The game as the options say to look at it; what they leave out stays as it was kept."""
    from avalon_logic.table.answers import spelled_view
    from avalon_logic.table.game import looked_at, viewpoint_of

    view = games[-1].viewpoint
    if args.seat is not None:
        saw = seen(args)
        meant = replace(view, seat=args.seat, role=args.role, saw=None if saw is None else tuple(saw))
        view = viewpoint_of(games[-1], spelled_view(games[-1], replace(meant, assume=()).words()[0]))
    elif args.role is not None or args.saw is not None:
        raise BadInput("--role and --saw belong to a seat: say whose they are (--as NAME)")
    if args.assume:
        view = replace(view, assume=tuple(dict.fromkeys(args.assume)))
    return games if view == games[-1].viewpoint else looked_at(games, view)


def _typed(talk: Talk) -> Iterator[str]:
    """Lines typed at the terminal, with completion; Ctrl-C drops a line, Ctrl-D leaves."""
    from prompt_toolkit import PromptSession
    from prompt_toolkit.completion import CompleteEvent, Completer, Completion
    from prompt_toolkit.document import Document
    from prompt_toolkit.history import InMemoryHistory

    from avalon_logic.table.awaited import what_comes_next
    from avalon_logic.table.completion import completions

    class Words(Completer):
        def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterator[Completion]:
            text = document.text_before_cursor
            begun = len(text) - len(text.rstrip()) == 0 and text != ""
            for word in completions(talk.game, text, list(talk.commands)):
                yield Completion(word, start_position=-len(text.split()[-1]) if begun else 0)

    history = InMemoryHistory()
    for line in talk.game.lines:
        history.append_string(line)
    session: PromptSession[str] = PromptSession(
        completer=Words(), complete_while_typing=False, history=history
    )
    while True:
        try:
            offered = talk.offered()
            yield session.prompt(
                f"{what_comes_next(talk.game)}> ",
                placeholder=f"{offered}  (Enter takes it)" if offered else None,
            )
        except KeyboardInterrupt:
            continue
        except EOFError:
            return
