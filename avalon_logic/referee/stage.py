"""A game set up to be asked questions: the compiled engine, one deal on the table, and ways to play on.

Everything the tables say is found by playing here: choices that do not matter for a question are answered with the
least proper option, the others by the one who asks.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from avalon_logic.referee.plan import Names, plan
from rules_dsl import BadParameter, Settled, Value, compile_python
from rules_dsl.evaluate import Environment, evaluate
from rules_dsl.liveness import live_on_entry
from rules_dsl.model import Choice, Invoke
from rules_dsl.play import CHANCE, Move, Observation, Pending, State
from rules_dsl.python import Engine
from rules_dsl.reference import environment
from rules_dsl.types import EnumType

Answer = Callable[[State, int], Value]
MOST_STEPS = 400


class Unclear(BadParameter):
    """Rules that no table of the kind asked for can state."""


def be_clear(holds: bool, otherwise: str) -> None:
    """Raises `Unclear` unless something the table rests on holds."""
    if not holds:
        raise Unclear(f"there is no referee table for these rules: {otherwise}")


@dataclass(frozen=True, eq=False)
class Stage:
    """One settled game with the roles of its deck."""

    settled: Settled
    engine: Engine = field(repr=False)
    names: Names

    @property
    def players(self) -> int:
        return self.settled.model.players.count

    @cached_property
    def choices(self) -> Mapping[str, Choice]:
        """Every choice of the game by its variable."""
        return {c.variable: c for p in self.settled.model.phases.values() for c in p.choices}

    @cached_property
    def deck(self) -> Mapping[str, int]:
        """How many of each role are in play, those that are."""
        choice = self.choices[self.names.deal]
        assert choice.deal is not None
        counts = evaluate(choice.deal, Environment(self.settled.model, self.players))
        assert isinstance(counts, tuple)
        roles = self.settled.model.enums[_enum_of(choice)].members
        return {role: int(n) for role, n in zip(roles, counts, strict=True) if n}  # type: ignore[arg-type]

    @cached_property
    def sides(self) -> Mapping[str, str]:
        """The side of each role in play."""
        return {role: str(self.attribute(self.names.side, role)) for role in self.deck}

    @cached_property
    def deal(self) -> tuple[str, ...]:
        """The deal on the table: the roles in the order of the rulebook."""
        return tuple(role for role, n in self.deck.items() for _ in range(n))

    @cached_property
    def places(self) -> Mapping[str, int]:
        return {name: i for i, name in enumerate(self.settled.model.variables)}

    @cached_property
    def live(self) -> Mapping[str, frozenset[str]]:
        return live_on_entry(self.settled.model)

    def attribute(self, table: str, role: str) -> Value:
        """An attribute of a role, as the rulebook's table has it."""
        declared = self.settled.model.tables[table]
        (key,) = declared.keys
        assert isinstance(key, EnumType)
        return evaluate(
            declared.cells[key.members.index(role)], Environment(self.settled.model, self.players)
        )

    def value(self, state: State, variable: str) -> Value:
        return state.values[self.places[variable]]

    def ask(self, state: State, definition: str) -> Value:
        """What a definition without parameters is in a state."""
        declared = self.settled.model.definitions[definition]
        return evaluate(Invoke(definition, (), declared.type), environment(self.settled.model, state))

    def pending(self, state: State) -> Pending:
        awaited = self.engine.pending(state)
        assert awaited is not None
        return awaited

    def awaits(self, state: State) -> str | None:
        """The variable to be chosen next, or None when the game is over."""
        if state.over:
            return None
        return self.settled.model.phases[state.phase].choices[state.step].variable

    def key(self, state: State) -> tuple[object, ...]:
        """What of a state can still matter: two states with the same key have the same future."""
        live = self.live[state.phase] | {c.variable for c in self.settled.model.phases[state.phase].choices}
        kept = tuple(state.values[place] for name, place in self.places.items() if name in live)
        return (state.phase, state.step, state.over, state.result, kept)

    # --- playing ---

    def opening(
        self, deal: tuple[str, ...] | None = None, leader: int = 0
    ) -> tuple[State, list[Observation]]:
        """The first state in which a player chooses, with what was shown on the way."""
        first = self.engine.start()
        seen = list(first.observations)
        chance: dict[str, Answer] = {
            self.names.deal: lambda state, seat: deal or self.deal,
            self.names.leader: lambda state, seat: leader,
        }
        state = first.state
        while not state.over and self.pending(state).seats == (CHANCE,):
            state = self.play(state, chance, seen)
        return state, seen

    def play(
        self, state: State, answers: Mapping[str, Answer], seen: list[Observation] | None = None
    ) -> State:
        """The state after the choice awaited."""
        awaited = self.pending(state)
        answer = answers.get(awaited.choice.variable)
        seats = awaited.seats[:1] if awaited.choice.chooser.kind == "one" else awaited.seats
        move: Move = tuple((s, answer(state, s) if answer else self.least(state, s)) for s in seats)
        step = self.engine.step(state, move)
        if seen is not None:
            seen += step.observations
        return step.state

    def least(self, state: State, seat: int) -> Value:
        """The first option that breaks no duty; what may be declined is declined."""
        return next(self.engine.proper_options(state, seat))

    def until(
        self,
        state: State,
        stops: Collection[str],
        answers: Mapping[str, Answer],
        seen: list[Observation] | None = None,
    ) -> State:
        """Plays on until one of these choices is awaited or the game is over."""
        for _ in range(MOST_STEPS):
            if state.over or self.awaits(state) in stops:
                return state
            state = self.play(state, answers, seen)
        raise Unclear(
            f"there is no referee table for these rules: the game never comes to {', '.join(stops)}"
        )

    def options(self, state: State, seat: int | None = None) -> Iterator[Value]:
        """What may be chosen now, by this seat or by the first of those who choose."""
        return self.engine.options(state, self.pending(state).seats[0] if seat is None else seat)


def _enum_of(choice: Choice) -> str:
    from rules_dsl.types import MapType

    assert isinstance(choice.type, MapType)
    assert isinstance(choice.type.value, EnumType)
    return choice.type.value.name


def set_stage(settled: Settled) -> Stage:
    """The stage for a settled game."""
    return Stage(settled, compile_python(settled.model), plan().names)


def missing_names(settled: Settled) -> tuple[str, ...]:
    """The names the tables need and this game does not have; with any of them missing there are no tables."""
    model, names = settled.model, plan().names
    choices = {c.variable for p in model.phases.values() for c in p.choices}
    wanted = {names.deal, names.leader, names.team, names.ballot, names.card}
    found = sorted(wanted - choices)
    found += sorted({names.approved, names.rejected} - set(model.phases))
    found += sorted({names.mark, names.fails, names.rejections, names.successes} - set(model.variables))
    found += sorted({names.quest} - set(model.definitions))
    return (*found, *sorted({names.side, names.plain} - set(model.tables)))
