"""`avalon replay`: plays a recorded game through the rules, or a whole file of games."""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import replace
from pathlib import Path

from avalon_logic.cli.many import EPILOG as MANY
from avalon_logic.cli.many import add_many, many_games, run_many, under_rulings
from avalon_logic.cli.output import add_rule_files, add_rulings, bad_input, console, print_json, rulings_of
from avalon_logic.configuration import Configuration, examine
from avalon_logic.logs import import_game, is_log
from avalon_logic.many.reading import check_rulings
from avalon_logic.many.replaying import outcome_json, where_of
from avalon_logic.records import Record
from avalon_logic.replay import Replay, TooOpen, replay
from avalon_logic.typed_records import read_record, record_to_text
from rules_dsl import Model

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


def model_of(configuration: Configuration) -> Model:
    """The model a text record speaks of."""
    return examine(configuration).model


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
    text = content.decode("utf-8-sig")
    if text.lstrip().startswith("{"):
        try:
            data = json.loads(text)
        except (json.JSONDecodeError, RecursionError):
            data = None  # read_record says where
        if data is not None and is_log(data):
            return under_rulings(import_game(data, rulings), rulings)
    return under_rulings(read_record(path, text, model_of, paths), rulings)


def _show(record: Record, result: Replay) -> None:
    out = console()
    for note in result.notes:
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
    if result.over:
        out.print(f"winner: {result.result or 'nobody'}", markup=False)
    elif not any(f.fatal for f in result.findings):
        out.print(f"the game goes on: {result.awaits}", markup=False)
        if record.winner is not None:
            out.print(f"the record says {record.winner} won, but not how it ended", markup=False)
    if result.winner_differs:
        out.print(f"the record says {record.winner} won; by the rules it was {result.result}", markup=False)
