"""Getting rid of secret choices: conditions on cards and choices become conditions on the cards alone.

A condition that reads secret choices says "some choice makes this true"; conditions that share a choice must be made
true together. With likelihoods the secret choices are summed over instead.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from rules_dsl.arrays.columns import Array, Axis, Cell, Leaf, Tensor, aligned, cells, tensor
from rules_dsl.arrays.event import Piece, Weight


@dataclass(frozen=True, slots=True, eq=False)
class Kernel:
    """What pieces that belong together leave possible: a truth value or likelihood for every case of the columns."""

    leaf: Leaf | float
    pieces: tuple[Piece, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Group:
    """Pieces, likelihoods and leaves wanted later that share secret choices."""

    pieces: list[Piece]
    weights: list[Weight]
    wanted: list[Cell | Tensor]


def grouped(
    pieces: Iterable[Piece], weights: Iterable[Weight], wanted: Iterable[Cell | Tensor]
) -> tuple[list[Group], list[Cell | Tensor]]:
    """Groups that share no secret choice, and the wanted leaves that read none."""
    groups: list[tuple[set[int], Group]] = []
    plain: list[Cell | Tensor] = []

    def put(free: set[int], item: Piece | Weight | Cell | Tensor) -> None:
        made = Group([], [], [])
        joined = [(ids, g) for ids, g in groups if ids & free]
        for ids, g in joined:
            free |= ids
            made.pieces.extend(g.pieces)
            made.weights.extend(g.weights)
            made.wanted.extend(g.wanted)
        groups[:] = [(ids, g) for ids, g in groups if all(g is not other for _, other in joined)]
        match item:
            case Piece():
                made.pieces.append(item)
            case Weight():
                made.weights.append(item)
            case _:
                made.wanted.append(item)
        groups.append((free, made))

    for piece in pieces:
        put(_free(piece.leaf), piece)
    for weight in weights:
        if isinstance(weight.leaf, Cell | Tensor) or weight.chosen:
            put(weight.free(), weight)
    for leaf in wanted:
        if _free(leaf):
            put(_free(leaf), leaf)
        else:
            plain.append(leaf)
    return [g for _, g in groups], plain


def _free(leaf: Cell | Tensor) -> set[int]:
    return {c.id for c in cells(leaf) if c.free}


def kernel(group: Group) -> Kernel:
    """The group as a condition, or a likelihood, on columns alone."""
    axes, data = solved(group, ())
    pieces = tuple(group.pieces)
    if not axes:
        entry = data.item()
        return Kernel(entry, pieces)
    return Kernel(Tensor(axes, data), pieces)


def solved(group: Group, stay: Sequence[Cell]) -> tuple[tuple[Axis, ...], Array]:
    """The group with every secret choice summed over or left to whoever made it, except those that stay."""
    likelihoods = [w.leaf for w in group.weights if isinstance(w.leaf, Cell | Tensor)]
    parts = [tensor(x) for x in (*(p.leaf for p in group.pieces), *likelihoods, *group.wanted)]
    if not parts:
        return (), np.array(1.0)  # the same likelihood everywhere
    axes, arrays = aligned(parts)
    shape = tuple(a.size for a in axes)
    possible: Array = np.ones((1,) * len(axes), dtype=bool)
    for array in arrays[: len(group.pieces)]:
        possible = np.logical_and(possible, array)
    weighed = {i for w in group.weights for i in w.free()}
    staying = {c.id for c in stay}
    drop = tuple(
        i for i, a in enumerate(axes) if a.cell.free and a.cell.id not in weighed and a.cell.id not in staying
    )
    if drop:
        possible = np.any(possible, axis=drop, keepdims=True)
    if group.weights:
        data: Array = possible.astype(np.float64)
        for array in arrays[len(group.pieces) : len(group.pieces) + len(likelihoods)]:
            data = data * (array / 100.0)
        for i, axis in enumerate(axes):
            if axis.cell.free and axis.cell.id in weighed and axis.cell.id not in staying:
                assert axis.codes is not None
                sizes = np.bincount(np.array(axis.codes), minlength=axis.size).astype(np.float64)
                view = [1] * len(axes)
                view[i] = axis.size
                data = (data * sizes.reshape(view)).sum(axis=i, keepdims=True)
    else:
        data = possible
    gone = tuple(i for i, a in enumerate(axes) if a.cell.free and a.cell.id not in staying)
    left = tuple(a for i, a in enumerate(axes) if i not in gone)
    full = np.broadcast_to(data, tuple(1 if i in gone else n for i, n in enumerate(shape)))
    return left, full.reshape([a.size for a in left])
