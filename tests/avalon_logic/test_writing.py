"""Files that cannot be written, or not to their end: nothing half-written stays, and nothing is claimed to be kept."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from avalon_logic.cli import main
from avalon_logic.writing import write_all, write_whole

TABLES = ["tables", "-n", "5", "6", "--only", "REF-02", "--format", "html"]


def test_a_file_takes_the_place_of_the_one_before_it(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    write_whole(path, "one")
    write_whole(path, "two")
    assert [p.name for p in tmp_path.iterdir()] == ["a.txt"]
    assert path.read_text() == "two"


@pytest.mark.parametrize("fault", [KeyboardInterrupt(), OSError(28, "No space left on device")])
def test_what_is_interrupted_leaves_the_old_files_and_no_half_of_the_new(
    fault: BaseException, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = {tmp_path / "a.txt": b"new", tmp_path / "b.txt": b"new"}
    (tmp_path / "a.txt").write_text("old")
    whole = Path.write_bytes

    def failing(path: Path, content: bytes) -> int:
        if "b.txt" in path.name:
            whole(path, content[:1])
            raise fault
        return whole(path, content)

    monkeypatch.setattr(Path, "write_bytes", failing)
    with pytest.raises(type(fault)) as raised:
        write_all(files)
    assert [p.name for p in tmp_path.iterdir()] == ["a.txt"]
    assert (tmp_path / "a.txt").read_text() == "old"
    if isinstance(raised.value, OSError):
        assert raised.value.filename == str(tmp_path / "b.txt")


def test_an_interrupted_booklet_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(path: Path, content: bytes) -> int:
        path.touch()
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "write_bytes", interrupted)
    assert main([*TABLES, "-o", str(tmp_path / "a.html")]) == 3
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="skipped: this system has no /dev/full")
@pytest.mark.parametrize(
    "words",
    [
        [*TABLES, "-o", "/dev/full"],
        ["prove", "--game", "resistance", "--property", "everybody_leads", "-n", "5", "--junit", "/dev/full"],
    ],
    ids=lambda words: words[0],
)
def test_a_file_on_a_full_disk_is_named(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words) == 2
    assert "/dev/full: No space left" in capsys.readouterr().err


def test_a_game_that_could_not_be_kept_is_not_said_to_be(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def full(path: Path, content: Any) -> None:
        raise OSError(28, "No space left on device", str(path))

    monkeypatch.setattr("avalon_logic.table.talk.write_whole", full)
    typed = tmp_path / "typed"
    typed.write_text("players Ann Bob Cid Dan Eve\nsave friday.txt\nquit\n")
    monkeypatch.chdir(tmp_path)
    with typed.open() as stream:
        monkeypatch.setattr("sys.stdin", stream)
        assert main(["table"]) == 2
    shown = capsys.readouterr().out
    assert "could not be written to friday.txt: No space left" in shown
    assert "kept in" not in shown
    assert not os.path.exists("friday.txt")
