"""Making expressions ready for code: definitions put in place, names made unique, known parts worked out.

Takes expressions of a settled model; gives expressions of the same kind in which a bound name is a number
written as text ("0", "1", ...), so that nothing an author wrote is left that could become the name of
anything.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from rules_dsl import model as m
from rules_dsl.evaluate import Environment, evaluate
from rules_dsl.types import BOOL
from rules_dsl.walk import children, rebuild

LARGEST_INLINED = 400
TRUE = m.Literal(True, BOOL)
FALSE = m.Literal(False, BOOL)


class Facts:
    """The free bound names of expressions, the variables they read and their sizes, each worked out once."""

    def __init__(self, definition_reads: Mapping[str, frozenset[str]]) -> None:
        self._definition_reads = definition_reads
        self._known: dict[int, tuple[m.Expr, frozenset[str], frozenset[str], int]] = {}

    def _of(self, expr: m.Expr) -> tuple[m.Expr, frozenset[str], frozenset[str], int]:
        known = self._known.get(id(expr))
        if known is None:
            free: frozenset[str] = frozenset({expr.name}) if isinstance(expr, m.Bound) else frozenset()
            reads: frozenset[str] = frozenset({expr.name}) if isinstance(expr, m.Variable) else frozenset()
            size = 1
            for part in children(expr):
                _, inner_free, inner_reads, inner_size = self._of(part)
                free, reads, size = free | inner_free, reads | inner_reads, size + inner_size
            if isinstance(expr, m.Quantify):
                free -= {r.name for r in expr.ranges}
            if isinstance(expr, m.Invoke):
                reads |= self._definition_reads[expr.definition]
            known = self._known[id(expr)] = (expr, free, reads, size)
        return known

    def free(self, expr: m.Expr) -> frozenset[str]:
        return self._of(expr)[1]

    def reads(self, expr: m.Expr) -> frozenset[str]:
        return self._of(expr)[2]

    def size(self, expr: m.Expr) -> int:
        return self._of(expr)[3]


class Preparer:
    """Prepares the expressions of one model."""

    def __init__(self, model: m.Model) -> None:
        self.model = model
        self._names = 0
        self._definitions: dict[str, tuple[tuple[str, ...], m.Expr]] = {}
        self._reads: dict[str, frozenset[str]] = {}
        self.facts = Facts(self._reads)
        self._env = Environment(model, model.players.count)

    def fresh(self) -> str:
        """A bound name nobody uses yet."""
        self._names += 1
        return str(self._names)

    def definition(self, name: str) -> tuple[tuple[str, ...], m.Expr]:
        """A definition's parameters and its prepared value."""
        if name not in self._definitions:
            declared = self.model.definitions[name]
            parameters = tuple(self.fresh() for _ in declared.parameters)
            inside = {p: m.Bound(new, t) for (p, t), new in zip(declared.parameters, parameters, strict=True)}
            value = self.expr(declared.value, inside)
            self._definitions[name] = (parameters, value)
            self._reads[name] = self.facts.reads(value)
        return self._definitions[name]

    def expr(self, expr: m.Expr, names: Mapping[str, m.Expr]) -> m.Expr:
        """The expression with each bound name replaced by what `names` says."""
        match expr:
            case m.Bound(name, _):
                return names[name]
            case m.Literal() | m.Variable():
                return expr
            case m.Quantify():
                return self._quantify(expr, names)
            case m.Invoke(name, arguments, _):
                given = tuple(self.expr(a, names) for a in arguments)
                parameters, value = self.definition(name)
                if self.facts.size(value) > LARGEST_INLINED:
                    return replace(expr, arguments=given)
                return self.substitute(value, dict(zip(parameters, given, strict=True)))
            case m.Lookup() | m.At() | m.Apply():
                return self.simplify(rebuild(expr, lambda part: self.expr(part, names)))
            case _:
                raise ValueError("only properties ask about phases, the end and knowledge")

    def _quantify(self, expr: m.Quantify, names: Mapping[str, m.Expr]) -> m.Expr:
        inside = dict(names)
        ranges: list[m.Range] = []
        for r in expr.ranges:
            domain = self.expr(r.domain, inside) if r.domain is not None else None
            new = self.fresh()
            ranges.append(m.Range(new, r.type, domain))
            inside[r.name] = m.Bound(new, r.type)
        condition = self.expr(expr.condition, inside) if expr.condition is not None else None
        body = self.expr(expr.body, inside) if expr.body is not None else None
        return self.simplify(m.Quantify(expr.kind, tuple(ranges), condition, body, expr.type))

    def substitute(self, expr: m.Expr, names: Mapping[str, m.Expr]) -> m.Expr:
        """A prepared expression with some of its free names replaced; its own quantifiers get new names."""
        if not names and not self.facts.free(expr):
            return expr
        same = {n: m.Bound(n, b.type) for n, b in self._bounds(expr).items()}
        return self.expr(expr, {**same, **names})

    def _bounds(self, expr: m.Expr) -> dict[str, m.Bound]:
        found: dict[str, m.Bound] = {}
        queue = [expr]
        while queue:
            part = queue.pop()
            if isinstance(part, m.Bound):
                found[part.name] = part
            queue += children(part)
        return found

    def simplify(self, expr: m.Expr) -> m.Expr:
        """The expression with what is known worked out; its parts are simple already."""
        parts = children(expr)
        if not isinstance(expr, m.Quantify) and all(isinstance(p, m.Literal) for p in parts):
            return m.Literal(evaluate(expr, self._env), expr.type)
        if isinstance(expr, m.Quantify):
            if not self.facts.free(expr) and not self.facts.reads(expr) and not _invokes(expr):
                return m.Literal(evaluate(expr, self._env), expr.type)
            return expr
        return _shorter(expr) if isinstance(expr, m.Apply) else expr


def _invokes(expr: m.Expr) -> bool:
    return isinstance(expr, m.Invoke) or any(_invokes(p) for p in children(expr))


def negation(expr: m.Expr) -> m.Expr:
    """The opposite of a condition."""
    if isinstance(expr, m.Literal):
        return FALSE if expr.value else TRUE
    if isinstance(expr, m.Apply) and expr.operation == "not":
        return expr.arguments[0]
    return m.Apply("not", (expr,), BOOL)


def conjunction(conditions: list[m.Expr]) -> m.Expr:
    """All of the conditions together."""
    made: m.Expr = TRUE
    for condition in conditions:
        made = _shorter(m.Apply("and", (made, condition), BOOL))
    return made


def _shorter(expr: m.Apply) -> m.Expr:
    """Logic and branches with a known part, without that part."""
    known = [a.value if isinstance(a, m.Literal) and a.type == BOOL else None for a in expr.arguments]
    match expr.operation, known:
        case "and", [False, _] | [_, False]:
            return FALSE
        case ("and", [True, _]) | ("or", [False, _]) | ("implies", [True, _]):
            return expr.arguments[1]
        case ("and", [_, True]) | ("or", [_, False]):
            return expr.arguments[0]
        case ("or", [True, _] | [_, True]) | ("implies", [False, _] | [_, True]):
            return TRUE
        case "implies", [_, False]:
            return negation(expr.arguments[0])
        case "not", _:
            return negation(expr.arguments[0])
        case "if", [True, *_]:
            return expr.arguments[1]
        case "if", [False, *_]:
            return expr.arguments[2]
        case _:
            return expr
