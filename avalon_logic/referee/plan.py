"""What the tables ask about: reads `referee.toml`, which ties tables to names of the rulebooks and states no rule."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files


@dataclass(frozen=True)
class Names:
    """The names under which the rulebooks keep what the tables ask about."""

    deal: str
    side: str
    plain: str
    saboteurs: str
    leader: str
    target: str
    team: str
    ballot: str
    card: str
    fails: str
    quest: str
    mark: str
    open: str
    lost: str
    approved: str
    rejected: str
    rejections: str
    successes: str


@dataclass(frozen=True)
class TableSpec:
    """One kind of table: where it stands and what it needs to appear."""

    id: str
    kind: str
    scope: str
    choice: str | None = None
    record: bool = False


@dataclass(frozen=True)
class Plan:
    names: Names
    mutual: frozenset[str]
    apart: Mapping[str, frozenset[str]]
    tables: tuple[TableSpec, ...]


@lru_cache(maxsize=1)
def plan() -> Plan:
    """The plan that comes with the package."""
    text = (files("avalon_logic") / "referee" / "referee.toml").read_text(encoding="utf-8")
    data = tomllib.loads(text)
    return Plan(
        Names(**data["names"]),
        frozenset(data["looks"]["mutual"]),
        {side: frozenset(entry["apart"]) for side, entry in data["called"].items()},
        tuple(TableSpec(**entry) for entry in data["tables"]),
    )
