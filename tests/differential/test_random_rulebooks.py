"""Rulebooks made at random mean the same to every back end: reference, generated Python, Z3 relation and NumPy."""

from __future__ import annotations

from collections import Counter
from random import Random

import numpy as np
import pytest

from rules_dsl import Model, build_model, compile_python, compose, library, parse, reference, settle
from rules_dsl.arrays.games import Simulator
from rules_dsl.play import State
from rules_dsl.smt import compile_smt
from rules_dsl.smt.play import RelationPlay
from tests.differential.agreement import any_move, same_judgement, same_step
from tests.differential.knowledge import TooMany, compare_knowledge, legal_moves
from tests.differential.random_rulebooks import random_rulebook
from tests.rules_dsl.test_many_games import alike

BATCHES = range(12)


def made(seed: int, players: int, all_choose: bool = False) -> Model:
    text = random_rulebook(Random(seed), all_choose=all_choose)
    return settle(build_model(compose(library([parse(text)]), "made")), {"players": players}).model


def seeds(batch: int, size: int) -> range:
    return range(batch * size, (batch + 1) * size)


@pytest.mark.parametrize("batch", BATCHES)
def test_the_generated_engine_plays_random_rulebooks_as_the_reference_does(batch: int) -> None:
    for seed in seeds(batch, 20):
        model = made(seed, 2 + seed % 2)
        engine, rng = compile_python(model), Random(seed)
        for _ in range(3):
            step = reference.start(model)
            assert engine.start() == step
            while not step.state.over:
                state = step.state
                awaited = reference.pending(model, state)
                assert engine.pending(state) == awaited
                assert awaited is not None
                for seat in awaited.seats:
                    expected = list(reference.options(model, state, seat))
                    assert list(engine.options(state, seat)) == expected, seed
                move = rng.choice(legal_moves(model, state))
                step = reference.step(model, state, move)
                assert engine.step(state, move) == step, seed
                for seat in (None, *range(model.players.count)):
                    assert engine.visible(step.state, seat) == reference.visible(model, step.state, seat)
        assert sum(engine.simulate(50, rng).values()) == 50


@pytest.mark.parametrize("batch", BATCHES)
def test_random_playouts_of_random_rulebooks_are_games_of_the_reference(batch: int) -> None:
    for seed in seeds(batch, 20):
        model = made(seed, 3 - seed % 2)
        engine = compile_python(model)
        for played in engine.random_games(5, Random(seed)):
            state: State = reference.start(model).state
            for move in engine.moves(played.log):
                state = reference.step(model, state, move).state
            assert state.over
            assert state.result == played.result, seed


@pytest.mark.parametrize("batch", BATCHES)
def test_many_games_of_random_rulebooks_at_once_end_as_one_by_one(batch: int) -> None:
    for seed in seeds(batch, 6):
        model = made(seed, 2 + seed % 2)
        found = Simulator(model).play(2_000, np.random.default_rng(seed))
        alike(found, Counter(compile_python(model).simulate(2_000, Random(seed))))


@pytest.mark.parametrize("batch", BATCHES)
def test_the_relation_of_random_rulebooks_is_that_of_the_reference(batch: int) -> None:
    for seed in seeds(batch, 3):
        model = made(seed, 2 + seed % 2)
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
def test_what_a_seat_can_know_in_random_rulebooks_is_what_trying_shows(batch: int) -> None:
    asked = 0
    for seed in seeds(batch, 12):
        model, rng = made(seed, 2, all_choose=True), Random(seed)
        for viewer in (None, 0, 1):
            for most in (3, 5):
                try:
                    asked += compare_knowledge(model, rng, viewer, most)
                except TooMany:
                    continue
    assert asked > 50
