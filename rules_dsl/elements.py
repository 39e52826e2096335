"""The smallest elements of the grammar (pyparsing): words, signs, names, texts, citations, expressions, types.

Expressions and types are read by hand, each as one element. `node` makes an element give a syntax node.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import pyparsing as pp

from rules_dsl.expressions import parse_expression, parse_operand
from rules_dsl.lexicon import RESERVED
from rules_dsl.reader import ExpressionError
from rules_dsl.source import SourceText, Span
from rules_dsl.type_expressions import parse_type

_HEAD = re.compile(r"[A-Za-z_0-9-]+([ \t]+[A-Za-z_0-9]+)?|.")


class _Refusal(pp.ParseException):  # type: ignore[misc, unused-ignore]
    """What was read by hand is no expression or type; another element may still fit here."""

    def __init__(self, text: str, error: ExpressionError, element: pp.ParserElement) -> None:
        super().__init__(text, error.at, str(error), element)
        self.code = error.code


class _CommittedRefusal(pp.ParseSyntaxException):  # type: ignore[misc, unused-ignore]
    """The same where nothing else can fit."""

    def __init__(self, text: str, error: ExpressionError, element: pp.ParserElement) -> None:
        super().__init__(text, error.at, str(error), element)
        self.code = error.code


class ReadElement(pp.Token):  # type: ignore[misc, unused-ignore]
    """Something read by hand, an expression or a type, as one element of the grammar."""

    def __init__(
        self, read: Callable[[SourceText, int], tuple[object, int]], what: str, *, committed: bool
    ) -> None:
        super().__init__()
        self._what = what
        self._reads = read
        self._committed = committed
        self.set_name(what)

    def _generateDefaultName(self) -> str:  # noqa: N802 - pyparsing's name
        return self._what

    def parseImpl(self, instring: str, loc: int, do_actions: bool = True) -> tuple[int, Any]:  # noqa: N802 - pyparsing's name
        assert isinstance(instring, SourceText)
        try:
            found, end = self._reads(instring, loc)
        except ExpressionError as error:
            kind = _CommittedRefusal if self._committed else _Refusal
            raise kind(instring, error, self) from None
        return end, found


def _here(text: str, loc: int) -> Span:
    assert isinstance(text, SourceText)
    match = _HEAD.match(text, loc)
    return Span(text, loc, match.end() if match else loc + 1)


Builder = Callable[[Span, "Fields"], object]


def node(element: pp.ParserElement, build: Builder) -> pp.ParserElement:
    def act(text: str, loc: int, tokens: pp.ParseResults) -> list[object]:
        return [build(_here(text, loc), Fields(tokens))]

    return (
        pp.Group(element)
        .set_parse_action(lambda t, loc, toks: act(t, loc, toks[0]))
        .set_name(str(element.name))
    )


def many(element: pp.ParserElement, key: str) -> pp.ParserElement:
    return pp.Group(pp.ZeroOrMore(element))(key)


class Fields:
    """The named parts of what an element matched, without pyparsing's wrapping."""

    def __init__(self, tokens: pp.ParseResults) -> None:
        self._tokens = tokens

    def __getitem__(self, key: str | int) -> Any:
        found = self._tokens[key]
        while isinstance(found, pp.ParseResults) and len(found) == 1:
            found = found[0]
        return found

    def __len__(self) -> int:
        return len(self._tokens)

    def get(self, key: str) -> Any:
        return self[key] if key in self._tokens else None

    def each(self, key: str) -> tuple[Any, ...]:
        return tuple(self._tokens[key]) if key in self._tokens else ()

    def flat(self, key: str) -> tuple[Any, ...]:
        return tuple(_flatten(self._tokens[key])) if key in self._tokens else ()


def _flatten(tokens: pp.ParseResults) -> Iterator[Any]:
    for token in tokens:
        if isinstance(token, pp.ParseResults):
            yield from _flatten(token)
        else:
            yield token


def word(text: str) -> pp.ParserElement:
    return pp.Keyword(text, ident_chars=pp.alphanums + "_").set_name(f"'{text}'")


def skip(text: str) -> pp.ParserElement:
    return word(text).suppress()


def sign(text: str) -> pp.ParserElement:
    return pp.Literal(text).suppress().set_name(f"'{text}'")


def named(what: str) -> pp.ParserElement:
    reserved = "|".join(sorted(RESERVED))
    return pp.Regex(rf"(?!(?:{reserved})\b)[A-Za-z_][A-Za-z0-9_]*").set_name(what)


def listed(element: pp.ParserElement, key: str) -> pp.ParserElement:
    return pp.Group(pp.DelimitedList(element))(key)


def cited(tokens: Fields) -> tuple[str, ...]:
    return tokens.flat("cites")


name = named("a name")
number = pp.Regex(r"[0-9]+").set_name("a number").set_parse_action(lambda t: int(t[0]))
signed = pp.Regex(r"-?[0-9]+").set_name("a number").set_parse_action(lambda t: int(t[0]))
text = pp.Regex(r'"[^"\n]*"').set_name("a quoted text").set_parse_action(lambda t: t[0][1:-1])
clause = pp.Regex(r"[A-Z][A-Z0-9]*-[A-Z0-9]+").set_name("a clause id such as CORE-12")
cites = pp.Optional(skip("cite") - pp.Group(pp.DelimitedList(clause))("cites"))
more = pp.Optional(skip("cite") - pp.Group(pp.DelimitedList(clause)))
expr = ReadElement(parse_expression, "an expression", committed=True)
trial = ReadElement(parse_operand, "an expression", committed=False)
type_ = ReadElement(parse_type, "a type", committed=True)
