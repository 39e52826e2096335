"""Decks that do not fit their places: said when it can be known, and in words when it shows only in play."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from rules_dsl import Model, build_model, compile_python, compose, library, parse, reference, settle
from rules_dsl.arrays.games import Simulator
from rules_dsl.play import Stuck
from rules_dsl.values import arrangements

CHOSEN = """
game g {
  players 2..4
  enum Role { fox, hen }
  result Role
  param foxes: 0..6 = 1
  phase deal {
    chance deals role: Player -> Role from map(r in Role: if r == fox then foxes else players - 1) own
    win fox
  }
  start deal
}
"""
COLLECTED = """
game g {
  players 2..2
  enum Role { fox, hen }
  result Role
  start collect
  public hand: Bag<Role, 3>
  phase collect { chance chooses many: Bool public  hand := insert(insert(insert(hand, fox), fox), hen)  next deal }
  phase deal { chance deals role: Player -> Role from hand own  win fox }
}
"""


def made(text: str) -> Model:
    return build_model(compose(library([parse(text)]), "g"))


@pytest.mark.parametrize("foxes", [0, 2, 6])
def test_a_table_whose_deck_does_not_fit_is_refused_with_the_numbers(foxes: int) -> None:
    (found,) = settle(made(CHOSEN), {"players": 3, "foxes": foxes}).errors
    assert found.text == f"there are {foxes + 2} cards for 3 places to deal 'role' to"
    assert found.origin.span.line == 8


def test_a_deck_that_fits_is_no_finding() -> None:
    for players in (2, 3, 4):
        assert settle(made(CHOSEN), {"players": players}).findings == ()


def test_the_rulebooks_own_words_for_such_a_table_go_first() -> None:
    text = CHOSEN.replace("start deal", 'start deal setup error unless foxes == 1 "there is one fox"')
    (found,) = settle(made(text), {"foxes": 2}).errors
    assert found.text == "there is one fox"


def test_a_deal_of_cards_collected_in_play_that_do_not_fit_says_so() -> None:
    model = settle(made(COLLECTED), {"players": 2}).model
    state = reference.step(model, reference.start(model).state, ((-1, False),)).state
    assert list(reference.options(model, state, -1)) == []
    with pytest.raises(Stuck, match="not as many cards as places"):
        compile_python(model).simulate(1, Random(1))
    with pytest.raises(Stuck, match="not as many cards as places"):
        Simulator(model).play(1, np.random.default_rng(1))


def test_more_cards_than_places_can_be_laid_out_in_no_way() -> None:
    assert arrangements((2, 2, 1), 3) == 0
    assert arrangements((1, 1), 3) == 0
    assert arrangements((2, 1), 3) == 3
