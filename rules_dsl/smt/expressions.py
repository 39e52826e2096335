"""The symbolic value of an expression: what `rules_dsl.evaluate` does with plain values, done with Z3
terms.

Everything is computed on every path: a part the plain evaluator would not look at (the other branch of
an `if`) only contributes a term that the condition switches off.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from rules_dsl import model as m
from rules_dsl.smt.symbolic import (
    Blank,
    MapOf,
    Maybe,
    SetOf,
    StackOf,
    Symbolic,
    constant,
    identical,
    interval,
    merge,
    present,
    same,
)
from rules_dsl.smt.terms import (
    Num,
    Truth,
    add,
    and_,
    count,
    div,
    equal,
    fit,
    iff,
    implies,
    less,
    less_equal,
    mod,
    mul,
    not_,
    number,
    or_,
    pick,
    sub,
    total,
)
from rules_dsl.types import (
    BagType,
    BoolType,
    IndexType,
    IntType,
    MapType,
    SetType,
    StackType,
    cardinality,
)
from rules_dsl.values import least


@dataclass(frozen=True)
class Scene:
    """Everything an expression can read. `standing` says whether the game stands in a phase."""

    model: m.Model
    players: Num
    params: Mapping[str, Symbolic] = field(default_factory=dict)
    variables: Mapping[str, Symbolic] = field(default_factory=dict)
    bound: Mapping[str, Symbolic] = field(default_factory=dict)
    standing: Callable[[str], Truth] = lambda _: False
    over: Truth = False
    result: Symbolic = None
    knows: Callable[[Scene, m.Knows], Truth] | None = None

    def bind(self, /, **names: Symbolic) -> Scene:
        return self.with_bound({**self.bound, **names})

    def with_bound(self, bound: Mapping[str, Symbolic]) -> Scene:
        # what `replace` does, at a fraction of its time: this is done for every value of every quantifier
        rest = (self.standing, self.over, self.result, self.knows)
        return Scene(self.model, self.players, self.params, self.variables, bound, *rest)


def value_of(expr: m.Expr, scene: Scene) -> Symbolic:
    """The symbolic value of an expression."""
    match expr:
        case m.Literal(value, type_):
            return constant(value, type_)
        case m.Variable(name, _):
            return scene.variables[name]
        case m.Parameter(name, _):
            return scene.players if name == m.PLAYERS else scene.params[name]
        case m.Bound(name, _):
            return scene.bound[name]
        case m.Lookup(table, keys, _):
            return _cell(scene.model.tables[table], [value_of(k, scene) for k in keys], scene)
        case m.At(base, key, _):
            return entry(value_of(base, scene), value_of(key, scene), key_type(base.type))
        case m.Apply():
            return _apply(expr, scene)
        case m.Quantify():
            return _quantify(expr, scene)
        case m.Invoke(name, arguments, _):
            definition = scene.model.definitions[name]
            values = [value_of(a, scene) for a in arguments]
            inside = {p: v for (p, _), v in zip(definition.parameters, values, strict=True)}
            return value_of(definition.value, scene.with_bound(inside))
        case m.InPhase(phase, _):
            return and_((not_(scene.over), scene.standing(phase)))
        case m.Over():
            return scene.over
        case m.Winner():
            return scene.result
        case m.Knows():
            if scene.knows is None:
                raise ValueError("what a player knows is decided over all histories, not in one state")
            return scene.knows(scene, expr)


def truth_of(expr: m.Expr | None, scene: Scene) -> Truth:
    """Is the condition true? No condition is true."""
    return True if expr is None else value_of(expr, scene)


def key_type(type_: m.Type) -> IndexType:
    assert isinstance(type_, MapType | BagType)
    return type_.key if isinstance(type_, MapType) else type_.element


def is_place(key: Symbolic, place: int, type_: IndexType) -> Truth:
    """Is the key the value at this place of its type?"""
    if isinstance(type_, BoolType):
        return key if place else not_(key)
    return equal(key, number(interval(type_)[0] + place))


def at_place(place: int, type_: IndexType) -> Symbolic:
    """The value at a place of an index type."""
    return bool(place) if isinstance(type_, BoolType) else number(interval(type_)[0] + place)


def _select(cells: list[Symbolic], key: Symbolic, type_: IndexType) -> Symbolic:
    """The cell the key points at."""
    if isinstance(key, bool):
        return cells[int(key)]
    if isinstance(key, Num):
        low = interval(type_)[0]
        if isinstance(key.value, int):
            return cells[min(max(key.value - low, 0), len(cells) - 1)]
        first, last = max(key.low - low, 0), min(key.high - low, len(cells) - 1)
    else:
        first, last = 0, len(cells) - 1
    # the cell most keys share comes last, so that each other one costs a test and the common one none
    groups: list[tuple[Symbolic, list[int]]] = []
    for place in range(first, last + 1):
        for cell, places in groups:
            if identical(cell, cells[place]):
                places.append(place)
                break
        else:
            groups.append((cells[place], [place]))
    groups.sort(key=lambda g: -len(g[1]))
    chosen = groups[0][0]
    for cell, places in groups[1:]:
        chosen = merge(or_(is_place(key, p, type_) for p in places), cell, chosen)
    return chosen


def _cell(table: m.Table, keys: list[Symbolic], scene: Scene) -> Symbolic:
    bare = scene.with_bound({})
    cells = [value_of(c, bare) for c in table.cells]
    for key, type_ in zip(reversed(keys), reversed(table.keys), strict=True):
        many = cardinality(type_)
        cells = [_select(cells[i : i + many], key, type_) for i in range(0, len(cells), many)]
    return cells[0]


def entry(base: MapOf, key: Symbolic, type_: IndexType) -> Symbolic:
    """The entry of a map, or the number of one kind in a bag."""
    return _select(list(base.entries), key, type_)


def type_of_entry(type_: m.Type, keys: int) -> m.Type:
    """The type of what lies in a map or bag of this type under so many keys."""
    for _ in range(keys):
        type_ = type_.value if isinstance(type_, MapType) else IntType(0, type_.most)  # type: ignore[union-attr]
    return type_


def updated(base: Symbolic, type_: m.Type, keys: list[Symbolic], value: Symbolic) -> Symbolic:
    """The map or bag with one entry replaced."""
    if not keys:
        return value
    index = key_type(type_)
    inner = type_.value if isinstance(type_, MapType) else type_
    return MapOf(
        tuple(
            merge(is_place(keys[0], i, index), updated(old, inner, keys[1:], value), old)
            for i, old in enumerate(base.entries)
        )
    )


def cases(scene: Scene, over: tuple[m.Range, ...], guard: Truth = True) -> Iterator[tuple[Truth, Scene]]:
    """The scene once for every combination of values of the ranges, with the condition that it is one."""
    if not over:
        yield guard, scene
        return
    first, rest = over[0], over[1:]
    members = value_of(first.domain, scene).members if first.domain is not None else None
    for place in range(cardinality(first.type)):
        inside = present(place, first.type, scene.players) if members is None else members[place]
        allowed = and_((guard, inside))
        if allowed is not False:
            yield from cases(scene.bind(**{first.name: at_place(place, first.type)}), rest, allowed)


def _quantify(expr: m.Quantify, scene: Scene) -> Symbolic:
    match expr.kind:
        case "count":
            return count(and_((g, truth_of(expr.condition, e))) for g, e in cases(scene, expr.ranges))
        case "exists":
            return or_(and_((g, truth_of(expr.condition, e))) for g, e in cases(scene, expr.ranges))
        case "all":
            return and_(implies(g, truth_of(expr.condition, e)) for g, e in cases(scene, expr.ranges))
        case "sum":
            assert expr.body is not None
            parts = []
            for g, e in cases(scene, expr.ranges):
                guard = and_((g, truth_of(expr.condition, e)))
                if guard is not False:
                    parts.append(pick(guard, value_of(expr.body, e), number(0)))
            return total(parts)
        case "set":
            (range_,) = expr.ranges
            found: dict[int, Truth] = {}
            low = interval(range_.type)[0]
            for g, e in cases(scene, expr.ranges):
                value = e.bound[range_.name]
                place = int(value) if isinstance(value, bool) else value.value - low
                found[place] = and_((g, truth_of(expr.condition, e)))
            return SetOf(tuple(found.get(i, False) for i in range(cardinality(range_.type))))
        case _:
            (range_,) = expr.ranges
            assert expr.body is not None
            assert isinstance(expr.type, MapType)
            blank = constant(least(expr.type.value), expr.type.value)
            entries = []
            for place in range(cardinality(range_.type)):
                inside = scene.bind(**{range_.name: at_place(place, range_.type)})
                taken = present(place, range_.type, scene.players)
                body = value_of(expr.body, inside) if taken is not False else blank
                entries.append(merge(taken, body, blank))
            return MapOf(tuple(entries))


def _apply(expr: m.Apply, scene: Scene) -> Symbolic:
    operation, arguments = expr.operation, expr.arguments
    first = value_of(arguments[0], scene) if arguments else None
    # a branch that is known to be off is not looked at
    match operation, first:
        case "if", bool():
            return value_of(arguments[1 if first else 2], scene)
        case "and", False:
            return False
        case "or", True:
            return True
        case "implies", False:
            return True
    values = [first, *(value_of(a, scene) for a in arguments[1:])]
    if operation == "set":
        assert isinstance(expr.type, SetType)
        element = expr.type.element
        return SetOf(tuple(or_(is_place(v, i, element) for v in values) for i in range(cardinality(element))))
    if operation == "in":
        assert isinstance(arguments[1].type, SetType)
        return _select(list(values[1].members), values[0], arguments[1].type.element)
    if operation in ("insert", "remove"):
        return _change_bag(arguments[0].type, values[0], values[1], operation == "insert")
    if operation in ("push", "pop", "top"):
        return _on_stack(operation, arguments[0].type, values)
    if operation == "size":
        return _size(arguments[0].type, values[0])
    if operation == "left":
        following = add(values[0], number(1))
        return _seat(pick(equal(following, scene.players), number(0), following), scene)
    if operation == "right":
        first_seat = equal(values[0], number(0))
        return _seat(pick(first_seat, sub(scene.players, number(1)), sub(values[0], number(1))), scene)
    if operation == "otherwise":
        if values[0].value is None:
            return values[1]
        return merge(values[0].some, values[0].value, values[1])
    if operation in ("div", "mod"):
        by = values[1].value
        return div(values[0], by) if operation == "div" else mod(values[0], by)
    return _SIMPLE[operation](*values)


def _seat(num: Num, scene: Scene) -> Num:
    """A seat number is at most the last seat's, whatever its interval says."""
    return fit(num, 0, scene.model.players.count - 1)


def _change_bag(type_: m.Type, bag: MapOf, kind: Symbolic, more: bool) -> MapOf:
    assert isinstance(type_, BagType)
    made = []
    for place, old in enumerate(bag.entries):
        limit = number(type_.most if more else 0)
        changed = add(old, number(1)) if more else sub(old, number(1))
        kept = pick(equal(old, limit), old, changed)
        made.append(merge(is_place(kind, place, type_.element), _clipped(kept, type_.most), old))
    return MapOf(tuple(made))


def _clipped(num: Num, most: int) -> Num:
    return fit(num, 0, most)


def _on_stack(operation: str, type_: m.Type, values: list[Symbolic]) -> Symbolic:
    assert isinstance(type_, StackType)
    stack: StackOf = values[0]
    deep = len(stack.cards)
    tops = [equal(stack.size, number(i + 1)) for i in range(deep)]  # is the card at place i the top one?
    if operation == "top":
        card = stack.blank
        for i in range(deep):
            card = merge(tops[i], stack.cards[i], card)
        return Maybe(not_(equal(stack.size, number(0))), card, least(type_.element))
    if operation == "pop":
        size = pick(equal(stack.size, number(0)), number(0), sub(stack.size, number(1)))
        cards = tuple(merge(tops[i], stack.blank, stack.cards[i]) for i in range(deep))
        return StackOf(_clipped(size, type_.depth), cards, stack.blank)
    full = equal(stack.size, number(type_.depth))
    size = pick(full, stack.size, add(stack.size, number(1)))
    cards = tuple(merge(equal(stack.size, number(i)), values[1], stack.cards[i]) for i in range(deep))
    return StackOf(_clipped(size, type_.depth), cards, stack.blank)


def _size(type_: m.Type, value: Symbolic) -> Num:
    if isinstance(value, SetOf):
        return count(value.members)
    if isinstance(value, StackOf):
        return value.size
    return total(value.entries)


def _subset(a: SetOf, b: SetOf) -> Truth:
    return and_(implies(x, y) for x, y in zip(a.members, b.members, strict=True))


def _sets(join: Callable[[Truth, Truth], Truth]) -> Callable[[SetOf, SetOf], SetOf]:
    return lambda a, b: SetOf(tuple(join(x, y) for x, y in zip(a.members, b.members, strict=True)))


_SIMPLE: Mapping[str, Callable[..., Any]] = {
    "not": not_,
    "and": lambda a, b: and_((a, b)),
    "or": lambda a, b: or_((a, b)),
    "implies": implies,
    "iff": iff,
    "if": merge,
    "eq": same,
    "ne": lambda a, b: not_(same(a, b)),
    "lt": less,
    "le": less_equal,
    "gt": lambda a, b: less(b, a),
    "ge": lambda a, b: less_equal(b, a),
    "neg": lambda a: sub(number(0), a),
    "add": add,
    "sub": sub,
    "mul": mul,
    "min": lambda a, b: fit(pick(less(b, a), b, a), min(a.low, b.low), min(a.high, b.high)),
    "max": lambda a, b: fit(pick(less(a, b), b, a), max(a.low, b.low), max(a.high, b.high)),
    "subset": _subset,
    "union": _sets(lambda x, y: or_((x, y))),
    "inter": _sets(lambda x, y: and_((x, y))),
    "minus": _sets(lambda x, y: and_((x, not_(y)))),
    "some": lambda a: Maybe(True, a, Blank.ANY),
    "is_none": lambda a: not_(a.some),
}

__all__ = ["Scene", "cases", "entry", "truth_of", "updated", "value_of"]
