"""Smallest sets of conditions that cannot all hold, exactly smallest, not just minimal.

The method is that of implicit hitting sets: guess the smallest set that meets every way seen so far of giving up
conditions to be consistent; if the guess is inconsistent nothing smaller can be, otherwise its consistency shows one
more way.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import z3  # type: ignore[import-untyped]

from rules_dsl.smt.raw import listened

MANY = 64  # with more conditions at fault it is worth asking first which of them cannot be spared at all
MOST_PICKED = 300  # how many conditions are picked by trial at most: each is a level of recursion


class Undecided(Exception):
    """The solver gave up in the time allowed."""


def consistent(solver: Any, assumed: Sequence[Any]) -> bool:
    """Can the solver's assertions hold with these literals? Raises `Undecided` if that is not known."""
    answer = listened(solver.check(*assumed), solver)
    if answer == z3.unknown:
        raise Undecided(solver.reason_unknown())
    return bool(answer == z3.sat)


def smallest_core(solver: Any, literals: Sequence[Any], always: Sequence[Any] = ()) -> list[int] | None:
    """The places of a smallest set of literals that is inconsistent with `always`; None if all are consistent."""
    if consistent(solver, (*always, *literals)):
        return None
    correction_sets: list[frozenset[int]] = []
    involved = {x.get_id() for x in solver.unsat_core()}
    candidates = [i for i, x in enumerate(literals) if x.get_id() in involved]
    if len(candidates) > MANY:
        rest = set(range(len(literals)))
        for i in candidates:
            if consistent(solver, (*always, *(literals[j] for j in sorted(rest - {i})))):
                correction_sets.append(frozenset({i}))
    while True:
        guess = smallest_hitting_set(correction_sets)
        if not consistent(solver, (*always, *(literals[i] for i in guess))):
            return guess
        kept = _grown(solver, literals, always, guess)
        correction_sets.append(frozenset(range(len(literals))) - kept)


def _grown(solver: Any, literals: Sequence[Any], always: Sequence[Any], start: Sequence[int]) -> set[int]:
    """A largest consistent set of literals around a consistent one; the solver has just found that one so."""
    model = solver.model()
    kept = {i for i, x in enumerate(literals) if i in start or z3.is_true(model.eval(x))}
    for i in range(len(literals)):
        if i not in kept and consistent(solver, (*always, *(literals[j] for j in sorted(kept)), literals[i])):
            model = solver.model()
            kept |= {j for j, x in enumerate(literals) if z3.is_true(model.eval(x))} | {i}
    return kept


def smallest_hitting_set(sets: Sequence[frozenset[int]]) -> list[int]:
    """A smallest set that meets every given one; of several the one with the smaller numbers."""
    best: list[int] | None = None
    forced = sorted({number for s in sets if len(s) == 1 for number in s})

    def search(chosen: list[int]) -> None:
        nonlocal best
        if len(chosen) > len(forced) + MOST_PICKED:
            raise Undecided("too many things are needed at once")
        if best is not None and len(chosen) >= len(best):
            return
        left = [s for s in sets if not s & set(chosen)]
        if not left:
            best = list(chosen)
            return
        if best is not None and len(chosen) + _at_least(left) >= len(best):
            return
        smallest = sorted(left, key=len)[0]
        for number in sorted(smallest):
            search([*chosen, number])

    search(forced)
    assert best is not None
    return sorted(best)


def _at_least(sets: Sequence[frozenset[int]]) -> int:
    """How many numbers are needed at least: sets without a common member need one each."""
    used: set[int] = set()
    needed = 0
    for s in sorted(sets, key=len):
        if not s & used:
            used |= s
            needed += 1
    return needed
