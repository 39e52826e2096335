"""Questions to a belief about cards that were dealt: how many deals are possible, who can hold what, which are they.

`worlds(beliefs, variable)` gives the `Worlds` of a dealt variable; its functions count them, share them out by place
and value, and list them as a matrix. Shares are exact integers unless likelihoods were used.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from rules_dsl.arrays import worlds as w
from rules_dsl.arrays.belief import PLAIN, Belief
from rules_dsl.arrays.columns import Array, Cell, Leaf, Tensor, tensor


class Unweighable(ValueError):
    """So much is open that it cannot be said how likely a deal is."""


@dataclass(frozen=True, slots=True, eq=False)
class Worlds:
    """The possible deals of one variable: a table with a single pile and nothing else."""

    table: w.Table

    @property
    def pile(self) -> w.Pile:
        return self.table.piles[0]


def worlds(beliefs: Sequence[Belief], variable: str) -> Worlds:
    """The deals of a variable that some belief holds possible.

    Of one deal in several beliefs the likelihoods add up if choices that have likelihoods tell these apart; if choices
    that have none do, any of them would do, and the largest counts.
    """
    tables = [_own_table(b, variable) for b in beliefs]
    if len(tables) > 1 and any(t.weights is not None for t in tables):
        tables = [replace(t, weights=_weights(t) * _rest(b, t)) for b, t in zip(beliefs, tables, strict=True)]
    kinds = frozenset().union(*(b.forks for b in beliefs))
    if len(tables) > 1 and tables[0].weights is not None and len(kinds) > 1:
        raise Unweighable("with likelihoods the record must say how the game went on")
    made = tables[0]
    for other in tables[1:]:
        made = w.refined(made, made.piles[0], other.piles[0].codes)
        other = w.refined(other, other.piles[0], made.piles[0].codes)
        # both now tell the same cards apart, but may number the classes differently
        names = {b: a for a, b in zip(made.piles[0].codes, other.piles[0].codes, strict=True)}
        renamed = np.array([names[i] for i in range(len(names))], dtype=made.rows.dtype)[other.rows]
        weights = None
        if made.weights is not None and other.weights is not None:
            weights = np.concatenate([made.weights, other.weights])
        rows, weights = w.distinct(np.concatenate([made.rows, renamed]), weights, heaviest=PLAIN in kinds)
        made = w.Table(rows, made.columns, made.cells, made.piles, weights)
    return Worlds(made)


def _weights(table: w.Table) -> Array:
    return np.ones(len(table.rows)) if table.weights is None else table.weights


def _rest(belief: Belief, own: w.Table) -> float:
    """How likely what the other tables stand for is altogether."""
    cell = own.cells[0]
    total = 1.0
    for table in belief.tables:
        if cell not in table.cells and table.weights is not None:
            total *= float(table.weights.sum())
    return total


def _own_table(belief: Belief, variable: str) -> w.Table:
    name = (variable, 0)
    for table in belief.tables:
        for pile in table.piles:
            if pile.cells[0].name == name:
                return w.projected(table, pile.cells) if len(table.piles) == 1 else _only(table, pile)
    raise ValueError(f"{variable} has not been dealt")


def _only(table: w.Table, pile: w.Pile) -> w.Table:
    rows, weights = w.distinct(table.rows[:, [table.columns[c.id] for c in pile.cells]], table.weights)
    return w.Table(rows, {c.id: i for i, c in enumerate(pile.cells)}, pile.cells, (pile,), weights)


def count(found: Worlds) -> int:
    """How many deals are possible."""
    return len(found.table.rows) * found.pile.deals_per_row()


def shares(found: Worlds) -> list[dict[int, Fraction | float]]:
    """For every place, how large a part of the worlds has each value there; values without a share are left out."""
    pile, rows, weights = found.pile, found.table.rows, found.table.weights
    total: float = len(rows) if weights is None else float(weights.sum())
    if not len(rows):
        return [{} for _ in pile.cells]
    sizes = pile.class_sizes()
    tallies = [_tally(rows == kind, weights) for kind in range(pile.kinds)]
    made: list[dict[int, Fraction | float]] = []
    for place in range(len(pile.cells)):
        entry: dict[int, Fraction | float] = {}
        for value, number, code in zip(pile.cells[0].values, pile.counts, pile.codes, strict=True):
            part = tallies[code][place]
            if part:
                if weights is None:
                    entry[value] = Fraction(int(part) * number, int(total) * sizes[code])
                else:
                    entry[value] = float(part) / total * number / sizes[code]
        made.append(entry)
    return made


def tallies(found: Worlds) -> list[dict[int, int]]:
    """For every place and value, in how many worlds it is so (likelihoods left aside)."""
    pile, rows = found.pile, found.table.rows
    per_row, sizes = pile.deals_per_row(), pile.class_sizes()
    counted = [_tally(rows == kind, None) for kind in range(pile.kinds)]
    return [
        {
            value: int(counted[code][place]) * per_row * number // sizes[code]
            for value, number, code in zip(pile.cells[0].values, pile.counts, pile.codes, strict=True)
            if counted[code][place]
        }
        for place in range(len(pile.cells))
    ]


def _tally(held: Array, weights: Array | None) -> list[float]:
    return (held.sum(axis=0) if weights is None else weights @ held).tolist()  # type: ignore[no-any-return]


def matrix(found: Worlds, most: int | None = None) -> Array:
    """Every possible deal as a row of the places' values, at most so many; the likeliest first if that is known."""
    table = found.table
    if most is not None and len(table.rows) > most and table.weights is None:
        table = w.kept(table, np.arange(len(table.rows)) < most)
    rows = w.laid_out(table, found.pile)
    if table.weights is not None:
        weights, _ = w.whole(table, found.pile)
        assert weights.weights is not None
        rows = rows[np.argsort(-weights.weights, kind="stable")]
    return rows if most is None else rows[:most]


def contains(found: Worlds, deal: Sequence[int]) -> bool:
    """Is this deal, a value for every place, among the worlds?"""
    pile = found.pile
    kinds = dict(zip(pile.cells[0].values, pile.codes, strict=True))
    if any(value not in kinds for value in deal):
        return False
    held = np.array([kinds[value] for value in deal], dtype=found.table.rows.dtype)
    return bool((found.table.rows == held).all(axis=1).any())


def likelihoods(found: Worlds) -> Array:
    """The probability of every row of `matrix`."""
    table, _ = w.whole(found.table, found.pile)
    weights = np.ones(len(table.rows)) if table.weights is None else table.weights
    return np.sort(weights / weights.sum())[::-1]


def chance(found: Worlds, condition: Leaf) -> Fraction | float:
    """In which part of the worlds a condition on the dealt cards holds."""
    if not isinstance(condition, Cell | Tensor):
        return Fraction(int(bool(condition)))
    table, entries = w.read(found.table, tensor(condition))
    if table.weights is None:
        return Fraction(int(entries.sum()), len(entries)) if len(entries) else Fraction(0)
    return float(table.weights[entries].sum() / table.weights.sum())
