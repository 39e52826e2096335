"""Random games against exact chances worked out by hand, on both engines and for every module."""

from __future__ import annotations

import json
import random
from fractions import Fraction
from functools import cache
from math import comb, sqrt

import numpy as np
import pytest

from avalon_logic.cli import main
from avalon_logic.configuration import Configuration, load
from avalon_logic.simulation import MANY, simulate
from rules_dsl.arrays.games import Simulator
from rules_dsl.python import compile_python
from tests.oracle.brute_worlds import EVIL_COUNT, TEAM_SIZE
from tests.rules_dsl.test_many_games import alike

TO_FOUR_PLACES = {5: 0.3326, 6: 0.2498, 7: 0.3771, 8: 0.2343, 9: 0.4067, 10: 0.2337}


@cache
def good_wins(players: int) -> Fraction:
    """Uniform teams, fair votes, evil fails with one half, the Assassin guesses among the good players."""
    evil = EVIL_COUNT[players]
    approve = Fraction(sum(comb(players, k) for k in range(players // 2 + 1, players + 1)), 2**players)
    goes = 1 - (1 - approve) ** 5

    def fails(quest: int) -> Fraction:
        size, needed = TEAM_SIZE[players][quest - 1], 2 if players >= 7 and quest == 4 else 1
        total = Fraction(0)
        for aboard in range(min(size, evil) + 1):
            chance = Fraction(comb(evil, aboard) * comb(players - evil, size - aboard), comb(players, size))
            lost = Fraction(sum(comb(aboard, k) for k in range(needed, aboard + 1)), 2**aboard)
            total += chance * lost
        return total

    def after(won: int, lost: int) -> Fraction:
        if won == 3:
            return 1 - Fraction(1, players - evil)
        if lost == 3:
            return Fraction(0)
        failed = fails(won + lost + 1)
        return goes * (failed * after(won, lost + 1) + (1 - failed) * after(won + 1, lost))

    return after(0, 0)


@pytest.mark.parametrize("players", range(5, 11))
def test_good_wins_as_often_as_the_exact_chance_says(players: int) -> None:
    exact = good_wins(players)
    assert round(float(exact), 4) == TO_FOUR_PLACES[players]
    games = 100_000
    found = Simulator(load(Configuration("avalon", players)).model).play(
        games, np.random.default_rng(players)
    )
    assert sum(found.values()) == games
    assert abs(found["good"] / games - exact) < 4.5 * sqrt(float(exact * (1 - exact)) / games)


@pytest.mark.parametrize(
    "table",
    [
        Configuration("resistance", 6),
        Configuration("avalon", 7, ("targeting", "lady"), ("merlin", "percival", "assassin", "morgana")),
        Configuration("avalon", 10, (), ("merlin", "percival", "assassin", "morgana", "mordred", "oberon")),
        Configuration("avalon", 8, ("lady",), None, {"fifth_team": "no_vote", "vote_track": "keep"}),
        Configuration("avalon", 6, (), None, {"naming_domain": "good_only"}),
        Configuration("avalon_2021", 9),
    ],
    ids=lambda t: f"{t.game}-{t.players}",
)
def test_modules_end_alike_in_arrays_and_one_by_one(table: Configuration) -> None:
    model = load(table).model
    arrays = Simulator(model).play(60_000, np.random.default_rng(3))
    alike(arrays, compile_python(model).simulate(60_000, random.Random(3)))


def test_many_games_are_played_in_arrays_and_few_one_by_one() -> None:
    table = Configuration("resistance", 5)
    assert simulate(table, 1000, 1).engine == "python"
    seen: list[int] = []
    many = simulate(table, MANY, 1, seen.append)
    assert many.engine == "arrays" and sum(many.results.values()) == MANY and seen == [MANY]
    assert simulate(table, MANY, 1).results == many.results
    assert simulate(table, 1000, 1, engine="arrays").engine == "arrays"


def test_the_command_says_which_engine_played(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["simulate", "--games", "500", "--engine", "arrays", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["engine"] == "arrays" and sum(found["results"].values()) == 500
