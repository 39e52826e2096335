"""How a record ends: with a broken duty that ends the game, with who won, or before the end."""

from __future__ import annotations

import os
import random
from dataclasses import replace
from itertools import product
from typing import Any

import pytest

from avalon_logic.deduction import deduce
from avalon_logic.deduction.games import follow_game
from avalon_logic.deduction.underway import answer, extend, start
from avalon_logic.logs import import_game
from avalon_logic.reading import record_of_text
from avalon_logic.replay import replay
from tests.avalon_logic.site_logs import logged_game

MANY = int(os.environ.get("DEDUCTION_RECORDS", "720"))
NAMES = ("A", "B", "C", "D", "E", "F", "G")
ROLES = ("servant", "servant", "minion", "servant", "minion", "merlin", "assassin")

# G leads the Lady: whom he examines he knows to be evil from the reveal.
LADY = """game avalon
with lady
players A B C D E F G
roles merlin assassin
first_leader A
propose B D
vote + + + + + + +
tally 0
propose B D F
vote + + + + + + +
tally 0
"""
DEAL = "deal " + " ".join(f"{name}={role}" for name, role in zip(NAMES, ROLES, strict=True)) + "\n"
WRONG = "lady C good by G\n"


@pytest.mark.parametrize("more", ["", "winner good", "says A C evil", "says A C evil\nwinner good"])
def test_who_knows_the_examined_player_keeps_his_worlds_when_a_wrong_card_ends_the_game(more: str) -> None:
    found = deduce(LADY + WRONG + more, "G", role="assassin", saw=["C", "E"])
    # C and E are the minions he saw, and Merlin is one of the four others
    assert found.count == 4
    assert found.player("C").sides == {"evil": 1}


@pytest.mark.parametrize("more", ["", "winner good", "says A C evil\nwinner good"])
def test_a_wrong_card_that_ends_the_game_excludes_the_true_deal_for_nobody(more: str) -> None:
    text = (LADY + WRONG + more).replace("first_leader", DEAL + "first_leader")
    record = deduce(text).record
    verdict = follow_game(record)
    assert verdict.sound, [s for s in verdict.sightings if s.excluded]
    assert replay(record).result == "good"


def test_everybody_learns_from_the_end_of_the_game_whose_wrong_card_it_was() -> None:
    text = LADY.replace("first_leader", DEAL + "first_leader") + WRONG + "winner good"
    for name in NAMES:
        assert deduce(text, name).player("C").sides == {"evil": 1}, name


def test_while_the_game_goes_on_the_card_passed_is_taken_to_be_true() -> None:
    found = deduce(LADY + "lady C evil by G", "G", role="servant")
    assert found.player("C").sides == {"evil": 1}
    known = deduce(LADY + WRONG + "propose A B C", "G", role="assassin", saw=["C", "E"])
    assert not known.possible  # the game went on, so the card was true, and it cannot have been
    conflict = known.conflict()
    assert conflict is not None and "LADY-05" in {c for rule in conflict.rules for c in rule.cites}


# --- who won ---

FIVE = "players A B C D E\nfirst_leader A\n"
SUCCESSES = (
    FIVE + "propose A B\nvote +++++\ntally 0\npropose A B C\nvote +++++\ntally 0\npropose A B\nvote +++++\n"
)
FAILURES = SUCCESSES.replace("tally 0", "tally 1")


@pytest.mark.parametrize("winner", ["good", "evil"])
@pytest.mark.parametrize("text", [FIVE, FIVE + "propose A B", SUCCESSES, SUCCESSES + "tally 0"])
def test_a_record_that_breaks_off_before_the_end_learns_nothing_from_who_won(text: str, winner: str) -> None:
    assert deduce(text + f"\nwinner {winner}").count == deduce(text).count


def test_who_won_decides_where_the_game_can_have_ended() -> None:
    lost = deduce(FAILURES + "tally 1")
    assert (
        deduce(FAILURES + "tally 1\nwinner evil").count == lost.count == 42
    )  # all but those with both evil players among C, D and E
    # a third quest that failed as well, or one that succeeded, after which the record breaks off
    assert deduce(FAILURES + "tally ?\nwinner evil").count == deduce(FAILURES).count
    named = SUCCESSES + "tally 0\nnaming C by D\n"
    assert deduce(named + "winner evil").player("C").roles == {"merlin": 1}
    assert "merlin" not in deduce(named + "winner good").player("C").roles


def test_a_winner_that_contradicts_the_end_leaves_no_deal_and_says_why() -> None:
    found = deduce(FAILURES + "tally 1\nwinner good")
    assert not found.possible
    conflict = found.conflict()
    assert conflict is not None and "CORE-29" in {c for rule in conflict.rules for c in rule.cites}


@pytest.mark.parametrize("players", [5, 7])
def test_a_log_cut_off_anywhere_keeps_the_true_deal_possible_though_it_names_the_winner(players: int) -> None:
    for seed in range(2):
        game = logged_game(players, seed, lady=players == 7)
        for length in range(0, len(game["events"]) + 1, 2):
            cut = {**game, "events": game["events"][:length]}
            verdict = follow_game(import_game(cut))
            assert verdict.sound, (game, length, verdict.illegal, verdict.sightings)


# --- quests without a count of fails ---


def possible_deals(game: dict[str, Any]) -> int:
    """The deals in which every lost quest had enough evil players, by trying all places for the evil cards."""
    seats = range(len(game["players"]))
    deck = [game["roles"][name] for name in game["players"]]
    good = [r for r in deck if r in ("merlin", "percival", "servant")]
    evil = [r for r in deck if r not in good]
    ways = _orders(good) * _orders(evil)
    count = 0
    for held in product((False, True), repeat=len(seats)):
        if sum(held) != len(evil):
            continue
        count += all(
            sum(held[game["players"].index(name)] for name in quest["team"]) >= quest["needed"]
            for quest in game["events"]
            if quest["t"] == "quest" and not quest["success"]
        )
    return count * ways


def _orders(cards: list[str]) -> int:
    ways = 1
    for number in range(1, len(cards) + 1):
        ways = ways * number // cards[:number].count(cards[number - 1])
    return ways


@pytest.mark.parametrize("seed", range(4))
def test_every_quest_lost_without_a_count_needs_enough_evil_players(seed: int) -> None:
    rng = random.Random(f"uncounted {seed}")
    for _ in range(MANY // 120):
        game = logged_game(rng.choice((5, 6, 7)), rng.randrange(1_000))
        del game["winner"]
        if game["events"][-1]["t"] == "assassinate":
            del game["events"][-1]
        for event in game["events"]:
            if event["t"] == "quest":
                event["needed"] = 2 if len(game["players"]) >= 7 and event["quest"] == 4 else 1
                event.update(fails=None, cards=None)
        assert deduce(game).count == possible_deals(game), game


FALSE_SUCCESSES = [
    ({"fails": 1, "success": True}, None, "CORE-25"),
    ({"fails": 0, "success": False}, None, "CORE-25"),
    ({"success": True, "cards": {"D": False}}, "D", "CORE-25"),
    ({"success": False, "cards": {"A": True, "D": True}}, "D", "CORE-25"),
]


@pytest.mark.parametrize(("told", "viewer", "clause"), FALSE_SUCCESSES)
def test_a_success_against_the_fails_or_cards_is_a_contradiction_with_its_clause(
    told: dict[str, Any], viewer: str | None, clause: str
) -> None:
    names = list("ABCDE")
    votes = {"votes": dict.fromkeys(names, True), "approved": True}
    game = {
        "players": names,
        "roles": dict(zip(names, ["merlin", "servant", "servant", "assassin", "minion"], strict=True)),
        "events": [
            {"t": "propose", "quest": 1, "attempt": 1, "leader": "A", "team": ["A", "D"], **votes},
            {"t": "quest", "quest": 1, "team": ["A", "D"], **told},
        ],
    }
    found = deduce(game, viewer)
    assert not found.possible
    conflict = found.conflict()
    assert conflict is not None and clause in {c for rule in conflict.rules for c in rule.cites}, (
        conflict.rules
    )
    record = import_game(game)
    assert [f.clauses[0] for f in replay(record).findings] == [clause]
    assert follow_game(record).illegal is not None or not follow_game(record).sound


def test_a_game_typed_on_after_an_event_that_may_have_ended_it_is_read_as_going_on() -> None:
    ended = record_of_text(LADY + WRONG, None)
    went_on = record_of_text(LADY + WRONG + "propose A B C", None)
    went_on = replace(went_on, events=(*ended.events, went_on.events[-1]))
    begun = extend(start(ended, "G", role="assassin", saw=["C", "E"]), ended)
    assert answer(begun, ended).count == 4
    assert not answer(extend(begun, went_on), went_on).possible  # the card was true, and it cannot have been
