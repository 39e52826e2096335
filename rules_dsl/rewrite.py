"""Rewriting syntax while games are put together: where phases lead, and what `base` stands for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from rules_dsl import syntax as s


def next_statements(statement: s.Statement) -> Iterator[s.Next]:
    """Where a statement can lead."""
    match statement:
        case s.Next():
            yield statement
        case s.If():
            for inner in (*statement.then, *statement.otherwise):
                yield from next_statements(inner)
        case _:
            return


def assignments(statement: s.Statement) -> Iterator[s.Assign]:
    """Which variables a statement can change."""
    match statement:
        case s.Assign():
            yield statement
        case s.If():
            for inner in (*statement.then, *statement.otherwise):
                yield from assignments(inner)
        case _:
            return


def redirected(statement: s.Statement, target: str, to: str) -> s.Statement:
    """The statement with every `next target` made a `next to`."""
    match statement:
        case s.Next() if statement.phase == target:
            return replace(statement, phase=to)
        case s.If():
            return replace(
                statement,
                then=tuple(redirected(x, target, to) for x in statement.then),
                otherwise=tuple(redirected(x, target, to) for x in statement.otherwise),
            )
        case _:
            return statement


def with_base(value: s.Expr, kept: str) -> s.Expr:
    """The expression with every `base(...)` made a call of the definition it overrides."""

    def walk(e: s.Expr) -> s.Expr:
        match e:
            case s.Name(text="base"):
                return s.Call(kept, (), e.span)
            case s.Call():
                return replace(
                    e,
                    name=kept if e.name == "base" else e.name,
                    arguments=tuple(walk(a) for a in e.arguments),
                )
            case s.Index():
                return replace(e, base=walk(e.base), keys=tuple(walk(k) for k in e.keys))
            case s.Attribute():
                return replace(e, base=walk(e.base))
            case s.Unary() | s.IsNone():
                return replace(e, operand=walk(e.operand))
            case s.Binary():
                return replace(e, left=walk(e.left), right=walk(e.right))
            case s.Conditional():
                return replace(e, condition=walk(e.condition), then=walk(e.then), otherwise=walk(e.otherwise))
            case s.SetLiteral():
                return replace(e, members=tuple(walk(m) for m in e.members))
            case s.Comprehension():
                return replace(
                    e,
                    binders=tuple(replace(b, domain=walk(b.domain)) for b in e.binders),
                    condition=walk(e.condition) if e.condition is not None else None,
                    body=walk(e.body) if e.body is not None else None,
                )
            case _:
                return e

    return walk(value)
