"""`avalon deduce` as a person at the table meets it: what it prints, how it ends, what it refuses."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest

from avalon_logic.cli import main

RECORD = """players Ann Bob Cid Dan Eve
first_leader Ann
propose Ann Bob
vote + + + - -
tally 1
says Ann Dan evil
propose Bob Cid Dan
vote + + + - -
tally 1
"""


@pytest.fixture
def record(tmp_path: Path) -> str:
    path = tmp_path / "friday.txt"
    path.write_text(RECORD, encoding="utf-8")
    return str(path)


def run(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    code = main(["deduce", *words])
    shown = capsys.readouterr()
    return code, shown.out, shown.err


def run_json(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, Any]:
    code, out, _ = run(capsys, *words, "--json")
    return code, json.loads(out)


def test_an_observer_gets_shares_removed_worlds_and_the_word_on_votes_and_claims(
    record: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, _ = run(capsys, record)
    assert code == 0
    assert "Neutral observer: 36 of 60 deals are possible" in out
    assert "quest 1 with Ann, Bob: 1 fail (line 5)" in out
    assert "votes prove nothing and claims may be lies" in out
    assert max(map(len, out.splitlines())) <= 80


def test_json_has_exact_shares_steps_and_assumptions(record: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, found = run_json(capsys, record, "--list", "2", "--by-side", "--assume", "good_tells_the_truth")
    assert code == 0
    assert found["deals"] == 60
    bob = next(p for p in found["players"] if p["name"] == "Bob")
    assert bob["sides"]["evil"]["exact"].count("/") <= 1
    assert sum(r["share"] for r in bob["roles"].values()) == pytest.approx(1)
    assert len(found["list"]) == 2
    assert sum(a["worlds"] for a in found["alignments"]) == found["worlds"]
    assert [a["name"] for a in found["assumptions"]] == ["good_tells_the_truth"]
    assert [s["removed"] for s in found["steps"] if s["removed"]]


def test_a_record_from_stdin_is_as_good_as_a_file(
    record: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    stdin = io.TextIOWrapper(io.BytesIO(RECORD.encode()), encoding="utf-8")
    monkeypatch.setattr("sys.stdin", stdin)
    assert run(capsys, "-")[:2] == run(capsys, record)[:2]


def test_a_seat_asks_why_and_what_if(record: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, record, "--as", "Ann", "--role", "servant", "--why", "Bob is evil")
    assert code == 0
    assert "Suppose Bob were good (6 evil groups are possible):\n  1. Ann holds servant\n" in out
    assert "(CORE-22)" in out
    code, out, _ = run(capsys, record, "--if", "Ann is good", "--if", "Bob is not minion")
    assert code == 0
    assert "if Ann is good and Bob is not minion" in out
    assert "certainly assassin: Bob" in out
    code, out, _ = run(capsys, record, "--why", "Eve is good")
    assert code == 0
    assert "Eve is good: not certain; it is not so if the cards are" in out


def test_a_contradiction_is_explained_and_ends_with_one(
    record: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, _ = run(capsys, record, "--if", "Bob is good", "--if", "Ann is good")
    assert code == 1
    assert "no deal is possible" in out
    assert "These cannot all be true" in out
    code, found = run_json(capsys, record, "--if", "Bob is good", "--if", "Ann is good")
    assert code == 1
    assert found["worlds"] == 0
    assert found["players"][0]["roles"] == {}
    assert [b["text"] for b in found["conflict"]["because"]] == [
        "quest 1 with Ann, Bob: 1 fail",
        "Bob is good",
        "Ann is good",
    ]


def test_the_json_of_an_argument_supposes_the_contrary_and_ends_with_no_group_left(
    record: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code, found = run_json(capsys, record, "--as", "Ann", "--role", "servant", "--why", "Bob is evil")
    assert code == 0
    first, card, quest = found["why"][0]["argument"]
    assert (first["suppose"], first["step"], first["groups"]) == ("Bob is good", None, 6)
    assert (card["text"], card["certain"], card["groups"]) == ("Ann holds servant", [], 3)
    assert (quest["clauses"], quest["groups"]) == (["CORE-22", "CORE-23"], 0)
    assert quest["where"].startswith("line ")


def test_the_list_of_deals_is_complete_and_says_what_it_leaves_out(
    record: str, capsys: pytest.CaptureFixture[str]
) -> None:
    _, out, _ = run(capsys, record, "--list")
    deals = [line for line in out.splitlines() if line.startswith("Ann ") and "Eve " in line]
    assert len(set(deals)) == 36
    _, out, _ = run(capsys, record, "--list", "3")
    assert "... 33 more" in out


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("propose Ann Bob", "propose Ann Bob Cid", "line 3: the team has the wrong size"),
        ("propose Ann Bob", "propose Ann Zoe", "nobody is called 'Zoe'"),
        ("vote + + + - -", "vote + + +", "3 votes for 5 players"),
        ("vote + + + - -\n", "", "'vote' comes first (CORE-15)"),
        ("players", "roles merlin merlin assassin minion minion\nplayers", "CORE-02"),
        ("players", "roles merlin servant servant servant servant\nplayers", "CORE-02"),
        ("players Ann Bob Cid Dan Eve", "players Ann Bob", "5 to 10 players"),
        ("first_leader Ann", "game chess\nfirst_leader Ann", "chess"),
        ("tally 1", "tally many", "'many' is not a number"),
        ("says Ann Dan evil", "says Ann Dan", "write: says"),
        ("first_leader Ann", "first_leader Ann\nnaming Bob by Ann", "'propose' comes first"),
    ],
)
def test_a_record_that_cannot_be_is_refused_with_its_place(
    old: str, new: str, words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "bad.txt"
    path.write_text(RECORD.replace(old, new, 1), encoding="utf-8")
    code, out, err = run(capsys, str(path))
    assert code == 2, out
    assert words in err
    assert "Traceback" not in err


def test_more_fails_than_cards_and_a_seat_against_itself_are_contradictions(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "odd.txt"
    path.write_text(RECORD.replace("tally 1", "tally 3", 1), encoding="utf-8")
    code, out, _ = run(capsys, str(path))
    assert code == 1
    assert "3 fails" in out
    path.write_text(RECORD.replace("tally 1", "cards Ann=fail\ntally 1", 1), encoding="utf-8")
    code, out, _ = run(capsys, str(path), "--as", "Ann", "--role", "servant")
    assert code == 1
    assert "Ann holds servant" in out
    assert "CORE-22" in out


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"\xff\xfe\x00", "friday.txt: not a text file"),
        (b"players A B C D E\nmodules lady\n", "friday.txt: line 2: 'modules' is no event of this game"),
        (b"players A B C D E\n" + b"y" * 1_000_000, "yyy...' is no event"),
        (b"", "who plays?"),
        (b'{"players": ' + b"[" * 100_000, "nested too deep"),
        (b'{"players": ["Ann"', "friday"),
        (b"players Ann Bob Cid Dan Eve\n" + b"says Ann Bob good\n" * 60_000, "events"),
        (b"x" * 1_000_000, "who plays?"),
        (b'{"players": ["A","B","C","D","E"], "events": [{"phase": "vote", "approve": 3}]}', "by player"),
        (b'{"players": ["A","B","C","D","E"], "events": [{"phase": 3}]}', "an event is an object"),
    ],
)
def test_a_file_that_is_no_record_is_refused(
    content: bytes, words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "friday.txt"
    path.write_bytes(content)
    code, _, err = run(capsys, str(path))
    assert code == 2
    assert words in err


def test_options_that_do_not_fit_are_refused(record: str, capsys: pytest.CaptureFixture[str]) -> None:
    for words in (
        [],
        [record, "--expect", record],
        [record, "--why", "Bob evil"],
        [record, "--if", "Zoe is good"],
        [record, "--list", "0"],
        [record, "--list", "-5"],
        [record, "--assume", "everybody_is_nice"],
        [record, "--ruling", "fifth_team=never"],
        [record, "--role", "merlin"],
    ):
        code, _, err = run(capsys, *words)
        assert code == 2, words
        assert err.startswith("avalon: ")


def test_a_file_of_games_is_followed_for_everybody(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    game = {
        "id": "g1",
        "players": ["A", "B", "C", "D", "E"],
        "roles": {"A": "merlin", "B": "servant", "C": "servant", "D": "assassin", "E": "minion"},
        "events": [
            {"t": "propose", "quest": 1, "leader": "A", "team": ["A", "D"], "votes": None, "approved": True},
            {"t": "quest", "quest": 1, "team": ["A", "D"], "fails": 1},
        ],
    }
    wrong = json.loads(json.dumps(game))
    wrong["id"] = "g2"
    wrong["events"][1]["fails"] = 2
    path = tmp_path / "games.jsonl"
    path.write_text(json.dumps(game) + "\n", encoding="utf-8")
    code, out, _ = run(capsys, str(path))
    assert code == 0
    assert "stayed possible for everybody after every event: 1" in out
    path.write_text(json.dumps(game) + "\n" + json.dumps(wrong) + "\n", encoding="utf-8")
    code, out, _ = run(capsys, str(path))
    assert code == 1
    assert "g2: the true deal is excluded" in out
    assert "A is merlin" in out and "CORE-22" in out
    code, out, _ = run(capsys, str(path), "--json")
    lines = [json.loads(line) for line in out.splitlines()]
    assert [x["sound"] for x in lines] == [True, False]
    assert set(lines[0]["viewers"]) == {"observer", "A", "B", "C", "D", "E"}
    assert lines[1]["viewers"]["A"]["worlds"] == 0
    path.write_text("{}\n", encoding="utf-8")
    assert run(capsys, str(path))[0] == 2


def test_expected_answers_are_checked_and_answers_found_are_given(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    position = {
        "id": "P1",
        "players": 5,
        "deck": {"Merlin": 1, "Servant": 2, "Assassin": 1, "Minion": 1},
        "viewer": None,
        "options": {},
        "observations": [{"type": "quest", "quest": 1, "team": [1, 2], "fails": 2}],
    }
    path = tmp_path / "positions.json"
    path.write_text(json.dumps([position]), encoding="utf-8")
    code, out, _ = run(capsys, "--expect", str(path), "--json")
    answer = json.loads(out)
    assert code == 0
    assert (answer["status"], answer["found"]["worlds"]) == ("answered", 6)
    path.write_text(json.dumps([position | {"expect": answer["found"]}]), encoding="utf-8")
    assert run(capsys, "--expect", str(path))[0] == 0
    path.write_text(json.dumps([position | {"expect": {"worlds": 7}}]), encoding="utf-8")
    code, out, _ = run(capsys, "--expect", str(path))
    assert code == 1
    assert "P1: worlds: 6, expected 7" in out
    path.write_text(json.dumps([position | {"players": 4}]), encoding="utf-8")
    assert run(capsys, "--expect", str(path))[0] == 2


def test_a_result_shows_itself_in_a_notebook_and_escapes_names() -> None:
    from avalon_logic.deduction import deduce

    found = deduce(RECORD.replace("Ann", "<b>Ann"))
    bundle = found._repr_mimebundle_()
    assert "&lt;b&gt;Ann" in bundle["text/html"]
    assert "<b>Ann" not in bundle["text/html"]
    assert "36 of 60" in bundle["text/plain"]
    assert repr(found).startswith("<Neutral observer: 36 of 60")
