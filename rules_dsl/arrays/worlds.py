"""Tables of worlds: one row for every combination of the unknowns that is still possible.

Cards dealt from a known deck are stored by class: as long as nothing observed tells two cards apart they are one
class, and a row stands for every way to place the cards of its classes. A table starts as a single row and is
*refined* when an observation reads more; the deck's symmetry makes every row stand for equally many deals.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import combinations
from math import factorial

import numpy as np

from rules_dsl.arrays.columns import Array, Axis, Cell, Codes, Tensor, TooManyUnknowns, classes

MOST_ROWS = 20_000_000


@dataclass(frozen=True, slots=True, eq=False)
class Pile:
    """Cards dealt out, one to each cell. `counts` belongs to the cells' values, `codes` puts these into classes."""

    cells: tuple[Cell, ...]
    counts: tuple[int, ...]
    codes: Codes

    @property
    def kinds(self) -> int:
        """How many classes there are."""
        return max(self.codes) + 1

    def class_sizes(self) -> list[int]:
        """How many cards are in each class."""
        sizes = [0] * self.kinds
        for code, count in zip(self.codes, self.counts, strict=True):
            sizes[code] += count
        return sizes

    def deals_per_row(self) -> int:
        """In how many ways the cards of each class can lie within their class."""
        ways = 1
        for size in self.class_sizes():
            ways *= factorial(size)
        for count in self.counts:
            ways //= factorial(count)
        return ways


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """Rows of class codes (for cells of a pile) or places among the cell's values (for any other cell)."""

    rows: Array
    columns: dict[int, int]  # the column of a cell, by the cell's id
    cells: tuple[Cell, ...]
    piles: tuple[Pile, ...]
    weights: Array | None = None

    def pile_of(self, cell: Cell) -> Pile | None:
        """The pile a cell's card comes from."""
        for pile in self.piles:
            if cell in pile.cells:
                return pile
        return None


def dealt(cells: Sequence[Cell], counts: Sequence[int]) -> Table:
    """The table of all deals: one row, nothing told apart."""
    pile = Pile(tuple(cells), tuple(counts), (0,) * len(counts))
    rows = np.zeros((1, len(cells)), dtype=np.int16)
    return Table(rows, {c.id: i for i, c in enumerate(cells)}, pile.cells, (pile,))


@lru_cache(maxsize=256)
def arrangements(counts: tuple[int, ...]) -> Array:
    """Every different row with so many of each number, as a matrix."""
    if len(counts) == 1:
        return np.zeros((1, counts[0]), dtype=np.int16)
    places, first = sum(counts), counts[0]
    rest = arrangements(counts[1:]) + np.int16(1)
    chosen = np.array(list(combinations(range(places), first)), dtype=np.intp).reshape(-1, first)
    left = np.ones((len(chosen), places), dtype=bool)
    np.put_along_axis(left, chosen, False, axis=1)
    others = np.nonzero(left)[1].reshape(len(chosen), places - first)
    made = np.zeros((len(chosen), len(rest), places), dtype=np.int16)
    np.put_along_axis(
        made,
        np.broadcast_to(others[:, None, :], (len(chosen), len(rest), places - first)),
        np.broadcast_to(rest[None], (len(chosen), len(rest), places - first)),
        axis=2,
    )
    return made.reshape(-1, places)


def refined(table: Table, pile: Pile, codes: Codes) -> Table:
    """The same worlds with the pile's cards told apart also by these classes."""
    joint, pairs = classes(list(zip(pile.codes, codes, strict=True)))
    if len(pairs) == pile.kinds:
        return table
    columns = [table.columns[c.id] for c in pile.cells]
    held = _told_apart(table.rows[:, columns], pile, joint, range(len(pairs)))
    ways = len(held) // len(table.rows) if len(table.rows) else 1
    rows = held
    if columns != list(range(table.rows.shape[1])):
        rows = np.tile(table.rows, (ways, 1))
        rows[:, columns] = held
    weights = None if table.weights is None else np.tile(table.weights, ways)
    piles = tuple(replace(p, codes=joint) if p is pile else p for p in table.piles)
    return replace(table, rows=rows, piles=piles, weights=weights)


def _told_apart(held: Array, pile: Pile, codes: Codes, labels: Sequence[int]) -> Array:
    """Rows of a pile's classes with each class split as the codes, which are finer, tell; a label for every code.

    All ways to split come one after the other, and each for all rows: `rows` of the first way, then of the second...
    """
    splits = [
        sorted({new for new, was in zip(codes, pile.codes, strict=True) if was == old})
        for old in range(pile.kinds)
    ]
    sizes = [
        sum(n for n, c in zip(pile.counts, codes, strict=True) if c == new) for new in range(max(codes) + 1)
    ]
    # every way as one row: first the cards of class 0 in order, then those of class 1, ...
    ways: Array = np.zeros((1, 0), dtype=np.int16)
    place = np.zeros(held.shape, dtype=np.intp)  # for every place, its card in such a row
    for old, inner in enumerate(splits):
        if len(inner) == 1:
            place[held == old] = ways.shape[1]
            laid = np.array([[labels[inner[0]]]], dtype=np.int16)
        else:
            mine = held == old
            place[mine] = ((np.cumsum(mine, axis=1) - 1) + ways.shape[1])[mine]
            laid = np.array([labels[i] for i in inner], dtype=np.int16)[
                arrangements(tuple(sizes[i] for i in inner))
            ]
        if len(held) * len(ways) * len(laid) > MOST_ROWS:
            raise TooManyUnknowns(f"{len(held) * len(ways) * len(laid)} worlds are too many to list")
        ways = np.concatenate(
            [np.repeat(ways, len(laid), axis=0), np.tile(laid, (len(ways), 1))], axis=1, dtype=np.int16
        )
    return np.take(ways, place.ravel(), axis=1).reshape(-1, held.shape[1])


def laid_out(table: Table, pile: Pile) -> Array:
    """Every deal as a row of the cells' values, ordered as the rows of `whole`."""
    held = table.rows[:, [table.columns[c.id] for c in pile.cells]]
    return _told_apart(held, pile, tuple(range(len(pile.codes))), pile.cells[0].values)


def read(table: Table, tensor: Tensor) -> tuple[Table, Array]:
    """The tensor's entry for every row; the table may have to be refined first."""
    for axis in tensor.axes:
        pile = table.pile_of(axis.cell)
        if pile is not None:
            assert axis.codes is not None
            table = refined(table, pile, axis.codes)
    return table, tensor.data.ravel()[_places(table, tensor.axes)]


def _places(table: Table, axes: tuple[Axis, ...]) -> Array:
    """For every row, the place of its entry in a tensor with these axes."""
    groups: dict[tuple[int, ...], tuple[list[int], list[int]]] = {}
    stride = 1
    for axis in reversed(axes):
        columns, strides = groups.setdefault(_translation(table, axis), ([], []))
        columns.append(table.columns[axis.cell.id])
        strides.append(stride)
        stride *= axis.size
    total: Array | None = None
    for translation, (columns, strides) in groups.items():
        held = table.rows[:, columns]
        if translation != tuple(range(len(translation))):
            held = np.array(translation, dtype=np.intp)[held]
        part = held @ np.array(strides, dtype=np.intp)
        total = part if total is None else total + part
    assert total is not None
    return total


def _translation(table: Table, axis: Axis) -> tuple[int, ...]:
    """From what the table stores for a cell to the axis's classes."""
    assert axis.codes is not None
    pile = table.pile_of(axis.cell)
    if pile is None:
        return axis.codes
    return _class_translation(pile.codes, axis.codes)


@lru_cache(maxsize=4096)
def _class_translation(stored: Codes, wanted: Codes) -> tuple[int, ...]:
    found = [0] * (max(stored) + 1)
    for mine, theirs in zip(stored, wanted, strict=True):
        found[mine] = theirs
    return tuple(found)


def kept(table: Table, mask: Array) -> Table:
    """Only the rows where the mask holds."""
    weights = None if table.weights is None else table.weights[mask]
    return replace(table, rows=table.rows[mask], weights=weights)


def weighed(table: Table, likelihood: Array) -> Table:
    """Every row weighed by how likely it makes what was seen; rows that make it impossible go."""
    weights = likelihood if table.weights is None else table.weights * likelihood
    return kept(replace(table, weights=weights), likelihood > 0)


def product(a: Table, b: Table) -> Table:
    """Every row of one table with every row of the other."""
    if len(a.rows) * len(b.rows) > MOST_ROWS:
        raise TooManyUnknowns(f"{len(a.rows) * len(b.rows)} worlds are too many to list")
    rows = np.concatenate([np.repeat(a.rows, len(b.rows), axis=0), np.tile(b.rows, (len(a.rows), 1))], axis=1)
    weights: Array | None = None
    if a.weights is not None or b.weights is not None:
        one = np.ones(len(a.rows)) if a.weights is None else a.weights
        two = np.ones(len(b.rows)) if b.weights is None else b.weights
        weights = np.multiply.outer(one, two).ravel()
    shift = a.rows.shape[1]
    columns = {**a.columns, **{k: v + shift for k, v in b.columns.items()}}
    return Table(rows, columns, a.cells + b.cells, a.piles + b.piles, weights)


def projected(table: Table, wanted: Sequence[Cell]) -> Table:
    """Only the columns of these cells (a pile stays whole), equal rows once; weights of equal rows add up."""
    stay = set(wanted)
    for pile in table.piles:
        if any(c in stay for c in pile.cells):
            stay.update(pile.cells)
    cells = tuple(c for c in table.cells if c in stay)
    if len(cells) == len(table.cells):
        return table
    rows = table.rows[:, [table.columns[c.id] for c in cells]]
    rows, weights = distinct(rows, table.weights)
    piles = tuple(p for p in table.piles if p.cells[0] in stay)
    return Table(rows, {c.id: i for i, c in enumerate(cells)}, cells, piles, weights)


def distinct(rows: Array, weights: Array | None, heaviest: bool = False) -> tuple[Array, Array | None]:
    """Equal rows once, their weights added, or the heaviest taken."""
    if rows.shape[1] == 0:
        total = None if weights is None else np.array([weights.sum()])
        return rows[: min(len(rows), 1)], total
    if not len(rows):
        return rows, weights
    sizes = [int(s) + 1 for s in rows.max(axis=0)]
    space = 1
    for size in sizes:
        space *= size
    if space < 1 << 62:
        strides = np.ones(len(sizes), dtype=np.int64)
        for i in reversed(range(len(sizes) - 1)):
            strides[i] = strides[i + 1] * sizes[i + 1]
        _, first, inverse = np.unique(rows.astype(np.int64) @ strides, return_index=True, return_inverse=True)
    else:
        _, first, inverse = np.unique(rows, axis=0, return_index=True, return_inverse=True)
    if weights is not None and heaviest:
        most = np.zeros(len(first))
        np.maximum.at(most, inverse.ravel(), weights)
        weights = most
    elif weights is not None:
        weights = np.bincount(inverse.ravel(), weights=weights, minlength=len(first))
    return rows[first], weights


def with_column(table: Table, cell: Cell, places: Array) -> Table:
    """The table with one more column."""
    rows = np.concatenate([table.rows, places.astype(table.rows.dtype)[:, None]], axis=1)
    columns = {**table.columns, cell.id: table.rows.shape[1]}
    return replace(table, rows=rows, columns=columns, cells=(*table.cells, cell))


def whole(table: Table, pile: Pile) -> tuple[Table, Pile]:
    """Every card of the pile told apart."""
    table = refined(table, pile, tuple(range(len(pile.codes))))
    found = next(p for p in table.piles if p.cells == pile.cells)
    return table, found
