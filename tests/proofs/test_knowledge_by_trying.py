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
MOST_HISTORIES = 4000


def games() -> list[tuple[int, Model, dict[str, bool]]]:
    """Random games small enough to be tried whole, with what is true of them."""
    found: list[tuple[int, Model, dict[str, bool]]] = []
    seed = 0
    while len(found) < GAMES:
        seed += 1
        try:
            text = random_game(Random(seed))
            model = build_model(compose(library([parse(text, "random.rules")]), "misleading"))
            truth = {
                name: true_everywhere(model, claim.value, MOST_HISTORIES)
                for name, claim in model.properties.items()
                if claim.value is not None
            }
        except (RulebookError, TooMany):
            continue
        found.append((seed, model, truth))
    return found


@pytest.mark.parametrize(
    ("seed", "model", "truth"), games(), ids=lambda x: str(x) if isinstance(x, int) else ""
)
def test_no_verdict_about_knowing_contradicts_trying_every_game(
    seed: int, model: Model, truth: dict[str, bool]
) -> None:
    decided = Counter[str]()
    for verdict in prove(model, "random", Options(seconds=3, deepest=10)):
        decided[verdict.outcome] += 1
        if verdict.outcome == PROVED:
            assert truth[verdict.name], (seed, verdict.name, verdict.how)
        if verdict.outcome == REFUTED:
            assert not truth[verdict.name], (seed, verdict.name, verdict.how)
    assert decided[PROVED] + decided[REFUTED] >= 3, "nearly nothing was decided"
