"""The built-in operations on nests of leaves: numbers and sets by tables, bags, stacks and the rest by function."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping
from typing import Any, cast

import numpy as np

from rules_dsl import model as m
from rules_dsl.arrays.columns import Cell, Leaf, both, combined, either, equal, mapped, negated, of_cell, plus
from rules_dsl.arrays.scene import Code, Scene, leaf
from rules_dsl.arrays.shapes import Nest, conjunction, encode, entry, place, select, with_entry
from rules_dsl.types import BagType, IndexType, SetType, StackType, Type, cardinality
from rules_dsl.values import least


def structure(expr: m.Apply, codes: list[Code], players: int) -> Code:
    """Operations on sets, bags, stacks, optionals and seats."""
    type_ = expr.arguments[0].type if expr.arguments else None
    a = codes[0] if codes else None
    b = codes[1] if len(codes) > 1 else None
    match expr.operation:
        case "neg":
            assert a is not None
            return lambda scene: combined(operator.sub, np.subtract, 0, leaf(a(scene)))
        case "left" | "right":
            by = 1 if expr.operation == "left" else -1
            assert a is not None
            return lambda scene: mapped(lambda seat: (seat + by) % players, leaf(a(scene)))
        case "in":
            assert a is not None and b is not None and isinstance(expr.arguments[1].type, SetType)
            element = expr.arguments[1].type.element
            return lambda scene: entry(b(scene), place(element, leaf(a(scene))))
        case "subset":
            assert a is not None and b is not None
            return lambda scene: conjunction(
                either(negated(leaf(x)), leaf(y)) for x, y in paired(a(scene), b(scene))
            )
        case "set":
            assert isinstance(expr.type, SetType)
            return _members(expr.type.element, codes)
        case "size":
            assert a is not None and type_ is not None
            return _size(type_, a)
        case "insert" | "remove":
            assert a is not None and b is not None and isinstance(type_, BagType)
            return _change_bag(type_, a, b, 1 if expr.operation == "insert" else -1)
        case "push" | "pop" | "top":
            assert a is not None and isinstance(type_, StackType)
            return _stack(expr.operation, type_, a, b)
        case "some":
            assert a is not None
            return lambda scene: (True, a(scene))
        case "is_none":
            assert a is not None
            return lambda scene: negated(leaf(_first(a(scene))))
        case _:
            raise ValueError(f"unknown operation '{expr.operation}'")


def _first(nest: Nest) -> Nest:
    assert isinstance(nest, tuple)
    return nest[0]


def paired(a: Nest, b: Nest) -> Iterator[tuple[Nest, Nest]]:
    assert isinstance(a, tuple) and isinstance(b, tuple)
    return zip(a, b, strict=True)


def branch(condition: Leaf, then: Code, otherwise: Code, scene: Scene) -> Nest:
    if condition is True:
        return then(scene)
    if condition is False:
        return otherwise(scene)
    return select(condition, then(scene), otherwise(scene))


def read_cell(cell: Cell, outputs: list[Nest]) -> Nest:
    """The nest whose leaves have these values for each value of a cell."""
    if isinstance(outputs[0], tuple):
        width = len(outputs[0])
        return tuple(read_cell(cell, [cast("tuple[Nest, ...]", o)[i] for o in outputs]) for i in range(width))
    return of_cell(cell, outputs)


def read_table(contents: list[Nest], number: Leaf) -> Nest:
    """The cell of a table at a place that is not known."""
    if isinstance(contents[0], tuple):
        width = len(contents[0])
        return tuple(
            read_table([cast("tuple[Nest, ...]", c)[i] for c in contents], number) for i in range(width)
        )
    column = np.array(contents)
    return mapped(lambda where: column[where], number)


def _members(element: IndexType, codes: list[Code]) -> Code:
    def members(scene: Scene) -> Nest:
        made: Nest = (False,) * cardinality(element)
        for code in codes:
            made = with_entry(made, place(element, leaf(code(scene))), True)
        return made

    return members


def _size(type_: Type, code: Code) -> Code:
    if isinstance(type_, StackType):
        return lambda scene: _first(code(scene))

    def size(scene: Scene) -> Nest:
        total: Leaf = 0
        nest = code(scene)
        assert isinstance(nest, tuple)
        for part in nest:
            total = plus(total, combined(operator.mul, np.multiply, leaf(part), 1))
        return total

    return size


def _change_bag(type_: BagType, bag: Code, kind: Code, by: int) -> Code:
    def limited(count: Any) -> Any:
        if isinstance(count, int):
            return min(max(count + by, 0), type_.most)
        return np.clip(count + by, 0, type_.most)

    def change(scene: Scene) -> Nest:
        held, where = bag(scene), place(type_.element, leaf(kind(scene)))
        return with_entry(held, where, mapped(limited, leaf(entry(held, where))))

    return change


def _stack(operation: str, type_: StackType, stack: Code, card: Code | None) -> Code:
    empty = cast(Leaf, encode(type_.element, least(type_.element)))

    def push(scene: Scene) -> Nest:
        held = stack(scene)
        assert isinstance(held, tuple) and card is not None
        size, laid = leaf(held[0]), leaf(card(scene))
        more = combined(min, np.minimum, plus(size, 1), type_.depth)
        return (more, *(select(equal(size, i), laid, old) for i, old in enumerate(held[1:])))

    def pop(scene: Scene) -> Nest:
        held = stack(scene)
        assert isinstance(held, tuple)
        less = combined(max, np.maximum, plus(leaf(held[0]), -1), 0)
        return (less, *(select(equal(less, i), empty, old) for i, old in enumerate(held[1:])))

    def top(scene: Scene) -> Nest:
        held = stack(scene)
        assert isinstance(held, tuple)
        found: Nest = empty
        for i, old in enumerate(held[1:], 1):
            found = select(equal(leaf(held[0]), i), old, found)
        return (combined(operator.gt, np.greater, leaf(held[0]), 0), found)

    return {"push": push, "pop": pop, "top": top}[operation]


LOGIC = ("not", "and", "or", "implies")

NUMBERS: Mapping[str, tuple[Callable[[Any, Any], Any], Callable[..., Any]]] = {
    "lt": (operator.lt, np.less),
    "le": (operator.le, np.less_equal),
    "gt": (operator.gt, np.greater),
    "ge": (operator.ge, np.greater_equal),
    "add": (operator.add, np.add),
    "sub": (operator.sub, np.subtract),
    "mul": (operator.mul, np.multiply),
    "div": (operator.floordiv, np.floor_divide),
    "mod": (operator.mod, np.mod),
    "min": (min, np.minimum),
    "max": (max, np.maximum),
}

SETS: Mapping[str, Callable[[Leaf, Leaf], Leaf]] = {
    "union": either,
    "inter": both,
    "minus": lambda a, b: both(a, negated(b)),
}
