"""Many games at once in arrays against the same games one by one: results must come up equally often."""

from __future__ import annotations

import random
from collections import Counter
from math import sqrt

import numpy as np
import pytest

from rules_dsl import Model, Value, build_model, compose, library, parse, settle
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


def one_game(text: str) -> Model:
    return settle(build_model(compose(library([parse(text)]), "g")), {"players": 2}).model


def test_a_variable_that_is_named_like_a_speaker_is_kept() -> None:
    both_ways(
        one_game("""
        game g {
          players 2..2
          result Bool
          start a
          public turn: Player
          public pick_by: 0..3 = 1
          public kept: 0..3 = 0
          phase a { turn chooses pick: 0..3 public  pick_by := max(pick, 1)  next b }
          phase b { turn chooses pick: 0..3 public  kept := pick_by  turn := left(turn)  next c }
          phase c { if kept == 3 { win true }  if pick_by == 2 { win false }  next a }
        }
        """),
        2_000,
    )


def test_cards_are_dealt_as_often_as_the_arrangement_weighs() -> None:
    model = one_game("""
    game g {
      players 2..2
      enum Role { fox, hen, dog }
      result Role
      public host: Player
      start a
      phase a {
        chance deals role: Player -> Role from map(r in Role: if r == fox then 0 else 1)
          weighing (if role[host] == hen then 3 else 1) own
        win role[host]
      }
    }
    """)
    found = Simulator(model).play(GAMES, np.random.default_rng(5))
    one_by_one = compile_python(model).simulate(GAMES, random.Random(5))
    for results in (found, one_by_one):
        assert abs(results["hen"] / GAMES - 3 / 4) < 0.02
    never = one_game("""
    game g {
      players 2..2
      enum Role { fox, hen }
      result Role
      public host: Player
      start a
      phase a {
        chance deals role: Player -> Role from map(r in Role: 1) weighing (if role[host] == hen then 0 else 1) own
        win role[host]
      }
    }
    """)
    assert Simulator(never).play(500, np.random.default_rng(5)) == {"fox": 500}
    assert compile_python(never).simulate(500, random.Random(5)) == {"fox": 500}


def test_what_both_branches_do_is_done_in_many_games_too() -> None:
    both_ways(
        one_game("""
        game g {
          players 2..2
          result Bool
          start a
          hidden coin: Bool
          hidden hold: Player -> Bool
          public first: Bool
          public turn: Player
          phase a {
            chance chooses coin
            chance deals hold from map(b in Bool: 1)
            if coin { first := hold[turn] } else { first := hold[turn] }
            win first
          }
        }
        """),
        2_000,
    )
