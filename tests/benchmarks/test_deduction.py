"""How fast worlds are found, side by side with general solvers on the same positions.

Run with `pytest tests/benchmarks --benchmark-enable`; without timing the same tests only compare the answers.
"""

from __future__ import annotations

import gc
import json
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from itertools import combinations, cycle
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import pytest

from avalon_logic.configuration import Configuration, load
from rules_dsl.arrays import Machine, compile_arrays
from rules_dsl.arrays.answers import count, matrix, shares, worlds
from rules_dsl.arrays.follow import Follower, clumps, follow, follow_from
from rules_dsl.arrays.worlds import arrangements
from rules_dsl.model import Model
from rules_dsl.play import Observation
from tests.benchmarks.rival_worlds import Quest, clingo_count, clingo_list, z3_list

pytest.importorskip("clingo", reason="the benchmark extra is not installed")

# ten players with every character: 151,200 deals, 74,160 of them fit these three quests
TEN = {
    "merlin": 1,
    "percival": 1,
    "servant": 4,
    "assassin": 1,
    "morgana": 1,
    "mordred": 1,
    "oberon": 1,
}
THREE_QUESTS: list[Quest] = [
    (frozenset({0, 6, 8}), 0),
    (frozenset({0, 2, 7, 9}), 1),
    (frozenset({0, 1, 3, 5}), 2),
]
LEFT = 74_160
# a position small enough for one solver call a world
SIX = {"merlin": 1, "percival": 1, "servant": 2, "assassin": 1, "morgana": 1}
ONE_QUEST: list[Quest] = [(frozenset({0, 1}), 1)]


def game(deck: Mapping[str, int]) -> Model:
    cards = tuple(role for role, n in deck.items() for _ in range(n))
    return load(Configuration("avalon", len(cards), roles=cards)).model


def played(players: int, quests: Sequence[Quest]) -> list[Observation]:
    """A whole record: leader, teams, votes, fails."""
    made = [Observation("first_leader", "choice", "leader", None, 0)]
    for leader, (team, fails) in enumerate(quests):
        made.append(Observation("propose", "choice", "team", leader, team))
        made += [Observation("vote", "choice", "approve", seat, True) for seat in range(players)]
        made.append(Observation("tally", "published", "fails", None, fails))
    return made


def followed(machine: Machine, seen: Sequence[Observation]) -> Follower:
    follower = follow_from(machine, None)
    for clump in clumps(seen):
        follower = follow(follower, clump)
    return follower


def listed(model: Model, quests: Sequence[Quest]) -> Any:
    """All worlds as a matrix, with nothing prepared but the settled game."""
    arrangements.cache_clear()
    follower = followed(compile_arrays(model), played(model.players.count, quests))
    return matrix(worlds(follower.current(), "role"))


def named(model: Model, rows: Any) -> set[tuple[str, ...]]:
    members = model.enums["Role"].members
    return {tuple(members[v] for v in row) for row in rows.tolist()}


def seconds(work: Callable[[], object], rounds: int) -> float:
    """The best of a few rounds, without the collector, as for what it is compared with."""
    best = float("inf")
    gc.disable()
    try:
        for _ in range(rounds):
            started = perf_counter()
            work()
            best = min(best, perf_counter() - started)
    finally:
        gc.enable()
    return best


def faster(benchmark: Any, rival: Callable[[], object], times: int, rounds: int = 2) -> None:
    """When times are taken: is what was benchmarked so many times faster than the rival, in this very run?"""
    if benchmark.enabled:
        ratio = seconds(rival, rounds) / benchmark.stats.stats.min
        benchmark.extra_info["times faster"] = round(ratio)
        print(f"\n{benchmark.name}: {ratio:,.0f} times faster (at least {times} wanted)")
        assert ratio >= times


@pytest.mark.benchmark(group="list 74,160 worlds")
def test_all_worlds_are_listed_a_hundred_times_faster_than_by_clingo(benchmark: Any) -> None:
    model = game(TEN)
    rows = benchmark.pedantic(lambda: listed(model, THREE_QUESTS), rounds=10)
    by_clingo = clingo_list(TEN, THREE_QUESTS)
    assert len(rows) == len(by_clingo) == LEFT
    assert named(model, rows) == set(by_clingo)
    faster(benchmark, lambda: clingo_list(TEN, THREE_QUESTS), 100)


@pytest.mark.benchmark(group="list 74,160 worlds")
def test_clingo_lists_all_worlds(benchmark: Any) -> None:
    assert len(benchmark.pedantic(lambda: clingo_list(TEN, THREE_QUESTS), rounds=2)) == LEFT


@pytest.mark.benchmark(group="count 74,160 worlds")
def test_count_and_shares_come_five_hundred_times_faster_than_clingos_count(benchmark: Any) -> None:
    follower = followed(compile_arrays(game(TEN)), played(10, THREE_QUESTS))

    def answered() -> tuple[int, list[dict[int, Any]]]:
        found = worlds(follower.current(), "role")
        return count(found), shares(found)

    number, parts = benchmark(answered)
    assert number == clingo_count(TEN, THREE_QUESTS) == LEFT
    rows = listed(game(TEN), THREE_QUESTS)
    for seat, entry in enumerate(parts):
        for role, share in entry.items():
            assert share * LEFT == int((rows[:, seat] == role).sum())
    faster(benchmark, lambda: clingo_count(TEN, THREE_QUESTS), 500, rounds=5)


@pytest.mark.benchmark(group="count 74,160 worlds")
def test_clingo_counts_worlds(benchmark: Any) -> None:
    assert benchmark.pedantic(lambda: clingo_count(TEN, THREE_QUESTS), rounds=3) == LEFT


@pytest.mark.benchmark(group="one more event")
def test_one_more_quest_is_answered_in_under_ten_milliseconds(benchmark: Any) -> None:
    model = game(TEN)
    follower = followed(compile_arrays(model), played(10, THREE_QUESTS))
    teams = cycle(
        frozenset(team) for team in combinations(range(10), 5)
    )  # a new one each time: nothing is remembered

    def next_quest() -> tuple[list[Observation], frozenset[int]]:
        team = next(teams)
        return played(10, [*THREE_QUESTS, (team, 1)])[-12:], team

    def answered(seen: list[Observation], team: frozenset[int]) -> tuple[frozenset[int], int, Any]:
        after = follower
        for clump in clumps([Observation("propose", "choice", "team", 3, team), *seen[1:]]):
            after = follow(after, clump)
        found = worlds(after.current(), "role")
        return team, count(found), shares(found)

    team, number, _ = benchmark.pedantic(answered, setup=lambda: (next_quest(), {}), rounds=60)
    assert number == clingo_count(TEN, [*THREE_QUESTS, (team, 1)])
    if benchmark.enabled:
        assert benchmark.stats.stats.median < 0.010


@pytest.mark.benchmark(group="list 216 worlds")
def test_worlds_of_a_small_position_are_listed_twenty_times_faster_than_by_z3(benchmark: Any) -> None:
    model = game(SIX)
    rows = benchmark.pedantic(lambda: listed(model, ONE_QUEST), rounds=10)
    by_z3 = z3_list(SIX, ONE_QUEST)
    assert len(rows) == len(by_z3)
    assert named(model, rows) == set(by_z3)
    faster(benchmark, lambda: z3_list(SIX, ONE_QUEST), 20)


@pytest.mark.benchmark(group="list the first 200 of 74,160 worlds")
def test_z3_takes_longer_for_two_hundred_worlds_than_the_table_for_all(benchmark: Any) -> None:
    model = game(TEN)
    every = named(model, listed(model, THREE_QUESTS))
    some = benchmark.pedantic(lambda: z3_list(TEN, THREE_QUESTS, most=200), rounds=1)
    assert len(some) == len(set(some)) == 200 and set(some) <= every
    if benchmark.enabled:
        assert benchmark.stats.stats.min > seconds(lambda: listed(model, THREE_QUESTS), 3)


@pytest.mark.benchmark(group="a cold start")
def test_a_cold_deduce_of_the_same_record_takes_under_a_second_and_a_half(
    benchmark: Any, tmp_path: Path
) -> None:
    names = [f"P{seat}" for seat in range(10)]
    lines = [
        f"players {' '.join(names)}",
        "roles merlin percival assassin morgana mordred oberon",
        "first_leader P0",
    ]
    for team, fails in THREE_QUESTS:
        lines += [f"propose {' '.join(names[s] for s in sorted(team))}", "vote ++++++++++", f"tally {fails}"]
    record = tmp_path / "game.txt"
    record.write_text("\n".join(lines))
    command = [sys.executable, "-m", "avalon_logic.cli", "deduce", str(record), "--json"]

    def cold() -> str:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout

    found = json.loads(benchmark.pedantic(cold, rounds=5))
    assert found["worlds"] == LEFT
    if benchmark.enabled:
        assert benchmark.stats.stats.median < 1.5


@pytest.mark.benchmark(group="many recorded games")
def test_viewers_followed_together_take_a_third_of_the_time_of_each_alone(benchmark: Any) -> None:
    from avalon_logic.deduction.games import follow_each, follow_game
    from avalon_logic.logs import import_game
    from tests.avalon_logic.site_logs import logged_game

    games = [import_game(logged_game(5 + seed % 6, seed)) for seed in range(12)]
    for game in games:
        assert follow_game(game).to_json() == follow_each(game).to_json()

    def all_by(follow: Callable[[Any], object]) -> None:
        for game in games:
            follow(game)

    benchmark.pedantic(lambda: all_by(follow_game), rounds=3)
    faster(benchmark, lambda: all_by(follow_each), 3)
    if benchmark.enabled:
        benchmark.extra_info["games a second"] = round(len(games) / benchmark.stats.stats.min, 1)


RECORDED = Path(__file__).parents[3] / "shared" / "records" / "train-games.jsonl"


@pytest.mark.benchmark(group="many recorded games")
def test_recorded_games_are_deduced_three_times_faster_than_viewer_by_viewer(benchmark: Any) -> None:
    """The speed itself hangs on the machine; it is printed."""
    from avalon_logic.deduction.games import follow_each
    from avalon_logic.logs import import_game
    from avalon_logic.many.deducing import Deducing
    from avalon_logic.many.sources import games_in

    if not RECORDED.exists():
        pytest.skip(f"skipped: {RECORDED} is not here")
    many, alone = (600, 60) if benchmark.enabled else (3, 1)
    found = [source for source, _ in zip(games_in([RECORDED]), range(many), strict=False)]
    job = Deducing()

    def all_of_them() -> list[str]:
        return [job(source)["status"] for source in found]

    assert set(benchmark.pedantic(all_of_them, rounds=1)) == {"sound"}
    started = process_time()
    for line in RECORDED.read_text("utf-8").splitlines()[:alone]:
        follow_each(import_game(json.loads(line)))
    if benchmark.enabled:
        speed = many / benchmark.stats.stats.min
        print(f"\n{speed:.1f} games a second and core")
        assert speed >= 3 * alone / (process_time() - started)
