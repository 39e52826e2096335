"""The hand-written engine tells the worked examples of the rules and keeps the laws that were proved of them."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from itertools import combinations
from random import Random

import pytest

from .plain_engine import (
    EVIL_COUNT,
    QUESTS,
    Game,
    IllegalMove,
    Sight,
    avalon_deck,
    deal,
    fails_needed,
    play_random,
    play_random_move,
    resistance_deck,
    reveal,
)

WILLIAM, THOMAS, LAURA, JUSTINE, ERIC = range(5)
EXAMPLE_ROLES = ("merlin", "minion", "servant", "servant", "assassin")


def refused(game: Game, clause: str, move: Callable[[Game], None]) -> None:
    """The move breaks exactly this clause and changes nothing."""
    before = deepcopy(game)
    with pytest.raises(IllegalMove) as error:
        move(game)
    assert error.value.clause == clause
    assert game == before


def play_quest(game: Game, fails: int, quest: int | None = None) -> None:
    """Approve a team with just enough evil players aboard and show this many Fail cards."""
    chosen = quest if quest is not None else game.legal_quests()[0]
    evil = [seat for seat in range(game.players) if game.side(seat) == "evil"]
    good = [seat for seat in range(game.players) if game.side(seat) == "good"]
    saboteurs = evil[:fails]
    game.propose(saboteurs + good[: game.team_size(chosen) - fails], quest)
    if game.phase == "vote":
        game.vote([True] * game.players)
    game.play_cards({seat: "fail" if seat in saboteurs else "success" for seat in game.team})


def reject(game: Game, times: int) -> None:
    """Vote this many teams down."""
    for _ in range(times):
        quest = game.legal_quests()[0]
        game.propose(range(game.team_size(quest)), quest if game.targeting else None)
        game.vote([False] * game.players)


def test_william_leads_himself_and_thomas_on_the_first_quest_and_thomas_fails_it() -> None:  # EX-01..03
    game = Game(EXAMPLE_ROLES, leader=WILLIAM)
    refused(game, "CORE-11", lambda g: g.propose([WILLIAM]))
    refused(game, "CORE-11", lambda g: g.propose([WILLIAM, THOMAS, LAURA]))
    refused(game, "CORE-13", lambda g: g.propose([WILLIAM, WILLIAM]))
    refused(game, "CORE-14", lambda g: g.propose([WILLIAM, THOMAS], quest=3))
    game.propose([WILLIAM, THOMAS])
    game.vote([True, True, True, False, True])
    assert game.phase == "cards"
    refused(game, "CORE-22", lambda g: g.play_cards({WILLIAM: "fail", THOMAS: "fail"}))
    refused(game, "CORE-21", lambda g: g.play_cards({WILLIAM: "success", LAURA: "success"}))
    game.play_cards({WILLIAM: "success", THOMAS: "fail"})
    assert (game.fails, game.failures, game.marks[0]) == (1, 1, "failure")
    assert (game.leader, game.quest, game.phase) == (THOMAS, 2, "propose")


@pytest.mark.parametrize(("named", "winner"), [(LAURA, "good"), (WILLIAM, "evil"), (THOMAS, "good")])
def test_eric_names_his_merlin_after_the_fifth_quest(named: int, winner: str) -> None:  # EX-04, EX-05
    game = Game(EXAMPLE_ROLES, leader=WILLIAM)
    for fails in (1, 0, 1, 0, 0):
        assert game.phase == "propose"
        play_quest(game, fails)
    assert (game.phase, game.successes, game.winner) == ("assassinate", 3, None)
    assert game.legal_victims() == [WILLIAM, THOMAS, LAURA, JUSTINE]
    refused(game, "CORE-33", lambda g: g.assassinate(ERIC))
    refused(game, "CORE-11", lambda g: g.propose([WILLIAM, THOMAS]))
    game.assassinate(named)
    assert (game.phase, game.winner) == ("over", winner)


def test_three_successes_end_the_resistance_without_a_naming() -> None:
    game = Game(resistance_deck(6), leader=5)
    for _ in range(3):
        play_quest(game, 0)
    assert (game.phase, game.winner, game.log[-1]["clause"]) == ("over", "good", "CORE-30")


def test_three_failures_end_the_game_for_evil() -> None:
    game = Game(EXAMPLE_ROLES, leader=WILLIAM)
    for _ in range(3):
        play_quest(game, 1)
    assert (game.phase, game.winner, game.marks[3:]) == ("over", "evil", ["open", "open"])


def test_the_first_leader_of_eight_may_pick_the_third_quest_with_four_players() -> None:  # EX-06
    game = Game(avalon_deck(8), leader=0, targeting=True)
    assert game.legal_quests() == [1, 2, 3, 4]
    refused(game, "TGT-01", lambda g: g.propose([0, 1, 2, 3]))
    refused(game, "CORE-11", lambda g: g.propose([0, 1, 2], quest=3))
    game.propose([0, 1, 2, 3], quest=3)
    assert (game.phase, game.quest) == ("vote", 3)
    game.vote([False] * 8)
    assert (game.quest, game.leader) == (None, 1)
    game.propose([0, 1, 2], quest=1)
    assert game.quest == 1


def test_mission_five_opens_with_the_second_success() -> None:  # EX-18
    game = Game(resistance_deck(5), leader=0, targeting=True)
    play_quest(game, 0, quest=2)
    refused(game, "TGT-04", lambda g: g.propose([0, 1, 2], quest=5))
    refused(game, "TGT-03", lambda g: g.propose([0, 1, 2], quest=2))
    play_quest(game, 0, quest=4)
    play_quest(game, 1, quest=5)
    assert game.marks == ["open", "success", "open", "success", "failure"]


def test_one_fail_does_not_fail_quest_four_of_seven_whenever_it_is_attempted() -> None:
    game = Game(avalon_deck(7), leader=0, targeting=True)
    play_quest(game, 1, quest=4)
    play_quest(game, 1, quest=1)
    assert (game.marks[3], game.marks[0]) == ("success", "failure")
    six = Game(avalon_deck(6), leader=0, targeting=True)
    play_quest(six, 1, quest=4)
    assert six.marks[3] == "failure"


def lady_at_quest_two() -> Game:
    """Seven seats; Don (seat 6, evil) sits right of the first leader; Margaret is seat 2, good."""
    roles = ("merlin", "servant", "servant", "servant", "assassin", "minion", "minion")
    game = Game(roles, leader=0, with_lady=True)
    play_quest(game, 0)
    assert game.phase == "propose"
    play_quest(game, 1)
    return game


def test_don_examines_margaret_and_she_may_not_examine_him_in_turn() -> None:  # EX-07
    game = lady_at_quest_two()
    assert (game.phase, game.holder, game.legal_targets()) == ("lady", 6, [0, 1, 2, 3, 4, 5])
    refused(game, "CORE-11", lambda g: g.propose([0, 1, 2]))
    refused(game, "LADY-03", lambda g: g.lady(6))
    game.lady(2)
    assert game.legal_answers() == ["good"]
    game.answer("good")
    assert (game.phase, game.holder, game.past_holders) == ("propose", 2, [6])
    assert not any("good" in entry.values() for entry in game.log), "the answer is no public matter"
    play_quest(game, 0)
    assert (game.phase, game.legal_targets()) == ("lady", [0, 1, 3, 4, 5])
    refused(game, "LADY-03", lambda g: g.lady(6))


@pytest.mark.parametrize(("target", "wrong", "winner"), [(2, "evil", "evil"), (4, "good", "good")])
def test_the_wrong_loyalty_card_loses_for_the_side_of_the_player_who_passes_it(  # EX-08
    target: int, wrong: str, winner: str
) -> None:
    game = lady_at_quest_two()
    game.lady(target)
    game.answer("evil" if wrong == "evil" else "good")
    assert (game.phase, game.winner, game.log[-1]["clause"]) == ("over", winner, "LADY-05")


def test_no_lady_once_the_quests_are_decided() -> None:
    game = Game(avalon_deck(7), leader=0, with_lady=True)
    play_quest(game, 0)
    play_quest(game, 0)
    game.lady(3)
    game.answer(game.legal_answers()[0])
    play_quest(game, 0)
    assert game.phase == "assassinate"


def test_a_tie_of_six_rejects_and_passes_the_lead_to_the_left() -> None:  # EX-20
    game = Game(avalon_deck(6), leader=5)
    game.propose([0, 1])
    refused(game, "CORE-15", lambda g: g.vote([True] * 5))
    game.vote([True, True, True, False, False, False])
    assert (game.phase, game.rejections, game.leader, game.quest) == ("propose", 1, 0, 1)


def test_the_fifth_rejection_of_a_round_loses_and_no_naming_follows() -> None:
    game = Game(avalon_deck(5), leader=0)
    reject(game, 4)
    play_quest(game, 0)
    assert (game.rejections, game.phase) == (0, "propose")
    reject(game, 4)
    assert game.phase == "propose"
    reject(game, 1)
    assert game.log[-1] == {"event": "over", "winner": "evil", "clause": "CORE-19"}


def test_rejections_of_earlier_rounds_count_where_the_table_keeps_counting() -> None:  # AMB-07 (b)
    game = Game(avalon_deck(5), leader=0, keep_counting=True)
    reject(game, 4)
    play_quest(game, 0)
    reject(game, 1)
    assert game.winner == "evil"


def test_the_fifth_team_goes_without_a_vote_where_the_table_plays_so() -> None:  # AMB-08 (b)
    game = Game(avalon_deck(5), leader=0, fifth_without_vote=True)
    reject(game, 4)
    game.propose([3, 4])
    assert (game.phase, game.leader) == ("cards", 4)
    refused(game, "CORE-15", lambda g: g.vote([True] * 5))
    game.play_cards({3: "fail", 4: "success"})
    assert (game.failures, game.rejections, game.leader) == (1, 0, 0)


def test_the_tables_read_by_quest_as_the_board_prints_them() -> None:  # T1, T2, T3
    by_quest = {1: "222333", 2: "333444", 3: "243444", 4: "334555", 5: "344555"}
    for column, players in enumerate(range(5, 11)):
        game = Game(avalon_deck(players), leader=0)
        assert [game.team_size(quest) for quest in QUESTS] == [int(by_quest[q][column]) for q in QUESTS]
        assert sum(game.side(seat) == "good" for seat in range(players)) == (3, 4, 4, 5, 6, 6)[column]
        needed = [fails_needed(players, quest) for quest in QUESTS]
        assert needed == ([1, 1, 1, 2, 1] if players >= 7 else [1] * 5)


def test_who_sees_whom_at_ten_with_every_role() -> None:
    roles = ("merlin", "percival", "servant", "servant", "servant", "servant", "assassin", "mordred")
    sights = reveal((*roles, "morgana", "oberon"))
    assert sights[0] == Sight(evil=frozenset({6, 8, 9}))
    assert sights[1] == Sight(percival=frozenset({0, 8}))
    assert sights[2:6] == [Sight()] * 4
    assert sights[6:9] == [Sight(evil=frozenset({6, 7, 8} - {seat})) for seat in (6, 7, 8)]
    assert sights[9] == Sight()
    assert reveal(resistance_deck(5)) == [Sight()] * 3 + [
        Sight(evil=frozenset({4})),
        Sight(evil=frozenset({3})),
    ]


@pytest.mark.parametrize(
    ("roles", "clause"),
    [
        (("merlin", "servant", "servant", "assassin"), "CORE-01"),
        (("merlin", "servant", "servant", "servant", "assassin"), "CORE-02"),
        (("merlin", "servant", "servant", "minion", "minion"), "AMB-12"),
        (("merlin", "servant", "servant", "assassin", "jester"), "CORE-03"),
    ],
)
def test_a_deck_the_rules_refuse_cannot_be_dealt(roles: tuple[str, ...], clause: str) -> None:
    with pytest.raises(IllegalMove) as error:
        Game(roles, leader=0)
    assert error.value.clause == clause


def test_another_evil_card_may_be_given_the_naming() -> None:
    game = Game(("merlin", "percival", "servant", "mordred", "morgana"), leader=0, assassin=3)
    for _ in range(3):
        play_quest(game, 0)
    assert game.legal_victims() == [0, 1, 2, 4]


def score_histories(game: Game) -> int:
    """Count the orders of (quest, result) in which the game can go from here to its decision."""
    if game.phase in ("assassinate", "over"):
        return 1
    total = 0
    for quest in game.legal_quests():
        for fails in (0, 1):
            branch = deepcopy(game)
            play_quest(branch, fails, quest)
            total += score_histories(branch)
    return total


def test_there_are_twenty_score_histories_in_order_and_780_with_free_choice() -> None:  # TGT-08
    assert score_histories(Game(avalon_deck(5), leader=0)) == 20
    assert score_histories(Game(avalon_deck(5), leader=0, targeting=True)) == 780


@pytest.mark.parametrize("targeting", [False, True])
def test_the_listed_proposals_are_exactly_those_accepted(targeting: bool) -> None:
    rng = Random(7)
    for _ in range(6):
        game = Game(*deal(avalon_deck(5), rng), targeting=targeting)
        while game.phase != "over":
            if game.phase == "propose":
                listed = {(quest, team) for quest in QUESTS for team in game.legal_teams(quest)}
                accepted = set()
                for size in range(6):
                    for team in combinations(range(5), size):
                        for quest in QUESTS:
                            branch = deepcopy(game)
                            try:
                                branch.propose(team, quest)
                            except IllegalMove:
                                assert branch == game
                            else:
                                accepted.add((quest, team))
                assert listed == accepted
            play_random_move(game, rng)


@pytest.mark.parametrize("players", sorted(EVIL_COUNT))
@pytest.mark.parametrize("targeting", [False, True])
@pytest.mark.parametrize("with_lady", [False, True])
def test_random_games_end_and_keep_the_invariants(players: int, targeting: bool, with_lady: bool) -> None:
    rng = Random(players)
    for _ in range(60):
        roles, first = deal(avalon_deck(players), rng)
        game = play_random(Game(roles, first, targeting, with_lady), rng)
        proposals = [entry for entry in game.log if entry["event"] == "propose"]
        quests = [entry for entry in game.log if entry["event"] == "quest"]
        examinations = [entry for entry in game.log if entry["event"] == "lady"]
        assert game.winner in ("good", "evil")
        assert len(proposals) <= 25  # INV-12
        for turn, entry in enumerate(proposals):  # INV-13
            assert entry["leader"] == (first + turn) % players
        attempted = [entry["quest"] for entry in quests]
        assert len(set(attempted)) == len(attempted)  # INV-41
        assert targeting or attempted == list(QUESTS[: len(attempted)])
        if 5 in attempted:  # INV-40
            assert attempted.index(5) >= 2
        holders = [entry["holder"] for entry in examinations]
        assert len(set(holders)) == len(holders) <= 3  # INV-44, INV-45
        assert with_lady or not holders
        for entry in quests:  # INV-19
            assert entry["fails"] <= sum(game.side(seat) == "evil" for seat in entry["team"])
