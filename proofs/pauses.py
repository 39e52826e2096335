"""A moment of its own for a phase without choices, so that claims about what happens there can be asked of it.

Takes a model and a phase; gives the same game with a choice at the phase's beginning: chance has one value to choose from,
and nobody sees it. That the phase is entered everybody sees, so the moment tells nobody anything. Games of such a model
are taken back to games of the model itself.
"""

from __future__ import annotations

from dataclasses import replace

from rules_dsl import model as m
from rules_dsl import reference
from rules_dsl.play import State
from rules_dsl.settle import settle
from rules_dsl.smt import Game
from rules_dsl.types import IntType

_ONLY = IntType(0, 0)


def with_pause(model: m.Model, name: str) -> m.Model:
    """The model with a moment at the beginning of a phase that has no choices."""
    phase, pause = model.phases[name], f"pause in {name}"  # no name of a rulebook has blanks
    assert not phase.choices
    unseen = m.Audience("hidden")
    choice = m.Choice(pause, m.Chooser("chance"), _ONLY, False, unseen, (), origin=phase.origin)
    variable = m.StateVariable(pause, _ONLY, "choice", unseen, m.Literal(0, _ONLY), phase.origin)
    return replace(
        model,
        variables={**model.variables, pause: variable},
        phases={**model.phases, name: replace(phase, choices=(choice,))},
    )


def without_pause(model: m.Model, name: str, game: Game) -> Game:
    """A game of the model with a pause in a phase, as one of the model itself.

    A game that stops at the pause goes on to where the model itself stops next.
    """
    table = settle(model, game.params).model
    states: list[State] = [reference.start(table).state]
    moves = []
    for move, before in zip(game.moves, game.states[:-1], strict=True):
        if before.phase != name:
            states.append(reference.step(table, states[-1], move).state)
            moves.append(move)
    return Game(game.params, tuple(states), tuple(moves))
