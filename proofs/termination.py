"""Does every game end, and after how many events at the latest?

First a ranking is looked for: numbers of the state that never grow, one after the other (lexicographically), until no
circle of places is left on which none of them shrinks. Then the game is folded onto places and those numbers; in the
folded graph, which has every path the game has and has no circle, the longest path bounds the number of events.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import z3  # type: ignore[import-untyped]

from proofs.induction import Clock, said
from proofs.lemmas import Lemma, numbers
from rules_dsl import model as m
from rules_dsl.smt import Place, System, finite_solver
from rules_dsl.smt.expressions import value_of
from rules_dsl.smt.terms import Num, bits, less, less_equal, term, width

Edge = tuple[Place, Place]
Node = tuple[Place, tuple[int, ...]]


@dataclass(frozen=True)
class Ranking:
    """What shrinks or grows, in order of importance; the circles that nothing breaks; the bound if there are none."""

    measures: tuple[str, ...]
    circles: tuple[Edge, ...]
    bound: int | None


class _Measure:
    def __init__(self, system: System, text: str, expr: m.Expr, sign: int) -> None:
        self.text = f"{text} {'shrinks' if sign > 0 else 'grows'}"
        self.expr = expr
        self.sign = sign
        self.before: Num = value_of(expr, system.scene(system.before))
        self.after = {p: value_of(expr, system.scene(s.after)) for p, s in system.steps.items()}

    def worse(self, place: Place) -> Any:
        new, old = self.after[place], self.before
        return term(less(old, new) if self.sign > 0 else less(new, old))

    def no_better(self, place: Place) -> Any:
        new, old = self.after[place], self.before
        return term(less_equal(old, new) if self.sign > 0 else less_equal(new, old))


def rank(system: System, proved: Sequence[Lemma], clock: Clock) -> Ranking:
    """A ranking of the game, leaning on proved claims."""
    solvers = {}
    for place, step in system.steps.items():
        solver = finite_solver()
        solver.add(
            term(system.valid), term(system.formed), term(system.at(system.before, place)), term(step.legal)
        )
        solver.add(*(term(said(system, claim, system.before)) for claim in proved))
        solvers[place] = solver
    edges = _edges(system, solvers, clock)
    measures = [_Measure(system, t, e, sign) for t, e in numbers(system.model) for sign in (-1, 1)]
    used: list[_Measure] = []
    left = _on_circles(edges)
    changed = True
    while left and changed:
        changed = False
        for measure in measures:
            gone = _broken(system, solvers, left, measure, clock)
            if gone:
                used.append(measure)
                left = _on_circles(left - gone)
                changed = True
                break
    if left:
        return Ranking(tuple(x.text for x in used), tuple(sorted(left, key=str)), None)
    return Ranking(tuple(x.text for x in used), (), _longest(system, solvers, used, clock))


def _edges(system: System, solvers: dict[Place, Any], clock: Clock) -> set[Edge]:
    found: set[Edge] = set()
    for place, step in system.steps.items():
        for other in system.places:
            goal = system.at(step.after, other)
            if (
                other.step is not None
                and goal is not False
                and clock.check(solvers[place], *_assumed(solvers[place], goal))
            ):
                found.add((place, other))
    return found


def _assumed(solver: Any, condition: Any) -> list[Any]:
    """A fresh literal that stands for the condition in this solver."""
    literal = z3.FreshBool("if")
    solver.add(z3.Implies(literal, term(condition)))
    return [literal]


def _broken(
    system: System, solvers: dict[Place, Any], edges: set[Edge], measure: _Measure, clock: Clock
) -> set[Edge]:
    """The edges on which the measure always gets better, if it gets worse on none; else nothing."""
    gone: set[Edge] = set()
    for place, other in sorted(edges, key=str):
        solver = solvers[place]
        along = system.at(system.steps[place].after, other)
        if clock.check(solver, *_assumed(solver, along), *_assumed(solver, measure.worse(place))):
            return set()
        if not clock.check(solver, *_assumed(solver, along), *_assumed(solver, measure.no_better(place))):
            gone.add((place, other))
    return gone


def _on_circles(edges: set[Edge]) -> set[Edge]:
    """The edges that lie on some circle."""
    reach: dict[Place, set[Place]] = {}
    for start in {a for a, _ in edges}:
        seen: set[Place] = set()
        queue = [start]
        while queue:
            here = queue.pop()
            for a, b in edges:
                if a == here and b not in seen:
                    seen.add(b)
                    queue.append(b)
        reach[start] = seen
    return {(a, b) for a, b in edges if a == b or a in reach.get(b, set())}


def _longest(system: System, solvers: dict[Place, Any], measures: Sequence[_Measure], clock: Clock) -> int:
    """The longest path of the folded graph, counted in events."""
    first = finite_solver()
    first.add(term(system.valid))
    scene = system.scene(system.initial)
    start = [value_of(x.expr, scene) for x in measures]
    roots = list(_folded(system, first, system.initial.place, start, (), clock))
    longest: dict[Node, int] = {}
    following: dict[Node, list[Node]] = {}
    stack = list(roots)
    while stack:
        node = stack[-1]
        if node in longest:
            stack.pop()
            continue
        place, values = node
        if node not in following:
            following[node] = []
            if place.step is not None and place in system.steps:
                fixed = [_is(x.before, v) for x, v in zip(measures, values, strict=True)]
                after = [x.after[place] for x in measures]
                next_place = system.steps[place].after.place
                following[node] = list(_folded(system, solvers[place], next_place, after, fixed, clock))
        waiting = [n for n in following[node] if n not in longest]
        if waiting:
            stack += waiting
        else:
            longest[node] = max((longest[n] + 1 for n in following[node]), default=0)
            stack.pop()
    return max(longest[r] for r in roots)


def _is(num: Num, value: int) -> Any:
    return bits(num, width(num.low, num.high)) == value


def _folded(
    system: System, solver: Any, place: Num, values: list[Num], fixed: Sequence[Any], clock: Clock
) -> Any:
    """Every pair of a place and values that a solution has, each once."""
    solver.push()
    solver.add(*fixed)
    terms = [bits(x, width(x.low, x.high)) for x in (place, *values)]
    while clock.check(solver):
        model = solver.model()
        found = [model.eval(t, model_completion=True) for t in terms]
        solver.add(z3.Or(*(t != v for t, v in zip(terms, found, strict=True))))
        yield system.places[found[0].as_long()], tuple(v.as_long() for v in found[1:])
    solver.pop()
