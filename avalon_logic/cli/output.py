"""What all commands share: reading a configuration from options, printing, errors on stderr, progress on a terminal."""

from __future__ import annotations

import argparse
import json
import re
import signal
import sys
from collections.abc import Callable
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from avalon_logic.cli.streams import bare
from avalon_logic.configuration import Configuration, Refused
from avalon_logic.records import RecordError
from rules_dsl import BadParameter, RulebookError, UnknownName

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import Console


class BadInput(Exception):
    """Something the user gave that cannot be used; the message says what and where."""


def report_error(message: str, code: int = 2) -> int:
    """Prints a message on stderr and gives the exit code."""
    prefix = "" if message.startswith("error") else "avalon: "
    print(prefix + message, file=sys.stderr)
    return code


@contextmanager
def bad_input(source: str = "") -> Iterator[None]:
    """Turns everything that can be wrong with what the user gave into `BadInput`; `source` is the file it is from."""
    file = "stdin: " if source == "-" else f"{source}: " if source else ""
    try:
        yield
    except RecordError as error:
        raise BadInput(_shortened(f"{file if error.where else ''}{error}")) from None
    except (RulebookError, UnknownName, BadParameter, Refused) as error:
        raise BadInput(str(error)) from None
    except OSError as error:
        # a file that could be opened but not be written to is an error without a name
        place = f"{error.filename}: " if error.filename is not None else file
        raise BadInput(f"{place}{error.strerror or error}") from None
    except UnicodeDecodeError as error:
        raise BadInput(f"{file}not a text file: {error.reason} at byte {error.start}") from None


def _shortened(message: str) -> str:
    """A message that quotes something endless says enough with its beginning."""
    return re.sub(r"(\S{60})\S{140,}?(?='?(?:\s|$))", r"\1...", message)


def console(width: int | None = None) -> Console:
    """A console that uses colour only on a terminal, respects NO_COLOR, and shows control characters as text."""
    from avalon_logic.cli.painting import PlainConsole

    wrapped = sys.stdout.isatty() or width is not None
    return PlainConsole(file=bare(sys.stdout), highlight=False, soft_wrap=not wrapped, width=width)


def wide_console() -> Console:
    """The same, with room for tables when the output goes to a file."""
    return console(None if sys.stdout.isatty() else 140)


def print_json(data: Any) -> None:
    print(json.dumps(data, ensure_ascii=False))


def add_configuration(parser: argparse.ArgumentParser) -> None:
    """The options that say which game is played."""
    group = parser.add_argument_group("the table")
    group.add_argument(
        "--game", default="avalon", metavar="G", help="resistance, avalon (default) or avalon_2021"
    )
    group.add_argument(
        "-n", "--players", type=int, default=5, metavar="N", help="number of players (default 5)"
    )
    group.add_argument(
        "--with",
        dest="modules",
        nargs="+",
        action="extend",
        default=[],
        metavar="MODULE",
        help="modules: targeting lady blind_spies percival mordred morgana oberon",
    )
    group.add_argument(
        "--roles",
        nargs="+",
        default=None,
        metavar="ROLE",
        help="the special roles, or the whole deck; brings the roles' modules along",
    )
    add_rulings(group)
    add_rule_files(group)


def add_rule_files(parser: Any) -> None:
    parser.add_argument(
        "--rules",
        nargs="+",
        action="extend",
        default=[],
        type=Path,
        metavar="FILE",
        help="rulebook files of your own, besides the shipped ones",
    )


def add_rulings(parser: Any) -> None:
    parser.add_argument(
        "--ruling",
        nargs="+",
        action="extend",
        default=[],
        metavar="NAME=ALTERNATIVE",
        help="decide an open point (see: avalon rulings)",
    )


def rulings_of(words: list[str]) -> dict[str, str]:
    made: dict[str, str] = {}
    for word in words:
        name, sign, choice = word.partition("=")
        if not sign:
            raise BadInput(f"--ruling {word}: write NAME=ALTERNATIVE, for example fifth_team=no_vote")
        made[name.strip()] = choice.strip()
    return made


def configuration_of(args: argparse.Namespace) -> Configuration:
    """The configuration the options describe."""
    return Configuration(
        args.game,
        args.players,
        tuple(dict.fromkeys(args.modules)),
        tuple(args.roles) if args.roles is not None else None,
        rulings_of(args.ruling),
        tuple(args.rules),
    )


def progress(total: int, what: str) -> Callable[[int], None]:
    """A function to call with the number done; shows itself only on a terminal."""
    if not sys.stderr.isatty() or total < 1:
        return lambda done: None
    shown = [-1]

    def update(done: int) -> None:
        percent = 100 * done // total
        if percent != shown[0]:
            shown[0] = percent
            end = "\n" if done >= total else ""
            print(f"\r{what}: {percent:3d} %", end=end, file=bare(sys.stderr), flush=True)

    return update


@contextmanager
def termination_interrupts() -> Iterator[None]:
    """Being told to end (as CI does when time is up) is an interruption: what was decided is still reported."""

    def interrupt(_number: int, _frame: object) -> None:
        raise KeyboardInterrupt

    try:
        before = signal.signal(signal.SIGTERM, interrupt)
    except ValueError:  # only the main thread gets signals
        yield
        return
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
