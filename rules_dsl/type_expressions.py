"""Types as they are written: a text and an offset in, a syntax node and the offset after it out."""

from __future__ import annotations

from rules_dsl import syntax as s
from rules_dsl.reader import ExpressionError, Reader
from rules_dsl.source import SourceText, to


def parse_type(text: SourceText, at: int) -> tuple[s.TypeExpr, int]:
    """The type that begins at the offset, and where it ends."""
    reader = Reader(text, at)
    found = _type(reader)
    return found, reader.end


def _type(reader: Reader) -> s.TypeExpr:
    reader.enter()
    found = _simple(reader)
    while reader.word == "?":
        last = reader.span()
        reader.take()
        if isinstance(found, s.TypeOptional):
            raise ExpressionError(last.start, "an optional type cannot be optional again: one '?' is enough")
        found = s.TypeOptional(found, to(found.span, last))
    if reader.word == "->":
        reader.take()
        value = _type(reader)
        found = s.TypeMap(found, value, to(found.span, value.span))
    reader.leave()
    return found


def _simple(reader: Reader) -> s.TypeExpr:
    start = reader.span()
    if reader.kind == "number" or reader.word == "-":
        low = _number(reader)
        reader.expect("..", "and the largest value of the range")
        last = reader.span()
        return s.TypeRange(low, _number(reader), to(start, last))
    if reader.word == "(":
        reader.take()
        found = _type(reader)
        reader.expect(")", "to close '('")
        return found
    name = reader.name("a type")
    if name not in ("Set", "Bag", "Stack"):
        return s.TypeName(name, start)
    reader.expect("<", f"and the type of what it holds: {name}<...>")
    element = _type(reader)
    capacity: int | None = None
    if reader.word == ",":
        reader.take()
        capacity = _number(reader)
    last = reader.span()
    reader.expect(">", f"to close '{name}<'")
    return s.TypeApply(name, element, capacity, to(start, last))


def _number(reader: Reader) -> int:
    sign = 1
    if reader.word == "-":
        reader.take()
        sign = -1
    if reader.kind != "number":
        raise ExpressionError(reader.at, "expected a number")
    return sign * int(reader.take())
