"""Games that get stuck or never end: they refute both `progress` and `terminates`, and each is shown as a game."""

from __future__ import annotations

from pathlib import Path

import pytest

from proofs.certificates import check_folder, write_certificates
from proofs.telling import tell_games
from proofs.verdicts import Verdict
from rules_dsl import reference, settle
from rules_dsl.play import CHANCE
from tests.proofs.house import model_of, verdicts_of

BOOK = """
game house {
  players 2..2
  result Player
  public turn: Player
  public asked: Set<Player> = { q in Player | true }
  start first
  PHASES
  progress goes_on "somebody can always go on" expect proved
  terminates ends "every game ends" expect proved
  terminates soon "every game ends soon" within 4 expect proved
}
"""
NO_MOVE = 'phase first { turn chooses x: Bool public  require x and not x "never"  win turn }'
LATER_NO_MOVE = """phase first { turn chooses x: Bool public  if x { win turn }  next second }
  phase second { chance chooses y: 0..3 weighing (if x then 1 else 0) public  win turn }"""
GOES_ON = "phase first { turn chooses x: Bool public  if x { win turn }  turn := left(turn)  next first }"
ROUND = """phase first { chance chooses x: Bool public  if x { asked := {} }  next second }
  phase second { each p in asked chooses y: Bool public  if size(asked) == 0 { next second }  win turn }"""
ENDS = """phase first { turn chooses x: Bool public  require size(asked) == 2 "both"  if x { win turn }  next second }
  phase second { turn chooses y: Bool public  win turn }"""


def verdicts(phases: str) -> dict[str, Verdict]:
    return {v.name: v for v in verdicts_of(BOOK.replace("PHASES", phases), game="house")}


@pytest.mark.parametrize(("phases", "events"), [(NO_MOVE, 0), (LATER_NO_MOVE, 1)])
def test_a_game_without_a_legal_move_never_comes_to_its_end(phases: str, events: int) -> None:
    found = verdicts(phases)
    assert {name: v.outcome for name, v in found.items()} == dict.fromkeys(found, "refuted")
    for verdict in found.values():
        assert verdict.game is not None
        assert len(verdict.game.moves) == events
        table = settle(model_of(BOOK.replace("PHASES", phases), "house"), verdict.game.params).model
        seat = reference.pending(table, verdict.game.states[-1]).seats[0]  # type: ignore[union-attr]
        assert not list(reference.options(table, verdict.game.states[-1], seat))


def test_a_game_that_comes_back_to_where_it_stood_need_never_end() -> None:
    found = verdicts(GOES_ON)
    assert found["goes_on"].outcome == "proved"
    for name in ("ends", "soon"):
        game = found[name].game
        assert found[name].outcome == "refuted"
        assert game is not None
        assert game.states[-1] in game.states[:-1]
        assert not game.states[-1].over


def test_phases_that_lead_to_each_other_for_ever_are_no_end() -> None:
    found = verdicts(ROUND)
    assert {v.outcome for v in found.values()} == {"refuted"}
    assert all("for ever" in v.how for v in found.values())
    game = found["ends"].game
    assert game is not None
    table = settle(model_of(BOOK.replace("PHASES", ROUND), "house"), game.params).model
    assert reference.pending(table, game.states[-1]).seats == (CHANCE,)  # type: ignore[union-attr]
    assert tell_games(model_of(BOOK.replace("PHASES", ROUND), "house"), found["ends"])


def test_what_ends_is_proved_and_certified_also_against_being_stuck(tmp_path: Path) -> None:
    found = verdicts(ENDS)
    assert {v.outcome for v in found.values()} == {"proved"}
    write_certificates(list(found.values()), tmp_path)
    checked = check_folder(tmp_path)
    assert any(c.file == "safety-ends.smt2" for c in checked)
    assert all(c.stands for c in checked)


def test_a_game_no_number_measures_is_followed_to_its_end() -> None:
    """Two switches, each thrown once at most: no number grows, yet no game is longer than two throws and a stop."""
    found = verdicts(
        """phase first {
    turn chooses x: Bool public
    if size(asked) == 0 or x { win turn }
    asked := if left(turn) in asked then { turn } else {}
    next first
  }"""
    )
    assert (found["ends"].outcome, found["soon"].outcome) == ("proved", "proved")
