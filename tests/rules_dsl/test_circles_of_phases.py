"""Phases in which nobody chooses: long runs of them are played, circles of them are stuck."""

from __future__ import annotations

import pytest

from rules_dsl import build_model, compile_python, compose, library, parse, reference, settle
from rules_dsl.play import CHANCE, Stuck

ROUND = """
game round {
  players 2..2
  result Bool
  public left_over: 0..900 = 0
  public asked: Set<Player> = {}
  start begin
  phase begin { chance chooses spin: Bool public  left_over := 900  next walk }
  phase walk {
    each p in asked chooses yes: Bool public
    left_over := if spin then left_over else max(left_over - 1, 0)
    if left_over == 0 { win true }
    next walk
  }
}
"""


@pytest.fixture(scope="module")
def model():  # type: ignore[no-untyped-def]
    return settle(build_model(compose(library([parse(ROUND)]), "round")), {}).model


def test_a_long_run_of_phases_nobody_chooses_in_is_played(model) -> None:  # type: ignore[no-untyped-def]
    step = reference.step(model, reference.start(model).state, ((CHANCE, False),))
    assert step.state.over
    assert sum(o.kind == "phase" for o in step.observations) == 900
    engine = compile_python(model)
    assert engine.step(engine.start().state, ((CHANCE, False),)) == step


def test_a_circle_of_phases_nobody_chooses_in_is_stuck(model) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(Stuck):
        reference.step(model, reference.start(model).state, ((CHANCE, True),))
    engine = compile_python(model)
    with pytest.raises(Stuck):
        engine.step(engine.start().state, ((CHANCE, True),))
