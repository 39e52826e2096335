"""Mutants: a rulebook with one small mistake in it, to see whether the properties and examples would notice.

`mutants` takes the text of a rulebook and gives every mistake of a few kinds. Some replace one word: numbers and table
entries off by one, comparisons, logic, members of enums, variables of the same type, seats to the left for seats to the
right, the next phase, who sees or makes a choice; some exchange two next phases. Others leave a part out or put it
elsewhere: requirements, effects, checks, conditions, overrides, endings, the place of a phase. It knows no game.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from itertools import combinations
from typing import Any

from rules_dsl import parse
from rules_dsl import syntax as s
from rules_dsl.source import SourceText, Span

_BLANKED = re.compile(
    r"//[^\n]*"  # comments
    r'|"(?:[^"\\\n]|\\.)*"'  # texts
    r"|\bcite\b\s+[A-Za-z0-9_-]+(?:\s*,\s*[A-Z][A-Z0-9]*-[A-Za-z0-9-]+)*"  # clauses
)
_NEXT = re.compile(r"\bnext\s+([a-z_]\w*)")
_TABLE = re.compile(r"\btable\b[^{]*\{[^}]*\}")
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
    "*": ("+",),
    "mod": ("div",),
    "div": ("mod",),
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
    """One mistake: `old` at `start` of a file's text became `new`, or the `dropped`-th part of its kind was changed."""

    file: str
    start: int
    old: str
    new: str
    kind: str
    line: int
    dropped: int | None = None
    words: str = ""  # what was exchanged, where `old` and `new` are more than that

    @property
    def change(self) -> str:
        return self.words or f"{self.old} -> {self.new or '(nothing)'}"

    @property
    def key(self) -> str:
        return f"{self.file}:{self.start}:{self.kind}:{self.words or f'{self.old}:{self.new}'}"

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.kind}: {self.change}"


def mutants(text: str, file: str, book: s.Rulebook, library: Sequence[s.Rulebook]) -> list[Mutant]:
    """Every mutant of one rulebook; `library` are all rulebooks, whose enums and phases it may name."""
    made: dict[str, Mutant] = {}
    changed = (
        *_token_mutants(text, file, book, library),
        *_swapped(text, file),
        *_changed_parts(text, file, book),
    )
    for mutant in changed:
        made.setdefault(mutant.key, mutant)
    return sorted(made.values(), key=lambda x: (x.start, x.kind, x.new))


def mutated(text: str, book: s.Rulebook, mutant: Mutant) -> s.Rulebook:
    """The rulebook with the mistake in it; raises `RulebookError` if it can no longer be read."""
    if mutant.dropped is None:
        end = mutant.start + len(mutant.old)
        assert text[mutant.start : end] == mutant.old
        return parse(text[: mutant.start] + mutant.new + text[end:], mutant.file)
    change = next(c for c in _CHANGES if c.what == mutant.kind and c.new == mutant.new)
    part = list(_parts(book, change))[mutant.dropped]
    made = _with(book, part, change.made(part))
    assert isinstance(made, s.Rulebook)
    return made


def _code(text: str) -> str:
    """The text with blanks for comments, quoted texts and clauses."""
    return _BLANKED.sub(lambda found: " " * len(found.group()), text)


# --- two words exchanged ---


def _swapped(text: str, file: str) -> Iterator[Mutant]:
    """Every two phases the game goes on to, one taken for the other."""
    source = SourceText(text, file)
    steps = [(found.start(1), found.group(1)) for found in _NEXT.finditer(_code(text))]
    for (start, one), (later, two) in combinations(steps, 2):
        if one != two:
            line, other = (Span(source, place, place).line for place in (start, later))
            between = text[start + len(one) : later]
            old, new = f"{one}{between}{two}", f"{two}{between}{one}"
            words = f"{one} <-> {two} of line {other - line} below"
            yield Mutant(file, start, old, new, "next phases swapped", line, words=words)


# --- one word for another ---


def _token_mutants(text: str, file: str, book: s.Rulebook, library: Sequence[s.Rulebook]) -> Iterator[Mutant]:
    code = _code(text)
    words = _Words(
        dict(_siblings(library)),
        [p.name for p in _nodes(book, s.PhaseDecl)],
        dict(_same_type(book, library)),
    )
    tables = [found.span() for found in _TABLE.finditer(code)]
    source = SourceText(text, file)
    before = ["", "", ""]
    for found in _TOKEN.finditer(code):
        word, start = found.group(), found.start()
        rest = code[found.end() : found.end() + 40]
        if text[found.end() :].lstrip().startswith('"') and word in words.members:
            before = [*before[1:], word]
            continue  # an alternative of a ruling where it is declared
        in_table = any(low < start < high for low, high in tables)
        for new, kind in _replacements(word, before, rest, words):
            what = "table entry" if kind == "number" and in_table else kind
            yield Mutant(file, start, word, new, what, Span(source, start, start).line)
        before = [*before[1:], word]


@dataclass(frozen=True)
class _Words:
    """What a word may be mistaken for."""

    members: Mapping[str, str]
    phases: Sequence[str]
    variables: Mapping[str, str]


def _replacements(word: str, before: Sequence[str], rest: str, words: _Words) -> Iterator[tuple[str, str]]:
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
    elif last == "next" and word in words.phases:
        yield from ((phase, "next phase") for phase in words.phases if phase != word)
    elif word in SWAPS and (called or word not in _CALLED):
        for new in SWAPS[word]:
            yield new, "logic" if word.isalpha() and word not in _ARITHMETIC else "operator"
    elif word in _SEEN:
        declares = re.match(r"\s*\w+\s*:", rest) is not None
        yield ("hidden" if declares and word == "public" else _SEEN[word]), "who sees it"
    elif word in words.members and last not in _DECLARING and not follows.startswith("("):
        yield words.members[word], "member"
    else:
        declares = follows.startswith(":") and not follows.startswith(":=")
        if word in words.variables and not declares and last != "table":
            yield words.variables[word], "variable"
        if last == "in" and word.islower() and not called:
            yield "Player", "who"


_CALLED = ("left", "right", "min", "max", "all", "exists")
_ARITHMETIC = ("mod", "div")
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


def _same_type(book: s.Rulebook, library: Sequence[s.Rulebook]) -> Iterator[tuple[str, str]]:
    """For every variable and table another one of its type that this rulebook declares: the next, if it is its own."""
    ours = dict(_typed(book))
    for name, type_ in [pair for each in library for pair in _typed(each)]:
        others = [other for other, its in ours.items() if its == type_ or other == name]
        if name in others:
            place = others.index(name)
            others = [*others[place + 1 :], *others[:place]]
        if others:
            yield name, others[0]


def _typed(book: s.Rulebook) -> Iterator[tuple[str, Any]]:
    for variable in (*_nodes(book, s.StateDecl), *_nodes(book, s.Choice)):
        if variable.type is not None:
            yield variable.name, variable.type
    for table in _nodes(book, s.TableDecl):
        yield table.name, ("table", table.keys)


# --- a part left out or put elsewhere ---


@dataclass(frozen=True)
class _Change:
    """A mistake made with whole parts of one kind: those it can be made with, and what becomes of them (None: gone)."""

    what: str
    kind: type
    new: str = ""
    where: Callable[[Any], bool] = lambda part: True
    made: Callable[[Any], Any] = lambda part: None


_CHANGES = (
    _Change("requirement dropped", s.Require),
    _Change("effect dropped", s.Assign),
    _Change("showing dropped", s.Show),
    _Change("check dropped", s.SetupCheck),
    _Change("branch dropped", s.If),
    _Change("ending dropped", s.Win),
    _Change("override dropped", s.DefDecl, "", lambda d: d.overrides),
    _Change(
        "condition dropped", s.Choice, "always chosen", lambda c: c.when, lambda c: replace(c, when=None)
    ),
    _Change(
        "condition dropped", s.PhaseDecl, "always entered", lambda p: p.when, lambda p: replace(p, when=None)
    ),
    _Change(
        "who sees it",
        s.Choice,
        "seen by all",
        lambda c: c.audience is not None and c.audience.kind == "to",
        lambda c: replace(c, audience=replace(c.audience, kind="public", to=None)),
    ),
    _Change("order", s.ExtendDecl, "last", lambda e: e.first, lambda e: replace(e, first=False)),
    _Change(
        "order",
        s.PhaseDecl,
        "after",
        lambda p: p.placement == "before",
        lambda p: replace(p, placement="after"),
    ),
)


def _parts(book: s.Rulebook, change: _Change) -> Iterator[Any]:
    return (part for part in _nodes(book, change.kind) if change.where(part))


def _changed_parts(text: str, file: str, book: s.Rulebook) -> Iterator[Mutant]:
    for change in _CHANGES:
        for i, part in enumerate(_parts(book, change)):
            span = part.span
            old = text[span.start : span.end]
            yield Mutant(file, span.start, old, change.new, change.what, span.line, i)


def _with(value: Any, old: Any, new: Any) -> Any:
    """The tree with another node in the place of one of its nodes, or without it."""
    if isinstance(value, tuple):
        kept = (part for part in value if part is not old or new is not None)
        return tuple(_with(part, old, new) for part in kept)
    if value is old:
        return new
    if is_dataclass(value) and not isinstance(value, type):
        changed = {f.name: _with(getattr(value, f.name), old, new) for f in fields(value) if f.name != "span"}
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
