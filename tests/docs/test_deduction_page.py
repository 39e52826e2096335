"""docs/deduction.md: every command on the page is run, and what the page shows is what it prints.

`pytest tests/docs --renew-expected` writes the page anew.
"""

from __future__ import annotations

import io
import re
import shlex
from collections.abc import Callable
from pathlib import Path

import pytest

from avalon_logic.cli import main

PAGE = Path(__file__).parents[2] / "docs" / "deduction.md"
BLOCK = re.compile(r"^```(text|console|python) ?(\S*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def test_every_command_of_the_page_prints_what_it_shows(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    matches_file: Callable[[str, Path], None],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    ran: list[str] = []

    def renewed(block: re.Match[str]) -> str:
        kind, name, body = block.groups()
        if kind == "text":
            (tmp_path / name).write_text(body)
        if kind != "console":
            return block.group(0)
        lines = body.splitlines()
        shown = [lines[0]]
        words = shlex.split(lines[0].removeprefix("$ "))
        assert words[0] == "avalon"
        ran.append(words[1])
        if "<" in words:
            monkeypatch.setattr("sys.stdin", io.StringIO((tmp_path / words[-1]).read_text()))
            words = words[: words.index("<")]
        code = main(words[1:])
        printed = capsys.readouterr()
        assert code in (0, 1) and not printed.err, printed.err
        shown += [line.rstrip() for line in printed.out.rstrip("\n").splitlines()]
        return "```console\n" + "\n".join(shown) + "\n```"

    matches_file(BLOCK.sub(renewed, PAGE.read_text(encoding="utf-8")), PAGE)
    assert {"deduce", "advise", "table"} <= set(ran)


def test_the_python_of_the_page_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    blocks = {(kind, name): body for kind, name, body in BLOCK.findall(PAGE.read_text(encoding="utf-8"))}
    (tmp_path / "friday.txt").write_text(blocks["text", "friday.txt"])
    space: dict[str, object] = {}
    exec(blocks["python", ""], space)
    assert space["found"].count == 4  # type: ignore[attr-defined]
