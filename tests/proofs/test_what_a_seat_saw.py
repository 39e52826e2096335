"""What a seat saw is a sequence: of signs, news, choices and phases, and of nothing that tells statements apart."""

from __future__ import annotations

import pytest

from proofs.verdicts import PROVED, REFUTED
from tests.proofs.house import model_of, verdicts_of
from tests.proofs.knowing_by_trying import true_everywhere

KNOWN = """invariant claim "in the end everybody knows of a bit that is set":
    over implies all(p in Player | bit implies knows(p, bit))"""
SECRET = """invariant claim "nobody can find out that the bit is set": all(p in Player | not knows(p, bit))"""
EITHER = """invariant claim "in the end everybody knows whether the bit is set":
    over implies all(p in Player | knows(p, bit) or knows(p, not bit))"""


def game(claim: str, phases: str) -> str:
    return f"""game seen {{
  players 2..2
  hidden bit: Bool
  public turn: Player
  public rounds: 0..2 = 0
  start toss
  phase toss {{ chance chooses bit  next look }}
  {phases}
  {claim} expect unknown
}}"""


ONE_SIGN_TWO_BRANCHES = """phase look {
    if bit { show sign to p in Player: true } else { show sign to p in Player: true }
    draw }"""
ONE_NEWS_TWO_BRANCHES = """phase look {
    if bit { publish news: Bool = true } else { publish news: Bool = true }
    draw }"""
TWO_SIGNS_IN_EITHER_ORDER = """phase look {
    if bit { show sign to p in Player: true show sound to p in Player: true }
    else { show sound to p in Player: true show sign to p in Player: true }
    draw }"""
TWO_PHASES_IN_EITHER_ORDER = """phase look { turn chooses looked: Bool public
    if bit { next east } else { next west } }
  phase east { chance chooses wind: Bool secret  rounds := min(rounds + 1, 2)
    if rounds >= 2 { draw } next west }
  phase west { chance chooses rain: Bool secret  rounds := min(rounds + 1, 2)
    if rounds >= 2 { draw } next east }"""
ONCE_OR_TWICE = """phase look { turn chooses looked: Bool public  next again }
  phase again { turn chooses once_more: Bool secret when bit and rounds == 0
    if bit and rounds == 0 { rounds := 1 next again } draw }"""
WHICH_CHOICE_IS_AWAITED = """phase look {
    chance chooses left_hand: Bool secret when bit
    chance chooses right_hand: Bool secret when not bit
    turn chooses done: Bool public
    draw }"""
ONE_CHOICE_MORE_UNSEEN = """phase look {
    chance chooses coin: Bool secret when bit
    chance chooses other: Bool secret
    turn chooses done: Bool public
    draw }"""
SEEN_BY_WHO_IT_IS = """phase look {
    one p in { q in Player | bit or q == turn } chooses done: Bool shown to { turn }
    draw }"""
UNSEEN_LOOP = """phase look { turn chooses looked: Bool public  next spin }
  phase spin { chance chooses coin: Bool secret when rounds < 2
    if rounds < 2 and (bit or rounds < 1) { rounds := min(rounds + 1, 2) next spin } draw }"""


@pytest.mark.parametrize(
    ("phases", "claim", "outcome"),
    [
        (ONE_SIGN_TWO_BRANCHES, KNOWN, REFUTED),
        (ONE_SIGN_TWO_BRANCHES, SECRET, PROVED),
        (ONE_NEWS_TWO_BRANCHES, KNOWN, REFUTED),
        (ONE_NEWS_TWO_BRANCHES, SECRET, PROVED),
        (TWO_SIGNS_IN_EITHER_ORDER, SECRET, REFUTED),
        (TWO_SIGNS_IN_EITHER_ORDER, KNOWN, PROVED),
        (TWO_PHASES_IN_EITHER_ORDER, SECRET, REFUTED),
        (TWO_PHASES_IN_EITHER_ORDER, KNOWN, PROVED),
        (ONCE_OR_TWICE, SECRET, REFUTED),
        (WHICH_CHOICE_IS_AWAITED, KNOWN, REFUTED),
        (WHICH_CHOICE_IS_AWAITED, SECRET, PROVED),
        (ONE_CHOICE_MORE_UNSEEN, KNOWN, REFUTED),
        (ONE_CHOICE_MORE_UNSEEN, SECRET, PROVED),
        (SEEN_BY_WHO_IT_IS, SECRET, REFUTED),
        (SEEN_BY_WHO_IT_IS, EITHER, REFUTED),
        (UNSEEN_LOOP, KNOWN, PROVED),
        (TWO_SIGNS_IN_EITHER_ORDER, EITHER, PROVED),
    ],
)
def test_the_verdict_is_that_of_what_was_seen(phases: str, claim: str, outcome: str) -> None:
    text = game(claim, phases)
    value = model_of(text, "seen").properties["claim"].value
    assert value is not None
    assert true_everywhere(model_of(text, "seen"), value) is (outcome == PROVED)
    (verdict,) = verdicts_of(text, game="seen")
    assert verdict.outcome == outcome, verdict.how
