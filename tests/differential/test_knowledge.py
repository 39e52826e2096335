"""The NumPy back end knows of the tiny games exactly what trying every game shows."""

from __future__ import annotations

from random import Random

import pytest

from rules_dsl import Model, build_model, compose, library, parse, reference, settle
from rules_dsl import model as m
from rules_dsl.arrays import grant
from rules_dsl.play import CHANCE
from rules_dsl.types import BOOL
from tests.conformance.test_conformance import IDS, MIXES, settled
from tests.differential.knowledge import (
    TooMany,
    by_arrays,
    compare_knowledge,
    never_rules_out_what_can_be,
    seen_by,
)


@pytest.mark.parametrize("mix", MIXES, ids=IDS)
def test_what_a_seat_can_know_is_what_trying_every_game_shows(
    mix: tuple[str, str, tuple[str, ...], int],
) -> None:
    model = settled(*mix)
    rng = Random(str(mix))
    asked = 0
    for most in range(1, 9):
        for viewer in (None, *range(mix[3])):
            for _ in range(2):
                try:
                    asked += compare_knowledge(model, rng, viewer, most)
                except TooMany:
                    continue
    assert asked > 0


def one_game(body: str) -> Model:
    text = f"""
    game g {{
      players 2..2
      result Bool
      start deal
      hidden coin: Bool
      public turn: Player
      phase deal {{ chance chooses coin  next look }}
      {body}
      phase close {{ turn chooses done: Bool public  if coin and done {{ win true }}  next deal }}
    }}
    """
    return settle(build_model(compose(library([parse(text)]), "g")), {"players": 2}).model


def agree_on(model: Model, most: int = 4) -> None:
    asked = 0
    for seed in range(8):
        for viewer in (None, 0, 1):
            asked += compare_knowledge(model, Random(seed), viewer, most)
    assert asked > 20


def test_a_sign_may_be_the_one_of_a_later_statement() -> None:
    agree_on(
        one_game("""
        public told: Bool
        phase look {
          turn chooses told: Bool public
          show sign to p in { turn } where coin and told: true
          show sign to p in Player where not (coin and told): coin
          next close
        }
        """)
    )


def test_that_nobody_was_seen_to_choose_tells_what_the_choice_hangs_on() -> None:
    model = one_game(
        "phase look { each p in Player chooses hand: Bool public when coin  publish now = true  next close }"
    )
    for seed in range(8):
        for viewer in (None, 0, 1):
            never_rules_out_what_can_be(model, Random(seed), viewer, 4)
    first = reference.start(model)
    step = reference.step(model, first.state, ((CHANCE, False),))
    (belief,) = [
        b for b in by_arrays(model, seen_by((*first.observations, *step.observations), 0), 0) if b.possible
    ]
    coin = m.Variable("coin", BOOL)
    assert not grant(belief, coin).possible
    assert grant(belief, m.Apply("not", (coin,), BOOL)).possible


def test_what_both_branches_of_a_hidden_condition_do_is_done() -> None:
    agree_on(
        one_game("""
        hidden hold: Player -> Bool
        public first: Bool
        phase look {
          chance deals hold from map(b in Bool: 1) own
          turn chooses bold: Bool public
            require bold or not first
          if coin { first := hold[turn] } else { first := hold[turn] }
          next close
        }
        """)
    )
