"""A module left open and then put in or left out is the game composed with or without it, move by move."""

from __future__ import annotations

from random import Random

import pytest

from avalon_logic.library import open_model
from rules_dsl import Model, Value, settle
from rules_dsl.python import compile_python

MODULES = ("percival", "mordred", "morgana", "oberon", "targeting", "lady", "blind_spies")


def tables(mix: tuple[str, ...], players: int) -> tuple[Model, Model]:
    """The same table from the game with all modules open, and from the game composed with just these."""
    evil = ["assassin", *(r for r in ("morgana", "mordred", "oberon") if r in mix)]
    room = {5: 2, 6: 2, 7: 3, 8: 3, 9: 3, 10: 4}[players]
    specials = frozenset(["merlin", *evil[:room], *(["percival"] if "percival" in mix else [])])
    given: dict[str, Value] = {"players": players, "specials": specials}
    flags = {f"with_{name}": name in mix for name in MODULES}
    whole = settle(open_model("avalon", open_modules=MODULES), {**given, **flags})
    alone = settle(open_model("avalon", mix), given)
    assert {c.text for c in whole.findings} == {c.text for c in alone.findings}
    return whole.model, alone.model


@pytest.mark.parametrize("seed", range(16))
def test_an_open_module_put_in_or_left_out_plays_as_composed(seed: int) -> None:
    rng = Random(seed)
    mix = tuple(name for name in MODULES if rng.random() < 0.5)
    whole, alone = tables(mix, rng.randint(5, 10))
    first, second = compile_python(whole), compile_python(alone)
    assert set(alone.variables) <= set(whole.variables)
    for _ in range(4):
        one, two = first.start(), second.start()
        while not two.state.over:
            assert (one.state.phase, one.observations) == (two.state.phase, two.observations), mix
            awaited, other = first.pending(one.state), second.pending(two.state)
            assert awaited is not None
            assert other is not None
            assert (awaited.choice.variable, awaited.seats) == (other.choice.variable, other.seats)
            if other.choice.deal is not None:
                (played,) = second.random_games(1, rng)
                move = second.moves(played.log)[0]  # the deal of some random game
            else:
                per_seat = [(s, list(second.options(two.state, s))) for s in other.seats]
                assert [(s, list(first.options(one.state, s))) for s in awaited.seats] == per_seat
                if other.choice.chooser.kind == "one":
                    per_seat = [rng.choice(per_seat)]
                move = tuple((s, rng.choice(values)) for s, values in per_seat)
            one, two = first.step(one.state, move), second.step(two.state, move)
        assert (one.state.over, one.state.result) == (True, two.state.result)
