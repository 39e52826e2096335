"""`avalon assumptions`: what can be assumed of the players; nothing of it is a rule."""

from __future__ import annotations

import argparse

from avalon_logic.cli.output import add_rule_files, bad_input, console, print_json

EPILOG = """By the rules votes prove nothing and claims may be lies. An assumption makes them count, where it is named:
a hard one rules worlds out, a weighted one makes them more or less likely. None is in force by default, and every
answer lists those it used. Declare your own in a module of a .rules file:

  module mine for avalon {
    assume leader_goes_along "every leader puts himself on the team" for team by p { require p in team }
    assume shy_evil "evil approves in four of ten cases" for approve by p {
      weight if side(p) == good then 50 else if approve then 40 else 60
    }
  }

examples:
  avalon assumptions
  avalon assumptions --game resistance
  avalon assumptions --rules mine.rules
  avalon deduce friday.txt --rules mine.rules --assume shy_evil good_tells_the_truth"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = EPILOG
    parser.add_argument(
        "--game", default="avalon", metavar="G", help="resistance, avalon (default) or avalon_2021"
    )
    add_rule_files(parser)
    parser.add_argument("--json", action="store_true", help="name, kind, about, text and module of each")


def run(args: argparse.Namespace) -> int:
    from avalon_logic.deduction.setting import assumption_list

    with bad_input():
        found = assumption_list(args.game, tuple(args.rules))
    if args.json:
        print_json(
            [
                {"name": a.name, "kind": a.kind, "about": a.about, "text": a.text, "module": a.module}
                for a in found
            ]
        )
        return 0
    from rich.table import Table

    out = console()
    for kind, title in (("require", "hard: worlds are ruled out"), ("weight", "weighted: worlds are ranked")):
        table = Table(title=title, title_justify="left", box=None, pad_edge=False, padding=(0, 2, 0, 0))
        table.add_column("name", no_wrap=True)
        table.add_column("about", no_wrap=True)
        table.add_column("says", overflow="fold")
        for a in found:
            if a.kind == kind:
                table.add_row(a.name, a.about, a.text)
        out.print(table)
        out.print()
    out.print("None is in force unless named: avalon deduce RECORD --assume NAME", markup=False)
    return 0
