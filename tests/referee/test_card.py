"""The card for a night has what is asked for at the table, and no table has idle rows or columns."""

from __future__ import annotations

import pytest

from avalon_logic.configuration import Configuration
from avalon_logic.referee.booklet import booklet, card, gather
from avalon_logic.referee.messages import LANGUAGES


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_card_has_what_is_asked_for_in_the_midst_of_a_game(language: str) -> None:
    """Votes needed, the rejected teams that end it, how it is won, when the Lady is used; nothing idle."""
    configuration = Configuration("avalon", 8, ("lady",), ("merlin", "percival", "assassin", "oberon"))
    page = card(gather(configuration, [8], strict=True), language).pages[0]
    tables = {t.id: t for t in page.tables}
    votes, endings, uses = tables["REF-03"], tables["REF-10"], tables["REF-11"]
    assert [row[1][:1] for row in votes.rows] == ["5", "4", "1", "5"]
    assert endings.rows[0][0].startswith("5 ")
    assert len(endings.rows) == 6
    assert all(len(row) == 2 for row in endings.rows)
    assert [row[2:] for row in uses.rows] == [("2", "7"), ("2, 3", "7, 6"), ("2, 3, 4", "7, 6, 5")]
    resistance = card(gather(Configuration("resistance", 5), [5], strict=True), language).pages[0]
    assert "REF-11" not in [t.id for t in resistance.tables]


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(
    "configuration",
    [
        Configuration("avalon", 7, ("lady",), ("merlin", "percival", "assassin", "oberon")),
        Configuration(
            "avalon", 7, ("lady", "targeting"), rulings={"lady_after": "by_space", "fifth_gate": "no_gate"}
        ),
        Configuration("resistance", 5, ("blind_spies",)),
    ],
    ids=str,
)
def test_no_row_is_made_of_dashes_and_no_column_says_the_same_in_every_row(
    configuration: Configuration, language: str
) -> None:
    counts = [configuration.players, configuration.players + 1]
    made = booklet(gather(configuration, counts, strict=True), language)
    for table in (t for page in made.pages for t in page.tables if t.kind == "list"):
        for row in table.rows:
            assert set(row[1:]) - {"–", ""}, (table.id, row)
        for column in range(1, len(table.columns)):
            found = {row[column] for row in table.rows}
            assert len(table.rows) < 3 or len(found) > 1, (table.id, found)


def test_a_ruling_that_was_agreed_on_says_so_and_what_the_books_say() -> None:
    night = gather(Configuration("avalon", 7, rulings={"fifth_team": "no_vote"}), [7], strict=True)
    for made in (booklet(night, "en", {"REF-15"}), card(night, "en")):
        (rows,) = (t.rows for t in made.pages[0].tables if t.id == "REF-15")
        house = [row for row in rows if "agreed here" in row[1]]
        assert [row[:2] for row in house] == [
            (
                "Is the fifth team of a round voted on?",
                "no, it goes without a vote (agreed here; the books' default: "
                "yes, and rejecting it loses the game for good)",
            )
        ]


@pytest.mark.parametrize(("ruling", "within"), [("reset", "in one round"), ("keep", "over the whole game")])
def test_rejected_teams_are_said_to_be_those_of_a_round_or_of_the_game(ruling: str, within: str) -> None:
    night = gather(Configuration("avalon", 7, rulings={"vote_track": ruling}), [7], strict=True)
    (table,) = booklet(night, "en", {"REF-10"}).pages[0].tables
    assert table.rows[0][0] == f"5 teams were rejected {within}"
