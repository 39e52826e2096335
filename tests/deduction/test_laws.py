"""Laws of deduction: learning more never adds a world, order does not matter, and names are only names."""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from avalon_logic.deduction import Result, begin, conclude, deduce, setting_of, tell
from avalon_logic.deduction.expect import answer
from avalon_logic.deduction.facts import Fact
from avalon_logic.deduction.inquiry import suppose
from avalon_logic.records import Record, record_from_json
from tests.deduction.test_assumptions import DECKS, random_game
from tests.oracle.brute_assumptions import HARD, Attempt
from tests.oracle.brute_worlds import World, sights
from tests.oracle.random_positions import random_position

NAMES = ("Ann", "Bob", "Cid", "Dan", "Eve", "Fay", "Gus", "Hal", "Ivy", "Joe")
CLAIMS = ("good_tells_the_truth", "everyone_tells_the_truth", "evil_covers_evil")
randoms = st.integers(0, 2**32).map(Random)


def record_of(world: World, attempts: list[Attempt], names: tuple[str, ...], shift: int = 0) -> Record:
    """The game written down, everything by name; `shift` says who sits at the first place."""
    seats = range(len(world))
    events: list[dict[str, Any]] = [{"phase": "first_leader", "leader": names[attempts[0].leader]}]
    for a in attempts:
        team = None if a.team is None else [names[s] for s in sorted(a.team)]
        events.append({"phase": "propose", **({"team": team} if team else {})})
        events.append({"phase": "vote", "approve": {names[s]: v for s, v in sorted(a.votes.items())}})
        if a.cards:
            events.append({"phase": "cards", "card": {names[s]: c for s, c in a.cards.items()}})
        if a.fails is not None:
            events.append({"phase": "tally", "fails": a.fails})
        events += [
            {"phase": "says", "by": names[by], "about": names[about], "value": value}
            for by, about, value in a.claims
        ]
        if a.named is not None:
            events.append({"phase": "naming", "victim": names[a.named[1]], "by": names[a.named[0]]})
    order = [names[(s + shift) % len(world)] for s in seats]
    made: dict[str, Any] = {
        "players": order,
        "roles": sorted(role.lower() for role in world),
        "events": events,
    }
    if attempts[-1].result is not None:
        made["winner"] = attempts[-1].result
    return record_from_json(made)


def whole(rng: Random, assumed: tuple[str, ...] = ()) -> tuple[World, list[Attempt]]:
    return random_game(rng, rng.choice(DECKS), assumed)


def viewed(rng: Random, world: World) -> dict[str, Any]:
    """An observer, or a seat with what it saw."""
    if rng.random() < 0.4:
        return {}
    seat = rng.randrange(len(world))
    seen = sights(world, seat + 1, {})
    saw = [NAMES[s - 1] for s in sorted(seen["evil"] | seen["percival"])]
    return {"seat": NAMES[seat], "role": world[seat].lower(), "saw": saw}


def listed(result: Result) -> set[tuple[int, ...]]:
    """The possible deals, the players in the order of their names."""
    names = result.record.names
    order = sorted(range(len(names)), key=lambda seat: names[seat])
    return set(map(tuple, result.matrix()[:, order].tolist()))


@settings(max_examples=30, deadline=None)
@given(randoms)
def test_an_observation_never_adds_a_world(rng: Random) -> None:
    assumed = tuple(rng.sample(sorted(HARD), rng.randint(0, 2)))
    world, attempts = whole(rng, assumed)
    record = record_of(world, attempts, NAMES)
    view = viewed(rng, world)
    setting = setting_of(record, assumed)
    inquiry = begin(record, setting, **view)
    before = listed(conclude(inquiry, record))
    for event in record.events:
        inquiry = tell(inquiry, record, event)
        after = listed(conclude(inquiry, record))
        assert after <= before, event
        before = after
    if not assumed:
        roles = [r.capitalize() for r in setting.roles]
        assert tuple(roles.index(role) for role in world) in before


@settings(max_examples=25, deadline=None)
@given(randoms)
def test_a_seat_never_thinks_more_possible_than_an_observer(rng: Random) -> None:
    world, attempts = whole(rng)
    record = record_of(world, attempts, NAMES)
    assert listed(deduce(record, **viewed(rng, world))) <= listed(deduce(record))


@settings(max_examples=30, deadline=None)
@given(randoms)
def test_the_order_of_independent_observations_does_not_matter(rng: Random) -> None:
    position = random_position(rng, players=(5, 6, 7), most_deals=1000)
    shuffled = {
        **position,
        "observations": rng.sample(position["observations"], len(position["observations"])),
    }
    assert answer(shuffled) == answer(position)


@settings(max_examples=25, deadline=None)
@given(randoms)
def test_supposing_first_or_last_comes_to_the_same(rng: Random) -> None:
    world, attempts = whole(rng)
    record = record_of(world, attempts, NAMES)
    setting = setting_of(record, ("good_tells_the_truth",))
    facts = [
        Fact(rng.randrange(len(world)), rng.choice(["good", "evil", "merlin"]), rng.random() < 0.5)
        for _ in "ab"
    ]
    first = begin(record, setting)
    for fact in facts:
        first = suppose(first, fact)
    last = begin(record, setting)
    for event in record.events:
        first, last = tell(first, record, event), tell(last, record, event)
    for fact in reversed(facts):
        last = suppose(last, fact)
    assert listed(conclude(first, record)) == listed(conclude(last, record))


@settings(max_examples=25, deadline=None)
@given(randoms)
def test_claims_count_alike_whenever_they_are_made(rng: Random) -> None:
    world, attempts = whole(rng)
    record = record_of(world, attempts, NAMES)
    talk = [e for e in record.events if e.phase == "says"]
    play = [e for e in record.events if e.phase != "says"]
    if attempts[-1].result is not None:
        record = replace(record, winner=attempts[-1].result)
    elsewhere = list(play)
    for event in talk:
        elsewhere.insert(rng.randint(1, len(play) - (attempts[-1].result is not None)), event)
    for assumed in CLAIMS:
        one = deduce(record, assume=[assumed])
        two = deduce(replace(record, events=tuple(elsewhere)), assume=[assumed])
        assert listed(one) == listed(two)


@settings(max_examples=25, deadline=None)
@given(randoms)
def test_turning_the_table_changes_nobodys_possibilities(rng: Random) -> None:
    world, attempts = whole(rng)
    view = viewed(rng, world)
    shift = rng.randrange(len(world))
    one = deduce(record_of(world, attempts, NAMES), **view)
    two = deduce(record_of(world, attempts, NAMES, shift), **view)
    assert listed(one) == listed(two)
    assert {p.name: p for p in one.players} == {p.name: p for p in two.players}


@settings(max_examples=25, deadline=None)
@given(randoms)
def test_other_names_give_the_same_answer_under_those_names(rng: Random) -> None:
    world, attempts = whole(rng)
    others = tuple(f"P{i}" for i in range(len(NAMES)))
    one = deduce(record_of(world, attempts, NAMES))
    two = deduce(record_of(world, attempts, others))
    assert listed(one) == listed(two)
    assert [p.roles for p in one.players] == [p.roles for p in two.players]


@settings(max_examples=30, deadline=None)
@given(randoms)
def test_moving_everybody_to_another_seat_moves_the_answer(rng: Random) -> None:
    position = random_position(rng, players=(5, 6, 7), most_deals=1000)
    seats = list(range(1, position["players"] + 1))
    new = dict(zip(seats, rng.sample(seats, len(seats)), strict=True))
    plain, moved = answer(position), answer(_moved(position, new))
    assert moved["worlds"] == plain["worlds"]
    assert moved["possible"] == {str(new[int(s)]): roles for s, roles in plain["possible"].items()}
    for side in ("good", "evil"):
        assert sorted(moved["certain"][side]) == sorted(new[s] for s in plain["certain"][side])


def _moved(position: dict[str, Any], new: dict[int, int]) -> dict[str, Any]:
    def item(observation: dict[str, Any]) -> dict[str, Any]:
        made = dict(observation)
        for key in ("target", "by", "about", "seat"):
            if key in made:
                made[key] = new[made[key]]
        for key in ("team", "seats"):
            if key in made:
                made[key] = [new[s] for s in made[key]]
        if made.get("known_cards"):
            made["known_cards"] = {str(new[int(s)]): c for s, c in made["known_cards"].items()}
        return made

    viewer = position["viewer"]
    return {
        **position,
        "viewer": None if viewer is None else {**viewer, "seat": new[viewer["seat"]]},
        "observations": [item(o) for o in position["observations"]],
    }
