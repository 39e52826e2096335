"""Many random games on the generated engine: a configuration, a number and a seed in, counts of results out.

Everybody chooses uniformly among what is legal and breaks no duty; chance follows the rulebook.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

from avalon_logic.configuration import Configuration, load
from rules_dsl.python import compile_python

BATCH = 5_000  # games between two looks at the progress


@dataclass(frozen=True)
class Simulation:
    """How often each result came up."""

    configuration: Configuration
    games: int
    seed: int
    results: Counter[str]


def simulate(
    configuration: Configuration, games: int, seed: int, progress: Callable[[int], None] = lambda done: None
) -> Simulation:
    """Plays random games to the end."""
    engine = compile_python(load(configuration).model)
    rng = random.Random(seed)
    results: Counter[str] = Counter()
    done = 0
    while done < games:
        batch = min(BATCH, games - done)
        for result, count in engine.simulate(batch, rng).items():
            results["nobody" if result is None else str(result)] += count
        done += batch
        progress(done)
    return Simulation(configuration, games, seed, results)
