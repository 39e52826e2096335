"""Changing tables of worlds: rows that go, columns that come, and columns nobody needs any more.

`filtered` keeps the rows a condition allows (or weighs them by a likelihood), `settled` adds columns for secret choices
that will still matter, `computed` one for a value that follows from others, and `tidied` drops what nobody reads.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from rules_dsl.arrays import worlds as w
from rules_dsl.arrays.columns import Array, Axis, Cell, Leaf, Tensor, cells, spread, tensor
from rules_dsl.arrays.eliminate import Group, solved
from rules_dsl.arrays.run import Machine
from rules_dsl.arrays.shapes import Nest, leaves, replaced


def filtered(tables: tuple[w.Table, ...], leaf: Leaf | float) -> tuple[w.Table, ...]:
    if isinstance(leaf, Cell | Tensor):
        part = tensor(leaf)
        tables, at = _joined(tables, [a.cell for a in part.axes])
        table, entries = w.read(tables[at], part)
        table = w.kept(table, entries) if entries.dtype == np.bool_ else w.weighed(table, entries)
        return (*tables[:at], table, *tables[at + 1 :])
    if leaf is False or leaf == 0:
        if not tables:  # nothing was unknown: one world, and now none
            return (w.Table(np.zeros((0, 0), dtype=np.int16), {}, (), ()),)
        return tuple(w.kept(t, np.zeros(len(t.rows), dtype=bool)) for t in tables)
    return tables


def _joined(tables: tuple[w.Table, ...], wanted: Sequence[Cell]) -> tuple[tuple[w.Table, ...], int]:
    """The tables with those that hold these cells made one, and which one it is."""
    touched = [i for i, t in enumerate(tables) if any(c.id in t.columns for c in wanted)]
    if not touched:
        raise ValueError("an unknown is in no table of worlds")
    first = touched[0]
    if len(touched) == 1:
        return tables, first
    made = tables[first]
    for i in touched[1:]:
        made = w.product(made, tables[i])
    rest = [made if i == first else t for i, t in enumerate(tables) if i == first or i not in touched]
    return tuple(rest), first


def settled(
    machine: Machine, tables: tuple[w.Table, ...], group: Group, columns: dict[int, Leaf]
) -> tuple[w.Table, ...]:
    """Adds columns for secret choices that will still matter."""
    stay = sorted({c for x in group.wanted for c in cells(x) if c.free}, key=lambda c: c.id)
    axes, data = solved(group, stay)
    fixed = tuple(a for a in axes if not a.cell.free)
    kept = tuple(a for a in axes if a.cell.free)
    order = [axes.index(a) for a in (*fixed, *kept)]
    width = 1
    for a in kept:
        width *= a.size
    grid = data.transpose(order).reshape(-1, width)
    if fixed:
        tables, at = _joined(tables, [a.cell for a in fixed])
        table, cases = w.read(
            tables[at], Tensor(fixed, np.arange(len(grid)).reshape([a.size for a in fixed]))
        )
    else:
        at = len(tables)
        table = w.Table(np.zeros((1, 0), dtype=np.int16), {}, (), ())
        tables = (*tables, table)
        cases = np.zeros(1, dtype=np.intp)
    found, choice = np.nonzero(grid[cases])
    weights = None if table.weights is None else table.weights[found]
    if machine.weighs:
        likelihood = _evenly(group, grid, kept)[cases][found, choice]
        weights = likelihood if weights is None else weights * likelihood
    grown = replace(table, rows=table.rows[found], weights=weights)
    for x in group.wanted:
        if id(x) in columns:
            continue
        part = tensor(x)
        whole = (*fixed, *kept)
        entries = _over(part, whole).reshape(len(grid), width)[cases[found], choice]
        grown, columns[id(x)] = _column(machine, grown, entries, part)
    # choices that leave the same behind are one world
    rows, weights = w.distinct(grown.rows, grown.weights)
    grown = replace(grown, rows=rows, weights=weights)
    return (*tables[:at], grown, *tables[at + 1 :])


def _evenly(group: Group, grid: Array, kept: tuple[Axis, ...]) -> Array:
    """Likelihoods in which every value of a choice that no assumption weighs counts alike.

    Such a choice only rules worlds out: a world does not become likelier by leaving more ways to make it.
    """
    weighed = {i for weight in group.weights for i in weight.free()}
    data = grid.reshape(len(grid), *(a.size for a in kept)).astype(np.float64)
    plain: list[int] = []
    ways: Array = data > 0  # how many values each case stands for
    for i, axis in enumerate(kept, 1):
        shape = [1] * data.ndim
        shape[i] = axis.size
        sizes = np.bincount(np.array(axis.codes), minlength=axis.size).reshape(shape)
        data = data * sizes
        if axis.cell.id not in weighed:
            plain.append(i)
            ways = ways * sizes
    if plain:
        data = data / np.maximum(ways.sum(axis=tuple(plain), keepdims=True), 1)
    return data.reshape(grid.shape)


def _over(part: Tensor, axes: tuple[Axis, ...]) -> Array:
    ordered = tuple(sorted(axes, key=lambda a: a.cell.id))
    data = np.broadcast_to(spread(part, ordered), [a.size for a in ordered])
    return data.transpose([ordered.index(a) for a in axes])


def computed(
    machine: Machine, tables: tuple[w.Table, ...], x: Cell | Tensor, columns: dict[int, Leaf]
) -> tuple[w.Table, ...]:
    """Adds a column for a value that follows from others."""
    if id(x) in columns:
        return tables
    part = tensor(x)
    tables, at = _joined(tables, [a.cell for a in part.axes])
    table, entries = w.read(tables[at], part)
    table, columns[id(x)] = _column(machine, table, entries, part)
    return (*tables[:at], table, *tables[at + 1 :])


def _column(machine: Machine, table: w.Table, entries: Array, part: Tensor) -> tuple[w.Table, Leaf]:
    values, places = np.unique(entries, return_inverse=True)
    boolean = part.data.dtype == np.bool_
    if len(values) == 1:
        return table, (bool(values[0]) if boolean else int(values[0]))
    cell = machine.supply.column([int(v) for v in values], boolean, "column")
    return w.with_column(table, cell, places.ravel()), cell


def tidied(
    tables: tuple[w.Table, ...], values: Mapping[str, Nest], dealt: tuple[str, ...]
) -> tuple[tuple[w.Table, ...], Mapping[str, Nest]]:
    """Columns nobody reads any more go, and what is the same in all worlds becomes known."""
    if all(len(t.piles) == 1 and len(t.cells) == len(t.piles[0].cells) for t in tables):
        return tables, values
    used = {x for nest in values.values() for x in leaves(nest) if isinstance(x, Cell)}
    constant: dict[Cell, Leaf] = {}
    made: list[w.Table] = []
    for table in tables:
        held = {c for p in table.piles for c in p.cells}
        stay = [c for c in table.cells if c in used or c in held]
        if len(table.rows):
            for cell in [c for c in stay if c not in held]:
                column = table.rows[:, table.columns[cell.id]]
                if (column == column[0]).all():
                    value = cell.values[int(column[0])]
                    constant[cell] = bool(value) if cell.boolean else value
                    stay.remove(cell)
        table = w.projected(table, stay)
        if table.cells or not len(table.rows):
            made.append(table)
    if constant:
        values = {
            name: replaced(nest, lambda x: constant.get(x, x) if isinstance(x, Cell) else x)
            for name, nest in values.items()
        }
    return tuple(made), values
