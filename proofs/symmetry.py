"""Is what a phase shows the same for every seating? Exchange two seats, with everything they hold and everything that
names them, and what is shown must be exchanged with them.

Proved in one step for any two neighbours, in every well-formed state: exchanging neighbours again and again leads to every
seating. Otherwise a game is searched for in which exchanging two seats shows something else.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations, pairwise

import z3  # type: ignore[import-untyped]

from proofs.clock import Clock
from proofs.evidence import Evidence
from proofs.exchange import exchanged
from proofs.findings import Finding, undecided
from proofs.replays import play_on, replay
from proofs.search import search
from rules_dsl import model as m
from rules_dsl.smt import Game, Place, Step, System, compile_smt, finite_solver
from rules_dsl.smt.observations import Slot, looks_same
from rules_dsl.smt.symbolic import Symbolic, model_reader, same
from rules_dsl.smt.terms import Truth, and_, equal, less, not_, number, or_, term
from rules_dsl.smt.unroll import are_params, decode_move, input_type, is_state
from rules_dsl.types import OptionalType, PlayerType, Type

Seats = tuple[int, int]  # two seats that are exchanged


def _turned(value: Symbolic, type_: Type, seats: Seats) -> Symbolic:
    return exchanged(value, type_, number(seats[0]), number(seats[1]))


class Symmetry:
    """The question whether what one phase shows is the same for every seating."""

    def __init__(self, system: System, claim: m.Property) -> None:
        assert claim.phase is not None
        self.system = system
        self.other = compile_smt(system.model, "exchanged")
        self.phase = claim.phase
        self.places = [p for p, step in system.steps.items() if any(self._is_meant(x) for x in step.slots)]
        seats = range(system.model.players.count)
        self.neighbours = list(pairwise(seats))
        self.any_two = list(combinations(seats, 2))

    @property
    def at_the_start(self) -> bool:
        """May the phase show something before anybody has chosen anything?"""
        return any(self._is_meant(x) and x.made is not False for x in self.system.first_slots)

    def _is_meant(self, slot: Slot) -> bool:
        return slot.kind in ("shown", "published") and slot.phase == self.phase

    def _happens(self) -> Truth:
        """Something is shown in the phase."""
        return or_(
            and_(
                (
                    self.system.at(self.system.before, place),
                    step.legal,
                    or_(x.made for x in self._slots(step)),
                )
            )
            for place, step in self._steps()
        )

    def _steps(self) -> Iterator[tuple[Place, Step]]:
        return ((place, self.system.steps[place]) for place in self.places)

    def _slots(self, step: Step) -> list[Slot]:
        return [slot for slot in step.slots if self._is_meant(slot)]

    def broken(self, seats: Seats) -> Truth:
        """After the exchange the choice is not legal, or what is shown is not exchanged."""
        system = self.system
        here = (
            and_((system.at(system.before, place), step.legal, self._exchange(step, seats), not_(kept)))
            for place, step in self._steps()
            if (kept := self._kept(step, seats)) is not True
        )
        return and_((less(number(max(seats)), system.players), or_(here)))

    def _exchange(self, step: Step, seats: Seats) -> Truth:
        """The other game stands where this one does and chooses the same, with the seats exchanged."""
        system, model = self.system, self.system.model
        before, theirs = system.before, self.other.before
        types = {**system.types, "": OptionalType(model.result)}
        ours = {**before.values, "": before.result}
        others = {**theirs.values, "": theirs.result}
        parts = [equal(before.place, theirs.place)]
        parts += [same(_turned(ours[n], type_, seats), others[n]) for n, type_ in types.items()]
        other = self.other.steps[step.place]
        parts.append(same(_turned(step.value, input_type(step, model), seats), other.value))
        if step.seat is not None and other.seat is not None:
            parts.append(equal(_turned(step.seat, model.players, seats), other.seat))
        return and_(parts)

    def _kept(self, step: Step, seats: Seats) -> Truth:
        """The exchanged choice is legal, and shows the exchanged things to the exchanged seats."""
        other = self.other.steps[step.place]
        ours = [_exchanged(slot, seats) for slot in self._slots(step)]
        theirs = self._slots(other)
        alike = (looks_same(ours, theirs, seat) for seat in range(self.system.model.players.count))
        return and_((other.legal, *alike))

    # --- deciding ---

    def decide(self, deepest: int, clock: Clock) -> Finding:
        """Proved for all seatings, or a game that shows otherwise."""
        happens = self._happens()
        if self._of_neighbours(clock):
            evidence = Evidence(self.system, (), or_(self.broken(seats) for seats in self.neighbours))
            return Finding(True, "one step, any two neighbours exchanged", evidence=evidence, happens=happens)
        goal = or_(self.broken(seats) for seats in self.any_two)
        found = search(self.system, {"": goal}, lambda _: clock, deepest)[""]
        if found.game is not None:
            game, (a, b) = self._with_event(found.game, clock)
            replay(self.system.model, game)
            events = len(game.moves)
            how = f"a game of {events} event(s); exchange seats {a + 1} and {b + 1}: what is shown is not exchanged"
            return Finding(False, how, game=game, depth=events)
        if found.complete:
            how = f"complete unrolling: no game has more than {found.depth} events"
            evidence = Evidence(self.system, (), goal, found.depth)
            return Finding(True, how, depth=found.depth, evidence=evidence, happens=happens)
        return undecided(found)

    def _of_neighbours(self, clock: Clock) -> bool:
        """Is it so for any two neighbours in every well-formed state? Nothing else is assumed: what one exchange leads to
        must be open to the next.
        """
        system, solver = self.system, finite_solver()
        solver.add(term(system.valid), term(system.formed))
        literals = []
        for seats in self.neighbours:
            literals.append(z3.Bool(f"exchange {seats}"))
            solver.add(z3.Implies(literals[-1], term(self.broken(seats))))
        return not any(clock.check(solver, literal) for literal in literals)

    def _with_event(self, game: Game, clock: Clock) -> tuple[Game, Seats]:
        """A game whose next event shows it broken: with that event, and the two seats."""
        system, state = self.system, game.states[-1]
        solver = finite_solver()
        solver.add(are_params(system, game.params), is_state(system, system.before, state))
        for seats in self.any_two:
            solver.push()
            solver.add(term(self.broken(seats)))
            if clock.check(solver):
                step = system.steps[Place(state.phase, state.step)]
                move = decode_move(system, step, model_reader(solver.model()))
                return play_on(system.model, game, move), seats
            solver.pop()
        raise AssertionError("the game found shows nothing")


def _exchanged(slot: Slot, seats: Seats) -> Slot:
    """The same thing shown to the exchanged seat, with the seats exchanged in what is shown."""
    assert slot.type is not None
    a, b = seats
    to = slot.to
    if to is not None:
        turned = {a: b, b: a}
        to = tuple(to[turned.get(i, i)] for i in range(len(to)))
    seat = None if slot.seat is None else _turned(slot.seat, PlayerType(len(to or ())), seats)
    return replace(slot, value=_turned(slot.value, slot.type, seats), seat=seat, to=to)
