"""Claims that hold only because what they speak of never comes about, however they are worded."""

from __future__ import annotations

import pytest

from proofs.prover import Options, prove
from proofs.verdicts import Verdict
from tests.proofs.test_prover import model_of, verdict

MODULE = """
  def never_so = turns == 3
  def beyond(n: 0..3) = turns > n
  def all_lost(n: 0..3) = all(p in Player | beyond(n) implies card[p] == red)
"""

HOLLOW = [
    "turns == 3 implies shown == left(shown)",
    "not (turns == 3) or shown == left(shown)",
    "shown == left(shown) or not (turns == 3)",
    "if turns == 3 then shown == left(shown) else true",
    "if turns <= 2 then true else shown == left(shown)",
    "never_so implies shown == left(shown)",
    "not never_so or shown == left(shown)",
    "not (never_so and shown != left(shown))",
    "all(p in Player | beyond(2) implies card[p] == red)",
    "all_lost(2)",
    "not exists(p in Player | beyond(2) and card[p] == red)",
    "turns <= 3 and (turns == 3 implies shown == left(shown))",
    "(turns >= 0 implies turns <= 3) and (turns == 3 implies turns == 2)",
    "over implies (turns == 3 implies shown == left(shown))",
    "over implies turns == 2 and (turns == 3 implies shown == left(shown))",
    "turns == 3 and shown == shown implies turns == 2",
    "deck[red] == 0 implies turns == 7 mod 4",
    "deck[red] + deck[black] < players implies over",
    "all(p in Player | deck[red] == 4 and players == 3 implies card[p] == red)",
]
SAYING = [
    "turns == 2 implies over",
    "not (turns == 2) or over",
    "over or not (turns == 2)",
    "if turns == 2 then over else true",
    "turns <= 2 or over",
    "not beyond(1) or over",
    "all(p in Player | beyond(1) implies over)",
    "not exists(p in Player | beyond(1) and not over)",
    "turns <= 2 and (turns == 2 implies over)",
    "over implies (turns == 2 implies winner is not none)",
    "deck[red] == 2 and not at(deal) implies exists(p in Player | card[p] == red)",
]


def said(claim: str) -> Verdict:
    return verdict(MODULE + f'invariant c "it is so": {claim} expect proved')


@pytest.mark.parametrize("claim", HOLLOW)
def test_a_claim_about_what_never_is_says_nothing(claim: str) -> None:
    assert said(claim).outcome == "vacuous"


@pytest.mark.parametrize("claim", SAYING)
def test_a_claim_about_what_can_be_is_proved(claim: str) -> None:
    assert said(claim).outcome == "proved"


def test_names_in_definitions_are_not_mixed_up() -> None:
    """`p` is one player outside the definition and another within it."""
    rules = "def others_black(p: Player) = all(q in Player | q != p implies card[q] == black)\n"
    claim = "all(q in Player | not at(deal) and deck[red] == 1 and card[q] == red implies others_black(q))"
    assert verdict(rules + f'invariant c "one": {claim} expect proved').outcome == "proved"


KNOWING = [
    ("knows(shown, turns == 3) implies over", "vacuous"),
    ("turns == 1 and knows(shown, deck[red] == 0) implies over", "vacuous"),
    ("not at(deal) implies all(p in Player | knows(p, card[p] == red) implies card[p] == red)", "proved"),
    ("all(p in Player, q in Player | turns == 0 and not at(deal) and players == 4 and deck[red] == 2 and p != q "
     "and knows(p, card[q] == red) implies over)", "vacuous"),
    ("all(p in Player | not at(deal) implies not knows(p, turns == 3) or over)", "vacuous"),
]  # fmt: skip


@pytest.mark.parametrize(("claim", "expected"), KNOWING)
def test_a_condition_on_what_somebody_knows_is_looked_at_too(claim: str, expected: str) -> None:
    assert verdict(f'invariant k "so": {claim} expect proved').outcome == expected


def test_where_no_table_is_allowed_nothing_is_proved() -> None:
    properties = [
        'invariant c "so": turns <= 3 expect proved',
        'reachable r "so": over expect proved',
        'progress p "so" expect proved',
        'terminates t "so" within 3 expect proved',
        'invariant k "so": not at(deal) implies all(p in Player | knows(p, turns <= 3)) expect proved',
        'silent s "so": turn expect proved',
        'symmetric y "so": turn expect proved',
    ]
    model = model_of('setup error unless deck[red] > 4 "more cards than there are"', *properties)
    found = list(prove(model, "cards", Options(seconds=20, games=5)))
    assert [v.outcome for v in found] == ["vacuous"] * len(properties)
