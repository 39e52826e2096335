"""Games that people really played: the true deal must stay possible for everybody after every event."""

from __future__ import annotations

import json
from functools import lru_cache
from pathlib import Path

import pytest

from avalon_logic.deduction.course import setting_of
from avalon_logic.deduction.games import OBSERVER, Verdict, exclusion, follow_game
from avalon_logic.logs import import_game
from avalon_logic.records import Record
from avalon_logic.replay import replay

RECORDS = Path(__file__).parents[2].parent / "shared" / "records"
FILES = ("human-games.jsonl", "lady-games.jsonl")
PARTS = 6  # each file is followed in so many parts, at the same time

pytestmark = pytest.mark.skipif(
    not RECORDS.exists(), reason="skipped: no shared records beside this repository"
)


@lru_cache(maxsize=4)
def games(name: str) -> tuple[Record, ...]:
    lines = (RECORDS / name).read_text(encoding="utf-8").splitlines()
    return tuple(import_game(json.loads(line)) for line in lines)


def broken(record: Record) -> set[str]:
    """The clauses a replay of the whole record, deal included, finds broken for good."""
    return {clause for f in replay(record).findings if f.fatal for clause in f.clauses}


def check(record: Record, verdict: Verdict) -> None:
    clauses = broken(record)
    if clauses:
        assert verdict.illegal is not None, record.title
        assert any(f"({clause})" in verdict.illegal for clause in clauses), (verdict.illegal, clauses)
        assert all(s.worlds == 0 for s in verdict.sightings), record.title
    else:
        assert verdict.sound, (record.title, verdict.illegal, verdict.sightings)
        assert all(s.worlds >= 1 for s in verdict.sightings)
    assert [s.viewer for s in verdict.sightings] == [OBSERVER, *record.names]


@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("name", FILES)
def test_the_true_deal_stays_possible_for_everybody_in_every_legal_game(name: str, part: int) -> None:
    for record in games(name)[part::PARTS]:
        check(record, follow_game(record))


def test_more_fails_than_evil_players_on_the_team_exclude_the_true_deal_and_say_why() -> None:
    found = 0
    for record in games("lady-games.jsonl")[:12]:
        spoiled = _with_too_many_fails(record)
        setting = setting_of(spoiled)
        deal = tuple(spoiled.deal[name] for name in spoiled.names)
        why = exclusion(spoiled, setting, deal)
        assert why is not None and why.certain, record.title
        rules = {clause for rule in why.rules for clause in rule.cites}
        assert {"CORE-22", "CORE-23"} <= rules
        quests = [told for told in why.because if "fails" in told.text]
        assert len(quests) == 1
        assert "3 fails" in quests[0].text
        good_members = [told for told in why.because if told not in quests]
        assert all(" is " in told.text for told in good_members)
        found += 1
    assert found == 12


def _with_too_many_fails(record: Record) -> Record:
    """The record up to its first quest, on which three cards are said to be fails by a team with a good player."""
    from dataclasses import replace

    events = []
    team: list[str] = []
    for event in record.events:
        team = event.values.get("team", team)
        if event.phase == "tally":
            evil = [
                n for n in team if record.deal[n] in ("assassin", "morgana", "mordred", "oberon", "minion")
            ]
            assert len(evil) < 3
            events.append(replace(event, values={"fails": 3}, after={}))
            break
        events.append(event)
    return replace(record, events=tuple(events), winner=None)
