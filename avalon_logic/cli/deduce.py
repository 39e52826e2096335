"""`avalon deduce`: which deals are still possible, what is certain, and why; also over files of games or positions."""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

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
from avalon_logic.cli.viewpoint import add_assume
from avalon_logic.reading import record_of_data, record_of_text
from avalon_logic.records import Record, RecordError, without_places
from avalon_logic.typed_records import NOBODY

if TYPE_CHECKING:
    from avalon_logic.deduction import Result

ALL = sys.maxsize  # --list without a number

EPILOG = """RECORD is a game as typed at the table or as JSON (see docs/records.md), - for stdin, or a .jsonl file of
many games with their deals. Without --as a neutral observer deduces. With --as only what that player can have
seen counts, whatever else the record says.

examples:
  avalon deduce friday.txt                                 what can anybody at the table know?
  avalon deduce friday.txt --as Laura --role percival --saw William Thomas
  avalon deduce friday.txt --why "Thomas is evil"          the shortest argument, with its clauses
  avalon deduce friday.txt --if "Thomas is good" --list 5  what if? and five of the deals left
  avalon deduce friday.txt --assume good_tells_the_truth   claims and votes count only by assumption
  avalon deduce site-export.jsonl                          did the true deal stay possible in every game?
  avalon deduce --expect positions.json                    positions with known answers

exit codes: 0 answered, 1 no deal is possible (or a game or position came out wrong), 2 bad input, 3 out of time"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = EPILOG
    parser.usage = "avalon deduce RECORD [options]\n       avalon deduce --expect FILE [--json]"
    parser.add_argument("record", metavar="RECORD", nargs="?", help="a record, a .jsonl file of games, or -")
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


def run(args: argparse.Namespace) -> int:
    if args.expect is not None:
        if args.record is not None:
            raise BadInput("--expect FILE stands alone: it takes no RECORD")
        return _expect(args)
    if args.record is None:
        raise BadInput("give a RECORD to deduce from, or --expect FILE (see: avalon deduce --help)")
    if args.record.endswith(".jsonl"):
        return _games(args)
    return _one(args)


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
    if args.record == "-":
        return record_of_text(sys.stdin.buffer.read().decode("utf-8-sig"), None, rulings, paths)
    path = Path(args.record)
    return record_of_text(path.read_bytes().decode("utf-8-sig"), path, rulings, paths)


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


def _games(args: argparse.Namespace) -> int:
    from avalon_logic.deduction.games import Verdict, follow_game
    from avalon_logic.logs import read_lines

    for option in ("seat", "role", "saw", "why", "if_", "list", "assume"):
        if getattr(args, option):
            raise BadInput(
                f"a file of games is followed for everybody by the rules alone: leave out --{option.strip('_')}"
            )
    path, rulings = Path(args.record), rulings_of(args.ruling)
    with bad_input():
        lines = list(read_lines(path))
    if not lines:
        raise BadInput(f"{path}: no games in this file")
    update = progress(len(lines), "deducing")
    counts: Counter[str] = Counter()
    adopted: Counter[str] = Counter()
    unused: Counter[str] = Counter()
    faults: list[Verdict] = []
    for done, (number, data) in enumerate(lines, 1):
        where = f"{path}:{number}"
        try:
            with bad_input():
                record = record_of_data(data, rulings, where, tuple(args.rules))
                verdict = follow_game(record)
        except BadInput as error:
            counts["unreadable"] += 1
            name = str(data.get("id", "")) if isinstance(data, dict) else ""
            if args.json:
                print_json({"id": name, "error": str(error)})
            else:
                print(f"avalon: {where}: {error}", file=sys.stderr)
            continue
        finally:
            update(done)
        counts["sound" if verdict.sound else "illegal" if verdict.illegal else "excluded"] += 1
        counts["viewers"] += len(verdict.sightings)
        adopted.update(f"{k}={record.configuration.rulings[k]}" for k in record.adopted)
        unused.update(without_places(record.unused))
        if args.json:
            print_json(verdict.to_json())
        elif not verdict.sound:
            faults.append(verdict)
    if not args.json:
        _summary(len(lines), counts, faults)
        for heading, named in (
            ("rulings taken from the logs", adopted),
            ("in the logs but not used", unused),
        ):
            if named:
                shown = ", ".join(f"{name} in {n}" for name, n in named.most_common())
                console().print(f"  {heading}: {shown}", markup=False)
    return 2 if counts["unreadable"] else 0 if counts["sound"] == len(lines) else 1


def _summary(total: int, counts: Counter[str], faults: list[Any]) -> None:
    out = console()
    out.print(
        f"{total} games, {counts['viewers']:,} viewers (the neutral observer and every seat)", markup=False
    )
    out.print(
        f"  the true deal stayed possible for everybody after every event: {counts['sound']}", markup=False
    )
    if counts["excluded"]:
        out.print(f"  the true deal is excluded by what was recorded: {counts['excluded']}", markup=False)
    if counts["illegal"]:
        out.print(f"  not legal, so not followed to the end: {counts['illegal']}", markup=False)
    if counts["unreadable"]:
        out.print(f"  not readable: {counts['unreadable']}", markup=False)
    for verdict in faults:
        out.print(f"{verdict.record.title}: {verdict.illegal or 'the true deal is excluded'}", markup=False)
        if verdict.explanation is not None:
            for line in verdict.explanation.lines()[1:]:
                out.print(f"  {line}", markup=False)


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
