"""What two games that look the same to a seat have in common, proved by induction over both at once.

Takes a pair and the claims proved about each game by itself; guesses that variables agree, the watcher's own entries
agree, what the watcher was shown agrees; keeps what every pair of steps keeps (as in `induction`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import z3  # type: ignore[import-untyped]

from proofs.clock import Clock
from proofs.induction import said
from proofs.lemmas import Lemma
from proofs.literals import Literals
from proofs.pairs import Pair
from rules_dsl import model as m
from rules_dsl.smt import Place, SymbolicState, finite_solver
from rules_dsl.smt.execute import CIRCLE
from rules_dsl.smt.expressions import Scene, entry, truth_of, value_of
from rules_dsl.smt.raw import conjunction, substituted
from rules_dsl.smt.symbolic import same
from rules_dsl.smt.terms import Truth, and_, equal, iff, implies, term
from rules_dsl.types import MapType, PlayerType
from rules_dsl.walk import statements


@dataclass(frozen=True)
class Common:
    """Something both games share: a sentence and a condition on the two states and the watcher."""

    text: str
    value: Any


def both_scenes(pair: Pair) -> tuple[Scene, Scene]:
    return pair.system.scene(pair.system.before), pair.twin.scene(pair.twin.before)


def _guesses(pair: Pair) -> Iterator[tuple[str, Truth]]:
    model = pair.system.model
    ours, theirs = both_scenes(pair)
    seats = [n for n, v in model.variables.items() if isinstance(v.type, PlayerType)]
    for name, variable in model.variables.items():
        a, b = ours.variables[name], theirs.variables[name]
        yield f"{name} is the same", same(a, b)
        if isinstance(variable.type, MapType) and isinstance(variable.type.key, PlayerType):
            key = variable.type.key
            own = same(entry(a, pair.watcher, key), entry(b, pair.watcher, key))
            yield f"the watcher's {name} is the same", own
        if variable.audience.kind != "public":
            for seat in seats:
                watching = equal(pair.watcher, ours.variables[seat])
                yield f"{name} is the same if {seat} watches", implies(watching, same(a, b))
    for phase in model.phases.values():
        for statement in statements(phase.body):
            if isinstance(statement, m.Show):
                yield f"what the watcher saw of {statement.name} is the same", _shown_same(pair, statement)


def _shown_same(pair: Pair, statement: m.Show) -> Truth:
    """Were it shown now, both games would show the watcher the same."""
    ours, theirs = (s.bind(**{statement.seat: pair.watcher}) for s in both_scenes(pair))
    sees = [truth_of(statement.condition, s) for s in (ours, theirs)]
    values = [value_of(statement.value, s) for s in (ours, theirs)]
    return and_((iff(*sees), implies(and_(sees), same(*values))))


class Agreement:
    """The largest part of the guesses that every two games that look the same to a seat share, place by place."""

    def __init__(self, pair: Pair, proved: Sequence[Lemma], clock: Clock) -> None:
        self.pair = pair
        self.facts = [term(said(s, claim, s.before)) for s in (pair.system, pair.twin) for claim in proved]
        self.claims = list(self._claims())
        self.alive = set(range(len(self.claims)))
        self._before = Literals("pair h", len(self.claims))
        self._broken = Literals("pair v", len(self.claims))
        self._solvers: dict[Place, Any] = {}
        self._start(clock)
        waiting = list(pair.system.steps)
        while waiting:
            place = waiting.pop(0)
            if self._drop_at(place, clock):
                waiting += [p for p in pair.system.steps if p not in waiting and p != place]

    def _claims(self) -> Iterator[Common]:
        system, twin = self.pair.system, self.pair.twin
        yield Common("both stand at the same place", term(equal(system.before.place, twin.before.place)))
        guesses = list(_guesses(self.pair))
        for place in (p for p in system.places if p.phase != CIRCLE):
            here = system.at(system.before, place)
            where = f"in {place.phase}" if place.step is not None else f"over in {place.phase}"
            for text, value in guesses:
                yield Common(f"{where}: {text}", term(implies(here, value)))

    @property
    def in_step(self) -> bool:
        """Do both games always stand at the same place? If not, nothing here can be trusted."""
        return 0 in self.alive

    def moved(self, ours: SymbolicState, theirs: SymbolicState) -> list[Any]:
        """The claims, said of these two states."""
        pairs = []
        for system, state in ((self.pair.system, ours), (self.pair.twin, theirs)):
            old, new = system.state_leaves(system.before), system.state_leaves(state)
            pairs += [(x, y) for x, y in zip(old, new, strict=True) if not x.eq(y)]
        whole = conjunction([*(c.value for c in self.claims), z3.BoolVal(True)])
        return list(substituted(whole, pairs).children())[: len(self.claims)]

    def ground(self) -> list[Any]:
        """What holds of every pair of states, before anything is proved of them together."""
        pair = self.pair
        parts = (pair.system.valid, pair.system.formed, pair.twin.formed, pair.seated)
        return [*(term(x) for x in parts), *self.facts]

    def _start(self, clock: Clock) -> None:
        solver = finite_solver()
        solver.add(term(self.pair.system.valid), term(self.pair.seated), term(self.pair.same_start))
        first = self.moved(self.pair.system.initial, self.pair.twin.initial)
        solver.add(*(self._broken[i] == z3.Not(claim) for i, claim in enumerate(first)))
        while broken := self._find(solver, sorted(self.alive), [], clock):
            self.alive -= broken

    def _solver(self, place: Place) -> Any:
        if place not in self._solvers:
            pair = self.pair
            ours, theirs = pair.system.steps[place], pair.twin.steps[place]
            here: list[Truth] = [pair.system.at(pair.system.before, place)]
            here += [pair.twin.at(pair.twin.before, place), ours.legal, theirs.legal, pair.same_step[place]]
            solver = finite_solver()
            solver.add(*self.ground(), *(term(x) for x in here))
            for i, claim in enumerate(self.moved(ours.after, theirs.after)):
                solver.add(z3.Implies(self._before[i], self.claims[i].value))
                solver.add(self._broken[i] == z3.Not(claim))
            self._solvers[place] = solver
        return self._solvers[place]

    def _find(self, solver: Any, indices: Sequence[int], assumed: Sequence[Any], clock: Clock) -> set[int]:
        solver.push()
        solver.add(self._broken.some_of(indices))
        found = clock.check(solver, *assumed)
        model = solver.model() if found else None
        solver.pop()
        return set() if model is None else self._broken.true_in(model, indices)

    def _drop_at(self, place: Place, clock: Clock) -> bool:
        solver, dropped = self._solver(place), False
        while True:
            alive = sorted(self.alive)
            broken = self._find(solver, alive, [self._before[i] for i in alive], clock)
            if not broken:
                return dropped
            self.alive -= broken
            dropped = True

    def rules_out(self, condition: Truth, clock: Clock) -> tuple[str, ...] | None:
        """What both games share and rules a condition on them out; None if it does not."""
        solver = finite_solver()
        solver.add(*self.ground(), term(condition))
        for i in sorted(self.alive):
            solver.add(z3.Implies(self._before[i], self.claims[i].value))
        if clock.check(solver, *(self._before[i] for i in sorted(self.alive))):
            return None
        used = (self.claims[i].text for i in sorted(self._before.in_core(solver)))
        return tuple(dict.fromkeys(used))  # a phase with several choices has one claim for each
