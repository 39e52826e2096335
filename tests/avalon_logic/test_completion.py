"""`avalon completion`: scripts the shells accept, with every command in them; and `python -m avalon_logic`."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from avalon_logic.cli import COMMANDS, main
from avalon_logic.cli.completion import SHELLS


@pytest.mark.parametrize("shell", SHELLS)
def test_the_script_knows_every_command_and_the_shell_accepts_it(
    shell: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("shtab", reason="skipped: the completion extra is not installed")
    assert main(["completion", shell]) == 0
    script = capsys.readouterr().out
    assert all(name in script for name in (*COMMANDS, "--certify", "--out"))
    if shutil.which(shell) is None:
        return
    path = tmp_path / "script"
    path.write_text(script)
    assert subprocess.run([shell, "-n", str(path)], capture_output=True, check=False).returncode == 0


def test_bash_completes_commands_options_and_files(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("shtab", reason="skipped: the completion extra is not installed")
    if shutil.which("bash") is None:
        pytest.skip("skipped: there is no bash here")
    assert main(["completion", "bash"]) == 0
    (tmp_path / "friday.txt").touch()
    (tmp_path / "script").write_text(capsys.readouterr().out)

    def completed(*words: str) -> list[str]:
        asking = (
            f"source ./script; COMP_WORDS=({' '.join(words)}); COMP_CWORD={len(words) - 1}; "
            "_shtab_avalon; printf '%s\\n' \"${COMPREPLY[@]}\""
        )
        done = subprocess.run(
            ["bash", "-c", asking], cwd=tmp_path, capture_output=True, text=True, check=True
        )
        return done.stdout.split()

    assert set(completed("avalon", "re")) == {"replay", "reveal"}
    assert "--ruling" in completed("avalon", "replay", "--r")
    assert "friday.txt" in completed("avalon", "replay", "fri")


def test_without_the_package_it_is_said_what_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "shtab", None)
    assert main(["completion", "zsh"]) == 2
    assert "pip install" in capsys.readouterr().err


def test_the_package_itself_is_the_command() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "avalon_logic", "--version"], capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith("avalon-logic ")
