"""Random games of an open model: the states in them tell which guesses about all states are worth a proof.

Takes a model with parameters open; plays games with random parameters on the reference interpreter.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import factorial, prod
from random import Random

from rules_dsl import model as m
from rules_dsl import reference
from rules_dsl.evaluate import Environment, evaluate, holds
from rules_dsl.model import Value
from rules_dsl.play import IllegalMove, Move, State, Stuck
from rules_dsl.settle import Settled, parameter_values, settle
from rules_dsl.smt import Game
from rules_dsl.types import BoolType, EnumType, IntType, MapType, OptionalType, PlayerType, SetType, Type
from rules_dsl.values import all_values, from_ordinal

TRIES = 60
MOST_ARRANGEMENTS = 5_000  # of a deck that are all looked at for one that may be dealt


@dataclass(frozen=True)
class Sample:
    """A state met in a random game, with the parameters of that game."""

    params: Mapping[str, Value]
    players: int
    state: State


def random_params(model: m.Model, rng: Random) -> Settled | None:
    """Parameters drawn at random that pass the set-up checks, or None if many draws in a row do not."""
    for _ in range(TRIES):
        given: dict[str, Value] = {}
        players = rng.randint(model.fewest, model.most) if m.PLAYERS in model.params else model.players.count
        for name, param in model.params.items():
            if name == m.PLAYERS:
                given[name] = players
            elif param.kind == "module":
                given[name] = rng.random() < 0.5
            elif (param.kind == "ruling" and rng.random() < 0.3) or isinstance(param.type, SetType):
                given[name] = random_value(param.type, players, rng)
        if _allowed(model, given, players):
            return settle(model, given)
    return None


def _allowed(model: m.Model, given: Mapping[str, Value], players: int) -> bool:
    env = Environment(model, players, parameter_values(model, given))
    return all(holds(c.condition, env) for c in model.checks if c.severity == "error")


def random_value(type_: Type, players: int, rng: Random) -> Value:
    """A value of a type, drawn at random."""
    match type_:
        case BoolType():
            return rng.random() < 0.5
        case IntType(low, high):
            return rng.randint(low, high)
        case EnumType(_, members):
            return rng.choice(members)
        case PlayerType(count):
            return rng.randrange(min(count, players))
        case SetType(element):
            return frozenset(v for v in all_values(element, players) if rng.random() < 0.5)
        case MapType(key, inner):
            return tuple(random_value(inner, players, rng) for _ in all_values(key, players))
        case OptionalType(inner_) if inner_ is not None:
            return None if rng.random() < 0.3 else random_value(inner_, players, rng)
        case _:
            return rng.choice(list(all_values(type_, players)))


def random_move(model: m.Model, state: State, rng: Random) -> Move:
    """A legal move, drawn at random; raises `Stuck` if none was found."""
    awaited = reference.pending(model, state)
    assert awaited is not None
    seats = (rng.choice(awaited.seats),) if awaited.choice.chooser.kind == "one" else awaited.seats
    return tuple((seat, _random_option(model, state, awaited.choice, seat, rng)) for seat in seats)


def _random_option(model: m.Model, state: State, choice: m.Choice, seat: int, rng: Random) -> Value:
    env = reference.environment(model, state)
    players = model.players.count
    for _ in range(TRIES):
        value = (
            random_value(m.choice_type(choice), players, rng)
            if choice.deal is None
            else _shuffled(choice, env, rng)
        )
        try:
            reference.check_value(choice, env, seat, value)
        except IllegalMove:
            continue
        return value
    if choice.deal is not None and arrangements(choice, env) > MOST_ARRANGEMENTS:
        raise Stuck(f"no arrangement of the deck was found that may be dealt as '{choice.variable}'")
    found = list(reference.options(model, state, seat))
    if not found:
        raise Stuck(f"nothing to choose for '{choice.variable}'")
    return rng.choice(found)


def _shuffled(choice: m.Choice, env: Environment, rng: Random) -> Value:
    """The deck of a deal, shuffled."""
    assert isinstance(choice.type, MapType)
    kind = choice.type.value
    cards = [from_ordinal(kind, i) for i, c in enumerate(_counts(choice, env)) for _ in range(c)]  # type: ignore[arg-type]
    rng.shuffle(cards)
    return tuple(cards)


def _counts(choice: m.Choice, env: Environment) -> list[int]:
    """How many cards of each kind there are to deal."""
    assert choice.deal is not None
    counts = evaluate(choice.deal, env)
    assert isinstance(counts, tuple)
    return [int(c) for c in counts]  # type: ignore[arg-type]


def arrangements(choice: m.Choice, env: Environment) -> int:
    """In how many ways the deck of a deal can lie."""
    counts = _counts(choice, env)
    return factorial(sum(counts)) // prod(factorial(c) for c in counts)


def random_game(settled: Settled, rng: Random, most: int = 400) -> Game | None:
    """A random game, to its end or until no move was found or it gets very long; None if there is no first state."""
    try:
        state = reference.start(settled.model).state
    except Stuck:
        return None
    states: list[State] = [state]
    moves: list[Move] = []
    while not state.over and len(moves) < most:
        try:
            move = random_move(settled.model, state, rng)
            state = reference.step(settled.model, state, move).state
        except Stuck:
            break
        states.append(state)
        moves.append(move)
    return Game(settled.params, tuple(states), tuple(moves))


def samples(model: m.Model, games: int, seed: int = 0) -> Iterator[Sample]:
    """The states of so many random games."""
    rng = Random(seed)
    for _ in range(games):
        settled = random_params(model, rng)
        if settled is None:
            continue
        game = random_game(settled, rng)
        for state in () if game is None else game.states:
            yield Sample(settled.params, settled.model.players.count, state)


def sample_environment(model: m.Model, sample: Sample) -> Environment:
    """What expressions of the open model read in a sampled state."""
    state = sample.state
    return Environment(
        model,
        sample.players,
        sample.params,
        dict(zip(model.variables, state.values, strict=True)),
        phase=state.phase,
        over=state.over,
        result=state.result,
    )


__all__ = ["Sample", "random_game", "random_move", "random_params", "sample_environment", "samples"]
