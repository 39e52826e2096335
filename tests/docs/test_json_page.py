"""docs/json.md against what the commands print: every field printed is on the page, every field on the page is printed."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from avalon_logic.cli import COMMANDS, main

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "json.md").read_text(encoding="utf-8")
WITHOUT = {"table", "demo", "completion"}

CONFLICT = """players Ann Bob Cid Dan Eve
first_leader Ann
propose Ann Bob
vote ?
tally 1
propose Bob Cid Dan
vote ?
tally 2
"""
NO_SUCH_DEAL = CONFLICT + "propose Cid Ann\nvote ?\ntally 2\n"
TWO_TAGS = 'module twins "Twins" for avalon {\n  def twice = 1\n  def twice = 2\n}\n'
LOST = {
    "players": ["A", "B", "C", "D", "E"],
    "deal": {"A": "merlin", "B": "servant", "C": "servant", "D": "assassin", "E": "minion"},
    "events": [
        {"phase": "first_leader", "leader": "A"},
        {"phase": "propose", "team": ["A", "B"]},
        {"phase": "vote", "approve": dict.fromkeys("ABCDE", True)},
        {"phase": "tally", "fails": 1},
    ],
}
LOGGED = {
    "players": ["A", "B", "C", "D", "E"],
    "roles": {"A": "merlin", "B": "servant", "C": "servant", "D": "morgana", "E": "minion"},
    "assassin": "D",
    "events": [],
    "mood": "tense",
}
POSITION = {
    "id": "D1", "players": 5, "deck": {"Merlin": 1, "Servant": 2, "Assassin": 1, "Minion": 1},
    "viewer": None, "options": {}, "observations": [], "expect": {"worlds": 7},
}  # fmt: skip

RUNS: dict[str, list[list[str]]] = {
    "avalon check": [["check"], ["check", "-n", "5", "--roles", "merlin", "percival", "assassin"], ["check", "twins.rules"]],
    "avalon rulings": [["rulings"]],
    "avalon replay": [["replay", "two_fails.txt"], ["replay", "house_rule.txt"], ["replay", "games.jsonl"],
                      ["replay", "five_players.txt", "--ruling", "vote_track=keep"]],
    "avalon simulate": [["simulate", "--games", "50"]],
    "avalon deduce": [
        ["deduce", "two_fails.txt"],
        ["deduce", "two_fails.txt", "--as", "Laura", "--role", "percival", "--saw", "William", "Thomas",
         "--why", "William is merlin", "--why", "Thomas is morgana", "--why", "Eric is assassin"],
        ["deduce", "two_fails.txt", "--assume", "evil_fails_half_the_time", "--list", "2", "--by-side"],
        ["deduce", "impossible.txt"],
    ],
    "avalon deduce, many games": [["deduce", "games.jsonl"]],
    "avalon deduce --expect": [["deduce", "--expect", "positions.json"]],
    "avalon advise": [["advise", "two_fails.txt"], ["advise", "two_fails.txt", "--for", "assassin"],
                      ["advise", "two_fails.txt", "--assume", "evil_fails_half_the_time"]],
    "avalon assumptions": [["assumptions"]],
    "avalon prove": [["prove", "--game", "resistance", "-n", "5", "--property", "evil_as_one_blocks_any_team", "-j", "1"]],
    "avalon tables": [["tables", "-n", "7"], ["tables", "-n", "5", "--card"]],
    "avalon reveal": [["reveal", "-n", "5"]],
}  # fmt: skip


@dataclass
class Node:
    """A field on the page and what it may hold. `printed` says whether any command printed it."""

    fields: dict[str, Node] = field(default_factory=dict)
    opaque: bool = False
    optional: bool = False
    printed: bool = False

    def under(self, key: str) -> Node | None:
        """The field of this name, or the one for any name."""
        named = self.fields.get(key)
        return named or next((n for k, n in self.fields.items() if k.startswith("{")), None)


def _paths(text: str) -> Iterator[tuple[str, bool]]:
    """The fields in the tables of a section, and whether a long-running option is needed to see them."""
    for row in re.findall(r"^\| (`.*?) \| (.*) \|$", text, re.MULTILINE):
        for path in re.findall(r"`([^`]+)`", row[0]):
            yield path, row[1].startswith("`--certify`")


def _tree(text: str, tree: Node | None = None) -> Node:
    tree = tree or Node()
    for path, optional in _paths(text):
        here = tree
        for part in re.findall(r"\[\]|[^.\[\]]+", path.removesuffix("…")):
            here = here.fields.setdefault(part, Node(optional=optional))
        here.opaque = path.endswith("…")
    return tree


def _sections() -> dict[str, Node]:
    explanation = re.search(r"^\| field of an explanation.*?\n\n", PAGE, re.MULTILINE | re.DOTALL)
    assert explanation is not None
    found: dict[str, Node] = {}
    for heading, text in re.findall(r"^## (avalon .*?)\n(.*?)(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL):
        tree = _tree(text.replace(explanation.group(0), ""))
        for name in ("why", "conflict", "explanation"):
            place = tree.fields.get(name)
            if place is not None:
                _tree(explanation.group(0), place.fields["[]"] if name == "why" else place)
        found[heading] = tree
    return found


def _hold(data: Any, tree: Node, where: str) -> None:
    """Every field of the data is on the page; marks it there."""
    tree.printed = True
    if tree.opaque:
        return
    if data is None:  # where it may be null it need not be seen with a value in every place
        for node in tree.fields.values():
            node.optional = True
    if isinstance(data, list):
        for entry in data:
            if isinstance(entry, dict | list) and "[]" in tree.fields:
                _hold(entry, tree.fields["[]"], where + "[]")
            else:
                assert not isinstance(entry, dict), f"{where}[] is not on the page"
    elif isinstance(data, dict):
        for key, value in data.items():
            node = tree.under(key)
            assert node is not None, f"{where}.{key} is not on the page"
            _hold(value, node, f"{where}.{key}")


def _missing(tree: Node, where: str) -> Iterator[str]:
    for key, node in tree.fields.items():
        if node.optional:
            continue
        if not node.printed:
            yield f"{where}.{key}"
        yield from _missing(node, f"{where}.{key}")


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for example in (ROOT / "avalon_logic" / "examples").iterdir():
        (tmp_path / example.name).write_text(example.read_text(encoding="utf-8"))
    (tmp_path / "impossible.txt").write_text(NO_SUCH_DEAL)
    (tmp_path / "twins.rules").write_text(TWO_TAGS)
    (tmp_path / "games.jsonl").write_text(json.dumps(LOST) + "\n" + json.dumps(LOGGED) + '\n{"players": 3}\n')
    (tmp_path / "positions.json").write_text(json.dumps([POSITION]))
    monkeypatch.chdir(tmp_path)


def test_the_page_has_every_command_that_prints_json() -> None:
    assert {heading.split()[1].strip(",") for heading in _sections()} == set(COMMANDS) - WITHOUT
    assert set(RUNS) == set(_sections())


@pytest.mark.parametrize("heading", RUNS)
def test_a_command_prints_the_fields_on_the_page_and_no_others(
    heading: str, files: None, capfd: pytest.CaptureFixture[str]
) -> None:
    tree = _sections()[heading]
    for words in RUNS[heading]:
        assert main([*words, "--json"]) in (0, 1, 2)
        printed = capfd.readouterr().out
        assert printed, words
        whole = words[0] == "tables"  # which may be read by people too, and so has line breaks
        for text in [printed] if whole else printed.splitlines():
            _hold(json.loads(text), tree, heading)
    assert list(_missing(tree, heading)) == []
