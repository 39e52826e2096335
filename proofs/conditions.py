"""When does a claim say anything? A claim is taken apart into parts that must all hold, each with the condition under which
it says something: `a implies b` says nothing where `a` does not hold, and neither does `not a or b`.

Definitions are seen through. Takes a claim and gives conditions; it decides nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import count

from proofs.lemmas import apply
from rules_dsl import model as m
from rules_dsl.types import BOOL
from rules_dsl.walk import every, rebuild

TRUE = m.Literal(True, BOOL)
Signed = tuple[m.Expr, bool]  # an expression, and whether it is to hold or to fail


class Reader:
    """Reads claims of one model; names bound inside definitions are made new ones, so that none is mistaken for another."""

    def __init__(self, definitions: Mapping[str, m.Definition]) -> None:
        self.definitions = definitions
        self._fresh = count(1)

    def conditions(self, claim: m.Expr) -> list[m.Expr]:
        """For every part of the claim that says something under a condition only: that condition."""
        return list(dict.fromkeys(c for c in self._parts(claim, True) if c is not None))

    def _parts(self, expr: m.Expr, sign: bool) -> Iterator[m.Expr | None]:
        expr = self._unfolded(expr)
        match expr, sign:
            case m.Apply("not", (inner,), _), _:
                yield from self._parts(inner, not sign)
            case (m.Apply("and", parts, _), True) | (m.Apply("or", parts, _), False):
                for part in parts:
                    yield from self._parts(part, sign)
            case m.Apply("implies", (condition, conclusion), _), False:
                yield from self._parts(condition, True)
                yield from self._parts(conclusion, False)
            case m.Apply("if", (test, then, otherwise), _), _:
                for under, branch in ((test, then), (apply("not", test), otherwise)):
                    if branch != m.Literal(sign, BOOL):  # that branch claims nothing, and is not meant to
                        yield from (_both(under, c) for c in self._parts(branch, sign))
            case (m.Quantify("all", ranges, inner, _, _), True) | (
                m.Quantify("exists", ranges, inner, _, _),
                False,
            ):
                if inner is not None:
                    for found in self._parts(inner, sign):
                        yield m.Quantify("exists", ranges, found or TRUE, None, BOOL)
            case m.Apply("or" | "implies", _, _), True:
                yield from self._alternatives(list(self._disjuncts(expr)))
            case m.Apply("and", parts, _), False:
                yield from self._alternatives([x for part in parts for x in self._denied(part)])
            case _:
                yield None

    def _alternatives(self, parts: list[Signed]) -> Iterator[m.Expr | None]:
        """One of several must hold. What must fail is a condition of the rest; if all must fail, of the last."""
        rest = [x for x in parts if x[1]] or [parts[-1]]
        conditions = [expr for expr, sign in parts if not sign and (expr, sign) not in rest]
        condition: m.Expr | None = None
        for other in conditions:
            condition = other if condition is None else apply("and", condition, other)
        if len(rest) > 1:
            yield condition
            return
        for inner in self._parts(*rest[0]):
            yield inner if condition is None else _both(condition, inner)

    def _disjuncts(self, expr: m.Expr) -> Iterator[Signed]:
        """What one of must hold. The condition of an implication stays in one piece, as its author put it."""
        expr = self._unfolded(expr)
        match expr:
            case m.Apply("or", parts, _):
                for part in parts:
                    yield from self._disjuncts(part)
            case m.Apply("implies", (condition, conclusion), _):
                yield condition, False
                yield from self._disjuncts(conclusion)
            case m.Apply("not", (inner,), _):
                yield inner, False
            case _:
                yield expr, True

    def _denied(self, expr: m.Expr) -> Iterator[Signed]:
        """What one of must hold so that not all of a conjunction does."""
        expr = self._unfolded(expr)
        match expr:
            case m.Apply("and", parts, _):
                for part in parts:
                    yield from self._denied(part)
            case m.Apply("not", (inner,), _):
                yield inner, True
            case _:
                yield expr, False

    # --- definitions ---

    def _unfolded(self, expr: m.Expr) -> m.Expr:
        """What a call says, if the expression is one."""
        while isinstance(expr, m.Invoke):
            definition = self.definitions[expr.definition]
            names = (name for name, _ in definition.parameters)
            expr = self._said(definition.value, dict(zip(names, expr.arguments, strict=True)))
        return expr

    def _said(self, expr: m.Expr, meant: Mapping[str, m.Expr]) -> m.Expr:
        """The expression with names replaced by what they stand for."""
        if isinstance(expr, m.Bound):
            return meant.get(expr.name, expr)
        if not isinstance(expr, m.Quantify):
            return rebuild(expr, lambda part: self._said(part, meant))
        inside, ranges = dict(meant), []
        for range_ in expr.ranges:
            domain = None if range_.domain is None else self._said(range_.domain, inside)
            name = f"{range_.name}~{next(self._fresh)}"
            inside[range_.name] = m.Bound(name, range_.type)
            ranges.append(m.Range(name, range_.type, domain))
        condition, body = (None if e is None else self._said(e, inside) for e in (expr.condition, expr.body))
        return m.Quantify(expr.kind, tuple(ranges), condition, body, expr.type)


def _both(condition: m.Expr, inner: m.Expr | None) -> m.Expr:
    return condition if inner is None else apply("and", condition, inner)


def speaks_of_knowing(expr: m.Expr) -> bool:
    return any(isinstance(e, m.Knows) for e in every(expr))


def without_knowing(expr: m.Expr, sign: bool = True) -> m.Expr:
    """A condition on one state that holds wherever this one does: whoever knows a fact, the fact holds."""
    match expr:
        case m.Knows(_, fact, _):
            return fact if sign else m.Literal(False, BOOL)
        case m.Apply("not", (inner,), _):
            return apply("not", without_knowing(inner, not sign))
        case m.Apply("implies", (condition, conclusion), _):
            return apply("implies", without_knowing(condition, not sign), without_knowing(conclusion, sign))
        case m.Apply("and" | "or", _, _) | m.Quantify("all" | "exists", _, _, _, _):
            return rebuild(expr, lambda part: without_knowing(part, sign))
        case _:
            return m.Literal(sign, BOOL) if speaks_of_knowing(expr) else expr
