"""Are there as many cards as places to deal them to? Asked as soon as the parameters that decide it are known.

Takes a model and values of its parameters; gives the deals that cannot be laid out. A deal from cards that the game
itself collects is not known before it is played: then the back ends say so.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from rules_dsl import model as m
from rules_dsl.diagnostics import Diagnostic
from rules_dsl.evaluate import Environment, evaluate, holds
from rules_dsl.model import Value
from rules_dsl.types import MapType
from rules_dsl.values import count_values
from rules_dsl.walk import reads


@dataclass(frozen=True)
class Misdeal:
    """A deal with more cards than places, or fewer."""

    choice: m.Choice
    cards: int
    places: int

    @property
    def text(self) -> str:
        return f"there are {self.cards} cards for {self.places} places to deal '{self.choice.variable}' to"


def decided_deals(model: m.Model) -> Iterator[tuple[m.Choice, tuple[m.Expr, ...]]]:
    """The deals that the parameters decide, with the conditions under which they take place."""

    def settled(expr: m.Expr | None) -> bool:
        return expr is None or not reads(expr, model.definitions)

    for phase in model.phases.values():
        for choice in phase.choices:
            conditions = (phase.when, choice.when)
            if choice.deal is not None and all(map(settled, (choice.deal, *conditions))):
                yield choice, tuple(c for c in conditions if c is not None)


def misdeals(model: m.Model, players: int, params: Mapping[str, Value]) -> Iterator[Misdeal]:
    """The deals of a table that cannot be laid out, as far as the parameters decide it."""
    env = Environment(model, players, params)
    for choice, conditions in decided_deals(model):
        if not all(holds(c, env) for c in conditions):
            continue
        assert choice.deal is not None
        counts = evaluate(choice.deal, env)
        assert isinstance(counts, tuple)
        assert isinstance(choice.type, MapType)
        cards = sum(c for c in counts if isinstance(c, int))
        places = count_values(choice.type.key, players)
        if cards != places:
            yield Misdeal(choice, cards, places)


def misdeals_by_default(model: m.Model, tables: Mapping[int, Mapping[str, Value]]) -> Iterator[Diagnostic]:
    """The deals that cannot be laid out at a table where nothing was chosen and that the set-up checks do not refuse.
    `tables` are the parameters' defaults by the number of players.
    """
    told: set[str] = set()
    for players, params in tables.items():
        env = Environment(model, players, params)
        if all(holds(c.condition, env) for c in model.checks if c.severity == "error"):
            for found in misdeals(model, players, params):
                if found.choice.variable not in told:
                    told.add(found.choice.variable)
                    yield Diagnostic(
                        "E351",
                        f"with {players} players {found.text}",
                        found.choice.origin.span,
                        "deal as many cards as there are places, or refuse such a table with 'setup error unless'",
                    )
