"""`avalon simulate`: many random games and who wins them."""

from __future__ import annotations

import argparse
import time
from math import sqrt

from avalon_logic.cli.output import (
    BadInput,
    add_configuration,
    bad_input,
    configuration_of,
    console,
    print_json,
    progress,
    report_error,
)
from avalon_logic.simulation import ENGINES, MANY, StuckGame, simulate

EPILOG = """Everybody chooses uniformly at random among what is legal: this says how a set-up leans when nobody thinks.
A game in which somebody must choose and nothing is allowed is a finding (exit code 1).

examples:
  avalon simulate -n 7 --games 1000000
  avalon simulate -n 10 --roles merlin percival assassin mordred morgana oberon --with lady
  avalon simulate --game resistance -n 5 --seed 7 --json"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = EPILOG
    add_configuration(parser)
    parser.add_argument(
        "--games", type=int, default=10_000, metavar="N", help="how many games (default 10,000)"
    )
    parser.add_argument("--seed", type=int, default=1, metavar="S", help="same seed, same games (default 1)")
    parser.add_argument(
        "--engine",
        choices=ENGINES,
        help=f"one game after the other (python) or all side by side (arrays); arrays from {MANY:,} games on",
    )
    parser.add_argument("--json", action="store_true", help="counts as JSON")


def run(args: argparse.Namespace) -> int:
    if not 1 <= args.games <= 100_000_000:
        raise BadInput("--games must be from 1 to 100,000,000")
    started = time.perf_counter()
    try:
        with bad_input():
            done = simulate(
                configuration_of(args), args.games, args.seed, progress(args.games, "playing"), args.engine
            )
    except StuckGame as error:
        return report_error(f"a game got stuck, so nothing was counted: {error}", code=1)
    seconds = time.perf_counter() - started
    if args.json:
        found = dict(sorted(done.results.items()))
        print_json({"games": done.games, "seed": done.seed, "engine": done.engine, "results": found})
        return 0
    from rich.table import Table

    table = Table(title=f"{done.games:,} random games, seed {done.seed}")
    table.add_column("winner")
    table.add_column("games", justify="right")
    table.add_column("share", justify="right")
    table.add_column("95 % interval", justify="right")
    for name, count in done.results.most_common():
        share = count / done.games
        spread = 1.96 * sqrt(share * (1 - share) / done.games)
        low, high = max(0.0, share - spread), min(1.0, share + spread)
        table.add_row(name, f"{count:,}", f"{share:.2%}", f"{low:.2%} .. {high:.2%}")
    console().print(table)
    console().print(f"{seconds:.2f} s, {done.engine}", markup=False)
    return 0
