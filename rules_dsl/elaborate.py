"""Expressions, from syntax to model: names resolved, types inferred, conversions made explicit.

`infer` gives a typed expression or raises with a place; `check` fits it to the type a place wants. Integer
expressions carry the interval of values they can take, so that a value that could leave the range of the
variable it is given to is refused before any game is played.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from rules_dsl import model as m
from rules_dsl import syntax as s
from rules_dsl.diagnostics import fail
from rules_dsl.scope import MOST_MEMBERS, Scope, coerce, described, lone_type, resolve
from rules_dsl.source import Span
from rules_dsl.types import (
    BOOL,
    BagType,
    BoolType,
    EnumType,
    IndexType,
    IntType,
    MapType,
    OptionalType,
    PlayerType,
    SetType,
    StackType,
    Type,
    cardinality,
    is_index,
    join,
)
from rules_dsl.walk import every

LARGEST = 1_000_000_000


def infer(expr: s.Expr, scope: Scope, wanted: Type | None = None) -> m.Expr:
    """The typed expression; `wanted` only helps to understand names and literals."""
    match expr:
        case s.Number(value):
            return m.Literal(value, IntType(value, value))
        case s.Name():
            return resolve(expr, scope, wanted)
        case s.Index():
            return _index(expr, scope)
        case s.Attribute():
            return _attribute(expr, scope)
        case s.Call():
            return _call(expr, scope)
        case s.Unary("not", operand):
            return m.Apply("not", (truth(operand, scope),), BOOL)
        case s.Unary(_, operand):
            number, type_ = _number(operand, scope)
            return _folded("neg", (number,), IntType(-type_.high, -type_.low))
        case s.Binary():
            return _binary(expr, scope)
        case s.Conditional():
            return _conditional(expr, scope, wanted)
        case s.Comprehension():
            return _comprehension(expr, scope)
        case s.SetLiteral():
            return _set_literal(expr, scope, wanted)
        case s.IsNone(operand, negated):
            value_ = infer(operand, scope)
            if not isinstance(value_.type, OptionalType):
                raise fail(
                    "E202", f"'is none' asks about an optional value, this is {value_.type}", operand.span
                )
            test = m.Apply("is_none", (value_,), BOOL)
            return m.Apply("not", (test,), BOOL) if negated else test
        case s.ModuleIn(module):
            return m.Parameter(m.module_parameter(module), BOOL)
        case _:
            raise fail("E200", "this cannot be understood", expr.span)


def check(expr: s.Expr, scope: Scope, wanted: Type) -> m.Expr:
    """The expression as a value of the wanted type."""
    return coerce(infer(expr, scope, wanted), wanted, expr.span)


def truth(expr: s.Expr, scope: Scope) -> m.Expr:
    return check(expr, scope, BOOL)


def _index(expr: s.Index, scope: Scope) -> m.Expr:
    if isinstance(expr.base, s.Name) and expr.base.text in scope.tables and expr.base.text not in scope.bound:
        table = scope.tables[expr.base.text]
        if len(expr.keys) != len(table.keys):
            raise fail(
                "E211", f"table '{table.name}' has {len(table.keys)} key(s), not {len(expr.keys)}", expr.span
            )
        keys = tuple(check(k, scope, t) for k, t in zip(expr.keys, table.keys, strict=True))
        return m.Lookup(table.name, keys, table.type)
    found = infer(expr.base, scope)
    for key in expr.keys:
        found = at(found, key, scope, expr.span)
    return found


def at(base: m.Expr, key: s.Expr, scope: Scope, span: Span) -> m.Expr:
    """The entry of a map or bag."""
    match base.type:
        case MapType(key_type, value):
            return m.At(base, check(key, scope, key_type), value)
        case BagType(element, most):
            return m.At(base, check(key, scope, element), IntType(0, most))
        case _:
            raise fail("E212", f"only maps, bags and tables have entries, this is {base.type}", span)


def _attribute(expr: s.Attribute, scope: Scope) -> m.Expr:
    base = infer(expr.base, scope)
    if not isinstance(base.type, EnumType):
        raise fail("E213", f"only enum members have attributes, this is {base.type}", expr.span)
    table = scope.tables.get(f"{base.type.name}.{expr.name}")
    if table is None:
        known = ", ".join(t.split(".")[1] for t in scope.tables if t.startswith(f"{base.type.name}."))
        raise fail(
            "E214",
            f"{base.type.name} has no attribute '{expr.name}'",
            expr.span,
            f"it has: {known or 'none'}",
        )
    return m.Lookup(table.name, (base,), table.type)


def _number(expr: s.Expr, scope: Scope) -> tuple[m.Expr, IntType]:
    value = infer(expr, scope)
    if not isinstance(value.type, IntType):
        raise fail("E215", f"a number is wanted here, this is {value.type}", expr.span)
    return value, value.type


def _folded(operation: str, arguments: tuple[m.Expr, ...], type_: IntType) -> m.Expr:
    if type_.low == type_.high and all(isinstance(a, m.Literal) for a in arguments):
        return m.Literal(type_.low, type_)
    return m.Apply(operation, arguments, type_)


_COMPARE = {"<": "lt", "<=": "le", ">": "gt", ">=": "ge"}
_LOGIC = ("and", "or", "implies", "iff")
_SETS = ("union", "inter", "minus")


def _binary(expr: s.Binary, scope: Scope) -> m.Expr:
    operator = expr.operator
    if operator in _LOGIC:
        return m.Apply(operator, (truth(expr.left, scope), truth(expr.right, scope)), BOOL)
    if operator in ("==", "!="):
        return _equality(expr, scope)
    if operator in _COMPARE:
        left, right = infer(expr.left, scope), infer(expr.right, scope)
        comparable = (isinstance(left.type, IntType) and isinstance(right.type, IntType)) or (
            isinstance(left.type, PlayerType) and isinstance(right.type, PlayerType)
        )
        if not comparable:
            raise fail("E216", f"{left.type} and {right.type} have no order", expr.span)
        return m.Apply(_COMPARE[operator], (left, right), BOOL)
    if operator == "in":
        right = infer(expr.right, scope)
        if not isinstance(right.type, SetType):
            raise fail("E217", f"'in' asks about a set, this is {right.type}", expr.right.span)
        return m.Apply("in", (check(expr.left, scope, right.type.element), right), BOOL)
    if operator in _SETS:
        left = infer(expr.left, scope)
        right = infer(expr.right, scope, left.type)
        if isinstance(left.type, SetType) and _is_empty(left):
            left = infer(expr.left, scope, right.type)
        if not isinstance(left.type, SetType) or left.type != right.type:
            raise fail(
                "E218", f"'{operator}' joins sets of one kind, not {left.type} and {right.type}", expr.span
            )
        return m.Apply(operator, (left, right), left.type)
    if operator == "otherwise":
        left = infer(expr.left, scope)
        if not isinstance(left.type, OptionalType) or left.type.inner is None:
            raise fail(
                "E219", f"'otherwise' follows a value that may be none, this is {left.type}", expr.left.span
            )
        right = infer(expr.right, scope, left.type.inner)
        both = join(left.type.inner, right.type)
        if both is None or isinstance(both, OptionalType):
            raise fail("E201", f"this is {right.type}, but {left.type.inner} is wanted", expr.right.span)
        return m.Apply("otherwise", (left, right), both)
    return _arithmetic(expr, scope)


def _is_empty(expr: m.Expr) -> bool:
    return isinstance(expr, m.Literal) and expr.value == frozenset()


def _equality(expr: s.Binary, scope: Scope) -> m.Expr:
    if isinstance(expr.left, s.Name | s.SetLiteral):
        right = infer(expr.right, scope) if not isinstance(expr.right, s.Name | s.SetLiteral) else None
        left = infer(expr.left, scope, right.type if right else lone_type(expr.right, scope))
        right = right or infer(expr.right, scope, left.type)
    else:
        left = infer(expr.left, scope)
        right = infer(expr.right, scope, left.type)
    both = join(left.type, right.type)
    if both is None:
        raise fail("E220", f"{described(left.type)} and {described(right.type)} are never equal", expr.span)
    if isinstance(both, OptionalType):
        left, right = coerce(left, both, expr.left.span), coerce(right, both, expr.right.span)
    return m.Apply("eq" if expr.operator == "==" else "ne", (left, right), BOOL)


def _arithmetic(expr: s.Binary, scope: Scope) -> m.Expr:
    left, a = _number(expr.left, scope)
    right, b = _number(expr.right, scope)
    match expr.operator:
        case "+":
            made, name = IntType(a.low + b.low, a.high + b.high), "add"
        case "-":
            made, name = IntType(a.low - b.high, a.high - b.low), "sub"
        case "*":
            ends = [x * y for x in (a.low, a.high) for y in (b.low, b.high)]
            made, name = IntType(min(ends), max(ends)), "mul"
        case "div" | "mod":
            if not isinstance(right, m.Literal) or b.low < 1:
                raise fail("E221", f"'{expr.operator}' needs a positive number written out", expr.right.span)
            name = expr.operator
            whole = IntType(a.low // b.low, a.high // b.low)
            rest = IntType(a.low % b.low, a.high % b.low) if a.low == a.high else IntType(0, b.low - 1)
            made = whole if name == "div" else rest
        case _:
            raise fail("E200", f"'{expr.operator}' cannot be understood", expr.span)
    if max(abs(made.low), abs(made.high)) > LARGEST:
        raise fail("E222", "this number can grow too large", expr.span)
    return _folded(name, (left, right), made)


def _conditional(expr: s.Conditional, scope: Scope, wanted: Type | None) -> m.Expr:
    condition = truth(expr.condition, scope)
    then = infer(expr.then, scope, wanted)
    otherwise = infer(expr.otherwise, scope, wanted or then.type)
    both = join(then.type, otherwise.type)
    if both is None or both == OptionalType(None):
        raise fail("E223", f"the branches are {then.type} and {otherwise.type}", expr.span)
    return m.Apply(
        "if",
        (condition, coerce(then, both, expr.then.span), coerce(otherwise, both, expr.otherwise.span)),
        both,
    )


def bind_ranges(binders: tuple[s.Binder, ...], scope: Scope) -> tuple[tuple[m.Range, ...], Scope]:
    """The ranges of a quantifier and the scope inside it."""
    ranges: list[m.Range] = []
    for binder in binders:
        domain, type_ = domain_of(binder.domain, scope)
        ranges.append(m.Range(binder.name, type_, domain))
        scope = scope.bind(binder.name, type_, binder.span)
    return tuple(ranges), scope


def domain_of(expr: s.Expr, scope: Scope) -> tuple[m.Expr | None, IndexType]:
    """What `in` ranges over: a type (then no expression) or a set."""
    if isinstance(expr, s.Name) and expr.text in scope.types and expr.text not in scope.bound:
        type_ = scope.types[expr.text]
        if not is_index(type_) or cardinality(type_) > MOST_MEMBERS:
            raise fail("E224", f"{type_} has too many values to go through", expr.span)
        return None, type_
    found = infer(expr, scope)
    if not isinstance(found.type, SetType):
        raise fail("E225", f"a set or a type is wanted after 'in', this is {found.type}", expr.span)
    return found, found.type.element


def _comprehension(expr: s.Comprehension, scope: Scope) -> m.Expr:
    ranges, inside = bind_ranges(expr.binders, scope)
    steps = 1
    for r in ranges:
        steps *= max(1, cardinality(r.type))
    condition = truth(expr.condition, inside) if expr.condition is not None else None
    match expr.kind:
        case "count":
            return m.Quantify("count", ranges, condition, None, IntType(0, steps))
        case "exists" | "all":
            return m.Quantify(expr.kind, ranges, condition, None, BOOL)
        case "set":
            return m.Quantify("set", ranges, condition, None, SetType(ranges[0].type))
        case "sum":
            assert expr.body is not None
            body, type_ = _number(expr.body, inside)
            made = IntType(min(0, steps * type_.low), max(0, steps * type_.high))
            return m.Quantify("sum", ranges, condition, body, made)
        case _:
            assert expr.body is not None
            if ranges[0].domain is not None:
                raise fail("E227", "a map has an entry for every value of a type, not of a set", expr.span)
            value = infer(expr.body, inside)
            return m.Quantify("map", ranges, None, value, MapType(ranges[0].type, value.type))


def _set_literal(expr: s.SetLiteral, scope: Scope, wanted: Type | None) -> m.Expr:
    if isinstance(wanted, OptionalType):
        wanted = wanted.inner
    element = wanted.element if isinstance(wanted, SetType) else None
    if not expr.members:
        return m.Literal(frozenset(), SetType(element or BOOL))
    members = [infer(x, scope, element) for x in expr.members]
    if element is None:
        found: Type | None = members[0].type
        for x in members[1:]:
            found = join(found, x.type) if found is not None else None
        if found is None or not is_index(found):
            raise fail("E228", "the members of a set are of one simple type", expr.span)
        element = found
    assert element is not None
    values = tuple(coerce(x, element, x_.span) for x, x_ in zip(members, expr.members, strict=True))
    if all(isinstance(v, m.Literal) for v in values):
        return m.Literal(frozenset(v.value for v in values if isinstance(v, m.Literal)), SetType(element))
    return m.Apply("set", values, SetType(element))


def _call(expr: s.Call, scope: Scope) -> m.Expr:
    signature = scope.signature(expr.name)
    if signature is not None:
        wanted, result = signature
        if len(wanted) != len(expr.arguments):
            raise fail(
                "E204", f"'{expr.name}' takes {len(wanted)} argument(s), not {len(expr.arguments)}", expr.span
            )
        arguments = tuple(check(a, scope, t) for a, t in zip(expr.arguments, wanted, strict=True))
        return m.Invoke(expr.name, arguments, result)
    built_in = _BUILT_IN.get(expr.name)
    if built_in is None or (expr.name in ("at", "knows", "possible") and not scope.in_property):
        known = ", ".join(sorted(_BUILT_IN))
        raise fail("E229", f"there is no definition '{expr.name}'", expr.span, f"built in: {known}")
    count, build = built_in
    if len(expr.arguments) != count:
        raise fail("E204", f"'{expr.name}' takes {count} argument(s), not {len(expr.arguments)}", expr.span)
    return build(expr, scope)


def _size(expr: s.Call, scope: Scope) -> m.Expr:
    value = infer(expr.arguments[0], scope)
    match value.type:
        case SetType(element):
            return m.Apply("size", (value,), IntType(0, cardinality(element)))
        case BagType(element, most):
            return m.Apply("size", (value,), IntType(0, most * cardinality(element)))
        case StackType(_, depth):
            return m.Apply("size", (value,), IntType(0, depth))
        case _:
            raise fail("E230", f"only sets, bags and stacks have a size, this is {value.type}", expr.span)


def _neighbour(expr: s.Call, scope: Scope) -> m.Expr:
    player = scope.types["Player"]
    return m.Apply(expr.name, (check(expr.arguments[0], scope, player),), player)


def _extreme(expr: s.Call, scope: Scope) -> m.Expr:
    (left, a), (right, b) = _number(expr.arguments[0], scope), _number(expr.arguments[1], scope)
    pick = min if expr.name == "min" else max
    return _folded(expr.name, (left, right), IntType(pick(a.low, b.low), pick(a.high, b.high)))


def _on_bag(expr: s.Call, scope: Scope) -> m.Expr:
    bag = infer(expr.arguments[0], scope)
    if not isinstance(bag.type, BagType):
        raise fail("E231", f"'{expr.name}' works on a bag, this is {bag.type}", expr.span)
    return m.Apply(expr.name, (bag, check(expr.arguments[1], scope, bag.type.element)), bag.type)


def _on_stack(expr: s.Call, scope: Scope) -> m.Expr:
    stack = infer(expr.arguments[0], scope)
    if not isinstance(stack.type, StackType):
        raise fail("E232", f"'{expr.name}' works on a stack, this is {stack.type}", expr.span)
    if expr.name == "push":
        return m.Apply("push", (stack, check(expr.arguments[1], scope, stack.type.element)), stack.type)
    type_: Type = OptionalType(stack.type.element) if expr.name == "top" else stack.type
    return m.Apply(expr.name, (stack,), type_)


def _subset(expr: s.Call, scope: Scope) -> m.Expr:
    left = infer(expr.arguments[0], scope)
    right = infer(expr.arguments[1], scope, left.type)
    if not isinstance(left.type, SetType) or left.type != right.type:
        raise fail("E218", f"'subset' compares sets of one kind, not {left.type} and {right.type}", expr.span)
    return m.Apply("subset", (left, right), BOOL)


def _at_phase(expr: s.Call, scope: Scope) -> m.Expr:
    argument = expr.arguments[0]
    if not isinstance(argument, s.Name) or argument.text not in scope.phases:
        raise fail(
            "E233",
            "'at' takes the name of a phase",
            argument.span,
            f"phases: {', '.join(sorted(scope.phases))}",
        )
    return m.InPhase(argument.text)


def _knows(expr: s.Call, scope: Scope) -> m.Expr:
    player = check(expr.arguments[0], scope, scope.types["Player"])
    fact = truth(expr.arguments[1], scope)
    if any(isinstance(e, m.Knows) for part in (player, fact) for e in every(part)):
        raise fail(
            "E234",
            f"what a seat knows about another's knowledge is not decided: no '{expr.name}' within another",
            expr.span,
        )
    if expr.name == "knows":
        return m.Knows(player, fact)
    denied = m.Knows(player, m.Apply("not", (fact,), BOOL))
    return m.Apply("not", (denied,), BOOL)


_BUILT_IN: Mapping[str, tuple[int, Callable[[s.Call, Scope], m.Expr]]] = {
    "size": (1, _size),
    "left": (1, _neighbour),
    "right": (1, _neighbour),
    "min": (2, _extreme),
    "max": (2, _extreme),
    "insert": (2, _on_bag),
    "remove": (2, _on_bag),
    "push": (2, _on_stack),
    "pop": (1, _on_stack),
    "top": (1, _on_stack),
    "subset": (2, _subset),
    "at": (1, _at_phase),
    "knows": (2, _knows),
    "possible": (2, _knows),
}

__all__ = ["BoolType", "Scope", "at", "bind_ranges", "check", "coerce", "domain_of", "infer", "truth"]
