"""Reading by hand: the words of a text one by one, for expressions and types."""

from __future__ import annotations

import re

from rules_dsl.lexicon import RESERVED
from rules_dsl.source import SourceText, Span

DEEPEST = 50  # every stage walks trees by recursion: this keeps all of them far from Python's own limit

_TOKEN = re.compile(
    r"\s*(?:(?P<name>[A-Za-z_][A-Za-z0-9_]*)|(?P<number>[0-9]+)|(?P<sign>==|!=|<=|>=|\.\.|:=|->|.))?"
)


class ExpressionError(Exception):
    """No expression stands here."""

    def __init__(self, at: int, message: str, code: str = "E010") -> None:
        self.at = at
        self.code = code
        super().__init__(message)


class Reader:
    """The words of a text from an offset on, one at a time."""

    def __init__(self, text: SourceText, at: int) -> None:
        self.text = text
        self.end = at  # end of the last token consumed
        self._depth = 0
        self._read(at)

    def _read(self, at: int) -> None:
        match = _TOKEN.match(self.text, at)
        assert match is not None
        self.kind = match.lastgroup or "end"
        self.word = match.group(self.kind) if match.lastgroup else ""
        self.at = match.start(self.kind) if match.lastgroup else len(self.text)
        self._after = match.end()

    def enter(self) -> None:
        """One level deeper; refuses to go on where no rulebook needs to be."""
        self._depth += 1
        if self._depth > DEEPEST:
            raise ExpressionError(self.at, f"this is nested more than {DEEPEST} levels deep", "E002")

    def leave(self) -> None:
        self._depth -= 1

    def take(self) -> str:
        word = self.word
        self.end = self._after
        self._read(self._after)
        return word

    def span(self) -> Span:
        return Span(self.text, self.at, max(self.at + 1, self._after))

    def expect(self, word: str, why: str) -> None:
        if self.word != word:
            raise ExpressionError(self.at, f"expected '{word}' {why}")
        self.take()

    def name(self, what: str) -> str:
        if self.kind != "name" or self.word in RESERVED:
            raise ExpressionError(self.at, f"expected {what}")
        return self.take()
