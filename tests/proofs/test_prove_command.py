"""`avalon prove` as a user meets it: verdicts, games, exit codes, bad input, interruption."""

from __future__ import annotations

import json
import signal
from collections.abc import Iterator
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


def test_what_only_other_tables_show_is_no_finding_at_these(capsys: pytest.CaptureFixture[str]) -> None:
    """At five players no quest needs two fails; at seven no team is smaller than the one before."""
    claims = ("one_fail_is_not_enough_there", "one_fail_forgiven", "a_success_shows_no_fail", CLAIM)
    assert main([*QUICK, "--json", *(x for name in claims for x in ("--property", name))]) == 0
    found = {p["property"]: p for p in json.loads(capsys.readouterr().out)["properties"]}
    assert [found[name]["verdict"] for name in claims] == ["vacuous", "refuted", "proved", "refuted"]
    assert [found[name]["elsewhere"] for name in claims] == [True, True, True, False]
    assert main([*QUICK, "-n", "7", "--property", "teams_never_shrink"]) == 0
    shown = capsys.readouterr().out
    assert "proved   teams_never_shrink" in shown
    assert "(here; refuted where other tables are allowed)" in shown


def test_what_a_user_claims_of_one_table_is_held_against_that_table(tmp_path: Path) -> None:
    book = tmp_path / "seven.rules"
    claim = 'reachable two "two fails are needed": fails_needed == 2 expect proved'
    book.write_text(f'module seven "Seven" for resistance {{ {claim} }}', encoding="utf-8")
    assert main(["prove", str(book), "--game", "resistance", "-n", "7", "-j", "1"]) == 0
    assert main(["prove", str(book), "--game", "resistance", "-n", "5", "-j", "1"]) == 1


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


@pytest.fixture
def in_the_foreground() -> Iterator[None]:
    """A shell starts what runs in the background deaf to Ctrl-C, tests included."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("in_the_foreground")
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
