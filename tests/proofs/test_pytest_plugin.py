"""`pytest my_rules.rules`: each property of a rulebook is a test, and a failure shows the game."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.proofs.house import COUNTDOWN

pytest_plugins = ["pytester"]
PLUGIN = ("-p", "avalon_logic.pytest_plugin", "-p", "no:cacheprovider")

WRONG = COUNTDOWN.replace("over implies moves >= 4 expect refuted", "over implies moves >= 4 expect proved")
FOR_AVALON = """
module two_rejections "Two rejected teams in a round lose the game" for resistance {
  override phase rejected {
    rejections := min(rejections + 1, 5)
    if rejections == 2 { win evil }
    leader := left(leader)
    next propose
  }
  invariant at_most_one "a game that goes on has at most one rejection in a row":
    vote_track == reset and not over implies rejections <= 1 expect proved
  invariant never_five "there are never five rejections": rejections < 5 expect proved
}
"""


def test_the_properties_of_a_rulebook_are_tests(pytester: pytest.Pytester) -> None:
    path = pytester.makefile(".rules", house=COUNTDOWN)
    result = pytester.runpytest_inprocess(*PLUGIN, str(path), "-v")
    result.assert_outcomes(passed=6)
    result.stdout.fnmatch_lines(["*house.rules::never_stuck PASSED*"])


def test_a_failure_shows_the_sentence_and_the_game(pytester: pytest.Pytester) -> None:
    path = pytester.makefile(".rules", house=WRONG)
    result = pytester.runpytest_inprocess(*PLUGIN, str(path))
    result.assert_outcomes(passed=5, failed=1)
    result.stdout.fnmatch_lines(
        [
            "*house.rules:*: invariant four_moves",
            "*a game has at least four moves",
            "*refuted, expected proved: counterexample of 3 event(s)",
            "*1. take: taken: seat 1 2*",
            "*the game is over, seat * wins",
        ]
    )
    assert result.ret == 1


NOSY = """
module nosy_votes "Good players always approve" for resistance {
  override phase vote {
    each p in Player chooses approve: Bool public when not unvoted
      require side(p) == good implies approve "good players approve"
    if unvoted or 2 * count(p in Player | approve[p]) > players { next cards } else { next rejected }
  }
  silent quiet "no vote tells anybody anything": vote expect proved
}
"""


def test_a_claim_about_two_games_fails_with_both_of_them(pytester: pytest.Pytester) -> None:
    path = pytester.makefile(".rules", house=NOSY)
    result = pytester.runpytest_inprocess(*PLUGIN, str(path))
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "*refuted, expected proved: two games that have looked the same for 3 event(s)*",
            "*4. vote: approve:*",
            "*a game that looks the same to seat *, but cannot go on so:",
            "*3. propose: team:*",
        ]
    )


def test_one_property_can_be_chosen(pytester: pytest.Pytester) -> None:
    path = pytester.makefile(".rules", house=WRONG)
    pytester.runpytest_inprocess(*PLUGIN, str(path), "-k", "long_game").assert_outcomes(
        passed=1, deselected=5
    )
    pytester.runpytest_inprocess(*PLUGIN, f"{path}::four_moves").assert_outcomes(failed=1)


IN_ORDER = """
module claims for core {
  invariant in_order "quests are attempted in order": all(q in Quest | q > resolved implies mark[q] == open) expect proved
  reachable two_fails "two fails are needed somewhere": fails_needed == 2 expect proved
}
"""
BARE = ("--avalon-game", "resistance", "--avalon-without", "targeting", "--avalon-without", "blind_spies")


def test_claims_are_proved_for_every_mix_unless_less_is_asked_for(pytester: pytest.Pytester) -> None:
    path = str(pytester.makefile(".rules", house=IN_ORDER))
    whole = pytester.runpytest_inprocess(*PLUGIN, path, "--avalon-game", "resistance")
    whole.assert_outcomes(passed=1, failed=1)
    scope = "resistance, 5 to 10 players, every deck, every ruling, with or without blind_spies targeting"
    whole.stdout.fnmatch_lines([f"house.rules: {scope}", f"*asked for: {scope}"])
    pytester.runpytest_inprocess(*PLUGIN, path, *BARE).assert_outcomes(passed=2)


def test_game_players_rulings_and_property_can_be_chosen(pytester: pytest.Pytester) -> None:
    path = str(pytester.makefile(".rules", house=IN_ORDER))
    five = pytester.runpytest_inprocess(*PLUGIN, path, *BARE, "--avalon-players", "5", "-v")
    five.assert_outcomes(passed=1, failed=1)  # no quest needs two fails there
    five.stdout.fnmatch_lines(["house.rules: resistance, 5 players, *without targeting blind_spies"])
    words = (*BARE, "--avalon-property", "two_fails", "--avalon-ruling", "fifth_team=no_vote")
    one = pytester.runpytest_inprocess(*PLUGIN, path, *words)
    one.assert_outcomes(passed=1)
    one.stdout.fnmatch_lines(["house.rules: resistance, * fifth_team=no_vote, *"])


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--avalon-property", "in_ordre"), "*there is no property 'in_ordre'*in_order*"),
        (("--avalon-game", "chess"), "*there is no game 'chess'*"),
        (("--avalon-players", "11"), "*5 to 10 players, not 11*"),
        (("--avalon-with", "dragons"), "*there is no module 'dragons'*"),
        (("--avalon-ruling", "fifth_team=never"), "*ruling 'fifth_team' cannot be 'never'*"),
        (("--avalon-ruling", "fifth_teem=no_vote"), "*there is no ruling 'fifth_teem'*"),
    ],
)
def test_a_scope_there_is_not_is_an_error_and_no_pass(
    words: tuple[str, ...], told: str, pytester: pytest.Pytester
) -> None:
    path = str(pytester.makefile(".rules", house=IN_ORDER))
    result = pytester.runpytest_inprocess(*PLUGIN, path, *words)
    assert result.ret not in (0, 1)
    pytest.LineMatcher(result.outlines + result.errlines).fnmatch_lines([told])


def test_a_file_about_another_game_is_skipped_and_nothing_is_no_success(pytester: pytest.Pytester) -> None:
    path = str(pytester.makefile(".rules", house=FOR_AVALON))
    result = pytester.runpytest_inprocess(*PLUGIN, path, "--avalon-game", "avalon_2021", "-rs")
    result.stdout.fnmatch_lines(["*nothing here is about avalon_2021*"])
    assert result.ret == pytest.ExitCode.NO_TESTS_COLLECTED


def test_a_module_for_a_shipped_game_is_proved_with_it(pytester: pytest.Pytester) -> None:
    path = pytester.makefile(".rules", house=FOR_AVALON)
    pytester.runpytest_inprocess(*PLUGIN, str(path)).assert_outcomes(passed=2)


def test_rules_beside_the_claims_of_a_file_are_put_in(pytester: pytest.Pytester) -> None:
    rules, claims = FOR_AVALON.split("  invariant at_most_one")
    split = rules + "}\nmodule claims for resistance {\n  invariant at_most_one" + claims
    path = pytester.makefile(".rules", house=split)
    pytester.runpytest_inprocess(*PLUGIN, str(path)).assert_outcomes(passed=2)


def test_a_rulebook_with_a_mistake_is_an_error_with_its_place(pytester: pytest.Pytester) -> None:
    path = pytester.makefile(".rules", house=COUNTDOWN.replace("left_over - taken", "left_over - token"))
    result = pytester.runpytest_inprocess(*PLUGIN, str(path))
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*house.rules:*", "*token*"])


def test_rulebooks_are_not_collected_unless_asked_for(pytester: pytest.Pytester) -> None:
    pytester.makefile(".rules", house=WRONG)
    pytester.makepyfile("def test_something(): pass")
    pytester.runpytest_inprocess(*PLUGIN).assert_outcomes(passed=1)
    pytester.makeini("[pytest]\navalon_rules = true")
    pytester.runpytest_inprocess(*PLUGIN).assert_outcomes(passed=6, failed=1)


def test_an_undecided_property_does_not_pass(pytester: pytest.Pytester) -> None:
    path = pytester.makefile(".rules", house=COUNTDOWN)
    result = pytester.runpytest_inprocess(*PLUGIN, str(path), "-k", "four_moves", "--avalon-seconds", "0")
    result.assert_outcomes(failed=1, deselected=5)
    result.stdout.fnmatch_lines(["*undecided, expected refuted*"])


def test_loading_the_plugin_does_not_load_the_solver() -> None:
    code = "import sys, avalon_logic.pytest_plugin; print('z3' in sys.modules, 'rules_dsl' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]


def test_pytest_finds_the_plugin_by_itself() -> None:
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))
    assert project["project"]["entry-points"]["pytest11"] == {
        "avalon_logic.pytest_plugin": "avalon_logic.pytest_plugin"
    }
