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
from rules_dsl.play import Move, Stuck
from rules_dsl.python import Engine, compile_python

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


class StuckGame(Exception):
    """A game at random came to a point from which the rules lead nowhere; the message says where."""


def simulate(
    configuration: Configuration,
    games: int,
    seed: int,
    progress: Callable[[int], None] = lambda done: None,
    engine: str | None = None,
) -> Simulation:
    """Plays random games to the end, on the engine named or the one that is faster for so many.

    Raises `StuckGame` when one of them cannot be played to its end.
    """
    chosen = engine if engine is not None else "arrays" if games >= MANY else "python"
    model = load(configuration).model
    results: Counter[str] = Counter()
    done = 0
    try:
        for batch, found in (_in_arrays if chosen == "arrays" else _one_by_one)(model, games, seed):
            for result, count in found.items():
                results["nobody" if result is None else str(result)] += count
            done += batch
            progress(done)
    except Stuck as error:
        raise StuckGame(stuck_place(compile_python(model), seed) or str(error)) from None
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


SEARCHED = 2_000  # games in which the place is looked for where a game got stuck
LONGEST = 20_000  # choices after which a game is taken to have no end


def stuck_place(engine: Engine, seed: int) -> str | None:
    """Where random games get stuck: phase, choice and who has to choose. None if none of many does."""
    rng = random.Random(seed)
    for _ in range(SEARCHED):
        state = engine.start().state
        for _ in range(LONGEST):
            if state.over:
                break
            awaited = engine.pending(state)
            assert awaited is not None
            choice, moves = awaited.choice, dict[int, list[Value]]()
            for seat in awaited.seats:
                moves[seat] = list(engine.proper_options(state, seat))
            empty = [seat for seat, options in moves.items() if not options]
            one_will_do = choice.chooser.kind == "one" and len(empty) < len(moves)
            if empty and not one_will_do:
                who = "chance" if choice.chooser.kind == "chance" else _seats(empty)
                return f"phase '{state.phase}': {who} must choose '{choice.variable}', and nothing is allowed"
            seats = [s for s, options in moves.items() if options]
            if choice.chooser.kind == "one":
                seats = [rng.choice(seats)]
            move: Move = tuple((s, rng.choice(moves[s])) for s in seats)
            phase = state.phase
            try:
                state = engine.step(state, move).state
            except Stuck as error:
                return f"after phase '{phase}' {error}"
        else:
            return f"it has not ended after {LONGEST:,} choices, the last in phase '{state.phase}'"
    return None


def _seats(seats: list[int]) -> str:
    return f"seat{'s' if len(seats) > 1 else ''} {', '.join(str(s) for s in seats)}"
