"""The games the Python back end is tested on: every rulebook, every module, every alternative of every ruling."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from itertools import combinations

from avalon_logic.library import open_model
from rules_dsl import Engine, Model, Value, compile_python, settle
from rules_dsl.settle import Settled
from rules_dsl.types import EnumType

ROLE_MODULES = ("percival", "mordred", "morgana", "oberon")
OTHER_MODULES = ("targeting", "lady", "blind_spies")
# a good role cannot name Merlin: such a set-up is refused (tests/avalon_logic/test_rulings.py)
REFUSED = {("killer", role) for role in ("merlin", "servant", "percival")}


@dataclass(frozen=True)
class Mix:
    """A game with modules at a table of so many players, some rulings fixed."""

    game: str
    players: int
    modules: tuple[str, ...] = ()
    rulings: tuple[tuple[str, str], ...] = field(default=())

    def __str__(self) -> str:
        parts = [self.game, str(self.players), *self.modules, *(f"{n}={v}" for n, v in self.rulings)]
        return "-".join(parts)


@cache
def settled(mix: Mix) -> Settled:
    """The settled game; roles are left out, last first, until the deck fits the table."""
    model = open_model(mix.game, mix.modules)
    roles = model.enums["Role"]
    special = [r for r in roles.members if r not in ("servant", "minion", "resistance", "spy")]
    for size in range(len(special), -1, -1):
        for kept in combinations(special, size):
            given: dict[str, Value] = {
                "players": mix.players,
                "specials": frozenset(kept),
                **dict(mix.rulings),
            }
            made = settle(model, given)
            if not made.errors:
                return made
    raise AssertionError(f"no deck fits {mix}")


@cache
def engine(mix: Mix) -> Engine:
    return compile_python(settled(mix).model)


def model(mix: Mix) -> Model:
    return settled(mix).model


def _base() -> list[Mix]:
    made = [Mix("resistance", n) for n in (5, 6, 8)] + [Mix("avalon", n) for n in range(5, 11)]
    return made + [Mix("avalon_2021", n) for n in (5, 7, 10)]


def _modules() -> list[Mix]:
    every = (*ROLE_MODULES, *OTHER_MODULES)
    singles = [Mix("avalon", 7, (name,)) for name in every]
    pairs = [Mix("avalon", 5 + i % 6, pair) for i, pair in enumerate(combinations(every, 2))]
    whole = [Mix("avalon", n, every) for n in (7, 10)] + [Mix("avalon", 9, every[:-1])]
    others = [
        Mix("resistance", 6, ("targeting", "blind_spies")),
        Mix("avalon_2021", 8, (*ROLE_MODULES, "lady")),
    ]
    return singles + pairs + whole + others


def _rulings() -> list[Mix]:
    """Every alternative of every ruling once, in the largest game that has it."""
    made: list[Mix] = []
    seen: set[tuple[str, str]] = set()
    for game, modules in (
        ("avalon_2021", (*ROLE_MODULES, "lady")),
        ("avalon", (*ROLE_MODULES, "targeting", "lady")),
        ("avalon", ROLE_MODULES),
    ):
        for name, param in open_model(game, modules).params.items():
            if param.kind != "ruling" or not isinstance(param.type, EnumType):
                continue
            for alternative, _ in param.alternatives:
                if (name, alternative) not in seen and (name, alternative) not in REFUSED:
                    seen.add((name, alternative))
                    made.append(Mix(game, 7 + len(made) % 4, modules, ((name, alternative),)))
    return made


BASE = _base()
MODULES = _modules()
RULINGS = _rulings()
ALL = BASE + MODULES + RULINGS
