"""The claims of a user's own rulebook file, ready for the prover.

A file may state a game of its own, or modules for the shipped games. For each game that fits there is one family: the
file's modules in, every shipped module that may stand beside them left open, players, deck and rulings open too.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from avalon_logic.library import rulebook_library, shipped_rulebooks
from proofs.families import Family, families, fits, playable_games, states_claims
from rules_dsl import Library, RulebookError, compose


def own_families(path: Path) -> list[Family]:
    """The families in which the properties stated in this file can be decided, each with only those properties."""
    lib = rulebook_library((path,))
    mine = [name for name, module in lib.modules.items() if module.span.file == str(path)]
    games = [name for name, game in lib.games.items() if game.span.file == str(path) and not game.abstract]
    fitting = [g for g in playable_games(lib) if any(fits(lib, lib.modules[name], g) for name in mine)]
    made = []
    for game in dict.fromkeys([*games, *fitting]):
        beside = tuple(name for name in mine if fits(lib, lib.modules[name], game))
        stating = [name for name in beside if states_claims(lib.modules[name])]
        others = [name for name in beside if name not in stating]
        left_open = open_beside(lib, game, beside)
        for family in families(lib, [game], stating, modules=others, open_modules=left_open):
            made.append(_only_from(family, str(path)))
    return [family for family in made if family.properties]


def open_beside(lib: Library, game: str, modules: tuple[str, ...]) -> tuple[str, ...]:
    """The shipped modules of rules that can be left open together beside these."""
    kept: tuple[str, ...] = ()
    for book in shipped_rulebooks():
        for module in book.modules:
            if not fits(lib, module, game) or module.name.endswith("assumptions") or module.name in modules:
                continue
            try:
                compose(lib, game, modules, (*kept, module.name))
            except RulebookError:
                continue
            kept = (*kept, module.name)
    return kept


def _only_from(family: Family, file: str) -> Family:
    properties = {n: p for n, p in family.model.properties.items() if p.origin.span.file == file}
    return replace(family, model=replace(family.model, properties=properties))
