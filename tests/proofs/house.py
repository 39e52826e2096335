"""A small house rule with claims of its own, quick to prove: what the tests of the prover's surroundings run on."""

from __future__ import annotations

from pathlib import Path

from proofs.prover import Options, prove
from proofs.verdicts import Verdict
from rules_dsl import Model, build_model, compose, library, parse

COUNTDOWN = """
game countdown "Take one or two; whoever takes the last one wins" {
  players 2..3
  result Player
  public left_over: 0..6 = 6
  public moves: 0..6 = 0
  public turn: Player
  start take
  phase take {
    turn chooses taken: 1..2 public
      require taken <= left_over "there are not that many left"    cite HOUSE-01
    left_over := max(left_over - taken, 0)
    moves := min(moves + 1, 6)
    if left_over == 0 { win turn }
    turn := left(turn)
    next take
  }
  invariant never_full_again "after the first move some are gone":
    over implies left_over == 0 expect proved                     cite HOUSE-01
  invariant somebody_must_take "while it goes on there is something to take":
    at(take) implies left_over > 0 expect proved                  cite HOUSE-01
  invariant four_moves "a game has at least four moves":
    over implies moves >= 4 expect refuted                        cite HOUSE-01
  reachable long_game "six moves can be needed": over and moves == 6 expect proved    cite HOUSE-01
  progress never_stuck "there is always a move" expect proved
  terminates it_ends "the game ends after six moves at most" within 6 expect proved
}
"""


def model_of(text: str, game: str = "countdown") -> Model:
    return build_model(compose(library([parse(text, "house.rules")]), game))


def verdicts_of(
    text: str = COUNTDOWN, seconds: float = 20.0, game: str = "countdown", deepest: int = 12
) -> list[Verdict]:
    return list(prove(model_of(text, game), game, Options(seconds=seconds, deepest=deepest)))


def write_rules(folder: Path, text: str = COUNTDOWN, name: str = "house.rules") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path
