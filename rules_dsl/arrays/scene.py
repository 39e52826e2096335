"""What expressions read while they are evaluated for all cases at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from rules_dsl.arrays.columns import Leaf
from rules_dsl.arrays.shapes import Nest


class Scene:
    """What expressions read: a nest for every variable and for every name bound."""

    __slots__ = ("bound", "over", "phase", "result", "values")

    def __init__(
        self,
        values: Mapping[str, Nest],
        bound: Mapping[str, Nest] | None = None,
        phase: Leaf = -1,
        over: Leaf = False,
        result: Nest = (False, 0),
    ) -> None:
        self.values = values
        self.bound: Mapping[str, Nest] = bound if bound is not None else {}
        self.phase = phase
        self.over = over
        self.result = result

    def bind(self, /, **names: Nest) -> Scene:
        """The scene with more names bound."""
        return Scene(self.values, {**self.bound, **names}, self.phase, self.over, self.result)


Code = Callable[[Scene], Nest]
Parts = Callable[[Scene], Iterator[Leaf]]


def leaf(nest: Nest) -> Leaf:
    """A nest that is a single leaf."""
    assert not isinstance(nest, tuple)
    return nest
