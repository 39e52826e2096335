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


def _left(position: Json, places: dict[int, tuple[str, Any]], labels: set[int]) -> list[tuple[str, ...]]:
    chosen = [places[label] for label in labels]
    return _deals_left(
        position,
        {x for kind, x in chosen if kind == "item"},
        any(kind == "card" for kind, _ in chosen),
        {x for kind, x in chosen if kind == "kind"},
    )


def _forced(position: Json, places: dict[int, tuple[str, Any]], labels: set[int], fact: Fact | None) -> bool:
    left = _left(position, places, labels)
    return not left if fact is None else all(_holds(fact, world) for world in left)


def _check(position: Json, inquiry: Inquiry, explanation: Explanation, fact: Fact | None) -> None:
    places = _places(inquiry, position)
    labels = {told.label for told in explanation.because}
    assert explanation.certain
    assert _forced(position, places, labels, fact), (position, str(explanation))
    for spared in labels:
        assert not _forced(position, places, labels - {spared}, fact), (position, str(explanation))
    _check_argument(position, places, explanation, fact)


def _check_argument(
    position: Json, places: dict[int, tuple[str, Any]], explanation: Explanation, fact: Fact | None
) -> None:
    """What each step says is so in every deal that what was taken so far leaves, and the groups are those of them."""
    steps = explanation.argument
    assert sorted(s.label for s in steps if s.label is not None) == [t.label for t in explanation.because]
    taken: set[int] = set()
    for step in steps:
        taken |= set() if step.label is None else {step.label}
        left = [w for w in _left(position, places, taken) if fact is None or not _holds(fact, w)]
        assert bool(left) == (step is not steps[-1])
        assert all(_holds(f, world) for f in step.concluded for world in left), (position, str(explanation))
        groups = {tuple(side(role, 0, frozenset()) == "evil" for role in world) for world in left}
        assert step.groups == len(groups), (position, str(explanation))
    assert all(len(line) <= 80 for line in explanation.lines())


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
        "Bob is evil. Suppose Bob were good (6 evil groups are possible):",
        "  1. Ann holds servant",
        "     then 3 evil groups are possible",
        "  2. quest 1 with Ann, Bob: 1 fail (line 5)",
        "     then no deal is left (CORE-22, CORE-23)",
        "So Bob is evil. Leave out any one of these and Bob could be good.",
        "By the rules:",
        "  - a good player must play success (CORE-22)",
        "  - the fails shown follow from what was chosen (CORE-23)",
    ]


def test_an_argument_takes_the_most_telling_quest_first_and_says_who_is_certain_after_it() -> None:
    more = "tally 1\npropose Bob Cid Eve\nvote + + + + -\ntally 2\n"
    steps = deduce(TEXT + more).why("Bob is evil").lines()[1:5]
    assert steps == [
        "  1. quest 2 with Bob, Cid, Eve: 2 fails (line 8)",
        "     then Cid and Eve are evil, Ann and Dan are good (CORE-04, CORE-08, CORE-22,",
        "     CORE-23); 1 evil group is possible",
        "  2. quest 1 with Ann, Bob: 1 fail (line 5)",
    ]


def test_a_step_that_settles_much_says_only_what_the_argument_uses() -> None:
    record = (
        "players Ann Bob Cid Dan Eve Fay Gil\nfirst_leader Ann\n"
        "propose Ann Bob\nvote + + + + + + +\ntally 1\n"
        "propose Cid Dan Eve\nvote + + + + + + +\ntally 3\n"
    )
    found = deduce(record).conflict()
    assert found is not None
    assert [len(step.concluded) for step in found.argument] == [0, 2, 0]
    assert {f.seat for f in found.argument[1].concluded} == {
        0,
        1,
    }  # not that Cid, Dan and Eve are evil as well


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
    assert found.lines()[-4:] == [
        "By the rules:",
        "  - the fails shown follow from what was chosen (CORE-23)",
        "Assumed, not a rule:",
        "  - every evil player on a team plays fail (evil_always_fails)",
    ]


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
