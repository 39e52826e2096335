"""`avalon replay`: plays a recorded game through the rules, or a whole file of games."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from avalon_logic.cli.output import (
    BadInput,
    add_rule_files,
    add_rulings,
    bad_input,
    console,
    print_json,
    progress,
    rulings_of,
)
from avalon_logic.logs import read_lines
from avalon_logic.reading import record_of_data, record_of_text
from avalon_logic.records import Record, RecordError, remarks, without_places
from avalon_logic.replay import Replay, TooOpen, replay
from avalon_logic.typed_records import record_to_text
from rules_dsl import BadParameter, RulebookError, UnknownName

EPILOG = """A record is JSON or a text like this:

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
  avalon replay site-export.jsonl --ruling fifth_team=no_vote --json"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = EPILOG
    parser.add_argument(
        "record", metavar="RECORD", help="a record (.json or text), a file of games (.jsonl), or -"
    )
    add_rule_files(parser)
    add_rulings(parser)
    parser.add_argument("--json", action="store_true", help="JSON; for a .jsonl file one line a game")


def run(args: argparse.Namespace) -> int:
    rulings = rulings_of(args.ruling)
    paths = tuple(args.rules)
    if args.record.endswith((".jsonl", ".ndjson")):
        return _many(Path(args.record), rulings, paths, args.json)
    with bad_input(args.record):
        record = read_one(args.record, rulings, paths)
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


def read_one(name: str, rulings: dict[str, str], paths: tuple[Path, ...]) -> Record:
    """One record from a file or stdin, with the user's rulings."""
    path = None if name == "-" else Path(name)
    text = sys.stdin.read() if path is None else path.read_bytes().decode("utf-8-sig")
    return record_of_text(text, path, rulings, paths)


def outcome_json(record: Record, result: Replay) -> dict[str, Any]:
    """The verdict on one game as JSON (schema in docs/records.md)."""
    return {
        "id": record.title,
        "legal": result.legal,
        "finished": result.over,
        "findings": [
            {
                "event": _number(record, f.event),
                "where": _where(record, f.event),
                "clause": f.clauses[0] if f.clauses else None,
                "clauses": list(f.clauses),
                "message": f.message,
                "legal": f.legal,
            }
            for f in result.findings
        ],
        "winner": result.result,
        "winners": list(result.winners),
        "recorded_winner": record.winner,
        "winner_differs": result.winner_differs,
        "rulings": dict(record.configuration.rulings),
        "adopted": dict(record.adopted),
        "unused": list(record.unused),
        "notes": list(result.notes),
        "awaits": result.awaits,
    }


def _number(record: Record, event: int) -> int:
    """An event's number as the record's source counts."""
    return (record.events[event - 1].number or event) if event else 0


def _where(record: Record, event: int) -> str:
    return "set-up" if event == 0 else record.events[event - 1].where or f"event {event}"


def _show(record: Record, result: Replay) -> None:
    out = console()
    for note in (*result.notes, *remarks(record)):
        out.print(f"note: {note}", markup=False)
    for finding in result.findings:
        clause = finding.clauses[0] if finding.clauses else "the rules"
        out.print(f"{_where(record, finding.event)} breaks {clause}: {finding.message}", markup=False)
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


def _many(path: Path, rulings: dict[str, str], paths: tuple[Path, ...], as_json: bool) -> int:
    with bad_input():
        games = list(read_lines(path))
    if not games:
        raise BadInput(f"{path}: no games in this file")
    update = progress(len(games), "replaying")
    by_clause: Counter[str] = Counter()
    counts: Counter[str] = Counter()
    suggested: Counter[str] = Counter()
    adopted: Counter[str] = Counter()
    unused: Counter[str] = Counter()
    examples: dict[str, list[str]] = {}
    for done, (number, data) in enumerate(games, 1):
        update(done)
        try:
            record = record_of_data(data, rulings, f"{path}:{number}", paths)
            result = replay(record)
        except (RecordError, TooOpen, UnknownName, BadParameter, RulebookError) as error:
            # one game that cannot be read says so and keeps none of the others from being read
            counts["undecided" if isinstance(error, TooOpen) else "unreadable"] += 1
            place = f"{path}:{number}"
            message = str(error) if str(error).startswith(place) else f"{place}: {error}"
            _line(
                as_json,
                {"id": str(data.get("id", "")) if isinstance(data, dict) else "", "error": message},
            )
            if not as_json:
                print(f"avalon: {message}", file=sys.stderr)
            continue
        counts["legal" if result.legal else "illegal"] += 1
        counts["unfinished"] += result.legal and result.over is not True
        counts["differs"] += result.winner_differs
        for finding in result.findings:
            clause = finding.clauses[0] if finding.clauses else "?"
            by_clause[clause] += 1
            examples.setdefault(clause, []).append(record.title or str(number))
        suggested.update(f"{k}={v}" for k, v in record.configuration.rulings.items())
        adopted.update(f"{k}={record.configuration.rulings[k]}" for k in record.adopted)
        unused.update(without_places(record.unused))
        _line(as_json, outcome_json(record, result))
    if not as_json:
        out = console()
        out.print(f"games: {len(games)}", markup=False)
        out.print(
            f"  legal: {counts['legal']} ({counts['unfinished']} of them not played to the end)", markup=False
        )
        out.print(f"  illegal: {counts['illegal']}", markup=False)
        for clause, number in by_clause.most_common():
            shown = ", ".join(examples[clause][:6]) + (", ..." if len(examples[clause]) > 6 else "")
            out.print(f"    {clause}: {number} ({shown})", markup=False)
        out.print(f"  winners that differ: {counts['differs']}", markup=False)
        if counts["undecided"]:
            out.print(f"  not decided: {counts['undecided']}", markup=False)
        if counts["unreadable"]:
            out.print(f"  not readable: {counts['unreadable']}", markup=False)
        if suggested:
            shown = ", ".join(f"{name} in {n}" for name, n in suggested.most_common())
            out.print(f"  rulings in force: {shown}", markup=False)
        if adopted:
            shown = ", ".join(f"{name} in {n}" for name, n in adopted.most_common())
            out.print(f"  of these taken from the logs: {shown}", markup=False)
        if unused:
            shown = ", ".join(f"{name} in {n}" for name, n in unused.most_common())
            out.print(f"  in the logs but not used: {shown}", markup=False)
    if counts["unreadable"] or counts["undecided"]:
        return 2 if counts["unreadable"] else 3
    return 1 if counts["illegal"] or counts["differs"] else 0


def _line(as_json: bool, data: dict[str, Any]) -> None:
    if as_json:
        print_json(data)
