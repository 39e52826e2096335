"""`replay` and `deduce` read a record alike, and neither takes or drops anything in silence."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from avalon_logic.cli import main
from avalon_logic.deduction import deduce
from avalon_logic.deduction.games import follow_game
from avalon_logic.logs import import_game
from avalon_logic.reading import record_of_text
from avalon_logic.records import Record, RecordError, record_from_json, record_to_json
from avalon_logic.replay import Replay, replay
from tests.avalon_logic.site_logs import Log, events_of, game_with, logged_game

NAMES = ["A", "B", "C", "D", "E"]
ROLES = dict(zip(NAMES, ["merlin", "servant", "servant", "assassin", "minion"], strict=True))


def typed(text: str) -> Record:
    return record_of_text(text, None)


def team(quest: int, attempt: int, leader: str, members: str, approved: bool = True, **more: Any) -> Log:
    made = {"t": "propose", "quest": quest, "attempt": attempt, "leader": leader, "team": list(members)}
    return {**made, "votes": dict.fromkeys(NAMES, approved), "approved": approved, **more}


def quest(number: int, members: str, fails: int | None, success: bool | None, **more: Any) -> Log:
    return {
        "t": "quest",
        "quest": number,
        "team": list(members),
        "fails": fails,
        "success": success,
        **more,
    }


def game(*events: Log, **more: Any) -> Log:
    return {"id": "g", "players": NAMES, "roles": ROLES, "events": list(events), **more}


def run(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    code = main(words)
    out = capsys.readouterr()
    return code, out.out, out.err


# --- a fifth team where the fifth team goes without a vote ---


def rejected(number: int, members: str) -> list[Log]:
    return [team(number, i + 1, NAMES[i], members, False) for i in range(4)]


def house_rule(fifth: Log) -> Log:
    """A table whose fifth team of the first round went without a vote; the second round comes to a fifth team too."""
    first = team(1, 5, "E", "AB", forced=True, votes=None)
    return game(*rejected(1, "AB"), first, quest(1, "AB", 0, True), *rejected(2, "ABC"), fifth)


def test_votes_on_a_team_that_goes_without_a_vote_are_left_aside_and_named() -> None:
    log = house_rule(team(2, 5, "E", "ABC"))
    log["events"].append(quest(2, "ABC", 0, True))
    record = import_game(log)
    assert replay(record).legal
    assert follow_game(record).sound
    assert deduce(record, "D").count == 3
    assert record.unused == ("event 11: the votes on a team that goes without a vote",)
    assert any("event 11: the votes" in note for note in deduce(record).notes)


def test_a_fifth_team_rejected_where_it_goes_without_a_vote_breaks_amb_08() -> None:
    record = import_game(house_rule(team(2, 5, "E", "ABC", False)))
    (finding,) = replay(record).findings
    assert finding.clauses == ("AMB-08",)
    assert "(AMB-08)" in (follow_game(record).illegal or "")


def test_a_typed_team_that_goes_without_a_vote_needs_no_vote_line() -> None:
    lines = "propose A B\nvote -----\n" * 4 + "propose A B\nvote\ntally 1"
    head = "players A B C D E\nruling fifth_team = no_vote\nfirst_leader A\n"
    assert deduce(head + lines).count == deduce(head + lines.replace("vote\n", "")).count == 42


# --- rulings and fields ---


def test_every_ruling_taken_from_a_log_is_said_with_what_shows_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = game_with(lambda g: g["events"][-1]["t"] == "assassinate")
    killer = next(n for n, role in log["roles"].items() if role == "assassin")
    other = next(n for n, role in log["roles"].items() if role == "morgana")
    log["roles"][killer] = "mordred"
    log["assassin_flags"] = sorted([killer, other])
    why = f"no assassin was dealt, and the log has 2: {', '.join(sorted([killer, other]))}"
    assert import_game(log).adopted == {"merlin_without_killer": why}
    assert import_game(log, {"merlin_without_killer": "refused"}).adopted == {}
    path = tmp_path / "site.jsonl"
    path.write_text(json.dumps(log) + "\n" + json.dumps(log))
    for command in ("replay", "deduce"):
        code, out, _ = run(capsys, command, str(path))
        assert code == 0
        assert "taken from the logs: merlin_without_killer=jointly in 2" in out
        _, out, _ = run(capsys, command, str(path), "--json")
        assert json.loads(out.splitlines()[0])["adopted"] == {"merlin_without_killer": why}
    one = tmp_path / "site.json"
    one.write_text(json.dumps(log))
    for command in ("replay", "deduce"):
        _, out, _ = run(capsys, command, str(one))
        assert "note: ruling merlin_without_killer = jointly, because no assassin" in out


def test_what_nobody_reads_in_a_log_is_named() -> None:
    log = game(team(1, 1, "A", "AB", mood="tense"), quest(1, "AB", 0, True), quest_goal=3)
    log["events"].append({"t": "lady", "target": "C", "saw": "good", "claim": "good"})
    log["modules"] = ["lady"]
    assert import_game(log).unused == (
        "'quest_goal'",
        "'mood' of propose events (1)",
        "event 3: the claim of nobody in particular",
    )


@pytest.mark.parametrize("line", ["lady C evil", "lady C evil by E"])
def test_a_loyalty_card_shown_to_nobody_in_particular_counts_for_the_holder_or_is_named(line: str) -> None:
    before = "propose A B\nvote ?\ntally 0\npropose A B C\nvote ?\ntally 0\n"
    text = "with lady\nplayers A B C D E\n" + before + line
    found = deduce(text, "E", role="servant")
    told = [n for n in found.notes if "loyalty evil" in n]
    if line.endswith("E"):
        assert (found.player("C").sides, told) == ({"evil": 1}, [])
    else:
        assert found.player("C").sides != {"evil": 1}
        assert told == ["line 9: whether E was shown loyalty evil is not written down; add: by NAME"]
    led = deduce("with lady\nplayers A B C D E\nfirst_leader A\n" + before + line, "E", role="servant")
    assert led.player("C").sides == {"evil": 1}  # who leads first says who holds the Lady


# --- types ---

TYPES = [
    ("quest", "cards", {"A": "fail"}, "true or false for each player"),
    ("quest", "success", "no", "true or false"),
    ("quest", "fails", "1", "a whole number"),
    ("quest", "fails", True, "a whole number"),
    ("propose", "approved", "yes", "true or false"),
    ("propose", "votes", {"A": "no"}, "true or false for each player"),
    ("propose", "forced", 1, "true or false"),
    ("propose", "leader", ["A"], "a string"),
    ("propose", "team", "AB", "a list of names"),
    ("assassinate", "hit", "false", "true or false"),
    ("lady", "target", 3, "a string"),
    ("game", "assassin", ["A"], "a string"),
    ("game", "winner", 1, "a string"),
    ("game", "roles", dict.fromkeys(NAMES, 1), "a role for each player"),
]


@pytest.mark.parametrize(("kind", "name", "value", "words"), TYPES)
def test_a_value_of_another_type_is_refused_with_its_line(
    kind: str, name: str, value: Any, words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = game(team(1, 1, "A", "AB"), quest(1, "AB", 0, True))
    if kind == "game":
        log[name] = value
    else:
        log["events"].append({"t": kind, name: value})
    path = tmp_path / "site.jsonl"
    path.write_text(json.dumps(game()) + "\n" + json.dumps(log))
    place = f"{path}:2" if kind == "game" else f"{path}:2, event 3"
    message = f"'{name}' is {words}, not {json.dumps(value)}"
    for command in ("replay", "deduce"):
        code, out, err = run(capsys, command, str(path))
        assert code == 2, out
        assert place in err and message in err, err


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"winner": 1}, "'winner' is a string, not 1"),
        ({"title": ["x"]}, "'title' is a string"),
        ({"game": 3}, "'game' is a string, not 3"),
        ({"rulings": {"fifth_team": True}}, "'rulings' is an object of strings"),
        ({"deal": {"A": 1}}, "'deal' is an object of strings"),
    ],
)
def test_a_record_of_ours_is_refused_by_type_too(change: dict[str, Any], message: str) -> None:
    with pytest.raises(RecordError, match=message):
        record_from_json({"players": NAMES, **change})


# --- headings ---


@pytest.mark.parametrize(
    "heading", ["players A B C D F", "winner evil", "game resistance", "title x", "with lady"]
)
def test_a_heading_said_twice_is_refused_with_both_lines(heading: str) -> None:
    text = f"game avalon\nwith percival\nplayers A B C D E\ntitle t\nwinner good\n{heading}\n"
    with pytest.raises(RecordError, match=f"line 6: '{heading.split()[0]}' was said in line [1-5] already"):
        typed(text)


def test_a_card_or_ruling_said_otherwise_before_is_refused() -> None:
    with pytest.raises(RecordError, match="line 3: A held merlin before"):
        typed("players A B C D E\ndeal A=merlin\ndeal A=servant B=merlin")
    with pytest.raises(RecordError, match="line 3: ruling 'fifth_team' was no_vote before"):
        typed("players A B C D E\nruling fifth_team = no_vote\nruling fifth_team = vote")
    assert typed("players A B C D E\ndeal A=merlin\ndeal B=servant").deal == {"A": "merlin", "B": "servant"}


def test_the_title_of_a_json_record_is_kept() -> None:
    record = record_from_json({"players": NAMES, "title": "Friday"})
    assert record.title == "Friday"
    assert record_from_json(record_to_json(record)).title == "Friday"


def test_a_ruling_by_option_holds_for_records_of_ours_in_a_file_of_many(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    teams = [
        {"phase": "propose", "team": ["A", "B"]},
        {"phase": "vote", "approve": dict.fromkeys(NAMES, False)},
    ]
    events = [{"phase": "first_leader", "leader": "A"}, *teams * 4, teams[0], {"phase": "tally", "fails": 0}]
    record = {"players": NAMES, "deal": ROLES, "events": events, "title": "unvoted"}
    path = tmp_path / "ours.jsonl"
    path.write_text(json.dumps(record))
    for command in ("replay", "deduce"):
        assert run(capsys, command, str(path))[0] == 1
        code, out, _ = run(capsys, command, str(path), "--ruling", "fifth_team=no_vote", "--json")
        assert (code, json.loads(out)["rulings"]) == (0, {"fifth_team": "no_vote"})


# --- what replay says of the end, and whom it blames ---

FIVE = "players A B C D E\nfirst_leader A\n"
WON = FIVE + "propose A B\nvote ?\ntally 0\npropose A B C\nvote ?\ntally 0\npropose B C\nvote ?\ntally 0\n"
LOST = WON.replace("tally 0", "tally 1")


def ending(found: Replay) -> tuple[bool | None, tuple[str, ...], str | None, bool]:
    assert found.legal
    return found.over, found.winners, found.result, found.winner_differs


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (WON, (False, (), None, False)),
        (WON + "naming A by B", (True, ("evil", "good"), None, False)),
        (WON + "naming A by B\nwinner good", (True, ("evil", "good"), None, False)),
        (WON + "naming A by B\nwinner nobody", (True, ("evil", "good"), None, True)),
        (LOST, (True, ("evil",), "evil", False)),
        (LOST + "winner good", (True, ("evil",), "evil", True)),
        (LOST.removesuffix("1\n") + "?", (None, ("evil",), None, False)),
        (LOST.removesuffix("1\n") + "?\nwinner evil", (None, ("evil",), None, False)),
        (LOST.removesuffix("1\n") + "?\nwinner good", (False, (), None, False)),
    ],
)
def test_a_replay_says_how_a_game_ended_as_far_as_that_is_known(
    text: str, expected: tuple[bool | None, tuple[str, ...], str | None, bool]
) -> None:
    assert ending(replay(typed(text))) == expected


def test_nobody_is_the_winner_only_of_a_game_that_ended_without_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "game.txt"
    path.write_text(WON + "naming A by B")
    _, out, _ = run(capsys, "replay", str(path))
    assert "winner: evil or good (what was not written down decides)" in out
    wrong = "propose A B\nvote ?\ntally 0\npropose A B C\nvote ?\ntally 0\nlady B evil by E\nwinner nobody"
    deal = "deal A=merlin B=servant C=servant D=assassin E=minion\n"
    path.write_text(f"with lady\nruling wrong_card = nobody_wins\n{FIVE}{deal}{wrong}")
    _, out, _ = run(capsys, "replay", str(path))
    assert out.splitlines()[-1] == "winner: nobody"


def test_a_game_that_a_wrong_loyalty_card_may_have_ended_is_not_said_to_go_on() -> None:
    log = game(
        team(1, 1, "A", "AB"), quest(1, "AB", 0, True), team(2, 1, "B", "ABC"), quest(2, "ABC", 0, True)
    )
    log["events"].append({"t": "lady", "holder": "E", "target": "C"})
    log["modules"] = ["lady"]
    assert ending(replay(import_game({**log, "winner": "evil"}))) == (None, ("evil",), None, False)
    assert replay(import_game(log)).over is False


@pytest.mark.parametrize(("fails", "success"), [(1, True), (0, False)])
def test_a_success_against_the_fails_breaks_core_25(fails: int, success: bool) -> None:
    record = import_game(game(team(1, 1, "A", "AD"), quest(1, "AD", fails, success)))
    assert [f.clauses for f in replay(record).findings] == [("CORE-25",)]


def test_the_lady_noted_before_her_quest_is_blamed_and_not_the_quest() -> None:
    log = logged_game(7, 3, lady=True)
    at = log["events"].index(events_of(log, "lady")[0])
    log["events"][at - 1], log["events"][at] = log["events"][at], log["events"][at - 1]
    record = import_game(log)
    (finding,) = [f for f in replay(record).findings if f.fatal]
    assert finding.clauses == ("LADY-02",)
    assert record.events[finding.event - 1].phase == "lady"
    assert "(LADY-02)" in (follow_game(record).illegal or "")
    early = WON.replace("players", "with lady\nplayers").replace(
        "tally 0\npropose B C", "lady C\ntally 0\npropose B C"
    )
    with pytest.raises(RecordError, match=r"line 9: 'lady' is out of turn.*LADY-02"):
        deduce(early.split("propose B C")[0])
