"""Referee tables of rules that put a choice of their own between the choices the tables are about."""

from __future__ import annotations

from pathlib import Path

import pytest

from avalon_logic.configuration import Configuration, examine
from avalon_logic.referee.stage import set_stage
from avalon_logic.referee.votes import VoteFacts, vote_facts

MODULE = """module advice for core {{
  phase advice {place} {{ leader chooses tip: Bool public  continue }}
}}
"""


def facts(tmp_path: Path, place: str | None, **rulings: str) -> VoteFacts:
    modules, paths = (), ()
    if place is not None:
        path = tmp_path / "advice.rules"
        path.write_text(MODULE.format(place=place), encoding="utf-8")
        modules, paths = ("advice",), (path,)
    return vote_facts(set_stage(examine(Configuration("avalon", 7, modules, None, rulings, paths))))


@pytest.mark.parametrize("place", ["before vote", "before cards", "before rejected"])
def test_a_choice_between_team_vote_and_quest_changes_nothing_about_votes(tmp_path: Path, place: str) -> None:
    assert facts(tmp_path, place) == facts(tmp_path, None)


def test_a_choice_between_team_and_vote_leaves_the_fifth_team_the_only_one_without_a_vote(
    tmp_path: Path,
) -> None:
    found = facts(tmp_path, "before vote", fifth_team="no_vote")
    assert found == facts(tmp_path, None, fifth_team="no_vote")
    assert found.unvoted == (5,)
