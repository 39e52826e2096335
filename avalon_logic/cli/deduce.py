"""`avalon deduce`: which deals are still possible, what is certain, and why; also over files of games or positions."""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from avalon_logic.cli.many import EPILOG as MANY
from avalon_logic.cli.many import add_many, many_games, run_many, under_rulings
from avalon_logic.cli.output import (
    BadInput,
    add_rule_files,
    add_rulings,
    bad_input,
    console,
    print_json,
    rulings_of,
)
from avalon_logic.cli.viewpoint import add_assume
from avalon_logic.many.reading import check_rulings
from avalon_logic.reading import record_of_text
from avalon_logic.records import Record, RecordError
from avalon_logic.typed_records import NOBODY

if TYPE_CHECKING:
    from avalon_logic.deduction import Result
    from avalon_logic.many.sources import Source

ALL = sys.maxsize  # --list without a number

EPILOG = (
    """RECORD is a game as typed at the table or as JSON (see docs/records.md), - for stdin, or
many games with their deals. Without --as a neutral observer deduces. With --as only what that player can have seen
counts, whatever else the record says.

examples:
  avalon deduce friday.txt                                 what can anybody at the table know?
  avalon deduce friday.txt --as Laura --role percival --saw William Thomas
  avalon deduce friday.txt --why "Thomas is evil"          the shortest argument, with its clauses
  avalon deduce friday.txt --if "Thomas is good" --list 5  what if? and five of the deals left
  avalon deduce friday.txt --assume good_tells_the_truth   claims and votes count only by assumption
  avalon deduce site-export.jsonl                          did the true deal stay possible in every game?
  avalon deduce --expect positions.json                    positions with known answers

"""
    + MANY
    + """

exit codes: 0 answered, 1 no deal is possible (or a game or position came out wrong), 2 bad input, 3 out of time"""
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = EPILOG
    parser.usage = "avalon deduce RECORD [options]\n       avalon deduce --expect FILE [--json]"
    parser.add_argument(
        "record", metavar="RECORD", nargs="?", help="a record, a file or folder of games, or -"
    )
    parser.add_argument("--expect", type=Path, metavar="FILE", help="check positions with expected answers")
    parser.add_argument("--json", action="store_true", help="JSON; one line for each game or position")
    parser.add_argument("--ids", nargs="+", metavar="ID", help="with --expect: only these positions")
    seat = parser.add_argument_group("whose eyes")
    seat.add_argument("--as", dest="seat", metavar="NAME", help="deduce as this player")
    seat.add_argument("--role", metavar="ROLE", help="the card this player holds, if the record does not say")
    seat.add_argument(
        "--saw",
        nargs="+",
        metavar="NAME",
        help="whom this player saw at the reveal; 'nobody' is information too",
    )
    ask = parser.add_argument_group("what to ask")
    ask.add_argument(
        "--why", action="append", default=[], metavar="FACT", help='explain a fact such as "Dan is evil"'
    )
    ask.add_argument(
        "--if", dest="if_", action="append", default=[], metavar="FACT", help='suppose "Ann is not merlin"'
    )
    ask.add_argument(
        "--list", type=int, nargs="?", const=ALL, metavar="N", help="list the possible deals (the first N)"
    )
    ask.add_argument("--by-side", action="store_true", help="list who can be evil together")
    ask.add_argument(
        "--steps", action="store_true", help="show every event, not only those that removed worlds"
    )
    rules = parser.add_argument_group("on what grounds")
    add_assume(rules)
    add_rulings(rules)
    add_rule_files(rules)
    add_many(parser)


def run(args: argparse.Namespace) -> int:
    if args.expect is not None:
        if args.record is not None:
            raise BadInput("--expect FILE stands alone: it takes no RECORD")
        return _expect(args)
    if args.record is None:
        raise BadInput("give a RECORD to deduce from, or --expect FILE (see: avalon deduce --help)")
    if args.ruling:
        with bad_input():
            check_rulings(rulings_of(args.ruling), tuple(args.rules))
    games = many_games(args)
    return _one(args) if games is None else _games(args, games)


# --- one record ---


def _one(args: argparse.Namespace) -> int:
    from avalon_logic.deduction import deduce
    from avalon_logic.deduction.facts import parse_fact
    from rules_dsl.arrays import TooManyUnknowns

    if args.list is not None and args.list < 1:
        raise BadInput(f"--list {args.list}: how many deals? give a number from 1, or just --list for all")
    with bad_input(args.record):
        record = _read(args)
        saw = None if args.saw is None else [] if args.saw in [[w] for w in NOBODY] else args.saw
        if saw and "," in " ".join(saw):
            saw = [n for word in saw for n in word.split(",") if n]
        try:
            result = deduce(
                record, args.seat, role=args.role, saw=saw, assume=tuple(args.assume), if_=tuple(args.if_)
            )
            for text in args.why:
                parse_fact(text, result.setting)
        except TooManyUnknowns as error:
            print(f"avalon: too much is unknown: {error}", file=sys.stderr)
            return 3
        except RecordError:
            raise
        except ValueError as error:
            raise BadInput(str(error)) from None
    return _answer(args, result)


def _read(args: argparse.Namespace) -> Record:
    paths = tuple(args.rules)
    rulings = rulings_of(args.ruling)
    path = None if args.record == "-" else Path(args.record)
    content = args.piped if path is None else path.read_bytes()
    return under_rulings(record_of_text(content.decode("utf-8-sig"), path, rulings, paths), rulings)


def _answer(args: argparse.Namespace, result: Result) -> int:
    explanations = []
    if not result.possible or args.why:
        from rules_dsl.smt.cores import Undecided

        try:
            conflict = result.conflict()
            explanations = [conflict] if conflict is not None else [result.why(text) for text in args.why]
        except Undecided as error:
            print(f"avalon: no explanation in the time given ({error})", file=sys.stderr)
            return 3
    most = 0 if args.list is None else args.list
    if args.json:
        made = result.to_json(most)
        if args.by_side:
            made["alignments"] = [asdict(a) | {"share": str(a.share)} for a in result.alignments]
        if explanations:
            made["conflict" if not result.possible else "why"] = (
                explanations[0].to_json() if not result.possible else [e.to_json() for e in explanations]
            )
        print_json(made)
    else:
        _show(args, result, explanations, most)
    return 0 if result.possible else 1


def _show(args: argparse.Namespace, result: Result, explanations: list[Any], most: int) -> None:
    out = console()
    if out.is_terminal:
        out.print(result)
    else:
        print(result)
    if args.steps:
        from avalon_logic.deduction.display import steps_table

        out.print("")
        out.print(steps_table(result))
    for explanation in explanations:
        out.print("")
        for line in explanation.lines():
            out.print(line, markup=False)
    if args.by_side and result.possible:
        from avalon_logic.deduction.display import alignments_table

        out.print("")
        out.print(alignments_table(result))
    if most and result.possible:
        from avalon_logic.deduction.display import worlds_table

        out.print("")
        out.print(worlds_table(result, most))


# --- many games ---


def _games(args: argparse.Namespace, games: Iterator[Source]) -> int:
    from avalon_logic.many.deducing import DeduceTally, Deducing

    for option in ("seat", "role", "saw", "why", "if_", "list", "assume", "steps", "by_side"):
        if getattr(args, option):
            name = {"seat": "as"}.get(option, option.strip("_").replace("_", "-"))
            raise BadInput(f"many games are followed for everybody by the rules alone: leave out --{name}")
    rulings, paths = rulings_of(args.ruling), tuple(args.rules)
    job = Deducing(tuple(rulings.items()), paths)
    return run_many(args, games, job, f"deduce {rulings} {paths}", DeduceTally())


# --- positions ---


def _expect(args: argparse.Namespace) -> int:
    from avalon_logic.deduction.expect import BadPosition, check_positions

    with bad_input():
        text = args.expect.read_text(encoding="utf-8-sig")
    try:
        positions = json.loads(text)
    except (json.JSONDecodeError, RecursionError) as error:
        raise BadInput(f"{args.expect}: not JSON: {error}") from None
    if args.ids and isinstance(positions, list):
        positions = [p for p in positions if isinstance(p, dict) and str(p.get("id")) in args.ids]
    try:
        with bad_input():
            verdicts = check_positions(positions)
    except BadPosition as error:
        raise BadInput(f"{args.expect}: {error}") from None
    out = console()
    counts = Counter(v.status for v in verdicts)
    for verdict in verdicts:
        if args.json:
            print_json(asdict(verdict))
        elif verdict.status in ("different", "bad"):
            for difference in verdict.differences:
                out.print(f"{verdict.id}: {difference}", markup=False)
        elif verdict.status == "answered":
            out.print(f"{verdict.id}: {json.dumps(verdict.found)}", markup=False)
    if not args.json:
        out.print(
            f"{len(verdicts)} positions: {counts['exact']} as expected, {counts['different']} differ",
            markup=False,
        )
        if counts["answered"]:
            out.print(f"  {counts['answered']} expect nothing and were only answered", markup=False)
        if counts["not covered"]:
            out.print(f"  {counts['not covered']} speak of rules no rulebook here has", markup=False)
        if counts["bad"]:
            out.print(f"  {counts['bad']} cannot be read", markup=False)
    return 2 if counts["bad"] else 1 if counts["different"] else 0
