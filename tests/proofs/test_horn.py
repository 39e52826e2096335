"""Horn clauses: true claims about games that never end, and real ones without any lemma; nothing is believed unchecked."""

from __future__ import annotations

from pathlib import Path

import pytest
import z3  # type: ignore[import-untyped]

from avalon_logic.proving import shipped_families
from proofs.certificates import check_folder, write_certificates
from proofs.clock import Clock
from proofs.horn import asked, found_invariant, holds_up
from proofs.verdicts import Verdict
from rules_dsl.smt import System, compile_smt
from rules_dsl.smt.terms import not_, term
from tests.proofs.house import verdicts_of

RING = """
game ring "A walk that never ends" {
  players 2..3
  result Player
  public place: 0..9 = 0
  public turn: Player
  start walk
  phase walk {
    turn chooses far: Bool public
    place := (if far then place + 4 else place + 2) mod 10
    turn := left(turn)
    next walk
  }
  invariant never_seven "nobody ever stands on seven": place != 7 expect proved
  invariant never_six "nobody ever stands on six": place != 6 expect refuted
  reachable on_three "somebody stands on three": place == 3 expect refuted
}
"""


@pytest.fixture(scope="module")
def walk() -> dict[str, Verdict]:
    return {v.name: v for v in verdicts_of(RING, game="ring", deepest=30)}


def test_a_claim_about_a_game_without_end_is_proved_without_a_lemma(walk: dict[str, Verdict]) -> None:
    assert walk["never_seven"].outcome == "proved"
    assert "Spacer" in walk["never_seven"].how


def test_what_no_game_reaches_is_refuted(walk: dict[str, Verdict]) -> None:
    assert walk["on_three"].outcome == "refuted"
    assert walk["on_three"].game is None


def test_a_false_claim_still_gets_its_shortest_game(walk: dict[str, Verdict]) -> None:
    assert (walk["never_six"].outcome, walk["never_six"].depth) == ("refuted", 2)


def test_the_invariant_found_is_certified(walk: dict[str, Verdict], tmp_path: Path) -> None:
    write_certificates([walk["never_seven"]], tmp_path)
    checked = check_folder(tmp_path, seconds=30)
    assert len(checked) == 5  # the invariant in three, and that every state is well formed in two
    assert all(dict(c.answers) == {"z3": "unsat", "cvc5": "unsat"} for c in checked)


def resistance() -> System:
    (family,) = (f for f in shipped_families(("resistance",), fixed={"players": 5}) if not f.knowing)
    return compile_smt(family.model)


def test_an_invariant_of_a_real_game_is_found_without_any_lemma() -> None:
    system = resistance()
    claim = system.model.properties["not_both_have_three"].value
    assert claim is not None
    assert found_invariant(system, not_(system.holds(claim)), (), Clock.of(60)) is not None


@pytest.mark.parametrize(
    "name", ["everyone_has_a_side", "two_fails_for_the_fourth", "an_all_good_team_exists"]
)
def test_an_answer_that_speaks_of_some_state_before_loses_nothing(name: str) -> None:
    """Of these Spacer may say: what some step led to. Such an answer is no condition on one state."""
    system = resistance()
    claim = system.model.properties[name].value
    assert claim is not None
    bad = not_(system.holds(claim))
    answer = asked(system, term(bad), (), 20.0)
    assert answer is None or holds_up(system, answer, (), term(bad), Clock.of(60))
    found_invariant(system, bad, (), Clock.of(20))


def test_what_no_well_formed_state_can_be_needs_no_search() -> None:
    system = resistance()
    claim = system.model.properties["everyone_has_a_side"].value
    assert claim is not None
    assert z3.is_true(found_invariant(system, not_(system.holds(claim)), (), Clock.of(20)))


def test_what_is_false_has_no_invariant() -> None:
    system = resistance()
    claim = system.model.properties["finished_games_had_three_quests"].value
    assert claim is not None
    assert found_invariant(system, not_(system.holds(claim)), (), Clock.of(10)) is None


@pytest.mark.parametrize("wrong", ["everything", "the claim itself", "nothing"])
def test_an_invariant_that_does_not_hold_up_is_not_believed(wrong: str) -> None:
    """Too weak to exclude anything, not kept by every step, not so at the start."""
    system = resistance()
    claim = system.model.properties["not_both_have_three"].value
    assert claim is not None
    bad = term(not_(system.holds(claim)))
    invariant = {
        "everything": z3.BoolVal(True),
        "the claim itself": z3.Not(bad),
        "nothing": z3.BoolVal(False),
    }
    assert not holds_up(system, invariant[wrong], (), bad, Clock.of(60))
