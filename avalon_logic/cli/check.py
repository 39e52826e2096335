"""`avalon check`: are rulebooks sound, and is a table's set-up allowed?"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from avalon_logic.cli.output import (
    BadInput,
    add_configuration,
    bad_input,
    configuration_of,
    console,
    print_json,
)
from avalon_logic.configuration import describe_check, examine
from avalon_logic.library import open_model, read_rulebook, rulebook_library
from avalon_logic.referee.demands import check_messages
from rules_dsl import Model, RulebookError, UnknownName
from rules_dsl.selection import family_of

EPILOG = """examples:
  avalon check                                   all shipped rulebooks, every game with every module that fits it
  avalon check my.rules                          your own file, together with the shipped ones
  avalon check -n 5 --roles merlin percival assassin
                                                 is this table allowed? (no: ROLE-10)"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = EPILOG
    parser.add_argument("files", nargs="*", type=Path, metavar="FILE", help="rulebook files to check")
    add_configuration(parser)
    parser.add_argument("--json", action="store_true", help="findings as JSON")


def run(args: argparse.Namespace) -> int:
    table_asked = (
        args.roles is not None or args.modules or args.ruling or args.players != 5 or args.game != "avalon"
    )
    problems: list[dict[str, Any]] = []
    texts: list[str] = []
    checked: list[str] = []
    models: list[Model] = []
    try:
        paths = (*args.rules, *args.files)
        for path in paths:
            read_rulebook(path)
        for game, modules in _mixes(paths):
            models.append(open_model(game, modules, paths=paths))
            checked.append(game + (f" with {', '.join(modules)}" if modules else ""))
        if not paths:  # a rulebook of the user's own may do without messages
            idle_or_missing = check_messages(models, rulebook_library())
            if idle_or_missing:
                raise RulebookError(idle_or_missing)
    except RulebookError as error:
        problems += [d.to_json() for d in error.diagnostics]
        texts.append(str(error))
    except OSError as error:
        raise BadInput(f"{error.filename}: {error.strerror}") from None
    except UnknownName as error:
        raise BadInput(str(error)) from None
    findings: list[dict[str, Any]] = []
    refused = False
    if table_asked and not problems:
        with bad_input():
            args.rules = list(paths)
            settled = examine(configuration_of(args))
        refused = bool(settled.errors)
        findings = [
            {"severity": f.severity, "message": f.text, "clauses": list(f.origin.cites)}
            for f in settled.findings
        ]
        texts += [f"{f.severity}: {describe_check(f)}" for f in settled.findings]
    if args.json:
        print_json({"checked": checked, "problems": problems, "setup": findings})
    else:
        for text in texts:
            console().print(text, markup=False)
        if not problems:
            console().print(f"{len(checked)} compositions of games and modules are sound", markup=False)
        if table_asked and not problems and not refused:
            console().print("this table is allowed", markup=False)
    return 2 if problems else 1 if refused else 0


def _mixes(paths: tuple[Path, ...]) -> list[tuple[str, tuple[str, ...]]]:
    """Every game alone, with each module that fits it, and with as many as go together."""
    lib = rulebook_library(paths)
    mixes: list[tuple[str, tuple[str, ...]]] = []
    for name, game in lib.games.items():
        if game.abstract:
            continue
        family = {g.name for g in family_of(lib, name)}
        fitting = [m for m in lib.modules.values() if any(b.name in family for b in m.bases)]
        mixes.append((name, ()))
        mixes += [(name, (m.name,)) for m in fitting]
        together: list[str] = []
        for module in fitting:
            barred = {r.name for m in fitting if m.name in together for r in m.excludes}
            if module.name not in barred and not any(r.name in together for r in module.excludes):
                together.append(module.name)
        if len(together) > 1:
            mixes.append((name, tuple(together)))
    return mixes
