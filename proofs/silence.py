"""Does a phase tell anybody anything? A phase is silent to a seat if, whenever two games have looked the same to it, what
happens there in one of them can go the same way, as far as the seat sees, in the other.

Then whatever the seat could not rule out before it cannot rule out afterwards either. That the other game can answer is
shown by answers: the same move, or moves learned from single pairs of games that needed another one. It is proved by
what all games that look the same share (`agreement`), and refuted by two games of which one cannot be answered at all.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import z3  # type: ignore[import-untyped]

from proofs.agreement import Agreement
from proofs.clock import Clock
from proofs.pairs import Pair, PairSearch
from proofs.replays import play_on, replayed
from rules_dsl import model as m
from rules_dsl.play import Move
from rules_dsl.smt import Game, Place, Step, finite_solver
from rules_dsl.smt.expressions import truth_of
from rules_dsl.smt.symbolic import model_reader, read_number
from rules_dsl.smt.terms import Truth, and_, equal, number, or_, term
from rules_dsl.smt.unroll import (
    are_params,
    decode_move,
    decode_params,
    decode_place,
    decode_state,
    input_leaves,
    is_move,
    is_state,
)


class Silence:
    """The question whether one phase of a pair's game is silent, and the answers learned so far."""

    def __init__(self, pair: Pair, claim: m.Property) -> None:
        assert claim.phase is not None
        self.pair = pair
        self.claim = claim
        self.places = [place for place in pair.system.steps if place.phase == claim.phase]
        same = {p: input_leaves(pair.system.steps[p], pair.system.model) for p in self.places}
        self._answers: dict[Place, list[Any]] = {p: [self._answered(p, same[p])] for p in self.places}

    def happens(self) -> Truth:
        """Something is chosen in the phase, and the watcher is one of those meant."""
        system = self.pair.system
        parts = (and_((system.at(system.before, p), self._meant(system.steps[p]))) for p in self.places)
        return and_((self.pair.seated, or_(parts)))

    def _meant(self, step: Step) -> Truth:
        """The step is legal, and after it the watcher is one of the seats the claim speaks of."""
        scene = self.pair.system.scene(step.after)
        if self.claim.value is None:
            return step.legal
        return and_(
            (step.legal, truth_of(self.claim.value, scene.bind(**{self.claim.seat: self.pair.watcher})))
        )

    def told(self) -> Truth:
        """Something happens in the phase to which no answer known so far looks the same in the other game."""
        system, twin = self.pair.system, self.pair.twin
        return or_(
            and_(
                (
                    system.at(system.before, place),
                    twin.at(twin.before, place),
                    self._meant(system.steps[place]),
                    *(z3.Not(answer) for answer in self._answers[place]),
                )
            )
            for place in self.places
        )

    def _answer(self, place: Place) -> Any:
        """The other game makes a legal move that looks the same and leads to the same place."""
        ours, theirs = self.pair.system.steps[place], self.pair.twin.steps[place]
        together = equal(ours.after.place, theirs.after.place)
        return term(and_((theirs.legal, self.pair.same_step[place], together)))

    def _answered(self, place: Place, inputs: Sequence[Any]) -> Any:
        """The same, with these inputs as the move."""
        theirs = input_leaves(self.pair.twin.steps[place], self.pair.twin.model)
        return z3.substitute(self._answer(place), *zip(theirs, inputs, strict=True))

    def learn(self, ours: Game, theirs: Game, move: Move, seat: int, clock: Clock) -> bool:
        """Another answer, for two games that need one; False if there is none and the watcher is told something."""
        pair, state = self.pair, ours.states[-1]
        place = Place(state.phase, state.step)
        solver = finite_solver()
        solver.add(are_params(pair.system, ours.params), term(equal(pair.watcher, number(seat))))
        solver.add(is_state(pair.system, pair.system.before, state))
        solver.add(is_state(pair.twin, pair.twin.before, theirs.states[-1]))
        solver.add(is_move(pair.system, pair.system.steps[place], move), self._answer(place))
        if not clock.check(solver):
            return False
        model = solver.model()
        leaves = input_leaves(pair.twin.steps[place], pair.twin.model)
        inputs = [model.eval(leaf, model_completion=True) for leaf in leaves]
        self._answers[place].append(self._answered(place, inputs))
        return True

    def proved(self, shared: Agreement, clock: Clock) -> tuple[str, ...] | None:
        """What both games share and the proof leans on; None if that does not prove it."""
        while (used := shared.rules_out(self.told(), clock)) is None:
            if not self._learned_from(shared, clock):
                return None
        return used

    def _learned_from(self, shared: Agreement, clock: Clock) -> bool:
        """Learns from two states that what is shared allows; False if nothing answers there."""
        pair, solver = self.pair, finite_solver()
        solver.add(
            *shared.ground(), *(shared.claims[i].value for i in sorted(shared.alive)), term(self.told())
        )
        if not clock.check(solver):
            return True
        read = model_reader(solver.model())
        params = decode_params(pair.system, read)
        ours = Game(params, (decode_state(pair.system, pair.system.before, read),), ())
        theirs = Game(params, (decode_state(pair.twin, pair.twin.before, read),), ())
        step = pair.system.steps[decode_place(pair.system, pair.system.before, read)]
        move = decode_move(pair.system, step, read)
        return self.learn(ours, theirs, move, read_number(pair.watcher, read), clock)

    def find(self, run: PairSearch, clock: Clock) -> tuple[Game, Game, int] | None:
        """Two games of this length, the first with one event more that the second cannot answer; and who is told."""
        while True:
            model = run.solution(self.told(), clock)
            if model is None:
                return None
            ours, theirs, seat = run.ours.trace(model), run.theirs.trace(model), run.seat(model)
            move = run.ours.move(model, run.ours.depth)
            if not self.learn(ours, theirs, move, seat, clock):
                rules = self.pair.system.model
                one, other = replayed(rules, ours.at_rest), replayed(rules, theirs.at_rest)
                return play_on(rules, one, move) if move else one, other, seat
