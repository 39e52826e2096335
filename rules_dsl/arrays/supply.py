"""New unknowns: columns for tables of worlds, and values of any type that nobody has seen."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from itertools import count
from typing import Any

from rules_dsl.arrays.columns import Cell, Leaf, combined
from rules_dsl.arrays.shapes import Nest, encode, select
from rules_dsl.types import (
    BagType,
    BoolType,
    EnumType,
    IntType,
    MapType,
    OptionalType,
    PlayerType,
    SetType,
    StackType,
    Type,
    cardinality,
)
from rules_dsl.values import least

FREE_IDS = 1 << 40  # ids of secret choices come after those of all columns


class Supply:
    """Makes cells for one game; `types` are those of its variables."""

    def __init__(self, types: Mapping[str, Type], players: int) -> None:
        self.types = types
        self.players = players
        self._ids = count()
        self._free_ids = count(FREE_IDS)

    def column(self, values: Sequence[int], boolean: bool, name: Hashable) -> Cell:
        """A new cell for a column of a table of worlds."""
        return Cell(next(self._ids), values, boolean, False, name)

    def free(self, type_: Type, name: str) -> Nest:
        """Any value of a type."""
        match type_:
            case BoolType():
                return Cell(next(self._free_ids), (0, 1), True, True, name)
            case IntType(low, high):
                return self._free_cell(range(low, high + 1), name)
            case EnumType(_, members):
                return self._free_cell(range(max(1, len(members))), name)
            case PlayerType():
                return self._free_cell(range(self.players), name)
            case SetType(element):
                return tuple(self.free(BoolType(), name) for _ in range(cardinality(element)))
            case MapType(key, value):
                return tuple(self.free(value, name) for _ in range(cardinality(key)))
            case BagType(element, most):
                return tuple(self._free_cell(range(most + 1), name) for _ in range(cardinality(element)))
            case StackType(element, depth):
                size = self._free_cell(range(depth + 1), name)
                empty = encode(element, least(element))
                cards = (self.free(element, name) for _ in range(depth))
                filled = (
                    select(combined(_greater, _greater, size, i), card, empty) for i, card in enumerate(cards)
                )
                return (size, *filled)
            case OptionalType(inner):
                if inner is None:
                    return (False, 0)
                there = self.free(BoolType(), name)
                return (there, select(_leaf(there), self.free(inner, name), encode(inner, least(inner))))

    def lost(self, values: Sequence[int], boolean: bool) -> Cell:
        """One of these values, and nobody can say which any more."""
        return Cell(next(self._free_ids), sorted({int(v) for v in values}), boolean, True, "lost")

    def _free_cell(self, values: range, name: str) -> Leaf:
        return values[0] if len(values) == 1 else Cell(next(self._free_ids), values, False, True, name)


def _leaf(nest: Nest) -> Leaf:
    assert not isinstance(nest, tuple)
    return nest


def _greater(a: Any, b: Any) -> Any:
    return a > b
