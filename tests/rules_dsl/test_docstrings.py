"""The examples in the docstrings of the language do what they say, and the language knows no game."""

from __future__ import annotations

import doctest
import re
from importlib import import_module
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "rules_dsl"
MODULES = [
    ".".join(path.relative_to(FOLDER.parent).with_suffix("").parts)
    for path in sorted(FOLDER.rglob("*.py"))
    if ">>> " in path.read_text(encoding="utf-8")
]
WORDS = re.compile(
    r"\b(avalon\w*|resistance|merlin|percival|mordred|morgana|oberon|assassin|minion|servant|quests?|leader"
    r"|evil|spy|spies|missions?|lady)\b",
    re.IGNORECASE,
)


@pytest.mark.parametrize("name", MODULES)
def test_docstring_examples_hold(name: str) -> None:
    result = doctest.testmod(import_module(name))
    assert result.attempted
    assert not result.failed


@pytest.mark.parametrize(
    "path", sorted(FOLDER.rglob("*.py")), ids=lambda p: str(p.relative_to(FOLDER)).removesuffix(".py")
)
def test_the_language_knows_no_game(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    found = [f"{path.name}:{text[: m.start()].count(chr(10)) + 1}: {m.group()}" for m in WORDS.finditer(text)]
    assert found == []
