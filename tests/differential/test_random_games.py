"""Games made at random with modules, cycles, tables by seat, rulings and awkward names mean the same to every back end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import cache
from random import Random

import numpy as np
import pytest

from rules_dsl import (
    Library,
    Model,
    Value,
    build_model,
    compile_python,
    compose,
    library,
    parse,
    reference,
    settle,
)
from rules_dsl.arrays.games import Simulator
from rules_dsl.play import State, Step
from rules_dsl.smt import compile_smt
from rules_dsl.smt.play import RelationPlay
from tests.differential.agreement import any_move, same_judgement, same_step
from tests.differential.knowledge import TooMany, legal_moves, never_rules_out_what_can_be
from tests.differential.random_games import RandomGame, random_game
from tests.rules_dsl.test_many_games import alike

BATCHES = range(12)


@cache
def made(seed: int) -> tuple[RandomGame, Library]:
    game = random_game(Random(seed))
    return game, library([parse(game.text)])


def mix_of(seed: int) -> tuple[str, ...]:
    """Some of the modules of a game."""
    return tuple(name for name in made(seed)[0].modules if Random(f"{seed} {name}").random() < 0.7)


def table_of(seed: int) -> Model:
    """One table of a game, with some of its modules and either alternative of its ruling."""
    rng = Random(seed)
    model = build_model(compose(made(seed)[1], "made", mix_of(seed)))
    return settle(model, {"players": rng.choice([2, 3]), "extra": rng.choice(["yes", "no"])}).model


def seeds(batch: int, size: int) -> range:
    return range(batch * size, (batch + 1) * size)


def steps_of(model: Model, rng: Random) -> Iterator[tuple[State, Step]]:
    """A random game of the reference: each state that waits for a move, and what the move led to."""
    step = reference.start(model)
    while not step.state.over:
        before = step.state
        step = reference.step(model, before, rng.choice(legal_moves(model, before)))
        yield before, step


@pytest.mark.parametrize("batch", BATCHES)
def test_the_generated_engine_plays_random_games_as_the_reference_does(batch: int) -> None:
    for seed in seeds(batch, 15):
        model = table_of(seed)
        engine, rng = compile_python(model), Random(seed)
        for _ in range(2):
            step = reference.start(model)
            assert engine.start() == step, seed
            while not step.state.over:
                state = step.state
                awaited = reference.pending(model, state)
                assert awaited is not None
                assert engine.pending(state) == awaited, seed
                for seat in awaited.seats:
                    assert list(engine.options(state, seat)) == list(reference.options(model, state, seat)), (
                        seed
                    )
                move = rng.choice(legal_moves(model, state))
                step = reference.step(model, state, move)
                assert engine.step(state, move) == step, seed
                for viewer in (None, *range(model.players.count)):
                    assert engine.visible(step.state, viewer) == reference.visible(model, step.state, viewer)
        for played in engine.random_games(5, Random(seed)):
            state = reference.start(model).state
            for move in engine.moves(played.log):
                state = reference.step(model, state, move).state
            assert state.over
            assert state.result == played.result, seed


@pytest.mark.parametrize("batch", BATCHES)
def test_many_random_games_at_once_end_as_one_by_one(batch: int) -> None:
    for seed in seeds(batch, 4):
        model = table_of(seed)
        found = Simulator(model).play(2_000, np.random.default_rng(seed))
        alike(found, Counter(compile_python(model).simulate(2_000, Random(seed))))


@pytest.mark.parametrize("batch", BATCHES)
def test_the_relation_of_random_games_is_that_of_the_reference(batch: int) -> None:
    for seed in seeds(batch, 2):
        model = table_of(seed)
        play, rng = RelationPlay(compile_smt(model), {}), Random(seed)
        step = reference.start(model)
        same_step(step, play.start())
        while not step.state.over:
            same_judgement(play, model, step.state, any_move(model, step.state, rng))
            move = rng.choice(legal_moves(model, step.state))
            before = step.state
            step = reference.step(model, before, move)
            same_step(step, play.step(before, move))


@pytest.mark.parametrize("batch", BATCHES)
def test_a_seat_never_rules_out_in_random_games_what_trying_shows_can_be(batch: int) -> None:
    asked = 0
    for seed in seeds(batch, 8):
        model, rng = table_of(seed), Random(seed)
        for viewer in (None, 0, 1):
            for most in (3, 5):
                try:
                    asked += never_rules_out_what_can_be(model, rng, viewer, most)
                except TooMany:
                    continue
    assert asked > 20


def told(model: Model, rng: Random) -> tuple[list[tuple[object, ...]], Value]:
    """What happens in a random game, and its result."""
    seen = [(o.phase, o.kind, o.name, o.seat, o.value, o.to) for o in reference.start(model).observations]
    result: Value = None
    for _, step in steps_of(model, rng):
        seen += [(o.phase, o.kind, o.name, o.seat, o.value, o.to) for o in step.observations]
        result = step.state.result
    return seen, result


@pytest.mark.parametrize("batch", BATCHES)
def test_a_module_left_open_plays_as_one_put_in_or_left_out(batch: int) -> None:
    for seed in seeds(batch, 15):
        game, lib = made(seed)
        closed = [name for name in mix_of(seed) if name in game.closed]
        left_open = [name for name in game.modules if name not in game.closed]
        put_in = [name for name in mix_of(seed) if name not in game.closed]
        given: dict[str, Value] = {"players": 2 + seed % 2, "extra": "yes" if seed % 3 else "no"}
        one = settle(build_model(compose(lib, "made", [*closed, *put_in])), given).model
        switches = {f"with_{name}": name in put_in for name in left_open}
        both = settle(build_model(compose(lib, "made", closed, left_open)), {**given, **switches}).model
        for turn in range(3):
            assert told(one, Random(turn)) == told(both, Random(turn)), seed
