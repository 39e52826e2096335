"""Many random games: side by side in arrays, and one after the other on the generated engine.

Run with `pytest tests/benchmarks --benchmark-enable`.
"""

from __future__ import annotations

import random
from time import perf_counter
from typing import Any

import numpy as np
import pytest

from avalon_logic.configuration import Configuration, load
from rules_dsl.arrays.games import Simulator
from rules_dsl.python import compile_python
from tests.rules_dsl.test_many_games import alike

GAMES = 200_000


@pytest.mark.parametrize("players", [5, 10])
@pytest.mark.benchmark(group="200,000 random games")
def test_games_side_by_side_are_played_faster_than_one_by_one(benchmark: Any, players: int) -> None:
    model = load(Configuration("avalon", players)).model
    simulator, engine = Simulator(model), compile_python(model)
    found = benchmark.pedantic(
        lambda: simulator.play(GAMES, np.random.default_rng(1)), rounds=3, warmup_rounds=1
    )
    started = perf_counter()
    one_by_one = engine.simulate(GAMES // 4, random.Random(1))
    seconds = (perf_counter() - started) * 4
    alike(found, one_by_one)  # type: ignore[arg-type]
    if benchmark.enabled:
        ratio = seconds / benchmark.stats.stats.min
        print(
            f"\n{players} players: {GAMES / benchmark.stats.stats.min:,.0f} games a second, {ratio:.1f} times the engine"
        )
        assert ratio > 1.2
