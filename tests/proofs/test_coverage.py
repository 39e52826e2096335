"""Which rules a set of properties depends on, on a game small enough to see it."""

from __future__ import annotations

from proofs.coverage import coverage
from proofs.families import Family
from proofs.prover import Options
from rules_dsl import build_model, compose, library, parse

COUNTING = """
game counting {
  players 2..3
  result Bool
  public total: 0..9 = 0
  public moves: 0..9 = 0
  public speaker: Player
  def enough = total >= 4
  start turn
  phase turn {
    speaker chooses number: 0..3 public
      require number > 0 "at least one"
      require number < 3 "at most two"
    total := min(total + number, 9)
    moves := min(moves + 1, 9)
    speaker := left(speaker)
    if enough { win true }
    next turn
  }
  PROPERTIES
}
"""


def uncovered(*properties: str) -> set[str]:
    book = parse(COUNTING.replace("PROPERTIES", "\n".join(properties)), "counting.rules")
    model = build_model(compose(library([book]), "counting"))
    family = Family("counting", "counting", (), (), (), model)
    return {c.rule.text for c in coverage(family, Options(seconds=60, games=10)) if c.property is None}


def test_without_properties_no_rule_is_covered() -> None:
    bare = uncovered('invariant nothing "nothing": true expect proved')
    assert bare == {"at least one", "at most two", "total", "moves", "speaker", "enough"}


def test_a_rule_an_invariant_needs_is_covered() -> None:
    bare = uncovered('invariant five "never more than five": total <= 5 expect proved')
    assert "at most two" not in bare
    assert "enough" not in bare
    assert {"at least one", "speaker", "moves"} <= bare


def test_a_rule_a_witness_uses_is_covered() -> None:
    bare = uncovered('reachable two "two moves suffice": over and moves == 2 expect proved')
    assert not {"total", "moves", "speaker", "enough"} & bare
    assert "at most two" in bare
