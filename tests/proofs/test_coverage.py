"""Which rules a set of properties depends on, on a game small enough to see it."""

from __future__ import annotations

from proofs.coverage import coverage, rules_of
from proofs.families import Family
from proofs.prover import Options
from rules_dsl import Model, build_model, compose, library, parse
from rules_dsl import model as m
from rules_dsl.types import BOOL

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


def counting(*properties: str) -> Model:
    book = parse(COUNTING.replace("PROPERTIES", "\n".join(properties)), "counting.rules")
    return build_model(compose(library([book]), "counting"))


def covered(*properties: str) -> dict[str, tuple[str | None, str]]:
    family = Family("counting", "counting", (), (), (), counting(*properties))
    return {c.rule.text: (c.property, c.by) for c in coverage(family, Options(seconds=60, games=10))}


def uncovered(*properties: str) -> set[str]:
    return {text for text, (name, _) in covered(*properties).items() if name is None}


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


def test_a_rule_only_the_game_found_uses_is_told_apart_from_one_a_proof_needs() -> None:
    found = covered(
        'invariant five "never more than five": total <= 5 expect proved',
        'reachable two "two moves suffice": over and moves == 2 expect proved',
    )
    assert found["at most two"] == ("five", "proof")
    assert found["moves"] == ("two", "game")
    assert found["at least one"] == (None, "")


def test_a_game_that_goes_another_way_but_shows_the_same_needs_no_rule() -> None:
    # without passing on, the same moves are those of another seat, but where they are legal the total is the same
    found = covered('reachable at_two "the total can be two": total == 2 expect proved')
    assert found["total"] == ("at_two", "game")
    assert found["moves"] == (None, "")


def test_a_rule_not_looked_at_in_time_is_neither_covered_nor_bare() -> None:
    model = counting('invariant five "never more than five": total <= 5 expect proved')
    family = Family("counting", "counting", (), (), (), model)
    assert {c.by for c in coverage(family, Options(seconds=0, games=10))} == {"undecided"}


PEEKING = """
game peeking {
  players 2..3
  result Bool
  enum Colour { red, black }
  param deck: Colour -> 0..3 = map(c in Colour: if c == red then 1 else players - 1)
  public fortune_teller: Player
  def sharp(p: Player) = p == fortune_teller
  start deal
  phase deal {
    chance deals card: Player -> Colour from deck own
    next peek
  }
  phase peek {
    show the_red_one to p in Player where sharp(p): { q in Player | card[q] == red }
    next guess
  }
  phase guess {
    fortune_teller chooses guess: Player public
    win card[guess] == red
  }
  invariant sees_red "the fortune teller knows who has the red card":
    at(guess) implies all(q in Player | card[q] == red implies knows(fortune_teller, card[q] == red)) expect proved
}
"""


def test_what_is_shown_is_covered_by_a_claim_about_knowing_that_gets_another_verdict() -> None:
    # nothing that is shown changes a state, so no induction notices it
    model = build_model(compose(library([parse(PEEKING, "peeking.rules")]), "peeking"))
    family = Family("peeking", "peeking", (), (), (), model)
    found = {c.rule.text: (c.property, c.by) for c in coverage(family, Options(seconds=60, games=10))}
    assert found == {"the_red_one": ("sees_red", "proof"), "sharp": ("sees_red", "proof")}


def test_what_is_shown_is_not_covered_where_nobody_claims_to_know_it() -> None:
    text = PEEKING.replace("knows(fortune_teller, card[q] == red)", "knows(q, card[q] == red)")
    model = build_model(compose(library([parse(text, "peeking.rules")]), "peeking"))
    family = Family("peeking", "peeking", (), (), (), model)
    assert [c.property for c in coverage(family, Options(seconds=60, games=10))] == [None, None]


MODULE = """
module doubling for counting {
  extend turn first { speaker chooses doubled: Bool public }
  phase rest before turn when total == 2 { next turn }
}
"""


def test_that_a_module_is_in_or_out_is_no_rule_of_it() -> None:
    books = [parse(COUNTING.replace("PROPERTIES", ""), "counting.rules"), parse(MODULE, "doubling.rules")]
    model = build_model(compose(library(books), "counting", (), ("doubling",)))
    conditions = [rule for rule in rules_of(model, ()) if rule.kind == "condition"]
    assert [(rule.where, rule.text) for rule in conditions] == [("rest", "when the phase takes place")]
    assert conditions[0].without(model).phases["rest"].when == m.Parameter("with_doubling", BOOL)


CHECKED = COUNTING.replace(
    "  start turn",
    """
  ruling pace "May it go on for long?" { short "no" long "yes" } default short
  setup error unless players == 2 or pace == short "three are too many for a long game"
  setup error unless players <= 3 "four are too many"
  setup warning unless pace == short "this takes long"
  start turn""",
)


def test_a_check_of_the_table_is_a_rule_where_it_refuses_one() -> None:
    claim = 'invariant quick "a long game is for two": pace == long implies players == 2 expect proved'
    book = parse(CHECKED.replace("PROPERTIES", claim), "counting.rules")
    family = Family("counting", "counting", (), (), (), build_model(compose(library([book]), "counting")))
    found = {
        c.rule.text: c.property
        for c in coverage(family, Options(seconds=60, games=10))
        if c.rule.kind == "check"
    }
    assert found == {"three are too many for a long game": "quick"}
