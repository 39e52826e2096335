"""Many random games: a configuration, a number and a seed in, counts of results out.

Everybody chooses uniformly among what is legal and breaks no duty; chance follows the rulebook. Few games are played
one after the other on the generated engine, many side by side in arrays; both follow the same model.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from avalon_logic.configuration import Configuration, load
from rules_dsl import Model, Value
from rules_dsl.python import compile_python

ENGINES = ("python", "arrays")
MANY = 50_000  # from so many games on arrays are faster
BATCHES = {"python": 5_000, "arrays": 200_000}  # games between two looks at the progress


@dataclass(frozen=True)
class Simulation:
    """How often each result came up, and on which engine. The same seed gives the same games on the same engine."""

    configuration: Configuration
    games: int
    seed: int
    results: Counter[str]
    engine: str = "python"


def simulate(
    configuration: Configuration,
    games: int,
    seed: int,
    progress: Callable[[int], None] = lambda done: None,
    engine: str | None = None,
) -> Simulation:
    """Plays random games to the end, on the engine named or the one that is faster for so many."""
    chosen = engine if engine is not None else "arrays" if games >= MANY else "python"
    model = load(configuration).model
    results: Counter[str] = Counter()
    done = 0
    for batch, found in (_in_arrays if chosen == "arrays" else _one_by_one)(model, games, seed):
        for result, count in found.items():
            results["nobody" if result is None else str(result)] += count
        done += batch
        progress(done)
    return Simulation(configuration, games, seed, results, chosen)


def _batches(games: int, most: int) -> Iterator[int]:
    while games:
        yield min(most, games)
        games -= min(most, games)


def _one_by_one(model: Model, games: int, seed: int) -> Iterator[tuple[int, Mapping[Value, int]]]:
    engine, rng = compile_python(model), random.Random(seed)
    for batch in _batches(games, BATCHES["python"]):
        yield batch, engine.simulate(batch, rng)


def _in_arrays(model: Model, games: int, seed: int) -> Iterator[tuple[int, Mapping[Value, int]]]:
    import numpy as np

    from rules_dsl.arrays.games import Simulator

    simulator, rng = Simulator(model), np.random.default_rng(seed)
    for batch in _batches(games, BATCHES["arrays"]):
        yield batch, simulator.play(batch, rng)
