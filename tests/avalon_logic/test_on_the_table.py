"""What lies open on the table, what stays hidden, and who sees whom at the reveal: one table for each."""

from __future__ import annotations

from rules_dsl import reference
from tests.avalon_logic.story import Story

SPIES = {"Ann": "resistance", "Bob": "spy", "Cid": "resistance", "Dan": "spy", "Eve": "resistance"}
TEN = {
    "Ann": "merlin",
    "Bob": "percival",
    "Cid": "servant",
    "Dan": "servant",
    "Eve": "servant",
    "Fay": "servant",
    "Gil": "assassin",
    "Hal": "morgana",
    "Ida": "mordred",
    "Jon": "oberon",
}


def open_to(story: Story, name: str | None) -> set[str]:
    """The variables a player, or a spectator, can look at."""
    return set(reference.visible(story.model, story.state, None if name is None else story.seat(name)))


def test_everything_about_teams_votes_and_scores_lies_open() -> None:
    story = Story(SPIES, "Ann", game="resistance", modules=["targeting"])
    table = {"leader", "rejections", "successes", "failures", "mark", "team", "approve", "fails", "target"}
    assert open_to(story, None) >= table
    assert "role" not in open_to(story, None)
    assert "card" not in open_to(story, None)
    assert open_to(story, "Ann") >= table | {"role"}


def test_the_lady_and_those_who_used_her_lie_open_but_the_loyalty_card_does_not() -> None:
    story = Story(TEN, "Ann", modules=["lady"])
    assert {"holder", "past_holders", "offender", "examined", "last_quest"} <= open_to(story, None)
    assert "loyalty" not in open_to(story, None)


def test_the_order_of_the_quests_lies_open() -> None:
    story = Story(TEN, "Ann", game="avalon_2021")
    assert {"start_quest", "round_quest", "target", "victim"} <= open_to(story, None)


def test_spies_see_each_other_and_nobody_else_sees_anything() -> None:
    story = Story(SPIES, "Ann", game="resistance")
    assert story.shown("Bob") == {"fellows": {"Dan"}}
    assert story.shown("Dan") == {"fellows": {"Bob"}}
    assert all(story.shown(name) == {} for name in ("Ann", "Cid", "Eve"))


def test_isolated_spies_see_nobody() -> None:
    story = Story(SPIES, "Ann", game="resistance", modules=["blind_spies"])
    assert all(story.shown(name) == {} for name in SPIES)


def test_who_sees_whom_when_everybody_is_there() -> None:
    story = Story(TEN, "Ann")
    assert story.shown("Ann") == {"thumbs": {"Gil", "Hal", "Jon"}}
    assert story.shown("Bob") == {"magicians": {"Ann", "Hal"}}
    assert story.shown("Gil") == {"fellows": {"Hal", "Ida"}}
    assert story.shown("Hal") == {"fellows": {"Gil", "Ida"}}
    assert story.shown("Ida") == {"fellows": {"Gil", "Hal"}}
    assert all(story.shown(name) == {} for name in ("Cid", "Dan", "Eve", "Fay", "Jon"))


def test_votes_cards_and_names_are_seen_by_those_they_are_meant_for() -> None:
    story = Story(SPIES, "Ann", game="resistance")
    story.propose("Ann", "Bob")
    story.vote(reject=["Eve"])
    story.cards(fails=["Bob"])
    for name in SPIES:
        assert story.knows(name, "team") == [frozenset({0, 1})]
        assert story.knows(name, "approve") == [True, True, True, True, False]
    assert story.knows("Bob", "card") == ["fail"]
    assert story.knows("Ann", "card") == ["success"]
    assert story.knows("Dan", "card") == []


def test_everybody_hears_who_is_named() -> None:
    story = Story(TEN, "Ann")
    story.quest("Ann", "Bob", "Cid")
    story.quest("Ann", "Bob", "Cid", "Dan")
    story.quest("Ann", "Bob", "Cid", "Dan")
    assert story.chooser == "Gil"
    story.choose(story.seat("Bob"))
    assert story.winner == "good"
    assert all(story.knows(name, "victim") == [story.seat("Bob")] for name in TEN)


def test_nobody_looks_round_again_after_the_reveal() -> None:
    story = Story(SPIES, "Ann", game="resistance")
    story.quest("Ann", "Cid")
    story.quest("Ann", "Cid", "Eve")
    assert [o.phase for o in story.seen if o.kind == "phase"].count("reveal") == 1
    assert [o.value for o in story.seen if o.kind == "shown" and o.seat == story.seat("Bob")] == [
        frozenset({story.seat("Dan")})
    ]
