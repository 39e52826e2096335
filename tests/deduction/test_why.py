"""Every certain fact can be explained, by exactly what forces it: the observations given suffice, and none is idle."""

from __future__ import annotations

import os
import random
from typing import Any

import pytest

from avalon_logic.deduction import deduce
from avalon_logic.deduction.expect import inquire
from avalon_logic.deduction.facts import Fact
from avalon_logic.deduction.inquiry import Inquiry
from avalon_logic.deduction.why import Explanation, explain
from rules_dsl.smt.cores import smallest_hitting_set
from tests.oracle.brute_worlds import answer as brute_answer
from tests.oracle.brute_worlds import deals, item_fits, side, sights
from tests.oracle.random_positions import random_position

Json = dict[str, Any]
MANY = int(os.environ.get("DEDUCTION_EXPLANATIONS", "1000"))
TEXT = "players Ann Bob Cid Dan Eve\nfirst_leader Ann\npropose Ann Bob\nvote + + + - -\n"


def _deals_left(position: Json, kept: set[int], viewer_card: bool, kinds: set[str]) -> list[tuple[str, ...]]:
    """The deals that explain some of the observations: those at `kept` places, the own card, sights of some kinds."""
    left = []
    for world in deals(position["deck"], position["players"]):
        viewer = position["viewer"]
        if viewer_card and world[viewer["seat"] - 1] != viewer["role"]:
            continue
        if kinds:
            seen = sights(world, viewer["seat"], position["options"])
            told = {k: frozenset[int]() for k in kinds}
            told |= {
                i["kind"]: frozenset(i["seats"])
                for i in position["observations"]
                if i["type"] == "reveal" and i["kind"] in kinds
            }
            if any(seen[k] != told[k] for k in kinds):
                continue
        if all(item_fits(world, position["observations"][i], position, frozenset()) for i in kept):
            left.append(world)
    return left


def _places(inquiry: Inquiry, position: Json) -> dict[int, tuple[str, Any]]:
    """What each thing told is in the position: the own card, a kind of sight, or an observation."""
    found: dict[int, tuple[str, Any]] = {}
    labels = iter(told.label for told in inquiry.told)
    if position["viewer"] is not None:
        found[next(labels)] = ("card", None)
        found[next(labels)] = ("kind", "evil")
        found[next(labels)] = ("kind", "percival")
    for place, item in enumerate(position["observations"]):
        if item["type"] not in ("reveal", "vote", "assume"):
            found[next(labels)] = ("item", place)
    assert next(labels, None) is None
    return found


def _holds(fact: Fact, world: tuple[str, ...]) -> bool:
    role = world[fact.seat]
    return (fact.what in (role.casefold(), side(role, 0, frozenset()))) == fact.holds


def _forced(position: Json, places: dict[int, tuple[str, Any]], labels: set[int], fact: Fact | None) -> bool:
    chosen = [places[label] for label in labels]
    left = _deals_left(
        position,
        {x for kind, x in chosen if kind == "item"},
        any(kind == "card" for kind, _ in chosen),
        {x for kind, x in chosen if kind == "kind"},
    )
    return not left if fact is None else all(_holds(fact, world) for world in left)


def _check(position: Json, inquiry: Inquiry, explanation: Explanation, fact: Fact | None) -> None:
    places = _places(inquiry, position)
    labels = {told.label for told in explanation.because}
    assert explanation.certain
    assert _forced(position, places, labels, fact), (position, str(explanation))
    for spared in labels:
        assert not _forced(position, places, labels - {spared}, fact), (position, str(explanation))


@pytest.mark.parametrize("seed", range(10))
def test_what_an_explanation_names_forces_the_fact_and_nothing_of_it_can_be_spared(seed: int) -> None:
    rng = random.Random(f"reasons {seed}")
    explained = 0
    while explained < MANY // 10:
        position = random_position(rng, players=(5, 6, 7), most_deals=840)
        found = brute_answer(position)
        inquiry, _ = inquire(position)
        if not found.worlds:
            _check(position, inquiry, explain(inquiry, None), None)
            explained += 1
            continue
        facts = [Fact(s - 1, "evil") for s in found.certain["evil"]]
        facts += [Fact(s - 1, "good") for s in found.certain["good"]]
        facts += [Fact(int(s) - 1, role.casefold()) for s, role in found.certain["roles"].items()]
        for fact in rng.sample(facts, min(2, len(facts))):
            _check(position, inquiry, explain(inquiry, fact), fact)
            explained += 1


@pytest.mark.parametrize("seed", range(3))
def test_a_fact_that_is_not_certain_comes_with_a_possible_deal_against_it(seed: int) -> None:
    rng = random.Random(f"doubts {seed}")
    for _ in range(40):
        position = random_position(rng, players=(5, 6, 7), most_deals=840)
        found = brute_answer(position)
        if not found.worlds:
            continue
        inquiry, spelled = inquire(position)
        fact = Fact(rng.randrange(position["players"]), rng.choice(("good", "evil", "minion")))
        if fact.what not in (*inquiry.setting.roles, *inquiry.setting.sides):
            continue
        explanation = explain(inquiry, fact)
        certain = all(_holds(fact, world) for world in found.worlds)
        assert explanation.certain == certain
        if not certain:
            assert explanation.world is not None
            world = tuple(spelled[role] for role in explanation.world.values())
            assert world in found.worlds
            assert not _holds(fact, world)
            never = not any(_holds(fact, w) for w in found.worlds)
            assert (explanation.opposite is not None) == never


def test_the_argument_for_a_fact_names_the_quest_the_own_card_and_the_clause() -> None:
    found = deduce(TEXT + "tally 1", seat="Ann", role="servant").why("Bob is evil")
    assert found.lines() == [
        "Bob is evil, because",
        "  1. Ann holds servant",
        "  2. quest 1 with Ann, Bob: 1 fail (line 5)",
        "  and by the rules",
        "  - a good player must play success (CORE-22)",
        "  - the fails shown follow from what was chosen (CORE-23)",
        "Without any one of these it could be that Bob is not evil.",
    ]


def test_a_contradiction_names_the_two_quests_that_cannot_both_be_true() -> None:
    more = "tally 2\npropose Cid Dan Eve\nvote + + + + -\ntally 1\n"
    found = deduce(TEXT + more)
    assert found.count == 0
    conflict = found.conflict()
    assert conflict is not None
    assert [told.where for told in conflict.because] == ["line 5", "line 8"]
    assert {clause for rule in conflict.rules for clause in rule.cites} >= {"CORE-04", "CORE-22", "CORE-23"}


def test_a_supposition_counts_as_something_told() -> None:
    found = deduce(TEXT + "tally 1", if_=["Ann is good"]).why("Bob is evil")
    assert [told.text for told in found.because] == ["quest 1 with Ann, Bob: 1 fail", "Ann is good"]


def test_an_assumption_used_is_named_among_the_reasons() -> None:
    found = deduce(TEXT + "tally 0", assume=["evil_always_fails"]).why("Ann is good")
    assert found.certain
    assert any(rule.cites == ("evil_always_fails",) for rule in found.rules)


def test_a_public_choice_against_an_assumption_is_a_contradiction_that_names_it() -> None:
    found = deduce(TEXT, "Dan", role="servant", assume=["good_rejects_without_self"])
    assert found.possible  # Dan voted against a team without him
    found = deduce(TEXT, "Cid", role="servant", assume=["good_rejects_without_self"])
    assert not found.possible
    conflict = found.conflict()
    assert conflict is not None
    assert [told.where for told in conflict.because] == ["", "line 4"]
    assert ("good_rejects_without_self",) in [rule.cites for rule in conflict.rules]


def test_the_smallest_set_that_meets_all_is_found_even_if_greed_would_miss_it() -> None:
    sets = [frozenset({0, 1}), frozenset({0, 2}), frozenset({3, 1}), frozenset({3, 2})]
    assert smallest_hitting_set(sets) == [0, 3]
    assert smallest_hitting_set([]) == []
