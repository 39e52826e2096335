"""What properties are proved about: the games they fit, each with every module in or out but those asked for.

`shipped_families` gives the families `avalon prove` decides; `own_families` those of a user's files. Both leave the
modules of `OPEN` open, so that a claim speaks of every mix unless a narrower scope is asked for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from importlib.resources import as_file, files
from pathlib import Path

from avalon_logic.library import rulebook_library
from proofs.families import Family, families, fits, only_watches, playable_games, states_claims
from rules_dsl import BadParameter, Library, UnknownName, Value, parse
from rules_dsl.diagnostics import fail
from rules_dsl.model import PLAYERS
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
    without: Sequence[str] = (),
    fixed: Mapping[str, Value] | None = None,
    paths: Sequence[Path] = (),
) -> list[Family]:
    """The shipped properties about these games, with `modules` in, those of `without` out and the others in or out.

    Who knows what in the edition of 2021 is left out where all games are meant: it differs from avalon with targeting in
    the order of quests, which nobody hides, and takes as long again.
    """
    lib = rulebook_library((*property_files(), *paths))
    _known(lib, games, modules, without)
    claims = shipped_claims()
    made = families(lib, games, claims, modules=modules, open_modules=OPEN, without=without, fixed=fixed)
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
    without: Sequence[str] = (),
    fixed: Mapping[str, Value] | None = None,
) -> list[Family]:
    """What the user's files claim, about every game it fits with the shipped modules in or out; or, if they claim
    nothing, the shipped properties with the user's modules put in."""
    own = tuple(paths)
    ours, theirs = rulebook_library(()), rulebook_library(own)
    new_games = [g for g in playable_games(theirs) if g not in ours.games]
    new_modules = [name for name in theirs.modules if name not in ours.modules and name not in without]
    claims = [name for name in new_modules if states_claims(theirs.modules[name])]
    claiming = [g for g in new_games if any(states_claims(x) for x in family_of(theirs, g))]
    _known(theirs, games or (), modules, without)
    if not claims and not claiming:
        wanted = games or [g for g in GAMES if all(fits(theirs, theirs.modules[x], g) for x in new_modules)]
        made = shipped_families(
            (*new_games, *wanted), modules=(*modules, *new_modules), without=without, fixed=fixed, paths=own
        )
        return made if games else _told_apart(made)
    about = list(games) if games else _fitting(theirs, claims, claiming, modules)
    watching = [name for name in claims if only_watches(theirs.modules[name])]
    rules = [name for name in new_modules if name not in watching and name not in modules]
    made = []
    for game in about:
        put_in = [*modules, *(name for name in rules if fits(theirs, theirs.modules[name], game))]
        made += families(
            theirs, [game], claims, modules=put_in, open_modules=OPEN, without=without, fixed=fixed
        )
    return [replace(family, paths=own) for family in made]


def _fitting(
    lib: Library, claims: Sequence[str], claiming: Sequence[str], modules: Sequence[str]
) -> list[str]:
    """The games some claim speaks of and all the modules asked for are for; no claim may be left without a game."""
    order = [*GAMES, *(g for g in playable_games(lib) if g not in GAMES)]
    about: dict[str, list[str]] = {c: [g for g in order if fits(lib, lib.modules[c], g)] for c in claims}
    about |= {g: [g] for g in claiming}
    for name, games in about.items():
        if not games:
            base = lib.modules[name].bases[0]
            there = f"known games: {', '.join(order)}"
            raise fail("E101", f"there is no game '{base.name}' to prove the claims about", base.span, there)
        able = [g for g in games if all(fits(lib, lib.modules[x], g) for x in modules)]
        if not able:
            raise UnknownName(
                f"what '{name}' claims is about {', '.join(games)}, which not all of {', '.join(modules)} "
                "are for; choose what to prove with --game"
            )
        about[name] = able
    return [g for g in order if any(g in games for games in about.values())]


def check_fixed(families: Sequence[Family], fixed: Mapping[str, Value]) -> None:
    """A ruling that is fixed must exist in one of the games."""
    known = {name for f in families for name, p in f.model.params.items() if p.kind == "ruling"}
    known |= {name for f in families for name in f.fixed}
    for name in fixed:
        if name != PLAYERS and name not in known:
            there = ", ".join(sorted(known - {PLAYERS}))
            raise BadParameter(f"there is no ruling '{name}' in these games; there are: {there}")


def _known(lib: Library, games: Sequence[str], modules: Sequence[str], without: Sequence[str]) -> None:
    for game in games:
        family_of(lib, game)
    for name in (*modules, *without):
        if name not in lib.modules:
            raise UnknownName(f"there is no module '{name}'; known modules: {', '.join(sorted(lib.modules))}")
        if name in modules and name in without:
            raise UnknownName(f"module '{name}' cannot be in and out at once")
