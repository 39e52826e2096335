"""How fast the generated engine plays, side by side in one run with the engine written by hand.

    pytest -s tests/benchmarks/test_engine_speed.py --benchmark-only

The two take turns, so that a busy machine slows both; the ratio shown is the median over the turns. Without
--benchmark-only (or --benchmark-enable) the games are only played, not timed.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from random import Random
from statistics import median
from time import perf_counter
from typing import Any

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from avalon_logic.configuration import Configuration, load
from rules_dsl import Engine, compile_python
from tests.oracle.plain_engine import Game, avalon_deck, deal, play_random

TURNS = 9
BY_HAND = 1_500  # games a turn
GENERATED = 20_000
WANTED = {True: 10, False: 20}  # times as fast, with and without the log

with_log = pytest.mark.parametrize("logged", [True, False], ids=["with log", "without log"])


class NoLog(list[Any]):
    """A log that keeps nothing."""

    def append(self, entry: Any) -> None:
        pass


def play_by_hand(players: int, logged: bool, games: int, rng: Random) -> None:
    deck = avalon_deck(players)
    for _ in range(games):
        roles, leader = deal(deck, rng)
        game = Game(roles, leader)
        if not logged:
            game.log = NoLog()
        assert play_random(game, rng).winner is not None


def play_generated(engine: Engine, logged: bool, games: int, rng: Random) -> None:
    if not logged:
        assert sum(engine.simulate(games, rng).values()) == games
        return
    for played in engine.random_games(games, rng):
        assert played.log


def seconds(work: Callable[[], None]) -> float:
    start = perf_counter()
    work()
    return perf_counter() - start


@with_log
@pytest.mark.parametrize("players", [5, 10])
def test_the_generated_engine_plays_many_times_faster_than_the_hand_written_one(
    benchmark: BenchmarkFixture, players: int, logged: bool
) -> None:
    engine = compile_python(load(Configuration("avalon", players)).model)
    rng = Random(1)
    timed = not benchmark.disabled
    by_hand_games, generated_games = (BY_HAND, GENERATED) if timed else (10, 10)
    play_generated(engine, logged, 10, rng)  # writes the playout functions, once
    ratios, speeds = [], []
    for _ in range(TURNS if timed else 1):
        by_hand = by_hand_games / seconds(lambda: play_by_hand(players, logged, by_hand_games, rng))
        generated = generated_games / seconds(lambda: play_generated(engine, logged, generated_games, rng))
        ratios.append(generated / by_hand)
        speeds.append((by_hand, generated))
    benchmark.group = f"random games, {'with' if logged else 'without'} event log"
    benchmark.extra_info["hand-written, games/s"] = round(median(s[0] for s in speeds))
    benchmark.extra_info["generated, games/s"] = round(median(s[1] for s in speeds))
    benchmark.extra_info["times as fast"] = round(median(ratios), 1)
    benchmark.pedantic(
        play_generated, (engine, logged, generated_games, rng), rounds=3 if timed else 1, iterations=1
    )
    if timed:
        print(f"\n{players} players, {benchmark.group}: {dict(benchmark.extra_info)}")
        assert median(ratios) >= WANTED[logged]


LOAD = """
from time import perf_counter
start = perf_counter()
from avalon_logic.configuration import Configuration, load
from rules_dsl import compile_python
modules = ("percival", "mordred", "oberon", "morgana", "targeting", "lady", "blind_spies")
engine = compile_python(load(Configuration("avalon", 10, modules)).model)
engine.playouts
print(perf_counter() - start)
"""


def load_afresh() -> float:
    """Seconds a new process takes to import, parse, compose, check and compile avalon with all its modules."""
    done = subprocess.run([sys.executable, "-c", LOAD], capture_output=True, text=True, check=True)
    return float(done.stdout)


def test_avalon_with_all_modules_loads_and_compiles_within_a_second(benchmark: BenchmarkFixture) -> None:
    benchmark.group = "load and compile avalon with all modules, new process"
    found = benchmark.pedantic(load_afresh, rounds=3 if not benchmark.disabled else 1, iterations=1)
    benchmark.extra_info["seconds, import included"] = round(found, 3)
    if not benchmark.disabled:
        print(f"\nload and compile avalon with all modules: {found:.3f} s")
        assert found < 1.0
