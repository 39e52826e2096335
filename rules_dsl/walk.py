"""Walking model expressions and statements: children, rebuilding, and what an expression reads."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from rules_dsl import model as m


def children(expr: m.Expr) -> tuple[m.Expr, ...]:
    """The direct parts of an expression."""
    match expr:
        case m.Lookup():
            return expr.keys
        case m.At():
            return (expr.base, expr.key)
        case m.Apply() | m.Invoke():
            return expr.arguments
        case m.Quantify():
            domains = tuple(r.domain for r in expr.ranges if r.domain is not None)
            rest = tuple(e for e in (expr.condition, expr.body) if e is not None)
            return (*domains, *rest)
        case m.Knows():
            return (expr.player, expr.fact)
        case _:
            return ()


def rebuild(expr: m.Expr, change: Callable[[m.Expr], m.Expr]) -> m.Expr:
    """The same expression with every direct part changed."""
    match expr:
        case m.Lookup():
            return replace(expr, keys=tuple(change(k) for k in expr.keys))
        case m.At():
            return replace(expr, base=change(expr.base), key=change(expr.key))
        case m.Apply() | m.Invoke():
            return replace(expr, arguments=tuple(change(a) for a in expr.arguments))
        case m.Quantify():
            return replace(
                expr,
                ranges=tuple(
                    replace(r, domain=change(r.domain)) if r.domain is not None else r for r in expr.ranges
                ),
                condition=change(expr.condition) if expr.condition is not None else None,
                body=change(expr.body) if expr.body is not None else None,
            )
        case m.Knows():
            return replace(expr, player=change(expr.player), fact=change(expr.fact))
        case _:
            return expr


def every(expr: m.Expr) -> Iterator[m.Expr]:
    """The expression and all its parts."""
    yield expr
    for part in children(expr):
        yield from every(part)


def reads(expr: m.Expr, definitions: Mapping[str, m.Definition]) -> frozenset[str]:
    """The state variables an expression depends on, through definitions too."""
    found: set[str] = set()
    seen: set[str] = set()
    queue = [expr]
    while queue:
        for part in every(queue.pop()):
            if isinstance(part, m.Variable):
                found.add(part.name)
            elif isinstance(part, m.Invoke) and part.definition not in seen:
                seen.add(part.definition)
                queue.append(definitions[part.definition].value)
    return frozenset(found)


def statements(body: tuple[m.Statement, ...]) -> Iterator[m.Statement]:
    """All statements of a body, those inside branches too."""
    for statement in body:
        yield statement
        if isinstance(statement, m.If):
            yield from statements(statement.then)
            yield from statements(statement.otherwise)


def statement_expressions(statement: m.Statement) -> Iterator[m.Expr]:
    """The expressions that stand directly in a statement."""
    match statement:
        case m.Assign():
            yield from statement.keys
            yield statement.value
        case m.If():
            yield statement.condition
        case m.Show():
            for expr in (statement.domain, statement.condition, statement.value):
                if expr is not None:
                    yield expr
        case m.Win():
            if statement.value is not None:
                yield statement.value
        case m.Next():
            return


def choice_expressions(choice: m.Choice) -> Iterator[m.Expr]:
    """The expressions of a choice."""
    chooser = choice.chooser
    for expr in (
        chooser.who,
        chooser.domain,
        chooser.condition,
        choice.deal,
        choice.weight,
        choice.when,
        choice.audience.to,
    ):
        if expr is not None:
            yield expr
    for requirement in choice.requires:
        yield requirement.condition
