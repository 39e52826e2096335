"""Every rule has a literal: an unsat core of the Z3 back end is a list of clauses."""

from __future__ import annotations

import pytest

from rules_dsl import model as m
from rules_dsl import reference, settle
from rules_dsl.play import CHANCE
from rules_dsl.smt import Game, System
from rules_dsl.smt.terms import Truth, and_, equal, number
from rules_dsl.smt.track import conditions, refusal, why_never
from tests.differential.agreement import GAMES, open_system


@pytest.mark.parametrize("game", GAMES)
def test_every_requirement_has_a_literal_of_its_own_with_its_clauses(game: str) -> None:
    system = open_system(game)
    rules = [r for p in system.model.phases.values() for c in p.choices for r in c.requires]
    found = [c for step in system.steps.values() for c in (*step.conditions, *step.oughts)]
    assert len({str(c.literal) for c in found}) == len(found)
    assert sorted(id(c.rule) for c in found if c.rule is not None) == sorted(map(id, rules))
    for condition in found:
        if condition.rule is not None:
            assert condition.cites == condition.rule.origin.cites
            assert condition.cites


def test_a_team_of_the_wrong_size_is_refused_by_its_clause() -> None:
    system = open_system("avalon")
    table = settle(system.model, {"players": 7, "specials": frozenset({"merlin", "assassin"})})
    state = reference.start(table.model).state
    deal = next(reference.options(table.model, state, CHANCE))
    for move in (deal, 0):
        state = reference.step(table.model, state, ((CHANCE, move),)).state
    found = refusal(system, table.params, state, ((0, frozenset({0, 1, 2})),))
    assert [c.cites for c in found] == [("CORE-11",)]
    assert refusal(system, table.params, state, ((0, frozenset({0, 1})),)) == ()


def _the_fifth_quest_first(system: System) -> Truth:
    target = system.before.values["target"]
    return and_((equal(target, number(5)), system.holds(m.InPhase("vote")), system.params["with_targeting"]))


def test_the_rules_that_close_the_fifth_quest_at_the_start_are_named() -> None:
    system = open_system("resistance")
    gated = equal(system.params["fifth_gate"], number(0))
    found = why_never(system, and_((_the_fifth_quest_first(system), gated)), 5)
    assert not isinstance(found, Game)
    assert ("TGT-04",) in [c.cites for c in found]


def test_without_the_gate_a_game_that_attempts_the_fifth_quest_first_is_given() -> None:
    system = open_system("resistance")
    found = why_never(system, _the_fifth_quest_first(system), 5)
    assert isinstance(found, Game)
    assert found.params["fifth_gate"] == "no_gate"


def test_conditions_are_named_by_place_and_choice() -> None:
    assert "rule cards:0 card require 0" in conditions(open_system("resistance"))
