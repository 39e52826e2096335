"""`avalon rulings`: what the books leave open, the alternatives, and which one is in force."""

from __future__ import annotations

import argparse
from dataclasses import replace

from avalon_logic.cli.output import add_configuration, bad_input, configuration_of, console, print_json
from avalon_logic.configuration import resolve
from avalon_logic.library import open_model, rulebook_library
from rules_dsl.selection import family_of

EPILOG = """examples:
  avalon rulings                                 every open point of Avalon and its modules
  avalon rulings --game resistance
  avalon rulings --ruling fifth_team=no_vote     with one decided
  avalon rulings --json"""

USUAL = 5  # players, where nobody says how many


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = EPILOG
    add_configuration(parser)
    parser.add_argument("--json", action="store_true", help="as JSON, one object")


def run(args: argparse.Namespace) -> int:
    with bad_input():
        if not args.modules and args.roles is None:
            lib = rulebook_library(tuple(args.rules))
            family = {g.name for g in family_of(lib, args.game)}
            args.modules = [m.name for m in lib.modules.values() if any(b.name in family for b in m.bases)]
        asked = configuration_of(args)
        if args.players == USUAL:  # nobody has to name a number of players to be told of the open points
            limits = open_model(asked.game, asked.modules, paths=asked.paths)
            asked = replace(asked, players=min(max(USUAL, limits.fewest), limits.most))
        model, given = resolve(asked)
    rulings = [p for p in model.params.values() if p.kind == "ruling"]
    if args.json:
        print_json(
            {
                p.name: {
                    "question": p.text,
                    "cites": list(p.origin.cites),
                    "module": p.origin.module,
                    "alternatives": dict(p.alternatives),
                    "default": p.default.value,  # type: ignore[union-attr]
                    "in_force": given.get(p.name, p.default.value),  # type: ignore[union-attr]
                }
                for p in rulings
            }
        )
        return 0
    out = console()
    for param in sorted(rulings, key=lambda p: p.origin.cites):
        default = param.default.value  # type: ignore[union-attr]
        chosen = given.get(param.name, default)
        out.print(f"[bold]{param.name}[/bold]  {param.text}  [dim]({', '.join(param.origin.cites)})[/dim]")
        for name, text in param.alternatives:
            mark = "*" if name == chosen else " "
            note = "  (default)" if name == default and chosen != default else ""
            out.print(f"  {mark} {name:<20} {text}{note}", markup=False)
    out.print("\n* is in force; change one with --ruling NAME=ALTERNATIVE", markup=False)
    return 0
