"""The words and characters of the language, and the checks made on a text before it is parsed.

`prepare` takes raw text and gives the text the grammar reads: same length, comments blanked. It refuses, with
a place, what no rulebook needs: huge files, foreign characters outside strings, unclosed strings and
comments, unbalanced or very deep brackets.
"""

from __future__ import annotations

import re
import unicodedata

from rules_dsl.diagnostics import Note, fail
from rules_dsl.source import SourceText, Span

MOST_CHARACTERS = 60_000
DEEPEST_NESTING = 40
DEEPEST_BRACES = 16
MOST_DIGITS = 6

_OPERATORS = "and or not implies iff in is union inter minus div mod otherwise if then else"
_QUANTIFIERS = "count sum exists all map"
_VALUES = "none true false"
_CHOOSING = "each one chance chooses may choose deals require ought"
_DOING = "publish show win draw next continue cite"
_DECLARING = "game module phase extend override def enum table param ruling"
RESERVED = frozenset(" ".join((_OPERATORS, _QUANTIFIERS, _VALUES, _CHOOSING, _DOING, _DECLARING)).split())

NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_PIECE = re.compile(
    r"""(?P<string>"[^"\n]*")|(?P<open_string>"[^\n]*)|(?P<comment>//[^\n]*)|(?P<open>[({\[])|(?P<close>[)}\]])
    |(?P<long>[0-9]{7,})|(?P<word>[A-Za-z0-9_ \t\r\n]+)|(?P<sign>[-+*=<>!:.,|?;])|(?P<other>.)""",
    re.VERBOSE | re.DOTALL,
)
_PARTNER = {")": "(", "}": "{", "]": "["}


def prepare(text: str, name: str = "<text>") -> SourceText:
    """The text with its comments blanked out, or an error that says where it cannot be a rulebook."""
    source = SourceText(text, name)
    if len(text) > MOST_CHARACTERS:
        raise fail(
            "E001",
            f"this file has {len(text):,} characters; a rulebook has at most {MOST_CHARACTERS:,}",
            Span(source, 0, 1),
            "split it into several modules",
        )
    pieces: list[str] = []
    stack: list[int] = []
    for match in _PIECE.finditer(text):
        kind, piece, at = match.lastgroup, match.group(), match.start()
        span = Span(source, at, match.end())
        if kind == "comment":
            pieces.append(" " * len(piece))
            continue
        pieces.append(piece)
        if kind == "open":
            stack.append(at)
            braces = sum(text[opened] == "{" for opened in stack)
            if len(stack) > DEEPEST_NESTING or braces > DEEPEST_BRACES:
                what, most = (
                    ("braces", DEEPEST_BRACES) if braces > DEEPEST_BRACES else ("brackets", DEEPEST_NESTING)
                )
                raise fail(
                    "E002",
                    f"{what} are nested deeper than {most} levels",
                    span,
                    "give the inner part a name with 'def', or make it a phase of its own",
                )
        elif kind == "close":
            if not stack:
                raise fail("E003", f"'{piece}' closes nothing", span, "remove it, or open it before")
            opened = stack.pop()
            if text[opened] != _PARTNER[piece]:
                raise fail(
                    "E003",
                    f"'{piece}' does not close '{text[opened]}'",
                    span,
                    notes=[Note("opened here:", Span(source, opened, opened + 1))],
                )
        elif kind == "open_string":
            raise fail("E004", 'this text is not closed on its line: a second " is missing', span)
        elif kind == "long":
            raise fail("E005", f"a number has at most {MOST_DIGITS} digits", span)
        elif kind == "other":
            label = unicodedata.name(piece, f"U+{ord(piece):04X}").lower()
            raise fail(
                "E006",
                f"the character {piece!r} ({label}) has no meaning here",
                span,
                "outside quoted texts a rulebook is written in plain ASCII",
            )
    if stack:
        opened = stack[-1]
        raise fail("E003", f"'{text[opened]}' is never closed", Span(source, opened, opened + 1))
    return SourceText("".join(pieces), name, shown=text)
