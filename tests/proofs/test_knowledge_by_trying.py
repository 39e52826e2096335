"""Verdicts about who knows what, held against every game there is: small random games made to mislead.

`AVALON_KNOWING_GAMES` says how many games to try (each takes some seconds).
"""

from __future__ import annotations

import os
from collections import Counter
from random import Random

import pytest

from proofs.prover import Options, prove
from proofs.verdicts import PROVED, REFUTED
from rules_dsl import Model, RulebookError, build_model, compose, library, parse
from tests.proofs.knowing_by_trying import TooMany, random_game, true_everywhere

GAMES = int(os.environ.get("AVALON_KNOWING_GAMES", "12"))
MOST_HISTORIES = 2000


def small_game(seed: int) -> tuple[Model, dict[str, bool]]:
    """A random game small enough to be tried whole, with what is true of it."""
    rng = Random(seed)
    while True:
        try:
            text = random_game(rng)
            model = build_model(compose(library([parse(text, "random.rules")]), "misleading"))
            claims = {name: p.value for name, p in model.properties.items() if p.value is not None}
            return model, {n: true_everywhere(model, c, MOST_HISTORIES) for n, c in claims.items()}
        except (RulebookError, TooMany):
            continue  # not every random text is a game, and some games are too long


@pytest.mark.parametrize("seed", range(GAMES))
def test_no_verdict_about_knowing_contradicts_trying_every_game(seed: int) -> None:
    model, truth = small_game(seed)
    decided = Counter[str]()
    for verdict in prove(model, "random", Options(seconds=3, deepest=10)):
        decided[verdict.outcome] += 1
        if verdict.outcome == PROVED:
            assert truth[verdict.name], (seed, verdict.name, verdict.how)
        if verdict.outcome == REFUTED:
            assert not truth[verdict.name], (seed, verdict.name, verdict.how)
    assert decided[PROVED] + decided[REFUTED] >= 3, "nearly nothing was decided"
