"""Twins made by exchanging what two seats were dealt: how secrecy is proved.

To show that a seat can never be certain of something, every game needs a twin that looks the same to the seat and in
which the thing is otherwise. A swap takes a game and exchanges what two other seats were dealt, every other move staying
as it was. `SwapProver.safe_at` proves, for a condition on the two seats (a guard) and a card of the watcher, that on the
way to some stage of the game the swapped game is always legal and always looks the same.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import z3  # type: ignore[import-untyped]
from z3 import z3util

from proofs.clock import Clock
from proofs.exchange import exchanged
from proofs.guards import Guard, dealt_map
from proofs.induction import said
from proofs.lemmas import Lemma
from proofs.pairs import Pair
from rules_dsl import model as m
from rules_dsl.smt import Place, Step, SymbolicState, finite_solver
from rules_dsl.smt.execute import is_awaited
from rules_dsl.smt.expressions import Scene, truth_of, value_of
from rules_dsl.smt.raw import conjunction, substituted
from rules_dsl.smt.symbolic import Symbolic, declare, leaves, same, well_formed
from rules_dsl.smt.terms import Num, Truth, and_, equal, implies, not_, number, or_, term
from rules_dsl.smt.unroll import input_leaves, input_type
from rules_dsl.types import MapType, PlayerType
from rules_dsl.walk import every, statements

Stage = tuple[Place, tuple[bool, ...]]  # a place, and which of the marks hold there


@dataclass(frozen=True)
class Swap:
    """An exchange that works for watchers who are shown these things and no others, at these stages."""

    guard: Guard
    shown: tuple[str, ...]
    stages: frozenset[Stage]

    @property
    def text(self) -> str:
        seen = " and ".join(self.shown) or "nothing"
        return f"whoever is shown {seen}: exchange {self.guard.text}"


class SwapProver:
    """Proves which swaps work. `marks` are closed conditions that tell stages at one place apart."""

    def __init__(self, pair: Pair, proved: Sequence[Lemma], marks: Sequence[m.Expr], clock: Clock) -> None:
        self.pair = pair
        self.system = pair.system
        dealt = dealt_map(pair.system.model)
        assert dealt is not None
        assert isinstance(dealt.type, MapType)
        assert isinstance(dealt.type.key, PlayerType)
        self.dealt = dealt
        self.key = dealt.type.key
        self.marks = list(marks)
        self.shows = [
            s
            for phase in pair.system.model.phases.values()
            for s in statements(phase.body)
            if isinstance(s, m.Show)
        ]
        self.clock = clock
        self.facts = [term(said(self.system, claim, self.system.before)) for claim in proved]
        self.a, self.b = (declare(self.key, f"swap {x}") for x in ("a", "b"))
        self._tried: dict[tuple[str, tuple[str, ...], Stage], Swap | None] = {}
        self._worked: dict[tuple[Any, ...], bool] = {}
        self._refused: Counter[Place] = Counter()
        self._here: dict[Swap, Truth] = {}
        self._follows: dict[Place, list[Any]] = {}
        self._seen: dict[tuple[Any, ...], list[tuple[str, Truth]]] = {}
        self._guarded: dict[tuple[Any, ...], Truth] = {}
        self._resting: dict[tuple[Any, ...], Truth] = {}
        self._stands: dict[tuple[Any, ...], tuple[m.Knows, Truth]] = {}
        self._after: dict[tuple[Any, ...], tuple[m.Knows, Truth]] = {}
        self._solvers = {place: self._solver(place) for place in self.system.steps}
        self.states = finite_solver()  # every state the proved claims allow
        self.states.add(term(self.system.valid), term(self.system.formed), *self.facts)
        self._ways = {place: set(self._targets(place, [])) for place in self.system.steps}
        self.starts_alike = self._starts_alike()

    def _solver(self, place: Place) -> Any:
        solver = finite_solver()
        solver.add(*(part for _, part in self.ground(place)))
        return solver

    def stage_of(self, state: SymbolicState) -> tuple[Any, list[Any]]:
        """The place and the marks of a state as terms."""
        scene = self.system.scene(state)
        return state.place, [term(truth_of(mark, scene)) for mark in self.marks]

    def at_stage(self, stage: Stage, state: SymbolicState) -> Truth:
        scene = self.system.scene(state)
        marks = (truth_of(x, scene) for x in self.marks)
        parts = (x if held else not_(x) for x, held in zip(marks, stage[1], strict=True))
        return and_((self.system.at(state, stage[0]), *parts))

    def _targets(self, place: Place, conditions: Sequence[Any]) -> Iterator[tuple[tuple[bool, ...], Stage]]:
        """From which marks here to which stage there can be a step, under these conditions."""
        step, solver = self.system.steps[place], self._solvers[place]
        solver.push()
        solver.add(*conditions)
        before = self.stage_of(self.system.before)[1]
        where, after = self.stage_of(step.after)
        while self.clock.check(solver):
            model = solver.model()
            held, then = (
                tuple(z3.is_true(model.eval(x, model_completion=True)) for x in marks)
                for marks in (before, after)
            )
            index = next(
                i
                for i in range(len(self.system.places))
                if z3.is_true(model.eval(term(equal(where, number(i))), model_completion=True))
            )
            yield held, (self.system.places[index], then)
            blocked = [term(equal(where, number(index)))]
            blocked += [x if h else z3.Not(x) for x, h in zip(before, held, strict=True)]
            blocked += [x if h else z3.Not(x) for x, h in zip(after, then, strict=True)]
            solver.add(z3.Not(z3.And(*blocked)))
        solver.pop()

    # --- does a swap work? ---

    def safe_at(self, guard: Guard, shown: tuple[str, ...], stage: Stage) -> Swap | None:
        """The swap for watchers who are shown just this, if it works at this stage and at every stage on the way to it."""
        key = (guard.text, shown, stage)
        if key not in self._tried:
            way = self._way_to(stage)
            # where swaps have failed most often the next one is likely to fail too
            places = sorted(self.system.steps, key=lambda place: -self._refused[place])
            works = self.starts_alike and all(self._works(place, guard, shown, way) for place in places)
            self._tried[key] = Swap(guard, shown, way) if works else None
        return self._tried[key]

    def _way_to(self, stage: Stage) -> frozenset[Stage]:
        """The stage and all that can come before it."""
        found, queue = {stage}, [stage]
        while queue:
            wanted = queue.pop()
            for place, ways in self._ways.items():
                for held, to in ways:
                    if to == wanted and (place, held) not in found:
                        found.add((place, held))
                        queue.append((place, held))
        return frozenset(found)

    def _works(self, place: Place, guard: Guard, shown: tuple[str, ...], way: frozenset[Stage]) -> bool:
        """Does the swapped game follow every step from here that stays on the way?"""
        key = (guard.text, shown, *self._stays(place, way))  # other ways may take the same steps from here
        if key not in self._worked:
            failing = self.failing(place, guard, shown, way)
            if failing is None:
                return True
            solver = self._solvers[place]
            solver.push()
            solver.add(*failing)
            try:
                self._worked[key] = not self.clock.check(solver)
            finally:
                solver.pop()
            self._refused[place] += not self._worked[key]
        return self._worked[key]

    def _stays(self, place: Place, way: frozenset[Stage]) -> tuple[frozenset[Stage], frozenset[Stage]]:
        """The stages at a place that are on the way, and those on it to which a step leads from there."""
        froms = frozenset(s for s in way if s[0] == place)
        return froms, frozenset(to for held, to in self._ways[place] if (place, held) in way) & way

    def failing(
        self, place: Place, guard: Guard, shown: tuple[str, ...], way: frozenset[Stage]
    ) -> list[Any] | None:
        """That a step from here stays on the way and the swapped game does not follow it; None if no step stays on it."""
        step = self.system.steps[place]
        froms, targets = self._stays(place, way)
        if not froms or not targets:
            return None
        return [
            term(or_(self.at_stage(s, self.system.before) for s in sorted(froms, key=str))),
            term(or_(self.at_stage(s, step.after) for s in sorted(targets, key=str))),
            *self._fails(place, guard, shown),
        ]

    def ground(self, place: Place) -> list[tuple[str, Any]]:
        """What is known of every step from a place."""
        system = self.system
        parts = [
            ("the parameters are allowed", system.valid),
            ("the state is well formed", system.formed),
            (f"the game stands at {place}", system.at(system.before, place)),
            ("a legal step", system.steps[place].legal),
        ]
        return [*((label, term(x)) for label, x in parts), *(("proved", fact) for fact in self.facts)]

    def elsewhere(self, place: Place) -> Any:
        """A step from here leads where no step was found to lead."""
        before, step = self.system.before, self.system.steps[place]
        return term(
            and_(
                not_(and_((self.at_stage((place, held), before), self.at_stage(to, step.after))))
                for held, to in sorted(self._ways[place], key=str)
            )
        )

    def start_differs(self) -> Any:
        """Exchanging two seats changes an initial state."""
        seats = (well_formed(x, self.key, self.system.players) for x in (self.a, self.b))
        return term(and_((*seats, not_(self._same_exchanged(self.system.initial)))))

    def _starts_alike(self) -> bool:
        """Does a game with two seats exchanged begin as it did?"""
        solver = finite_solver()
        solver.add(term(self.system.valid), self.start_differs())
        return not self.clock.check(solver)

    def _same_exchanged(self, state: SymbolicState) -> Truth:
        """Exchanging the two seats changes nothing of what was dealt."""
        held = state.values[self.dealt.name]
        return same(exchanged(held, self.dealt.type, self.a, self.b), held)

    def deal_differs(self, place: Place) -> Any:
        """Cards of which two were exchanged do not lie as the deck has them; None if none are dealt here."""
        step, theirs = self.system.steps[place], self.pair.twin.steps[place]
        if not self._dealing(step):
            return None
        domain = and_(c.term for c in theirs.conditions if c.rule is None)
        inputs = self._inputs(step, theirs, True)
        return term(and_((*self._seated(), z3.Not(substituted(term(domain), inputs)))))

    def _chosen(self, guard: Guard, shown: tuple[str, ...], state: SymbolicState) -> Truth:
        """Watcher and seats are as the swap wants them, in this state."""
        scene = self.system.scene(state).bind(a=self.a, b=self.b)
        return and_(
            (*self._seated(), self._is_shown(self.pair.watcher, shown, scene), truth_of(guard.value, scene))
        )

    def _seated(self) -> list[Truth]:
        """The watcher and the two who exchange their cards sit at the table, on seats of their own."""
        seats = (self.pair.watcher, self.a, self.b)
        apart = [not_(equal(x, y)) for x, y in combinations(seats, 2)]
        return [*(well_formed(x, self.key, self.system.players) for x in seats), *apart]

    def sees(self, seat: Num, scene: Scene) -> list[tuple[str, Truth]]:
        """What the game has to show, and whether it shows it to a seat."""
        key = self._known_scene(scene, seat)
        if key is not None and key in self._seen:
            return self._seen[key]
        found = [(s.name, truth_of(s.condition, scene.bind(**{s.seat: seat}))) for s in self.shows]
        if key is not None:
            self._seen[key] = found
        return found

    def _is_shown(self, seat: Num, shown: tuple[str, ...], scene: Scene) -> Truth:
        return and_(x if name in shown else not_(x) for name, x in self.sees(seat, scene))

    def _fails(self, place: Place, guard: Guard, shown: tuple[str, ...]) -> list[Any]:
        """The condition that the swapped game does not follow a step, or looks otherwise."""
        step = self.system.steps[place]
        chosen = self._chosen(guard, shown, step.after)
        if place not in self._follows:
            self._follows[place] = self._following(place)
        # before the deal the exchange was made as well, or there was nothing to exchange
        before = self._chosen(guard, shown, self.system.before)
        if self._dealing(step):
            before = or_((before, self._same_exchanged(self.system.before)))
        return [term(chosen), z3.Not(z3.And(*self._follows[place], term(before)))]

    def _dealing(self, step: Step) -> bool:
        return step.choice.variable == self.dealt.name

    def _following(self, place: Place) -> list[Any]:
        """The swapped game follows the step from a place and looks the same, whatever the swap asks of the seats."""
        step, theirs = self.system.steps[place], self.pair.twin.steps[place]
        dealing = self._dealing(step)
        before = self._swapped(self.system.before)
        pairs = list(
            zip(
                self.pair.twin.state_leaves(self.pair.twin.before),
                self.system.state_leaves(before),
                strict=True,
            )
        )
        pairs += self._inputs(step, theirs, dealing)
        after = zip(
            self.pair.twin.state_leaves(theirs.after),
            self.system.state_leaves(self._swapped(step.after)),
            strict=True,
        )
        # an arrangement of the deck with two cards exchanged is one too: counting them again would only cost time
        legal = self._may_be_dealt(theirs) if dealing else theirs.legal
        works = [term(legal), term(self.pair.same_step[place]), *(x == y for x, y in after)]
        # one substitution for all: what is ours holds nothing of the twin and comes out as it went in
        return list(substituted(conjunction(works), pairs).children())

    def _may_be_dealt(self, theirs: Step) -> Truth:
        """An arrangement of the deck the rules of the deal allow and chance gives weight."""
        choice = theirs.choice
        parts = [c.term for c in theirs.conditions if c.rule is not None]
        if choice.weight is not None:
            scene = self.pair.twin.scene(self.pair.twin.before).bind(**{choice.variable: theirs.value})
            parts.append(not_(equal(value_of(choice.weight, scene), number(0))))
        return and_(parts)

    def _inputs(self, step: Step, theirs: Step, dealing: bool) -> list[tuple[Any, Any]]:
        model = self.system.model
        twins = input_leaves(theirs, model)
        if not dealing:
            return list(zip(twins, input_leaves(step, model), strict=True))
        swapped = exchanged(step.value, self.dealt.type, self.a, self.b)
        return list(zip(twins, leaves(swapped, input_type(step, model)), strict=True))

    def _swapped(self, state: SymbolicState) -> SymbolicState:
        values = exchanged(state.values[self.dealt.name], self.dealt.type, self.a, self.b)
        return replace(state, values={**state.values, self.dealt.name: values})

    # --- what nobody can be certain of ---

    def here(self, swap: Swap) -> Truth:
        """Does the swap work at the stage the state is at?"""
        if swap not in self._here:
            stages = sorted(swap.stages, key=str)
            self._here[swap] = or_(self.at_stage(stage, self.system.before) for stage in stages)
        return self._here[swap]

    def not_refuted(
        self, swaps: Sequence[Swap], scene: Scene, expr: m.Knows, here: Callable[[Swap], Truth]
    ) -> Truth:
        """A fact the seat may know: it holds, and no swap that works shows a game in which it does not."""
        fact = truth_of(expr.fact, scene)
        who = value_of(expr.player, scene)
        return and_((fact, *(self._unshaken(swap, fact, scene, expr, who, here) for swap in swaps)))

    def _unshaken(
        self, swap: Swap, fact: Truth, scene: Scene, expr: m.Knows, who: Num, here: Callable[[Swap], Truth]
    ) -> Truth:
        """The swap cannot be used, or the fact holds after it as well; made once, for swaps are only ever added."""
        key = self._known_scene(scene, who, *scene.bound.values())
        key = None if key is None else (id(expr), *scene.bound, *key, swap)
        if key is not None and key in self._stands:
            return self._stands[key][1]
        usable = and_((here(swap), self._is_shown(who, swap.shown, scene)))
        kept: Truth = True
        if usable is not False:
            kept = and_(
                or_((not_(usable), self._kept(swap, scene, expr, who, a, b)))
                for a, b in self.pairs(fact, scene)
            )
        if key is not None:
            self._stands[key] = expr, kept  # with the expression, so that its identity stays its own
        return kept

    def pairs(self, fact: Truth, scene: Scene) -> Iterator[tuple[Num, Num]]:
        """The pairs of seats whose exchange could make a difference to a fact."""
        many = self.key.count
        entries = scene.variables[self.dealt.name].entries
        spoken = set(range(many))
        if not isinstance(fact, bool):
            read = {x.get_id() for x in z3util.get_vars(fact)}
            spoken = {
                i for i, e in enumerate(entries) if isinstance(e.value, int) or e.value.get_id() in read
            }
        for a in range(many):
            for b in range(a + 1, many):
                if a in spoken or b in spoken:
                    yield number(a), number(b)

    def _kept(self, swap: Swap, scene: Scene, expr: m.Knows, who: Num, a: Num, b: Num) -> Truth:
        """Either these two cannot be exchanged, or the fact holds after it as well. The twin must rest as the game does."""
        fits = and_((self.fits(swap.guard, scene, who, a, b), self._rests_after(scene, a, b)))
        if fits is False:
            return True
        return or_((not_(fits), self._fact_after(scene, expr, a, b)))

    def _rests_after(self, scene: Scene, a: Num, b: Num) -> Truth:
        """After the exchange somebody still is to choose here, or the game is over."""
        if self.system.rests is True:
            return True
        key = self._known_scene(scene, a, b)
        if key is not None and key in self._resting:
            return self._resting[key]
        after, system = self.after_swap(scene, a, b), self.system
        symbolic = scene.variables is system.before.values
        found = and_(
            implies(
                system.at(system.before, place) if symbolic else scene.standing(place.phase),
                is_awaited(step.choice, after),
            )
            for place, step in system.steps.items()
            if step.awaited is not True
        )
        if key is not None:
            self._resting[key] = found
        return found

    def _known_scene(self, scene: Scene, *numbers: Symbolic) -> tuple[Any, ...] | None:
        """A key for terms about the state before that name these values, if all of them are plain."""
        plain = [x.value if isinstance(x, Num) else x for x in numbers]
        same_state = scene.variables is self.system.before.values
        return tuple(plain) if same_state and all(isinstance(x, int) for x in plain) else None

    def _fact_after(self, scene: Scene, expr: m.Knows, a: Num, b: Num) -> Truth:
        """The fact, after the exchange; the same for all swaps, so it is made once."""
        key = self._known_scene(scene, a, b, *scene.bound.values())
        key = None if key is None else (id(expr), *scene.bound, *key)
        if key is not None and key in self._after:
            return self._after[key][1]
        found = truth_of(expr.fact, self.after_swap(scene, a, b))
        if key is not None and not any(isinstance(e, m.Knows) for e in every(expr.fact)):
            self._after[key] = expr, found  # with the expression, so that its identity stays its own
        return found

    def fits(self, guard: Guard, scene: Scene, who: Num, a: Num, b: Num) -> Truth:
        seated = [well_formed(x, self.key, scene.players) for x in (a, b)]
        apart = [not_(equal(who, x)) for x in (a, b)]
        return and_((*seated, *apart, self._guard_holds(guard, scene, a, b)))

    def _guard_holds(self, guard: Guard, scene: Scene, a: Num, b: Num) -> Truth:
        key = self._known_scene(scene, a, b)
        key = None if key is None else (guard.text, *key)
        if key is not None and key in self._guarded:
            return self._guarded[key]
        found = truth_of(guard.value, replace(scene, bound={"a": a, "b": b}))
        if key is not None:
            self._guarded[key] = found
        return found

    def after_swap(self, scene: Scene, a: Num, b: Num) -> Scene:
        values = exchanged(scene.variables[self.dealt.name], self.dealt.type, a, b)
        return replace(scene, variables={**scene.variables, self.dealt.name: values})
