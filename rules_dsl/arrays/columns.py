"""Unknown values as small tables: what an expression gives, as a function of the few unknowns it really reads.

A *cell* is one unknown value: a card nobody has seen, a choice made in secret, or the number of a row. A *tensor* is a
NumPy array with one axis for each cell it depends on; an axis distinguishes only as many classes of the cell's values
as some expression has told apart (two, if all that is read of a card is its colour). A *leaf* is a plain number or
truth value, a cell or a tensor. Operations on plain leaves are done at once, so whatever is known folds away.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Hashable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
Codes = tuple[int, ...]

MOST_AXES = 31
MOST_ENTRIES = 1 << 26


class TooManyUnknowns(Exception):
    """An expression depends on more unknown values at once than can be tabulated."""


class Axis:
    """The values of a cell divided into classes; `codes` gives the class of each value. Interned by the cell."""

    __slots__ = ("cell", "codes", "size")

    def __init__(self, cell: Cell, codes: Codes | None, size: int) -> None:
        self.cell = cell
        self.codes = codes
        self.size = size


class Cell:
    """One unknown value. `free`: any legal value will do (a secret choice), else a column of the table of worlds.

    Truth values count as 0 and 1. A cell of rows (`rows` given) only says which row is meant.
    """

    __slots__ = ("axes", "boolean", "free", "id", "name", "rows", "values")

    def __init__(
        self, id_: int, values: Sequence[int], boolean: bool, free: bool, name: Hashable = "", rows: int = 0
    ) -> None:
        self.id = id_
        self.values = tuple(values)
        self.boolean = boolean
        self.free = free
        self.name = name
        self.rows = rows
        self.axes: dict[Codes | None, Axis] = {}

    def axis(self, codes: Codes) -> Axis:
        """The axis with these classes."""
        found = self.axes.get(codes)
        if found is None:
            found = self.axes[codes] = Axis(self, codes, max(codes) + 1)
        return found

    def row_axis(self) -> Axis:
        """The one axis of a cell of rows."""
        found = self.axes.get(None)
        if found is None:
            found = self.axes[None] = Axis(self, None, self.rows)
        return found

    def __repr__(self) -> str:
        return f"Cell({self.name!r})"


class Tensor:
    """An array over axes of different cells, in the order of the cells' ids."""

    __slots__ = ("axes", "data")

    def __init__(self, axes: tuple[Axis, ...], data: Array) -> None:
        self.axes = axes
        self.data = data

    def __repr__(self) -> str:
        return f"Tensor({[a.cell.name for a in self.axes]}, {self.data.shape})"


Leaf = bool | int | Cell | Tensor


def classes(outputs: Sequence[Any]) -> tuple[Codes, list[Any]]:
    """Numbers the different outputs in order of appearance: the number of each, and one of each kind."""
    numbers: dict[Any, int] = {}
    codes = tuple(numbers.setdefault(o, len(numbers)) for o in outputs)
    return codes, list(numbers)


def of_cell(cell: Cell, outputs: Sequence[Any]) -> Leaf:
    """The leaf that has this output for each value of the cell."""
    codes, kinds = classes(outputs)
    if len(kinds) == 1:
        return kinds[0]  # type: ignore[no-any-return]
    return Tensor((cell.axis(codes),), np.array(kinds))


def tensor(leaf: Cell | Tensor) -> Tensor:
    """A cell as a tensor."""
    if isinstance(leaf, Tensor):
        return leaf
    values = [bool(v) for v in leaf.values] if leaf.boolean else list(leaf.values)
    made = of_cell(leaf, values)
    if isinstance(made, Tensor):
        return made
    return Tensor((leaf.axis((0,) * len(leaf.values)),), np.array([made]))


def aligned(parts: Sequence[Tensor]) -> tuple[tuple[Axis, ...], list[Array]]:
    """Arrays that broadcast against each other, and the axes of what comes out."""
    first = parts[0].axes
    if all(p.axes == first for p in parts[1:]):
        return first, [p.data for p in parts]
    wanted: dict[int, Axis] = {}
    for part in parts:
        for axis in part.axes:
            known = wanted.get(axis.cell.id)
            if known is None:
                wanted[axis.cell.id] = axis
            elif known is not axis:
                assert known.codes is not None and axis.codes is not None
                joint, _ = classes(list(zip(known.codes, axis.codes, strict=True)))
                wanted[axis.cell.id] = axis.cell.axis(joint)
    axes = tuple(wanted[i] for i in sorted(wanted))
    if len(axes) > MOST_AXES:
        raise TooManyUnknowns(f"an expression depends on {len(axes)} unknown values at once")
    size = 1
    for axis in axes:
        size *= axis.size
    if size > MOST_ENTRIES:
        raise TooManyUnknowns(f"an expression has {size} cases to tell apart")
    return axes, [spread(p, axes) for p in parts]


def spread(part: Tensor, axes: tuple[Axis, ...]) -> Array:
    """A tensor's array with these axes, of length one where it does not depend on them."""
    if part.axes == axes:
        return part.data
    data = part.data
    places = {axis.cell.id: i for i, axis in enumerate(part.axes)}
    shape: list[int] = []
    for axis in axes:
        place = places.get(axis.cell.id)
        if place is None:
            shape.append(1)
            continue
        own = part.axes[place]
        if own is not axis:
            assert own.codes is not None and axis.codes is not None
            chosen = [0] * axis.size
            for fine, coarse in zip(axis.codes, own.codes, strict=True):
                chosen[fine] = coarse
            data = data.take(chosen, axis=place)
        shape.append(axis.size)
    return data.reshape(shape)


def simplified(axes: tuple[Axis, ...], data: Array) -> Leaf:
    """The tensor, or something smaller that says the same."""
    if len(axes) == 1 and axes[0].codes is not None:
        outputs = data.tolist()
        kinds = set(outputs)
        if len(kinds) < len(outputs):
            return of_cell(axes[0].cell, [outputs[c] for c in axes[0].codes])
    elif data.dtype == np.bool_:
        if not data.any():
            return False
        if data.all():
            return True
    return Tensor(axes, data)


Ufunc = Callable[..., Array]


def mapped(function: Callable[[Any], Any], leaf: Leaf) -> Leaf:
    """A function that works on plain values and on arrays alike, on a leaf."""
    if isinstance(leaf, Cell):
        leaf = tensor(leaf)
    if isinstance(leaf, Tensor):
        return simplified(leaf.axes, function(leaf.data))
    return function(leaf)  # type: ignore[no-any-return]


def combined(plain: Callable[[Any, Any], Any], ufunc: Ufunc, a: Leaf, b: Leaf) -> Leaf:
    """Two leaves under an operation."""
    if isinstance(a, Cell):
        if not isinstance(b, Cell | Tensor) and not a.rows:
            return of_cell(a, [plain(v, b) for v in (map(bool, a.values) if a.boolean else a.values)])
        a = tensor(a)
    if isinstance(b, Cell):
        if not isinstance(a, Tensor) and not b.rows:
            return of_cell(b, [plain(a, v) for v in (map(bool, b.values) if b.boolean else b.values)])
        b = tensor(b)
    if isinstance(a, Tensor):
        if isinstance(b, Tensor):
            axes, (x, y) = aligned((a, b))
            return simplified(axes, ufunc(x, y))
        return simplified(a.axes, ufunc(a.data, b))
    if isinstance(b, Tensor):
        return simplified(b.axes, ufunc(a, b.data))
    return plain(a, b)  # type: ignore[no-any-return]


def negated(a: Leaf) -> Leaf:
    """Not a."""
    if isinstance(a, bool):
        return not a
    return mapped(np.logical_not, a)


def both(a: Leaf, b: Leaf) -> Leaf:
    """a and b."""
    if a is False or b is False:
        return False
    if a is True:
        return b
    if b is True:
        return a
    return combined(operator.and_, np.logical_and, a, b)


def either(a: Leaf, b: Leaf) -> Leaf:
    """a or b."""
    if a is True or b is True:
        return True
    if a is False:
        return b
    if b is False:
        return a
    return combined(operator.or_, np.logical_or, a, b)


def equal(a: Leaf, b: Leaf) -> Leaf:
    """a = b."""
    if a is b:
        return True
    return combined(operator.eq, np.equal, a, b)


def plus(a: Leaf, b: Leaf) -> Leaf:
    """a + b; truth values count as 0 and 1."""
    if b is False or b is True:
        b = int(b)
    if a == 0 and not isinstance(a, Cell | Tensor) and not _truth(b):
        return b
    return combined(operator.add, _add, a, b)


def _add(a: Any, b: Any) -> Array:
    return np.add(a, b, dtype=np.int64)  # type: ignore[no-any-return]


def _truth(leaf: Leaf) -> bool:
    if isinstance(leaf, Cell):
        return leaf.boolean
    return leaf.data.dtype == np.bool_ if isinstance(leaf, Tensor) else isinstance(leaf, bool)


def chosen(condition: Leaf, a: Leaf, b: Leaf) -> Leaf:
    """a where the condition holds, else b."""
    if condition is True or a is b:
        return a
    if condition is False:
        return b
    if isinstance(a, bool) and isinstance(b, bool):
        if a == b:
            return a
        return condition if a else negated(condition)
    assert isinstance(condition, Cell | Tensor)
    parts: list[Tensor] = [tensor(condition)]
    plain: list[Any] = [None, a, b]
    for i, leaf in ((1, a), (2, b)):
        if isinstance(leaf, Cell | Tensor):
            plain[i] = len(parts)
            parts.append(tensor(leaf))
    axes, arrays = aligned(parts)
    x = arrays[plain[1]] if isinstance(a, Cell | Tensor) else a
    y = arrays[plain[2]] if isinstance(b, Cell | Tensor) else b
    return simplified(axes, np.where(arrays[0], x, y))


def cells(leaf: Leaf) -> tuple[Cell, ...]:
    """The unknowns a leaf depends on."""
    if isinstance(leaf, Cell):
        return (leaf,)
    if isinstance(leaf, Tensor):
        return tuple(axis.cell for axis in leaf.axes)
    return ()
