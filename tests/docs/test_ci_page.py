"""The page on CI: its example is proved as it says, its workflow runs commands that exist."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"
EXAMPLE = DOCS / "examples" / "two_rejections.rules"


def run_pytest(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pytest", "-p", "avalon_logic.pytest_plugin", "-p", "no:cacheprovider"]
    root = os.pathsep.join([str(DOCS.parent), os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, "PYTHONPATH": root, "NO_COLOR": "1"}
    return subprocess.run(
        [*command, *words], cwd=folder, capture_output=True, text=True, env=environment, timeout=200
    )


def test_the_example_on_the_page_is_the_file_beside_it() -> None:
    page = (DOCS / "ci.md").read_text(encoding="utf-8")
    text = EXAMPLE.read_text(encoding="utf-8")
    assert text.split("\n", 1)[1].strip() in page


def test_the_house_rule_is_proved_by_pytest_and_reported(tmp_path: Path) -> None:
    (tmp_path / EXAMPLE.name).write_text(EXAMPLE.read_text(encoding="utf-8"), encoding="utf-8")
    done = run_pytest(tmp_path, EXAMPLE.name, "--junitxml=rules.xml")
    assert done.returncode == 0, done.stdout
    assert "3 passed" in done.stdout
    assert 'name="one_rejection_at_most"' in (tmp_path / "rules.xml").read_text(encoding="utf-8")


def test_a_careless_change_of_the_house_rule_fails_with_the_game(tmp_path: Path) -> None:
    careless = EXAMPLE.read_text(encoding="utf-8").replace("rejections == 2", "rejections == 3")
    (tmp_path / EXAMPLE.name).write_text(careless, encoding="utf-8")
    done = run_pytest(tmp_path, EXAMPLE.name)
    assert done.returncode == 1
    assert "invariant one_rejection_at_most" in done.stdout
    assert "refuted, expected proved: counterexample of 6 event(s)" in done.stdout
    assert "1. deal: chance gives role" in done.stdout


def test_avalon_prove_takes_what_the_page_shows(tmp_path: Path, monkeypatch) -> None:  # type: ignore[no-untyped-def]
    page = (DOCS / "ci.md").read_text(encoding="utf-8")
    (line,) = re.findall(r"^avalon (prove .*)$", page, re.MULTILINE)
    (tmp_path / EXAMPLE.name).write_text(EXAMPLE.read_text(encoding="utf-8"), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    from avalon_logic.cli import main

    assert main([*line.split(), "-j", "1"]) == 0
    assert (tmp_path / "prove.xml").exists()
    assert list((tmp_path / "certificates").rglob("*.smt2"))


def test_the_workflow_runs_commands_there_are() -> None:
    workflow = (DOCS / "examples" / "rules.yml").read_text(encoding="utf-8")
    commands = re.findall(r"- run: (\S+) ?(\S*)", workflow)
    assert ("pytest", "rules/*.rules") in commands
    from avalon_logic.cli import COMMANDS

    assert all(rest in COMMANDS for command, rest in commands if command == "avalon")
