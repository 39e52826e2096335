"""The NumPy back end knows of the tiny games exactly what trying every game shows."""

from __future__ import annotations

from random import Random

import pytest

from tests.conformance.test_conformance import IDS, MIXES, settled
from tests.differential.knowledge import TooMany, compare_knowledge


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
