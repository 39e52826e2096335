"""Where the game stands, in one line: the public values that `status.toml` names; no rule is stated here.

A game of one's own without any of these names is told by its own public variables.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from itertools import combinations

from avalon_logic.table.awaited import is_over, standing, value_for
from avalon_logic.table.game import Game
from rules_dsl import model as m
from rules_dsl.arrays import Machine
from rules_dsl.arrays.belief import Belief
from rules_dsl.arrays.shapes import decode, known
from rules_dsl.evaluate import Environment, holds
from rules_dsl.liveness import live_on_entry
from rules_dsl.types import IntType, MapType, OptionalType, PlayerType, SetType, Type
from rules_dsl.walk import reads

Beliefs = tuple[Belief, ...]

OPEN = "unknown"


@dataclass(frozen=True)
class Item:
    """A part of the line. `size` says instead how many players are to be chosen."""

    names: tuple[str, ...]
    text: str
    size: str = ""
    stays: bool = False


@lru_cache(maxsize=1)
def items() -> tuple[Item, ...]:
    """The parts of the line, in order."""
    text = (files("avalon_logic") / "table" / "status.toml").read_text(encoding="utf-8")
    return tuple(Item(**{**entry, "names": tuple(entry["names"])}) for entry in tomllib.loads(text)["items"])


def status(game: Game) -> str:
    """Where the game stands, as far as everybody knows; empty if there is nothing to say."""
    if game.neutral is None or game.record is None:
        return ""
    model, names = game.neutral.setting.model, game.record.names
    beliefs = tuple(b for b in standing(game) if not b.over) or standing(game)
    parts = [_ending(beliefs)] if is_over(game) else []
    told = [item for item in items() if all(_type(model, name) is not None for name in item.names)]
    if not told:
        told = [Item((name,), f"{name} {{{name}}}") for name in _plain_variables(model)]
    matters = _still_read(beliefs, model)
    for item in told:
        size = _size(beliefs, model, item.names[0]) if item.size else None
        if size is not None:
            parts.append(item.size.format(size=size))
        elif item.stays or all(_needs(model, name) <= matters for name in item.names):
            values = {name: _value(beliefs, model, name) for name in item.names}
            if all(v is not None for v in values.values()):
                parts.append(item.text.format(**_shown(model, values, names)))
    return " | ".join(parts)


def _ending(beliefs: Beliefs) -> str:
    type_ = OptionalType(beliefs[0].machine.model.result)
    results = {decode(type_, b.result) if known(b.result) else OPEN for b in beliefs}
    result = results.pop() if len(results) == 1 else OPEN
    if result != OPEN:
        return f"over: {'nobody' if result is None else result} won"
    members = getattr(type_.inner, "members", ())
    return "over" + (f"; who won? (winner {' or '.join(members)})" if members else "")


def _shown(model: m.Model, values: Mapping[str, m.Value], names: tuple[str, ...]) -> dict[str, str]:
    made: dict[str, str] = {}
    for name, value in values.items():
        type_ = _type(model, name)
        assert type_ is not None
        made[name] = _said(type_, value, names)
        if isinstance(type_, IntType):
            made[f"{name}_most"] = str(type_.high)
    return made


def _said(type_: Type, value: m.Value, names: tuple[str, ...]) -> str:
    match type_:
        case PlayerType() if isinstance(value, int):
            return names[value]
        case SetType(element) if isinstance(value, frozenset):
            return " ".join(_said(element, v, names) for v in sorted(value, key=str)) or "nobody"
        case OptionalType(inner) if inner is not None and value is not None:
            return _said(inner, value, names)
        case _:
            return "none" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


def _value(beliefs: Beliefs, model: m.Model, name: str) -> m.Value:
    """A public value, if it is known and the same whatever the cards are; else None."""
    type_ = _type(model, name)
    assert type_ is not None
    expr = m.Variable(name, type_) if name in model.variables else m.Invoke(name, (), type_)
    found = {value_for(belief, expr) for belief in beliefs}
    return found.pop() if len(found) == 1 else None


def _type(model: m.Model, name: str) -> Type | None:
    """The type of a public variable, or of a definition without parameters."""
    variable = model.variables.get(name)
    if variable is not None:
        return variable.type if variable.audience.kind == "public" else None
    definition = model.definitions.get(name)
    return definition.type if definition is not None and not definition.parameters else None


def _plain_variables(model: m.Model) -> list[str]:
    return [
        name
        for name, v in model.variables.items()
        if v.audience.kind == "public" and v.kind == "state" and not isinstance(v.type, MapType)
    ]


def _needs(model: m.Model, name: str) -> frozenset[str]:
    if name in model.variables:
        return frozenset({name})
    return frozenset(reads(model.definitions[name].value, model.definitions))


def _still_read(beliefs: Beliefs, model: m.Model) -> frozenset[str]:
    """The variables that can matter from here on, whatever the cards are."""
    live = _live(beliefs[0].machine)
    found: frozenset[str] | None = None
    for belief in beliefs:
        if belief.point is None:
            continue
        phase, step = belief.point
        here = live[phase] | {c.variable for c in model.phases[phase].choices[:step]}
        found = here if found is None else found & here
    return found or frozenset()


@lru_cache(maxsize=8)
def _live(machine: Machine) -> dict[str, frozenset[str]]:
    return live_on_entry(machine.model)


def _size(beliefs: Beliefs, model: m.Model, name: str) -> str | None:
    """How many players the rules let be chosen for a variable now; None if it is not chosen now, or not known."""
    values: dict[str, m.Value] = {}
    for variable in model.variables:
        value = _value(beliefs, model, variable) if _type(model, variable) is not None else None
        if value is not None:
            values[variable] = value
    choices = set()
    for belief in beliefs:
        if belief.point is None:
            return None
        phase, step = belief.point
        choices.add(model.phases[phase].choices[step])
    choice = choices.pop() if len(choices) == 1 else None
    if choice is None or choice.variable != name or choice.type != SetType(model.players):
        return None
    players = model.players.count
    fit: list[int] = []
    for size in range(players + 1):
        for seats in combinations(range(players), size):
            env = Environment(model, players, variables=values).bind(**{name: frozenset(seats)})
            try:
                if all(holds(r.condition, env) for r in choice.requires):
                    fit.append(size)
                    break
            except KeyError:
                return None  # it hangs on what is not known to everybody
    if not fit:
        return None
    return str(fit[0]) if len(fit) == 1 else f"{fit[0]} to {fit[-1]}"
