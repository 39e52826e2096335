"""Does every game end, and after how many events at the latest?

First a ranking is looked for: numbers of the state that only grow (or only shrink), one after the other
(lexicographically), until no circle of places is left on which none of them changes. Then the game is folded onto places
and those numbers: for every way from place to place the solver tells by how much they can change, and how large they
can get. The folded graph has every path the game has and no circle; its longest path bounds the number of events.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import z3  # type: ignore[import-untyped]

from proofs.clock import Clock
from proofs.evidence import Ranks
from proofs.induction import said
from proofs.lemmas import Lemma, numbers
from rules_dsl import model as m
from rules_dsl.smt import Place, System, finite_solver
from rules_dsl.smt.expressions import value_of
from rules_dsl.smt.terms import Num, bits, less, less_equal, not_, number, sub, term, width

Edge = tuple[Place, Place]
Node = tuple[Place, tuple[int, ...]]

FINER = 2


@dataclass(frozen=True)
class Ranking:
    """What shrinks or grows, in order of importance; the circles that nothing breaks; the bound if there are none."""

    measures: tuple[str, ...]
    circles: tuple[Edge, ...]
    bound: int | None
    ranks: Ranks | None = None  # the bound for every place and value of the measures


class _Measure:
    """A number of the state that is hoped to go one way only."""

    def __init__(self, system: System, text: str, expr: m.Expr, sign: int) -> None:
        self.text = f"{text} {'shrinks' if sign > 0 else 'grows'}"
        self.number = Lemma(text, expr)
        self.sign = sign
        self.first: Num = value_of(expr, system.scene(system.initial))
        self.before: Num = value_of(expr, system.scene(system.before))
        self.after = {p: value_of(expr, system.scene(s.after)) for p, s in system.steps.items()}

    def worse(self, place: Place) -> Any:
        new, old = self.after[place], self.before
        return term(less(old, new) if self.sign > 0 else less(new, old))

    def better(self, place: Place) -> Any:
        return z3.Not(self.no_better(place))

    @property
    def small(self) -> bool:
        return self.before.high - self.before.low <= 8

    def no_better(self, place: Place) -> Any:
        new, old = self.after[place], self.before
        return term(less_equal(old, new) if self.sign > 0 else less_equal(new, old))


def rank(system: System, proved: Sequence[Lemma], clock: Clock) -> Ranking:
    """A ranking of the game, leaning on proved claims."""
    solvers = {place: _solver(system, proved, place) for place in system.steps}
    edges = _edges(system, solvers, clock)
    measures = _measures(system)
    circles = _on_circles(edges)
    used, left = _unbroken(system, solvers, circles, measures, clock)
    texts = tuple(x.text for x in used)
    if left:
        return Ranking(texts, tuple(sorted(left, key=str)), None)
    # more numbers that never turn back make the folded graph finer and its bound better
    finer = [x for x in measures if x.small and x not in used and _steady(system, solvers, circles, x, clock)]
    bound, ranks = _longest(system, solvers, edges, [*used, *finer[:FINER]], clock)
    return Ranking(texts, (), bound, ranks)


def silent_circles(system: System, proved: Sequence[Lemma], clock: Clock) -> tuple[Edge, ...]:
    """The ways from place to place, nobody choosing, that may lead round for ever: no number says that they do not."""
    silent = [place for place, step in system.steps.items() if step.awaited is not True]
    solvers = {place: _solver(system, proved, place) for place in silent}
    for place, solver in solvers.items():
        solver.add(term(not_(system.steps[place].awaited)))
    edges = {edge for edge in _edges(system, solvers, clock) if edge[1] in solvers}
    _, left = _unbroken(system, solvers, _on_circles(edges), _measures(system), clock)
    return tuple(sorted(left, key=str))


def _solver(system: System, proved: Sequence[Lemma], place: Place) -> Any:
    """What is known of every step from a place."""
    solver, step = finite_solver(), system.steps[place]
    solver.add(
        term(system.valid), term(system.formed), term(system.at(system.before, place)), term(step.legal)
    )
    solver.add(*(term(said(system, claim, system.before)) for claim in proved))
    return solver


def _measures(system: System) -> list[_Measure]:
    measures = [_Measure(system, t, e, sign) for t, e in numbers(system.model) for sign in (-1, 1)]
    # what counts far is likely to count every turn of the circle
    return sorted(measures, key=lambda x: x.before.low - x.before.high)


def _unbroken(
    system: System,
    solvers: dict[Place, Any],
    left: set[Edge],
    measures: Sequence[_Measure],
    clock: Clock,
) -> tuple[list[_Measure], set[Edge]]:
    """Measures that break circles, one after the other, and the edges of the circles that none breaks."""
    used: list[_Measure] = []
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
    return used, left


def _steady(
    system: System, solvers: dict[Place, Any], edges: set[Edge], measure: _Measure, clock: Clock
) -> bool:
    """Does the measure never get worse, and get better somewhere?"""
    better = False
    for place, other in sorted(edges, key=str):
        solver = solvers[place]
        along = system.at(system.steps[place].after, other)
        if clock.check(solver, *_assumed(solver, along), *_assumed(solver, measure.worse(place))):
            return False
        better = better or clock.check(
            solver, *_assumed(solver, along), *_assumed(solver, measure.better(place))
        )
    return better


def _edges(system: System, solvers: dict[Place, Any], clock: Clock) -> set[Edge]:
    found: set[Edge] = set()
    for place in solvers:
        for other in system.places:
            goal = system.at(system.steps[place].after, other)
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


def _longest(
    system: System, solvers: dict[Place, Any], edges: set[Edge], measures: Sequence[_Measure], clock: Clock
) -> tuple[int, Ranks]:
    """The longest path of the folded graph, counted in events; and from every node of it."""
    places = {place: [step for step in edges if step[0] == place] for place in solvers}
    changes = {edge: list(_changes(system, solvers[edge[0]], edge, measures, clock)) for edge in edges}
    limits = [_limits(solvers, x, clock) for x in measures]
    longest: dict[Node, int] = {}

    def following(node: Node) -> list[Node]:
        place, values = node
        found: list[Node] = []
        for edge in places.get(place, []):
            for change in changes[edge]:
                new = tuple(v + c for v, c in zip(values, change, strict=True))
                if all(low <= v <= high for v, (low, high) in zip(new, limits, strict=True)):
                    found.append((edge[1], new))
        return found

    starts = product(*(range(x.first.low, x.first.high + 1) for x in measures))
    roots = list(product(_first_places(system, clock), starts))
    stack = list(roots)
    while stack:
        node = stack[-1]
        nodes = following(node) if node not in longest else []
        waiting = [n for n in nodes if n not in longest]
        if waiting:
            stack += waiting
            continue
        stack.pop()
        if node not in longest:
            # one more event may end the game, whose last place has no edges
            longest[node] = 1 + max((longest[n] for n in nodes), default=0)
    return max((longest[r] for r in roots), default=0), Ranks(tuple(x.number for x in measures), longest)


def _first_places(system: System, clock: Clock) -> list[Place]:
    solver = finite_solver()
    solver.add(term(system.valid))
    return [
        place
        for place in system.steps
        if clock.check(solver, *_assumed(solver, system.at(system.initial, place)))
    ]


def _changes(
    system: System, solver: Any, edge: Edge, measures: Sequence[_Measure], clock: Clock
) -> Iterator[tuple[int, ...]]:
    """By how much the measures can change along an edge, every combination once."""
    place, other = edge
    deltas = [sub(x.after[place], x.before) for x in measures]
    terms = [bits(d, width(d.low, d.high)) for d in deltas]
    solver.push()
    solver.add(term(system.at(system.steps[place].after, other)))
    while clock.check(solver):
        model = solver.model()
        found = [model.eval(t, model_completion=True) for t in terms]
        solver.add(z3.Or(*(t != v for t, v in zip(terms, found, strict=True))))
        yield tuple(_signed(v.as_long(), d) for v, d in zip(found, deltas, strict=True))
    solver.pop()


def _signed(found: int, num: Num) -> int:
    wide = width(num.low, num.high)
    return found - (1 << wide) if num.low < 0 and found >> (wide - 1) else found


def _limits(solvers: dict[Place, Any], measure: _Measure, clock: Clock) -> tuple[int, int]:
    """Between which values the proved claims keep the measure, wherever somebody is to choose."""

    def possible(condition: Any) -> bool:
        return any(clock.check(s, *_assumed(s, condition)) for s in solvers.values())

    low, high = measure.before.low, measure.before.high
    while low < high and not possible(term(less_equal(number(high), measure.before))):
        high -= 1
    while low < high and not possible(term(less_equal(measure.before, number(low)))):
        low += 1
    return min(low, measure.first.low), max(high, measure.first.high)
