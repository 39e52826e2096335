"""What the language says when something is wrong: coded, placed, with the other places involved and advice.

Every stage raises `RulebookError` with one or more diagnostics; nothing in this package fails on bad input
in any other way.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from rules_dsl.source import Span


@dataclass(frozen=True, slots=True)
class Note:
    """Another place that has to do with a diagnostic."""

    message: str
    span: Span


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One thing wrong with a rulebook."""

    code: str
    message: str
    span: Span
    advice: str = ""
    notes: tuple[Note, ...] = field(default=())

    def render(self) -> str:
        """The message as a person reads it, with the source line and a caret."""
        line, caret = self.span.excerpt()
        out = [
            f"error[{self.code}]: {self.message}",
            f"  --> {self.span.place}",
            f"   | {line}",
            f"   | {caret}",
        ]
        for note in self.notes:
            line, caret = note.span.excerpt()
            out += [f"  {note.message}", f"  --> {note.span.place}", f"   | {line}", f"   | {caret}"]
        if self.advice:
            out.append(f"  help: {self.advice}")
        return "\n".join(out)

    def to_json(self) -> dict[str, object]:
        """The same as plain data."""
        return {
            "code": self.code,
            "message": self.message,
            "file": self.span.file,
            "line": self.span.line,
            "column": self.span.column,
            "advice": self.advice,
            "notes": [
                {"message": n.message, "file": n.span.file, "line": n.span.line, "column": n.span.column}
                for n in self.notes
            ],
        }


class RulebookError(Exception):
    """A rulebook that cannot be used, with every reason found."""

    def __init__(self, diagnostics: Iterable[Diagnostic]) -> None:
        self.diagnostics = tuple(diagnostics)
        super().__init__("\n\n".join(d.render() for d in self.diagnostics))


def fail(code: str, message: str, span: Span, advice: str = "", notes: Iterable[Note] = ()) -> RulebookError:
    """One diagnostic, ready to raise."""
    return RulebookError([Diagnostic(code, message, span, advice, tuple(notes))])
