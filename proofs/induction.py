"""Proof by induction: of a set of claims, the largest part that holds at the start and is kept by every step.

`strengthen` takes a system and claims (declared ones and guesses) and gives the claims that are proved, together
(Houdini): each may lean on all the others one step before. `leaned_on` says which of them a proof really used.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import z3  # type: ignore[import-untyped]

from proofs.clock import Clock
from proofs.lemmas import Lemma
from proofs.literals import Literals
from rules_dsl.smt import Place, SymbolicState, System, finite_solver
from rules_dsl.smt.raw import conjunction, substituted
from rules_dsl.smt.terms import Truth, and_, implies, term


def said(system: System, claim: Lemma, state: SymbolicState) -> Truth:
    """The claim, said of a state."""
    here = True if claim.place is None else system.at(state, claim.place)
    if claim.at_rest:
        here = and_((here, system.resting(state)))
    return True if here is False else implies(here, system.holds(claim.value, state))


@dataclass
class _Obligation:
    """The steps from one place: what is assumed before, what is claimed after.

    `touched` leaves out the claims a step cannot touch, because it leaves everything they speak of as it was.
    """

    solver: Any
    before: Literals  # literal i: claim i holds before the step
    broken: Literals  # literal i: claim i does not hold after it
    touched: frozenset[int]


def moved(system: System, terms: Sequence[Any], state: SymbolicState) -> list[Any]:
    """Terms about the state `before`, said of another state."""
    if not terms:
        return []
    # one substitution for all of them is many times quicker than one for each
    whole = conjunction([*terms, z3.BoolVal(True)])
    return list(substituted(whole, system.moves_to(state)).children())[: len(terms)]


class Induction:
    """The obligations of a list of claims over one system."""

    def __init__(self, system: System, claims: Sequence[Lemma]) -> None:
        self.system = system
        self.claims = list(claims)
        self.alive = set(range(len(claims)))
        self._claim_terms = [term(said(system, c, system.before)) for c in self.claims]
        self._obligations: dict[Place, _Obligation] = {}
        self._cores: dict[tuple[int, frozenset[int]], set[int]] = {}
        self._before = Literals("h", len(self.claims))
        self._broken = Literals("v", len(self.claims))

    def _obligation(self, place: Place) -> _Obligation:
        if place not in self._obligations:
            step = self.system.steps[place]
            solver = finite_solver()
            here = self.system.at(self.system.before, place)
            solver.add(*(term(x) for x in (self.system.valid, self.system.formed, here, step.legal)))
            after = moved(self.system, self._claim_terms, step.after)
            touched = []
            for i, (now, then) in enumerate(zip(self._claim_terms, after, strict=True)):
                solver.add(z3.Implies(self._before[i], now))
                if not then.eq(now):
                    touched.append(i)
                    solver.add(self._broken[i] == z3.Not(then))
            self._obligations[place] = _Obligation(solver, self._before, self._broken, frozenset(touched))
        return self._obligations[place]

    def drop_false_at_start(self, clock: Clock) -> None:
        """Drops the claims that do not hold in every initial state."""
        solver = finite_solver()
        solver.add(term(self.system.valid))
        order = sorted(self.alive)
        said_first = moved(self.system, [self._claim_terms[i] for i in order], self.system.initial)
        solver.add(*(self._broken[i] == z3.Not(claim) for i, claim in zip(order, said_first, strict=True)))
        while false := self._find_broken(solver, sorted(self.alive), [], clock):
            self.alive -= false

    def _find_broken(
        self, solver: Any, indices: Sequence[int], assumptions: Sequence[Any], clock: Clock
    ) -> set[int]:
        """Some of these claims that are broken in one solution; none if there is no solution that breaks any."""
        if not indices:
            return set()
        solver.push()
        solver.add(self._broken.some_of(indices))
        found = clock.check(solver, *assumptions)
        model = solver.model() if found else None
        solver.pop()
        return set() if model is None else self._broken.true_in(model, indices)

    def drop_not_kept(self, clock: Clock) -> None:
        """Drops claims some step does not keep, until all that are left are kept given each other."""
        waiting = list(self.system.steps)
        while waiting:
            place = waiting.pop(0)
            dropped = self._drop_at(place, clock)
            if dropped:
                waiting += [p for p in self.system.steps if p not in waiting and p != place]

    def _drop_at(self, place: Place, clock: Clock) -> bool:
        obligation, dropped = self._obligation(place), False
        while True:
            alive = sorted(self.alive)
            assumed = [obligation.before[i] for i in alive]
            touched = [i for i in alive if i in obligation.touched]
            broken = self._find_broken(obligation.solver, touched, assumed, clock)
            if not broken:
                return dropped
            self.alive -= broken
            dropped = True

    def core(self, index: int, clock: Clock) -> set[int]:
        """Claims that suffice, one step before, to keep this claim; asked once, for many proofs lean on the same ones."""
        key = (index, frozenset(self.alive))
        if key not in self._cores:
            self._cores[key] = self._core(index, clock)
        return self._cores[key]

    def _core(self, index: int, clock: Clock) -> set[int]:
        found: set[int] = set()
        for place in self.system.steps:
            obligation = self._obligation(place)
            if index not in obligation.touched:
                continue
            found |= self._small_core(obligation, index, clock)
        return found - {index}

    def _small_core(self, obligation: _Obligation, index: int, clock: Clock) -> set[int]:
        solver, before = obligation.solver, obligation.before
        goal = obligation.broken[index]
        if not clock.check(solver, goal, before[index]):
            return {index}
        order = [index, *sorted(self.alive - {index})]
        if clock.check(solver, goal, *(before[i] for i in order)):
            raise AssertionError("a claim that was proved is not kept")
        core = before.in_core(solver)
        kept = [i for i in order if i in core]
        for left_out in list(kept):
            if left_out not in kept:
                continue
            fewer = [i for i in kept if i != left_out]
            if not clock.check(solver, goal, *(before[i] for i in fewer)):
                core = before.in_core(solver)  # often more than one can go
                kept = [i for i in fewer if i in core]
        return set(kept)


def strengthen(system: System, claims: Sequence[Lemma], clock: Clock) -> Induction:
    """The induction in which exactly the claims that could be proved are alive."""
    made = Induction(system, claims)
    made.drop_false_at_start(clock)
    made.drop_not_kept(clock)
    return made


def leaned_on(induction: Induction, index: int, clock: Clock) -> list[int]:
    """Every claim the proof of one claim rests on, directly or through others."""
    seen = {index}
    queue = [index]
    while queue:
        for other in sorted(induction.core(queue.pop(0), clock)):
            if other not in seen:
                seen.add(other)
                queue.append(other)
    return sorted(seen - {index})


def excluded(system: System, proved: Iterable[Lemma], condition: Any, clock: Clock) -> bool:
    """Do the proved claims alone rule this condition out in every state?"""
    solver = finite_solver()
    solver.add(
        term(system.valid), term(system.formed), *(term(said(system, c, system.before)) for c in proved)
    )
    solver.add(term(condition))
    return not clock.check(solver)
