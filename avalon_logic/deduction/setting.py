"""The table a deduction is about: the settled game, the players' names and the assumptions in force.

`lay(configuration, names, assumptions)` gives a `Setting`; compiled games are kept, so asking again is quick.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from avalon_logic.configuration import Configuration, examine
from avalon_logic.library import rulebook_library
from rules_dsl import BadParameter, Settled, UnknownName
from rules_dsl.arrays import Machine, compile_arrays
from rules_dsl.arrays.formulas import Formulas
from rules_dsl.model import Assumption, Model
from rules_dsl.selection import family_of
from rules_dsl.syntax import AssumeDecl
from rules_dsl.types import EnumType, IntType, MapType, PlayerType

CARDS = "role"  # the variable that holds the cards dealt: a world is a value of it
SIDE = "side"  # the definition that gives a seat's side
MERLIN = "merlin"  # the card the last guess of a game is about


@dataclass(frozen=True, eq=False)
class Setting:
    """A table. `machine` reads events of its game under the assumptions."""

    configuration: Configuration
    settled: Settled
    names: tuple[str, ...]
    assumptions: tuple[str, ...]
    machine: Machine

    @property
    def model(self) -> Model:
        return self.settled.model

    @property
    def roles(self) -> tuple[str, ...]:
        """Every role of the game, in its order."""
        return role_type(self.model).members

    @property
    def sides(self) -> tuple[str, ...]:
        """Every side of the game."""
        type_ = self.model.definitions[SIDE].type
        assert isinstance(type_, EnumType)
        return type_.members

    def assumed(self) -> tuple[Assumption, ...]:
        """The assumptions in force."""
        return tuple(self.model.assumptions[name] for name in self.assumptions)


def role_type(model: Model) -> EnumType:
    """The type of a card."""
    type_ = model.variables[CARDS].type
    assert isinstance(type_, MapType)
    assert isinstance(type_.value, EnumType)
    return type_.value


def missing_names(model: Model) -> tuple[str, ...]:
    """What deduction asks of a game and this one does not have: cards dealt to the seats, each with a side."""
    missing: list[str] = []
    dealt = {c.variable: c for p in model.phases.values() for c in p.choices if c.deal is not None}
    type_ = dealt[CARDS].type if CARDS in dealt else None
    if not isinstance(type_, MapType) or not isinstance(type_.key, PlayerType):
        missing.append(f"deal of '{CARDS}: Player -> Role'")
    elif not isinstance(type_.value, EnumType) or f"{type_.value.name}.{SIDE}" not in model.tables:
        missing.append(f"attribute '{SIDE}' of the roles")
    declared = model.definitions.get(SIDE)
    if declared is None or not isinstance(declared.type, EnumType) or len(declared.parameters) != 1:
        missing.append(f"definition '{SIDE}(p: Player)'")
    return tuple(missing)


def require_names(model: Model) -> None:
    """Raises `BadParameter` for a game nothing can be deduced about."""
    missing = missing_names(model)
    if missing:
        raise BadParameter(
            f"nothing can be deduced about {model.name}: it has no {', no '.join(missing)}; "
            "deduction is about games in which every seat is dealt a role and a role has a side"
        )


def side_of_roles(setting: Setting) -> list[str]:
    """The side of every role, in the roles' order."""
    cells = Formulas(setting.model).cells_of(f"{role_type(setting.model).name}.{SIDE}")
    return [setting.sides[int(c)] for c in cells]  # type: ignore[arg-type]


def assumption_modules(configuration: Configuration, assumptions: Sequence[str]) -> tuple[str, ...]:
    """The modules that declare these assumptions; raises `UnknownName` for one nobody declares."""
    declared = declared_assumptions(configuration.game, configuration.paths)
    needed: set[str] = set()
    for name in assumptions:
        if name not in declared:
            known = f"there are: {', '.join(sorted(declared))}" if declared else "it has none"
            raise UnknownName(f"there is no assumption '{name}' for {configuration.game}; {known}")
        needed |= declared[name][1]
    return tuple(sorted(needed - set(configuration.modules)))


@dataclass(frozen=True)
class Assumable:
    """An assumption that can be named. `module` must be in the game for it, if it is not the game's own."""

    name: str
    text: str
    kind: str
    about: str  # the choice or speech it speaks of
    module: str = ""


@lru_cache(maxsize=16)
def assumption_list(game: str, paths: tuple[Path, ...] = ()) -> tuple[Assumable, ...]:
    """Every assumption there is for a game, hard and weighted, in the order of their files."""
    library = rulebook_library(paths)
    family = family_of(library, game)
    names = {g.name for g in family}
    usable = [module for module in library.modules.values() if any(b.name in names for b in module.bases)]
    layers = [*(("", g.items) for g in family), *((module.name, module.items) for module in usable)]
    return tuple(
        Assumable(item.name, item.text, item.kind, item.target, owner)
        for owner, items in layers
        for item in items
        if isinstance(item, AssumeDecl)
    )


def declared_assumptions(game: str, paths: tuple[Path, ...] = ()) -> dict[str, tuple[str, frozenset[str]]]:
    """Every assumption there is for a game: its sentence, and the module that must be in for it."""
    return {a.name: (a.text, frozenset({a.module} if a.module else ())) for a in assumption_list(game, paths)}


_KEPT: dict[object, tuple[Settled, Machine]] = {}
_MOST_KEPT = 64


def lay(configuration: Configuration, names: Sequence[str], assumptions: Sequence[str] = ()) -> Setting:
    """The setting of a table; set-up errors of the rulebook are left to the caller to judge."""
    if len(names) != configuration.players:
        raise ValueError(f"{len(names)} names for {configuration.players} players")
    wanted = tuple(dict.fromkeys(assumptions))
    modules = assumption_modules(configuration, wanted)
    whole = Configuration(
        configuration.game,
        configuration.players,
        (*configuration.modules, *modules),
        configuration.roles,
        configuration.rulings,
        configuration.paths,
    )
    key = (whole.key(), wanted)
    if key not in _KEPT:
        if len(_KEPT) >= _MOST_KEPT:
            _KEPT.pop(next(iter(_KEPT)))
        settled = examine(whole)
        require_names(settled.model)
        _KEPT[key] = settled, compile_arrays(settled.model, wanted)
    settled, machine = _KEPT[key]
    return Setting(whole, settled, tuple(names), wanted, machine)


def team_size(setting: Setting, quest: int) -> int:
    """How many go on a quest."""
    table = setting.model.tables["team_size"]
    place = 0
    for type_ in table.keys:
        assert isinstance(type_, IntType)
        key = quest if type_ is table.keys[-1] else len(setting.names)
        place = place * (type_.high - type_.low + 1) + key - type_.low
    return int(Formulas(setting.model).cells_of("team_size")[place])  # type: ignore[arg-type]
