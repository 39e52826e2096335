"""The words every back end that plays uses: states, moves, what is awaited, what is observed, and refusals.

States are immutable plain values: hashable, comparable, and JSON both ways.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from rules_dsl import model as m
from rules_dsl.model import Value
from rules_dsl.values import from_json, to_json

CHANCE = -1  # the seat of nature

# Who chooses what: one entry for each seat that chooses, in seat order; (CHANCE, value) for nature.
Move = tuple[tuple[int, Value], ...]


@dataclass(frozen=True, slots=True)
class State:
    """Where a game stands: the phase, which of its choices is awaited, and the value of every variable."""

    phase: str
    step: int
    values: tuple[Value, ...]
    over: bool = False
    result: Value = None


@dataclass(frozen=True, slots=True)
class Pending:
    """What is awaited: a choice, by these seats (all of them, or for "one" any of them)."""

    phase: str
    choice: m.Choice
    seats: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Observation:
    """Something that became known. `to` is None when everybody sees it, else the seats that do.

    `kind` is "phase" (it was entered), "choice", "published", "shown" or "result". `seat` is who chose or
    was shown.
    """

    phase: str
    kind: str
    name: str
    seat: int | None
    value: Value
    to: frozenset[int] | None = None

    def seen_by(self, seat: int | None) -> bool:
        """Does this seat see it? None is a spectator."""
        return self.to is None or (seat is not None and seat in self.to)


@dataclass(frozen=True, slots=True)
class Step:
    """The state after a move, what became known on the way, and the "ought" requirements broken."""

    state: State
    observations: tuple[Observation, ...]
    breaches: tuple[m.Require, ...] = ()


class IllegalMove(Exception):
    """A move the rules refuse. `requirement` names the rule broken, if it is a particular one."""

    def __init__(
        self, message: str, requirement: m.Require | None = None, choice: m.Choice | None = None
    ) -> None:
        self.message = message
        self.requirement = requirement
        self.choice = choice
        super().__init__(message)

    @property
    def cites(self) -> tuple[str, ...]:
        """The clauses of the rule that was broken."""
        if self.requirement is not None and self.requirement.origin.cites:
            return self.requirement.origin.cites
        return self.choice.origin.cites if self.choice is not None else ()


class Stuck(Exception):
    """The rules leave somebody who must choose without any legal choice, or the game runs in a circle."""


def state_to_json(model: m.Model, state: State) -> dict[str, Any]:
    """A state as plain JSON."""
    values = {
        name: to_json(variable.type, value)
        for (name, variable), value in zip(model.variables.items(), state.values, strict=True)
    }
    return {
        "phase": state.phase,
        "step": state.step,
        "over": state.over,
        "result": to_json(model.result, state.result) if state.result is not None else None,
        "values": values,
    }


def state_from_json(model: m.Model, data: Mapping[str, Any]) -> State:
    """The state a piece of JSON stands for; raises `ValueError` if it is none of this game."""
    try:
        phase, step, values = data["phase"], data["step"], data["values"]
        over, result = data["over"], data["result"]
    except (KeyError, TypeError) as error:
        raise ValueError(f"this is not a state: {error} is missing") from None
    if phase not in model.phases or not isinstance(step, int) or set(values) != set(model.variables):
        raise ValueError("this is not a state of this game")
    if not over and not 0 <= step < max(1, len(model.phases[phase].choices)):
        raise ValueError(f"phase '{phase}' has no step {step}")
    count = model.players.count
    read = tuple(from_json(v.type, values[name], count) for name, v in model.variables.items())
    return State(
        phase, step, read, bool(over), from_json(model.result, result, count) if result is not None else None
    )
