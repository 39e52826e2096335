"""What the README shows is what happens."""

from __future__ import annotations

import contextlib
import io
import re
import tomllib
from pathlib import Path

import pytest

from avalon_logic.cli import COMMANDS, main

README = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
RULEBOOKS = Path(__file__).parents[2] / "avalon_logic" / "rulebooks"


def block_after(text: str, language: str = "") -> str:
    found = re.search(re.escape(text) + r".*?\n```" + language + r"\n(.*?)```", README, re.DOTALL)
    assert found, f"no block after {text!r}"
    return found.group(1)


def test_the_rule_shown_is_in_the_rulebook() -> None:
    shown = block_after("must play success (`avalon_logic/rulebooks/core.rules`)")
    text = (RULEBOOKS / "core.rules").read_text(encoding="utf-8")

    def squeezed(x: str) -> str:
        return re.sub(r"\s+", " ", x).strip()

    assert squeezed(shown) in squeezed(text)


def test_the_verdict_shown_is_the_one_given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "friday.txt").write_text(block_after("Type a game as it happens"), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    command, _, expected = block_after("and ask whether it was legal").partition("\n")
    assert command == "$ avalon replay friday.txt"
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        assert main(["replay", "friday.txt"]) == 1
    assert out.getvalue() == expected


def test_the_python_example_runs() -> None:
    exec(compile(block_after("## From Python", "python"), "README.md", "exec"), {})


def test_every_listed_command_exists() -> None:
    listed = set(re.findall(r"^\| `avalon ([a-z]+)", README, re.MULTILINE))
    assert {"check", "rulings", "replay", "simulate", "demo"} <= listed <= set(COMMANDS)


def test_every_rulebook_is_listed() -> None:
    section = README[README.index("## Games and modules") : README.index("## From Python")]
    listed = set(re.findall(r"`([a-z_0-9]+)`", section))
    assert listed >= {p.stem for p in RULEBOOKS.glob("*.rules")}


def test_every_install_line_works_from_a_clone() -> None:
    root = Path(__file__).parents[2]
    extras = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"][
        "optional-dependencies"
    ]
    found: list[str] = []
    pages = [root / "README.md", *(root / "docs").rglob("*.md"), *(root / "docs").rglob("*.yml")]
    sources = [p for folder in ("rules_dsl", "avalon_logic", "proofs") for p in (root / folder).rglob("*.py")]
    for path in (*pages, *sources):
        for line in re.findall(r"pip install[^\n]*", path.read_text(encoding="utf-8")):
            assert not re.search(r"""install (-\S+ )*["']?avalon-logic""", line), f"{path.name}: {line}"
            found += re.findall(r"\[(\w+)\]", line)
    assert {"dev", "pdf", "certify"} <= set(found)
    assert set(found) <= set(extras)
