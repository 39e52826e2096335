"""What a table plays when nobody decides anything: the default of every ruling, and which table is which."""

from __future__ import annotations

import pytest

from avalon_logic.configuration import Configuration, load
from avalon_logic.library import open_model
from rules_dsl.model import Literal
from tests.avalon_logic.story import Story

ROLES = ("lady", "percival", "mordred", "morgana", "oberon")

# the first reading of each open point is the one the books favour
DEFAULTS = {
    "fourth_quest": "space",  # AMB-01
    "quest_order": "free",  # AMB-02
    "fifth_gate": "two_successes",  # AMB-03
    "repeat_quest": "once",  # AMB-04
    "after_rejection": "choose_again",  # AMB-05
    "vote_track": "reset",  # AMB-07
    "fifth_team": "vote",  # AMB-08
    "merlin_in_play": "always",  # AMB-11
    "merlin_without_killer": "refused",  # AMB-12
    "percival_without_merlin": "refused",  # AMB-13
    "five_with_percival": "rule",  # AMB-14
    "five_either": "at_least_one",  # AMB-14
    "oberon_thumb": "raised",  # AMB-15
    "called_minions": "all_evil",  # AMB-16
    "naming_domain": "any_other",  # AMB-18
    "lady_at_end": "not_used",  # AMB-22
    "lady_after": "by_order",  # AMB-23
    "wrong_card": "side_loses",  # AMB-26
    "killer": "assassin",  # CORE-33
}


@pytest.mark.parametrize(("ruling", "default"), DEFAULTS.items())
def test_an_open_point_is_decided_as_the_books_favour(ruling: str, default: str) -> None:
    chosen = open_model("avalon_2021", ROLES).params[ruling].default
    assert isinstance(chosen, Literal)
    assert chosen.value == default


def test_the_lady_is_used_once_in_a_game_of_three_successes() -> None:
    deal = dict.fromkeys(("Ann", "Bob", "Cid", "Dan"), "servant") | {"Ann": "merlin"}
    deal |= {"Eve": "assassin", "Fay": "minion", "Gil": "minion"}
    story = Story(deal, "Ann", modules=["lady"])
    story.quest("Ann", "Bob")
    story.quest("Ann", "Bob", "Cid")
    story.lady("Ann", "good")
    story.quest("Ann", "Bob", "Cid")
    assert story.phase == "naming"


# T1 and T2, cell by cell
SIDES = {5: (3, 2), 6: (4, 2), 7: (4, 3), 8: (5, 3), 9: (6, 3), 10: (6, 4)}
SIZES = {
    5: (2, 3, 2, 3, 3),
    6: (2, 3, 4, 3, 4),
    7: (2, 3, 3, 4, 4),
    8: (3, 4, 4, 5, 5),
    9: (3, 4, 4, 5, 5),
    10: (3, 4, 4, 5, 5),
}


@pytest.mark.parametrize("players", SIDES)
def test_the_deck_has_the_sides_of_the_book(players: int) -> None:
    table = load(Configuration("resistance", players))
    deck = dict(zip(table.model.enums["Role"].members, table.params["deck"], strict=True))  # type: ignore[arg-type]
    assert (deck["resistance"], deck["spy"]) == SIDES[players]


@pytest.mark.parametrize("players", SIZES)
def test_the_teams_have_the_sizes_of_the_book(players: int) -> None:
    good, evil = SIDES[players]
    names = [f"seat {i}" for i in range(1, players + 1)]
    story = Story(
        dict(zip(names, ["resistance"] * good + ["spy"] * evil, strict=True)), names[0], game="resistance"
    )
    for number, size in enumerate(SIZES[players], 1):
        assert {len(team) for team in story.options()} == {size}  # type: ignore[arg-type]
        spies = names[-evil:]
        lose = number % 2 == 0
        need = 2 if players >= 7 and number == 4 else 1
        team = [*spies[:need], *names][:size] if lose else names[:size]
        story.quest(*team, fails=spies[:need] if lose else [])
        if story.phase == "over":
            break
    assert number == 5
