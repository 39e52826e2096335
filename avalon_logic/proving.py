"""What the shipped properties are proved about: the games of the family, each with every module in or out.

`shipped_families` gives the families `avalon prove` decides; `own_families` those of a user's files.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from importlib.resources import as_file, files
from pathlib import Path

from avalon_logic.library import rulebook_library
from proofs.families import Family, families, fits, playable_games, states_claims
from rules_dsl import Library, UnknownName, Value, parse
from rules_dsl.selection import family_of

# The modules the shipped claims speak about; each may be in or out unless it is asked for.
OPEN = ("blind_spies", "lady", "mordred", "morgana", "oberon", "percival", "targeting")
GAMES = ("resistance", "avalon", "avalon_2021")


@lru_cache(maxsize=1)
def property_files() -> tuple[Path, ...]:
    """The files of shipped properties."""
    with as_file(files("proofs") / "properties") as folder:
        return tuple(sorted(Path(folder).glob("*.rules")))


@lru_cache(maxsize=1)
def shipped_claims() -> tuple[str, ...]:
    """The modules of the shipped property files that state claims."""
    books = [parse(path.read_text(encoding="utf-8"), path.name) for path in property_files()]
    return tuple(m.name for book in books for m in book.modules if states_claims(m))


def shipped_families(
    games: Sequence[str] = GAMES,
    *,
    modules: Sequence[str] = (),
    fixed: Mapping[str, Value] | None = None,
    paths: Sequence[Path] = (),
) -> list[Family]:
    """The shipped properties about these games, with `modules` in and the others in or out.

    Who knows what in the edition of 2021 is left out where all games are meant: it differs from avalon with targeting in
    the order of quests, which nobody hides, and takes as long again.
    """
    lib = rulebook_library((*property_files(), *paths))
    _known(lib, games, modules)
    made = families(lib, games, shipped_claims(), modules=modules, open_modules=OPEN, fixed=fixed)
    if tuple(games) == GAMES:
        made = _told_apart(made)
    # what a user's rules make impossible at the tables asked for is a finding; what other tables are needed for is none
    return [replace(f, paths=tuple(paths), narrow=bool(f.fixed) and not paths) for f in made]


def _told_apart(made: Sequence[Family]) -> list[Family]:
    return [f for f in made if f.game != "avalon_2021" or not f.knowing]


def own_families(
    paths: Sequence[Path],
    games: Sequence[str] | None = None,
    *,
    modules: Sequence[str] = (),
    fixed: Mapping[str, Value] | None = None,
) -> list[Family]:
    """What the user's files claim, about the games they name; or, if they claim nothing, the shipped properties with
    the user's modules put in."""
    own = tuple(paths)
    ours, theirs = rulebook_library(()), rulebook_library(own)
    new_games = [g for g in playable_games(theirs) if g not in ours.games]
    new_modules = [name for name in theirs.modules if name not in ours.modules]
    claims = [name for name in new_modules if states_claims(theirs.modules[name])]
    claiming = [g for g in new_games if any(states_claims(x) for x in family_of(theirs, g))]
    _known(theirs, games or (), modules)
    if not claims and not claiming:
        wanted = games or [g for g in GAMES if all(fits(theirs, theirs.modules[x], g) for x in new_modules)]
        made = shipped_families(
            (*new_games, *wanted), modules=(*modules, *new_modules), fixed=fixed, paths=own
        )
        return made if games else _told_apart(made)
    about = list(games) if games else claiming or [_first_fit(theirs, claims)]
    silent = [
        name
        for name in new_modules
        if name not in claims and all(fits(theirs, theirs.modules[name], game) for game in about)
    ]
    made = families(theirs, about, claims, modules=(*modules, *silent), fixed=fixed)
    return [replace(family, paths=own) for family in made]


def _first_fit(lib: Library, claims: Sequence[str]) -> str:
    """The game to prove modules of claims about when none is named: avalon if they fit it."""
    return next(
        g for g in ("avalon", *playable_games(lib)) if all(fits(lib, lib.modules[c], g) for c in claims)
    )


def _known(lib: Library, games: Sequence[str], modules: Sequence[str]) -> None:
    for game in games:
        family_of(lib, game)
    for name in modules:
        if name not in lib.modules:
            raise UnknownName(f"there is no module '{name}'; known modules: {', '.join(sorted(lib.modules))}")
