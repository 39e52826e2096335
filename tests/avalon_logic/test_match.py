"""Games on a server: views, options and moves as JSON; saved as records that replay and load again."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from random import Random
from typing import Any

import pytest

import avalon_logic
from avalon_logic import Configuration, IllegalMove, Match, RecordError, Refused, engine_of, record_from_json
from avalon_logic.replay import replay
from tests.avalon_logic.test_other_games import HEN_HOUSES, NO_CARDS

NAMES = ("Ann", "Bob", "Cid", "Dan", "Eve", "Fay", "Gus", "Hal")
SPECIALS = ("merlin", "percival", "assassin", "morgana")
TABLES = [
    Configuration("resistance", 5),
    Configuration("avalon", 5, (), ("merlin", "servant", "servant", "assassin", "minion")),
    Configuration("avalon", 7, ("lady", "targeting"), SPECIALS, {"lady_at_end": "used_first"}),
    Configuration("avalon_2021", 8, ("lady",), SPECIALS, {"fifth_team": "no_vote", "vote_track": "keep"}),
    Configuration("avalon", 5, (), None, {"merlin_without_killer": "jointly", "killer": "minion"}),
]


def names_of(configuration: Configuration) -> tuple[str, ...]:
    return NAMES[: configuration.players]


def to_choose(match: Match) -> str:
    """One of those whose turn it is."""
    return next(n for n in match.names if match.legal(n))


def sent(data: Any) -> Any:
    """What arrives at the other end of a line."""
    return json.loads(json.dumps(data))


def one_move(match: Match, rng: Random) -> Match:
    able = [n for n in match.names if match.legal(n)]
    name = rng.choice(able)
    return match.choose(name, rng.choice(sent(match.legal(name))))


@pytest.mark.parametrize("configuration", TABLES, ids=str)
def test_a_match_can_be_saved_at_every_moment_and_its_record_replays(configuration: Configuration) -> None:
    rng = Random(str(configuration.players))
    match = Match.start(configuration, names_of(configuration), seed=3)
    while not match.over:
        saved = sent(match.to_json())
        again = Match.from_json(saved)
        assert again == match
        assert [again.view(n) for n in (None, *match.names)] == [match.view(n) for n in (None, *match.names)]
        if rng.random() < 0.2:
            found = replay(record_from_json(saved))
            assert all(not f.fatal for f in found.findings)
            assert not found.over
            awaited = match.game.pending
            assert awaited is not None
            if "begun" not in saved["saved"]:
                assert f"to choose {awaited.choice.variable}" in found.awaits
        if rng.random() < 0.1 and "begun" not in saved["saved"]:
            match = match.say("says", {"by": "Ann", "about": "Bob", "value": "evil"})
        match = one_move(match, rng)
    saved = sent(match.to_json())
    assert Match.from_json(saved) == match
    found = replay(record_from_json(saved))
    assert found.over
    assert found.result == match.game.winner
    assert not found.winner_differs
    assert all(not f.fatal for f in found.findings)


@pytest.mark.parametrize(
    ("text", "game", "players"), [*((t, "henhouse", 5) for t in HEN_HOUSES), (NO_CARDS, "dice", 3)]
)
def test_a_game_of_ones_own_can_be_hosted_too(text: str, game: str, players: int, tmp_path: Path) -> None:
    rules = tmp_path / "own.rules"
    rules.write_text(text)
    configuration = Configuration(game, players, paths=(rules,))
    for seed in range(8):
        rng = Random(seed)
        match = Match.start(configuration, NAMES[:players], seed=seed)
        while not match.over:
            assert Match.from_json(sent(match.to_json()), [rules]) == match
            match = one_move(match, rng)
        saved = sent(match.to_json())
        assert Match.from_json(saved, [rules]) == match
        assert len(saved["events"]) >= 2


def test_talk_in_the_midst_of_a_phase_is_saved_after_it() -> None:
    match = Match.start(TABLES[2], names_of(TABLES[2]), chance={"leader": "Ann"}, seed=2)
    match = match.choose("Ann", 3).say("says", {"by": "Bob", "about": "Ann", "value": "good"})
    assert Match.from_json(sent(match.to_json())).game.state == match.game.state
    match = match.choose("Ann", ["Ann", "Bob", "Cid"])
    saved = sent(match.to_json())
    assert [event["phase"] for event in saved["events"]] == ["first_leader", "propose", "says"]
    again = Match.from_json(saved)
    assert again.game.state == match.game.state
    assert len(again.view(None)["seen"]) == len(match.view(None)["seen"])


def test_what_nobody_has_chosen_yet_is_not_seat_0() -> None:
    match = Match.start(TABLES[1], names_of(TABLES[1]), None)
    seen = match.view("Ann")["visible"]
    assert not {"role", "leader", "team", "approve", "card", "victim", "victim_by", "fails"} & set(seen)
    assert match.view(None)["awaits"] == {"choice": "role", "by": []}
    roles = dict(zip(match.names, ("servant", "merlin", "servant", "assassin", "minion"), strict=True))
    match = match.draw(roles)
    assert match.view("Ann")["visible"]["role"] == "servant"
    assert "leader" not in match.view("Ann")["visible"]
    match = match.draw("Cid")
    assert match.view("Eve")["visible"]["leader"] == "Cid"
    assert "team" not in match.view("Eve")["visible"]
    match = match.choose("Cid", ["Ann", "Cid"])
    for name in match.names:
        assert "approve" not in match.view(name)["visible"]
        match = match.choose(name, name != "Dan")
    assert match.view(None)["visible"]["approve"] == {
        "Ann": True, "Bob": True, "Cid": True, "Dan": False, "Eve": True
    }  # fmt: skip
    match = match.choose("Ann", "success").choose("Cid", "success")
    assert match.view(None)["visible"]["mark"]["1"] == "won"
    assert "card" not in match.view("Bob")["visible"], "Bob was not on the quest and played nothing"


def test_a_vote_that_did_not_take_place_shows_no_votes() -> None:
    configuration = Configuration("avalon", 5, rulings={"fifth_team": "no_vote"})
    match = Match.start(configuration, names_of(configuration), seed=1)
    while match.view(None)["visible"]["rejections"] < 4:
        name = to_choose(match)
        options = match.legal(name)
        match = match.choose(name, False if options == [False, True] else options[0])
    assert "approve" in match.view(None)["visible"]
    leader = to_choose(match)
    match = match.choose(leader, match.legal(leader)[0])
    assert match.game.state.phase == "cards"
    assert "approve" not in match.view(None)["visible"]


def _to_the_naming() -> Match:
    match = Match.start(
        TABLES[1],
        names_of(TABLES[1]),
        chance={"role": dict(zip(NAMES, ("servant", "merlin", "servant", "assassin", "minion"), strict=False)),
                "leader": "Ann"},
    )  # fmt: skip
    while match.game.state.phase != "naming":
        name = to_choose(match)
        options = match.legal(name)
        match = match.choose(
            name, True if True in options else "success" if "success" in options else options[0]
        )
    return match


def test_who_names_merlin_is_not_told_to_the_others() -> None:
    match = _to_the_naming()
    assert match.view("Dan")["awaits"] == {"choice": "victim", "by": ["Dan"]}
    for name in ("Ann", "Bob", "Cid", "Eve", None):
        assert match.view(name)["awaits"]["by"] is None
    assert "victim" not in match.view(None)["visible"]
    match = match.choose("Dan", "Bob")
    assert match.view(None)["visible"]["victim"] == "Bob"
    assert match.view(None)["winner"] == "evil"
    assert match.view(None)["awaits"] is None


def test_ones_own_vote_is_shown_while_others_still_think() -> None:
    match = Match.start(TABLES[0], names_of(TABLES[0]), seed=1)
    leader = to_choose(match)
    match = match.choose(leader, match.legal(leader)[0]).choose("Ann", False)
    assert match.view("Ann")["chosen"] is False
    assert "chosen" not in match.view("Bob")
    assert match.view("Bob")["awaits"] == {"choice": "approve", "by": ["Bob", "Cid", "Dan", "Eve"]}
    assert match.legal("Ann") == []
    assert sent(match.to_json())["saved"]["begun"] == {"phase": "vote", "approve": {"Ann": False}}


@pytest.mark.parametrize(
    ("name", "data", "error"),
    [
        ("Ann", ["Ann", "Zoe"], RecordError),
        ("Ann", ["Ann"], IllegalMove),
        ("Ann", ["Ann", "Ann"], RecordError),
        ("Ann", "Ann", RecordError),
        ("Ann", None, RecordError),
        ("Bob", ["Ann", "Bob"], IllegalMove),
        ("Zoe", ["Ann", "Bob"], RecordError),
    ],
)
def test_what_a_client_sends_wrong_is_refused_and_changes_nothing(name: str, data: Any, error: type) -> None:
    match = Match.start(TABLES[0], names_of(TABLES[0]), chance={"leader": "Ann"})
    with pytest.raises(error):
        match.choose(name, data)
    assert match.view(None)["awaits"] == {"choice": "team", "by": ["Ann"]}


def test_a_table_the_rules_refuse_gets_no_engine() -> None:
    without_merlin = Configuration("avalon", 5, (), ("percival", "servant", "servant", "assassin", "minion"))
    with pytest.raises(Refused, match="Merlin is always in play"):
        engine_of(without_merlin)
    with pytest.raises(Refused):
        Match.start(without_merlin, NAMES[:5])
    with pytest.raises(RecordError, match="5 different names"):
        Match.start(TABLES[0], ("Ann", "Ann", "Bob", "Cid", "Dan"))


def _changed(path: list[Any], value: Any) -> dict[str, Any]:
    rng = Random(5)
    match = Match.start(TABLES[1], names_of(TABLES[1]), chance={"leader": "Ann"}, seed=9)
    for _ in range(14):
        match = one_move(match, rng)
    data: dict[str, Any] = sent(match.to_json())
    place: Any = data
    for key in path[:-1]:
        place = place[key]
    assert path[-1] in place or isinstance(path[-1], int) or path[-1] not in data
    place[path[-1]] = value
    return data


@pytest.mark.parametrize(
    ("path", "value", "where"),
    [
        (["events", 1, "team"], ["Ann"], "event 2"),
        (["events", 1, "by"], "Bob", "event 2"),
        (["events", 0, "leader"], "Zoe", "event 1"),
        (["events", 2, "approve"], {"Ann": True}, "event 3"),
        (["events", 2, "phase"], "tally", "event 3"),
        (["winner"], "good", "winner"),
        (["saved"], {"seed": "nine"}, "saved"),
        (["saved"], {"seed": 9, "begun": ["vote"]}, "saved"),
        (["saved"], {"seed": 9, "given": [["moon", 1]]}, "saved"),
        (["deal", "Ann"], "dragon", "deal"),
    ],
)
def test_a_saved_match_that_was_tampered_with_is_refused_with_its_place(
    path: list[Any], value: Any, where: str
) -> None:
    with pytest.raises(RecordError) as refused:
        Match.from_json(_changed(path, value))
    assert refused.value.where == where


def test_the_public_names_are_there_and_cost_nothing_before_they_are_used() -> None:
    for name in avalon_logic.__all__:
        assert getattr(avalon_logic, name) is not None
    quick = "import sys, avalon_logic; sys.exit(bool({'z3', 'numpy', 'pyparsing'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", quick], check=False).returncode == 0
    with pytest.raises(AttributeError, match="no attribute 'excalibur'"):
        avalon_logic.excalibur  # noqa: B018
