"""The command line: `avalon COMMAND`. Each command is a module that adds its arguments and runs.

Exit codes: 0 as expected, 1 a finding (illegal, refuted, contradiction), 2 bad input, 3 undecided in the time given.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from importlib import import_module

from avalon_logic.cli.output import BadInput, report_error
from avalon_logic.cli.streams import OutputLost, give_up_stdout, guarded

VERSION = "0.1.0"

# command -> (module, one line of help); modules are imported only when their command is used, so that starting is quick
COMMANDS = {
    "check": ("avalon_logic.cli.check", "parse, compose and type check rulebooks; check a table's set-up"),
    "rulings": ("avalon_logic.cli.rulings", "list the open points of the books and their alternatives"),
    "replay": ("avalon_logic.cli.replay", "is a recorded game legal? the first illegal event and its clause"),
    "prove": (
        "avalon_logic.cli.prove",
        "is a property true in every game? verdicts, shortest counterexamples",
    ),
    "simulate": ("avalon_logic.cli.simulate", "play many random games and count who wins"),
    "deduce": ("avalon_logic.cli.deduce", "which deals are possible, what is certain, and why"),
    "advise": ("avalon_logic.cli.advise", "whom to take along, whom to name: ranked by chance"),
    "table": ("avalon_logic.cli.table", "type a game as it happens; what is possible after every line"),
    "assumptions": ("avalon_logic.cli.assumptions", "how people tend to play: what can be assumed"),
    "tables": (
        "avalon_logic.cli.tables",
        "referee tables: set-up, board, votes, who sees whom, script, rulings",
    ),
    "reveal": ("avalon_logic.cli.reveal", "the reveal script, read aloud step by step"),
    "demo": ("avalon_logic.cli.demo", "the main things on a bundled example, in a few seconds"),
    "completion": ("avalon_logic.cli.completion", "a script that completes commands in bash, zsh or fish"),
}

EPILOG = """examples:
  avalon demo                                        see what it does
  avalon check my_rules.rules                        is this rulebook sound?
  avalon check --game avalon -n 7 --roles merlin percival assassin morgana
  avalon rulings --game avalon_2021                  what the books leave open
  avalon replay friday.txt                           was our game legal?
  avalon replay site-export.jsonl --json             a whole file of games
  avalon deduce friday.txt --why "Dan is evil"       who can be what? and why?
  avalon deduce friday.txt --as Ann --role merlin --saw Dan Eve
  avalon table friday.txt                            type a game as it happens
  avalon advise friday.txt --as Ann --role servant   whom should Ann take along?
  avalon tables -n 7 --roles merlin percival assassin morgana --lang fr
  avalon prove --property everybody_leads            is it true? if not, the shortest game
  avalon simulate -n 8 --with lady --games 20000     who wins at random?

exit codes: 0 as expected, 1 a finding, 2 bad input, 3 undecided"""


def build_parser(only: str | None = None) -> argparse.ArgumentParser:
    """The parser with all commands; `only` imports the arguments of just one of them."""
    parser = argparse.ArgumentParser(
        prog="avalon",
        description="The rules of The Resistance and Avalon as a program: play them, check them, deduce from them.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"avalon-logic {VERSION}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    for name, (module, line) in COMMANDS.items():
        sub = commands.add_parser(
            name, help=line, description=line, formatter_class=argparse.RawDescriptionHelpFormatter
        )
        if only in (None, name):
            loaded = import_module(module)
            loaded.add_arguments(sub)
            sub.set_defaults(run=loaded.run)
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command; the return value is the exit code."""
    try:
        with guarded():
            return _run(list(sys.argv[1:] if arguments is None else arguments))
    except OutputLost as lost:
        give_up_stdout()
        # whoever closed the pipe has seen enough and needs no message, but not all that was to be said was said
        return 3 if lost.unread else report_error(f"the output could not be written: {lost}")


def _run(words: list[str]) -> int:
    named = next((w for w in words if not w.startswith("-")), None)
    parser = build_parser(named if named in COMMANDS else None)
    args = parser.parse_args(words)
    if args.command is None:
        parser.print_help()
        return 0
    try:
        code = args.run(args)
        assert isinstance(code, int)
        return code
    except BadInput as error:
        return report_error(str(error))
    except KeyboardInterrupt:
        return report_error("interrupted", code=3)


if __name__ == "__main__":
    sys.exit(main())
