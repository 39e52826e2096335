"""Which variables have a value that somebody gave them: "not chosen yet" is not the least value of a type.

A variable always has some value, before any choice the least one: seat 0, say. What people are shown leaves it out until
it was chosen, or until a statement could set it. Takes a step of a game, gives by variable the seats that chose it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache

from rules_dsl import model as m
from rules_dsl.play import CHANCE, Move, Observation, State
from rules_dsl.types import PlayerType
from rules_dsl.walk import statements

# by variable, the seats that chose its value; a variable that is not here has none yet
Chosen = Mapping[str, frozenset[int]]


class _Kept:
    """Carries a model through a cache by its identity."""

    def __init__(self, model: m.Model) -> None:
        self.model = model

    def __hash__(self) -> int:
        return id(self.model)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Kept) and other.model is self.model


def awaited_variables(model: m.Model) -> frozenset[str]:
    """The variables without a value until they get one: what is chosen or published, seats without a first value."""
    return _awaited(_Kept(model))


@lru_cache(maxsize=64)
def _awaited(kept: _Kept) -> frozenset[str]:
    model = kept.model
    drawn = {c.variable for p in model.phases.values() for c in p.choices}
    return frozenset(
        name
        for name, v in model.variables.items()
        if v.kind != "state"  # chosen, published, or who spoke
        or (
            isinstance(v.initial, m.Literal)  # no seat can be written down, so nobody wrote this one
            and (name in drawn or isinstance(v.type, PlayerType))
        )
    )


def _names(choice: m.Choice) -> tuple[str, ...]:
    if choice.chooser.kind == "one":
        return (choice.variable, f"{choice.variable}_by")
    return (choice.variable,)


@lru_cache(maxsize=512)
def _set_in(kept: _Kept, phase: str) -> frozenset[str]:
    """The variables that the statements of a phase set."""
    return frozenset(s.variable for s in statements(kept.model.phases[phase].body) if isinstance(s, m.Assign))


def chosen_at_start(model: m.Model, observations: Iterable[Observation], state: State) -> Chosen:
    """Before anybody has chosen anything."""
    found: dict[str, frozenset[int]] = {}
    _enter(model, found, _entered(observations), state)
    return found


def chosen_after(
    model: m.Model, before: Chosen, at: State, move: Move, observations: Iterable[Observation], state: State
) -> Chosen:
    """After a move made in the state `at`, which led to `state` past what was observed."""
    found = dict(before)
    choices = model.phases[at.phase].choices
    for name in _names(choices[at.step]):
        found[name] = frozenset(seat for seat, _ in move)
    entered = _entered(observations)
    stays = not entered and not state.over
    _pass_over(found, choices[at.step + 1 : state.step if stays else None])
    if not stays:
        _set(model, found, at.phase)
    _enter(model, found, entered, state)
    return found


def _entered(observations: Iterable[Observation]) -> list[str]:
    return [o.phase for o in observations if o.kind == "phase"]


def _enter(model: m.Model, found: dict[str, frozenset[int]], entered: list[str], state: State) -> None:
    """Through the phases entered, to the choice awaited in the last one."""
    for number, phase in enumerate(entered, 1):
        stays = number == len(entered) and not state.over
        _pass_over(found, model.phases[phase].choices[: state.step if stays else None])
        if not stays:
            _set(model, found, phase)


def _pass_over(found: dict[str, frozenset[int]], choices: Iterable[m.Choice]) -> None:
    """Choices nobody had: what was chosen the last time no longer stands."""
    for choice in choices:
        for name in _names(choice):
            found.pop(name, None)


def _set(model: m.Model, found: dict[str, frozenset[int]], phase: str) -> None:
    for name in _set_in(_Kept(model), phase):
        found.setdefault(name, frozenset({CHANCE}))
