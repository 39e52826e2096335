"""`avalon tables` and `avalon reveal` as a person types them, with good input and bad."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from avalon_logic.cli import main

Capture = pytest.CaptureFixture[bytes]


def run(capture: Capture, *words: str) -> tuple[int, str, str]:
    code = main(list(words))
    out, err = capture.readouterr()
    return code, out.decode(), err.decode()


def test_tables_of_one_game_are_printed(capfdbinary: Capture) -> None:
    code, out, _ = run(capfdbinary, "tables", "-n", "7", "--only", "REF-02", "ref-03")
    assert code == 0
    assert "Team sizes and fails needed" in out
    assert "Votes needed" in out
    assert "Reveal script" not in out


def test_several_numbers_of_players_have_a_page_each(capfdbinary: Capture) -> None:
    code, out, _ = run(capfdbinary, "tables", "--players", "5", "9", "--only", "REF-02", "--json")
    assert code == 0
    assert [page["players"] for page in json.loads(out)["pages"]] == [5, 9]


def test_without_a_number_all_that_are_possible_are_printed_and_the_others_named(
    capfdbinary: Capture,
) -> None:
    roles = ("--roles", "merlin", "percival", "assassin", "mordred", "morgana", "oberon")
    code, out, _ = run(capfdbinary, "tables", *roles, "--format", "json")
    read = json.loads(out)
    assert code == 0
    assert [page["players"] for page in read["pages"]] == [10, None]
    assert len(read["notes"]) == 5
    assert read["notes"][0].startswith("Not for 5 players: ")
    assert "CORE-02" in read["notes"][2]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("-n", "4"), "avalon is for 5 to 10 players, not 4 (CORE-01)"),
        (("-n", "5", "--roles", "merlin", "percival", "assassin"), "(ROLE-10)"),
        (("-n", "5", "--only", "REF-99"), "there is no table REF-99; there are: REF-01"),
        (("-n", "5", "--only", "REF-16"), "give one with --record FILE"),
        (("-n", "5", "--only", "REF-11"), "nobody chooses 'examined' in it"),
        (("--card",), "say which with -n"),
        (("--record", "no-such-file.txt"), "no-such-file.txt"),
        (("-n", "5", "--json", "--format", "md"), "--json and --format md"),
        (("-n", "5", "--game", "chess"), "there is no game 'chess'"),
        (("-n", "5", "-o", "/proc/nowhere/x.md"), "/proc"),
    ],
)
def test_what_cannot_be_printed_is_said_on_stderr(
    capfdbinary: Capture, words: tuple[str, ...], message: str
) -> None:
    code, out, err = run(capfdbinary, "tables", *words)
    assert code == 2
    assert out == ""
    assert message in err


def test_a_refused_table_can_be_asked_why(capfdbinary: Capture) -> None:
    words = ("-n", "5", "--roles", "merlin", "percival", "assassin", "--only", "REF-13", "--json")
    code, out, _ = run(capfdbinary, "tables", *words)
    assert code == 1
    rows = json.loads(out)["pages"][0]["tables"][0]["data"]
    (error,) = [row for row in rows if not row["holds"]["5"] and row["severity"] == "error"]
    assert error["clauses"] == ["ROLE-10"]


def test_a_booklet_fills_a_folder_with_an_index(capfdbinary: Capture, tmp_path: Path) -> None:
    folder = tmp_path / "booklet"
    code, out, _ = run(capfdbinary, "tables", "--lang", "fr", "--format", "html", "-o", f"{folder}/")
    assert code == 0
    names = {path.name for path in folder.iterdir()}
    counts = {f"players-{n:02d}.html" for n in range(5, 11)}
    assert names == counts | {"common.html", "booklet.html", "index.html"}
    index = (folder / "index.html").read_text()
    assert all(f'href="{name}"' in index for name in names - {"index.html"})
    assert len(out.splitlines()) == len(names)


def test_a_folder_of_markdown_has_an_index_too(capfdbinary: Capture, tmp_path: Path) -> None:
    code, _, _ = run(capfdbinary, "tables", "-n", "5", "6", "--format", "md", "-o", str(tmp_path))
    assert code == 0
    index = (tmp_path / "index.md").read_text()
    assert "(players-05.md)" in index
    assert "(booklet.md)" in index


def test_the_file_name_says_the_format(capfdbinary: Capture, tmp_path: Path) -> None:
    for name, start in (
        ("x.pdf", b"%PDF"),
        ("x.html", b"<!DOCTYPE"),
        ("x.json", b"{"),
        ("x.csv", b"5 players"),
    ):
        path = tmp_path / name
        assert run(capfdbinary, "tables", "-n", "5", "-o", str(path))[0] == 0
        assert path.read_bytes().startswith(start)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["x.csv", "x.html", "x.json", "x.pdf"]


def test_a_card_is_made_from_the_command_line(capfdbinary: Capture) -> None:
    code, out, _ = run(capfdbinary, "tables", "--card", "-n", "6", "--lang", "es", "--json")
    read = json.loads(out)
    assert code == 0
    assert read["card"] is True
    assert [t["id"] for t in read["pages"][0]["tables"]] == [
        "REF-01", "REF-05", "REF-02", "REF-03", "REF-10", "REF-15"
    ]  # fmt: skip


def test_pdf_without_its_library_says_what_to_install(
    capfdbinary: Capture, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setitem(sys.modules, "reportlab", None)
    monkeypatch.delitem(sys.modules, "avalon_logic.referee.formats.pdf", raising=False)
    monkeypatch.delattr("avalon_logic.referee.formats.pdf", raising=False)
    path = tmp_path / "x.pdf"
    code, _, err = run(capfdbinary, "tables", "-n", "5", "-o", str(path))
    assert code == 2
    assert "pip install reportlab" in err and "'.[pdf]'" in err
    assert not path.exists()


def test_a_letter_the_pdf_cannot_show_is_not_lost_in_silence(capfdbinary: Capture, tmp_path: Path) -> None:
    record = tmp_path / "names.txt"
    record.write_text("game avalon\nplayers Женя Bob Cid Dan Eve\ndeal Женя=merlin\n", encoding="utf-8")
    words = ("tables", "--record", str(record), "--only", "REF-16", "-o")
    code, _, err = run(capfdbinary, *words, str(tmp_path / "x.pdf"))
    assert code == 2
    assert "no letter 'Ж'" in err
    assert not (tmp_path / "x.pdf").exists()
    assert run(capfdbinary, *words, str(tmp_path / "x.html"))[0] == 0
    assert "Женя" in (tmp_path / "x.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("rule", "reason"),
    [
        (
            "override phase propose { leader chooses team: Set<Player> public "
            'require size(team) >= 2 and size(team) <= 3 "two or three" next vote }',
            "quest 1 has teams of several sizes",
        ),
        (
            "override def opens_eyes(p: Player) = p == leader or side(p) == evil",
            "is not always shown fellows",
        ),
    ],
)
def test_rules_no_table_can_state_are_refused_with_the_reason(
    capfdbinary: Capture, tmp_path: Path, rule: str, reason: str
) -> None:
    book = tmp_path / "odd.rules"
    book.write_text(f'game odd "Odd" extends avalon {{ {rule} }}\n')
    code, out, err = run(capfdbinary, "tables", "--game", "odd", "-n", "5", "--rules", str(book))
    assert (code, out) == (2, "")
    assert "there is no referee table for these rules" in err
    assert reason in err


def test_a_game_of_another_kind_has_no_tables(capfdbinary: Capture, tmp_path: Path) -> None:
    book = tmp_path / "coin.rules"
    book.write_text(
        'game coin "Coin" { players 2..4  enum Face { heads, tails }  result Face  start toss\n'
        "  phase toss { chance chooses face: Face public  win face } }\n"
    )
    code, out, err = run(capfdbinary, "tables", "--game", "coin", "-n", "2", "--rules", str(book))
    assert (code, out) == (2, "")
    assert "coin has no approve, card, leader, role, team" in err


def test_seats_of_a_recorded_game_and_what_they_know(capfdbinary: Capture, tmp_path: Path) -> None:
    record = tmp_path / "friday.txt"
    record.write_text(
        "game avalon\nplayers William Thomas Laura Justine Eric\n"
        "deal William=merlin Thomas=morgana Laura=percival Justine=servant Eric=assassin\n"
        "first_leader William\npropose William Thomas\nvote + + + - +\ntally 1\n"
    )
    code, out, _ = run(capfdbinary, "tables", "--record", str(record), "--only", "REF-16", "--json")
    assert code == 0
    rows = {row["seat"]: row for row in json.loads(out)["pages"][0]["tables"][0]["data"]}
    assert list(rows) == [None, "William", "Thomas", "Laura", "Justine", "Eric"]
    assert rows["William"]["seen"] == {"thumbs": ["Thomas", "Eric"]}
    assert rows["William"]["certain_sides"] == {
        "Thomas": "evil", "Laura": "good", "Justine": "good", "Eric": "evil",
    }  # fmt: skip
    assert rows["Laura"]["seen"] == {"magicians": ["William", "Thomas"]}
    assert rows["Justine"]["seen"] == {}
    assert rows[None]["certain_roles"] == {}
    assert 0 < rows["William"]["deals"] < rows["Justine"]["deals"] < rows[None]["deals"]


def test_the_script_is_printed_at_once_in_a_pipe(capfdbinary: Capture) -> None:
    code, out, _ = run(capfdbinary, "reveal", "--game", "resistance", "-n", "6", "--lang", "fr")
    assert code == 0
    assert out.splitlines() == [
        " 1. Tout le monde : fermez les yeux.",
        " 2. Espions : ouvrez les yeux et cherchez-vous du regard.",
        " 3. Espions : fermez les yeux.",
        " 4. Tout le monde : ouvrez les yeux.",
    ]


def test_the_steps_of_the_script_as_json(capfdbinary: Capture) -> None:
    code, out, _ = run(capfdbinary, "reveal", "-n", "5", "--json")
    steps = json.loads(out)
    assert code == 0
    assert set(steps[0]) == {"step", "roles", "to", "say"}
    assert steps[4] == {
        "step": "thumbs_up",
        "roles": ["assassin", "minion"],
        "to": ["merlin"],
        "say": "Minions of Mordred: eyes closed, raise your thumbs for Merlin.",
    }


def test_a_game_without_reveal_says_so(capfdbinary: Capture) -> None:
    code, out, _ = run(capfdbinary, "reveal", "--game", "resistance", "-n", "6", "--with", "blind_spies")
    assert code == 0
    assert "no reveal" in out


@pytest.mark.skipif(not hasattr(os, "openpty"), reason="this system has no pseudo-terminals")
def test_on_a_terminal_the_reader_sets_the_pace() -> None:
    """Enter goes on, b goes back, q stops; nothing is shown ahead of its time."""
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "avalon_logic.cli", "reveal", "--game", "resistance", "-n", "5"]
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "80"}
    with subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, env=environment) as process:
        os.close(theirs)
        seen = _until(ours, "1 / 4")
        assert "close your eyes" in seen
        assert "Spies" not in seen
        os.write(ours, b"\n")
        assert "Spies: open your eyes" in _until(ours, "2 / 4")
        os.write(ours, b"b\n")
        _until(ours, "1 / 4")
        os.write(ours, b"q\n")
        assert process.wait(timeout=20) == 0
    os.close(ours)


def _until(terminal: int, wanted: str) -> str:
    """What a terminal shows up to some words and the prompt after them."""
    shown = ""
    while wanted not in shown or "q: stop" not in shown.split(wanted, 1)[1]:
        shown += os.read(terminal, 4096).decode(errors="replace")
    return shown


def test_a_reader_with_shut_eyes_lets_the_clock_turn_the_lines(
    capfdbinary: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    slept: list[float] = []
    monkeypatch.setattr("avalon_logic.cli.reveal.time.sleep", slept.append)
    words = ("-n", "7", "--roles", "merlin", "percival", "assassin")
    code, timed, _ = run(capfdbinary, "reveal", *words, "--timed", "8")
    assert code == 0
    code, at_once, _ = run(capfdbinary, "reveal", *words, "--no-wait")
    assert timed == at_once
    assert len(slept) == len(at_once.splitlines())
    assert all(7 < pause <= 8 for pause in slept)


@pytest.mark.parametrize("seconds", ["0", "-3", "nan", "601"])
def test_a_pause_that_is_none_is_refused(capfdbinary: Capture, seconds: str) -> None:
    code, out, err = run(capfdbinary, "reveal", f"--timed={seconds}")
    assert (code, out) == (2, "")
    assert "--timed" in err


def test_the_lines_are_said_in_their_language_where_the_computer_can(
    capfdbinary: Capture, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    heard = tmp_path / "heard"
    voice = tmp_path / "espeak-ng"
    voice.write_text(f'#!/bin/sh\nprintf "%s|" "$@" >> "{heard}"\necho >> "{heard}"\n')
    voice.chmod(0o755)
    monkeypatch.setattr("avalon_logic.cli.reveal.time.sleep", lambda seconds: None)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.setattr(
        "avalon_logic.cli.reveal.shutil.which", lambda name: str(voice) if name == "espeak-ng" else None
    )
    code, out, _ = run(capfdbinary, "reveal", "-n", "5", "--lang", "fr", "--speak")
    assert code == 0
    said = heard.read_text(encoding="utf-8").splitlines()
    assert len(said) == len(out.splitlines())
    assert said[0].startswith("-v|fr|Tout le monde : fermez les yeux")
    voice.write_text("#!/bin/sh\necho no sound card >&2\nexit 1\n")
    code, _, err = run(capfdbinary, "reveal", "-n", "5", "--speak")
    assert code == 2 and "no sound card" in err
    monkeypatch.setattr("avalon_logic.cli.reveal.shutil.which", lambda name: None)
    code, out, err = run(capfdbinary, "reveal", "-n", "5", "--speak")
    assert (code, out) == (2, "")
    assert "espeak-ng" in err
