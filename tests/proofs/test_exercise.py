"""Phases and requirements no game ever puts to use are found, and there are none in the shipped games."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from avalon_logic.cli import main
from avalon_logic.proving import GAMES, shipped_families
from proofs import exercise
from proofs.exercise import EXERCISED, NEVER, Exercise, exercises
from proofs.replays import Disagreement, replay
from rules_dsl import Model, build_model, compose, library, parse, reference, settle
from rules_dsl.play import IllegalMove
from rules_dsl.smt import System
from rules_dsl.smt.terms import Truth

COUNTING = """
game counting {
  players 2..3
  result Bool
  ruling pace "May a player say three?" { slow "no" fast "yes" } default slow
  public total: 0..9 = 0
  public turns: 0..9 = 0
  public speaker: Player
  start turn
  phase turn cite COUNT-01 {
    speaker chooses number: 0..3 public                        cite COUNT-02
      require number > 0 "at least one"                        cite COUNT-03
      require pace == slow implies number < 3 "at most two"
      require total + number <= 8 "never past eight"           cite COUNT-04
      require pace == fast implies number != 1 "a fast player says more than one"
    total := min(total + number, 9)
    turns := min(turns + 1, 9)
    speaker := left(speaker)
    if total == 3 and turns == 3 { next triple }
    if total >= 5 { win true }
    if total == 1 and turns == 2 { next void }
    next turn
  }
  phase triple { next turn }
  phase void { win false }
}
"""


def counting(text: str = COUNTING) -> Model:
    return build_model(compose(library([parse(text, "counting.rules")]), "counting"))


def found(model: Model, games: int = 60) -> dict[str, Exercise]:
    return {e.part.text: e for e in exercises(model, games=games, seconds=30, deepest=20)}


@pytest.mark.parametrize("games", [60, 0])
def test_a_requirement_that_never_refuses_anything_and_a_phase_nobody_enters_are_found(games: int) -> None:
    report = found(counting(), games)
    assert {text for text, e in report.items() if e.status == NEVER} == {"never past eight", "void"}
    assert {e.status for e in report.values()} == {NEVER, EXERCISED}
    assert report["never past eight"].part.origin.cites == ("COUNT-04",)


@pytest.mark.parametrize("games", [60, 0])
def test_a_part_used_only_under_another_ruling_than_the_default_is_told_apart(games: int) -> None:
    report = found(counting(), games)
    unusual = {text for text, e in report.items() if e.status == EXERCISED and e.usual is False}
    assert unusual == {"a fast player says more than one"}


@pytest.mark.parametrize("games", [60, 0])
def test_every_part_comes_with_the_event_that_shows_it(games: int) -> None:
    model = counting(COUNTING.replace('"at least one" ', '"at least one" ought number != 1 "one is rude"'))
    for e in found(model, games).values():
        if e.status != EXERCISED:
            continue
        assert e.game is not None
        last = replay(model, e.game)[-1]
        if e.part.kind == "phase":
            assert e.refused is None
            assert e.part.text in [o.phase for o in last.observations if o.kind == "phase"]
            continue
        assert e.refused is not None
        table = settle(model, e.game.params).model
        if e.part.kind == "ought":
            assert [b.text for b in reference.step(table, last.state, e.refused).breaches] == [e.part.text]
            continue
        with pytest.raises(IllegalMove) as refused:
            reference.step(table, last.state, e.refused)
        assert refused.value.requirement is not None
        assert refused.value.requirement.text == e.part.text


def test_what_the_interpreter_does_not_confirm_is_an_alarm(monkeypatch: pytest.MonkeyPatch) -> None:
    honest = exercise._goal

    def confused(system: System, key: exercise.Key) -> Truth:
        """Takes every requirement of a choice for its first one."""
        return honest(system, key if key[1] is None else (*key[:2], 0))

    monkeypatch.setattr(exercise, "_goal", confused)
    with pytest.raises(Disagreement, match="does not refuse"):
        found(counting(), 0)


def test_a_requirement_that_only_repeats_another_is_never_exercised() -> None:
    book = COUNTING.replace(
        'require number > 0 "at least one"', 'require number > 0 "one" require number != 0 "two"'
    )
    report = found(counting(book))
    assert report["one"].status == report["two"].status == NEVER


@pytest.mark.parametrize("games", [60, 0])
def test_an_ought_does_not_hide_a_requirement_that_says_the_same(games: int) -> None:
    book = COUNTING.replace(
        '"at least one" ', '"at least one" ought number > 0 "zero is rude" ought number != 1 "one is rude"'
    )
    report = found(counting(book), games)
    assert report["at least one"].status == report["one is rude"].status == EXERCISED
    assert report["zero is rude"].status == NEVER


def test_a_requirement_without_a_clause_cites_that_of_its_choice() -> None:
    assert found(counting())["at most two"].part.origin.cites == ("COUNT-02",)


@pytest.mark.parametrize("game", GAMES)
def test_every_phase_and_requirement_of_the_shipped_games_is_put_to_use(game: str) -> None:
    family = shipped_families([game])[0]
    report = exercises(family.model, seconds=60, deepest=30)
    assert [e.part.text for e in report if e.status != EXERCISED] == []
    for e in report:
        assert e.game is not None
        replay(family.model, e.game)
    assert all(e.usual is not None for e in report)


def test_the_command_lists_what_is_never_put_to_use(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    claim = 'reachable end "a game can end": over expect proved\n  start turn'
    path = tmp_path / "counting.rules"
    path.write_text(COUNTING.replace("start turn", claim), encoding="utf-8")
    asked = ["prove", "--coverage", "-j", "1", "--game", "counting", str(path)]
    assert main(asked) == 1
    shown = capsys.readouterr().out
    assert "counting: 5 of 7 phases and requirements are put to use in some game" in shown
    assert "never: counting: requirement in turn: never past eight  [COUNT-04]" in shown
    assert "never: counting: phase void: no state" in shown
    assert "default: counting: requirement in turn: a fast player says more than one  [COUNT-02]" in shown
    main([*asked, "--json"])
    rows = {row["rule"]: row for row in json.loads(capsys.readouterr().out)["exercises"]}
    assert rows["void"]["status"] == "never"
    assert rows["a fast player says more than one"]["default_rulings"] is False
    assert rows["triple"]["events"] is not None
