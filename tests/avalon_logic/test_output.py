"""Output that cannot be written, letters it cannot show, names that would command the terminal: for every command."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from avalon_logic.cli import COMMANDS, main

RED = "\x1b[31m"
GAME = {
    "players": ["Ann", "Zoë", "Cid", "Dan", "Eve"],
    "events": [
        {"phase": "first_leader", "leader": "Dan"},
        {"phase": "propose", "team": ["Ann", "Zoë"]},
        {"phase": "vote", "approve": {}},
        {"phase": "tally", "fails": 1},
    ],
}
LOG = {
    "id": "a",
    "players": ["Ann", "Zoë", "Cid", "Dan", "Eve"],
    "roles": {"Ann": "merlin", "Zoë": "servant", "Cid": "servant", "Dan": "assassin", "Eve": "minion"},
    "events": [],
}
WORDS: dict[str, list[str]] = {
    "check": [],
    "rulings": [],
    "replay": ["game.json"],
    "prove": ["--game", "resistance", "--property", "everybody_leads", "-n", "5", "--time", "5"],
    "simulate": ["--games", "5"],
    "deduce": ["game.json"],
    "advise": ["game.json"],
    "table": ["game.txt"],
    "assumptions": [],
    "tables": ["-n", "5"],
    "reveal": ["--no-wait"],
    "demo": [],
    "completion": ["fish"],
}
MORE: list[list[str]] = [
    ["--help"],
    ["--version"],
    ["replay", "--help"],
    ["replay", "games.jsonl"],
    ["deduce", "games.jsonl"],
    ["deduce", "game.json", "--json"],
    ["tables", "-n", "5", "--format", "html"],
    ["tables", "-n", "5", "--format", "pdf"],
]
EVERY = [*([name, *words] for name, words in WORDS.items()), *MORE]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "game.json").write_text(json.dumps(GAME), encoding="utf-8")
    (tmp_path / "games.jsonl").write_text(json.dumps(LOG) + "\n", encoding="utf-8")
    (tmp_path / "game.txt").write_text("players Ann Zoë Cid Dan Eve\nfirst_leader Ann\n", encoding="utf-8")
    return tmp_path


def run(
    words: list[str], folder: Path, stdout: int | None = None, **environment: str
) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-m", "avalon_logic.cli", *words],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE if stdout is None else stdout,
        stderr=subprocess.PIPE,
        env={**os.environ, **environment},
        timeout=300,
        check=False,
    )


def test_every_command_is_tried() -> None:
    assert set(WORDS) == set(COMMANDS)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="skipped: this system has no /dev/full")
@pytest.mark.parametrize("words", EVERY, ids=" ".join)
def test_a_full_disk_is_said_and_is_no_success(words: list[str], folder: Path) -> None:
    with open("/dev/full", "wb") as full:
        done = run(words, folder, full.fileno())
    said = done.stderr.decode()
    assert done.returncode == 2, said
    assert "the output could not be written" in said and "No space left" in said
    assert "Traceback" not in said and "Exception ignored" not in said


@pytest.mark.parametrize("words", EVERY, ids=" ".join)
def test_a_reader_who_left_is_no_success_and_no_fault(words: list[str], folder: Path) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    try:
        done = run(words, folder, writer)
    finally:
        os.close(writer)
    said = done.stderr.decode()
    assert done.returncode == 3, said
    assert "Traceback" not in said and "Exception ignored" not in said
    assert "Broken pipe" not in said


@pytest.mark.parametrize("words", EVERY, ids=" ".join)
def test_letters_the_output_lacks_are_spelt_out(words: list[str], folder: Path) -> None:
    plain = {"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    usual = run(words, folder, None, PYTHONIOENCODING="utf-8")
    done = run(words, folder, None, **plain)
    assert "Traceback" not in done.stderr.decode()
    assert done.returncode == usual.returncode, done.stderr.decode()


def test_json_for_an_output_without_letters_is_still_the_same_json(folder: Path) -> None:
    done = run(["deduce", "game.json", "--json"], folder, None, PYTHONIOENCODING="ascii", PYTHONUTF8="0")
    assert [p["name"] for p in json.loads(done.stdout)["players"]] == GAME["players"]
    assert b"Zo\\u00eb" in done.stdout


EVIL = f"{RED}Eve"


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    """Records and a rulebook in which every name is meant for the terminal."""
    names = ["Ann", "Bob", "Cid", "Dan", EVIL]
    game = json.loads(json.dumps(GAME).replace("Zo\\u00eb", "Bob").replace('"Eve"', json.dumps(EVIL)))
    log = {**LOG, "id": f"{RED}id", "players": names}
    log["roles"] = dict(zip(names, LOG["roles"].values(), strict=True))  # type: ignore[attr-defined]
    log["events"] = [
        {"t": "propose", "leader": EVIL, "team": [EVIL, EVIL, "Ann", "Bob"]},
        {"t": "lady", "holder": EVIL, "target": "\x9b31m"},
    ]
    broken = {**log, "winner": f"{RED}me"}
    (tmp_path / "game.json").write_text(json.dumps(game))
    (tmp_path / "log.json").write_text(json.dumps(log))
    (tmp_path / "games.jsonl").write_text(f"{json.dumps(log)}\n{json.dumps(broken)}\n")
    (tmp_path / "game.txt").write_text(f"players Ann Bob Cid Dan {EVIL}\nfirst_leader {EVIL}\n")
    (tmp_path / f"{RED}house.rules").write_text(f"game {RED}x {{ }}\n")
    return tmp_path


HOSTILE = [
    ["replay", "game.json"],
    ["replay", "log.json"],
    ["replay", "log.json", "--json"],
    ["replay", "games.jsonl"],
    ["replay", "games.jsonl", "--json"],
    ["replay", f"{RED}none.txt"],
    ["deduce", "game.json", "--list", "--steps", "--by-side", "--why", f"{EVIL} is evil"],
    ["deduce", "game.json", "--as", EVIL],
    ["deduce", "game.json", "--as", f"{RED}nobody"],
    ["deduce", "game.json", "--json", "--list", "2"],
    ["deduce", "games.jsonl"],
    ["deduce", "games.jsonl", "--json"],
    ["advise", "game.json"],
    ["advise", "game.json", "--json"],
    ["table", "game.txt"],
    ["tables", "--record", "game.json", "--only", "REF-16"],
    ["tables", "--record", "game.json", "--only", "REF-16", "--format", "csv"],
    ["tables", "--record", "game.json", "--only", "REF-16", "--format", "html"],
    ["tables", "--record", "game.json", "--only", "REF-16", "--json"],
    ["check", f"{RED}house.rules"],
    ["check", "--with", f"{RED}dragons"],
    ["check", "--roles", f"{RED}dragon"],
    ["rulings", "--game", f"{RED}chess"],
    ["prove", f"{RED}house.rules"],
    ["prove", "--property", f"{RED}claim"],
]


@pytest.mark.parametrize("words", HOSTILE, ids=lambda w: repr(" ".join(w)))
def test_no_name_reaches_the_terminal_as_a_command(
    words: list[str],
    hostile: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(hostile)
    monkeypatch.setattr("sys.stdin", open(os.devnull))  # noqa: SIM115
    try:
        main(words)
    except SystemExit as ended:
        assert ended.code == 2
    shown = capsys.readouterr()
    assert not {c for c in shown.out + shown.err if c not in "\n\t" and (c < " " or "\x7f" <= c < "\xa0")}
    assert "--record" in words or "\\u001b" in shown.out + shown.err  # what is known of seats names nobody


def test_a_command_whose_stdout_is_closed_ends_as_usual(folder: Path) -> None:
    command = f"'{sys.executable}' -m avalon_logic.cli deduce game.json >&-"
    done = subprocess.run(["sh", "-c", command], cwd=folder, capture_output=True, timeout=100, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
