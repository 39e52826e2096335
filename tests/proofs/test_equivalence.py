"""Two models are told apart by a game, or proved to be the same one."""

from __future__ import annotations

import pytest

from proofs.clock import Clock
from proofs.equivalence import Comparison, compare
from proofs.induction import strengthen
from proofs.lemmas import guesses
from proofs.replays import replay
from proofs.samples import samples
from rules_dsl import Model, build_model, compose, library, parse
from rules_dsl.smt import compile_smt

RACE = """
game race "First to five steps wins" {
  players 2..3
  result Player
  ruling pace "How far in one go?" { slow "two at most" fast "three" } default slow
  setup warning unless players == 2 or pace == slow "too quick for three"
  public steps: 0..9 = 0
  def quick = { p in Player | p == turn }
  hidden best: 0..3 = 0
  seen by quick pulse: 0..3 = 0
  public turn: Player
  start run
  phase run {
    turn chooses far: 0..3 public
      require pace == slow implies far <= 2 "too far"
      require far > 0 "stand still"
      ought steps == 0 implies far < 3 "go slowly at first"
    steps := min(steps + far, 9)
    if far > best { best := far }
    if steps >= 5 { next finish }
    turn := left(turn)
    next run
  }
  phase finish {
    show fastest to p in Player where p == turn: best
    win turn
  }
}
"""


def model_of(text: str) -> Model:
    return build_model(compose(library([parse(text, "race.rules")]), "race"))


def compared(old: str, new: str, lemmas: bool = True) -> Comparison:
    assert old in RACE
    ours, theirs = model_of(RACE), model_of(RACE.replace(old, new))
    claims = list(guesses(ours, list(samples(ours, 30))))
    proved = [claims[i] for i in strengthen(compile_smt(ours), claims, Clock.of(60)).alive]
    return compare(ours, theirs, proved if lemmas else (), Clock.of(60), deepest=12)


@pytest.mark.parametrize(
    ("old", "new", "how"),
    [
        ("far <= 2", "far <= 1", "what is chosen, follows or is seen in 'run'"),
        ("steps >= 5", "steps >= 6", "what is chosen, follows or is seen in 'run'"),
        ("steps >= 5", "steps >= 7", "what is chosen, follows or is seen in 'run'"),
        ("where p == turn", "where p != turn", "what is chosen, follows or is seen in 'run'"),
        ("p == turn: best", "p == turn: 3 - best", "what is chosen, follows or is seen in 'run'"),
        ("implies far < 3", "implies far < 2", "what is chosen, follows or is seen in 'run'"),
        ("{ best := far }", "{ }", "what is chosen, follows or is seen in 'run'"),
        ("| p == turn }", "| p != turn }", "what is chosen, follows or is seen in 'run'"),
        ("win turn", "win left(turn)", "what is chosen, follows or is seen in 'run'"),
        ("hidden best: 0..3 = 0", "hidden best: 0..3 = 1", "the start"),
        ("players == 2 or", "players == 3 or", "a finding about a table: too quick for three"),
        ("default slow", "default fast", "what is played when nothing is said of pace"),
    ],
)
def test_a_difference_is_found_and_where(old: str, new: str, how: str) -> None:
    found = compared(old, new)
    assert (found.same, found.how) == (False, how)
    if found.game is not None:
        replay(model_of(RACE), found.game)


def test_the_game_ends_where_the_two_part() -> None:
    found = compared("steps >= 5", "steps >= 6")
    assert found.game is not None
    assert len(found.game.moves) == 1  # a fast player goes three; two more would end it in one of the two
    assert found.game.states[-1].values[0] in (2, 3)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("steps >= 5", "5 <= steps"),
        ("far > best", "far >= best"),
        ("min(steps + far, 9)", "min(steps + far, 8)"),  # nobody comes further than seven
        ("require far > 0", "require far != 0"),
        ("players == 2 or", "players < 3 or"),
    ],
)
def test_what_makes_no_difference_is_proved_the_same(old: str, new: str) -> None:
    found = compared(old, new)
    assert found.same is True
    assert found.game is None


def test_without_claims_about_the_states_reached_the_whole_game_is_searched() -> None:
    assert compared("min(steps + far, 9)", "min(steps + far, 8)", lemmas=False) == Comparison(
        True, "no game comes to a step that differs, by complete unrolling"
    )


@pytest.mark.parametrize(
    ("old", "new", "what"),
    [
        ("hidden best", "public best", "who sees a variable"),
        ("turn chooses far", "one p in Player chooses far", "variables"),
        ("players 2..3", "players 2..4", "parameters"),
        ("public turn: Player\n", "public turn: Player\n  public spare: Bool = false\n", "variables"),
    ],
)
def test_models_of_other_parts_are_not_called_the_same(old: str, new: str, what: str) -> None:
    assert compared(old, new) == Comparison(None, f"not made of the same parts: {what}")


def test_no_time_is_no_answer() -> None:
    ours = model_of(RACE)
    assert compare(ours, ours, (), Clock.of(0)) == Comparison(None, "out of time")
