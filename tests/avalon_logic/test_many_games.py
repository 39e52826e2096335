"""Thousands of games: none of them holds up, ends or loses the others, and a run that was interrupted goes on."""

from __future__ import annotations

import gzip
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from avalon_logic.cli import main
from avalon_logic.many.pool import AHEAD, Limits, judged
from avalon_logic.many.sources import LONGEST, Source, games_in, lines_of
from avalon_logic.replay import TooOpen
from tests.avalon_logic.site_logs import Log, logged_game

BOTH = pytest.mark.parametrize("command", ["replay", "deduce"])


def vague_game() -> Log:
    """Ten players, and next to nothing written down of what they did."""
    game = logged_game(10, 3)
    for event in game["events"]:
        for name in ("votes", "approved", "fails", "success", "cards", "team", "leader"):
            event.pop(name, None)
    return game


def lines(path: Path, *games: Any) -> Path:
    path.write_bytes(b"".join(g if isinstance(g, bytes) else json.dumps(g).encode() + b"\n" for g in games))
    return path


def run(words: list[str], capsys: pytest.CaptureFixture[str]) -> tuple[int, list[dict[str, Any]], str]:
    code = main(words)
    shown = capsys.readouterr()
    return code, [json.loads(line) for line in shown.out.splitlines()], shown.err


# --- one game after another ---


@BOTH
def test_one_bad_line_loses_no_other(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    good = logged_game(5, 1)
    half = json.dumps(good).replace('"p2"', '"\\ud800"').encode() + b"\n"
    path = lines(
        tmp_path / "games.jsonl",
        good,
        {**good, "assassin": ["p6"]},
        half,
        vague_game(),
        b'{"players": \n',
        b"\xff\xfe\n",
        b'{"players": ' + b"9" * 5000 + b"}\n",
        b"[" * 100_000 + b"\n",
        b"[]\n",
        b"\n",
        {**good, "players": [["a"], {"b": 1}, None, 4, 5]},
        {**good, "events": [{"t": "propose", "leader": ["x"], "team": [{}], "votes": 3}]},
        {**good, "winner": {"a": 1}},
        good,
    )
    code, answers, _ = run([command, str(path), "--json", "--time", "3", "-j", "2"], capsys)
    assert code == 2
    assert [a["where"].rpartition(":")[2] for a in answers] == [str(n) for n in range(1, 15) if n != 10]
    fine = "legal" if command == "replay" else "sound"
    assert {answers[i]["status"] for i in (0, 2, -1)} == {fine}
    assert answers[3]["status"] == "undecided"
    assert {a["status"] for i, a in enumerate(answers) if i not in (0, 2, 3, 12)} == {"unreadable"}
    assert "'assassin' is a string" in answers[1]["error"]
    assert not any("fault of avalon" in str(a.get("error")) for a in answers), answers


def test_a_single_game_with_too_many_unknowns_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    from avalon_logic import following
    from avalon_logic.logs import import_game
    from avalon_logic.replay import replay

    monkeypatch.setattr(following, "MOST_STEPS", 2_000)
    with pytest.raises(TooOpen, match="2,000 ways"):
        replay(import_game(vague_game()))


def strange(source: Source) -> dict[str, Any]:
    match source.content:
        case b"spin":
            while True:
                pass
        case b"sleep":
            time.sleep(1000)
        case b"grow":
            kept = [bytes(10_000_000) for _ in range(10_000)]
            return {"status": "grown", "n": len(kept)}
        case b"die":
            os.kill(os.getpid(), signal.SIGKILL)
        case b"fail":
            raise ZeroDivisionError("no such thing")
    return {"status": "fine"}


def test_a_game_that_takes_too_long_or_too_much_is_said_and_the_next_goes_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("avalon_logic.many.pool.PATIENCE", 4)
    kinds = [b"a", b"spin", b"b", b"grow", b"c", b"die", b"d", b"fail", b"sleep", b"e"]
    sources = [Source(f"x:{n}", kind) for n, kind in enumerate(kinds)]
    found = list(judged(iter(sources), strange, 2, Limits(0.5, 300)))
    assert [source for source, _ in found] == sources
    said = {str(source.content): answer.get("error", answer["status"]) for source, answer in found}
    assert [said[f"b'{name}'"] for name in "abcde"] == ["fine"] * 5
    assert "more than 0.5 s" in said["b'spin'"] and "more than 0.5 s" in said["b'sleep'"]
    assert "more than 300 MB" in said["b'grow'"]
    assert "ended with code -9" in said["b'die'"]
    assert "a fault of avalon, please report it: ZeroDivisionError" in said["b'fail'"]


def test_games_are_read_only_as_they_are_judged() -> None:
    read = 0

    def endless() -> Iterator[Source]:
        nonlocal read
        while True:
            read += 1
            yield Source(f"x:{read}", b"a")

    answers = judged(endless(), strange, 2, Limits())
    for _ in range(200):
        next(answers)
    answers.close()
    assert read <= 200 + 2 * AHEAD + 1


@BOTH
def test_several_processes_give_the_same_answers_in_the_same_order(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    games = [logged_game(5 + seed % 2, seed) for seed in range(6)]
    games[3]["events"][0]["team"] = games[3]["players"][:4]
    path = lines(tmp_path / "games.jsonl", *games)
    one = run([command, str(path), "--json", "-j", "1"], capsys)
    assert one == run([command, str(path), "--json", "-j", "3"], capsys)
    assert one[0] == 1
    assert [a["id"] for a in one[1]] == [g["id"] for g in games]


# --- where games come from ---


def test_a_folder_an_archive_and_a_pipe_hold_the_same_games(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    games = [logged_game(5, seed) for seed in range(3)]
    folder = tmp_path / "games"
    (folder / "inner").mkdir(parents=True)
    lines(folder / "a.ndjson", games[0])
    (folder / "b.jsonl.gz").write_bytes(gzip.compress(json.dumps(games[1]).encode()))
    (folder / "inner" / "c.json").write_text(json.dumps(games[2], indent=1))
    (folder / "notes.md").write_text("not a game")
    code, answers, _ = run(["replay", str(folder), "--json"], capsys)
    assert code == 0
    assert [a["id"] for a in answers] == [g["id"] for g in games]
    assert [Path(a["where"].partition(":")[0]).name for a in answers] == ["a.ndjson", "b.jsonl.gz", "c.json"]
    piped = lines(tmp_path / "piped", *games)
    with piped.open() as stream:
        monkeypatch.setattr("sys.stdin", stream)
        code, answers, _ = run(["replay", "-", "--json"], capsys)
    assert [a["where"] for a in answers] == ["stdin:1", "stdin:2", "stdin:3"]


def test_one_game_alone_on_stdin_is_a_record(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    game = logged_game(5, 1)
    for text in (json.dumps(game), json.dumps(game, indent=1)):
        path = tmp_path / "one"
        path.write_text(text)
        with path.open() as stream:
            monkeypatch.setattr("sys.stdin", stream)
            assert main(["replay", "-"]) == 0
        assert capsys.readouterr().out.startswith("legal: ")


def test_a_broken_archive_loses_only_its_rest(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    game = logged_game(5, 1)
    whole = gzip.compress((json.dumps(game) + "\n").encode() * 40, 0)
    (tmp_path / "a.jsonl.gz").write_bytes(whole[: len(whole) // 2])
    lines(tmp_path / "b.jsonl", game)
    code, answers, _ = run(["replay", str(tmp_path), "--json"], capsys)
    assert code == 2
    broken = [a for a in answers if a["status"] == "unreadable"]
    assert "cannot be read on from here" in broken[-1]["error"]
    assert len([a for a in answers if a["status"] == "legal"]) > 2
    assert answers[-1]["where"].endswith("b.jsonl:1") and answers[-1]["status"] == "legal"


def test_a_line_without_end_is_not_held(tmp_path: Path) -> None:
    path = tmp_path / "long.jsonl"
    path.write_bytes(b"[" * (LONGEST + 10) + b"\n{}\n")
    first, second = games_in([path])
    assert first.content is None and "more than" in first.error
    assert (second.place, second.content) == (f"{path}:2", b"{}\n")
    assert [s.place for s in lines_of([b"a\n", b"\n", b"b"], "x")] == ["x:1", "x:3"]


@BOTH
def test_a_folder_without_games_is_bad_input(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([command, str(tmp_path)]) == 2
    assert "no games" in capsys.readouterr().err


# --- going on ---


def test_a_run_goes_on_where_it_stopped(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    games = [logged_game(5, seed) for seed in range(4)]
    path, out = lines(tmp_path / "games.jsonl", *games), tmp_path / "out.jsonl"
    assert main(["deduce", str(path), "--out", str(out)]) == 0
    whole, told = out.read_bytes(), capsys.readouterr().out
    kept = whole.splitlines(keepends=True)
    out.write_bytes(b"".join(kept[:2]) + kept[2][:40])  # as if the power had failed
    assert main(["deduce", str(path), "--out", str(out)]) == 0
    assert out.read_bytes() == whole
    assert capsys.readouterr().out == f"{out} had 2 of them already\n{told}"


def test_other_rulings_are_another_question(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, out = lines(tmp_path / "games.jsonl", logged_game(5, 1)), tmp_path / "out.jsonl"
    assert main(["replay", str(path), "--out", str(out)]) == 0
    main(["replay", str(path), "--out", str(out), "--ruling", "fifth_team=no_vote"])
    assert len(out.read_text().splitlines()) == 2
    capsys.readouterr()


def test_a_file_that_holds_no_answers_is_left_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = lines(tmp_path / "games.jsonl", logged_game(5, 1))
    before = path.read_bytes()
    assert main(["replay", str(path), "--out", str(path)]) == 2
    assert "not a file of answers" in capsys.readouterr().err
    assert path.read_bytes() == before


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="skipped: this system has no /dev/full")
def test_answers_that_cannot_be_kept_are_no_success(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = lines(tmp_path / "games.jsonl", logged_game(5, 1))
    assert main(["replay", str(path), "--out", "/dev/full"]) == 2
    assert "/dev/full: No space left" in capsys.readouterr().err


@pytest.mark.parametrize("said", [signal.SIGINT, signal.SIGTERM])
def test_an_interruption_sums_up_what_was_judged(said: signal.Signals, tmp_path: Path) -> None:
    path = lines(tmp_path / "games.jsonl", *[logged_game(8, seed % 5) for seed in range(3000)])
    out = tmp_path / "out.jsonl"
    words = [sys.executable, "-m", "avalon_logic", "replay", str(path), "--out", str(out), "-j", "2"]
    process = subprocess.Popen(
        words,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler) and None,
    )
    try:
        deadline = time.monotonic() + 100
        while not (out.exists() and out.stat().st_size) and time.monotonic() < deadline:
            time.sleep(0.05)
        asked = time.monotonic()
        process.send_signal(said)
        shown, errors = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == 3, errors
    assert time.monotonic() - asked < 20
    judged_games = len(out.read_text().splitlines())
    assert 0 < judged_games < 3000
    assert f"games: {judged_games}\n" in shown
    assert f"interrupted after {judged_games} games; go on with the same command" in errors
    assert "Traceback" not in errors


# --- rulings ---


@BOTH
@pytest.mark.parametrize(
    ("ruling", "told"),
    [
        ("fith_team=no_vote", "there is no ruling 'fith_team' in any game; there are: "),
        ("fifth_team=novote", "ruling 'fifth_team' cannot be 'novote'"),
    ],
)
def test_a_misspelt_ruling_fails_once_not_once_a_game(
    command: str, ruling: str, told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = lines(tmp_path / "games.jsonl", *[logged_game(5, 1)] * 3)
    assert main([command, str(path), "--ruling", ruling]) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.count(told) == 1 and len(shown.err.splitlines()) == 1


@BOTH
def test_a_ruling_of_a_module_that_is_not_in_play_is_no_error(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from avalon_logic.library import open_model

    alone = set(open_model("avalon").params)
    name, param = next(
        (n, p)
        for n, p in open_model("avalon", ["lady"]).params.items()
        if p.kind == "ruling" and n not in alone
    )
    game = logged_game(5, 1)
    ruling = f"{name}={param.alternatives[-1][0]}"
    path = lines(tmp_path / "games.jsonl", game, game)
    assert main([command, str(path), "--ruling", ruling]) == 0
    assert "not readable" not in capsys.readouterr().out
    alone_path = tmp_path / "one.json"
    alone_path.write_text(json.dumps(game))
    assert main([command, str(alone_path), "--ruling", ruling]) == 0
    assert f"the ruling '{name}' belongs to a module that is not in play" in capsys.readouterr().err
