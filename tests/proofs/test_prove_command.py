"""`avalon prove` as a user meets it: verdicts, games, exit codes, bad input, interruption."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import pytest

from avalon_logic.cli import main

QUICK = ["prove", "--game", "resistance", "-n", "5", "-j", "1", "--time", "200"]
CLAIM = "evil_as_one_blocks_any_team"

WRONG = """
module wrong "Wrong" for resistance {
  invariant evil_never_wins "evil never wins": winner == evil implies false expect proved
}
"""
HOUSE = """
module house "House" for resistance { def spies = count(p in Player | side(p) == evil) }
"""


def test_a_refuted_property_is_shown_as_a_game_with_names_and_clauses(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main([*QUICK, "--property", CLAIM]) == 0
    shown = capsys.readouterr().out
    assert "refuted  evil_as_one_blocks_any_team: a team all evil players reject is never approved" in shown
    assert "counterexample of 4 event(s)" in shown
    assert "William" in shown
    assert "CORE-15" in shown
    assert "all as expected" in shown


def test_games_are_saved_as_records_that_replay_accepts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*QUICK, "--property", CLAIM, "--save", str(tmp_path), "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    (found,) = report["properties"]
    assert (found["verdict"], found["as_expected"], found["events"]) == ("refuted", True, 4)
    (saved,) = tmp_path.iterdir()
    assert json.loads(saved.read_text(encoding="utf-8")) == found["game"]
    assert main(["replay", str(saved)]) == 0


def test_an_unexpected_verdict_is_a_finding_with_its_game(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    book = tmp_path / "wrong.rules"
    book.write_text(WRONG, encoding="utf-8")
    assert main(["prove", str(book), "--game", "resistance", "-n", "5", "-j", "1"]) == 1
    shown = capsys.readouterr().out
    assert "(expected: proved)" in shown
    assert "evil wins" in shown


def test_a_file_without_claims_is_held_against_the_shipped_ones(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    book = tmp_path / "house.rules"
    book.write_text(HOUSE, encoding="utf-8")
    assert main(["prove", str(book), "-n", "5", "-j", "1", "--property", CLAIM]) == 0
    assert "with house" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--property", "nonsense"], "there is no property 'nonsense'"),
        (["--game", "chess"], "chess"),
        (["--with", "dragons"], "there is no module 'dragons'"),
        (["-n", "11"], "5 to 10 players, not 11"),
        (["--ruling", "fifth_team=never"], "ruling 'fifth_team' cannot be 'never'"),
        (["--ruling", "colour=red"], "there is no ruling 'colour'"),
        (["--time", "0"], "--time"),
        (["no_such_file.rules"], "no_such_file.rules"),
    ],
)
def test_bad_input_is_said_before_anything_is_proved(
    words: list[str], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["prove", *words]) == 2
    assert told in capsys.readouterr().err


@pytest.mark.parametrize("said", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_run_reports_what_was_decided(
    said: signal.Signals, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from proofs import workers

    whole = workers.decide

    def interrupted(*arguments: object) -> object:
        yield next(iter(whole(*arguments)))  # type: ignore[arg-type]
        signal.raise_signal(said)
        yield from ()

    monkeypatch.setattr(workers, "decide", interrupted)
    words = ["--property", CLAIM, "--property", "teams_never_shrink"]
    assert main([*QUICK, *words]) == 3
    shown = capsys.readouterr().out
    assert "1 of 2 properties decided" in shown
    assert "interrupted" in shown
