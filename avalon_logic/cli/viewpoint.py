"""The options of every command that looks at a record through somebody's eyes, and the record they speak of."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from avalon_logic.cli.output import BadInput, add_rule_files, bad_input

if TYPE_CHECKING:
    from avalon_logic.deduction import Result

NOBODY = ("nobody", "none")


def add_viewpoint(parser: argparse.ArgumentParser) -> None:
    """Whose eyes, and what is assumed."""
    group = parser.add_argument_group("the viewer")
    group.add_argument(
        "--as", dest="seat", metavar="NAME", help="what this player can know (default: a neutral observer)"
    )
    group.add_argument("--role", metavar="ROLE", help="the viewer's card, if the record does not say")
    group.add_argument(
        "--saw", nargs="+", metavar="NAME", help="whom the viewer saw at the reveal, or: nobody"
    )
    add_assumptions(parser)


def add_assumptions(parser: argparse.ArgumentParser) -> None:
    """What is assumed of the players."""
    group = parser.add_argument_group("assumptions")
    add_assume(group)
    add_rule_files(group)


def add_assume(parser: Any) -> None:
    parser.add_argument(
        "--assume",
        nargs="+",
        action="extend",
        default=[],
        metavar="NAME",
        help="assumptions about how people play (see: avalon assumptions); none by default",
    )


def seen(args: argparse.Namespace) -> list[str] | None:
    """The names after --saw; an empty list for nobody."""
    if args.saw is None:
        return None
    return [] if [w.lower() for w in args.saw] in ([n] for n in NOBODY) else list(args.saw)


def deduced(path: str, args: argparse.Namespace) -> Result:
    """The answer for a record, `-` for standard input, through the viewer's eyes."""
    from avalon_logic.deduction import deduce, read

    with bad_input(path):
        source = sys.stdin.buffer.read().decode("utf-8-sig") if path == "-" else Path(path)
        record = read(source, tuple(args.rules))
        try:
            return deduce(record, args.seat, role=args.role, saw=seen(args), assume=args.assume)
        except ValueError as error:
            raise BadInput(str(error)) from None
