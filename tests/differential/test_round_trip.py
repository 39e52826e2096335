"""A random game of a random rulebook, written down and read again, is that game: to the replay, to every seat's worlds
and to what explains them.
"""

from __future__ import annotations

from random import Random

import pytest

from rules_dsl import Model, build_model, compose, library, parse, settle
from tests.differential.random_rulebooks import random_rulebook
from tests.differential.random_shapes import random_shapes
from tests.differential.round_trip import round_trip


def settled(text: str, name: str, players: int) -> Model:
    return settle(build_model(compose(library([parse(text)]), name)), {"players": players}).model


@pytest.mark.parametrize("batch", range(6))
def test_a_game_of_a_random_rulebook_survives_being_written_down(batch: int) -> None:
    for seed in range(batch * 8, batch * 8 + 8):
        # who has a say in a choice of several is not written down, so everybody has
        text = random_rulebook(Random(seed), all_choose=True)
        round_trip(settled(text, "made", 2 + seed % 2), Random(seed))


@pytest.mark.parametrize("batch", range(8))
def test_a_game_with_circles_and_choices_passed_over_survives_being_written_down(batch: int) -> None:
    for seed in range(batch * 8, batch * 8 + 8):
        round_trip(settled(random_shapes(Random(seed)), "shapes", 2 + seed % 2), Random(seed))
