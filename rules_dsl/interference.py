"""Modules that add to one phase: where what they do hangs on who comes first, they must say who does.

Takes what modules extend and override, the definitions, and which pairs are in an order; raises an error that names
both places where only the alphabet would decide. Two additions at different ends of a phase (one with `first`, one
without) have an order of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from rules_dsl import syntax as s
from rules_dsl.diagnostics import Note, RulebookError, fail
from rules_dsl.placement import Part
from rules_dsl.source import Span
from rules_dsl.terms import parts

Places = Mapping[str, Span]


@dataclass(frozen=True)
class Change:
    """A module's `extend` or `override` of a phase."""

    module: str
    item: s.ExtendDecl | s.PhaseDecl


def check_order(
    changes: Sequence[Change], definitions: Mapping[str, Part], ordered: Callable[[str, str], bool]
) -> None:
    """Refuses two changes of one phase that would do something else in the other order, if nothing orders them."""
    by_phase: dict[str, list[Change]] = {}
    for change in changes:
        name = change.item.phase if isinstance(change.item, s.ExtendDecl) else change.item.name
        by_phase.setdefault(name, []).append(change)
    for phase, found in by_phase.items():
        for earlier, later in combinations(found, 2):
            if not ordered(earlier.module, later.module):
                _compare(phase, earlier, later, definitions)


def _compare(phase: str, earlier: Change, later: Change, definitions: Mapping[str, Part]) -> None:
    advice = f"say which comes first: 'module {later.module} ... after {earlier.module}'"

    def refused(code: str, message: str, at: Span, other: str, place: Span) -> RulebookError:
        return fail(code, message, at, advice, [Note(other, place)])

    one, two = f"'{earlier.module}'", f"'{later.module}'"
    first, second = earlier.item, later.item
    if isinstance(first, s.PhaseDecl) or isinstance(second, s.PhaseDecl):
        if type(first) is not type(second):  # two overrides are refused where they are made
            winner, lost = (later, earlier) if isinstance(second, s.PhaseDecl) else (earlier, later)
            raise fail(
                "E122",
                f"'{winner.module}' overrides phase '{phase}' and '{lost.module}' extends it",
                second.span,
                f"say which comes first: 'module {lost.module} ... after {winner.module}' keeps what it adds",
                [Note("the other module:", first.span)],
            )
        return
    if first.first != second.first:
        return
    if first.choices and second.choices:
        message = f"{one} and {two} both add a choice to phase '{phase}'"
        raise refused("E125", message, second.choices[0].span, "the other choice:", first.choices[0].span)
    ours, theirs = dict(_written(first.body)), dict(_written(second.body))
    for name in theirs:
        if name in ours:
            message = f"{one} and {two} both change '{name}' in phase '{phase}'"
            raise refused("E121", message, theirs[name], "the other change:", ours[name])
    for ender, other, who, whose in ((first, second, one, two), (second, first, two, one)):
        end = next(_ends(ender.body), None)
        if end is not None and other.body:
            message = f"{who} may end phase '{phase}' before what {whose} adds to it is done"
            raise refused("E124", message, end, "what the other module adds:", other.body[0].span)
    for written, reader, who, whose in ((ours, second, two, one), (theirs, first, one, two)):
        for name, at in _read(reader.body, definitions):
            if name in written:
                message = f"{who} reads '{name}' in phase '{phase}', where {whose} changes it"
                raise refused("E123", message, at, "it is changed here:", written[name])


def _written(body: Sequence[s.Statement]) -> Iterator[tuple[str, Span]]:
    """The variables statements can change, and where."""
    for statement in body:
        match statement:
            case s.Assign() | s.Publish():
                yield statement.name, statement.span
            case s.If():
                yield from _written((*statement.then, *statement.otherwise))
            case _:
                pass


def _ends(body: Sequence[s.Statement]) -> Iterator[Span]:
    """Where statements can end the phase."""
    for statement in body:
        match statement:
            case s.Next() | s.Win():
                yield statement.span
            case s.If():
                yield from _ends((*statement.then, *statement.otherwise))
            case _:
                pass


def _read(body: Sequence[s.Statement], definitions: Mapping[str, Part]) -> Iterator[tuple[str, Span]]:
    """The names statements depend on, also through definitions, and where they do."""
    for statement in body:
        for expr, bound in _expressions(statement):
            for name, at in _names(expr, bound):
                yield name, at
                yield from ((inner, at) for inner in _behind(name, definitions))
        if isinstance(statement, s.If):
            yield from _read((*statement.then, *statement.otherwise), definitions)


def _expressions(statement: s.Statement) -> Iterator[tuple[s.Expr, frozenset[str]]]:
    """The expressions that stand directly in a statement, with the names bound in each."""
    nothing: frozenset[str] = frozenset()
    match statement:
        case s.Assign():
            yield from ((key, nothing) for key in statement.keys)
            yield statement.value, nothing
        case s.Publish():
            yield statement.value, nothing
        case s.If():
            yield statement.condition, nothing
        case s.Show(_, binder, condition, value):
            yield binder.domain, nothing
            inside = frozenset({binder.name})
            if condition is not None:
                yield condition, inside
            yield value, inside
        case s.Win(value) if value is not None:
            yield value, nothing
        case _:
            pass


def _names(expr: s.Expr, bound: frozenset[str]) -> Iterator[tuple[str, Span]]:
    """The names an expression mentions that are not bound in it."""
    match expr:
        case s.Name(text, span):
            if text not in bound:
                yield text, span
        case s.Call(name, arguments, span):
            yield name, span
            for argument in arguments:
                yield from _names(argument, bound)
        case s.Comprehension():
            inside = bound
            for binder in expr.binders:
                yield from _names(binder.domain, inside)
                inside |= {binder.name}
            for inner in (expr.condition, expr.body):
                if inner is not None:
                    yield from _names(inner, inside)
        case _:
            for part in parts(expr):
                yield from _names(part, bound)


def _behind(name: str, definitions: Mapping[str, Part]) -> set[str]:
    """The names a definition rests on, directly or not."""
    found: set[str] = set()
    queue = [name]
    while queue:
        part = definitions.get(queue.pop())
        if part is not None and isinstance(part.item, s.DefDecl):
            item = part.item
            mentioned = {n for n, _ in _names(item.value, frozenset(p.name for p in item.parameters))}
            queue += mentioned - found
            found |= mentioned
    return found
