"""Claims of a user's own files: proved over every game they fit, with the modules open, and each verdict says its scope."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from avalon_logic.cli import main
from avalon_logic.proving import own_families
from proofs.families import Family
from proofs.verdicts import BOUNDED, Verdict, exit_code
from tests.proofs.house import COUNTDOWN, model_of, verdicts_of, write_rules

CLAIMS = """
module claims "My claims" for core {
  reachable somebody_wins "somebody can win": over expect proved
}
"""
IN_ORDER = """
module claims "My claims" for core {
  invariant in_order "quests are attempted in order": all(q in Quest | q > resolved implies mark[q] == open) expect proved
}
"""
TWO_GAMES = """
module of_one "Of one" for resistance {
  invariant first "there are five quests": failures + successes <= 5 expect proved
}
module of_the_other "Of the other" for avalon {
  invariant second "there are five quests": failures + successes <= 5 expect proved
}
"""


def scopes(made: list[Family]) -> dict[str, tuple[tuple[str, ...], tuple[str, ...]]]:
    return {f.name: (f.properties, f.open_modules) for f in made}


def test_own_claims_are_proved_over_every_game_they_fit(tmp_path: Path) -> None:
    found = scopes(own_families([write_rules(tmp_path, CLAIMS)]))
    assert set(found) == {"resistance", "avalon", "avalon_2021"}
    assert "targeting" in found["resistance"][1]
    assert {"lady", "percival", "targeting", "blind_spies"} <= set(found["avalon"][1])
    assert "targeting" not in found["avalon_2021"][1]  # it has the module built in


def test_claims_about_two_games_are_each_proved_of_their_own(tmp_path: Path) -> None:
    found = scopes(own_families([write_rules(tmp_path, TWO_GAMES)]))
    assert {name: claims for name, (claims, _) in found.items()} == {
        "resistance": ("first",),
        "avalon": ("second",),
        "avalon_2021": ("second",),
    }


def test_a_claim_that_a_module_makes_false_is_refuted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Bare resistance attempts its quests in order; where the leader chooses the quest it need not."""
    words = ["prove", str(write_rules(tmp_path, IN_ORDER)), "--game", "resistance", "-n", "5", "-j", "1"]
    assert main([*words, "--without", "targeting"]) == 0
    assert "without targeting" in capsys.readouterr().out
    assert main(words) == 1
    assert "with or without blind_spies targeting" in capsys.readouterr().out


def test_a_claim_about_a_game_that_is_not_there_is_bad_input(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    book = write_rules(tmp_path, CLAIMS.replace("for core", "for avlon"))
    assert main(["prove", str(book)]) == 2
    assert "avlon" in capsys.readouterr().err


def test_claims_left_out_by_the_modules_asked_for_are_said_and_not_forgotten(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    book = write_rules(tmp_path, TWO_GAMES)
    assert main(["prove", str(book), "--with", "percival"]) == 2
    said = capsys.readouterr().err
    assert "of_one" in said
    assert "percival" in said


def test_a_module_cannot_be_in_and_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    book = write_rules(tmp_path, CLAIMS)
    assert main(["prove", str(book), "--with", "lady", "--without", "lady"]) == 2
    assert "lady" in capsys.readouterr().err
    assert main(["prove", str(book), "--without", "ladies"]) == 2
    assert "there is no module 'ladies'" in capsys.readouterr().err


def test_rules_of_a_user_that_do_not_fit_a_game_do_not_keep_his_claims_from_it(tmp_path: Path) -> None:
    rules = 'module house "House" for resistance { def spies = count(p in Player | side(p) == evil) }'
    found = own_families([write_rules(tmp_path, CLAIMS + rules)])
    assert {f.name: f.modules for f in found} == {
        "resistance": ("house",),
        "avalon": (),
        "avalon_2021": (),
    }


def test_every_verdict_says_for_which_tables_it_holds(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    book, junit = write_rules(tmp_path, CLAIMS), tmp_path / "prove.xml"
    words = [
        "prove",
        str(book),
        "--game",
        "resistance",
        "-n",
        "5",
        "-j",
        "1",
        "--ruling",
        "fifth_team=no_vote",
    ]
    words += ["--without", "targeting", "--junit", str(junit)]
    scope = (
        "resistance, 5 players, every deck, fifth_team=no_vote, every other ruling open, "
        "with or without blind_spies, without targeting"
    )
    assert main([*words, "--json"]) == 0
    (found,) = json.loads(capsys.readouterr().out)["properties"]
    assert found["scope"] == scope
    assert scope in junit.read_text(encoding="utf-8")


def test_a_claim_said_to_be_open_may_turn_out_bounded() -> None:
    """Nothing found up to a depth is one way not to decide it."""
    text = COUNTDOWN.replace(
        "over implies moves >= 4 expect refuted", "over implies moves >= 4 expect unknown"
    )
    claim = model_of(text).properties["four_moves"]
    bounded = Verdict("countdown", claim, BOUNDED, "nothing found", 0.0, depth=3)
    assert bounded.as_expected
    assert exit_code([bounded]) == 0
    decided = replace(next(v for v in verdicts_of() if v.name == "four_moves"), claim=claim)
    assert exit_code([decided]) == 1  # refuted: more is known than its author thought


RULES_TOO = (Path(__file__).parents[2] / "docs" / "examples" / "two_rejections.rules").read_text(
    encoding="utf-8"
)


def test_a_game_of_a_module_with_rules_and_claims_is_recorded_with_the_module(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without it the record would be one of another game, which goes on where this one is over."""
    book, games = write_rules(tmp_path, RULES_TOO), tmp_path / "games"
    words = ["prove", str(book), "-n", "5", "-j", "1", "--property", "lost_by_votes", "--save", str(games)]
    assert main(words) == 0
    assert "with two_rejections" in capsys.readouterr().out
    (saved,) = games.iterdir()
    assert main(["replay", str(saved), "--rules", str(book)]) == 0
    assert "evil" in (shown := capsys.readouterr().out)
    assert "the game goes on" not in shown


def test_rules_beside_claims_in_one_module_are_looked_at_for_coverage(tmp_path: Path) -> None:
    (family,) = own_families([write_rules(tmp_path, RULES_TOO)])
    assert family.watchers == ()
    (counting,) = own_families([write_rules(tmp_path, COUNTS, "counts.rules")])
    assert counting.watchers == ("counts",)
    assert counting.modules == ()


COUNTS = """
module counts "It only keeps count" for resistance {
  hidden votes: 0..3 = 0
  def many = votes > 2
  extend vote { if votes < 3 { votes := min(votes + 1, 3) } }
  reachable some "there can be many votes": many expect proved
}
"""
