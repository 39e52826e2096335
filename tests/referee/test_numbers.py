"""The numbers on the tables are those of the books, for every number of players: compared with a copy made by hand."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import pytest

from avalon_logic.configuration import Configuration
from avalon_logic.referee.booklet import booklet, facts_of, gather
from tests.referee import books

GAMES = ("avalon", "resistance", "avalon_2021")


@cache
def data(configuration: Configuration, table: str) -> Any:
    """A table's data, without words."""
    night = gather(configuration, [configuration.players], strict=True)
    made = booklet(night, "en", {table})
    (found,) = [t for page in made.pages for t in page.tables]
    return found.data


def table(game: str, n: int, id: str, *modules: str, **rulings: str) -> Any:
    return data(_Key(game, n, tuple(modules), None, rulings), id)


class _Key(Configuration):
    def __hash__(self) -> int:
        return hash(self.key())


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("n", books.COUNTS)
def test_sides_and_deals_are_those_of_the_books(game: str, n: int) -> None:
    found = table(game, n, "REF-01")
    assert found["sides"] == {"good": books.GOOD[n], "evil": books.EVIL[n]}
    deals = books.RESISTANCE_DEALS if game == "resistance" else books.AVALON_DEALS
    assert found["deals"] == deals[n]
    assert sum(found["deck"].values()) == n


def test_the_number_of_deals_is_the_number_the_engine_would_deal() -> None:
    facts = facts_of(Configuration("avalon", 6, roles=("merlin", "percival", "assassin", "morgana")))
    start = facts.stage.engine.start().state
    assert facts.deals == sum(1 for _ in facts.stage.options(start))


@pytest.mark.parametrize("n", books.COUNTS)
def test_the_lady_starts_to_the_right_of_the_first_leader(n: int) -> None:
    assert table("avalon", n, "REF-01", "lady")["tokens"] == {"holder": n - 1}


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("n", books.COUNTS)
def test_team_sizes_and_fails_needed_are_those_of_the_books(game: str, n: int) -> None:
    found = table(game, n, "REF-02")
    assert tuple(found["sizes"].values()) == books.SIZES[n]
    assert found["fails_by"] == "quest"
    assert found["fails_needed"] == {str(q): [k] for q, k in enumerate(books.NEEDED[n], 1)}


@pytest.mark.parametrize("n", books.COUNTS)
def test_two_fails_can_go_with_the_fourth_quest_in_order(n: int) -> None:
    found = table("avalon_2021", n, "REF-02", fourth_quest="attempt")
    assert found["fails_needed"] == {str(k): [need] for k, need in enumerate(books.NEEDED[n], 1)}
    assert found["fails_by"] == ("attempt" if n >= 7 else "quest")


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("n", books.COUNTS)
def test_votes_needed_are_those_of_the_books(game: str, n: int) -> None:
    found = table(game, n, "REF-03")
    assert found == {
        "approvals": books.APPROVALS[n],
        "rejections": books.BLOCKING[n],
        "good_votes": books.HELP_NEEDED[n],
        "rejected_teams": 5,
        "winner": "evil",
        "counted_anew": True,
        "unvoted": [],
    }


def test_a_fifth_team_may_go_without_a_vote() -> None:
    found = table("avalon", 5, "REF-03", fifth_team="no_vote")
    assert (found["rejected_teams"], found["winner"], found["unvoted"]) == (None, None, [5])


def test_rejections_may_be_counted_over_the_whole_game() -> None:
    assert table("avalon", 5, "REF-03", vote_track="keep")["counted_anew"] is False


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("n", books.COUNTS)
def test_results_follow_the_number_of_fails(game: str, n: int) -> None:
    found = table(game, n, "REF-07")
    for quest, (size, need) in enumerate(zip(books.SIZES[n], books.NEEDED[n], strict=True), 1):
        (group,) = [g for g in found["groups"] if quest in g["which"]]
        most = min(size, books.EVIL[n])
        assert group["results"][: most + 1] == ["lost" if k >= need else "won" for k in range(most + 1)]
    assert found["evil_aboard"] == list(range(len(found["evil_aboard"])))
    assert len(found["evil_aboard"]) == 1 + max(min(s, books.EVIL[n]) for s in books.SIZES[n])


@pytest.mark.parametrize("n", books.COUNTS)
def test_the_lady_is_used_after_the_second_third_and_fourth_quest(n: int) -> None:
    assert table("avalon", n, "REF-11", "lady") == [
        {"quests": 3, "after": [2], "options": [n - 1]},
        {"quests": 4, "after": [2, 3], "options": [n - 1, n - 2]},
        {"quests": 5, "after": [2, 3, 4], "options": [n - 1, n - 2, n - 3]},
    ]


def test_the_lady_may_be_used_before_a_decided_game_ends() -> None:
    found = table("avalon", 7, "REF-11", "lady", lady_at_end="used_first")
    assert [row["after"] for row in found] == [[2, 3], [2, 3, 4], [2, 3, 4]]


@pytest.mark.parametrize("game", ["avalon", "resistance"])
@pytest.mark.parametrize("n", [5, 8, 10])
def test_the_fifth_quest_opens_with_two_successes(game: str, n: int) -> None:
    found = table(game, n, "REF-12", "targeting")
    assert found["rows"] == [
        {"when": [0], "open": [1, 2, 3, 4]},
        {"when": [1], "open": [1, 2, 3, 4]},
        {"when": [2], "open": [1, 2, 3, 4, 5]},
    ]
    assert (found["by"], found["again"], found["kept_after_rejection"]) == ("successes", False, False)


@pytest.mark.parametrize(
    ("ruling", "choice", "expected"),
    [
        ("fifth_gate", "no_gate", {"by": "successes", "open at the start": [1, 2, 3, 4, 5]}),
        ("repeat_quest", "again", {"by": "successes", "again": True}),
        ("after_rejection", "same_quest", {"by": "successes", "kept_after_rejection": True}),
    ],
)
def test_open_quests_follow_the_rulings(ruling: str, choice: str, expected: dict[str, object]) -> None:
    found = table("resistance", 5, "REF-12", "targeting", **{ruling: choice})
    found["open at the start"] = found["rows"][0]["open"]
    assert {key: found[key] for key in expected} == expected


def test_quests_in_a_fixed_order_are_open_one_by_one() -> None:
    found = table("avalon_2021", 5, "REF-12", quest_order="fixed")
    assert found["by"] == "order"
    assert [row["open"] for row in found["rows"]] == [[1], [2], [3], [4], [5]]


def test_quests_from_a_chosen_start_depend_on_what_was_attempted() -> None:
    found = table("avalon_2021", 5, "REF-12", quest_order="from_start")
    assert found["by"] == "score"
    after_the_fourth = [row["open"] for row in found["rows"] if row["when"][1:] == [4]]
    assert after_the_fourth
    assert all(row == [5] for row in after_the_fourth)


ENDINGS = {
    "resistance": {("rejected", "evil"), ("finish", "evil"), ("triumph", "good")},
    "avalon": {("rejected", "evil"), ("finish", "evil"), ("naming", "evil"), ("naming", "good")},
}


@pytest.mark.parametrize("game", ["resistance", "avalon"])
@pytest.mark.parametrize("n", books.COUNTS)
def test_the_game_ends_in_the_ways_the_books_give(game: str, n: int) -> None:
    found = table(game, n, "REF-10")
    assert {(row["phase"], row["winner"]) for row in found} == ENDINGS[game]
    numbers = {(row["phase"], row["winner"]): row["numbers"] for row in found}
    assert numbers["rejected", "evil"]["rejections"] == 5
    assert numbers["finish", "evil"]["failures"] == 3
    third = ("triumph", "good") if game == "resistance" else ("naming", "good")
    assert numbers[third]["successes"] == 3


def test_only_the_assassin_names_and_only_merlin_is_hit() -> None:
    rows = {(row["phase"], row["winner"]): row["roles"] for row in table("avalon", 9, "REF-10")}
    assert rows["naming", "evil"] == {"victim": ["merlin"], "victim_by": ["assassin"]}
    assert "merlin" not in rows["naming", "good"]["victim"]


def test_a_wrong_loyalty_card_loses_for_its_side() -> None:
    rows = {
        row["winner"]: row["roles"]["examined"]
        for row in table("avalon", 7, "REF-10", "lady")
        if row["phase"] == "lady"
    }
    assert rows == {"evil": ["merlin", "servant"], "good": ["assassin", "minion"]}


def test_without_merlin_good_wins_with_the_third_success() -> None:
    configuration = _Key("avalon", 5, (), (), {"merlin_in_play": "optional_no_naming"})
    found = data(configuration, "REF-10")
    assert {(row["phase"], row["winner"]) for row in found} == ENDINGS["resistance"]


def test_good_players_must_play_success_and_evil_players_need_not() -> None:
    phases = {p["phase"]: p for p in table("avalon", 7, "REF-06")}
    (cards,) = phases["cards"]["actions"]
    assert cards["legal"] == {
        "merlin": ["success"],
        "servant": ["success"],
        "assassin": ["success", "fail"],
        "minion": ["success", "fail"],
    }
    assert cards["seen_by"] == "hidden"
    assert phases["vote"]["next"] == ["cards", "rejected"]
    assert phases["rejected"]["ends"] is True


def test_a_changed_rulebook_changes_the_tables(tmp_path: Path) -> None:
    book = tmp_path / "harsh.rules"
    book.write_text(
        'game harsh "Harsh" extends avalon {\n  override def fails_needed = if players == 5 then 2 else 1\n}\n'
    )
    for n, need in ((5, 2), (7, 1)):
        night = gather(Configuration("harsh", n, paths=(book,)), [n], strict=True)
        (found,) = booklet(night, "en", {"REF-02"}).pages[0].tables
        assert found.rows[1] == ("Fails needed", *[str(need)] * 5)
