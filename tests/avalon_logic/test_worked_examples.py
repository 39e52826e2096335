"""The worked examples of the rulebooks, told as they are told there, on the generated engine and the reference."""

import pytest

from rules_dsl.play import IllegalMove
from tests.avalon_logic.story import Story

FIVE = {
    "William": "merlin",
    "Thomas": "minion",
    "Laura": "servant",
    "Justine": "servant",
    "Éric": "assassin",
}
EIGHT = {
    "Ann": "merlin",
    "Bob": "servant",
    "Cid": "servant",
    "Dan": "servant",
    "Eve": "servant",
    "Fay": "assassin",
    "Gil": "minion",
    "Hal": "minion",
}
LADY_TABLE = {
    "Ann": "merlin",
    "Margaret": "servant",
    "Bob": "servant",
    "Cid": "servant",
    "Dan": "assassin",
    "Eve": "minion",
    "Don": "minion",
}


def test_ex_01_william_leads_and_takes_thomas_on_the_first_quest() -> None:
    story = Story(FIVE, "William")
    assert story.chooser == "William"
    assert all(len(team) == 2 for team in story.options())  # type: ignore[arg-type]
    story.propose("William", "Thomas")
    assert story.phase == "vote"
    assert story.value("team") == frozenset({0, 1})


def test_ex_01_three_players_are_too_many_for_the_first_quest() -> None:
    story = Story(FIVE, "William")
    with pytest.raises(IllegalMove) as refused:
        story.propose("William", "Thomas", "Laura")
    assert refused.value.cites == ("CORE-11",)


def test_ex_02_four_approve_and_justine_rejects_so_the_team_goes() -> None:
    story = Story(FIVE, "William")
    story.propose("William", "Thomas")
    story.vote(reject=["Justine"])
    assert story.phase == "cards"
    assert story.awaited.seats == (story.seat("William"), story.seat("Thomas"))
    for name in story.names:
        assert story.knows(name, "approve") == [True, True, True, False, True]


def test_ex_03_thomas_fails_the_first_quest_and_nobody_learns_that_it_was_he() -> None:
    story = Story(FIVE, "William")
    story.propose("William", "Thomas")
    story.vote(reject=["Justine"])
    story.cards(fails=["Thomas"])
    assert story.value("fails") == 1
    assert story.value("failures") == 1
    assert story.value("successes") == 0
    assert story.value("mark") == ("lost", "open", "open", "open", "open")
    assert story.chooser == "Thomas", "the seat to the left of William leads next"
    assert story.knows("William", "card") == ["success"]
    assert story.knows("Laura", "card") == []


def _until_the_third_success() -> Story:
    """Two quests fail, three succeed, the fifth of them last."""
    story = Story(FIVE, "William")
    story.quest("William", "Thomas", fails=["Thomas"])
    story.quest("William", "Laura", "Justine")
    story.quest("William", "Laura")
    story.quest("William", "Laura", "Éric", fails=["Éric"])
    story.quest("William", "Laura", "Justine")
    return story


def test_ex_04_eric_names_laura_and_good_wins() -> None:
    story = _until_the_third_success()
    assert (story.phase, story.chooser) == ("naming", "Éric")
    story.choose(story.seat("Laura"))
    assert story.winner == "good"


def test_ex_05_eric_names_william_and_evil_wins() -> None:
    story = _until_the_third_success()
    story.choose(story.seat("William"))
    assert story.winner == "evil"


def test_ex_06_the_first_leader_of_eight_picks_the_third_quest_with_four_players() -> None:
    story = Story(EIGHT, "Ann", modules=["targeting"])
    story.choose(3)
    assert story.value("target") == 3
    assert story.phase == "propose", "the quest is on the table before the vote"
    story.propose("Ann", "Bob", "Cid", "Dan")
    assert story.phase == "vote"


def test_ex_06_three_players_are_too_few_for_the_third_quest() -> None:
    story = Story(EIGHT, "Ann", modules=["targeting"])
    with pytest.raises(IllegalMove) as refused:
        story.propose("Ann", "Bob", "Cid", quest=3)
    assert refused.value.cites == ("CORE-11",)


def _don_holds_the_lady() -> Story:
    """The first quest succeeds, the second fails."""
    story = Story(LADY_TABLE, "Ann", modules=["lady"])
    assert story.value("holder") == story.seat("Don"), "the seat to the right of the first leader"
    story.quest("Ann", "Margaret")
    story.quest("Ann", "Margaret", "Eve", fails=["Eve"])
    return story


def test_ex_07_don_examines_margaret_and_she_may_examine_all_but_herself_and_don() -> None:
    story = _don_holds_the_lady()
    assert (story.phase, story.chooser) == ("lady", "Don")
    story.choose(story.seat("Margaret"))
    assert story.chooser == "Margaret", "the examined player passes the card"
    story.choose("good")
    assert story.knows("Don", "loyalty") == ["good"]
    assert all(story.knows(n, "loyalty") == [] for n in story.names if n not in ("Don", "Margaret"))
    assert story.value("holder") == story.seat("Margaret")
    story.quest("Ann", "Bob", "Cid")
    assert (story.phase, story.chooser) == ("lady", "Margaret")
    assert story.named_options() == set(story.names) - {"Margaret", "Don"}
    with pytest.raises(IllegalMove) as refused:
        story.choose(story.seat("Don"))
    assert "LADY-03" in refused.value.cites


def test_ex_07_what_don_says_about_margaret_is_free() -> None:
    assert [
        name for name, _ in Story(LADY_TABLE, "Ann", modules=["lady"]).model.speeches["says"].parameters
    ] == [
        "by",
        "about",
        "value",
    ]


def test_ex_08_margaret_passes_the_wrong_card_and_her_side_loses() -> None:
    story = _don_holds_the_lady()
    story.lady("Margaret", "evil")
    assert story.winner == "evil"
    assert "LADY-05" in story.breaches
    assert story.value("offender") == story.seat("Margaret")


RESISTANCE = dict.fromkeys(("Paul", "Michael", "Candice"), "resistance") | dict.fromkeys(
    ("Ian", "Ralph"), "spy"
)


def test_ex_18_with_one_success_the_fifth_mission_is_closed_and_with_two_it_is_open() -> None:
    story = Story(RESISTANCE, "Paul", game="resistance", modules=["targeting"])
    story.quest("Paul", "Michael", quest=1)
    assert story.value("successes") == 1
    assert 5 not in story.options()
    with pytest.raises(IllegalMove) as refused:
        story.choose(5)
    assert refused.value.cites == ("TGT-04",)
    story.quest("Paul", "Michael", "Candice", quest=2)
    assert 5 in story.options()
    story.choose(5)


def test_ex_20_three_against_three_is_a_rejection_and_the_next_seat_leads() -> None:
    six = {**FIVE, "Ann": "servant"}
    story = Story(six, "William")
    story.propose("William", "Thomas")
    story.vote(reject=["Laura", "Justine", "Ann"])
    assert story.value("rejections") == 1
    assert (story.phase, story.chooser) == ("propose", "Thomas")
