"""Tables for a handful of set-ups, kept as files a person can read.

`pytest tests/referee/test_expected_tables.py --renew-expected` rewrites them; then read the diff.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from avalon_logic.configuration import Configuration
from avalon_logic.referee.booklet import booklet, card, gather
from avalon_logic.referee.formats import SUFFIX, render

HERE = Path(__file__).parent / "expected"
EVERYBODY = ("merlin", "percival", "assassin", "mordred", "morgana", "oberon")

KEPT = {
    "avalon_5_en": (Configuration("avalon", 5), "en", "text"),
    "avalon_7_lady_fr": (
        Configuration("avalon", 7, ("lady",), ("merlin", "percival", "assassin", "mordred", "oberon")),
        "fr",
        "text",
    ),
    "avalon_10_all_es": (Configuration("avalon", 10, ("lady", "targeting"), EVERYBODY), "es", "md"),
    "resistance_8_fr": (Configuration("resistance", 8, ("targeting",)), "fr", "md"),
    "avalon_2021_9_house_rules_en": (
        Configuration(
            "avalon_2021",
            9,
            ("blind_spies",),
            rulings={"fourth_quest": "attempt", "fifth_team": "no_vote", "after_rejection": "same_quest"},
        ),
        "en",
        "csv",
    ),
}


@pytest.mark.parametrize("name", KEPT)
def test_tables_are_as_they_were_last_read(name: str, matches_file: Callable[[str, Path], None]) -> None:
    configuration, language, format = KEPT[name]
    made = booklet(gather(configuration, [configuration.players], strict=True), language)
    text = render(made, format).decode().replace("\r\n", "\n")
    matches_file(text, HERE / f"{name}{SUFFIX[format]}")


def test_a_card_is_as_it_was_last_read(matches_file: Callable[[str, Path], None]) -> None:
    configuration = Configuration(
        "avalon",
        8,
        (),
        ("merlin", "percival", "assassin", "morgana", "oberon"),
        {"oberon_thumb": "hidden_from_merlin"},
    )
    made = card(gather(configuration, [8], strict=True), "es")
    matches_file(render(made, "text").decode(), HERE / "card_8_es.txt")


def test_a_whole_booklet_is_as_it_was_last_read(matches_file: Callable[[str, Path], None]) -> None:
    configuration = Configuration("avalon", 5, (), ("merlin", "percival", "assassin", "morgana", "oberon"))
    made = booklet(gather(configuration, range(5, 11), strict=False), "en", {"REF-01", "REF-02", "REF-13"})
    matches_file(render(made, "md").decode(), HERE / "booklet_some_counts_en.md")
