"""`avalon reveal`: the reveal script, read aloud step by step: the pauses under the reader's key, or by the clock."""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Sequence

from avalon_logic.cli.output import (
    BadInput,
    add_configuration,
    bad_input,
    configuration_of,
    console,
    print_json,
)
from avalon_logic.referee.booklet import facts_of, words_for
from avalon_logic.referee.messages import LANGUAGES, Words
from avalon_logic.referee.player_tables import script_lines, script_notes

EPILOG = """On a terminal each line waits for Enter (b goes back, q stops). In a pipe, or with --no-wait, all lines
are printed at once. Where the reader plays too, and so has shut eyes, nobody can press a key or read: --timed goes on by
itself with a bell at every line, --speak has the computer say the lines (with say, espeak-ng, espeak or spd-say).

examples:
  avalon reveal -n 7 --roles merlin percival assassin mordred --timed 8 --speak
  avalon reveal -n 7 --roles merlin percival assassin mordred
  avalon reveal -n 10 --roles merlin percival assassin morgana oberon --lang fr
  avalon reveal -n 8 --roles merlin assassin oberon --ruling oberon_thumb=hidden_from_merlin
  avalon reveal --game resistance -n 6 --lang es --no-wait"""

USUAL_PAUSE = 6.0
LONGEST_PAUSE = 600.0
MOMENT = 1.0  # even where saying a line took longer than its time, eyes need a moment to do as told
# programs that say a text given as the last argument, and how they are told the language
SPEECH: dict[str, tuple[str, ...]] = {
    "say": (),
    "espeak-ng": ("-v", "{language}"),
    "espeak": ("-v", "{language}"),
    "spd-say": ("--wait", "-l", "{language}"),
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = EPILOG
    add_configuration(parser)
    parser.add_argument("--lang", choices=LANGUAGES, default="en", help="language (default en)")
    parser.add_argument("--no-wait", action="store_true", help="print all lines at once")
    parser.add_argument(
        "--timed",
        nargs="?",
        type=float,
        const=USUAL_PAUSE,
        metavar="SECONDS",
        help=f"go on by itself, so many seconds a line (default {USUAL_PAUSE:g})",
    )
    parser.add_argument(
        "--speak", action="store_true", help="have the computer say the lines (implies --timed)"
    )
    parser.add_argument("--json", action="store_true", help="the steps as JSON")


def run(args: argparse.Namespace) -> int:
    if args.timed is not None and not 0 < args.timed <= LONGEST_PAUSE:
        raise BadInput(f"--timed {args.timed:g}: give seconds, more than 0 and at most {LONGEST_PAUSE:g}")
    speak = _speech(args.lang) if args.speak and not args.json else None
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
    if args.timed is not None or speak is not None:
        _by_the_clock(lines, words, args.timed or USUAL_PAUSE, speak)
        return 0
    if args.no_wait or not (sys.stdin.isatty() and sys.stdout.isatty()):
        for number, line in enumerate(lines, 1):
            console().print(f"{number:2}. {line}", markup=False)
        return 0
    _read_aloud(lines, words)
    return 0


def _read_aloud(lines: tuple[str, ...], words: Words) -> None:
    """One line at a time, under the reader's key."""
    out = console()
    at = 0
    while at < len(lines):
        _show(lines[at], at + 1, len(lines))
        out.print(words.say("script", "pause"), style="dim", markup=False)
        try:
            key = input().strip().lower()
        except EOFError:
            return
        if key == "q":
            return
        at = max(at - 1, 0) if key == "b" else at + 1
    out.print(words.say("script", "finished"), markup=False)


def _speech(language: str) -> Callable[[str], None]:
    """A function that says a text aloud with a program of this computer."""
    for program, options in SPEECH.items():
        if shutil.which(program) is not None:
            command = [program, *(o.format(language=language) for o in options)]
            return lambda text: _said([*command, text])
    raise BadInput(f"--speak: none of the programs {', '.join(SPEECH)} is installed here")


def _said(command: Sequence[str]) -> None:
    try:
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    except (OSError, subprocess.CalledProcessError) as error:
        reason = (getattr(error, "stderr", "") or str(error)).strip()
        raise BadInput(f"--speak: {command[0]} could not say it: {reason}") from None


def _by_the_clock(
    lines: tuple[str, ...], words: Words, pause: float, speak: Callable[[str], None] | None
) -> None:
    """Every line for as long, counted from when it was begun to be said; a bell where nobody says it."""
    on_terminal = sys.stdout.isatty()
    for number, line in enumerate(lines, 1):
        begun = time.monotonic()
        if on_terminal:
            _show(line, number, len(lines))
        else:
            print(f"{number:2}. {line}", flush=True)
        if speak is not None:
            speak(line)
        elif on_terminal:
            print("\a", end="", flush=True)
        time.sleep(max(pause - (time.monotonic() - begun), min(pause, MOMENT)))
    if on_terminal:
        console().print(words.say("script", "finished"), markup=False)


def _show(line: str, number: int, of: int) -> None:
    """One line, as large as a terminal allows."""
    from rich.panel import Panel
    from rich.text import Text

    out = console()
    out.clear()
    text = Text(line, style="bold", justify="center")
    out.print(Panel(text, title=f"{number} / {of}", padding=(2, 4), border_style="cyan"))
