"""The transition relation played move by move: the interface of `reference`, answered by Z3 terms.

Takes a system and values for its open parameters; gives `start` and `step` with plain states, moves, observations
and refusals, so that the relation can be compared with the other back ends one event at a time.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

import z3  # type: ignore[import-untyped]

from rules_dsl import model as m
from rules_dsl.model import Value
from rules_dsl.play import IllegalMove, Move, Observation, State, Stuck
from rules_dsl.play import Step as Played
from rules_dsl.smt.execute import CIRCLE
from rules_dsl.smt.observations import Slot
from rules_dsl.smt.symbolic import Reader, conform, constant, decode, leaves, model_reader, read_number
from rules_dsl.smt.system import Condition, Place, Step, System
from rules_dsl.smt.unroll import decode_players, decode_state, input_type
from rules_dsl.types import OptionalType, Type
from rules_dsl.values import least


class RelationPlay:
    """A system with its parameters fixed, ready to play."""

    def __init__(self, system: System, params: Mapping[str, Value]) -> None:
        self.system = system
        self._names: dict[str, tuple[Any, ...]] = {}
        self._fixed: list[tuple[Any, Any]] = []
        for name, param in system.model.params.items():
            symbolic = system.players if name == m.PLAYERS else system.params[name]
            self._fixed += self._pairs(f"param {name}", symbolic, param.type, params[name])
        self.players = decode_players(system, self._reader([]))

    def accepts(self) -> bool:
        """Do the set-up checks accept the parameters?"""
        return bool(self._reader([])(self.system.valid))

    def start(self) -> Played:
        read = self._reader([])
        state = decode_state(self.system, self.system.initial, read)
        return self._onward(state, tuple(self._observations(self.system.first_slots, read)), ())

    def broken(self, state: State, move: Move) -> tuple[Condition, ...]:
        """The conditions of a legal choice this move does not meet."""
        step, read = self._set(state, move)
        return tuple(c for c in step.conditions if not read(c.term))

    def step(self, state: State, move: Move) -> Played:
        """Plays a move; raises `IllegalMove` with the first requirement it breaks."""
        step, read = self._set(state, move)
        for condition in step.conditions:
            if not read(condition.term):
                raise IllegalMove(f"breaks {condition.name}", condition.rule, step.choice)
        after = decode_state(self.system, step.after, read)
        breaches = tuple(c.rule for c in step.oughts if c.rule is not None and not read(c.term))
        return self._onward(after, tuple(self._observations(step.slots, read)), breaches)

    def _onward(self, state: State, seen: tuple[Observation, ...], breaches: tuple[m.Require, ...]) -> Played:
        """From where a run halts to where somebody chooses."""
        passed: set[State] = set()
        while not state.over:
            if state.phase == CIRCLE or state in passed:
                raise Stuck(f"nobody chooses anything any more after phase '{state.phase}'")
            step, read = self._set(state, ())
            if read(step.awaited):
                break
            passed.add(state)
            state = decode_state(self.system, step.after, read)
            seen = (*seen, *self._observations(step.slots, read))
        return Played(state, seen, breaches)

    # --- setting the unknowns ---

    def _set(self, state: State, move: Move) -> tuple[Step, Reader]:
        system = self.system
        step = system.steps[Place(state.phase, state.step)]
        here = system.before.place.value
        pairs = [(here.decl(), z3.BitVecVal(system.index(step.place), here.size()))]
        for (name, type_), value in zip(system.types.items(), state.values, strict=True):
            pairs += self._pairs(name, system.before.values[name], type_, value)
        result = OptionalType(system.model.result)
        pairs += self._pairs("result", system.before.result, result, state.result)
        type_ = input_type(step, system.model)
        chosen = move[0][1] if move else least(type_)
        if step.choice.chooser.kind == "each":
            entries = list(least(type_))  # type: ignore[arg-type]
            for seat, value in move:
                entries[seat] = value
            chosen = tuple(entries)
        pairs += self._pairs(f"input {step.place}", step.value, type_, chosen)
        if step.seat is not None:
            pairs += self._pairs(
                f"by {step.place}", step.seat, system.model.players, move[0][0] if move else 0
            )
        return step, self._reader(pairs)

    def _pairs(self, name: str, symbolic: Any, type_: Type, value: Value) -> Iterator[tuple[Any, Any]]:
        """Which Z3 constant takes which value for an unknown to be a plain value."""
        if name not in self._names:
            self._names[name] = tuple(x.decl() for x in leaves(symbolic, type_))
        return zip(self._names[name], _given(type_, value), strict=True)

    def _reader(self, pairs: list[tuple[Any, Any]]) -> Reader:
        made = z3.Model()
        for unknown, value in (*self._fixed, *pairs):
            made.update_value(unknown, value)
        return model_reader(made)

    # --- what became known ---

    def _observations(self, slots: tuple[Slot, ...], read: Reader) -> Iterator[Observation]:
        for slot in slots:
            if read(slot.made):
                to = None if slot.to is None else frozenset(i for i, x in enumerate(slot.to) if read(x))
                seat = None if slot.seat is None else read_number(slot.seat, read)
                value = None if slot.type is None else decode(slot.value, slot.type, self.players, read)
                yield Observation(slot.phase, slot.kind, slot.name, seat, value, to)


@lru_cache(maxsize=20_000)
def _given(type_: Type, value: Value) -> tuple[Any, ...]:
    """The Z3 values of a plain value's leaves."""
    return tuple(leaves(conform(constant(value, type_), type_), type_))
