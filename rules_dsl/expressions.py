"""Expressions, by precedence climbing: a text and an offset in, a syntax node and the offset after it out.

The grammar calls this as one element. It is written by hand because expressions are most of a rulebook and
this is the part whose speed, depth and error places matter.
"""

from __future__ import annotations

import re

from rules_dsl import syntax as s
from rules_dsl.lexicon import RESERVED
from rules_dsl.reader import DEEPEST, ExpressionError, Reader
from rules_dsl.source import SourceText, to
from rules_dsl.terms import parts

_BINARY: dict[str, tuple[int, str]] = {
    "implies": (2, "right"),
    "iff": (2, "left"),
    "or": (3, "left"),
    "and": (4, "left"),
    "==": (6, "none"),
    "!=": (6, "none"),
    "<": (6, "none"),
    "<=": (6, "none"),
    ">": (6, "none"),
    ">=": (6, "none"),
    "in": (6, "none"),
    "otherwise": (7, "right"),
    "+": (8, "left"),
    "-": (8, "left"),
    "union": (8, "left"),
    "minus": (8, "left"),
    "inter": (8, "left"),
    "*": (9, "left"),
    "div": (9, "left"),
    "mod": (9, "left"),
}
_COMPREHENSIONS = ("count", "sum", "exists", "all", "map")


def parse_expression(text: SourceText, at: int) -> tuple[s.Expr, int]:
    """The longest expression that begins at the offset, and where it ends."""
    reader = Reader(text, at)
    found = _expression(reader, 0)
    _measure(found)
    return found, reader.end


def parse_operand(text: SourceText, at: int) -> tuple[s.Expr, int]:
    """An expression without operators: a name, a call, an index, something in brackets."""
    reader = Reader(text, at)
    found = _postfix(reader)
    _measure(found)
    return found, reader.end


def _measure(found: s.Expr) -> None:
    """Refuses an expression too deep for those who walk it; long chains of operators are deep on their left."""
    queue: list[tuple[s.Expr, int]] = [(found, 1)]
    while queue:
        expr, depth = queue.pop()
        if depth > DEEPEST:
            message = f"this expression is more than {DEEPEST} levels deep, or has as many operators in a row"
            raise ExpressionError(found.span.start, message, "E002")
        queue += [(part, depth + 1) for part in parts(expr)]


def _expression(reader: Reader, level: int) -> s.Expr:
    reader.enter()
    found = _operators(reader, level)
    reader.leave()
    return found


def _operators(reader: Reader, level: int) -> s.Expr:
    left = _prefix(reader)
    used_comparison = False
    while True:
        word = reader.word
        if word == "is" and level <= 6:
            reader.take()
            negated = reader.word == "not"
            if negated:
                reader.take()
            last = reader.span()
            reader.expect("none", "after 'is'")
            left = s.IsNone(left, negated, to(left.span, last))
            continue
        if word not in _BINARY:
            return left
        power, side = _BINARY[word]
        if power < level:
            return left
        if power == 6:
            if used_comparison:
                raise ExpressionError(reader.at, "comparisons do not chain; join them with 'and'")
            used_comparison = True
        reader.take()
        right = _expression(reader, power if side == "right" else power + 1)
        left = s.Binary(word, left, right, to(left.span, right.span))


def _prefix(reader: Reader) -> s.Expr:
    start = reader.span()
    if reader.word == "not":
        reader.take()
        operand = _expression(reader, 5)
        return s.Unary("not", operand, to(start, operand.span))
    if reader.word == "-":
        reader.take()
        operand = _expression(reader, 10)
        return s.Unary("-", operand, to(start, operand.span))
    if reader.word == "if":
        reader.take()
        condition = _expression(reader, 0)
        reader.expect("then", "after the condition of 'if'")
        then = _expression(reader, 0)
        reader.expect("else", "(an 'if' expression always has both branches)")
        otherwise = _expression(reader, 0)
        return s.Conditional(condition, then, otherwise, to(start, otherwise.span))
    return _postfix(reader)


def _postfix(reader: Reader) -> s.Expr:
    found = _primary(reader)
    while True:
        if reader.word == "[":
            reader.take()
            keys = _list(reader, "]")
            last = reader.span()
            reader.expect("]", "after the index")
            found = s.Index(found, keys, to(found.span, last))
        elif reader.word == ".":
            reader.take()
            last = reader.span()
            found = s.Attribute(
                found, reader.name("the name of an attribute after '.'"), to(found.span, last)
            )
        else:
            return found


def _list(reader: Reader, closing: str) -> tuple[s.Expr, ...]:
    items: list[s.Expr] = []
    while reader.word != closing:
        items.append(_expression(reader, 0))
        if reader.word != ",":
            break
        reader.take()
    return tuple(items)


def _primary(reader: Reader) -> s.Expr:
    start = reader.span()
    if reader.kind == "number":
        return s.Number(int(reader.take()), start)
    if reader.word == "(":
        reader.take()
        found = _expression(reader, 0)
        reader.expect(")", "to close '('")
        return found
    if reader.word == "{":
        return _braces(reader)
    if reader.word in _COMPREHENSIONS:
        return _comprehension(reader)
    if reader.word in ("none", "true", "false"):
        return s.Name(reader.take(), start)
    name = reader.name("an expression")
    if reader.word != "(":
        return s.Name(name, start)
    reader.take()
    arguments = _list(reader, ")")
    last = reader.span()
    reader.expect(")", "after the arguments")
    return s.Call(name, arguments, to(start, last))


def _binders(reader: Reader) -> tuple[s.Binder, ...]:
    binders: list[s.Binder] = []
    while True:
        start = reader.span()
        name = reader.name("a name to range over")
        reader.expect("in", f"and a set or type after '{name}'")
        domain = _expression(reader, 7)
        binders.append(s.Binder(name, domain, to(start, domain.span)))
        if reader.word != ",":
            return tuple(binders)
        reader.take()


def _comprehension(reader: Reader) -> s.Expr:
    start = reader.span()
    kind = reader.take()
    reader.expect("(", f"after '{kind}'")
    binders = _binders(reader)
    condition: s.Expr | None = None
    body: s.Expr | None = None
    if reader.word == "|":
        reader.take()
        condition = _expression(reader, 0)
    if kind in ("sum", "map"):
        reader.expect(":", f"and the value of each item of '{kind}'")
        body = _expression(reader, 0)
    last = reader.span()
    reader.expect(")", f"to close '{kind}('")
    if kind in ("exists", "all") and condition is None:
        raise ExpressionError(last.start, f"'{kind}' needs '| condition'")
    if kind == "map" and (condition is not None or len(binders) != 1):
        raise ExpressionError(last.start, "'map' has one name and no condition: map(p in Player: value)")
    return s.Comprehension(kind, binders, condition, body, to(start, last))


_SET_BUILDER = re.compile(r"\{\s*(?P<name>[A-Za-z_][A-Za-z0-9_]*)\s+in\b")


def _braces(reader: Reader) -> s.Expr:
    start = reader.span()
    builder = _SET_BUILDER.match(reader.text, reader.at)
    reader.take()
    if builder is not None and builder.group("name") not in RESERVED:
        binders = _binders(reader)
        condition: s.Expr | None = None
        if reader.word == "|":
            reader.take()
            condition = _expression(reader, 0)
        last = reader.span()
        reader.expect("}", "to close the set")
        if len(binders) != 1:
            raise ExpressionError(last.start, "a set ranges over one name: {p in Player | condition}")
        return s.Comprehension("set", binders, condition, None, to(start, last))
    members = _list(reader, "}")
    last = reader.span()
    reader.expect("}", "to close the set")
    return s.SetLiteral(members, to(start, last))
