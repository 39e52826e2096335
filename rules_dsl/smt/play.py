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
from rules_dsl.play import IllegalMove, Move, Observation, State
from rules_dsl.play import Step as Played
from rules_dsl.smt.execute import Slot
from rules_dsl.smt.symbolic import Reader, conform, constant, decode, leaves, model_reader, read_number
from rules_dsl.smt.system import Condition, Place, Step, System
from rules_dsl.smt.unroll import decode_players, decode_state, input_type
from rules_dsl.types import MapType, OptionalType, Type
from rules_dsl.values import least
from rules_dsl.walk import statements


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
        return Played(state, tuple(self._observations(self.system.first_slots, None, read)))

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
        return Played(after, tuple(self._observations(step.slots, step, read)), breaches)

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
        chosen = move[0][1]
        if step.choice.chooser.kind == "each":
            entries = list(least(type_))  # type: ignore[arg-type]
            for seat, value in move:
                entries[seat] = value
            chosen = tuple(entries)
        pairs += self._pairs(f"input {step.place}", step.value, type_, chosen)
        if step.seat is not None:
            pairs += self._pairs(f"by {step.place}", step.seat, system.model.players, move[0][0])
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

    def _observations(
        self, slots: tuple[Slot, ...], step: Step | None, read: Reader
    ) -> Iterator[Observation]:
        speakers = {
            slot.key[1:3]: read_number(slot.value, read) for slot in slots if slot.key[0] == "chooser"
        }
        for slot in slots:
            if slot.key[0] != "chooser" and read(slot.made):
                yield self._observation(slot, step, speakers, read)

    def _observation(
        self, slot: Slot, step: Step | None, speakers: Mapping[tuple[str, ...], int], read: Reader
    ) -> Observation:
        to = None if slot.to is None else frozenset(i for i, x in enumerate(slot.to) if read(x))
        kind = slot.key[0]
        if kind in ("choice", "own"):
            assert step is not None
            choice, phase = step.choice, step.place.phase
            type_: Type = m.choice_type(choice)
            if kind == "own":
                assert isinstance(type_, MapType)
                type_ = type_.value
            seat = int(slot.key[3]) if len(slot.key) > 3 else speakers.get(slot.key[1:3])
            value = decode(slot.value, type_, self.players, read)
            return Observation(phase, "choice", choice.variable, seat, value, to)
        phase = slot.key[1]
        if kind == "phase":
            return Observation(phase, kind, phase, None, None)
        if kind == "result":
            value = decode(slot.value, OptionalType(self.system.model.result), self.players, read)
            return Observation(phase, kind, "result", None, value)
        name = slot.key[2]
        if kind == "published":
            value = decode(slot.value, self.system.types[name], self.players, read)
            return Observation(phase, kind, name, None, value)
        body = statements(self.system.model.phases[phase].body)
        shown = next(x for x in body if isinstance(x, m.Show) and x.name == name)
        value = decode(slot.value, shown.value.type, self.players, read)
        return Observation(phase, kind, name, int(slot.key[-1]), value, to)


@lru_cache(maxsize=20_000)
def _given(type_: Type, value: Value) -> tuple[Any, ...]:
    """The Z3 values of a plain value's leaves."""
    return tuple(leaves(conform(constant(value, type_), type_), type_))
