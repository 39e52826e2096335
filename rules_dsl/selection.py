"""Which games and modules make up a game, and in which order: a library and names in, ordered declarations
out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass

from rules_dsl import syntax as s
from rules_dsl.diagnostics import Note, fail
from rules_dsl.source import Span

MOST_MODULES = 40
MOST_KNOWN_MODULES = 100  # every one of them is looked at with every game it fits


@dataclass(frozen=True)
class Library:
    """All games and modules that may be composed, by name."""

    games: Mapping[str, s.Game]
    modules: Mapping[str, s.Module]


def library(rulebooks: Iterable[s.Rulebook]) -> Library:
    """Collects rulebooks; two games or modules of one name are an error."""
    games: dict[str, s.Game] = {}
    modules: dict[str, s.Module] = {}
    for book in rulebooks:
        for game in book.games:
            _once(games, game.name, "game", game.span)
            games[game.name] = game
        for module in book.modules:
            _once(modules, module.name, "module", module.span)
            if len(modules) == MOST_KNOWN_MODULES:
                raise fail("E108", f"more than {MOST_KNOWN_MODULES} modules in all are too many", module.span)
            modules[module.name] = module
    return Library(games, modules)


def _once(known: Mapping[str, s.Game] | Mapping[str, s.Module], name: str, what: str, span: Span) -> None:
    if name in known:
        raise fail(
            "E100",
            f"there are two {what}s named '{name}'",
            span,
            notes=[Note("the other one:", known[name].span)],
        )


def check_references(lib: Library) -> None:
    """Whatever a module is for, requires, excludes or comes after must be there, also where nobody plays with it."""
    games = ", ".join(sorted(lib.games)) or "none"
    modules = ", ".join(sorted(lib.modules)) or "none"
    for module in lib.modules.values():
        for base in module.bases:
            if base.name not in lib.games:
                raise fail("E101", f"there is no game '{base.name}'", base.span, f"known games: {games}")
        for ref in (*module.requires, *module.excludes, *module.after):
            if ref.name not in lib.modules:
                raise fail("E103", f"there is no module '{ref.name}'", ref.span, f"known modules: {modules}")


def family_of(lib: Library, name: str, span: Span | None = None) -> tuple[s.Game, ...]:
    """The game and those it extends, the oldest first."""
    chain: list[s.Game] = []
    wanted: str | None = name
    while wanted is not None:
        game = lib.games.get(wanted)
        if game is None:
            place = chain[-1].parent.span if chain and chain[-1].parent else span
            known = ", ".join(sorted(g for g in lib.games if not lib.games[g].abstract)) or "none"
            if place is None:
                raise UnknownName(f"there is no game '{wanted}'; known games: {known}")
            raise fail("E101", f"there is no game '{wanted}'", place, f"known games: {known}")
        if game in chain:
            raise fail("E102", f"game '{wanted}' extends itself", game.span)
        chain.append(game)
        wanted = game.parent.name if game.parent else None
    return tuple(reversed(chain))


class UnknownName(Exception):
    """A game, module, role, ruling or player that was asked for does not exist."""


def included_modules(lib: Library, game: str) -> tuple[str, ...]:
    """The modules a game has built in."""
    return tuple(ref.name for g in family_of(lib, game) for ref in g.includes)


def layers_of(family: tuple[s.Game, ...], ordered: tuple[s.Module, ...]) -> list[s.Game | s.Module]:
    """Games from the oldest on, each after the modules it has built in; then the modules put in besides."""
    layers: list[s.Game | s.Module] = []
    left = list(ordered)
    for game in family:
        built_in = {ref.name for ref in game.includes}
        layers += [module for module in left if module.name in built_in]
        left = [module for module in left if module.name not in built_in]
        layers.append(game)
    return [*layers, *left]


def choose_modules(
    lib: Library, family: tuple[str, ...], game: s.Game, names: Iterable[str]
) -> dict[str, s.Module]:
    chosen: dict[str, s.Module] = {}
    refs = {ref.name: ref.span for ref in game.includes}
    queue: list[tuple[str, Span | None]] = [(name, refs.get(name)) for name in names]
    while queue:
        name, asked = queue.pop(0)
        if name in chosen:
            continue
        module = lib.modules.get(name)
        if module is None:
            known = ", ".join(sorted(lib.modules)) or "none"
            if asked is None:
                raise UnknownName(f"there is no module '{name}'; known modules: {known}")
            raise fail("E103", f"there is no module '{name}'", asked, f"known modules: {known}")
        if not any(base.name in family for base in module.bases):
            bases = ", ".join(base.name for base in module.bases)
            raise fail(
                "E104",
                f"module '{name}' is for {bases}, not for '{game.name}'",
                module.span,
                notes=[Note("the game:", game.span)],
            )
        if len(chosen) == MOST_MODULES:
            raise fail("E108", f"more than {MOST_MODULES} modules at once are too many", module.span)
        chosen[name] = module
        queue += [(ref.name, ref.span) for ref in module.requires]
    return chosen


def check_exclusions(chosen: Mapping[str, s.Module], always: Set[str]) -> None:
    """Modules that are both in for certain must not exclude each other."""
    for module in chosen.values():
        for ref in module.excludes:
            if ref.name in always and module.name in always:
                raise fail(
                    "E105",
                    f"modules '{module.name}' and '{ref.name}' exclude each other",
                    ref.span,
                    notes=[Note("the other module:", chosen[ref.name].span)],
                )


def modules_before(module: s.Module, lib: Library) -> set[str]:
    """The modules that come before this one by `after` and `requires`, directly or not; also by way of modules that
    are not in play, so that an order does not hang on who else is there."""
    found: set[str] = set()
    queue = [module]
    while queue:
        current = queue.pop()
        for ref in (*current.after, *current.requires):
            if ref.name not in lib.modules:
                raise fail("E103", f"there is no module '{ref.name}'", ref.span)
            if ref.name not in found:
                found.add(ref.name)
                queue.append(lib.modules[ref.name])
    return found


def only_watches(module: s.Module) -> bool:
    """Does the module keep notes in variables of its own and do nothing else? Then nothing it says can change what
    other modules do, and it comes after them."""
    own = {item.name for item in module.items if isinstance(item, s.StateDecl)}

    def notes(body: Iterable[s.Statement]) -> bool:
        return all(
            (isinstance(x, s.Assign) and x.name in own)
            or (isinstance(x, s.If) and notes((*x.then, *x.otherwise)))
            for x in body
        )

    def harmless(item: s.Item) -> bool:
        match item:
            case s.ExtendDecl():
                return not item.choices and not item.requires and notes(item.body)
            case s.PhaseDecl() | s.StartDecl():
                return False
            case s.EnumDecl():
                return not item.extends
            case _:
                return not getattr(item, "overrides", False)

    return all(harmless(item) for item in module.items)


def order_modules(chosen: Mapping[str, s.Module], lib: Library) -> tuple[s.Module, ...]:
    """Those named by `after` and `requires` first; then by name, those that only watch after the others."""
    ahead = {name: modules_before(module, lib) for name, module in chosen.items()}
    for name, others in ahead.items():
        if name in others:
            raise fail("E106", f"module '{name}' comes after itself", chosen[name].span)
    waiting = sorted(chosen, key=lambda n: (only_watches(chosen[n]), n))
    done: dict[str, s.Module] = {}
    while waiting:
        name = next(n for n in waiting if not ahead[n] & set(waiting))
        waiting.remove(name)
        done[name] = chosen[name]
    return tuple(done.values())
