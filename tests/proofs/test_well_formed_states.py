"""Every state a game starts in or a step leads to is kept in the one way its values have: proofs assume it of all states."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from proofs.certificates import check_folder, write_certificates
from proofs.clock import Clock
from proofs.obligations import induction_obligations
from rules_dsl import Model, build_model, compose, library, parse
from rules_dsl.smt import compile_smt, finite_solver
from tests.differential.random_rulebooks import random_rulebook
from tests.proofs.house import model_of, verdicts_of

GIFT = """
game gift "A gift, if the house has one" {
  players 2..3
  result Player
  ruling extra "Is there a gift?" { yes "there is" no "there is none" } default yes
  public gift: 1..4? = if extra == yes then 3 else none
  public moves: 0..3 = 0
  start take
  phase take {
    chance chooses lucky: Player public
    moves := min(moves + 1, 3)
    if moves == 2 { win lucky }
    next take
  }
  invariant as_said "the gift is there exactly if the ruling says so":
    gift is not none iff extra == yes expect proved
  invariant three "a gift is three": gift is not none implies gift == 3 expect proved
  reachable nothing "there may be none": gift is none and over expect proved
}
"""

INITIAL = [
    "public odd: 1..4? = if extra == yes then 3 else none",
    "public odd: 1..4? = if extra == yes then if players == 2 then 2 else none else 3",
    "public odd: Player -> 1..4? = map(p in Player: if extra == yes then none else 3)",
    "public odd: Player -> 0..4 = 3",
    "public odd: Player -> 0..4 = map(p in Player: if extra == yes then 2 else 3)",
    "public odd: Set<Player> = { p in Player | extra == yes }",
    "type Two = 2..3  public odd: Two -> 1..4? = map(k in Two: if extra == yes then none else 2)",
]


def ill_formed(model: Model) -> list[str]:
    """The obligations that some game breaks although nothing is claimed but that states are well formed."""
    broken = []
    for obligation in induction_obligations(compile_smt(model), ()):
        solver = finite_solver()
        solver.add(*(part for _, part in obligation.parts))
        if Clock.of(30).check(solver):
            broken.append(obligation.name)
    return broken


def test_what_rests_on_an_optional_value_a_ruling_decides_is_certified(tmp_path: Path) -> None:
    verdicts = verdicts_of(GIFT, game="gift")
    assert [v.outcome for v in verdicts] == ["proved"] * 3
    write_certificates(verdicts, tmp_path)
    answers = [dict(c.answers) for c in check_folder(tmp_path)]
    assert answers
    assert all(a == {"z3": "unsat", "cvc5": "unsat"} for a in answers)


@pytest.mark.parametrize("declared", INITIAL)
def test_a_game_starts_in_a_well_formed_state(declared: str) -> None:
    text = GIFT.replace("public moves", "public lucky: Player\n  " + declared + "\n  public moves", 1)
    text = text.replace("chance chooses lucky: Player public", "chance chooses lucky")
    assert ill_formed(model_of(text, "gift")) == []


@pytest.mark.parametrize("seed", range(12))
def test_every_step_of_a_random_rulebook_leads_to_a_well_formed_state(seed: int) -> None:
    book = parse(random_rulebook(Random(1000 + seed)))
    assert ill_formed(build_model(compose(library([book]), "made"))) == []
