"""Model expressions turned into functions over nests of leaves, so that one call evaluates them for all cases at once.

`Formulas(model)` compiles: `value(expr)` gives a function from a `Scene` (the variables and bound names) to a nest, and
`parts(expr)` one that splits a condition into several which must all hold, each reading as little as possible.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from typing import cast

import numpy as np

from rules_dsl import model as m
from rules_dsl.arrays.columns import Cell, Leaf, Tensor, both, combined, either, equal, negated, plus
from rules_dsl.arrays.operations import LOGIC, NUMBERS, SETS, branch, paired, read_cell, read_table, structure
from rules_dsl.arrays.scene import Code, Parts, Scene, leaf
from rules_dsl.arrays.shapes import (
    Nest,
    conjunction,
    disjunction,
    encode,
    entry,
    key_value,
    ordinals,
    place,
    refit,
    same,
    select,
)
from rules_dsl.evaluate import Environment, evaluate
from rules_dsl.types import BagType, IndexType, MapType, OptionalType, StackType, Type, cardinality


class Formulas:
    """The compiler for one settled model; each definition is compiled once."""

    def __init__(self, model: m.Model) -> None:
        self.model = model
        self.players = model.players.count
        self._definitions: dict[str, Code] = {}
        self._definition_parts: dict[str, Parts] = {}
        self._tables: dict[str, list[Nest]] = {}
        self._phases = {name: i for i, name in enumerate(model.phases)}

    def value(self, expr: m.Expr) -> Code:
        """A function that gives the expression's value in a scene."""
        match expr:
            case m.Literal(value, type_):
                nest = encode(type_, value)
                return lambda scene: nest
            case m.Variable(name, _):
                return lambda scene: scene.values[name]
            case m.Bound(name, _):
                return lambda scene: scene.bound[name]
            case m.Lookup():
                return self._lookup(expr)
            case m.At(base, key, _):
                return self._at(base, key)
            case m.Apply():
                return self._apply(expr)
            case m.Quantify():
                return self._quantify(expr)
            case m.Invoke():
                return self._invoke(expr)
            case m.InPhase(phase, _):
                number = self._phases[phase]
                return lambda scene: both(negated(scene.over), equal(scene.phase, number))
            case m.Over():
                return lambda scene: scene.over
            case m.Winner():
                return lambda scene: scene.result
            case m.Parameter(name, _):
                raise ValueError(f"parameter '{name}' is open: only a settled model can be compiled")
            case m.Knows():
                raise ValueError("what a player knows is decided by the prover, not in one state")

    def wanted(self, expr: m.Expr, type_: Type) -> Code:
        """The same, laid out as a type the expression's type fits."""
        code, actual = self.value(expr), expr.type
        if actual == type_:
            return code
        return lambda scene: refit(code(scene), actual, type_)

    def truth(self, expr: m.Expr | None) -> Callable[[Scene], Leaf]:
        """A condition as a function; none is true."""
        if expr is None:
            return lambda scene: True
        code = self.value(expr)
        return lambda scene: leaf(code(scene))

    # --- conditions in parts ---

    def parts(self, expr: m.Expr) -> Parts:
        """Conditions that all hold exactly if the expression does."""
        match expr:
            case m.Apply("and", (a, b), _):
                first, second = self.parts(a), self.parts(b)

                def and_(scene: Scene) -> Iterator[Leaf]:
                    yield from first(scene)
                    yield from second(scene)

                return and_
            case m.Apply("eq" | "iff", (a, b), _):
                x, y = self._pair(a, b)
                return lambda scene: same(x(scene), y(scene))
            case m.Apply("implies", (a, b), _):
                if_, then = self.truth(a), self.parts(b)

                def implies(scene: Scene) -> Iterator[Leaf]:
                    condition = if_(scene)
                    if condition is True:
                        yield from then(scene)
                    elif condition is not False:
                        yield from (either(negated(condition), part) for part in then(scene))

                return implies
            case m.Quantify("all", over, condition, _, _) if condition is not None:
                each = self._ranges(over)
                inner = self.parts(condition)

                def all_(scene: Scene) -> Iterator[Leaf]:
                    for inside, there in each(scene):
                        for part in inner(inside):
                            yield part if there is True else either(negated(there), part)

                return all_
            case m.Invoke(name, arguments, _):
                bind = self._arguments(name, arguments)
                return lambda scene: self._definition_part(name)(bind(scene))
            case _:
                code = self.truth(expr)
                return lambda scene: iter((code(scene),))

    def _definition_part(self, name: str) -> Parts:
        if name not in self._definition_parts:
            self._definition_parts[name] = self.parts(self.model.definitions[name].value)
        return self._definition_parts[name]

    def _pair(self, a: m.Expr, b: m.Expr) -> tuple[Code, Code]:
        """Two operands laid out alike."""
        one, two = a.type, b.type
        if isinstance(one, OptionalType) and one.inner is None:
            return (
                (self.wanted(a, two), self.value(b)) if isinstance(two, OptionalType) else self._plain(a, b)
            )
        if isinstance(one, StackType) and isinstance(two, StackType):
            deep = one if one.depth >= two.depth else two
            return self.wanted(a, deep), self.wanted(b, deep)
        if isinstance(one, OptionalType):
            return self.value(a), self.wanted(b, one)
        if isinstance(two, OptionalType):
            return self.wanted(a, two), self.value(b)
        return self._plain(a, b)

    def _plain(self, a: m.Expr, b: m.Expr) -> tuple[Code, Code]:
        return self.value(a), self.value(b)

    # --- tables, entries, calls ---

    def cells_of(self, table: str) -> list[Nest]:
        """The cells of a table in key order."""
        if table not in self._tables:
            declared = self.model.tables[table]
            env = Environment(self.model, self.players)
            self._tables[table] = [encode(declared.type, evaluate(c, env)) for c in declared.cells]
        return self._tables[table]

    def _lookup(self, expr: m.Lookup) -> Code:
        contents = self.cells_of(expr.table)
        types = self.model.tables[expr.table].keys
        codes = [self.value(k) for k in expr.keys]

        def lookup(scene: Scene) -> Nest:
            number: Leaf = 0
            unknown: Cell | None = None
            for type_, code in zip(types, codes, strict=True):
                key = leaf(code(scene))
                if isinstance(key, Cell) and len(types) == 1:
                    unknown = key
                number = plus(
                    combined(operator.mul, np.multiply, number, cardinality(type_)), place(type_, key)
                )
            if not isinstance(number, Cell | Tensor):
                return contents[number]
            if unknown is not None:
                where = [place(types[0], v) for v in unknown.values]
                return read_cell(unknown, [contents[cast(int, w)] for w in where])
            return read_table(contents, number)

        return lookup

    def _at(self, base: m.Expr, key: m.Expr) -> Code:
        container, where = self.value(base), self.value(key)
        assert isinstance(base.type, MapType | BagType)
        type_: IndexType = base.type.key if isinstance(base.type, MapType) else base.type.element
        return lambda scene: entry(container(scene), place(type_, leaf(where(scene))))

    def _arguments(self, name: str, arguments: tuple[m.Expr, ...]) -> Callable[[Scene], Scene]:
        declared = self.model.definitions[name].parameters
        codes = [(p, self.wanted(a, t)) for (p, t), a in zip(declared, arguments, strict=True)]

        def bind(scene: Scene) -> Scene:
            inside = {p: code(scene) for p, code in codes}
            return Scene(scene.values, inside, scene.phase, scene.over, scene.result)

        return bind

    def _invoke(self, expr: m.Invoke) -> Code:
        name = expr.definition
        bind = self._arguments(name, expr.arguments)
        if name not in self._definitions:
            declared = self.model.definitions[name]
            self._definitions[name] = self.wanted(declared.value, declared.type)
        body = self._definitions[name]
        return lambda scene: body(bind(scene))

    # --- quantifiers ---

    def _ranges(self, over: tuple[m.Range, ...]) -> Callable[[Scene], Iterator[tuple[Scene, Leaf]]]:
        """Every combination of values of the ranges with the condition that they are all members."""
        prepared = [
            (
                r.name,
                [key_value(r.type, i) for i in ordinals(r.type)],
                None if r.domain is None else self.value(r.domain),
            )
            for r in over
        ]

        def walk(scene: Scene, level: int, so_far: Leaf) -> Iterator[tuple[Scene, Leaf]]:
            if level == len(prepared):
                yield scene, so_far
                return
            name, values, domain = prepared[level]
            members = domain(scene) if domain is not None else None
            assert members is None or isinstance(members, tuple)
            for i, value in enumerate(values):
                there = so_far if members is None else both(so_far, leaf(members[i]))
                if there is not False:
                    yield from walk(scene.bind(**{name: value}), level + 1, there)

        return lambda scene: walk(scene, 0, True)

    def _quantify(self, expr: m.Quantify) -> Code:
        each = self._ranges(expr.ranges)
        condition = self.truth(expr.condition)

        def inside(scene: Scene) -> Iterator[tuple[Scene, Leaf]]:
            for bound, there in each(scene):
                wanted = both(there, condition(bound))
                if wanted is not False:
                    yield bound, wanted

        match expr.kind:
            case "count":

                def count(scene: Scene) -> Nest:
                    total: Leaf = 0
                    for _, wanted in inside(scene):
                        total = plus(total, combined(operator.mul, np.multiply, wanted, 1))
                    return total

                return count
            case "exists":
                return lambda scene: disjunction(wanted for _, wanted in inside(scene))
            case "all":
                return lambda scene: conjunction(
                    either(negated(there), condition(bound)) for bound, there in each(scene)
                )
            case "set":
                return self._set_of(expr, inside)
            case "sum":
                assert expr.body is not None
                body = self.value(expr.body)

                def sum_(scene: Scene) -> Nest:
                    total: Leaf = 0
                    for bound, wanted in inside(scene):
                        total = plus(total, leaf(select(wanted, body(bound), 0)))
                    return total

                return sum_
            case _:
                assert expr.body is not None and isinstance(expr.type, MapType)
                value = self.wanted(expr.body, expr.type.value)
                return lambda scene: tuple(value(bound) for bound, _ in each(scene))

    def _set_of(self, expr: m.Quantify, inside: Callable[[Scene], Iterator[tuple[Scene, Leaf]]]) -> Code:
        over = expr.ranges[0]
        numbers = {key_value(over.type, i): i for i in ordinals(over.type)}

        def set_of(scene: Scene) -> Nest:
            made: list[Nest] = [False] * len(numbers)
            for bound, wanted in inside(scene):
                made[numbers[leaf(bound.bound[over.name])]] = wanted
            return tuple(made)

        return set_of

    # --- operations ---

    def _apply(self, expr: m.Apply) -> Code:
        operation, arguments = expr.operation, expr.arguments
        if operation in LOGIC:
            return self._logic(operation, arguments)
        if operation == "if":
            condition = self.truth(arguments[0])
            then, otherwise = (self.wanted(a, expr.type) for a in arguments[1:])
            return lambda scene: branch(condition(scene), then, otherwise, scene)
        if operation in ("eq", "iff", "ne"):
            x, y = self._pair(*arguments)
            if operation == "ne":
                return lambda scene: negated(conjunction(same(x(scene), y(scene))))
            return lambda scene: conjunction(same(x(scene), y(scene)))
        if operation == "otherwise":
            return self._otherwise(expr, self.value(arguments[0]))
        codes = [self.value(a) for a in arguments]
        if operation in NUMBERS:
            plain, ufunc = NUMBERS[operation]
            a, b = codes
            return lambda scene: combined(plain, ufunc, leaf(a(scene)), leaf(b(scene)))
        if operation in SETS:
            of = SETS[operation]
            a, b = codes
            return lambda scene: tuple(of(leaf(x), leaf(y)) for x, y in paired(a(scene), b(scene)))
        return structure(expr, codes, self.players)

    def _logic(self, operation: str, arguments: tuple[m.Expr, ...]) -> Code:
        first = self.truth(arguments[0])
        if operation == "not":
            return lambda scene: negated(first(scene))
        second = self.truth(arguments[1])

        def logic(scene: Scene) -> Nest:
            a = first(scene)
            if operation == "and":
                return False if a is False else both(a, second(scene))
            if operation == "implies":
                a = negated(a)
            return True if a is True else either(a, second(scene))

        return logic

    def _otherwise(self, expr: m.Apply, maybe: Code) -> Code:
        inner = expr.arguments[0].type
        assert isinstance(inner, OptionalType)
        instead = self.wanted(expr.arguments[1], expr.type)
        if inner.inner is None:
            return instead
        held = inner.inner

        def otherwise(scene: Scene) -> Nest:
            found = maybe(scene)
            assert isinstance(found, tuple)
            return select(leaf(found[0]), refit(found[1], held, expr.type), instead(scene))

        return otherwise
