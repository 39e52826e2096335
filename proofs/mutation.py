"""Mutants: a rulebook with one small mistake in it, to see whether the properties and examples would notice.

`mutants` takes the text of a rulebook and gives every mistake of a few kinds, each a replacement of one stretch of the
text: numbers and table entries off by one, comparisons, logic, members of enums, seats to the left for seats to the
right, the next phase, who sees a choice; requirements, effects and checks left out. It knows no game.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any

from rules_dsl import parse
from rules_dsl import syntax as s
from rules_dsl.source import SourceText, Span

_BLANKED = re.compile(
    r"//[^\n]*"  # comments
    r'|"(?:[^"\\\n]|\\.)*"'  # texts
    r"|\bcite\b\s+[A-Za-z0-9_-]+(?:\s*,\s*[A-Z][A-Z0-9]*-[A-Za-z0-9-]+)*"  # clauses
)
_TOKEN = re.compile(r"->|\b(?:Set|Bag|Stack)<[^>]*>|[A-Za-z_][A-Za-z0-9_]*|\d+|\.\.|:=|==|!=|<=|>=|[<>+*-]")

SWAPS: Mapping[str, tuple[str, ...]] = {
    "==": ("!=",),
    "!=": ("==",),
    ">=": (">", "<="),
    "<=": ("<", ">="),
    ">": (">=",),
    "<": ("<=",),
    "+": ("-",),
    "-": ("+",),
    "and": ("or",),
    "or": ("and",),
    "implies": ("and",),
    "not": ("",),
    "true": ("false",),
    "false": ("true",),
    "left": ("right",),
    "right": ("left",),
    "min": ("max",),
    "max": ("min",),
    "all": ("exists",),
    "exists": ("all",),
    "union": ("inter",),
}


@dataclass(frozen=True)
class Mutant:
    """One mistake: `old` at `start` of a file's text became `new`, or the `dropped`-th part of its kind was left out."""

    file: str
    start: int
    old: str
    new: str
    kind: str
    line: int
    dropped: int | None = None

    @property
    def key(self) -> str:
        return f"{self.file}:{self.start}:{self.kind}:{self.old}:{self.new}"

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.kind}: {self.old} -> {self.new or '(nothing)'}"


def mutants(text: str, file: str, book: s.Rulebook, library: Sequence[s.Rulebook]) -> list[Mutant]:
    """Every mutant of one rulebook; `library` are all rulebooks, whose enums and phases it may name."""
    made: dict[str, Mutant] = {}
    for mutant in (*_token_mutants(text, file, library), *_left_out(text, file, book)):
        made.setdefault(mutant.key, mutant)
    return sorted(made.values(), key=lambda x: (x.start, x.kind, x.new))


def mutated(text: str, book: s.Rulebook, mutant: Mutant) -> s.Rulebook:
    """The rulebook with the mistake in it; raises `RulebookError` if it can no longer be read."""
    if mutant.dropped is None:
        end = mutant.start + len(mutant.old)
        assert text[mutant.start : end] == mutant.old
        return parse(text[: mutant.start] + mutant.new + text[end:], mutant.file)
    kind = next(kind for kind, what in _LEFT_OUT if what == mutant.kind)
    gone = list(_nodes(book, kind))[mutant.dropped]
    made = _without(book, gone)
    assert isinstance(made, s.Rulebook)
    return made


# --- one word for another ---


def _token_mutants(text: str, file: str, library: Sequence[s.Rulebook]) -> Iterator[Mutant]:
    code = _BLANKED.sub(lambda found: " " * len(found.group()), text)
    members = dict(_siblings(library))
    phases = sorted({p.name for book in library for p in _nodes(book, s.PhaseDecl)})
    source = SourceText(text, file)
    before = ["", "", ""]
    for found in _TOKEN.finditer(code):
        word, start = found.group(), found.start()
        rest = code[found.end() : found.end() + 40]
        if text[found.end() :].lstrip().startswith('"') and word in members:
            before = [*before[1:], word]
            continue  # an alternative of a ruling where it is declared
        for new, kind in _replacements(word, before, rest, members, phases):
            yield Mutant(file, start, word, new, kind, Span(source, start, start).line)
        before = [*before[1:], word]


def _replacements(
    word: str, before: Sequence[str], rest: str, members: Mapping[str, str], phases: Sequence[str]
) -> Iterator[tuple[str, str]]:
    last, follows = before[-1], rest.lstrip()
    called = rest.startswith("(")
    if word.isdigit():
        in_range = last == ".." or follows.startswith("..")
        of_players = "players" in (last, before[0])
        # the bounds of a type are left alone, a wider one changes nothing; so is the key of a table's row
        if (not in_range or of_players) and not follows.startswith(":"):
            yield str(int(word) + 1), "number"
            if int(word) > 0:
                yield str(int(word) - 1), "number"
    elif last == "next" and word in phases:
        yield phases[(phases.index(word) + 1) % len(phases)], "next phase"
        yield phases[(phases.index(word) - 1) % len(phases)], "next phase"
    elif word in SWAPS and (called or word not in _CALLED):
        for new in SWAPS[word]:
            yield new, "logic" if word.isalpha() else "operator"
    elif word in _SEEN:
        declares = re.match(r"\s*\w+\s*:", rest) is not None
        yield ("hidden" if declares and word == "public" else _SEEN[word]), "who sees it"
    elif word in members and last not in _DECLARING and not follows.startswith("("):
        yield members[word], "member"


_CALLED = ("left", "right", "min", "max", "all", "exists")
_SEEN = {"public": "secret", "secret": "public", "own": "public"}
_DECLARING = ("enum", "ruling", "module", "game", "phase", ".", "{", "for")


def _siblings(library: Sequence[s.Rulebook]) -> Iterator[tuple[str, str]]:
    """For every member of an enum or alternative of a ruling the one after it."""
    groups: dict[str, list[str]] = {}
    for book in library:
        for enum in _nodes(book, s.EnumDecl):
            groups.setdefault(enum.name, []).extend(member.name for member in enum.members)
        for ruling in _nodes(book, s.RulingDecl):
            groups.setdefault(f"ruling {ruling.name}", []).extend(a.name for a in ruling.alternatives)
    for names in groups.values():
        for i, name in enumerate(names):
            if len(names) > 1:
                yield name, names[(i + 1) % len(names)]


# --- something left out ---

_LEFT_OUT: tuple[tuple[type, str], ...] = (
    (s.Require, "requirement dropped"),
    (s.Assign, "effect dropped"),
    (s.Show, "showing dropped"),
    (s.SetupCheck, "check dropped"),
    (s.If, "branch dropped"),
)


def _left_out(text: str, file: str, book: s.Rulebook) -> Iterator[Mutant]:
    for kind, what in _LEFT_OUT:
        for i, node in enumerate(_nodes(book, kind)):
            span = node.span
            yield Mutant(file, span.start, text[span.start : span.end], "", what, span.line, i)


def _without(value: Any, gone: Any) -> Any:
    """The tree without one of its nodes."""
    if isinstance(value, tuple):
        return tuple(_without(part, gone) for part in value if part is not gone)
    if is_dataclass(value) and not isinstance(value, type):
        changed = {f.name: _without(getattr(value, f.name), gone) for f in fields(value) if f.name != "span"}
        return replace(value, **changed)
    return value


def _nodes(value: Any, kind: type) -> Iterator[Any]:
    """Every part of a syntax tree of one kind."""
    if isinstance(value, kind):
        yield value
    if is_dataclass(value) and not isinstance(value, type):
        for field in fields(value):
            if field.name != "span":
                yield from _nodes(getattr(value, field.name), kind)
    elif isinstance(value, tuple):
        for part in value:
            yield from _nodes(part, kind)


def sample(made: Iterable[Mutant], one_in: int) -> list[Mutant]:
    """A sample that is always the same: every so many-th mutant of each kind."""
    by_kind: dict[str, list[Mutant]] = {}
    for mutant in made:
        by_kind.setdefault(mutant.kind, []).append(mutant)
    return [mutant for group in by_kind.values() for mutant in group[:: max(1, one_in)]]
