"""The brute force against positions solved by hand and, where they are at hand, the shared solved positions.

Every count below is worked out in the comment beside it, so a reader can check it without running anything.
"""

from __future__ import annotations

import json
from itertools import combinations
from pathlib import Path
from random import Random
from typing import Any

import pytest

from .brute_worlds import EVIL, Answer, Json, World, answer, change_quests, deals, expectation, side
from .random_positions import deal_count, random_play, random_position

# The shared folder, if there is one, lies beside the repository.
SOLVED = Path(__file__).resolve().parents[3] / "shared" / "positions" / "positions.json"

FIVE = {"Merlin": 1, "Servant": 2, "Assassin": 1, "Minion": 1}
SPIES = {"Resistance": 3, "Spy": 2}
LANCELOTS = {"Merlin": 1, "Servant": 2, "LancelotGood": 1, "Assassin": 1, "Minion": 1, "LancelotEvil": 1}
EVERYONE = {"Merlin": 1, "Percival": 1, "Servant": 4, "Assassin": 1, "Morgana": 1, "Mordred": 1, "Oberon": 1}


def solve(
    deck: dict[str, int], *observations: Json, viewer: tuple[int, str] | None = None, **options: Any
) -> Answer:
    """The answer for a position written in one line."""
    return answer(
        {
            "players": sum(deck.values()),
            "deck": deck,
            "viewer": None if viewer is None else {"seat": viewer[0], "role": viewer[1]},
            "options": options,
            "observations": list(observations),
        }
    )


def quest(number: int, team: list[int], fails: int, **more: Any) -> Json:
    return {"type": "quest", "quest": number, "team": team, "fails": fails, **more}


def saw(kind: str, *seats: int) -> Json:
    return {"type": "reveal", "kind": kind, "seats": list(seats)}


def claim(by: int, about: int, value: str, trust: str, after_quest: int = 1) -> Json:
    return {
        "type": "claim",
        "by": by,
        "about": about,
        "value": value,
        "trust": trust,
        "after_quest": after_quest,
    }


def loyalty(target: int, value: str, after_quest: int) -> Json:
    return {"type": "loyalty", "target": target, "value": value, "after_quest": after_quest}


def change(number: int) -> Json:
    return {"type": "lancelot", "quest": number, "card": "change"}


def test_every_shared_position_has_its_expected_worlds_and_facts() -> None:
    if not SOLVED.exists():
        pytest.skip("the shared solved positions are not beside this repository")
    positions = json.loads(SOLVED.read_text(encoding="utf-8"))
    assert len(positions) >= 50
    wrong = {item["id"] for item in positions if expectation(answer(item)) != item["expect"]}
    assert wrong == set()


@pytest.mark.parametrize("deck", [FIVE, SPIES, LANCELOTS])
def test_deals_are_all_different_and_as_many_as_the_multinomial(deck: dict[str, int]) -> None:
    worlds = list(deals(deck, sum(deck.values())))
    assert len(worlds) == len(set(worlds)) == deal_count(deck)
    assert all(sorted(world) == sorted(r for r in deck for _ in range(deck[r])) for world in worlds)


def test_a_spectator_of_five_knows_only_the_deck() -> None:
    result = solve(FIVE)
    assert len(result.worlds) == 60  # 5! / 2!
    assert result.certain == {"evil": [], "good": [], "roles": {}}
    assert result.possible["3"] == ["Assassin", "Merlin", "Minion", "Servant"]
    assert result.as_of == 0


def test_an_assassin_who_saw_nobody_cannot_be_beside_a_minion() -> None:
    assert solve(FIVE, viewer=(1, "Assassin")).worlds == []
    oberon = {"Merlin": 1, "Servant": 2, "Assassin": 1, "Oberon": 1}
    assert len(solve(oberon, viewer=(1, "Assassin")).worlds) == 12  # 4 seats for Oberon, 3 for Merlin
    assert len(solve(oberon, viewer=(1, "Oberon")).worlds) == 12
    assert solve(oberon, saw("evil", 2), viewer=(1, "Oberon")).worlds == []


def test_merlin_sees_oberon_unless_ruled_otherwise_and_never_mordred() -> None:
    deck = {"Merlin": 1, "Servant": 3, "Assassin": 1, "Mordred": 1, "Oberon": 1}
    # Seats 2 and 3 hold Assassin and Oberon (2 ways), Mordred is one of the four others.
    assert len(solve(deck, saw("evil", 2, 3), viewer=(1, "Merlin")).worlds) == 8
    # Only the Assassin shows: Mordred and Oberon on the five others, in order.
    hidden = solve(deck, saw("evil", 2), viewer=(1, "Merlin"), merlin_sees_oberon=False)
    assert len(hidden.worlds) == 20
    assert hidden.certain["roles"] == {"1": "Merlin", "2": "Assassin"}


def test_percival_cannot_tell_merlin_from_morgana() -> None:
    deck = {"Merlin": 1, "Percival": 1, "Servant": 1, "Assassin": 1, "Morgana": 1}
    result = solve(deck, saw("percival", 4, 5), viewer=(1, "Percival"))
    assert len(result.worlds) == 4  # which thumb is Merlin, and which of 2 and 3 is the Assassin
    assert result.possible["4"] == ["Merlin", "Morgana"]
    assert solve(deck, saw("percival", 4), viewer=(1, "Percival")).worlds == []


def test_two_reveals_of_one_kind_must_agree() -> None:
    assert solve(FIVE, saw("evil", 2, 3), saw("evil", 2, 4), viewer=(1, "Merlin")).worlds == []


def test_blind_spies_see_nobody_but_merlin_still_does() -> None:
    assert len(solve(SPIES, viewer=(1, "Spy"), blind_spies=True).worlds) == 4
    assert solve(SPIES, viewer=(1, "Spy")).worlds == []
    # Among blind Avalon players 1=Minion leaves the other four cards free: 4! / 2!.
    assert len(solve(FIVE, viewer=(1, "Minion"), blind_spies=True).worlds) == 12
    assert len(solve(FIVE, saw("evil", 2, 3), viewer=(1, "Merlin"), blind_spies=True).worlds) == 2


def test_fails_count_the_evil_cards_at_least() -> None:
    assert len(solve(SPIES, quest(1, [1, 2], 0)).worlds) == 10
    assert len(solve(SPIES, quest(1, [1, 2], 1)).worlds) == 7  # 10 pairs less the 3 within seats 3, 4, 5
    assert solve(SPIES, quest(1, [1, 2], 2)).worlds == [
        ("Spy", "Spy", "Resistance", "Resistance", "Resistance")
    ]
    assert solve(SPIES, quest(2, [1, 2, 3], 3)).worlds == []


def test_a_known_card_binds_its_player_and_leaves_the_rest_to_the_others() -> None:
    # Seat 1 failed, so it is the spy and any of the four others may be the second.
    assert len(solve(SPIES, quest(1, [1, 2], 1, known_cards={"1": "fail"})).worlds) == 4
    # Seat 1 succeeded, so seat 2 failed.
    assert solve(SPIES, quest(1, [1, 2], 1, known_cards={"1": "success"})).certain["evil"] == [2]
    mine = quest(1, [1, 2], 1, known_cards={"1": "fail"})
    assert solve(SPIES, mine, viewer=(1, "Resistance")).worlds == []


def test_if_evil_always_fails_then_a_clean_team_is_good() -> None:
    assume = {"type": "assume", "rule": "evil_always_fails"}
    result = solve(SPIES, assume, quest(1, [1, 2], 0))
    assert len(result.worlds) == 3
    assert result.certain["good"] == [1, 2]
    # Exactly one spy on {1, 2}: 2 choices, and 3 for the other spy.
    assert len(solve(SPIES, quest(1, [1, 2], 1), assume).worlds) == 6


def test_votes_and_distrusted_claims_change_nothing() -> None:
    vote = {"type": "vote", "quest": 1, "team": [1, 2], "approve": [1, 2, 3]}
    result = solve(SPIES, vote, claim(1, 2, "evil", "none"))
    assert len(result.worlds) == 10
    assert result.as_of == 1


def test_a_claim_binds_as_far_as_it_is_trusted() -> None:
    # Taken as fact, seat 2 is a spy: 4 partners.
    assert len(solve(SPIES, claim(1, 2, "evil", "full")).worlds) == 4
    # If seat 1 is a spy anything goes (4); if not, 2 is a spy and the other is one of 3, 4, 5 (3).
    assert len(solve(SPIES, claim(1, 2, "evil", "if_good")).worlds) == 7
    # If seat 1 is a spy anything goes (4); if not, both spies are among 3, 4, 5 (3).
    assert len(solve(SPIES, claim(1, 2, "good", "if_good")).worlds) == 7
    # A good speaker would not call himself evil.
    assert solve(SPIES, claim(1, 1, "evil", "if_good")).certain["evil"] == [1]


def test_a_role_shown_and_a_role_missed_are_facts() -> None:
    shown = {"type": "role", "seat": 1, "role": "Assassin"}
    missed = {"type": "not_role", "seat": 2, "role": "Merlin"}
    result = solve(FIVE, shown, missed)
    assert len(result.worlds) == 9  # Merlin on 3, 4 or 5, the Minion on one of the three seats left
    assert result.possible["2"] == ["Minion", "Servant"]


def test_base_lancelots_know_each_other_and_the_evil_one_knows_his_side() -> None:
    # Merlin, two Servants, Assassin and Minion on five seats.
    assert len(solve(LANCELOTS, saw("lancelot", 2), viewer=(1, "LancelotGood"), lancelot="base").worlds) == 60
    # Assassin and Minion on 2 and 3 (2 ways), Merlin on 5, 6 or 7.
    evil = solve(
        LANCELOTS, saw("evil", 2, 3), saw("lancelot", 4), viewer=(1, "LancelotEvil"), lancelot="base"
    )
    assert len(evil.worlds) == 6
    # Among the Minions nothing tells the evil Lancelot from the Minion: 2 ways, times 4! / 2! for the good.
    among = solve(LANCELOTS, saw("evil", 2, 3), viewer=(1, "Assassin"), lancelot="base")
    assert len(among.worlds) == 24


@pytest.mark.parametrize("variant", ["v1", "v2"])
def test_the_lancelots_of_the_variants_see_nobody(variant: str) -> None:
    assert len(solve(LANCELOTS, viewer=(1, "LancelotGood"), lancelot=variant).worlds) == 360  # 6! / 2!
    assert len(solve(LANCELOTS, viewer=(1, "LancelotEvil"), lancelot=variant).worlds) == 360
    # Evil sees which of its own he is, and leaves 4! / 2! ways for the good.
    told = [saw("evil", 2, 3), saw("lancelot", 3)]
    assert len(solve(LANCELOTS, *told, viewer=(1, "Assassin"), lancelot=variant).worlds) == 12
    assert solve(LANCELOTS, told[0], viewer=(1, "Assassin"), lancelot=variant).worlds == []


def test_a_loyalty_card_shows_the_side_in_force_after_the_quest() -> None:
    # After the change the evil seats hold Assassin, Minion and the good-card Lancelot.
    late = solve(LANCELOTS, change(3), loyalty(4, "evil", 3), viewer=(1, "Servant"), lancelot="v1")
    assert late.possible["4"] == ["Assassin", "LancelotGood", "Minion"]
    assert late.certain["evil"] == [4]
    # Seen before the change, and spoken of after it: no longer certain.
    early = solve(LANCELOTS, change(3), loyalty(4, "evil", 2), viewer=(1, "Servant"), lancelot="v1")
    assert early.possible["4"] == ["Assassin", "LancelotEvil", "Minion"]
    assert early.certain["evil"] == [] and early.as_of == 3


def test_only_a_drawn_change_card_moves_the_moment_of_the_answer() -> None:
    lancelot = {"type": "role", "seat": 1, "role": "LancelotEvil"}
    drawn = solve(LANCELOTS, change(3), lancelot, lancelot="v1")
    assert drawn.as_of == 3 and drawn.certain["good"] == [1]
    dealt = solve(LANCELOTS, change(3), lancelot, lancelot="v2")
    assert dealt.as_of == 0 and dealt.certain["evil"] == [1]


def test_two_changes_bring_the_lancelots_home() -> None:
    lancelot = {"type": "role", "seat": 1, "role": "LancelotEvil"}
    result = solve(LANCELOTS, change(3), change(4), lancelot, lancelot="v1")
    assert result.as_of == 4 and result.certain["evil"] == [1]


@pytest.mark.parametrize(
    ("variant", "changed"), [("base", [3]), ("v1", [2]), ("v1", [3, 4, 5]), ("v2", [1, 2, 3])]
)
def test_a_schedule_the_cards_cannot_give_leaves_no_world(variant: str, changed: list[int]) -> None:
    assert solve(LANCELOTS, *map(change, changed), lancelot=variant).worlds == []


def test_one_quest_has_one_change_card() -> None:
    blank = {"type": "lancelot", "quest": 3, "card": "none"}
    assert solve(LANCELOTS, change(3), blank, lancelot="v2").worlds == []
    assert len(solve(LANCELOTS, change(3), blank | {"quest": 4}, lancelot="v2").worlds) == 2520  # 7! / 2!


def test_the_bound_lancelot_fails_while_evil_and_succeeds_once_good() -> None:
    fact = {"type": "role", "seat": 1, "role": "LancelotEvil"}
    assert solve(LANCELOTS, fact, quest(1, [1, 2], 0), lancelot="v2").worlds == []
    assert solve(LANCELOTS, fact, quest(1, [1, 2], 0), lancelot="v1").worlds != []
    turned = solve(LANCELOTS, fact, change(1), quest(1, [1, 2], 1), lancelot="v2")
    assert turned.possible["2"] == ["Assassin", "LancelotGood", "Minion"]


def test_a_used_sword_turns_the_card_and_a_look_tells_which_it_was() -> None:
    used = {"leader": 1, "holder": 2, "target": 3}
    # A clean result: seat 3 had played Fail, so it is a spy, with any of four partners.
    clean = solve(SPIES, quest(2, [1, 2, 3], 0, excalibur=used), excalibur=True)
    assert len(clean.worlds) == 4 and clean.certain["evil"] == [3]
    # One fail may be the turned Success of an honest seat 3.
    assert len(solve(SPIES, quest(2, [1, 2, 3], 1, excalibur=used), excalibur=True).worlds) == 10
    # The holder, no spy, saw Fail go and still one came: seats 1 and 3.
    looked = quest(2, [1, 2, 3], 1, excalibur=used | {"saw": "fail"})
    assert len(solve(SPIES, looked, viewer=(2, "Resistance"), excalibur=True).worlds) == 1


def test_a_sword_left_in_its_sheath_changes_nothing() -> None:
    for declined in ({"leader": 1, "holder": 2, "target": None}, {"leader": 1, "holder": 2}):
        result = solve(SPIES, quest(1, [1, 2], 1, excalibur=declined), excalibur=True)
        assert len(result.worlds) == 7


@pytest.mark.parametrize(
    ("deck", "observation"),
    [
        ({"Merlin": 1, "Servant": 2, "Assassin": 1}, None),
        ({"Merlin": 1, "Servant": 1, "Assassin": 1, "Minion": 2}, None),
        (SPIES, quest(1, [1, 2, 3], 0)),
        (SPIES, quest(1, [1, 6], 0)),
        (SPIES, quest(1, [1, 2], 0, known_cards={"3": "fail"})),
        (SPIES, quest(1, [1, 2], 0, excalibur={"leader": 1, "holder": 2, "target": 1})),
        (SPIES, saw("evil", 2)),
        (SPIES, claim(1, 2, "purple", "full")),
        (SPIES, {"type": "dream"}),
    ],
)
def test_what_no_table_could_write_down_is_refused(deck: dict[str, int], observation: Json | None) -> None:
    with pytest.raises(ValueError):
        solve(deck, *([observation] if observation else []))


def test_three_quests_at_ten_leave_the_worlds_that_counting_evil_sets_predicts() -> None:
    quests = [quest(1, [1, 2, 3], 1), quest(2, [3, 4, 5, 6], 2), quest(3, [1, 6, 7, 8], 1)]
    sets = [
        evil
        for evil in combinations(range(1, 11), 4)
        if all(len(set(evil) & set(item["team"])) >= item["fails"] for item in quests)
    ]
    result = solve(EVERYONE, *quests)
    assert len(result.worlds) == len(sets) * 24 * 30  # 4! ways for the evil cards, 6! / 4! for the good ones
    assert {frozenset(s for s, r in enumerate(w, 1) if r in EVIL) for w in result.worlds} == set(
        map(frozenset, sets)
    )


@pytest.mark.parametrize("modules", [(), ("lancelot",), ("excalibur",), ("lancelot", "excalibur", "plots")])
def test_the_true_deal_survives_honest_play(modules: tuple[str, ...]) -> None:
    rng = Random(f"honest play with {modules}")
    counts = set()
    for _ in range(60):
        position, world = random_play(rng, modules, most_deals=3_000)
        result = answer(position)
        assert world in result.worlds, position
        assert_facts_hold(result, world, position)
        counts.add(position["players"])
    assert counts == {5, 6, 7, 8, 9, 10}


def assert_facts_hold(result: Answer, world: World, position: Json) -> None:
    """What is certain is true of the real deal."""
    for certain in ("good", "evil"):
        for seat in result.certain[certain]:
            assert side(world[seat - 1], result.as_of, change_quests(position)) == certain
    for seat, role in result.certain["roles"].items():
        assert world[int(seat) - 1] == role
    assert all(world[int(seat) - 1] in roles for seat, roles in result.possible.items())


def test_random_positions_are_mostly_but_not_always_consistent() -> None:
    rng = Random(2012)
    answers = [answer(random_position(rng, most_deals=2_000)) for _ in range(150)]
    contradictions = sum(not result.worlds for result in answers)
    assert 0 < contradictions < 40


def test_without_modules_no_lancelot_and_no_sword_appear() -> None:
    rng = Random(7)
    positions = [random_position(rng) for _ in range(400)]
    text = json.dumps(positions)
    assert "Lancelot" not in text and "lancelot" not in text and "excalibur" not in text
    assert {"Spy", "Percival", "Oberon"} <= {role for item in positions for role in item["deck"]}
    assert {item["viewer"] is None for item in positions} == {True, False}
