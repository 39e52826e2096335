"""A game found by the prover told in plain lines: the table, then each event, who chose what and what changed.

Takes the open model and the game; the game is played again on the interpreter, so every line is true of the rules.
"""

from __future__ import annotations

from proofs.verdicts import Verdict
from rules_dsl import model as m
from rules_dsl import reference
from rules_dsl.model import Value
from rules_dsl.play import CHANCE, Move, State
from rules_dsl.settle import settle
from rules_dsl.smt import Game
from rules_dsl.types import MapType, OptionalType, PlayerType, SetType, Type


def tell(model: m.Model, game: Game) -> list[str]:
    """The game, one line for the table and one or two for each event."""
    settled = settle(model, game.params)
    lines = [_table(model, game, settled.model.players.count)]
    state = reference.start(settled.model).state
    for number, move in enumerate(game.moves, 1):
        awaited = reference.pending(settled.model, state)
        assert awaited is not None
        after = reference.step(settled.model, state, move).state
        clauses = f"  [{', '.join(awaited.choice.origin.cites)}]" if awaited.choice.origin.cites else ""
        lines.append(f"{number:>3}. {state.phase}: {_move(awaited.choice, move)}{clauses}")
        changed = _changes(settled.model, state, after, awaited.choice.variable)
        if changed:
            lines.append(f"       then {changed}")
        state = after
    return lines


def tell_games(model: m.Model, verdict: Verdict) -> list[str]:
    """The game of a verdict, and the one that looks the same to somebody if it takes two."""
    lines = [] if verdict.game is None else tell(model, verdict.game)
    if verdict.twin is not None and verdict.seat is not None:
        until = ", but cannot go on so" if verdict.twin_is_left_behind else ""
        lines += [
            f"a game that looks the same to seat {verdict.seat + 1}{until}:",
            *tell(model, verdict.twin),
        ]
    return lines


def _table(model: m.Model, game: Game, players: int) -> str:
    """The parameters that differ from what the rulebook takes without being told."""
    usual = settle(model, {m.PLAYERS: players} if m.PLAYERS in model.params else {}).params
    other = [
        f"{name} {spoken(model.params[name].type, value)}"
        for name, value in game.params.items()
        if name != m.PLAYERS and usual.get(name) != value
    ]
    return ", ".join([f"{players} players", *other])


def _move(choice: m.Choice, move: Move) -> str:
    type_ = m.choice_type(choice)
    if move[0][0] == CHANCE:
        return f"chance gives {choice.variable} {spoken(type_, move[0][1])}"
    said = "; ".join(f"seat {seat + 1} {spoken(type_, value)}" for seat, value in move)
    return f"{choice.variable}: {said}"


def _changes(model: m.Model, before: State, after: State, chosen: str) -> str:
    parts = []
    for (name, variable), old, new in zip(model.variables.items(), before.values, after.values, strict=True):
        if old != new and name != chosen and variable.kind != "speaker":
            parts.append(f"{name} {spoken(variable.type, new)}")
    if after.over:
        result = "nobody wins" if after.result is None else f"{spoken(model.result, after.result)} wins"
        parts.append(f"the game is over, {result}")
    return ", ".join(parts)


def spoken(type_: Type, value: Value) -> str:
    """A value as a person would say it; seats are counted from one."""
    match type_, value:
        case _, None:
            return "none"
        case OptionalType(inner), _ if inner is not None:
            return spoken(inner, value)
        case _, bool():
            return "yes" if value else "no"
        case PlayerType(), int():
            return f"seat {value + 1}"
        case SetType(element), frozenset():
            return "{" + ", ".join(sorted(spoken(element, v) for v in value)) + "}"
        case MapType(_, inner), tuple():
            return "(" + ", ".join(spoken(inner, v) for v in value) + ")"
        case _:
            return str(value)
