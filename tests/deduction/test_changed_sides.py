"""Games in which the side of a player depends on more than the card: what counts is the rulebook's definition."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from avalon_logic.deduction import Result, deduce
from avalon_logic.deduction.api import read

# A minion turns good when a card says so, openly or in secret; or an assassin was good from the start.
TURNCOAT = """
module turncoat "A minion may change sides" for avalon {{
  {audience} turned: Bool = false
  override def side(p: Player) = if turned and role[p] == minion then good else base(p)
  phase change before aftermath {{
    chance chooses turns: Bool {seen}
    if turns {{ turned := not turned }}
    continue
  }}
}}
"""
RENEGADE = """
module renegade "The assassin is good" for avalon {
  override def side(p: Player) = if role[p] == assassin then good else base(p)
}
"""
GAME = """players A B C D E
with {module}
roles merlin servant servant assassin minion
first_leader A
propose A B
vote + + + + +
tally {fails}
{more}"""
FACTS = ("A is evil", "A is good", "B is evil", "C is evil", "A is minion")


@pytest.fixture
def rules(tmp_path: Path) -> dict[str, Path]:
    texts = {
        "open": TURNCOAT.format(audience="public", seen="public"),
        "secret": TURNCOAT.format(audience="hidden", seen="secret"),
        "renegade": RENEGADE,
    }
    for name, text in texts.items():
        (tmp_path / f"{name}.rules").write_text(text)
    return {name: tmp_path / f"{name}.rules" for name in texts}


def answer(rules: Path, fails: int, more: str = "", module: str = "turncoat") -> Result:
    return deduce(read(GAME.format(module=module, fails=fails, more=more), (rules,)))


@pytest.mark.parametrize("fails", [0, 1, 2])
@pytest.mark.parametrize("more", ["", "change +", "change -"])
def test_the_share_of_a_fact_is_that_of_the_deals_in_which_it_holds(
    rules: dict[str, Path], fails: int, more: str
) -> None:
    found = answer(rules["open"], fails, more)
    for fact in FACTS:
        denied = fact.replace(" is ", " is not ")
        assert found.chance(fact) == Fraction(found.what_if(fact).count, found.count), fact
        assert found.chance(denied) == 1 - found.chance(fact), fact


def test_a_minion_who_turned_is_evil_no_more(rules: dict[str, Path]) -> None:
    found = answer(rules["open"], 2, "change +")
    assert found.chance("A is evil") == found.chance("A is assassin") == Fraction(1, 2)
    assert [str(c) for c in found.certain] == ["C is good", "D is good", "E is good"]
    assert [(a.members, a.worlds) for a in found.alignments] == [(("A",), 3), (("B",), 3)]


def test_why_speaks_of_the_side_players_are_on_in_the_end(rules: dict[str, Path]) -> None:
    before, after = answer(rules["open"], 2), answer(rules["open"], 2, "change +")
    assert before.why("A is evil").certain
    why = after.why("A is evil")
    assert not why.certain and why.world is not None and why.world["A"] == "minion"
    assert after.why("C is good").certain
    assert "then no deal is left" in "\n".join(after.why("C is good").lines())


def test_where_the_deal_does_not_decide_a_side_both_are_possible(rules: dict[str, Path]) -> None:
    found = answer(rules["secret"], 2, "propose A B C")
    assert found.count == 6
    assert found.player("A").sides == {"good": Fraction(1, 2), "evil": Fraction(1)}
    assert found.player("C").sides == {"good": Fraction(1)}
    assert {a.members: a.worlds for a in found.alignments} == {("A", "B"): 6, ("A",): 3, ("B",): 3}
    assert found.what_if("A is good").count == 3
    why = found.why("A is evil")
    assert not why.certain and why.world is not None and why.world["A"] == "minion"


def test_a_side_that_follows_from_the_cards_otherwise_than_printed_counts(rules: dict[str, Path]) -> None:
    found = answer(rules["renegade"], 1, module="renegade")
    assert found.chance("A is evil") == Fraction(1, 2)  # of the two one failed, and only a minion can
    assert [a.members for a in found.alignments] == [("A",), ("B",)]
    assert found.why("C is good").certain
