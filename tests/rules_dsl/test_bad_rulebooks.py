"""Bad rulebooks and the messages they get. The expected text stands beside each file; `--renew-expected` rewrites it."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from rules_dsl import RulebookError, build_model, compose, library, parse

BAD = Path(__file__).parent / "bad"
FILES = sorted(BAD.glob("*.rules"))


def refusal(path: Path) -> RulebookError:
    """The error a rulebook gets, with the first game of the file and all its modules."""
    with pytest.raises(RulebookError) as caught:
        book = parse(path.read_text(encoding="utf-8"), path.name)
        found = library([book])
        build_model(compose(found, book.games[0].name, [m.name for m in book.modules]))
    return caught.value


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.stem)
def test_a_bad_rulebook_gets_its_message(path: Path, matches_file: Callable[[str, Path], None]) -> None:
    error = refusal(path)
    for diagnostic in error.diagnostics:
        assert re.fullmatch(r"E\d{3}", diagnostic.code)
        assert diagnostic.span.line >= 1
        assert "^" in diagnostic.render()
    matches_file(f"{error}\n", path.with_suffix(".expect"))


def test_the_corpus_is_large_and_varied() -> None:
    codes = {d.code for path in FILES for d in refusal(path).diagnostics}
    assert len(FILES) >= 100
    assert len(codes) >= 75


@pytest.mark.parametrize(
    "name",
    [
        "two_games_of_one_name",
        "modules_exclude_each_other",
        "two_overrides_without_order",
        "two_phases_in_one_place",
        "declared_twice",
        "module_for_another_game",
        "table_row_twice",
        "unreachable_phase",
    ],
)
def test_a_conflict_names_both_places(name: str) -> None:
    (first, *_) = refusal(BAD / f"{name}.rules").diagnostics
    assert first.notes
    assert first.notes[0].span.start != first.span.start
