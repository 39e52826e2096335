"""Is the game ever stuck? Whoever must choose always finds a legal choice, and phases never run in a circle.

Small domains are tried out value by value in the solver. Of large ones (sets of seats, arrangements of a deck) it tries
a few values; where none of them is legal, one that is is looked for, and the solver tries that as well from then on.
"""

from __future__ import annotations

from proofs.clock import Clock, OutOfTime
from proofs.deals import Order, may_be_dealt, order_of, plain_order
from proofs.replays import Disagreement
from proofs.samples import arrangements
from rules_dsl import model as m
from rules_dsl import reference
from rules_dsl.model import Value
from rules_dsl.play import CHANCE, IllegalMove, State, Stuck
from rules_dsl.settle import settle
from rules_dsl.smt import Game, Place, Step, System, finite_solver
from rules_dsl.smt.execute import CIRCLE
from rules_dsl.smt.expressions import Scene, truth_of, value_of
from rules_dsl.smt.symbolic import constant, model_reader, well_formed
from rules_dsl.smt.system import deal_exists
from rules_dsl.smt.terms import Truth, and_, equal, implies, not_, number, or_, term
from rules_dsl.smt.unroll import are_params, decode_move, is_state
from rules_dsl.types import SetType
from rules_dsl.values import all_values, count_values, is_value

SMALL = 64
MOST_ARRANGEMENTS = 200_000  # of a deck that the interpreter tries before it says that none may be dealt


class Stuckness:
    """The condition of being stuck, over the values tried so far; `learn` adds values."""

    def __init__(self, system: System) -> None:
        self.system = system
        self.tried: dict[Place, list[Value]] = {}
        self.orders: dict[Place, list[Order]] = {}  # for deals: of the laid-out deck
        for place, step in system.steps.items():
            type_ = step.choice.type
            seats = system.model.players.count
            if step.choice.deal is not None:
                self.orders[place] = [plain_order(step)]
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
            if choice.weight is None and all(r.kind != "require" for r in choice.requires):
                return not_(deal_exists(system, step))
            return and_(not_(may_be_dealt(system, step, order)) for order in self.orders[step.place])
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

    def learn(self, game: Game, clock: Clock) -> bool:
        """Looks for legal choices in the last state of a game; False if somebody really has none."""
        state = game.states[-1]
        if state.phase == CIRCLE:
            return False
        settled = settle(self.system.model, game.params)
        awaited = reference.pending(settled.model, state)
        if awaited is None:
            return False
        place = Place(state.phase, state.step)
        if awaited.choice.deal is not None:
            return self._learn_deal(game, settled.model, awaited.choice, place, clock)
        found = []
        for seat in awaited.seats:
            value = next(reference.options(settled.model, state, seat), None)
            if value is not None:
                found.append(value)
            elif awaited.choice.chooser.kind != "one":
                return False
        if not found:
            return False
        new = [v for v in found if v not in self.tried[place]]
        if not new:
            raise Disagreement(f"the solver tried {found} at {place} and did not see that they are legal")
        self.tried[place] += new
        return True

    def _learn_deal(self, game: Game, table: m.Model, choice: m.Choice, place: Place, clock: Clock) -> bool:
        """Another way to lay the deck out, found by the solver and allowed by the interpreter."""
        system, step, state = self.system, self.system.steps[place], game.states[-1]
        env = reference.environment(table, state)
        solver = finite_solver()
        solver.add(are_params(system, game.params), is_state(system, system.before, state), term(step.legal))
        if not clock.check(solver):
            if arrangements(choice, env) > MOST_ARRANGEMENTS:
                raise OutOfTime(f"more than {MOST_ARRANGEMENTS} arrangements of '{choice.variable}' to try")
            if next(reference.options(table, state, CHANCE), None) is not None:
                raise Disagreement(
                    f"the solver finds no arrangement for '{choice.variable}', the interpreter one"
                )
            return False
        ((_, value),) = decode_move(system, step, model_reader(solver.model()))
        try:
            reference.check_value(choice, env, CHANCE, value)
        except IllegalMove as error:
            raise Disagreement(f"the solver dealt {value}, which is illegal: {error.message}") from None
        assert isinstance(value, tuple)
        order = order_of(step, value)
        if order in self.orders[place]:
            raise Disagreement(f"the solver tried {value} and did not see that it may be dealt")
        self.orders[place].append(order)
        return True


def goes_round(model: m.Model, game: Game) -> bool:
    """Does the interpreter, too, find that the last move of the game leads to phases in which nobody ever chooses again?"""
    table = settle(model, game.params).model
    try:
        state: State = reference.start(table).state
        for move in game.moves:
            state = reference.step(table, state, move).state
    except Stuck:
        return True
    return False


def well_formed_constant(value: Value, choice: m.Choice, system: System) -> Truth:
    """Is this a value of the choice at a table of so many players?"""
    counts = range(system.model.fewest, system.model.most + 1)
    if all(is_value(choice.type, value, n) for n in counts if n <= system.model.players.count):
        return True
    return well_formed(constant(value, choice.type), choice.type, system.players)
