"""An explanation told as an argument: suppose the contrary, take what was told piece by piece, and say what each leaves.

`argue(case, fact, labels, used)` takes the smallest set of things told and rules that forces a fact (None: that leaves
no deal) and gives the steps: after each, what has become certain by the rules used, which of them it takes, and how
many groups of players can still be on the smaller side. The next step is always the one that leaves the fewest.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import z3  # type: ignore[import-untyped]

from avalon_logic.deduction.facts import Fact
from rules_dsl.smt.cores import consistent, smallest_core
from rules_dsl.smt.terms import not_, term

if TYPE_CHECKING:
    from avalon_logic.deduction.setting import Setting
    from avalon_logic.deduction.why import Case

MOST_GROUPS = 256  # ten players, four of them on the smaller side: 210
MOST_FACTS = (
    4  # what one step may conclude in passing; where there is more, only what the argument goes on to use
)
Group = tuple[bool, ...]  # for every seat: is it on the smaller side?


@dataclass(frozen=True)
class Step:
    """One step: `label` of what is taken (None: the supposition), the places of the rules it takes, what is certain now
    and was not, and how many groups can be on the smaller side (None: too many to count)."""

    label: int | None
    rules: tuple[int, ...]
    concluded: tuple[Fact, ...]
    groups: int | None


@dataclass
class _Proof:
    """The steps so far: what was taken and concluded, and the groups still possible."""

    case: Case
    used: list[Any]
    literals: dict[Fact, Any]
    taken: list[Any] = field(default_factory=list)
    concluded: list[Fact] = field(default_factory=list)

    def holds(self, fact: Fact, *assumed: Any) -> bool:
        """Does a fact follow from the supposition and these?"""
        return not consistent(self.case.solver, (*assumed, z3.Not(self.literals[fact])))

    def certain(self, told: Any | None) -> list[Fact]:
        """What follows now and did not before, except what was told or supposed in so many words."""
        solver = self.case.solver
        consistent(solver, (*self.taken, *self.used))
        model = solver.model()
        maybe = [f for f, x in self.literals.items() if z3.is_true(model.eval(x)) and f not in self.concluded]
        found = [f for f in maybe if self.holds(f, *self.taken, *self.used)]
        itself = () if told is None else (told,)
        return [f for f in found if not self.holds(f, *itself)]

    def conclude(self, told: Any | None) -> list[Fact]:
        """What is certain now and was not, from now on taken as known."""
        found = self.certain(told)
        self.concluded += found
        return found

    def needed(self, taken: Sequence[Any], known: Sequence[Fact], facts: Sequence[Fact]) -> tuple[int, ...]:
        """The fewest rules that lead from these to the facts; no facts: that no deal is left."""
        with self._against(facts):
            core = smallest_core(self.case.solver, self.used, (*taken, *(self.literals[f] for f in known)))
        assert core is not None
        return tuple(core)

    def uses(self, number: int, facts: Sequence[Fact], earlier: Sequence[Fact]) -> set[Fact]:
        """The fewest of the facts concluded earlier that, with what this step takes, lead to its facts; sides rather
        than roles. All, if none are enough."""
        own = self.taken[number - 1 : number] if number else []
        sides = [f for f in earlier if f.what in self.case.setting.sides]
        with self._against(facts):
            for offered in (sides, earlier):
                literals = [self.literals[f] for f in offered]
                core = smallest_core(self.case.solver, literals, (*own, *self.used))
                if core is not None:
                    return {offered[i] for i in core}
        return set(earlier)

    @contextmanager
    def _against(self, facts: Sequence[Fact]) -> Iterator[None]:
        """While one of the facts is taken not to hold."""
        self.case.solver.push()
        if facts:
            self.case.solver.add(z3.Or([z3.Not(self.literals[f]) for f in facts]))
        try:
            yield
        finally:
            self.case.solver.pop()


def argue(
    case: Case, fact: Fact | None, labels: Sequence[int], used: Sequence[tuple[tuple[str, ...], str]]
) -> tuple[Step, ...]:
    """The steps from the contrary of a fact to the point at which no deal is left."""
    case.solver.push()
    try:
        if fact is not None:
            case.solver.add(term(not_(case.condition(fact))))
        proof = _Proof(case, [case.rules[key] for key in used], _literals(case))
        return tuple(_steps(proof, case, list(labels)))
    finally:
        case.solver.pop()


def _steps(proof: _Proof, case: Case, waiting: list[int]) -> list[Step]:
    groups = _groups(proof)
    found: list[tuple[int | None, list[Fact], list[Group] | None]] = [(None, proof.conclude(None), groups)]
    while waiting:
        chosen, groups = _next(proof, waiting, groups)
        waiting.remove(chosen)
        proof.taken.append(case.told[chosen])
        found.append(
            (chosen, proof.conclude(case.told[chosen]) if waiting else [], groups if waiting else [])
        )
    said = _said(proof, [facts for _, facts, _ in found])
    steps: list[Step] = []
    known: list[Fact] = []
    for number, (label, _, left) in enumerate(found):
        facts = said[number]
        last = number == len(found) - 1
        rules = proof.needed(proof.taken[:number], known, facts) if facts or last else ()
        known += facts
        steps.append(Step(label, rules, facts, None if left is None else len(left)))
    return steps


def _said(proof: _Proof, concluded: Sequence[Sequence[Fact]]) -> list[tuple[Fact, ...]]:
    """What each step says of what it concludes: all if that is little, else what later steps use of it."""
    setting = proof.case.setting
    used: set[Fact] = set()
    said: list[tuple[Fact, ...]] = []
    for number in range(len(concluded) - 1, -1, -1):
        facts = _plainest(concluded[number], setting)
        if len(facts) > MOST_FACTS:
            facts = tuple(f for f in concluded[number] if f in used)
        said.insert(0, tuple(sorted(facts, key=lambda f: (f.what != setting.sides[-1], f.seat))))
        earlier = [f for step in concluded[:number] for f in step]
        if facts or number == len(concluded) - 1:
            used |= proof.uses(number, facts, earlier)
    return said


def _plainest(facts: Sequence[Fact], setting: Setting) -> tuple[Fact, ...]:
    """Without the sides of those whose role is known as well."""
    named = {f.seat for f in facts if f.what in setting.roles}
    return tuple(f for f in facts if f.what in setting.roles or f.seat not in named)


def _literals(case: Case) -> dict[Fact, Any]:
    """A literal for every seat and what it can be."""
    made: dict[Fact, Any] = {}
    for seat in range(len(case.setting.names)):
        for what in (*case.setting.sides, *case.setting.roles):
            fact = Fact(seat, what)
            made[fact] = z3.Bool(f"seat {seat} {what}")
            case.solver.add(made[fact] == term(case.condition(fact)))
    return made


def _few(proof: _Proof) -> list[Any]:
    side = proof.case.setting.sides[-1]
    return [proof.literals[Fact(seat, side)] for seat in range(len(proof.case.setting.names))]


def _groups(proof: _Proof) -> list[Group] | None:
    """Who can be on the smaller side together by all the rules, before anything is taken."""
    case, few = proof.case, _few(proof)
    found: list[Group] = []
    case.solver.push()
    while len(found) <= MOST_GROUPS and consistent(case.solver, tuple(case.rules.values())):
        model = case.solver.model()
        group = tuple(z3.is_true(model.eval(x, model_completion=True)) for x in few)
        found.append(group)
        case.solver.add(z3.Or([z3.Not(x) if there else x for x, there in zip(few, group, strict=True)]))
    case.solver.pop()
    return found if len(found) <= MOST_GROUPS else None


def _next(
    proof: _Proof, waiting: Sequence[int], groups: list[Group] | None
) -> tuple[int, list[Group] | None]:
    """Of what is still to be taken, what leaves the fewest groups (of several the earliest), and those."""
    if groups is None or len(waiting) == 1:
        return waiting[0], groups
    kept = {label: _fitting(proof, label, groups) for label in waiting}
    best = min(waiting, key=lambda label: (len(kept[label]), label))
    return best, kept[best]


def _fitting(proof: _Proof, label: int, groups: Sequence[Group]) -> list[Group]:
    """The groups that are possible with one thing more taken."""
    case, few = proof.case, _few(proof)
    assumed = (*case.rules.values(), *proof.taken, case.told[label])
    return [
        group
        for group in groups
        if consistent(
            case.solver,
            (*assumed, *(x if there else z3.Not(x) for x, there in zip(few, group, strict=True))),
        )
    ]
