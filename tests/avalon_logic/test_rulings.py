"""The open points of the books: for each, the game that tells its readings apart, played under every reading."""

import random

import pytest

from avalon_logic.configuration import Configuration, Refused, examine, load
from avalon_logic.library import open_model
from rules_dsl.play import IllegalMove
from rules_dsl.python import compile_python
from tests.avalon_logic.story import Story

SEATS = ("Ann", "Bob", "Cid", "Dan", "Eve", "Fay", "Gil", "Hal", "Ida", "Jon")


def dealt(*roles: str) -> dict[str, str]:
    """A role for each seat in turn."""
    return dict(zip(SEATS, roles, strict=False))


FIVE = dealt("merlin", "servant", "servant", "assassin", "minion")
SEVEN = dealt("merlin", "servant", "servant", "servant", "assassin", "minion", "minion")
EIGHT = dealt("merlin", "servant", "servant", "servant", "servant", "assassin", "minion", "minion")


def refusal(deal: dict[str, str], *modules: str, **rulings: str) -> tuple[str, ...]:
    """The clauses with which a deck is refused."""
    with pytest.raises(Refused) as refused:
        load(Configuration("avalon", len(deal), modules, tuple(deal.values()), rulings))
    return refused.value.cites


def three_successes(story: Story, *good: str) -> None:
    """Good players alone go on the first three quests."""
    sizes = [
        team[q - 1]
        for team in [{5: (2, 3, 2), 7: (2, 3, 3), 8: (3, 4, 4)}[len(story.names)]]
        for q in (1, 2, 3)
    ]
    for size in sizes:
        story.quest(*good[:size])


@pytest.mark.parametrize(("reading", "mark"), [("space", "won"), ("attempt", "lost")])
def test_amb_01_quest_four_attempted_first_with_one_fail(reading: str, mark: str) -> None:
    story = Story(SEVEN, "Ann", modules=["targeting"], rulings={"fourth_quest": reading})
    story.quest("Ann", "Bob", "Cid", "Eve", fails=["Eve"], quest=4)
    assert story.value("mark") == ("open", "open", "open", mark, "open")


@pytest.mark.parametrize(("reading", "mark"), [("space", "lost"), ("attempt", "won")])
def test_amb_01_another_quest_attempted_fourth_with_one_fail(reading: str, mark: str) -> None:
    story = Story(SEVEN, "Ann", modules=["targeting"], rulings={"fourth_quest": reading})
    story.quest("Ann", "Bob", quest=1)
    story.quest("Ann", "Bob", "Cid", quest=2)
    story.quest("Ann", "Bob", "Eve", "Fay", fails=["Eve", "Fay"], quest=4)
    story.quest("Ann", "Bob", "Eve", fails=["Eve"], quest=3)
    assert story.value("mark") == ("won", "won", mark, "lost", "open")


@pytest.mark.parametrize(
    ("reading", "first", "second"),
    [("free", {1, 2, 3, 4}, {2, 3, 4}), ("from_start", {1, 2, 3, 4, 5}, {2}), ("fixed", {1}, {2})],
)
def test_amb_02_after_the_first_quest_the_leader_wants_the_third(
    reading: str, first: set[int], second: set[int]
) -> None:
    story = Story(FIVE, "Ann", game="avalon_2021", rulings={"quest_order": reading})
    assert story.options() == first
    story.quest("Ann", "Bob", quest=1)
    assert story.options() == second
    if 3 in second:
        story.propose("Ann", "Bob", quest=3)
        return
    with pytest.raises(IllegalMove) as refused:
        story.propose("Ann", "Bob", quest=3)
    assert refused.value.cites == ("AMB-02",)
    with pytest.raises(IllegalMove) as too_few:
        story.propose("Ann", "Bob", quest=2)
    assert too_few.value.cites == ("CORE-11",)


def test_amb_02_in_order_from_a_chosen_start_the_first_quest_follows_the_fifth() -> None:
    story = Story(FIVE, "Ann", game="avalon_2021", rulings={"quest_order": "from_start"})
    story.quest("Ann", "Bob", "Dan", fails=["Dan"], quest=4)
    story.quest("Ann", "Bob", "Cid", quest=5)
    assert story.options() == {1}


@pytest.mark.parametrize(("reading", "legal"), [("two_successes", False), ("no_gate", True)])
def test_amb_03_the_fifth_quest_in_the_first_round(reading: str, legal: bool) -> None:
    story = Story(FIVE, "Ann", game="avalon_2021", rulings={"fifth_gate": reading})
    assert (5 in story.options()) == legal
    if legal:
        story.propose("Ann", "Bob", "Cid", quest=5)
    else:
        with pytest.raises(IllegalMove) as refused:
            story.choose(5)
        assert refused.value.cites == ("TGT-04",)


@pytest.mark.parametrize(("reading", "legal"), [("once", False), ("again", True)])
def test_amb_04_the_first_quest_a_second_time(reading: str, legal: bool) -> None:
    story = Story(FIVE, "Ann", game="avalon_2021", rulings={"repeat_quest": reading})
    story.quest("Ann", "Bob", quest=1)
    assert (1 in story.options()) == legal
    if legal:
        story.propose("Ann", "Bob", quest=1)
    else:
        with pytest.raises(IllegalMove) as refused:
            story.choose(1)
        assert refused.value.cites == ("TGT-03",)


@pytest.mark.parametrize(("reading", "legal"), [("choose_again", True), ("same_quest", False)])
def test_amb_05_another_quest_after_the_team_for_the_third_was_rejected(reading: str, legal: bool) -> None:
    story = Story(EIGHT, "Ann", modules=["targeting"], rulings={"after_rejection": reading})
    story.propose("Ann", "Bob", "Cid", "Dan", quest=3)
    story.vote(reject=SEATS)
    if legal:
        story.propose("Ann", "Bob", "Cid", quest=1)
    else:
        with pytest.raises(IllegalMove) as refused:
            story.choose(1)
        assert refused.value.cites == ("TGT-07",)
        assert story.options() == {3}


def test_amb_05_the_quest_stays_for_the_round_only_even_if_rejections_add_up_over_the_game() -> None:
    rulings = {"after_rejection": "same_quest", "vote_track": "keep"}
    story = Story(EIGHT, "Ann", modules=["targeting"], rulings=rulings)
    story.propose("Ann", "Bob", "Cid", "Dan", quest=3)
    story.vote(reject=SEATS)
    story.quest("Ann", "Bob", "Cid", "Dan", quest=3)
    assert story.value("rejections") == 1
    assert story.options() == {1, 2, 4}


@pytest.mark.parametrize(("reading", "phase"), [("reset", "propose"), ("keep", "over")])
def test_amb_07_four_rejections_a_quest_and_one_more_rejection(reading: str, phase: str) -> None:
    story = Story(FIVE, "Ann", rulings={"vote_track": reading})
    for _ in range(4):
        story.reject()
    story.quest("Ann", "Bob")
    story.reject()
    assert story.phase == phase
    if phase == "over":
        assert story.winner == "evil"
    else:
        assert story.value("rejections") == 1


@pytest.mark.parametrize("reading", ["vote", "no_vote"])
def test_amb_08_the_fifth_team_of_a_round(reading: str) -> None:
    story = Story(FIVE, "Ann", rulings={"fifth_team": reading})
    for _ in range(4):
        story.reject()
    story.propose("Ann", "Bob")
    if reading == "vote":
        story.vote(reject=SEATS)
        assert story.winner == "evil"
    else:
        assert story.phase == "cards", "the quest is played"
        story.cards()
        assert story.value("successes") == 1


def test_amb_11_no_merlin_and_three_successes() -> None:
    plain = dealt("servant", "servant", "servant", "assassin", "minion")
    assert "AMB-11" in refusal(plain)
    at_once = Story(plain, "Ann", rulings={"merlin_in_play": "optional_no_naming"})
    three_successes(at_once, "Ann", "Bob", "Cid")
    assert at_once.winner == "good"
    named = Story(plain, "Ann", rulings={"merlin_in_play": "optional_naming"})
    three_successes(named, "Ann", "Bob", "Cid")
    assert (named.phase, named.chooser) == ("naming", "Dan")
    for victim in named.named_options():
        again = Story(plain, "Ann", rulings={"merlin_in_play": "optional_naming"})
        three_successes(again, "Ann", "Bob", "Cid")
        again.choose(again.seat(victim))
        assert again.winner == "good"


def test_amb_12_the_assassin_has_somebody_to_name_only_with_merlin() -> None:
    optional = {"merlin_in_play": "optional_no_naming"}
    idle = examine(
        Configuration("avalon", 5, (), ("servant", "servant", "servant", "assassin", "minion"), optional)
    )
    assert [(f.severity, f.origin.cites) for f in idle.findings] == [("warning", ("AMB-12",))]
    busy = examine(
        Configuration("avalon", 5, (), ("merlin", "servant", "servant", "assassin", "minion"), optional)
    )
    assert busy.findings == ()


def test_amb_12_merlin_without_assassin() -> None:
    eight = dealt("merlin", "servant", "servant", "servant", "servant", "minion", "minion", "minion")
    assert refusal(eight) == ("AMB-12",)
    story = Story(eight, "Ann", rulings={"merlin_without_killer": "jointly"})
    three_successes(story, "Ann", "Bob", "Cid", "Dan")
    assert [story.names[s] for s in story.awaited.seats] == ["Fay", "Gil", "Hal"]
    story.choose(story.seat("Ann"), by="Gil")
    assert story.winner == "evil"


def test_amb_13_percival_and_morgana_without_merlin() -> None:
    deck = dealt("percival", "servant", "servant", "servant", "morgana", "assassin", "minion")
    optional = {"merlin_in_play": "optional_no_naming"}
    assert refusal(deck, **optional) == ("AMB-13",)
    story = Story(deck, "Ann", rulings={**optional, "percival_without_merlin": "allowed"})
    assert story.shown("Ann") == {"magicians": {"Eve"}}, "his one thumb is surely evil"


def test_amb_14_percival_at_five_players_without_mordred_or_morgana() -> None:
    deck = ("merlin", "percival", "servant", "assassin", "minion")
    assert refusal(dealt(*deck)) == ("ROLE-10",)
    advised = examine(Configuration("avalon", 5, (), deck, {"five_with_percival": "advice"}))
    assert [(f.severity, f.origin.cites) for f in advised.findings] == [("note", ("ROLE-10",))]


def test_amb_14_percival_at_five_players_with_both_mordred_and_morgana() -> None:
    deck = dealt("merlin", "percival", "servant", "mordred", "morgana")
    load(Configuration("avalon", 5, (), tuple(deck.values()), {"killer": "mordred"}))
    assert refusal(deck, killer="mordred", five_either="exactly_one") == ("ROLE-10",)


def test_amb_14_exactly_one_of_mordred_and_morgana_is_one_and_not_none() -> None:
    exactly = {"five_either": "exactly_one"}
    one = ("merlin", "percival", "servant", "assassin", "morgana")
    load(Configuration("avalon", 5, (), one, exactly))
    assert refusal(dealt("merlin", "percival", "servant", "assassin", "minion"), **exactly) == ("ROLE-10",)


@pytest.mark.parametrize(
    ("reading", "seen"), [("raised", {"Eve", "Fay", "Gil"}), ("hidden_from_merlin", {"Eve", "Fay"})]
)
def test_amb_15_merlin_looks_for_oberon(reading: str, seen: set[str]) -> None:
    deal = dealt("merlin", "servant", "servant", "servant", "assassin", "minion", "oberon")
    story = Story(deal, "Ann", rulings={"oberon_thumb": reading})
    assert story.shown("Ann") == {"thumbs": seen}
    assert story.shown("Eve") == {"fellows": {"Fay"}}
    assert story.shown("Gil") == {}


@pytest.mark.parametrize(("reading", "fellows"), [("all_evil", {"Dan"}), ("plain_only", set())])
def test_amb_16_the_minion_looks_for_the_assassin(reading: str, fellows: set[str]) -> None:
    story = Story(FIVE, "Ann", rulings={"called_minions": reading})
    assert story.shown("Eve") == {"fellows": fellows}


@pytest.mark.parametrize(
    ("reading", "namable"),
    [
        ("any_other", {"Ann", "Bob", "Cid", "Dan", "Fay", "Gil"}),
        ("not_known_evil", {"Ann", "Bob", "Cid", "Dan", "Gil"}),
        ("good_only", {"Ann", "Bob", "Cid", "Dan"}),
    ],
)
def test_amb_18_the_assassin_names_oberon(reading: str, namable: set[str]) -> None:
    deal = dealt("merlin", "servant", "servant", "servant", "assassin", "minion", "oberon")
    story = Story(deal, "Ann", rulings={"naming_domain": reading})
    three_successes(story, "Ann", "Bob", "Cid")
    assert story.named_options() == namable
    if "Gil" in namable:
        story.choose(story.seat("Gil"))
        assert story.winner == "good"
        assert story.breaches == [], "he could not know Oberon"
    else:
        with pytest.raises(IllegalMove) as refused:
            story.choose(story.seat("Gil"))
        assert refused.value.cites == ("CORE-33",)


def test_naming_a_player_known_to_be_evil_is_legal_and_remarked_on() -> None:
    deal = dealt("merlin", "servant", "servant", "servant", "assassin", "minion", "oberon")
    for name, remarks in (("Fay", ["CORE-33"]), ("Bob", [])):
        story = Story(deal, "Ann")
        three_successes(story, "Ann", "Bob", "Cid")
        story.choose(story.seat(name))
        assert story.winner == "good"
        assert story.breaches == remarks


@pytest.mark.parametrize(("reading", "uses"), [("not_used", 1), ("used_first", 2)])
def test_amb_22_three_successes_in_a_row_with_the_lady(reading: str, uses: int) -> None:
    story = Story(SEVEN, "Ann", modules=["lady"], rulings={"lady_at_end": reading})
    story.quest("Ann", "Bob")
    story.quest("Ann", "Bob", "Cid")
    story.lady("Ann", "good")
    story.quest("Ann", "Bob", "Cid")
    if uses == 2:
        story.lady("Bob", "good")
    assert story.phase == "naming"
    assert len([o for o in story.seen if o.name == "examined"]) == uses


@pytest.mark.parametrize(("reading", "phase"), [("not_used", "over"), ("used_first", "lady")])
def test_amb_22_three_failures_in_a_row_with_the_lady(reading: str, phase: str) -> None:
    story = Story(SEVEN, "Ann", modules=["lady"], rulings={"lady_at_end": reading})
    story.quest("Ann", "Eve", fails=["Eve"])
    story.quest("Ann", "Bob", "Eve", fails=["Eve"])
    story.lady("Ann", "good")
    story.quest("Ann", "Bob", "Eve", fails=["Eve"])
    assert story.phase == phase


@pytest.mark.parametrize(("reading", "phase"), [("by_order", "propose"), ("by_space", "lady")])
def test_amb_23_the_fourth_quest_is_attempted_first_with_the_lady(reading: str, phase: str) -> None:
    story = Story(SEVEN, "Ann", modules=["lady", "targeting"], rulings={"lady_after": reading})
    story.quest("Ann", "Bob", "Cid", "Dan", quest=4)
    assert story.phase == phase


@pytest.mark.parametrize("reading", ["by_order", "by_space"])
def test_amb_23_in_the_order_of_the_board_both_readings_say_the_same(reading: str) -> None:
    story = Story(SEVEN, "Ann", modules=["lady"], rulings={"lady_after": reading})
    story.quest("Ann", "Bob")
    assert story.phase == "propose"
    story.quest("Ann", "Bob", "Cid")
    assert story.phase == "lady"


def test_the_lady_is_used_three_times_at_most_however_often_a_quest_is_repeated() -> None:
    rulings = {"lady_after": "by_space", "repeat_quest": "again", "lady_at_end": "used_first"}
    story = Story(FIVE, "Ann", modules=["lady", "targeting"], rulings=rulings)
    examined = iter(("Ann", "Bob", "Cid"))
    for fails in ([], ["Dan"], [], ["Dan"], []):
        story.quest("Ann", "Bob", "Dan", fails=fails, quest=2)
        if story.phase == "lady":
            story.lady(next(examined), "good")
    assert story.phase == "naming"
    assert next(examined, None) is None


@pytest.mark.parametrize(
    ("reading", "winner"), [("side_loses", "evil"), ("offender_loses", None), ("nobody_wins", None)]
)
def test_amb_26_a_good_player_passes_the_evil_card(reading: str, winner: str | None) -> None:
    story = Story(SEVEN, "Ann", modules=["lady"], rulings={"wrong_card": reading})
    story.quest("Ann", "Bob")
    story.quest("Ann", "Bob", "Cid")
    story.lady("Bob", "evil")
    assert story.winner == winner
    assert story.value("offender") == story.seat("Bob")


@pytest.mark.parametrize(
    ("reading", "winner"), [("side_loses", "good"), ("offender_loses", None), ("nobody_wins", None)]
)
def test_amb_26_an_evil_player_passes_the_good_card(reading: str, winner: str | None) -> None:
    story = Story(SEVEN, "Ann", modules=["lady"], rulings={"wrong_card": reading})
    story.quest("Ann", "Bob")
    story.quest("Ann", "Bob", "Cid")
    story.lady("Eve", "good")
    assert story.winner == winner
    assert story.value("offender") == story.seat("Eve")


def test_another_evil_role_than_the_assassin_may_be_the_one_who_names() -> None:
    deal = dealt("merlin", "servant", "servant", "servant", "assassin", "minion", "mordred")
    for killer, name in (("assassin", "Eve"), ("mordred", "Gil"), ("minion", "Fay")):
        story = Story(deal, "Ann", rulings={"killer": killer})
        three_successes(story, "Ann", "Bob", "Cid")
        assert (story.phase, story.chooser) == ("naming", name)
        story.choose(story.seat("Ann"))
        assert story.winner == "evil"


def test_a_good_role_cannot_be_the_one_who_names() -> None:
    assert refusal(FIVE, killer="servant") == ("CORE-33",)


ALL = ("percival", "mordred", "morgana", "oberon", "targeting", "lady", "blind_spies")
DECKS = (
    (
        "merlin",
        "percival",
        "servant",
        "servant",
        "servant",
        "servant",
        "assassin",
        "mordred",
        "morgana",
        "oberon",
    ),
    (
        "merlin",
        "percival",
        "servant",
        "servant",
        "servant",
        "servant",
        "assassin",
        "minion",
        "morgana",
        "oberon",
    ),
    ("percival", *("servant",) * 5, "assassin", "mordred", "morgana", "oberon"),
    ("merlin", "percival", "servant", "mordred", "minion"),
)
GAMES = (
    ("avalon", ALL),
    ("avalon_2021", tuple(m for m in ALL if m != "targeting")),
    ("resistance", ("targeting",)),
)
ALTERNATIVES = [
    (game, modules, name, choice)
    for game, modules in GAMES
    for name, param in open_model(game, modules).params.items()
    if param.kind == "ruling"
    for choice, _ in param.alternatives
]


@pytest.mark.parametrize(("game", "modules", "ruling", "choice"), ALTERNATIVES)
def test_every_reading_can_be_played_to_the_end(
    game: str, modules: tuple[str, ...], ruling: str, choice: str
) -> None:
    accepted = []
    for deck in DECKS if game != "resistance" else (None,):
        players = 7 if deck is None else len(deck)
        settled = examine(Configuration(game, players, modules, deck, {ruling: choice}))
        if not settled.errors:
            accepted.append(settled)
    good_roles = ("merlin", "servant", "percival")
    assert bool(accepted) != (ruling == "killer" and choice in good_roles)
    for settled in accepted:
        engine = compile_python(settled.model)
        results = set(engine.simulate(60, random.Random(1)))
        assert results <= {"good", "evil"}
        assert results, "somebody wins"
