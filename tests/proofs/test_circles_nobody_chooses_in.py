"""Phases that come round again without anybody choosing are followed to where they lead, however often it takes."""

from __future__ import annotations

from random import Random

import pytest

from proofs.verdicts import PROVED, REFUTED
from rules_dsl import reference
from rules_dsl.play import State
from rules_dsl.settle import settle
from rules_dsl.smt import compile_smt
from rules_dsl.smt.play import RelationPlay
from tests.proofs.house import model_of, verdicts_of
from tests.proofs.knowing_by_trying import moves

ASKED_IN_TURN = """
game circle {
  players 2..3
  result 1..2
  public asked: Set<Player> = {}
  public coin: Bool
  def left_over = { p in Player | not p in asked }
  def next_up = { p in left_over | all(q in left_over | p <= q) }
  start begin
  phase begin { chance chooses coin  next ask }
  phase ask {
    one p in next_up chooses yes: Bool public when size(left_over) > 0
    if size(left_over) == 0 { next goal }
    asked := asked union { yes_by }
    next ask
  }
  phase goal { each p in Player chooses fine: Bool public  win 1 }
  invariant never_there "nobody reaches the goal": not at(goal) expect refuted
  reachable there "the goal can be reached": at(goal) expect proved
  invariant ends_never "no game ever ends": not over expect refuted
  invariant all_asked "at the goal all have been asked": at(goal) implies size(left_over) == 0 expect proved
  progress never_stuck "never stuck" expect proved
  terminates it_ends "every game ends" expect proved
}
"""
SKIP_WHO_IS_OUT = """
game circle {
  players 3..5
  result Player
  public out: Set<Player> = {}
  public turn: Player
  start act
  phase act {
    turn chooses victim: Player public when not turn in out
      require victim != turn and not victim in out "only who is in can be thrown out"
    if not turn in out { out := out union { victim } }
    turn := left(turn)
    if size(out) + 1 >= players { win turn }
    next act
  }
  invariant ends_never "no game ever ends": not over expect refuted
  invariant who_is_in_acts "whoever acts is not out": at(act) implies not turn in out expect proved
  reachable two_skipped "three seats may be left of five": at(act) and players == 5 and size(out) == 2 expect proved
  progress never_stuck "never stuck" expect proved
}
"""


@pytest.mark.parametrize("text", [ASKED_IN_TURN, SKIP_WHO_IS_OUT], ids=["asked in turn", "skip who is out"])
def test_every_verdict_about_a_game_with_a_circle_is_as_it_is(text: str) -> None:
    for verdict in verdicts_of(text, game="circle", deepest=24):
        assert verdict.as_expected, f"{verdict.name}: {verdict.outcome}, {verdict.how}"
        assert verdict.outcome in (PROVED, REFUTED)


@pytest.mark.parametrize("text", [ASKED_IN_TURN, SKIP_WHO_IS_OUT], ids=["asked in turn", "skip who is out"])
def test_the_relation_goes_round_as_often_as_the_interpreter(text: str) -> None:
    model, rng = model_of(text, "circle"), Random(3)
    system = compile_smt(model)
    for players in range(model.fewest, model.most + 1):
        settled = settle(model, {"players": players})
        play = RelationPlay(system, settled.params)
        for _ in range(8):
            ours, theirs = reference.start(settled.model), play.start()
            while True:
                assert (theirs.state, theirs.observations) == (ours.state, ours.observations)
                state: State = ours.state
                if state.over:
                    break
                move = rng.choice(list(moves(settled.model, state)))
                ours, theirs = reference.step(settled.model, state, move), play.step(state, move)
