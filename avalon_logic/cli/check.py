"""`avalon check`: are rulebooks sound, and is a table's set-up allowed?"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
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
from rules_dsl import Library, Model, RulebookError, UnknownName
from rules_dsl.diagnostics import Diagnostic
from rules_dsl.selection import MOST_MODULES, family_of, included_modules
from rules_dsl.syntax import Module

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
        if unseen := _unseen(rulebook_library(paths)):
            raise RulebookError(unseen)
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
    """Every game alone, with each module that fits it, and with many at once: any two that go together stand together
    in one of the mixes.
    """
    lib = rulebook_library(paths)
    mixes: list[tuple[str, tuple[str, ...]]] = []
    for name, game in lib.games.items():
        if game.abstract:
            continue
        fitting = _fitting(lib, name)
        mixes.append((name, ()))
        mixes += [(name, (m.name,)) for m in fitting]
        mixes += [
            (name, tuple(mix))
            for mix in _together(lib, fitting, MOST_MODULES - len(included_modules(lib, name)))
        ]
    return mixes


def _fitting(lib: Library, game: str) -> list[Module]:
    family = {g.name for g in family_of(lib, game)}
    return [m for m in lib.modules.values() if any(b.name in family for b in m.bases)]


def _together(lib: Library, fitting: Sequence[Module], most: int) -> Iterator[list[str]]:
    """Mixes of modules, as large as may be, until every two that may play together have been together."""
    brings = {m.name: _with_required(lib, m) for m in fitting}
    excluded = {m.name: {r.name for n in brings[m.name] for r in lib.modules[n].excludes} for m in fitting}

    def agree(one: str, two: str) -> bool:
        return not (brings[one] & excluded[two] or brings[two] & excluded[one])

    names = list(brings)
    left = {(a, b) for i, a in enumerate(names) for b in names[i + 1 :] if agree(a, b)}
    while left:
        first = min(left, key=lambda pair: (names.index(pair[0]), names.index(pair[1])))
        mix, inside = [*first], brings[first[0]] | brings[first[1]]
        while True:
            fits = [
                name
                for name in names
                if name not in mix
                and len(inside | brings[name]) <= most
                and all(agree(name, other) for other in mix)
            ]
            if not fits:
                break
            # the one that has not yet been with most of those in the mix
            new = max(fits, key=lambda n: sum((a, n) in left or (n, a) in left for a in mix))
            mix.append(new)
            inside |= brings[new]
        left -= {(a, b) for a in mix for b in mix}
        yield sorted(mix)


def _with_required(lib: Library, module: Module) -> set[str]:
    found = {module.name}
    queue = [module]
    while queue:
        for ref in queue.pop().requires:
            if ref.name not in found:
                found.add(ref.name)
                queue.append(lib.modules[ref.name])
    return found


def _unseen(lib: Library) -> list[Diagnostic]:
    """Modules and games that no game that can be played brings in, so that nobody has looked inside them."""
    playable = [name for name, game in lib.games.items() if not game.abstract]
    seen = {g.name for name in playable for g in family_of(lib, name)}
    seen_modules = {m.name for name in playable for m in _fitting(lib, name)}
    text = "nothing in it was checked: no game that can be played {}"
    advice = "add a game that extends it"
    found = [
        Diagnostic("E109", f"game '{name}': {text.format('extends it')}", game.span, advice)
        for name, game in lib.games.items()
        if name not in seen
    ]
    return found + [
        Diagnostic("E109", f"module '{name}': {text.format('can have it')}", module.span)
        for name, module in lib.modules.items()
        if name not in seen_modules
    ]
