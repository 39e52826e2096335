"""Is the game ever stuck? Whoever must choose always finds a legal choice, and phases never run in a circle.

Small domains are tried out value by value in the solver. Of large ones (sets of seats) it tries a few values; where
none of them is legal, the interpreter looks for one that is, and the solver tries that as well from then on.
"""

from __future__ import annotations

from rules_dsl import model as m
from rules_dsl import reference
from rules_dsl.model import Value
from rules_dsl.settle import settle
from rules_dsl.smt import Game, Place, Step, System
from rules_dsl.smt.execute import CIRCLE
from rules_dsl.smt.expressions import Scene, truth_of, value_of
from rules_dsl.smt.symbolic import constant, well_formed
from rules_dsl.smt.system import deal_exists
from rules_dsl.smt.terms import Truth, and_, equal, implies, not_, number, or_
from rules_dsl.types import SetType
from rules_dsl.values import all_values, count_values, is_value

SMALL = 64


class Stuckness:
    """The condition of being stuck, over the values tried so far; `learn` adds values."""

    def __init__(self, system: System) -> None:
        self.system = system
        self.tried: dict[Place, list[Value]] = {}
        for place, step in system.steps.items():
            type_ = step.choice.type
            seats = system.model.players.count
            if step.choice.deal is not None:
                self.tried[place] = []
            elif count_values(type_, seats) <= SMALL:
                self.tried[place] = list(all_values(type_, seats))
            elif isinstance(type_, SetType):
                members = list(all_values(type_.element, seats))
                self.tried[place] = [frozenset(members[:k]) for k in range(len(members) + 1)]
            else:
                self.tried[place] = [next(iter(all_values(type_, seats)))]

    def condition(self) -> Truth:
        """Nobody at this place has any of the values tried; or phases run in a circle."""
        system = self.system
        parts = [
            and_((system.at(system.before, place), step.awaited, self._at(step)))
            for place, step in system.steps.items()
        ]
        parts += [system.at(system.before, place) for place in system.places if place.phase == CIRCLE]
        return or_(parts)

    def _at(self, step: Step) -> Truth:
        choice, system = step.choice, self.system
        if choice.optional:
            return False
        if choice.deal is not None:
            return not_(deal_exists(system, step))
        scene = system.scene(system.before)
        values = self.tried[step.place]
        if choice.chooser.kind == "each":
            return or_(
                and_((chooses, *(not_(self._allowed(choice, scene, seat, v)) for v in values)))
                for seat, chooses in enumerate(step.seats)
            )
        if choice.chooser.kind == "one":
            return and_(
                implies(chooses, and_(not_(self._allowed(choice, scene, seat, v)) for v in values))
                for seat, chooses in enumerate(step.seats)
            )
        return and_(not_(self._allowed(choice, scene, None, v)) for v in values)

    def _allowed(self, choice: m.Choice, scene: Scene, seat: int | None, value: Value) -> Truth:
        fixed = constant(value, choice.type)
        names = {choice.variable: fixed}
        if seat is not None:
            names[choice.chooser.seat] = number(seat)
        inside = scene.bind(**names)
        parts = [well_formed_constant(value, choice, self.system)]
        parts += [truth_of(r.condition, inside) for r in choice.requires if r.kind == "require"]
        if choice.weight is not None:
            parts.append(not_(equal(value_of(choice.weight, inside), number(0))))
        return and_(parts)

    def learn(self, game: Game) -> bool:
        """Looks for legal choices in the last state of a game; False if somebody really has none."""
        state = game.states[-1]
        settled = settle(self.system.model, game.params)
        awaited = reference.pending(settled.model, state)
        if awaited is None:
            return False
        place = Place(state.phase, state.step)
        found = []
        for seat in awaited.seats:
            value = next(reference.options(settled.model, state, seat), None)
            if value is not None:
                found.append(value)
            elif awaited.choice.chooser.kind != "one":
                return False
        new = [v for v in found if v not in self.tried[place]]
        self.tried[place] += new
        return bool(new)


def well_formed_constant(value: Value, choice: m.Choice, system: System) -> Truth:
    """Is this a value of the choice at a table of so many players?"""
    counts = range(system.model.fewest, system.model.most + 1)
    if all(is_value(choice.type, value, n) for n in counts if n <= system.model.players.count):
        return True
    return well_formed(constant(value, choice.type), choice.type, system.players)
