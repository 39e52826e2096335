"""Games the prover finds are records that the replay reads, whatever their shape."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from avalon_logic.cli import main
from avalon_logic.records import record_from_json
from avalon_logic.replay import replay
from tests.proofs.house import COUNTDOWN, write_rules

HOLES = """
game holes "Two values told in one phase, throws of a die, a choice that may be declined, a map keyed by numbers" {
  players 2..3
  result Player
  type Hole = 1..3
  public total: 0..9 = 0
  public turn: Player
  start roll
  phase roll {
    chance chooses die: 1..3 public
    total := min(total + die, 9)
    publish seen = die
    publish rest = 9 - total
    publish seen = 4 - die
    if total >= 5 { next bury }
    next roll
  }
  phase bury {
    turn may choose plan: Hole -> Bool public
    publish empty: Hole -> Bool = map(h in Hole: plan is none or h == 2)
    if plan is none { win left(turn) }
    turn := left(turn)
    next bury
  }
  reachable ends "the game can end": over and total == 6 expect proved
  reachable buries "somebody can bury": at(bury) and total == 7 expect proved
}
"""


@pytest.mark.parametrize(("text", "name"), [(HOLES, "holes"), (COUNTDOWN, "countdown")])
def test_a_game_of_any_shape_that_the_prover_saves_is_one_the_replay_reads(
    tmp_path: Path, text: str, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    rules = write_rules(tmp_path, text)
    main(
        [
            "prove",
            str(rules),
            "--game",
            name,
            "-j",
            "1",
            "--time",
            "60",
            "--save",
            str(tmp_path / "games"),
            "--json",
        ]
    )
    capsys.readouterr()
    saved = list((tmp_path / "games").iterdir())
    assert saved
    for path in saved:
        record = record_from_json(json.loads(path.read_text(encoding="utf-8")), (rules,))
        found = replay(record)
        assert found.legal, (found.findings, path.read_text(encoding="utf-8"))
        assert record.winner == found.result
