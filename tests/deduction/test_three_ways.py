"""Which deals are possible, found in three ways that share nothing but the question.

The worlds of the NumPy filter, those of the Z3 terms (every solution where there are few, samples where there are
many), and those of a brute force that plays every deal by hand, on random records: all player counts, role sets,
modules, rulings and seats, with parts forgotten and parts made up. DEDUCTION_RECORDS=20000 makes it a long hunt.
"""

from __future__ import annotations

import os
import random

import pytest

from avalon_logic.deduction import deduce
from avalon_logic.deduction.facts import Fact
from avalon_logic.deduction.setting import declared_assumptions
from avalon_logic.deduction.why import Case
from rules_dsl.smt.cores import consistent
from rules_dsl.smt.terms import and_, term
from tests.oracle.brute_records import Deal, deals, possible_deals, table_of
from tests.oracle.random_records import random_record

MANY = int(os.environ.get("DEDUCTION_RECORDS", "720"))
HARD = (
    "evil_always_fails",
    "evil_approves_evil",
    "evil_covers_evil",
    "evil_hides_first",
    "evil_leader_takes_evil",
    "everyone_tells_the_truth",
    "good_leader_goes_along",
    "good_rejects_without_self",
    "good_tells_the_truth",
    "lone_evil_fails",
    "merlin_never_approves_seen_evil",
    "merlin_never_takes_seen_evil",
)
FEW = 24  # as many worlds Z3 lists one by one


def _worlds(record: dict[str, object], viewer: str | None) -> list[Deal]:
    return sorted(tuple(world.values()) for world in deduce(record, viewer).worlds())


@pytest.mark.parametrize("seed", range(12))
def test_the_filter_and_playing_every_deal_by_hand_leave_the_same_worlds(seed: int) -> None:
    rng = random.Random(f"records {seed}")
    for number in range(MANY // 12):
        large = number % 20 == 0
        record, viewer, _ = random_record(rng, (8, 9, 10) if large else (5, 6, 7), 6_000 if large else 900)
        assert _worlds(record, viewer) == sorted(possible_deals(record, viewer)), (record, viewer)


@pytest.mark.parametrize("seed", range(8))
def test_z3_finds_the_worlds_of_the_filter_and_no_others(seed: int) -> None:
    rng = random.Random(f"solved records {seed}")
    for _ in range(MANY // 40):
        record, viewer, _ = random_record(rng, (5, 6, 7, 8, 9, 10), 200_000)
        result = deduce(record, viewer)
        case = Case(result.inquiry)
        if result.count <= FEW:
            expected = sorted(tuple(world.values()) for world in result.worlds())
            assert sorted(case.worlds(FEW + 1)) == expected, (record, viewer)
            continue
        left = {tuple(world.values()) for world in result.worlds()}
        table = table_of(record)
        cards = list(record["roles"])
        tried = rng.sample(sorted(left), 3)
        for _ in range(6):
            rng.shuffle(cards)
            tried.append(tuple(cards))
        for deal in tried:
            held = and_(case.condition(Fact(seat, role)) for seat, role in enumerate(deal))
            case.solver.push()
            case.solver.add(term(held))
            assert consistent(case.solver, case.everything()) == (deal in left), (record, viewer, deal)
            case.solver.pop()
        assert result.deals == sum(1 for _ in deals(table)) if len(table.names) < 8 else True


@pytest.mark.parametrize("seed", range(4))
def test_z3_finds_the_worlds_of_the_filter_under_assumptions_too(seed: int) -> None:
    rng = random.Random(f"assumed records {seed}")
    compared = 0
    for _ in range(MANY // 40):
        record, viewer, _ = random_record(rng, (5, 6, 7), 900)
        hard = [name for name in sorted(declared_assumptions(record["game"])) if name in HARD]
        result = deduce(record, viewer, assume=rng.sample(hard, 2))
        if result.count <= FEW:
            expected = sorted(tuple(world.values()) for world in result.worlds())
            assert sorted(Case(result.inquiry).worlds(FEW + 1)) == expected, (record, viewer)
            compared += 1
        if not result.possible:
            conflict = result.conflict()
            assert conflict is not None and conflict.because
    assert compared > MANY // 120


def test_z3_counts_hundreds_of_worlds_as_the_filter_does() -> None:
    record = {
        "players": ["Ann", "Bob", "Cid", "Dan", "Eve", "Fay", "Gus"],
        "events": [
            {"phase": "first_leader", "leader": "Ann"},
            {"phase": "propose", "team": ["Ann", "Bob"]},
            {"phase": "vote"},
            {"phase": "tally", "fails": 1},
        ],
    }
    result = deduce(record)
    found = Case(result.inquiry).worlds(1_000)
    assert len(set(found)) == len(found) == result.count == 300


@pytest.mark.parametrize("seed", range(4))
def test_the_deal_that_was_played_is_possible_unless_the_record_was_spoiled(seed: int) -> None:
    rng = random.Random(f"honest records {seed}")
    for _ in range(MANY // 12):
        record, viewer, deal = random_record(rng, (5, 6, 7, 8, 9, 10), 200_000, spoiled=0)
        assert deal in set(_worlds(record, viewer)), (record, viewer, deal)
