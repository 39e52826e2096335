"""Games found by the solver, played again on the interpreter that defines the language. Disagreement is a failure."""

from __future__ import annotations

from dataclasses import replace

from rules_dsl import model as m
from rules_dsl import reference
from rules_dsl.evaluate import Environment, holds
from rules_dsl.play import IllegalMove, Move, State, Step
from rules_dsl.settle import settle
from rules_dsl.smt import Game


class Disagreement(Exception):
    """Two back ends do not agree about a game. One of them is wrong, so no verdict can be trusted."""


def replay(model: m.Model, game: Game) -> tuple[Step, ...]:
    """Plays the game again, from the start; raises `Disagreement` at the first state that differs."""
    settled = settle(model, game.params)
    if settled.errors:
        raise Disagreement(f"the solver chose parameters the rules refuse: {settled.errors[0].text}")
    step = reference.start(settled.model)
    steps = [step]
    _same(step.state, game.states[0], None)
    for move, expected in zip(game.moves, game.states[1:], strict=True):
        step = _played(settled.model, step.state, move)
        _same(step.state, expected, move)
        steps.append(step)
    return tuple(steps)


def _same(state: State, expected: State, move: Move | None) -> None:
    if state != expected:
        raise Disagreement(f"after {move} the solver has {expected}, the interpreter {state}")


def replayed(model: m.Model, game: Game) -> Game:
    """The game of these moves as the interpreter plays it, whatever states the solver has read into it."""
    settled = settle(model, game.params)
    states = [reference.start(settled.model).state]
    for move in game.moves:
        states.append(_played(settled.model, states[-1], move).state)
    return replace(game, states=tuple(states))


def _played(model: m.Model, state: State, move: Move) -> Step:
    try:
        return reference.step(model, state, move)
    except IllegalMove as error:
        raise Disagreement(f"the solver played {move}, which is illegal: {error.message}") from None


def play_on(model: m.Model, game: Game, move: Move) -> Game:
    """The game with one more move, played on the interpreter."""
    settled = settle(model, game.params)
    state = _played(settled.model, game.states[-1], move).state
    return replace(game, states=(*game.states, state), moves=(*game.moves, move))


def holds_at_end(model: m.Model, game: Game, value: m.Expr) -> bool:
    """Is a claim of the open model true in the last state of a game, by plain evaluation?"""
    state = game.states[-1]
    players = game.params.get(m.PLAYERS, model.players.count)
    assert isinstance(players, int)
    variables = dict(zip(model.variables, state.values, strict=True))
    env = Environment(
        model, players, game.params, variables, phase=state.phase, over=state.over, result=state.result
    )
    return holds(value, env)
