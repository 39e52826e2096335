"""Runs of a system: copies of its state and inputs, one for each moment, tied together by its steps.

`Unrolling` holds a finite-domain solver and adds moments on demand; a satisfying model is read back as a
game of plain states and moves, the same values the reference interpreter and the engine use.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import z3  # type: ignore[import-untyped]

from rules_dsl import model as m
from rules_dsl.model import Value
from rules_dsl.play import CHANCE, Move, State
from rules_dsl.smt.expressions import value_of
from rules_dsl.smt.raw import substituted
from rules_dsl.smt.symbolic import (
    Reader,
    Symbolic,
    conform,
    constant,
    decode,
    leaves,
    model_reader,
    read_number,
)
from rules_dsl.smt.system import Place, Step, SymbolicState, System
from rules_dsl.smt.terms import Truth, and_, equal, number, or_, term
from rules_dsl.types import MapType, OptionalType, Type
from rules_dsl.values import least


@dataclass(frozen=True)
class Game:
    """A run read back: the parameters, the states it goes through, and the move between each two of them."""

    params: Mapping[str, Value]
    states: tuple[State, ...]
    moves: tuple[Move, ...]

    @property
    def at_rest(self) -> Game:
        """The same game without the states in which a run halted though nobody chose there: the moves there are empty."""
        kept = [t for t, move in enumerate(self.moves) if move]
        states = (*(self.states[t] for t in kept), self.states[-1])
        return Game(self.params, states, tuple(self.moves[t] for t in kept))


def finite_solver(timeout_ms: int = 0) -> Any:
    """The solver for bit-vectors and Booleans, with fixed seeds."""
    solver = z3.SolverFor("QF_FD")
    solver.set("random_seed", 7)
    if timeout_ms:
        solver.set("timeout", timeout_ms)
    return solver


def input_type(step: Step, model: m.Model) -> Type:
    type_ = m.choice_type(step.choice)
    return MapType(model.players, type_) if step.choice.chooser.kind == "each" else type_


def input_leaves(step: Step, model: m.Model) -> list[Any]:
    """The Z3 constants of a step's inputs."""
    found = list(leaves(step.value, input_type(step, model)))
    if step.seat is not None:
        found += leaves(step.seat, model.players)
    return found


@dataclass(frozen=True)
class Relation:
    """All steps as one: is some step legal, and every leaf of the state after it."""

    legal: Any
    before: tuple[Any, ...]
    after: tuple[Any, ...]
    inputs: tuple[Any, ...]


@lru_cache(maxsize=32)
def _relation(key: _Identity) -> Relation:
    system = key.system
    before = system.state_leaves(system.before)
    after = list(before)
    legal: list[Truth] = []
    inputs: list[Any] = []
    for place, step in system.steps.items():
        here = term(system.at(system.before, place))
        legal.append(and_((here, step.legal)))
        inputs += input_leaves(step, system.model)
        for i, new in enumerate(system.state_leaves(step.after)):
            if not new.eq(before[i]):
                after[i] = z3.If(here, new, after[i])
    return Relation(term(or_(legal)), tuple(before), tuple(after), tuple(inputs))


class _Identity:
    """A system as a key: two of them are the same only if they are one object."""

    def __init__(self, system: System) -> None:
        self.system = system

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Identity) and other.system is self.system

    def __hash__(self) -> int:
        return id(self.system)


def relation(system: System) -> Relation:
    """The step relation of a system; worked out once."""
    return _relation(_Identity(system))


class Unrolling:
    """Moments 0, 1, 2, ... of a run. Unrollings with different names may share a solver and the
    parameters.
    """

    def __init__(self, system: System, solver: Any, name: str = "") -> None:
        self.system = system
        self.solver = solver
        self.name = name
        self.relation = self._steps()
        self.moments: list[list[tuple[Any, Any]]] = []  # template constant -> constant of the moment
        if not name:
            solver.add(term(system.valid))
        self._add_moment()

    def _steps(self) -> Relation:
        return relation(self.system)

    @property
    def depth(self) -> int:
        return len(self.moments) - 1

    def _add_moment(self) -> None:
        t = len(self.moments)
        pairs = []
        for template in (*self.relation.before, *self.relation.inputs):
            pairs.append((template, z3.Const(f"{self.name}{t}@ {template.decl().name()}", template.sort())))
        self.moments.append(pairs)

    def start_initial(self) -> None:
        """Moment 0 is an initial state."""
        first = self.system.state_leaves(self.system.initial)
        here = [pair[1] for pair in self.moments[0][: len(first)]]
        self.solver.add(*(x == y for x, y in zip(here, first, strict=True)))

    def start_formed(self) -> None:
        """Moment 0 is any well-formed state."""
        self.solver.add(self.at(0, self.system.formed))

    def at(self, moment: int, condition: Truth) -> Any:
        """A condition on state and inputs, said of a moment."""
        return substituted(term(condition), self.moments[moment])

    def extend(self) -> None:
        """One more step."""
        t = self.depth
        self._add_moment()
        here = [pair[1] for pair in self.moments[t + 1][: len(self.relation.before)]]
        next_ = z3.And(self.relation.legal, *(x == y for x, y in zip(here, self.relation.after, strict=True)))
        self.solver.add(substituted(next_, self.moments[t]))

    # --- reading back ---

    def reader(self, model: Any, moment: int) -> Reader:
        plain = model_reader(model)
        pairs = self.moments[moment]
        here = {template.get_id(): constant_ for template, constant_ in pairs}

        def read(value: Any) -> Any:
            if isinstance(value, bool | int):
                return value
            found = here.get(value.get_id())
            return plain(z3.substitute(value, *pairs) if found is None else found)

        return read

    def state(self, model: Any, moment: int) -> State:
        return decode_state(self.system, self.system.before, self.reader(model, moment))

    def move(self, model: Any, moment: int) -> Move:
        read = self.reader(model, moment)
        step = self.system.steps[decode_place(self.system, self.system.before, read)]
        return decode_move(self.system, step, read)

    def game(self, model: Any, depth: int | None = None) -> Game:
        return self.trace(model, depth).at_rest

    def trace(self, model: Any, depth: int | None = None) -> Game:
        """Moment by moment, those at which nobody chose included: there the move is empty."""
        last = self.depth if depth is None else depth
        return Game(
            decode_params(self.system, model_reader(model)),
            tuple(self.state(model, t) for t in range(last + 1)),
            tuple(self.move(model, t) for t in range(last)),
        )


def decode_players(system: System, read: Reader) -> int:
    return read_number(system.players, read)


def decode_params(system: System, read: Reader) -> dict[str, Value]:
    """The parameters in a model, as `settle` takes them."""
    players = decode_players(system, read)
    found: dict[str, Value] = {}
    for name, param in system.model.params.items():
        value = system.players if name == m.PLAYERS else system.params[name]
        found[name] = decode(value, param.type, players, read)
    return found


def decode_place(system: System, state: SymbolicState, read: Reader) -> Place:
    return system.places[read_number(state.place, read)]


def decode_state(system: System, state: SymbolicState, read: Reader) -> State:
    """A state in a model as a plain one."""
    players = decode_players(system, read)
    place = decode_place(system, state, read)
    values = tuple(decode(state.values[name], t, players, read) for name, t in system.types.items())
    result = decode(state.result, OptionalType(system.model.result), players, read)
    return State(place.phase, place.step or 0, values, place.step is None, result)


def decode_move(system: System, step: Step, read: Reader) -> Move:
    """The inputs of a step in a model as a plain move."""
    players = decode_players(system, read)
    if not read(step.awaited):
        return ()
    value = decode(step.value, input_type(step, system.model), players, read)
    kind = step.choice.chooser.kind
    if kind == "chance":
        return ((CHANCE, value),)
    if kind == "player":
        assert step.choice.chooser.who is not None
        who = value_of(step.choice.chooser.who, system.scene(system.before))
        return ((read_number(who, read), value),)
    if kind == "one":
        assert step.seat is not None
        return ((read_number(step.seat, read), value),)
    assert isinstance(value, tuple)
    return tuple((seat, value[seat]) for seat in range(players) if read(step.seats[seat]))


# --- plain values as conditions ---


def is_value(symbolic: Symbolic, type_: Type, value: Value) -> Any:
    """The symbolic value is this plain one."""
    fixed = conform(constant(value, type_), type_)
    pairs = zip(leaves(conform(symbolic, type_), type_), leaves(fixed, type_), strict=True)
    return z3.And(*(x == y for x, y in pairs))


def is_state(system: System, state: SymbolicState, plain: State) -> Any:
    """The symbolic state is this plain one."""
    place = Place(plain.phase, None if plain.over else plain.step)
    parts = [term(equal(state.place, number(system.index(place))))]
    for (name, type_), value in zip(system.types.items(), plain.values, strict=True):
        parts.append(is_value(state.values[name], type_, value))
    parts.append(is_value(state.result, OptionalType(system.model.result), plain.result))
    return z3.And(*parts)


def move_leaves(step: Step, model: m.Model, move: Move) -> list[Any]:
    """A plain move, or the empty one, as the terms of a step's inputs, in the order of `input_leaves`."""
    type_ = input_type(step, model)
    value = move[0][1] if move else least(type_)
    if step.choice.chooser.kind == "each":
        entries = list(least(type_))  # type: ignore[arg-type]
        for seat, chosen in move:
            entries[seat] = chosen
        value = tuple(entries)
    found = list(leaves(conform(constant(value, type_), type_), type_))
    if step.seat is not None:
        found += leaves(constant(move[0][0] if move else 0, model.players), model.players)
    return found


def is_move(system: System, step: Step, move: Move) -> Any:
    """The inputs of a step are this plain move."""
    pairs = zip(input_leaves(step, system.model), move_leaves(step, system.model, move), strict=True)
    return z3.And(*(x == y for x, y in pairs))


def are_params(system: System, values: Mapping[str, Value]) -> Any:
    """The parameters have these values."""
    parts = [z3.BoolVal(True)]
    for name, value in values.items():
        if name in system.model.params:
            symbolic = system.players if name == m.PLAYERS else system.params[name]
            parts.append(is_value(symbolic, system.model.params[name].type, value))
    return z3.And(*parts)
