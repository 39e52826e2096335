"""What `replay` and `deduce` share when they are given many games: options, the run, what is said in the end."""

from __future__ import annotations

import argparse
import io
import os
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Protocol

from avalon_logic.cli.output import (
    BadInput,
    bad_input,
    console,
    print_json,
    progress,
    termination_interrupts,
)
from avalon_logic.many.sources import holds_many

if TYPE_CHECKING:
    from avalon_logic.many.pool import Answer, Job
    from avalon_logic.many.sources import Source
    from avalon_logic.records import Record

EPILOG = """many games: a file with one game a line (.jsonl, .ndjson, also .gz), a folder of such files and of records
(.json, .txt), or - with one game a line. Each game is bounded by --time and --memory; one that cannot be read or
decided says so and the next one goes on. After Ctrl-C the games so far are summed up; with --out FILE the same command
goes on where it stopped."""


class Tally(Protocol):
    """What the answers come to."""

    def add(self, answer: Answer) -> None: ...

    def lines(self) -> Iterator[str]:
        """The summary."""

    @property
    def code(self) -> int:
        """The exit code."""


def add_many(parser: argparse.ArgumentParser) -> None:
    """The options for many games."""
    group = parser.add_argument_group("many games")
    group.add_argument(
        "-j",
        "--jobs",
        type=int,
        default=os.cpu_count() or 1,
        metavar="N",
        help="processes (default: all cores)",
    )
    group.add_argument(
        "--out",
        type=Path,
        metavar="FILE",
        help="add the answers to FILE, a JSON line each; games it has already are not judged again",
    )
    group.add_argument(
        "--time",
        type=float,
        default=10.0,
        metavar="S",
        help="seconds of processor time for each game (default 10)",
    )
    group.add_argument(
        "--memory", type=int, default=1000, metavar="MB", help="megabytes for each game (default 1000)"
    )


def many_games(args: argparse.Namespace) -> Iterator[Source] | None:
    """The games if there are to be many. Of stdin the first two lines tell: a lone one is a record as ever."""
    if args.record == "-":
        return _piped(args)
    return _found(args.record) if holds_many(args.record) else None


def _found(name: str) -> Iterator[Source]:
    from avalon_logic.many.sources import files_of, games_in, size_of

    with bad_input():
        files = files_of(name)
        update = progress(size_of(files), "reading")
        for source in games_in(files):
            update(source.passed)
            yield source


def _piped(args: argparse.Namespace) -> Iterator[Source] | None:
    """Games from stdin; what was read of a single record is kept in `args.piped`."""
    import json

    from avalon_logic.many.sources import lines_of

    stream = getattr(sys.stdin, "buffer", None) or io.BytesIO(sys.stdin.read().encode("utf-8"))
    head = _with_next_line([], stream)
    try:
        several = isinstance(json.loads(b"".join(head)), dict)
    except (ValueError, RecursionError):
        several = False
    lines = _with_next_line(head, stream) if several else head
    if len(lines) == len(head) or not lines[-1].strip():
        args.piped = b"".join(lines) + stream.read()
        return None
    return lines_of(chain(lines, stream), "stdin")


def _with_next_line(lines: list[bytes], stream: BinaryIO) -> list[bytes]:
    """These lines and more of them, up to one with something on it."""
    found = list(lines)
    for line in stream:
        found.append(line)
        if line.strip():
            break
    return found


def run_many(args: argparse.Namespace, games: Iterator[Source], job: Job, question: str, tally: Tally) -> int:
    """Judges every game, tells each (with --json) or what they come to, and gives the exit code."""
    from avalon_logic.many.journal import Journal, NoJournal
    from avalon_logic.many.pool import Limits, judged

    if args.time <= 0 or args.jobs < 1 or args.memory < 1:
        raise BadInput("--time, --memory and -j are positive numbers")
    journal = None if args.out is None else Journal(args.out)
    counts: Counter[str] = Counter()
    interrupted = False
    try:
        if journal is not None:
            with bad_input():
                journal.open()
                for answer in journal.answers():
                    counts["before"] += 1
                    tally.add(answer)
        waiting = games if journal is None else _left(games, journal, question)
        answers = judged(waiting, job, args.jobs, Limits(args.time, args.memory))
        with closing(answers), termination_interrupts():
            for source, bare in answers:
                counts["now"] += 1
                _tell(args, journal, source, bare, question, tally)
    except KeyboardInterrupt:
        interrupted = True
    except NoJournal as error:
        raise BadInput(str(error)) from None
    finally:
        if journal is not None:
            journal.close()
    if not counts and not interrupted:
        raise BadInput(f"{args.record}: no games in this file")
    if not args.json:
        out = console()
        if counts["before"]:
            out.print(f"{args.out} had {counts['before']} of them already", markup=False)
        for line in tally.lines():
            out.print(line, markup=False)
    if interrupted:
        later = f"; go on with the same command, {args.out} has them" if args.out else ""
        print(f"avalon: interrupted after {counts['now']} games{later}", file=sys.stderr)
    return 3 if interrupted else tally.code


def _left(games: Iterator[Source], journal: Any, question: str) -> Iterator[Source]:
    """The games whose answers are not there yet."""
    from avalon_logic.many.journal import asked

    return (source for source in games if asked(source, question) not in journal.done)


def _tell(
    args: argparse.Namespace, journal: Any, source: Source, bare: Answer, question: str, tally: Tally
) -> None:
    from avalon_logic.many.journal import asked
    from avalon_logic.many.reading import title_of

    answer = {"where": source.place, **bare}
    error = answer.get("error")
    if error is not None:
        answer.setdefault("id", title_of(source))
        answer["error"] = error if str(error).startswith(source.place) else f"{source.place}: {error}"
    tally.add(answer)
    if journal is not None:
        with bad_input(str(args.out)):
            journal.add({"asked": asked(source, question), **answer})
    if args.json:
        print_json(answer)
    elif error is not None:
        print(f"avalon: {answer['error']}", file=sys.stderr)


def under_rulings(record: Record, rulings: dict[str, str]) -> Record:
    """A single record under the user's rulings; says which of them its game does not have."""
    from avalon_logic.many.reading import with_rulings

    made = with_rulings(record, rulings)
    for name in rulings:
        if name not in made.configuration.rulings:
            print(f"avalon: the ruling '{name}' belongs to a module that is not in play", file=sys.stderr)
    return made
