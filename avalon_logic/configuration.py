"""Which game is played: rulebook, modules, players, roles, rulings in; a settled model out, or a refusal with its clause.

Roles bring their modules along: naming Percival puts the Percival module in. A list of roles as long as the table is
the whole deck; a shorter one names the special roles, and plain ones fill it up.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from avalon_logic.library import open_model, rulebook_library
from rules_dsl import BadParameter, Model, Settled, UnknownName, Value, settle
from rules_dsl.model import Check
from rules_dsl.python import Engine, compile_python
from rules_dsl.selection import family_of, included_modules
from rules_dsl.syntax import EnumDecl

ROLE = "Role"


@dataclass(frozen=True)
class Configuration:
    """What a table has agreed on. `roles` None means the rulebook's own deck."""

    game: str = "avalon"
    players: int = 5
    modules: tuple[str, ...] = ()
    roles: tuple[str, ...] | None = None
    rulings: Mapping[str, str] = field(default_factory=dict)
    paths: tuple[Path, ...] = ()

    def key(self) -> tuple[object, ...]:
        return (
            self.game,
            self.players,
            self.modules,
            None if self.roles is None else tuple(sorted(self.roles)),
            tuple(sorted(self.rulings.items())),
            self.paths,
        )


class Refused(Exception):
    """A table the rules refuse, with the clauses."""

    def __init__(self, checks: tuple[Check, ...]) -> None:
        self.checks = checks
        super().__init__("; ".join(describe_check(c) for c in checks))

    @property
    def cites(self) -> tuple[str, ...]:
        return tuple(c for check in self.checks for c in check.origin.cites)


def describe_check(check: Check) -> str:
    """A set-up finding with its clause."""
    return f"{check.text} ({', '.join(check.origin.cites) or check.origin.module})"


def modules_for_roles(game: str, roles: Iterable[str], paths: tuple[Path, ...] = ()) -> tuple[str, ...]:
    """The modules that bring these roles into the game; raises `UnknownName` for a role nobody has."""
    lib = rulebook_library(paths)
    family = family_of(lib, game)
    names = {g.name for g in family}
    owners: dict[str, str | None] = {}
    layers = [(None, g.items) for g in family]
    usable = [m for m in lib.modules.values() if any(b.name in names for b in m.bases)]
    for owner, items in (*layers, *((m.name, m.items) for m in usable)):
        for item in items:
            if isinstance(item, EnumDecl) and item.name == ROLE:
                for member in item.members:
                    owners.setdefault(member.name, owner)
    needed: set[str] = set()
    for role in roles:
        if role not in owners:
            known = f"there are: {', '.join(owners)}" if owners else "no enum 'Role' is declared there"
            raise UnknownName(f"there is no role '{role}' in {game}; {known}")
        owner = owners[role]
        if owner is not None:
            needed.add(owner)
    return tuple(sorted(needed - set(included_modules(lib, game))))


def resolve(configuration: Configuration) -> tuple[Model, dict[str, Value]]:
    """The open model of a configuration and the parameter values it fixes."""
    c = configuration
    roles = c.roles
    modules: Sequence[str] = c.modules
    if roles is not None:
        modules = (*c.modules, *modules_for_roles(c.game, roles, c.paths))
    model = open_model(c.game, modules, paths=c.paths)
    if not model.fewest <= c.players <= model.most:
        limits = f"{model.fewest} to {model.most}"
        cites = model.params["players"].origin.cites
        clause = f" ({', '.join(cites)})" if cites else ""
        raise BadParameter(f"{c.game} is for {limits} players, not {c.players}{clause}", cites)
    given: dict[str, Value] = {"players": c.players}
    for name, choice in c.rulings.items():
        param = model.params.get(name)
        if param is None or param.kind != "ruling":
            known = ", ".join(n for n, p in model.params.items() if p.kind == "ruling")
            raise UnknownName(f"there is no ruling '{name}' in this game; there are: {known}")
        allowed = [a for a, _ in param.alternatives]
        if choice not in allowed:
            raise UnknownName(f"ruling '{name}' cannot be '{choice}'; it is one of: {', '.join(allowed)}")
        given[name] = choice
    if roles is not None:
        given.update(_deck(model, roles, c.players))
    return model, given


def _deck(model: Model, roles: tuple[str, ...], players: int) -> dict[str, Value]:
    members = model.enums[ROLE].members
    for role in roles:
        if role not in members:
            raise UnknownName(f"there is no role '{role}' in this game; there are: {', '.join(members)}")
    counts = Counter(roles)
    if "deck" not in model.params:
        raise BadParameter(f"the roles of {model.name} cannot be chosen: it has no parameter 'deck'")
    if len(roles) == players:
        return {"deck": tuple(counts[r] for r in members)}
    marks = model.tables.get(f"{ROLE}.plain")
    if marks is None or "specials" not in model.params:
        raise BadParameter(
            f"{len(roles)} roles for {players} players: {model.name} does not say which roles are special "
            f"(attribute 'plain', parameter 'specials'), so name all {players} cards"
        )
    plain = [r for r in roles if getattr(marks.cells[members.index(r)], "value", False)]
    if plain or len(roles) > players or any(n > 1 for n in counts.values()):
        raise BadParameter(
            f"{len(roles)} roles for {players} players: name all {players} cards, or only the special roles, once each"
        )
    return {"specials": frozenset(roles)}


@lru_cache(maxsize=128)
def _settled(key: tuple[object, ...], holder: _Holder) -> Settled:
    model, given = resolve(holder.configuration)
    return settle(model, given)


@dataclass(frozen=True, eq=False)
class _Holder:
    """Carries a configuration through the cache without being part of its key."""

    configuration: Configuration

    def __hash__(self) -> int:
        return 0

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Holder)


def examine(configuration: Configuration) -> Settled:
    """The settled game with every finding of the set-up checks, refusals included."""
    return _settled(configuration.key(), _Holder(configuration))


@lru_cache(maxsize=128)
def _engine(key: tuple[object, ...], holder: _Holder) -> Engine:
    return compile_python(examine(holder.configuration).model)


def engine_of(configuration: Configuration) -> Engine:
    """The engine that plays this table; raises `Refused` if the rules refuse it."""
    load(configuration)
    return engine_regardless(configuration)


def engine_regardless(configuration: Configuration) -> Engine:
    """The engine that plays this table even if the rules refuse it, to see what came of a game that was played so."""
    return _engine(configuration.key(), _Holder(configuration))


def load(configuration: Configuration) -> Settled:
    """The settled game; raises `Refused` if the rules refuse this table."""
    settled = examine(configuration)
    if settled.errors:
        raise Refused(settled.errors)
    return settled
