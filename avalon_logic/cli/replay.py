"""`avalon replay`: plays a recorded game through the rules, or a whole file of games."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from avalon_logic.cli.many import EPILOG as MANY
from avalon_logic.cli.many import add_many, many_games, run_many, under_rulings
from avalon_logic.cli.output import add_rule_files, add_rulings, bad_input, console, print_json, rulings_of
from avalon_logic.many.reading import check_rulings
from avalon_logic.many.replaying import outcome_json, where_of
from avalon_logic.reading import record_of_text
from avalon_logic.records import Record, remarks
from avalon_logic.replay import Replay, TooOpen, replay
from avalon_logic.typed_records import record_to_text

EPILOG = (
    """A record is JSON or a text like this:

  game avalon
  players Ann Bob Cid Dan Eve
  roles merlin percival assassin morgana servant
  first_leader Ann
  propose Ann Bob
  vote + + - + -            (or: vote +Ann +Bob -Cid; ? for a vote nobody wrote down)
  tally 1                   (the number of fails shown)

examples:
  avalon replay friday.txt
  avalon replay friday.json --json
  avalon replay - < friday.txt
  avalon replay site-export.jsonl            a summary of many games
  avalon replay site-export.jsonl --ruling fifth_team=no_vote --json
  zcat export.gz | avalon replay - --out verdicts.jsonl

"""
    + MANY
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = EPILOG
    parser.add_argument(
        "record",
        metavar="RECORD",
        help="a record (.json or text), a file (.jsonl) or folder of games, or -",
    )
    add_rule_files(parser)
    add_rulings(parser)
    parser.add_argument("--json", action="store_true", help="JSON; of many games one line a game")
    add_many(parser)


def run(args: argparse.Namespace) -> int:
    rulings = rulings_of(args.ruling)
    paths = tuple(args.rules)
    if rulings:
        with bad_input():
            check_rulings(rulings, paths)
    games = many_games(args)
    if games is not None:
        from avalon_logic.many.replaying import Replaying, ReplayTally

        job = Replaying(tuple(rulings.items()), paths)
        return run_many(args, games, job, f"replay {rulings} {paths}", ReplayTally())
    with bad_input(args.record):
        record = read_one(args.record, rulings, paths, getattr(args, "piped", None))
        try:
            result = replay(record)
        except TooOpen as error:
            print(f"avalon: {error}", file=sys.stderr)
            return 3
    if args.json:
        print_json(outcome_json(record, result))
    else:
        _show(record, result)
    return 0 if result.legal and not result.winner_differs else 1


def read_one(
    name: str, rulings: dict[str, str], paths: tuple[Path, ...], piped: bytes | None = None
) -> Record:
    """One record from a file or stdin, with the user's rulings."""
    path = None if name == "-" else Path(name)
    content = path.read_bytes() if path is not None else piped if piped is not None else b""
    return under_rulings(record_of_text(content.decode("utf-8-sig"), path, rulings, paths), rulings)


def _show(record: Record, result: Replay) -> None:
    out = console()
    for note in (*result.notes, *remarks(record)):
        out.print(f"note: {note}", markup=False)
    for finding in result.findings:
        clause = finding.clauses[0] if finding.clauses else "the rules"
        out.print(f"{where_of(record, finding.event)} breaks {clause}: {finding.message}", markup=False)
        if finding.event:
            event = record.events[finding.event - 1]
            line = record_to_text(replace(record, events=(event,), winner=None)).splitlines()[-1]
            out.print(f"    {line}", markup=False)
        if finding.legal:
            out.print(f"    legal: {finding.legal}", markup=False)
    if result.legal:
        out.print(f"legal: {len(record.events)} events", markup=False)
    for line in _ending(record, result):
        out.print(line, markup=False)


def _ending(record: Record, result: Replay) -> Iterator[str]:
    """How the game ended, as far as the record says."""
    winners = " or ".join(result.winners)
    if any(f.fatal for f in result.findings):
        return
    if result.over:
        open_ = len(result.winners) > 1
        yield f"winner: {winners}{' (what was not written down decides)' if open_ else ''}"
        if result.winner_differs:
            yield f"the record says {record.winner} won; by the rules it was {winners}"
        elif open_ and record.winner is not None:
            yield f"the record says {record.winner} won"
        return
    if result.over is None:
        yield f"the game may be over (winner: {winners}); what was not written down decides"
        yield f"if it goes on: {result.awaits}"
    else:
        yield f"the game goes on: {result.awaits}"
    if record.winner is not None:
        yield f"the record says {record.winner} won, but not how it ended"
