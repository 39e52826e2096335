"""Which sides players can be on, by the rulebook's definition of a side: shares, and who can be on a side together.

In most games a card says whose side its holder is on; a rulebook may let it depend on more, such as cards changed
during the game. What counts is the side when the last thing told has happened. Where the deal does not decide it, a
share says in which part of the deals it is possible.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction

import numpy as np

from avalon_logic.deduction.facts import Fact, expression
from avalon_logic.deduction.inquiry import Inquiry
from avalon_logic.deduction.setting import CARDS, SIDE, Setting
from rules_dsl import model as m
from rules_dsl.arrays import Belief, grant
from rules_dsl.arrays import worlds as w
from rules_dsl.arrays.answers import Worlds, chance, count, worlds
from rules_dsl.arrays.answers import shares as shares_by_role
from rules_dsl.arrays.columns import Array, Leaf, tensor
from rules_dsl.arrays.scene import Scene
from rules_dsl.arrays.shapes import conjunction
from rules_dsl.walk import reads

Share = Fraction | float


def side_needs(setting: Setting) -> frozenset[str]:
    """The variables besides the cards dealt that decide who is on which side."""
    definitions = setting.model.definitions
    return reads(definitions[SIDE].value, definitions) - {CARDS}


def side_shares(inquiry: Inquiry, found: Worlds) -> list[dict[str, Share]]:
    """For every seat, in which part of the possible deals it is (or can be) on each side; none without a share."""
    setting = inquiry.setting
    printed = _printed(setting)
    if printed is not None:
        return [_added(roles, printed, setting) for roles in shares_by_role(found)]
    made: list[dict[str, Share]] = []
    for seat in range(len(setting.names)):
        shares = {side: fact_share(inquiry, found, Fact(seat, side)) for side in setting.sides}
        made.append({side: share for side, share in shares.items() if share})
    return made


def _printed(setting: Setting) -> list[str] | None:
    """The side of every role, where the rulebook defines a seat's side as what is printed on its card."""
    defined = setting.model.definitions[SIDE]
    value = defined.value
    if not isinstance(value, m.Lookup) or len(value.keys) != 1 or len(defined.parameters) != 1:
        return None
    card = value.keys[0]
    if not (isinstance(card, m.At) and isinstance(card.base, m.Variable) and card.base.name == CARDS):
        return None
    if not (isinstance(card.key, m.Bound) and card.key.name == defined.parameters[0][0]):
        return None
    cells = setting.machine.program.formulas.cells_of(value.table)
    return [setting.sides[int(cell)] for cell in cells]  # type: ignore[arg-type]


def _added(by_role: Mapping[int, Share], printed: Sequence[str], setting: Setting) -> dict[str, Share]:
    """The shares of the roles added up by side."""
    added: dict[str, Share] = {}
    for role, share in by_role.items():
        added[printed[role]] = added.get(printed[role], Fraction(0)) + share
    return {side: added[side] for side in setting.sides if side in added}


def fact_share(inquiry: Inquiry, found: Worlds, fact: Fact) -> Share:
    """In which part of the possible deals a fact holds, or can hold where the deal does not decide it."""
    if not len(found.table.rows):
        return Fraction(0)
    setting = inquiry.setting
    if fact.what in setting.roles or not side_needs(setting):
        return chance(found, _condition(found, fact, setting))
    kept = _given(inquiry.beliefs, fact, setting)
    if not kept:
        return Fraction(0)
    left = worlds(kept, CARDS)
    if found.table.weights is None:
        return Fraction(count(left), count(found))
    return _mass(left) / _mass(found)


def together(inquiry: Inquiry, found: Worlds, side: str) -> list[tuple[tuple[int, ...], int, Share]]:
    """The sets of seats that can be exactly those of a side, with the number of deals and their share."""
    if not len(found.table.rows):
        return []
    setting = inquiry.setting
    if not side_needs(setting):
        return _grouped(found, setting, side)
    total: Share = Fraction(count(found)) if found.table.weights is None else _mass(found)
    made: list[tuple[tuple[int, ...], int, Share]] = []
    for members, beliefs in _alike(inquiry.beliefs, setting, side, 0, ()):
        left = worlds(beliefs, CARDS)
        part: Share = Fraction(count(left)) if found.table.weights is None else _mass(left)
        made.append((members, count(left), part / total))
    return made


def _grouped(found: Worlds, setting: Setting, side: str) -> list[tuple[tuple[int, ...], int, Share]]:
    """The same where the cards alone decide."""
    table, _ = w.whole(found.table, found.pile)
    weights = np.ones(len(table.rows)) if table.weights is None else table.weights
    codes: Array = np.zeros(len(table.rows), dtype=np.int64)
    for seat in range(len(setting.names)):
        condition = _condition(found, Fact(seat, side), setting)
        held = condition if isinstance(condition, bool) else w.read(table, tensor(condition))[1]  # type: ignore[arg-type]
        codes = codes + (np.asarray(held).astype(np.int64) << seat)
    values, inverse = np.unique(codes, return_inverse=True)
    numbers = np.bincount(inverse.ravel())
    parts: list[Share] = [Fraction(int(n), len(codes)) for n in numbers]
    if table.weights is not None:
        parts = (np.bincount(inverse.ravel(), weights=weights) / weights.sum()).tolist()
    return [
        (tuple(s for s in range(len(setting.names)) if int(code) >> s & 1), int(number), share)
        for code, number, share in zip(values, numbers, parts, strict=True)
    ]


def _condition(found: Worlds, fact: Fact, setting: Setting) -> Leaf:
    """A fact that only the cards decide, over the cells of the cards."""
    parts = setting.machine.program.formulas.parts(expression(fact, setting))
    return conjunction(parts(Scene({CARDS: tuple(found.pile.cells)})))


def _given(beliefs: tuple[Belief, ...], fact: Fact, setting: Setting) -> tuple[Belief, ...]:
    return tuple(b for b in (grant(b, expression(fact, setting)) for b in beliefs) if b.possible)


def _alike(
    beliefs: tuple[Belief, ...], setting: Setting, side: str, seat: int, members: tuple[int, ...]
) -> Iterator[tuple[tuple[int, ...], tuple[Belief, ...]]]:
    """Every way the seats from one on can be of a side or not."""
    if not beliefs:
        return
    if seat == len(setting.names):
        yield members, beliefs
        return
    for holds, more in ((True, (seat,)), (False, ())):
        kept = _given(beliefs, Fact(seat, side, holds), setting)
        yield from _alike(kept, setting, side, seat + 1, (*members, *more))


def _mass(found: Worlds) -> float:
    """How much all worlds weigh together."""
    weights = found.table.weights
    rows = float(len(found.table.rows)) if weights is None else float(weights.sum())
    return rows * found.pile.deals_per_row()
