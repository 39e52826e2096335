"""The shipped properties: which sentences of the specification they cover, and the verdicts of all of them.

Proving everything takes a minute, so one run in processes of its own is shared by all tests of this file.
"""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path

import pytest

from avalon_logic.counterexamples import record_of, rows_of
from avalon_logic.proving import property_files, shipped_families
from avalon_logic.records import record_from_json, record_to_json
from avalon_logic.replay import replay as replay_record
from proofs.families import Family
from proofs.prover import Options
from proofs.replays import replay
from proofs.verdicts import Verdict
from proofs.workers import decide
from rules_dsl import reference, settle
from tests.differential.knowledge import legal_moves, seen_by

# Sentences about all games that are not stated as a property, with the reason.
LEFT_OUT = {
    29: "speaks of Lancelot, which is not among the modules",
}

RULES = Path(__file__).parents[3] / "shared" / "RULES.md"


@lru_cache(maxsize=1)
def families() -> tuple[Family, ...]:
    return tuple(shipped_families())


@lru_cache(maxsize=1)
def verdicts() -> tuple[Verdict, ...]:
    return tuple(decide(families(), Options(seconds=400), workers=2))


def family_of(verdict: Verdict) -> Family:
    return next(f for f in families() if f.name == verdict.family)


def cited() -> set[int]:
    text = "".join(path.read_text(encoding="utf-8") for path in property_files())
    return {int(number) for number in re.findall(r"INV-(\d+)", text)}


def test_every_sentence_about_the_landed_rulebooks_has_a_property() -> None:
    assert set(range(1, 49)) - cited() == set(LEFT_OUT)


@pytest.mark.skipif(not RULES.exists(), reason="the specification is not beside the project")
def test_sentences_called_false_have_a_refuted_property_and_true_ones_a_proved_one() -> None:
    said = dict(re.findall(r"^\| INV-(\d+) \|[^|]*\| (T|\*\*F\*\*)", RULES.read_text(encoding="utf-8"), re.M))
    expected: dict[int, set[str]] = {}
    for family in families():
        for claim in family.model.properties.values():
            for cite in claim.origin.cites:
                if cite.startswith("INV-"):
                    expected.setdefault(int(cite[4:]), set()).add(claim.expect)
    for number, truth in said.items():
        if int(number) in expected:
            assert ("proved" if truth == "T" else "refuted") in expected[int(number)], f"INV-{number}"


def test_who_knows_what_in_the_edition_of_2021_is_decided_where_it_is_asked_for() -> None:
    knowing = "avalon_2021: who knows what"
    assert knowing not in [f.name for f in shipped_families()]
    assert knowing in [f.name for f in shipped_families(("avalon_2021",))]
    assert knowing in [f.name for f in shipped_families(("avalon", "avalon_2021"))]


def test_every_property_names_the_clauses_it_speaks_about() -> None:
    for family in families():
        for claim in family.model.properties.values():
            assert claim.origin.cites, claim.name


def test_all_verdicts_are_as_their_authors_expect() -> None:
    found = verdicts()
    assert {(v.family, v.name, v.outcome, v.how) for v in found if not v.as_expected} == set()
    assert len(found) == sum(len(f.properties) for f in families())


def test_every_claim_of_a_witness_comes_with_its_game() -> None:
    for verdict in verdicts():
        if verdict.claim.kind == "reachable" and verdict.outcome == "proved":
            assert verdict.game is not None, verdict.name
        if verdict.claim.kind == "invariant" and verdict.outcome == "refuted":
            assert verdict.game is not None, verdict.name


def test_every_game_found_is_played_again_by_the_interpreter_and_as_a_record() -> None:
    games = [(v, g) for v in verdicts() for g in (v.game, v.twin) if g is not None]
    assert len(games) > 30
    for verdict, game in games:
        family = family_of(verdict)
        replay(family.model, game)
        record = record_from_json(record_to_json(record_of(family, game)))
        judged = replay_record(record)
        assert not judged.findings or all(not f.fatal for f in judged.findings), verdict.name
        assert judged.over == game.states[-1].over, verdict.name
        if judged.over:
            assert judged.result == game.states[-1].result
        assert len(list(rows_of(family, game))) == len(game.moves)


def test_twins_look_the_same_to_the_seat_that_watches() -> None:
    pairs = [v for v in verdicts() if v.twin is not None]
    assert len(pairs) >= 4
    for verdict in pairs:
        assert verdict.game is not None
        assert verdict.twin is not None
        model = family_of(verdict).model
        ours, theirs = (
            [[o for o in step.observations if o.seen_by(verdict.seat)] for step in replay(model, game)]
            for game in (verdict.game, verdict.twin)
        )
        if verdict.claim.kind == "silent":
            assert ours[:-1] == theirs, verdict.name
            table, last = settle(model, verdict.twin.params).model, verdict.twin.states[-1]
            steps = [reference.step(table, last, move) for move in legal_moves(table, last)]
            assert steps
            assert ours[-1] not in [list(seen_by(s.observations, verdict.seat)) for s in steps], verdict.name
        else:
            assert ours == theirs, verdict.name
        assert verdict.game.states != verdict.twin.states


def test_counterexamples_are_the_shortest_there_are() -> None:
    events = {(v.family, v.name): v.depth for v in verdicts()}
    assert events["resistance", "every_team_has_a_good_member"] == 3  # deal, first leader, team
    assert events["resistance", "the_fifth_rejection_happens"] == 12  # then five teams and votes
    assert events["avalon", "three_successes_win"] == 12  # three quests of three events, and the naming


def test_a_game_is_shown_with_as_few_modules_and_rulings_as_it_needs() -> None:
    shown = next(
        v for v in verdicts() if v.family == "resistance" and v.name == "the_fifth_rejection_happens"
    )
    assert shown.game is not None
    record = record_of(family_of(shown), shown.game)
    assert record.configuration.modules == ()
    assert record.configuration.rulings == {}
    assert record.configuration.players == 5
