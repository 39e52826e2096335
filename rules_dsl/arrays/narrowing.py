"""How an event reads if more of a secret choice is known, got from how it reads if nothing of it is.

Everybody who chose in secret knows his own part. To read the event anew for each of them is slow; what he knows is one
more condition on the reading they share. Where it could also change the way the game goes, there is no short cut.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from rules_dsl.arrays.columns import Cell, Leaf, Tensor, cells, equal
from rules_dsl.arrays.event import Piece, Reading
from rules_dsl.arrays.shapes import Nest, encode, leaves, replaced
from rules_dsl.model import BUILT_IN, Value
from rules_dsl.types import MapType, Type


def restricted(
    whole: Reading, variable: str, type_: Type, chosen: Sequence[tuple[int, Value]]
) -> Reading | None:
    """The reading in which these seats chose these values for the variable; None if it must be read anew."""
    if len(whole.outcomes) != 1 or not isinstance(type_, MapType):
        return None
    (outcome,) = whole.outcomes
    made = outcome.values.get(variable)
    if outcome.deals or outcome.weights or not isinstance(made, tuple):
        return None
    known: dict[Cell, Leaf] = {}
    pieces = list(outcome.pieces)
    for seat, value in chosen:
        if not 0 <= seat < len(made):
            return None
        cell, wanted = made[seat], encode(type_.value, value)
        if not isinstance(cell, Cell) or not cell.free or isinstance(wanted, tuple) or cell in known:
            return None
        condition = equal(cell, wanted)
        if not isinstance(condition, Tensor):
            return None
        pieces.append(Piece(condition, BUILT_IN))
        known[cell] = wanted
    values: dict[str, Nest] = {}
    for name, nest in outcome.values.items():
        mixed = [x for x in leaves(nest) if isinstance(x, Cell | Tensor) and known.keys() & set(cells(x))]
        if any(isinstance(x, Tensor) for x in mixed):
            return None
        values[name] = (
            replaced(nest, lambda x: known.get(x, x) if isinstance(x, Cell) else x) if mixed else nest
        )
    return Reading([replace(outcome, values=values, pieces=pieces, plans={})], list(whole.refusals))
