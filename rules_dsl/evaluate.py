"""The value of an expression: the plainest possible evaluator, on plain values.

This and `reference` define what the language means. Takes an expression and an environment, gives a value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from rules_dsl import model as m
from rules_dsl.model import Value
from rules_dsl.types import BagType, IndexType, MapType, StackType
from rules_dsl.values import all_values, ordinal


@dataclass(frozen=True)
class Environment:
    """Everything an expression can read."""

    model: m.Model
    players: int
    params: Mapping[str, Value] = field(default_factory=dict)
    variables: Mapping[str, Value] = field(default_factory=dict)
    bound: Mapping[str, Value] = field(default_factory=dict)
    phase: str = ""
    over: bool = False
    result: Value = None

    def bind(self, /, **names: Value) -> Environment:
        return self.with_bound({**self.bound, **names})

    def with_bound(self, bound: Mapping[str, Value]) -> Environment:
        # what `replace` does, at a fraction of its time: this is done for every value of every quantifier
        rest = (self.phase, self.over, self.result)
        return Environment(self.model, self.players, self.params, self.variables, bound, *rest)


def evaluate(expr: m.Expr, env: Environment) -> Value:
    """The value of an expression in an environment."""
    match expr:  # the most frequent first
        case m.Apply():
            return _apply(expr, env)
        case m.Variable():
            return env.variables[expr.name]
        case m.Literal():
            return expr.value
        case m.Bound():
            return env.bound[expr.name]
        case m.At():
            return _entry(expr.base, evaluate(expr.base, env), evaluate(expr.key, env))
        case m.Quantify():
            return _quantify(expr, env)
        case m.Invoke(name, arguments, _):
            definition = env.model.definitions[name]
            values = [evaluate(a, env) for a in arguments]
            inside = {p: v for (p, _), v in zip(definition.parameters, values, strict=True)}
            return evaluate(definition.value, env.with_bound(inside))
        case m.Lookup(table, keys, _):
            return evaluate(_cell(env.model.tables[table], [evaluate(k, env) for k in keys], env), env)
        case m.Parameter():
            return env.params[expr.name]
        case m.InPhase(phase, _):
            return not env.over and env.phase == phase
        case m.Over():
            return env.over
        case m.Winner():
            return env.result
        case m.Knows():
            raise ValueError("what a player knows is decided by the prover, not in one state")


def holds(expr: m.Expr | None, env: Environment) -> bool:
    """Is the condition true? No condition is true."""
    return expr is None or evaluate(expr, env) is True


def _cell(table: m.Table, keys: list[Value], env: Environment) -> m.Expr:
    place = 0
    for type_, key in zip(table.keys, keys, strict=True):
        values = tuple(all_values(type_, env.model.players.count))
        place = place * len(values) + values.index(key)
    return table.cells[place]


def _entry(base: m.Expr, value: Value, key: Value) -> Value:
    assert isinstance(value, tuple)
    match base.type:
        case MapType(key_type, _) | BagType(key_type, _):
            return value[ordinal(key_type, key)]
        case _:
            raise TypeError(f"{base.type} has no entries")


def ranges(env: Environment, over: tuple[m.Range, ...]) -> Iterator[Environment]:
    """The environment once for every combination of values of the ranges, in order."""
    if not over:
        yield env
        return
    first, rest = over[0], over[1:]
    members = evaluate(first.domain, env) if first.domain is not None else None
    for value in all_values(first.type, env.players):
        if members is None or value in members:  # type: ignore[operator]
            yield from ranges(env.bind(**{first.name: value}), rest)


def _quantify(expr: m.Quantify, env: Environment) -> Value:
    inside = (e for e in ranges(env, expr.ranges) if holds(expr.condition, e))
    name = expr.ranges[0].name
    match expr.kind:
        case "count":
            return sum(1 for _ in inside)
        case "exists":
            return any(True for _ in inside)
        case "all":
            return all(holds(expr.condition, e) for e in ranges(env, expr.ranges))
        case "set":
            return frozenset(e.bound[name] for e in inside)
        case "sum":
            assert expr.body is not None
            return sum(_whole(evaluate(expr.body, e)) for e in inside)
        case _:
            assert expr.body is not None
            return tuple(evaluate(expr.body, e) for e in inside)


def _whole(value: Value) -> int:
    assert isinstance(value, int)
    return value


def _apply(expr: m.Apply, env: Environment) -> Value:
    operation, arguments = expr.operation, expr.arguments
    simple = _SIMPLE.get(operation)
    if simple is not None:
        return simple(*[evaluate(a, env) for a in arguments])
    # these four look at their second part only when they must
    match operation:
        case "if":
            return evaluate(arguments[1] if holds(arguments[0], env) else arguments[2], env)
        case "and":
            return holds(arguments[0], env) and holds(arguments[1], env)
        case "or":
            return holds(arguments[0], env) or holds(arguments[1], env)
        case "implies":
            return not holds(arguments[0], env) or holds(arguments[1], env)
    values = [evaluate(a, env) for a in arguments]
    if operation in ("insert", "remove"):
        return _change_bag(arguments[0].type, values[0], values[1], +1 if operation == "insert" else -1)
    if operation == "push":
        assert isinstance(arguments[0].type, StackType)
        assert isinstance(values[0], tuple)
        return (*values[0], values[1]) if len(values[0]) < arguments[0].type.depth else values[0]
    if operation == "size":
        assert isinstance(values[0], frozenset | tuple)
        return sum(values[0]) if isinstance(arguments[0].type, BagType) else len(values[0])  # type: ignore[arg-type]
    if operation == "left":
        return (values[0] + 1) % env.players  # type: ignore[operator]
    if operation == "right":
        return (values[0] - 1) % env.players  # type: ignore[operator]
    raise ValueError(f"there is no operation '{operation}'")


def _change_bag(type_: m.Type, bag: Value, kind: Value, by: int) -> Value:
    assert isinstance(type_, BagType)
    assert isinstance(bag, tuple)
    place = ordinal(type_.element, kind)
    count = min(max(int(bag[place]) + by, 0), type_.most)  # type: ignore[arg-type]
    return (*bag[:place], count, *bag[place + 1 :])


_SIMPLE: Mapping[str, Callable[..., Value]] = {
    "not": lambda a: not a,
    "iff": lambda a, b: a == b,
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: a != b,
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b,
    "neg": lambda a: -a,
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": lambda a, b: a // b,
    "mod": lambda a, b: a % b,
    "min": min,
    "max": max,
    "in": lambda a, b: a in b,
    "subset": lambda a, b: a <= b,
    "union": lambda a, b: a | b,
    "inter": lambda a, b: a & b,
    "minus": lambda a, b: a - b,
    "set": lambda *members: frozenset(members),
    "pop": lambda stack: stack[:-1],
    "top": lambda stack: stack[-1] if stack else None,
    "some": lambda a: a,
    "is_none": lambda a: a is None,
    "otherwise": lambda a, b: b if a is None else a,
}


def key_ordinal(type_: m.Type, key: Value) -> int:
    """The place of a key in a map or bag."""
    assert isinstance(type_, MapType | BagType)
    element: IndexType = type_.key if isinstance(type_, MapType) else type_.element
    return ordinal(element, key)
