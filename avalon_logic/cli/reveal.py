"""`avalon reveal`: the reveal script, read aloud step by step, the pauses under the reader's key."""

from __future__ import annotations

import argparse
import sys

from avalon_logic.cli.output import add_configuration, bad_input, configuration_of, console, print_json
from avalon_logic.referee.booklet import facts_of, words_for
from avalon_logic.referee.messages import LANGUAGES, Words
from avalon_logic.referee.player_tables import script_lines, script_notes

EPILOG = """On a terminal each line waits for Enter (b goes back, q stops). In a pipe, or with --no-wait, all lines
are printed at once.

examples:
  avalon reveal -n 7 --roles merlin percival assassin mordred
  avalon reveal -n 10 --roles merlin percival assassin morgana oberon --lang fr
  avalon reveal -n 8 --roles merlin assassin oberon --ruling oberon_thumb=hidden_from_merlin
  avalon reveal --game resistance -n 6 --lang es --no-wait"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = EPILOG
    add_configuration(parser)
    parser.add_argument("--lang", choices=LANGUAGES, default="en", help="language (default en)")
    parser.add_argument("--no-wait", action="store_true", help="print all lines at once")
    parser.add_argument("--json", action="store_true", help="the steps as JSON")


def run(args: argparse.Namespace) -> int:
    with bad_input():
        configuration = configuration_of(args)
        facts = facts_of(configuration)
        words = words_for(configuration, args.lang)
        lines = script_lines(facts, words)
        notes = script_notes(facts, words)
    if args.json:
        print_json(
            [
                {"step": s.key, "roles": list(s.roles), "to": list(s.to), "say": line}
                for s, line in zip(facts.script, lines, strict=True)
            ]
        )
        return 0
    for note in notes:
        console().print(note, markup=False)
    if not lines:
        return 0
    if args.no_wait or not (sys.stdin.isatty() and sys.stdout.isatty()):
        for number, line in enumerate(lines, 1):
            console().print(f"{number:2}. {line}", markup=False)
        return 0
    _read_aloud(lines, words)
    return 0


def _read_aloud(lines: tuple[str, ...], words: Words) -> None:
    """One line at a time, as large as a terminal allows."""
    from rich.panel import Panel
    from rich.text import Text

    out = console()
    at = 0
    while at < len(lines):
        out.clear()
        panel = Panel(
            Text(lines[at], style="bold", justify="center"),
            title=f"{at + 1} / {len(lines)}",
            padding=(2, 4),
            border_style="cyan",
        )
        out.print(panel)
        out.print(words.say("script", "pause"), style="dim", markup=False)
        try:
            key = input().strip().lower()
        except EOFError:
            return
        if key == "q":
            return
        at = max(at - 1, 0) if key == "b" else at + 1
    out.print(words.say("script", "finished"), markup=False)
