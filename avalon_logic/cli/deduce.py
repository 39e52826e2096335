"""`avalon deduce --expect FILE`: do positions with known answers come out as expected?"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from dataclasses import asdict
from pathlib import Path

from avalon_logic.cli.output import BadInput, bad_input, console, print_json

EPILOG = """A file of positions is a JSON list. Each gives players, a deck, a viewer (or null), options, observations with
seats counted from 1, and what is expected: the number of worlds, certain facts, possible roles.

examples:
  avalon deduce --expect positions.json
  avalon deduce --expect positions.json --json"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = EPILOG
    parser.add_argument(
        "--expect", type=Path, required=True, metavar="FILE", help="positions with expected answers"
    )
    parser.add_argument("--json", action="store_true", help="one line a position")


def run(args: argparse.Namespace) -> int:
    from avalon_logic.deduction.expect import BadPosition, check_positions

    with bad_input():
        text = args.expect.read_text(encoding="utf-8-sig")
    try:
        positions = json.loads(text)
    except (json.JSONDecodeError, RecursionError) as error:
        raise BadInput(f"{args.expect}: not JSON: {error}") from None
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
    if not args.json:
        out.print(
            f"{len(verdicts)} positions: {counts['exact']} as expected, {counts['different']} differ",
            markup=False,
        )
        if counts["not covered"]:
            out.print(f"  {counts['not covered']} speak of rules no rulebook here has", markup=False)
        if counts["bad"]:
            out.print(f"  {counts['bad']} cannot be read", markup=False)
    return 2 if counts["bad"] else 1 if counts["different"] else 0
