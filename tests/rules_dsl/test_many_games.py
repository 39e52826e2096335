"""Many games at once in arrays against the same games one by one: results must come up equally often."""

from __future__ import annotations

import random
from collections import Counter
from math import sqrt

import numpy as np
import pytest

from rules_dsl import Model, Value
from rules_dsl.arrays.games import Simulator
from rules_dsl.python import compile_python
from tests.conformance.test_conformance import IDS, MIXES, settled

GAMES = 20_000


def alike(one: Counter[Value], two: Counter[Value]) -> None:
    """No result's share differs by more than chance can explain (five standard deviations)."""
    n, k = sum(one.values()), sum(two.values())
    assert n and k
    for result in {*one, *two}:
        a, b = one[result] / n, two[result] / k
        pooled = (one[result] + two[result]) / (n + k)
        spread = sqrt(max(pooled * (1 - pooled), 1 / (n + k)) * (1 / n + 1 / k))
        assert abs(a - b) < 5 * spread, (result, one, two)


def both_ways(model: Model, games: int = GAMES) -> None:
    found = Simulator(model).play(games, np.random.default_rng(5))
    assert sum(found.values()) == games
    alike(found, compile_python(model).simulate(games, random.Random(5)))


@pytest.mark.parametrize("mix", MIXES, ids=IDS)
def test_tiny_games_end_alike_in_arrays_and_one_by_one(mix: tuple[str, str, tuple[str, ...], int]) -> None:
    both_ways(settled(*mix))


def test_the_same_seed_gives_the_same_games() -> None:
    model = settled(*MIXES[0])
    one, two = (Simulator(model).play(1000, np.random.default_rng(9)) for _ in range(2))
    assert one == two
