"""A crowd: many games that wait at the same choice, a column for each, and how crowds are parted and brought together.

A variable of a crowd is a nest of leaves as everywhere in this back end; a leaf that differs between the games is a
tensor with one axis, the crowd's own, with an entry for each game.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import count

import numpy as np

from rules_dsl.arrays.columns import Array, Axis, Cell, Leaf, Tensor
from rules_dsl.arrays.scene import Scene
from rules_dsl.arrays.shapes import Nest, leaves, replaced

_ids = count()


def axis_of(size: int, name: str) -> Axis:
    """A new axis with so many places; axes made later come later in a tensor."""
    return Cell(next(_ids), (), False, False, name, rows=size).row_axis()


class Crowd:
    """So many games, and what each variable is in them. Changing `values` is how they are played."""

    __slots__ = ("axis", "size", "values")

    def __init__(self, size: int, values: Mapping[str, Nest], axis: Axis | None = None) -> None:
        self.size = size
        self.axis = axis if axis is not None else axis_of(size, "games")
        self.values = dict(values)

    def scene(self) -> Scene:
        return Scene(self.values)

    def leaf(self, data: Array) -> Tensor:
        """A value for each game."""
        return Tensor((self.axis,), data)

    def column(self, leaf: Leaf) -> Array:
        """A leaf's value in each game."""
        if isinstance(leaf, Tensor):
            return np.broadcast_to(leaf.data, (self.size,)) if leaf.axes else np.full(self.size, leaf.data)
        return np.full(self.size, leaf)


def parted(
    crowd: Crowd,
    condition: Tensor,
    one: frozenset[str] | None = None,
    two: frozenset[str] | None = None,
) -> tuple[Crowd, Crowd]:
    """The games in which a condition holds, and the others, each with the variables it will need (None: all)."""
    holds = crowd.column(condition)
    return _some(crowd, np.flatnonzero(holds), one), _some(crowd, np.flatnonzero(~holds), two)


def _some(crowd: Crowd, places: Array, needed: frozenset[str] | None) -> Crowd:
    made = Crowd(len(places), {})

    def taken(leaf: Leaf) -> Leaf:
        return made.leaf(leaf.data[places]) if isinstance(leaf, Tensor) else leaf

    made.values = {
        name: replaced(nest, taken) for name, nest in crowd.values.items() if needed is None or name in needed
    }
    return made


def together(crowds: Sequence[Crowd], needed: frozenset[str]) -> Crowd:
    """All the games of some crowds as one, with the variables needed from there on."""
    first = crowds[0]
    names = [name for name in first.values if name in needed]
    if len(crowds) == 1:
        first.values = {name: first.values[name] for name in names}
        return first
    made = Crowd(sum(c.size for c in crowds), {})
    for name in names:
        columns = zip(*(leaves(c.values[name]) for c in crowds), strict=True)
        made.values[name] = replaced(first.values[name], _joined(made, crowds, columns))
    return made


class _joined:  # noqa: N801 - used as a function with a memory: leaf after leaf
    def __init__(self, made: Crowd, crowds: Sequence[Crowd], columns: Iterator[tuple[Leaf, ...]]) -> None:
        self.made = made
        self.crowds = crowds
        self.columns = columns

    def __call__(self, _: Leaf) -> Leaf:
        parts = next(self.columns)
        if not any(isinstance(p, Tensor) for p in parts) and all(p == parts[0] for p in parts[1:]):
            return parts[0]
        return self.made.leaf(np.concatenate([c.column(p) for c, p in zip(self.crowds, parts, strict=True)]))
