"""Positions with known answers: those shared by others, and random ones against brute force."""

from __future__ import annotations

import json
import os
import random
from pathlib import Path
from typing import Any

import pytest

from avalon_logic.deduction.expect import BadPosition, answer, check_position, check_positions
from tests.oracle.brute_worlds import answer as brute_answer
from tests.oracle.brute_worlds import expectation
from tests.oracle.random_positions import random_position

SHARED = Path(__file__).parents[2].parent / "shared" / "positions" / "positions.json"
MANY = int(os.environ.get("DEDUCTION_POSITIONS", "2500"))

FIVE = {"Merlin": 1, "Servant": 2, "Assassin": 1, "Minion": 1}


def position(**changes: Any) -> dict[str, Any]:
    """Five players after two fails on the first quest, changed as told."""
    made: dict[str, Any] = {
        "id": "X",
        "players": 5,
        "deck": FIVE,
        "viewer": None,
        "options": {},
        "observations": [{"type": "quest", "quest": 1, "team": [1, 2], "fails": 2}],
        "expect": {"worlds": 6},
    }
    return made | changes


@pytest.mark.skipif(not SHARED.exists(), reason="skipped: no shared positions beside this repository")
def test_every_shared_position_about_present_rulebooks_is_exact() -> None:
    verdicts = check_positions(json.loads(SHARED.read_text(encoding="utf-8")))
    wrong = [v for v in verdicts if v.status in ("different", "bad")]
    assert not wrong, wrong
    assert sum(v.status == "exact" for v in verdicts) >= 42


@pytest.mark.parametrize("seed", range(10))
def test_random_positions_agree_with_brute_force(seed: int) -> None:
    rng = random.Random(f"positions {seed}")
    for number in range(MANY // 10):
        large = number % 25 == 0
        players = (9, 10) if large else (5, 6, 7, 8)
        made = random_position(rng, players=players, most_deals=30_000 if large else 5_000)
        assert answer(made) == expectation(brute_answer(made)), made


def test_a_position_that_differs_says_where() -> None:
    verdict = check_position(position(expect={"worlds": 7, "certain": {"evil": [1]}}))
    assert verdict.status == "different"
    assert verdict.differences == (
        "worlds: 6, expected 7",
        "certain.evil: [1, 2], expected [1]",
        "certain.good: [3, 4, 5], expected none",
        "certain.roles: {}, expected none",
    )


def test_role_names_may_be_written_in_any_case() -> None:
    deck = {"merlin": 1, "SERVANT": 2, "Assassin": 1, "minion": 1}
    found = answer(position(deck=deck, observations=[{"type": "role", "seat": 5, "role": "ASSASSIN"}]))
    assert found["certain"]["roles"] == {"5": "Assassin"}


def test_votes_of_any_shape_constrain_nothing() -> None:
    votes = [{"type": "vote"}, {"type": "vote", "votes": {"1": True}, "strange": [None, {"a": 1}]}]
    assert answer(position(observations=votes))["worlds"] == 60


def test_more_fails_than_members_leave_no_world() -> None:
    for fails in (3, 11, -1):
        seen = [{"type": "quest", "quest": 1, "team": [1, 2], "fails": fails}]
        found = answer(position(observations=seen))
        assert found["worlds"] == 0
        assert found["certain"] == {"evil": [], "good": [], "roles": {}}
        assert found["possible"] == {}


@pytest.mark.parametrize(
    "changes",
    [
        {"players": 4},
        {"players": "5"},
        {"deck": FIVE | {"Minion": 2}},
        {"deck": {"Merlin": 1, "Servant": 1, "Assassin": 1, "Minion": 2}},
        {"deck": {"Wizard": 1, "Servant": 2, "Assassin": 1, "Minion": 1}},
        {"viewer": {"seat": 6, "role": "Merlin"}},
        {"viewer": {"seat": 1, "role": "Wizard"}},
        {"observations": [{"type": "quest", "quest": 1, "team": [1, 2, 3], "fails": 0}]},
        {"observations": [{"type": "quest", "quest": 1, "team": [1, 1], "fails": 0}]},
        {"observations": [{"type": "quest", "quest": 6, "team": [1, 2], "fails": 0}]},
        {"observations": [{"type": "quest", "quest": 1, "team": [1, 9], "fails": 0}]},
        {"observations": [{"type": "quest", "quest": 1, "team": [1, 2]}]},
        {"observations": [{"type": "quest", "quest": 1, "team": [1, 2], "fails": 0}] * 2},
        {"observations": [{"type": "reveal", "kind": "evil", "seats": [2]}]},
        {"observations": [{"type": "loyalty", "target": 2, "value": "grey", "after_quest": 2}]},
        {"observations": [{"type": "claim", "by": 1, "about": 2, "value": "good", "trust": "half"}]},
        {"observations": [{"type": "assume", "rule": "evil_never_sleeps"}]},
        {"observations": ["quest"]},
        {"observations": {"type": "quest"}},
    ],
)
def test_a_position_no_table_could_write_down_is_bad_not_wrong(changes: dict[str, Any]) -> None:
    verdict = check_position(position(**changes))
    assert verdict.status == "bad"
    assert verdict.differences[0]


def test_lancelot_and_excalibur_are_counted_separately() -> None:
    lancelots = {"Merlin": 1, "Servant": 1, "LancelotGood": 1, "Assassin": 1, "LancelotEvil": 1}
    assert check_position(position(deck=lancelots)).status == "not covered"
    assert check_position(position(options={"excalibur": True})).status == "not covered"


def test_a_file_that_is_no_list_is_refused() -> None:
    with pytest.raises(BadPosition):
        check_positions({"positions": []})  # type: ignore[arg-type]
