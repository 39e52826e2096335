"""docs/server.md: its loop runs, what it saves replays, and its tables of fields are those a view has."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from avalon_logic import Match
from avalon_logic.cli import main

PAGE = (Path(__file__).parents[2] / "docs" / "server.md").read_text(encoding="utf-8")


def _run() -> dict[str, Any]:
    (code,) = re.findall(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    space: dict[str, Any] = {}
    exec(code, space)
    return space


def _table(heading: str) -> list[str]:
    """The names in the first column of the table after some words."""
    after = PAGE[PAGE.index(heading) :]
    rows = re.search(r"((?:^\|.*\n)+)", after, re.MULTILINE)
    assert rows is not None
    return [
        name for row in rows.group(1).splitlines()[2:] for name in re.findall(r"`(\w+)`", row.split("|")[1])
    ]


def test_the_loop_plays_a_game_to_its_end_and_what_it_saved_replays(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    space = _run()
    printed = capsys.readouterr().out
    assert "wins" in printed.splitlines()[-1]
    assert "nonsense" in printed
    record = tmp_path / "saved.json"
    record.write_text(space["saved"])
    assert main(["replay", str(record)]) in (0, 1)  # 1: somebody named a fellow, which is a duty broken
    assert f"winner: {space['match'].game.winner}" in capsys.readouterr().out
    assert main(["deduce", str(record), "--as", "Ann"]) == 0


def test_the_fields_of_a_view_are_those_on_the_page() -> None:
    space = _run()
    fields: set[str] = set()
    kinds: dict[str, set[str]] = {}
    match = Match.start(space["table"], space["names"], seed=7)
    match = match.say("says", {"by": "Ann", "about": "Dan", "value": "evil"})
    while True:
        for name in (None, *match.names):
            view = json.loads(json.dumps(match.view(name)))
            fields |= set(view)
            assert view["awaits"] is None or set(view["awaits"]) == {"choice", "by"}
            for entry in view["seen"]:
                kinds.setdefault(entry["kind"], set()).update(entry)
        if match.over:
            break
        name = next(n for n in match.names if match.legal(n))
        match = match.choose(name, match.legal(name)[-1])
    assert fields == set(_table("## What a player sees"))
    assert set(kinds) == set(_table("An entry of `seen`"))
    assert {extra for found in kinds.values() for extra in found} == {
        "phase",
        "kind",
        "name",
        "value",
        "by",
        "to",
    }
