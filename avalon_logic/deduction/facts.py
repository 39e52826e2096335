"""Facts about who is what, as a player says them and as conditions of the rulebook's language.

`parse_fact("Ann is not evil", setting)` reads one; `expression(fact, setting)` gives the condition.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from avalon_logic.deduction.setting import CARDS, SIDE, Setting, role_type
from rules_dsl import UnknownName
from rules_dsl import model as m
from rules_dsl.types import BOOL


@dataclass(frozen=True)
class Fact:
    """A seat is, or is not, of a side or a role. `what` is the side's or the role's name."""

    seat: int
    what: str
    holds: bool = True

    def text(self, names: tuple[str, ...]) -> str:
        """The fact as a sentence."""
        return f"{names[self.seat]} is {'' if self.holds else 'not '}{self.what}"

    def denied(self) -> Fact:
        """The opposite."""
        return Fact(self.seat, self.what, not self.holds)


def parse_fact(text: str, setting: Setting) -> Fact:
    """Reads "NAME is [not] ROLE-OR-SIDE"; raises `UnknownName` or `ValueError`."""
    words = re.fullmatch(r"\s*(\S+)\s+is\s+(not\s+)?(?:an?\s+|the\s+)?([A-Za-z_]+)\s*\.?\s*", text)
    if words is None:
        raise ValueError(f"'{text}' is no fact; write: NAME is [not] ROLE or SIDE")
    name, negated, what = words.groups()
    return Fact(seat_of(name, setting), _what(what, setting), negated is None)


def seat_of(name: str, setting: Setting) -> int:
    """The seat of a player, by name (capitals do not matter if that is clear)."""
    names = setting.names
    matches = [i for i, n in enumerate(names) if n == name] or [
        i for i, n in enumerate(names) if n.casefold() == name.casefold()
    ]
    if len(matches) != 1:
        raise UnknownName(f"nobody is called '{name}'; at the table: {', '.join(names)}")
    return matches[0]


def _what(word: str, setting: Setting) -> str:
    for known in (*setting.sides, *setting.roles):
        if known.casefold() == word.casefold():
            return known
    raise UnknownName(
        f"'{word}' is no side or role of this game; sides: {', '.join(setting.sides)}; roles: {', '.join(setting.roles)}"
    )


def expression(fact: Fact, setting: Setting) -> m.Expr:
    """The fact as a condition."""
    model = setting.model
    seat = m.Literal(fact.seat, model.players)
    roles = role_type(model)
    if fact.what in roles.members:
        card = m.At(m.Variable(CARDS, model.variables[CARDS].type), seat, roles)
        made: m.Expr = m.Apply("eq", (card, m.Literal(fact.what, roles)), BOOL)
    else:
        sides = model.definitions[SIDE].type
        made = m.Apply("eq", (m.Invoke(SIDE, (seat,), sides), m.Literal(fact.what, sides)), BOOL)
    return made if fact.holds else m.Apply("not", (made,), BOOL)
