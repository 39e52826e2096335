"""Where a piece of a rulebook stands: a named text, a span in it, and the line that shows it to a person.

Spans travel from the parser to every message the toolkit prints. They never take part in equality.
"""

from __future__ import annotations

from dataclasses import dataclass


class SourceText(str):
    """A rulebook's text that remembers the name of the file it came from."""

    name: str
    shown: str

    def __new__(cls, text: str, name: str = "<text>", shown: str | None = None) -> SourceText:
        made = super().__new__(cls, text)
        made.name = name
        made.shown = text if shown is None else shown
        return made


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of a source text, by character offsets."""

    text: SourceText
    start: int
    end: int

    @property
    def file(self) -> str:
        return self.text.name

    @property
    def line(self) -> int:
        return self.text.count("\n", 0, self.start) + 1

    @property
    def column(self) -> int:
        return self.start - (self.text.rfind("\n", 0, self.start) + 1) + 1

    @property
    def place(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"

    def excerpt(self) -> tuple[str, str]:
        """The source line and a second line with carets under the span."""
        begin = self.text.rfind("\n", 0, self.start) + 1
        finish = self.text.find("\n", self.start)
        finish = len(self.text) if finish < 0 else finish
        line = self.text.shown[begin:finish]
        width = max(1, min(self.end, finish) - self.start)
        lead = "".join("\t" if c == "\t" else " " for c in line[: self.start - begin])
        room = 160
        if len(line) > room:
            shift = max(0, self.start - begin - room // 2)
            line, lead = line[shift : shift + room], lead[shift:]
            width = min(width, max(1, room - len(lead)))
        return line, lead + "^" * width


def to(first: Span, last: Span) -> Span:
    """The span from the beginning of one to the end of another."""
    return Span(first.text, first.start, max(first.end, last.end))


NOWHERE = Span(SourceText("", "<built in>"), 0, 0)
