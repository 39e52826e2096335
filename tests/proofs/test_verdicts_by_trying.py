"""Verdicts about random small games, held against every game of every table on the reference interpreter."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest

from proofs.prover import Options, prove
from proofs.verdicts import Verdict
from rules_dsl import RulebookError, build_model, compose, library, parse
from rules_dsl.model import Model
from tests.proofs.small_games import Everything, TooLarge, everything, random_game_text

BATCHES = range(5)
GAMES = 12


def small_game(seed: int) -> Model | None:
    """The game of a seed; None if it is not a rulebook (a phase nothing leads to, or one that only spins)."""
    try:
        return build_model(compose(library([parse(random_game_text(Random(seed)))]), "small"))
    except RulebookError:
        return None


def contradiction(verdict: Verdict, found: Everything) -> str:
    """What trying every game says against a verdict, if anything."""
    claim, outcome = verdict.claim, verdict.outcome
    if outcome in ("bounded", "unknown"):
        return ""
    if found.tables == 0:
        return "" if outcome == "vacuous" else "there is no table at all"
    if claim.kind in ("invariant", "reachable"):
        assert claim.value is not None
        shown = found.soonest(claim.value, claim.kind == "reachable")
        if verdict.game is None:
            return "" if shown is None else f"shown after {shown} event(s)"
        events = len(verdict.game.moves)
        return "" if shown == events else f"shown first after {shown}, not {events}"
    if claim.kind == "progress":
        # going round without a choice is looked for after missing moves, and may come sooner
        agrees = (
            found.stuck is None
            if outcome == "proved"
            else found.stuck is not None and found.stuck <= (verdict.depth or 0)
        )
        return "" if agrees else f"stuck after {found.stuck}"
    fails = found.stuck is not None or found.endless
    if claim.bound is not None:
        fails = fails or found.longest > claim.bound
    return (
        ""
        if fails == (outcome == "refuted")
        else f"stuck {found.stuck}, endless {found.endless}, {found.longest}"
    )


@pytest.mark.parametrize("batch", BATCHES)
def test_no_verdict_contradicts_trying_every_game(batch: int) -> None:
    outcomes: Counter[str] = Counter()
    for seed in range(batch * GAMES, (batch + 1) * GAMES):
        model = small_game(seed)
        if model is None:
            continue
        try:
            found = everything(model)
        except TooLarge:
            continue
        for verdict in prove(model, "small", Options(seconds=20, games=20, deepest=16)):
            wrong = contradiction(verdict, found)
            assert not wrong, f"{seed} {verdict.name} {verdict.outcome} ({verdict.how}): {wrong}"
            outcomes[verdict.outcome] += 1
    assert outcomes["proved"] > 3
    assert outcomes["refuted"] > 3
