"""Logs of other sites, broken in one place: the replay names the event and the clause, and nothing else."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from avalon_logic.logs import import_game
from avalon_logic.records import RecordError
from avalon_logic.replay import Replay, replay
from tests.avalon_logic.site_logs import Log, events_of, game_with, logged_game

EVIL = {"assassin", "morgana", "mordred", "oberon", "minion"}


def judged(game: Log) -> Replay:
    return replay(import_game(game))


def breaks(game: Log) -> list[str]:
    """The clauses of all findings, the first of each."""
    return [f.clauses[0] for f in judged(game).findings]


def broken_event(game: Log) -> int | None:
    """The number the log itself gives the event that broke a rule."""
    record = import_game(game)
    return record.events[replay(record).findings[0].event - 1].number


def evil(game: Log) -> set[str]:
    return {p for p, r in game["roles"].items() if r in EVIL}


def holder_of(game: Log, role: str) -> str:
    return next(p for p, r in game["roles"].items() if r == role)


def number_of(game: Log, event: Log) -> int:
    return next(i for i, e in enumerate(game["events"], 1) if e is event)


@pytest.mark.parametrize("lady", [False, True])
@pytest.mark.parametrize("players", range(5, 11))
def test_every_game_of_the_hand_written_engine_is_legal_with_its_winner(players: int, lady: bool) -> None:
    for seed in range(40):
        game = logged_game(players, seed, lady=lady, unvoted=seed % 2 == 0)
        found = judged(game)
        assert found.findings == (), (game["id"], found)
        assert found.over
        assert found.result == game["winner"]
        assert not found.winner_differs


def test_games_with_free_choice_of_quest_are_legal_with_their_winner() -> None:
    for seed in range(60):
        game = logged_game(5 + seed % 6, seed, lady=seed % 2 == 0, targeting=True)
        found = judged(game)
        assert (found.findings, found.result) == ((), game["winner"])


def test_a_quest_attempted_twice_or_too_early_breaks_targeting() -> None:
    game = game_with(lambda g: len(events_of(g, "quest")) >= 2, targeting=True)
    event = next(e for e in events_of(game, "propose") if e["attempt"] == 1 and e is not game["events"][0])
    event["quest"] = events_of(game, "quest")[0]["quest"]
    assert breaks(game) == ["TGT-03"]
    first = events_of(game, "propose")[0]
    game["events"] = [first]
    first["quest"] = 5
    assert breaks(game) == ["TGT-04"]


def test_a_log_of_the_resistance_needs_no_merlin() -> None:
    game = logged_game(5, 1)
    sides = {p: "spy" if p in evil(game) else "resistance" for p in game["players"]}
    game.update(roles=sides, events=[e for e in game["events"] if e["t"] != "assassinate"])
    quests = [e["success"] for e in events_of(game, "quest")]
    game["winner"] = "good" if sum(quests) == 3 else "evil"
    record = import_game(game)
    assert (record.configuration.game, dict(record.configuration.rulings)) == ("resistance", {})
    found = replay(record)
    assert (found.findings, found.over, found.winner_differs) == ((), True, False)


def has_named(game: Log) -> bool:
    return bool(events_of(game, "assassinate"))


def has_rejection(game: Log) -> bool:
    return any(not e["approved"] for e in events_of(game, "propose"))


# --- proposals and votes ---


def test_a_team_of_the_wrong_size_breaks_core_11() -> None:
    game = game_with(has_rejection)
    event = events_of(game, "propose")[0]
    event["team"].append(next(p for p in game["players"] if p not in event["team"]))
    assert breaks(game) == ["CORE-11"]
    assert broken_event(game) == 1


def test_a_player_twice_on_a_team_breaks_core_13() -> None:
    game = logged_game(7, 1)
    event = events_of(game, "propose")[0]
    event["team"][1] = event["team"][0]
    assert breaks(game) == ["CORE-13"]


def test_the_wrong_leader_after_a_rejection_breaks_core_18() -> None:
    game = game_with(lambda g: not events_of(g, "propose")[0]["approved"])
    event = events_of(game, "propose")[1]
    event["leader"] = events_of(game, "propose")[0]["leader"]
    assert breaks(game) == ["CORE-18"]
    assert broken_event(game) == 2


def test_the_wrong_leader_after_a_quest_breaks_core_27() -> None:
    game = game_with(lambda g: events_of(g, "propose")[0]["approved"])
    event = events_of(game, "propose")[1]
    event["leader"] = events_of(game, "propose")[0]["leader"]
    assert breaks(game) == ["CORE-27"]


def test_any_player_may_lead_first() -> None:
    game = logged_game(5, 0)
    first = events_of(game, "propose")[0]
    assert breaks(game) == []
    game["events"] = [first]
    for leader in game["players"]:
        first["leader"] = leader
        assert breaks(game) == []


def test_an_unknown_leader_stays_unknown() -> None:
    game = logged_game(6, 3)
    for event in events_of(game, "propose"):
        event["leader"] = None
    found = judged(game)
    assert found.findings == ()
    assert found.result == game["winner"]


def test_a_leader_known_only_later_still_binds_the_order() -> None:
    game = game_with(lambda g: len(events_of(g, "propose")) >= 3)
    proposals = events_of(game, "propose")
    proposals[0]["leader"] = None
    proposals[2]["leader"] = proposals[1]["leader"]
    assert breaks(game)[0] in ("CORE-18", "CORE-27")


def test_an_inferred_leader_is_not_held_against_the_record() -> None:
    game = game_with(has_rejection)
    for event in events_of(game, "propose"):
        event["leader_inferred"] = True
    events_of(game, "propose")[1]["leader"] = events_of(game, "propose")[0]["leader"]
    assert breaks(game) == []


def test_another_quest_than_the_next_breaks_core_14() -> None:
    game = logged_game(9, 2)  # quests 2 and 3 want teams of one size at nine
    event = next(e for e in events_of(game, "propose") if e["quest"] == 2)
    event["quest"] = 3
    assert breaks(game) == ["CORE-14"]
    assert broken_event(game) == number_of(game, event)


def test_a_wrong_count_of_proposals_is_found() -> None:
    game = game_with(has_rejection)
    event = next(e for e in events_of(game, "propose") if e["attempt"] == 2)
    event["attempt"] = 4
    assert breaks(game) == ["CORE-18"]


def test_a_proposal_left_out_shows_in_the_leader() -> None:
    game = game_with(lambda g: not events_of(g, "propose")[0]["approved"])
    game["events"] = game["events"][:1] + game["events"][2:]
    assert breaks(game)[0] in ("CORE-18", "CORE-11", "CORE-16")


@pytest.mark.parametrize("players", [5, 6, 8, 10])
def test_an_approved_flag_against_the_votes_breaks_core_16(players: int) -> None:
    game = game_with(has_rejection, players)
    event = next(e for e in events_of(game, "propose") if not e["approved"])
    event["approved"] = True
    assert breaks(game) == ["CORE-16"]
    assert broken_event(game) == number_of(game, event)


def test_a_tie_taken_as_approval_breaks_core_16() -> None:
    game = logged_game(6, 0)
    event = events_of(game, "propose")[0]
    event["votes"] = {p: i < 3 for i, p in enumerate(game["players"])}
    event["approved"] = True
    game["events"] = [event]
    assert breaks(game) == ["CORE-16"]
    event["approved"] = False
    assert breaks(game) == []


def test_votes_nobody_wrote_down_stay_unknown() -> None:
    game = logged_game(8, 4)
    for event in events_of(game, "propose"):
        event["votes"] = None
    assert judged(game).result == game["winner"]
    game = logged_game(8, 4)
    for event in events_of(game, "propose"):
        event["votes"]["p1"] = None
        del event["votes"]["p2"]
    assert judged(game).result == game["winner"]


def test_known_votes_that_cannot_make_a_majority_break_core_16() -> None:
    game = logged_game(5, 0)
    event = events_of(game, "propose")[0]
    game["events"] = [event]
    event.update(approved=True, votes={"p1": False, "p2": False, "p3": False, "p4": None, "p5": None})
    assert breaks(game) == ["CORE-16"]
    event["votes"]["p3"] = None
    assert breaks(game) == []


def test_a_quest_after_a_rejected_team_breaks_core_16() -> None:
    game = game_with(lambda g: not events_of(g, "propose")[0]["approved"])
    first = events_of(game, "propose")[0]
    quest = {"t": "quest", "quest": 1, "team": first["team"], "fails": 0, "success": True}
    game["events"] = [first, quest]
    assert breaks(game) == ["CORE-16"]


def test_play_after_the_fifth_rejection_breaks_core_19() -> None:
    game = game_with(lambda g: len(g["events"]) == 5 and not has_named(g) and g["winner"] == "evil")
    assert all(not e["approved"] for e in game["events"])
    more = {**game["events"][-1], "attempt": 6, "leader": game["events"][0]["leader"]}
    game["events"].append(more)
    assert breaks(game) == ["CORE-19"]
    assert broken_event(game) == 6


def forced(game: Log) -> bool:
    return any(e.get("forced") for e in game["events"])


def test_a_fifth_team_without_a_vote_is_the_house_rule_unless_the_user_says_otherwise() -> None:
    game = game_with(forced, 10, unvoted=True)
    assert import_game(game).configuration.rulings["fifth_team"] == "no_vote"
    assert breaks(game) == []
    strict = replay(import_game(game, {"fifth_team": "vote"}))
    assert [f.clauses[0] for f in strict.findings] == ["CORE-15"]


def test_a_third_team_without_a_vote_breaks_core_15() -> None:
    game = game_with(lambda g: forced(g) and events_of(g, "propose")[0]["approved"], 7, unvoted=True)
    events_of(game, "propose")[0].update(forced=True, votes=None)
    assert breaks(game) == ["CORE-15"]


# --- quests ---


def test_a_quest_with_another_team_than_the_approved_breaks_core_17() -> None:
    game = logged_game(7, 5)
    event = events_of(game, "quest")[0]
    out = event["team"][0]
    stranger = next(p for p in game["players"] if p not in event["team"])
    event["team"] = [stranger, *event["team"][1:]]
    event["cards"][stranger] = event["cards"].pop(out)
    assert breaks(game) == ["CORE-17"]
    assert broken_event(game) == number_of(game, event)


def test_a_card_from_outside_the_team_breaks_core_21() -> None:
    game = logged_game(7, 5)
    event = events_of(game, "quest")[0]
    event["cards"][next(p for p in game["players"] if p not in event["team"])] = True
    assert breaks(game) == ["CORE-21"]


def test_a_good_player_who_fails_breaks_core_22() -> None:
    game = game_with(
        lambda g: set(events_of(g, "quest")[0]["team"]) - evil(g) != set() if events_of(g, "quest") else False
    )
    event = events_of(game, "quest")[0]
    good = next(p for p in event["team"] if p not in evil(game))
    event["cards"][good] = False
    event["fails"] += 1
    assert breaks(game) == ["CORE-22"]
    assert broken_event(game) == number_of(game, event)


@pytest.mark.parametrize("known", ["no cards", "one card"])
def test_more_fails_than_evil_players_on_the_team_breaks_core_22(known: str) -> None:
    game = game_with(
        lambda g: bool(events_of(g, "quest")) and len(set(events_of(g, "quest")[0]["team"]) & evil(g)) == 1
    )
    event = events_of(game, "quest")[0]
    event.update(fails=2, success=False)
    good = next(p for p in event["team"] if p not in evil(game))
    event["cards"] = (
        {good: None} if known == "no cards" else {next(iter(set(event["team"]) & evil(game))): False}
    )
    assert breaks(game) == ["CORE-22"]


def test_more_fails_than_cards_breaks_core_23() -> None:
    game = logged_game(7, 5)
    event = events_of(game, "quest")[0]
    del event["cards"]
    event.update(fails=len(event["team"]) + 1, success=False)
    assert breaks(game) == ["CORE-23"]


def test_a_count_against_the_cards_breaks_core_23() -> None:
    game = game_with(lambda g: any(e["fails"] for e in events_of(g, "quest")))
    event = next(e for e in events_of(game, "quest") if e["fails"])
    event.update(fails=0, success=True)
    assert breaks(game) == ["CORE-23"]


def test_a_wrong_outcome_breaks_core_25() -> None:
    game = logged_game(5, 6)
    event = events_of(game, "quest")[0]
    event["success"] = not event["success"]
    assert breaks(game) == ["CORE-25"]
    assert broken_event(game) == number_of(game, event)


def one_fail_on_the_fourth(game: Log) -> bool:
    return any(e["quest"] == 4 and e["fails"] == 1 for e in events_of(game, "quest"))


@pytest.mark.parametrize("players", range(5, 11))
def test_one_fail_on_the_fourth_quest_fails_it_only_below_seven_players(players: int) -> None:
    game = game_with(one_fail_on_the_fourth, players)
    event = next(e for e in events_of(game, "quest") if e["quest"] == 4)
    assert event["success"] == (players >= 7)
    assert breaks(game) == []
    event["success"] = not event["success"]
    assert breaks(game) == ["CORE-25"]


def test_unknown_fails_with_a_known_outcome_are_enough() -> None:
    game = logged_game(7, 5)
    for event in events_of(game, "quest"):
        del event["cards"]
        event["fails"] = None
    assert judged(game).result == game["winner"]


def test_a_failure_without_evil_on_the_team_breaks_core_22_though_the_count_is_unknown() -> None:
    game = game_with(
        lambda g: bool(events_of(g, "quest")) and not set(events_of(g, "quest")[0]["team"]) & evil(g)
    )
    event = events_of(game, "quest")[0]
    del event["cards"]
    event.update(fails=None, success=False)
    assert breaks(game) == ["CORE-22"]


# --- the end ---


def after_three_failures(game: Log) -> bool:
    quests = events_of(game, "quest")
    return sum(not e["success"] for e in quests) == 3 and len(quests) < 5


def test_a_proposal_after_the_third_failure_breaks_core_28() -> None:
    game = game_with(after_three_failures)
    last = events_of(game, "propose")[-1]
    seats = game["players"]
    leader = seats[(seats.index(last["leader"]) + 1) % len(seats)]
    game["events"].append({**last, "quest": last["quest"] + 1, "attempt": 1, "leader": leader})
    assert breaks(game) == ["CORE-28"]
    assert broken_event(game) == len(game["events"])


def test_a_proposal_after_the_third_success_breaks_core_28() -> None:
    game = game_with(lambda g: has_named(g) and len(events_of(g, "quest")) < 5)
    last = events_of(game, "propose")[-1]
    game["events"][-1] = {**last, "quest": last["quest"] + 1, "attempt": 1, "leader": None}
    assert breaks(game) == ["CORE-28"]


def test_a_naming_before_the_third_success_breaks_core_31() -> None:
    game = game_with(has_named)
    second = events_of(game, "quest")[1]
    game["events"] = [*game["events"][: number_of(game, second)], game["events"][-1]]
    assert breaks(game) == ["CORE-31"]
    assert broken_event(game) == len(game["events"])


def test_a_naming_after_three_failures_breaks_core_31() -> None:
    game = game_with(after_three_failures)
    merlin, killer = holder_of(game, "merlin"), holder_of(game, "assassin")
    game["events"].append({"t": "assassinate", "by": killer, "target": merlin, "hit": True})
    assert breaks(game) == ["CORE-31"]


def test_a_naming_by_another_than_the_assassin_breaks_core_33() -> None:
    game = game_with(has_named)
    game["events"][-1]["by"] = holder_of(game, "morgana")
    assert breaks(game) == ["CORE-33"]
    game["events"][-1]["by"] = None
    assert breaks(game) == []


def test_naming_a_comrade_breaks_core_33_and_naming_oberon_does_not() -> None:
    game = game_with(has_named, 10)
    game["events"][-1].update(target=holder_of(game, "morgana"), hit=False)
    game["winner"] = "good"
    found = judged(game)
    assert [f.clauses[0] for f in found.findings] == ["CORE-33"]
    assert found.result == "good"
    assert not found.winner_differs
    game["events"][-1]["target"] = holder_of(game, "oberon")
    assert breaks(game) == []


def test_the_assassin_naming_himself_breaks_core_33() -> None:
    game = game_with(has_named)
    game["events"][-1].update(target=holder_of(game, "assassin"), hit=False)
    assert breaks(game) == ["CORE-33"]


@pytest.mark.parametrize("role", ["merlin", "percival"])
def test_a_wrong_hit_breaks_core_33(role: str) -> None:
    game = game_with(has_named)
    game["events"][-1].update(target=holder_of(game, role), hit=role != "merlin")
    assert breaks(game) == ["CORE-33"]


def test_a_second_naming_breaks_core_33() -> None:
    game = game_with(has_named)
    game["events"].append(dict(game["events"][-1]))
    assert breaks(game) == ["CORE-33"]


def test_the_role_that_names_is_taken_from_the_log() -> None:
    game = game_with(has_named)
    morgana = holder_of(game, "morgana")
    game["assassin"] = morgana
    game["events"][-1]["by"] = morgana
    assert breaks(game) == []
    game["events"][-1]["by"] = holder_of(game, "assassin")
    assert breaks(game) == ["CORE-33"]


@pytest.mark.parametrize("winner", ["good", "evil"])
def test_a_wrong_winner_is_no_broken_rule_but_is_said(winner: str) -> None:
    game = game_with(lambda g: g["winner"] == winner)
    game["winner"] = "evil" if winner == "good" else "good"
    found = judged(game)
    assert found.findings == ()
    assert found.result == winner
    assert found.winner_differs


def test_an_unfinished_game_has_no_winner_yet() -> None:
    game = logged_game(6, 1)
    game["events"] = game["events"][:-1]
    found = judged(game)
    assert found.findings == ()
    assert not found.over
    assert found.result is None
    assert found.awaits


# --- the Lady ---


def with_lady(wanted: Callable[[Log], bool]) -> Log:
    return game_with(wanted, 7, lady=True)


def two_ladies(game: Log) -> bool:
    return len(events_of(game, "lady")) >= 2


def test_a_missing_examination_breaks_lady_02() -> None:
    game = with_lady(two_ladies)
    game["events"].remove(events_of(game, "lady")[0])
    assert breaks(game) == ["LADY-02"]


def test_an_examination_too_early_breaks_lady_02() -> None:
    game = with_lady(two_ladies)
    lady = events_of(game, "lady")[0]
    first_quest = events_of(game, "quest")[0]
    game["events"].remove(lady)
    game["events"].insert(number_of(game, first_quest), lady)
    assert breaks(game) == ["LADY-02"]


def test_an_examination_after_the_quests_are_decided_breaks_lady_02() -> None:
    game = with_lady(after_three_failures)
    game["events"].append({"t": "lady", "holder": None, "target": None})
    assert breaks(game) == ["LADY-02"]


def test_the_wrong_first_holder_breaks_lady_01() -> None:
    game = with_lady(two_ladies)
    lady = events_of(game, "lady")[0]
    lady["holder"] = next(p for p in game["players"] if p not in (lady["holder"], lady["target"]))
    assert breaks(game) == ["LADY-01"]


def test_the_wrong_later_holder_breaks_lady_07() -> None:
    game = with_lady(two_ladies)
    first, second = events_of(game, "lady")[:2]
    second["holder"] = first["holder"]
    assert breaks(game) == ["LADY-07"]


@pytest.mark.parametrize("whom", ["holder", "past holder"])
def test_examining_oneself_or_a_past_holder_breaks_lady_03(whom: str) -> None:
    game = with_lady(two_ladies)
    first, second = events_of(game, "lady")[:2]
    second["target"] = second["holder"] if whom == "holder" else first["holder"]
    assert breaks(game) == ["LADY-03"]


def test_a_wrong_loyalty_card_breaks_lady_05_and_ends_the_game() -> None:
    game = with_lady(two_ladies)
    lady = events_of(game, "lady")[0]
    lady["saw"] = "good" if lady["target"] in evil(game) else "evil"
    game["events"] = game["events"][: number_of(game, lady)]
    found = judged(game)
    assert [f.clauses[0] for f in found.findings] == ["LADY-05"]
    assert found.result == ("good" if lady["target"] in evil(game) else "evil")


def test_the_true_loyalty_card_and_any_claim_are_fine() -> None:
    game = with_lady(two_ladies)
    for lady in events_of(game, "lady"):
        lady["saw"] = "evil" if lady["target"] in evil(game) else "good"
        lady["claim"] = "good" if lady["saw"] == "evil" else "evil"
    assert breaks(game) == []


# --- the table ---


def with_roles(**changes: str) -> Log:
    """A seven-player game with some cards exchanged for others, before anything happened."""
    game = logged_game(7, 0)
    deck = ["merlin", "percival", "servant", "servant", "assassin", "morgana", "minion"]
    for old, new in changes.items():
        deck[deck.index(old)] = new
    game.update(roles=dict(zip(game["players"], deck, strict=True)), events=[], winner=None)
    return game


@pytest.mark.parametrize(
    ("changes", "clauses"),
    [
        ({}, set()),
        ({"servant": "minion"}, {"CORE-02"}),
        ({"minion": "servant"}, {"CORE-02"}),
        ({"servant": "merlin"}, {"CORE-03"}),
        ({"minion": "assassin"}, {"CORE-03"}),
        ({"assassin": "minion"}, {"AMB-12"}),
        ({"merlin": "servant"}, {"AMB-13"}),
    ],
)
def test_a_deck_the_rules_refuse_is_reported_with_its_clause(
    changes: dict[str, str], clauses: set[str]
) -> None:
    assert set(breaks(with_roles(**changes))) == clauses


@pytest.mark.parametrize("players", [4, 11])
def test_too_few_or_too_many_players_break_core_01(players: int) -> None:
    names = [f"p{i}" for i in range(players)]
    roles = dict.fromkeys(names, "servant")
    game = {"id": "x", "players": names, "roles": roles, "modules": [], "events": [], "winner": None}
    assert breaks(game) == ["CORE-01"]


def test_a_table_without_merlin_plays_without_the_naming() -> None:
    game = with_roles(merlin="servant", percival="servant")
    assert breaks(game) == []
    assert import_game(game).configuration.rulings == {"merlin_in_play": "optional_no_naming"}


def test_several_flagged_assassins_name_jointly() -> None:
    game = game_with(has_named)
    killer = holder_of(game, "assassin")
    game["roles"][killer] = "mordred"
    game["assassin_flags"] = sorted(evil(game))
    for by in (killer, holder_of(game, "morgana"), None):
        game["events"][-1]["by"] = by
        assert breaks(game) == []
    game["events"][-1]["by"] = holder_of(game, "merlin")
    assert breaks(game) == ["CORE-33"]


# --- what cannot be read ---


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"players": ["p1", "p1", "p3", "p4", "p5"]}, "two players have the same name"),
        ({"roles": {"p1": "merlin"}}, "no role is given for p2"),
        ({"roles": {f"p{i}": "servant" for i in range(1, 7)}}, "a role for p6, who is not at the table"),
        ({"assassin": "p9"}, "the assassin 'p9' is not at the table"),
        ({"modules": "lady"}, "'modules' is a list"),
        ({"events": ["propose"]}, "event 1: an event is an object"),
        ({"events": [{"t": "dance"}]}, "event 1: unknown event type 'dance'"),
        ({"events": [{"t": "propose", "team": 7}]}, "event 1: the propose event cannot be read"),
        (
            {"events": [{"t": "propose", "quest": 1, "team": ["p1", "zoe"]}]},
            "event 1: nobody is called 'zoe'",
        ),
        ({"events": [{"t": "propose", "quest": 9, "team": ["p1", "p2"]}]}, "event 1: 9 is not in 1..5"),
    ],
)
def test_a_log_that_cannot_be_read_says_where(change: dict[str, Any], message: str) -> None:
    game = {**logged_game(5, 0), **change}
    with pytest.raises(
        RecordError, match="line 1.*" + message.split(":")[-1].strip().split("'")[0].strip()
    ) as error:
        replay(import_game(game, where="line 1"))
    assert message in str(error.value)
