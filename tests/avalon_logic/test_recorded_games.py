"""Games people really played, from files that lie beside the project: which are illegal is worked out here a second
time, straight from the record and the tables of the book, and the replay must say the same of every game."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from avalon_logic.cli import main
from tests.oracle.plain_engine import EVIL_COUNT, EVIL_ROLES, LADY_AFTER_QUESTS, TEAM_SIZE, fails_needed

RECORDS = Path(__file__).parents[3] / "shared" / "records"
pytestmark = pytest.mark.skipif(not RECORDS.is_dir(), reason="no recorded games beside the project")

Log = dict[str, Any]


def games(name: str) -> list[Log]:
    return [json.loads(line) for line in (RECORDS / name).read_text().splitlines()]


class Broken(Exception):
    """The first rule a record breaks."""


def refuse(when: bool, clause: str) -> None:
    if when:
        raise Broken(clause)


def by_hand(game: Log, unvoted: bool) -> str | None:
    """The winner of a recorded game, None if it stops before the end; raises `Broken` with the first clause."""
    seats, roles = game["players"], game["roles"]
    evil = {p for p in seats if roles[p] in EVIL_ROLES}
    refuse(len(evil) != EVIL_COUNT[len(seats)], "CORE-02")
    score = {True: 0, False: 0}
    rejections, leader, team, winner = 0, None, None, None
    holder, used, lady_due, naming = None, [], False, False
    for event in game["events"]:
        kind = event["t"]
        refuse(winner is not None, "CORE-28")
        refuse(lady_due and kind != "lady", "LADY-02")
        if kind == "propose":
            refuse(naming or team is not None, "CORE-28")
            expected = event["leader"] if leader is None else seats[(seats.index(leader) + 1) % len(seats)]
            refuse(event["leader"] != expected, "CORE-18")
            holder = holder or seats[seats.index(event["leader"]) - 1]
            leader = event["leader"]
            quest = sum(score.values()) + 1
            refuse(event["quest"] != quest, "CORE-14")
            refuse(len(set(event["team"])) != TEAM_SIZE[len(seats)][quest - 1], "CORE-11")
            approved = event["approved"]
            if unvoted and rejections == 4:
                refuse(not approved, "AMB-08")
            elif event["votes"] is not None:
                refuse((2 * sum(event["votes"].values()) > len(seats)) != approved, "CORE-16")
            rejections = 0 if approved else rejections + 1
            team = event["team"] if approved else None
            winner = "evil" if rejections == 5 else None
        elif kind == "quest":
            refuse(team is None or set(team) != set(event["team"]), "CORE-17")
            cards = event.get("cards") or {}
            refuse(any(not ok and p not in evil for p, ok in cards.items()), "CORE-22")
            refuse(event["fails"] > len(evil & set(event["team"])), "CORE-22")
            refuse(bool(cards) and sum(not ok for ok in cards.values()) != event["fails"], "CORE-23")
            won = event["fails"] < fails_needed(len(seats), sum(score.values()) + 1)
            refuse(won != event["success"], "CORE-25")
            score[won] += 1
            team = None
            winner = "evil" if score[False] == 3 else None
            naming = score[True] == 3 and "merlin" in roles.values()
            if score[True] == 3 and not naming:
                winner = "good"
            decided = 3 in score.values()
            lady_due = "lady" in game["modules"] and sum(score.values()) in LADY_AFTER_QUESTS and not decided
        elif kind == "lady":
            refuse(not lady_due, "LADY-02")
            refuse(event["holder"] != holder, "LADY-01")
            refuse(event["target"] in (holder, *used), "LADY-03")
            used.append(holder)
            holder, lady_due = event["target"], False
        else:
            refuse(not naming, "CORE-31")
            killer = game.get("assassin") or next((p for p in seats if roles[p] == "assassin"), None)
            refuse(event["by"] != killer, "CORE-33")
            known = {p for p in evil if roles[p] != "oberon"}
            refuse(event["target"] in known and (killer is None or killer in known), "CORE-33")
            winner = "evil" if roles[event["target"]] == "merlin" else "good"
    return winner


def told(capsys: pytest.CaptureFixture[str], *arguments: str) -> Iterator[Log]:
    main(["replay", *arguments, "--json"])
    return (json.loads(line) for line in capsys.readouterr().out.splitlines())


@pytest.mark.parametrize(
    ("name", "unvoted", "options"),
    [
        ("human-games.jsonl", False, ()),
        ("lady-games.jsonl", True, ("--ruling", "fifth_team=no_vote")),
    ],
)
def test_the_replay_of_every_recorded_game_agrees_with_a_check_by_hand(
    name: str, unvoted: bool, options: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    verdicts = list(told(capsys, str(RECORDS / name), *options))
    assert len(verdicts) == len(games(name))
    illegal = 0
    for game, verdict in zip(games(name), verdicts, strict=True):
        assert verdict["id"] == game["id"]
        try:
            winner = by_hand(game, unvoted)
        except Broken as broken:
            illegal += 1
            assert [f["clause"] for f in verdict["findings"]] == [str(broken)], verdict
        else:
            assert verdict["legal"], verdict
            assert verdict["winner"] == winner
            assert winner is None or winner == game["winner"]
            assert verdict["finished"] == (winner is not None)
            assert not verdict["winner_differs"]
    assert 0 < illegal < len(verdicts) / 10


def test_the_illegal_games_are_these(capsys: pytest.CaptureFixture[str]) -> None:
    found = {
        v["id"]: v["findings"][0]["clause"]
        for name in ("human-games.jsonl", "lady-games.jsonl")
        for v in told(capsys, str(RECORDS / name))
        if not v["legal"]
    }
    assert found == {
        "h117": "CORE-33",  # the assassin named a comrade
        "l013": "LADY-02",  # the Lady was not used when she was due
        "l015": "LADY-02",
        "l025": "LADY-02",
        "l028": "CORE-16",  # five of ten votes taken as a majority
        "l046": "CORE-16",  # three of ten
    }


def test_without_the_house_rule_the_unvoted_teams_are_illegal(capsys: pytest.CaptureFixture[str]) -> None:
    verdicts = list(told(capsys, str(RECORDS / "lady-games.jsonl"), "--ruling", "fifth_team=vote"))
    forced = {g["id"] for g in games("lady-games.jsonl") if any(e.get("forced") for e in g["events"])}
    refused = {v["id"] for v in verdicts if v["findings"] and v["findings"][0]["clause"] == "CORE-15"}
    assert refused <= forced
    assert len(refused) > 50


def test_a_file_with_a_truncated_line_says_where_and_reads_the_rest(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    copy = tmp_path / "games.jsonl"
    shutil.copy(RECORDS / "human-games.jsonl", copy)
    lines = copy.read_text().splitlines()[:3]
    copy.write_text("\n".join([lines[0], lines[1][:500], lines[2]]) + "\n")
    assert main(["replay", str(copy), "--json"]) == 2
    answers = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [a.get("legal") for a in answers] == [True, None, True]
    assert answers[1]["error"].startswith(f"{copy}:2:")
