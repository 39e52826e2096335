"""`avalon demo`: the main things on bundled examples, in a few seconds."""

from __future__ import annotations

import argparse
import shlex
from importlib.resources import as_file, files

from avalon_logic.cli.output import console

STEPS = (
    ("The shipped rulebooks are sound, alone and with their modules", ["check"]),
    (
        "A table the rules refuse, with the clause",
        ["check", "-n", "5", "--roles", "merlin", "percival", "assassin"],
    ),
    ("A game written down at the table: was it legal?", ["replay", "@five_players.txt"]),
    ("A mistake at the table, found", ["replay", "@house_rule.txt"]),
    (
        "Can evil block every team it votes against? The shortest game that shows it cannot",
        ["prove", "--game", "resistance", "-n", "5", "--property", "evil_as_one_blocks_any_team"],
    ),
    (
        "What can one player know for certain, and why?",
        [
            "deduce",
            "@two_fails.txt",
            *("--as", "Laura", "--role", "percival", "--saw", "William", "Thomas"),
            *("--why", "William is merlin"),
        ],
    ),
    (
        "Whom should be taken along next?",
        ["advise", "@two_fails.txt", "--top", "3"],
    ),
    (
        "What the referee needs, worked out from the rules, in three languages",
        [
            "tables",
            "-n",
            "7",
            "--roles",
            "merlin",
            "percival",
            "assassin",
            "morgana",
            "--only",
            "REF-05",
            "--lang",
            "fr",
        ],
    ),
    (
        "Who wins when everybody plays at random?",
        ["simulate", "-n", "7", "--with", "lady", "--games", "2000"],
    ),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = (
        "Takes no arguments. Each step prints the command it runs, for you to try with your own files."
    )


def run(args: argparse.Namespace) -> int:
    from avalon_logic.cli import main

    out = console()
    folder = files("avalon_logic") / "examples"
    for title, words in STEPS:
        out.print(f"\n[bold]{title}[/bold]")
        out.print(f"$ avalon {shlex.join(w.removeprefix('@') for w in words)}", style="dim", markup=False)
        names = [w for w in words if w.startswith("@")]
        if names:
            with as_file(folder / names[0][1:]) as path:
                main([str(path) if w == names[0] else w for w in words])
        else:
            main(words)
    return 0
