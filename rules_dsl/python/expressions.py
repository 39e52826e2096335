"""Expressions as Python source on raw values.

Takes prepared expressions; gives source text made of ints, operators and names counted off by the
generator: `v3` for a state variable, `b7` for a bound name, `k2` for a constant, `t5` for a value kept for
a moment, `f1` for a definition too large to put in place. Conditions over a quantifier's whole range become
masks, one bit a value.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping
from contextlib import contextmanager

from rules_dsl import model as m
from rules_dsl.evaluate import Environment, evaluate
from rules_dsl.play import Stuck
from rules_dsl.python import runtime
from rules_dsl.python.masks import LARGEST_UNROLLED, lanes
from rules_dsl.python.prepare import Preparer, negation
from rules_dsl.python.raw import Raw, encoder, is_bit, lowest, shape, unpacked
from rules_dsl.types import (
    BOOL,
    BagType,
    IndexType,
    MapType,
    SetType,
    StackType,
    Type,
    cardinality,
    is_index,
)
from rules_dsl.values import from_ordinal, ordinal

RUNTIME: Mapping[str, object] = {
    "bits_of": runtime.bits_of,
    "bag_change": runtime.bag_change,
    "push_on": runtime.push_on,
    "top_of": runtime.top_of,
    "value_or": runtime.value_or,
    "pick": runtime.pick,
    "pick_weighted": runtime.pick_weighted,
    "below": runtime.below,
    "deal": runtime.deal,
    "EMPTY": runtime.EMPTY,
    "Stuck": Stuck,
    "__builtins__": {
        "len": len,
        "sum": sum,
        "range": range,
        "tuple": tuple,
        "any": any,
        "all": all,
        "list": list,
        "min": min,
        "max": max,
    },
}

_INFIX = {
    "iff": "==", "lt": "<", "le": "<=", "gt": ">", "ge": ">=", "add": "+", "sub": "-", "mul": "*",
    "div": "//", "mod": "%", "union": "|", "inter": "&", "and": "and", "or": "or",
}  # fmt: skip


class Emitter:
    """Writes expressions of one model, and keeps the constants and functions they need."""

    def __init__(self, preparer: Preparer) -> None:
        self.preparer = preparer
        self.facts = preparer.facts
        self.model = preparer.model
        self.namespace: dict[str, object] = dict(RUNTIME)
        self.functions: list[str] = []
        self.number = {name: i for i, name in enumerate(self.model.variables)}
        self._constants: dict[Hashable, str] = {}
        self._definitions: dict[str, str] = {}
        self._count = 0
        self._in_iterable = 0
        # a second opinion on expressions without bound names: other source for the same value, or None
        self.instead: Callable[[m.Expr], str | None] | None = None

    # --- names ---

    def name(self, letter: str) -> str:
        """A name nobody uses yet."""
        self._count += 1
        return f"{letter}{self._count}"

    def variable(self, name: str) -> str:
        return f"v{self.number[name]}"

    def bound(self, name: str) -> str:
        assert name.isdigit()
        return f"b{name}"

    def constant(self, value: Hashable) -> str:
        """The name of a value that is not written out."""
        if value not in self._constants:
            made = self._constants[value] = self.name("k")
            self.namespace[made] = value
        return self._constants[value]

    def keep(self, value: object) -> str:
        """The name of an object of the generator's own."""
        made = self.name("k")
        self.namespace[made] = value
        return made

    def literal(self, raw: Raw) -> str:
        if raw is None:
            return "None"
        if isinstance(raw, int):
            return str(int(raw)) if raw >= 0 else f"({int(raw)})"
        return self.constant(raw)

    @contextmanager
    def plainly(self) -> Iterator[None]:
        """Without a second opinion."""
        kept, self.instead = self.instead, None
        try:
            yield
        finally:
            self.instead = kept

    # --- values ---

    def scalar(self, expr: m.Expr) -> str:
        """Source for the value of an expression."""
        match expr:
            case m.Literal(value, type_):
                return self.literal(encoder(type_)(value))
            case m.Variable(name, _):
                return self.variable(name)
            case m.Bound(name, _):
                return self.bound(name)
        if self.instead is not None and not self.facts.free(expr):
            other = self.instead(expr)
            if other is not None:
                return other
        match expr:
            case m.Lookup():
                return self._lookup(expr)
            case m.At(base, key, _):
                assert isinstance(base.type, MapType | BagType)
                place = self.place(
                    key, base.type.key if isinstance(base.type, MapType) else base.type.element
                )
                if isinstance(base.type, MapType) and is_bit(base.type.value):
                    return f"({self.scalar(base)} >> {place} & 1)"
                return f"{self.scalar(base)}[{place}]"
            case m.Apply():
                return self._apply(expr)
            case m.Quantify():
                return self._quantify(expr)
            case m.Invoke(name, arguments, _):
                given = [self.scalar(a) for a in arguments]
                given += [self.variable(v) for v in self._definition_reads(name)]
                return f"{self._definition(name)}({', '.join(given)})"
            case _:
                raise ValueError("only properties ask about phases, the end and knowledge")

    def place(self, expr: m.Expr, type_: IndexType) -> str:
        """Source for the ordinal of an index value."""
        if isinstance(expr, m.Literal):
            return str(ordinal(type_, expr.value))
        low = lowest(type_)
        return f"({self.scalar(expr)} - {low})" if low else self.scalar(expr)

    def table(self, values: list[Raw], key: m.Expr, type_: IndexType) -> str:
        """Source for a value looked up by an index value."""
        low = lowest(type_)
        if 0 < low <= 8:  # filling up in front is cheaper than subtracting each time
            return f"{self.constant((0,) * low + tuple(values))}[{self.scalar(key)}]"
        return f"{self.constant(tuple(values))}[{self.place(key, type_)}]"

    def _definition_reads(self, name: str) -> list[str]:
        return sorted(self.facts.reads(self.preparer.definition(name)[1]), key=self.number.__getitem__)

    def _definition(self, name: str) -> str:
        if name not in self._definitions:
            made = self._definitions[name] = self.name("f")
            parameters, value = self.preparer.definition(name)
            taken = [self.bound(p) for p in parameters] + [
                self.variable(v) for v in self._definition_reads(name)
            ]
            with self.plainly():
                outer, self._in_iterable = self._in_iterable, 0
                source = self.scalar(value)
                self._in_iterable = outer
            self.functions.append(f"def {made}({', '.join(taken)}):\n    return {source}\n")
        return self._definitions[name]

    def _lookup(self, expr: m.Lookup) -> str:
        table = self.model.tables[expr.table]
        cells = [self._cell(c, expr.type) for c in table.cells]
        keys = list(zip(expr.keys, table.keys, strict=True))
        # known keys pick a part of the table now
        for position in range(len(keys) - 1, -1, -1):
            key, type_ = keys[position]
            if isinstance(key, m.Literal):
                after = 1
                for _, later in keys[position + 1 :]:
                    after *= cardinality(later)
                size, chosen = cardinality(type_), ordinal(type_, key.value)
                cells = [c for i, c in enumerate(cells) if i // after % size == chosen]
                del keys[position]
        if len(keys) == 1:
            return self.table(cells, *keys[0])
        place = "0"
        for key, type_ in keys:
            place = f"({place} * {cardinality(type_)} + {self.place(key, type_)})"
        return f"{self.constant(tuple(cells))}[{place}]"

    def _cell(self, cell: m.Expr, type_: Type) -> Raw:
        return encoder(type_)(evaluate(cell, Environment(self.model, self.model.players.count)))

    def _apply(self, expr: m.Apply) -> str:
        operation, arguments = expr.operation, expr.arguments
        match operation:
            case "in":
                element = arguments[1].type
                assert isinstance(element, SetType)
                return f"({self.scalar(arguments[1])} >> {self.place(arguments[0], element.element)} & 1)"
            case "set":
                assert isinstance(expr.type, SetType)
                return self._ones([self.place(a, expr.type.element) for a in arguments])
            case "eq" | "ne":
                return self._equal(arguments[0], arguments[1], "==" if operation == "eq" else "!=")
            case "size":
                return self._size(arguments[0])
            case "insert" | "remove":
                assert isinstance(expr.type, BagType)
                by = "1" if operation == "insert" else "-1"
                place = self.place(arguments[1], expr.type.element)
                return f"bag_change({self.scalar(arguments[0])}, {place}, {by}, {expr.type.most})"
            case "push":
                assert isinstance(expr.type, StackType)
                return f"push_on({self.scalar(arguments[0])}, {self.scalar(arguments[1])}, {expr.type.depth})"
            case "min" | "max":
                return self._extreme(operation, arguments)
        given = [self.scalar(a) for a in arguments]
        if operation in _INFIX:
            return f"({given[0]} {_INFIX[operation]} {given[1]})"
        players = self.model.players.count
        match operation, given:
            case "not", [a]:
                return f"(not {a})"
            case "implies", [a, b]:
                return f"(not {a} or {b})"
            case "if", [a, b, c]:
                return f"({b} if {a} else {c})"
            case "neg", [a]:
                return f"(-{a})"
            case "subset", [a, b]:
                return f"({a} & ~{b} == 0)"
            case "minus", [a, b]:
                return f"({a} & ~{b})"
            case "left", [a]:
                return f"{self.constant(tuple((i + 1) % players for i in range(players)))}[{a}]"
            case "right", [a]:
                return f"{self.constant(tuple((i - 1) % players for i in range(players)))}[{a}]"
            case "pop", [a]:
                return f"{a}[:-1]"
            case "top", [a]:
                return f"top_of({a})"
            case "some", [a]:
                return a
            case "is_none", [a]:
                return f"({a} is None)"
            case "otherwise", [a, b]:
                return f"value_or({a}, {b})"
            case _:
                raise ValueError(f"there is no operation {operation!r}")

    def _ones(self, places: list[str]) -> str:
        known, rest = 0, []
        for place in places:
            if place.isdigit():
                known |= 1 << int(place)
            else:
                rest.append(f"1 << {place}")
        return "(" + " | ".join(([str(known)] if known or not rest else []) + rest) + ")"

    def _equal(self, left: m.Expr, right: m.Expr, sign: str) -> str:
        a, b = self.scalar(left), self.scalar(right)
        if shape(left.type) != shape(right.type):
            a, b = f"{self.keep(unpacked(left.type))}({a})", f"{self.keep(unpacked(right.type))}({b})"
        return f"({a} {sign} {b})"

    def _size(self, of: m.Expr) -> str:
        match of.type:
            case SetType():
                return f"({self.scalar(of)}).bit_count()"
            case BagType():
                return f"sum({self.scalar(of)})"
            case _:
                return f"len({self.scalar(of)})"

    def _extreme(self, operation: str, arguments: tuple[m.Expr, ...]) -> str:
        given = [self.scalar(a) for a in arguments]
        if self._in_iterable:  # no names may be given there
            return f"{operation}({given[0]}, {given[1]})"
        sign = "<" if operation == "min" else ">"
        used = list(given)
        for i in (0, 1):
            if not given[i].isidentifier() and not isinstance(arguments[i], m.Literal):
                used[i] = self.name("t")
                given[i] = f"({used[i]} := {given[i]})"
        return f"({used[0]} if {given[0]} {sign} {given[1]} else {used[1]})"

    # --- quantifiers ---

    def _quantify(self, expr: m.Quantify) -> str:
        if len(expr.ranges) > 1:
            return self._nested(expr)
        only = expr.ranges[0]
        match expr.kind:
            case "count":
                return f"({self.chosen(only, expr.condition)}).bit_count()"
            case "exists":
                return f"({self.chosen(only, expr.condition)} != 0)"
            case "all":
                refuted = negation(expr.condition) if expr.condition is not None else m.Literal(False, BOOL)
                return f"({self.chosen(only, refuted)} == 0)"
            case "set":
                return self.chosen(only, expr.condition)
            case "map":
                assert expr.body is not None
                assert isinstance(expr.type, MapType)
                if is_bit(expr.type.value):
                    return self.lanes(truth_of(expr.body), only.name, only.type)
                return self._entries(expr.body, only)
            case _:
                return self._sum(expr)

    def _nested(self, expr: m.Quantify) -> str:
        """The first name by a loop, the others inside."""
        first, rest = expr.ranges[0], expr.ranges[1:]
        inner = self.scalar(m.Quantify(expr.kind, rest, expr.condition, expr.body, expr.type))
        gather = {"exists": "any", "all": "all"}.get(expr.kind, "sum")
        return f"{gather}([{inner} for {self.bound(first.name)} in {self.iterable(first)}])"

    def iterable(self, over: m.Range) -> str:
        low = lowest(over.type)
        if over.domain is None:
            return f"range({low}, {low + cardinality(over.type)})"
        self._in_iterable += 1
        mask = self.scalar(over.domain)
        self._in_iterable -= 1
        return f"bits_of({mask} << {low})" if low >= 0 else f"[i + {low} for i in bits_of({mask})]"

    def _entries(self, body: m.Expr, over: m.Range) -> str:
        if cardinality(over.type) * self.facts.size(body) > LARGEST_UNROLLED:
            return f"tuple([{self.scalar(body)} for {self.bound(over.name)} in {self.iterable(over)}])"
        made = [self.scalar(e) for e in self.each(body, over.name, over.type)]
        return f"({', '.join(made)},)"

    def _sum(self, expr: m.Quantify) -> str:
        only = expr.ranges[0]
        assert expr.body is not None
        condition = f" if {self.scalar(expr.condition)}" if expr.condition is not None else ""
        return (
            f"sum([{self.scalar(expr.body)} for {self.bound(only.name)} in {self.iterable(only)}{condition}])"
        )

    def each(self, expr: m.Expr, name: str, type_: IndexType) -> Iterator[m.Expr]:
        """The expression for every value of a bound name."""
        for i in range(cardinality(type_)):
            yield self.preparer.substitute(expr, {name: m.Literal(from_ordinal(type_, i), type_)})

    def lanes(self, condition: m.Expr, name: str, type_: IndexType) -> str:
        """Source for the mask of the values of a bound name for which a condition holds."""
        return lanes(self, condition, name, type_)

    def chosen(self, over: m.Range, condition: m.Expr | None) -> str:
        """Source for the mask of those values of a range that fulfil a condition."""
        full = str((1 << cardinality(over.type)) - 1)
        meeting = self.lanes(condition, over.name, over.type) if condition is not None else full
        if over.domain is None:
            return meeting
        if meeting == full:
            return self.scalar(over.domain)
        return f"({self.scalar(over.domain)} & {meeting})"


def truth_of(expr: m.Expr) -> m.Expr:
    """The condition that a two-valued expression has its second value."""
    if expr.type == BOOL:
        return expr
    assert is_index(expr.type)
    second = from_ordinal(expr.type, cardinality(expr.type) - 1)
    if cardinality(expr.type) < 2:
        return m.Literal(False, BOOL)
    return m.Apply("eq", (expr, m.Literal(second, expr.type)), BOOL)
