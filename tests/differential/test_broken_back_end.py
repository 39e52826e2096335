"""A rule broken in one back end only is caught by comparing it with the others: the Z3 relation, the generated engine,
the arrays."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from functools import cache
from random import Random

import numpy as np
import pytest

from avalon_logic.deduction import deduce, setting
from avalon_logic.deduction.course import IllegalEvent
from avalon_logic.library import open_model
from rules_dsl import Model, Settled, Value, compile_python, settle
from rules_dsl import model as m
from rules_dsl.arrays import compile_arrays
from rules_dsl.arrays.games import Simulator
from rules_dsl.play import IllegalMove
from rules_dsl.smt import compile_smt
from rules_dsl.smt.play import RelationPlay
from rules_dsl.walk import rebuild
from tests.conformance.test_conformance import MIXES
from tests.conformance.test_conformance import settled as tiny
from tests.differential.agreement import engine_game, play_along, replay_everywhere, solver_games
from tests.differential.breaking import EFFECTS, Break, without_requirement
from tests.differential.knowledge import compare_knowledge
from tests.oracle.brute_records import possible_deals
from tests.oracle.random_records import random_record
from tests.rules_dsl.test_many_games import alike

ROLES = frozenset({"merlin", "assassin", "percival", "morgana", "mordred"})
MODULES = ("lady", "percival", "morgana", "mordred", "oberon")
# game, modules, parameters: between them every requirement matters somewhere
TABLES: list[tuple[str, tuple[str, ...], dict[str, Value]]] = [
    ("avalon_2021", MODULES, {"players": 7, "specials": ROLES}),
    ("avalon", (), {"players": 9, "naming_domain": "good_only"}),
    ("avalon_2021", (), {"players": 9, "naming_domain": "not_known_evil", "after_rejection": "same_quest"}),
    ("avalon_2021", MODULES, {"players": 8, "specials": ROLES, "quest_order": "from_start"}),
    ("avalon_2021", MODULES, {"players": 10, "specials": ROLES | {"oberon"}}),
]


@cache
def tables() -> list[Settled]:
    return [settle(open_model(game, modules), given) for game, modules, given in TABLES]


def whole(model: Model) -> Model:
    """Nothing is broken."""
    return model


def relation_caught(break_rule: Break, seeds: int = 20) -> bool:
    """Does playing along notice that the relation was made from a broken model?"""
    plays = [(RelationPlay(compile_smt(break_rule(t.model)), {}), t) for t in tables()]
    for seed in range(seeds):
        for play, table in plays:
            try:
                play_along(play, table, Random(seed), attempts=4)
            except (AssertionError, IllegalMove):
                return True
    return False


def engine_caught(break_rule: Break, seeds: int = 40) -> bool:
    """Does playing along notice that the engine was made from a broken model?"""
    engines = [(compile_python(break_rule(t.model)), t.model) for t in tables()]
    for seed in range(seeds):
        for engine, model in engines:
            try:
                list(engine_game(engine, model, Random(seed), attempts=8))
            except (AssertionError, IllegalMove):
                return True
    return False


def requirements() -> list[tuple[str, str]]:
    return [
        (phase.name, rule.text)
        for phase in open_model("avalon_2021", MODULES).phases.values()
        for choice in phase.choices
        for rule in choice.requires
    ]


def test_nothing_is_noticed_when_nothing_is_broken() -> None:
    assert not relation_caught(whole, seeds=3)
    assert not engine_caught(whole, seeds=10)


# --- the Z3 relation ---


@pytest.mark.parametrize(("phase", "text"), requirements())
def test_a_requirement_missing_in_the_relation_is_noticed(phase: str, text: str) -> None:
    assert relation_caught(without_requirement(phase, text))


@pytest.mark.parametrize("broken", EFFECTS)
def test_an_effect_changed_in_the_relation_is_noticed(broken: str) -> None:
    assert relation_caught(EFFECTS[broken])


def test_a_solver_with_a_rule_missing_plays_games_the_others_refuse() -> None:
    table = tables()[0]
    broken = compile_smt(without_requirement("cards", "a good player must play success")(table.model))
    honest = compile_smt(table.model)
    depths = {8: False, 12: False, 20: False}
    games = [game for seed in range(6) for game in solver_games(broken, {}, depths, seed)]
    with pytest.raises((AssertionError, IllegalMove)):
        for game in games:
            replay_everywhere(replace(broken, model=honest.model), game)


# --- the generated engine ---


@pytest.mark.parametrize(("phase", "text"), requirements())
def test_a_requirement_missing_in_the_engine_is_noticed(phase: str, text: str) -> None:
    assert engine_caught(without_requirement(phase, text))


@pytest.mark.parametrize("broken", EFFECTS)
def test_an_effect_changed_in_the_engine_is_noticed(broken: str) -> None:
    assert engine_caught(EFFECTS[broken])


# --- the arrays: all worlds at once, and many games at once ---


def worlds_caught(break_rule: Break, monkeypatch: pytest.MonkeyPatch, records: int) -> bool:
    """Does deduction with broken arrays leave other deals than playing every deal by hand?"""
    monkeypatch.setattr(setting, "_KEPT", {})
    monkeypatch.setattr(
        setting, "compile_arrays", lambda model, named: compile_arrays(break_rule(model), named)
    )
    rng = Random("broken")
    for _ in range(records):
        record, viewer, _ = random_record(rng, (5, 6, 7), 500)
        try:
            found = sorted(tuple(world.values()) for world in deduce(record, viewer).worlds())
        except IllegalEvent:
            return True
        if found != sorted(possible_deals(record, viewer)):
            return True
    return False


def test_no_world_is_missed_when_nothing_is_broken(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not worlds_caught(whole, monkeypatch, records=25)


@pytest.mark.parametrize("broken", [x for x in EFFECTS if x != "nobody sees anything at the reveal"])
def test_an_effect_changed_in_the_arrays_leaves_other_worlds(
    broken: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert worlds_caught(EFFECTS[broken], monkeypatch, records=300)


def test_a_requirement_missing_in_the_arrays_leaves_other_worlds(monkeypatch: pytest.MonkeyPatch) -> None:
    lenient = without_requirement("cards", "a good player must play success")
    assert worlds_caught(lenient, monkeypatch, records=300)


def showing(phase: str, old: str, new: str) -> Break:
    """What is shown in a phase is about another variable."""

    def change_expr(expr: m.Expr) -> m.Expr:
        made = rebuild(expr, change_expr)
        return replace(made, name=new) if isinstance(made, m.Variable) and made.name == old else made

    def change(model: Model) -> Model:
        body = tuple(
            replace(s, value=change_expr(s.value)) if isinstance(s, m.Show) else s
            for s in model.phases[phase].body
        )
        assert body != model.phases[phase].body
        return replace(model, phases={**model.phases, phase: replace(model.phases[phase], body=body)})

    return change


def test_something_else_shown_in_the_arrays_is_known_otherwise() -> None:
    model = tiny(*next(mix for mix in MIXES if mix[1] == "look"))
    wrong = showing("pick", "target", "seer")(model)
    assert sum(compare_knowledge(model, Random(seed), 0, 2) for seed in range(10)) > 0
    with pytest.raises(AssertionError):
        for seed in range(10):
            compare_knowledge(model, Random(seed), 0, 2, arrays=wrong)


def games_caught(break_rule: Break) -> bool:
    """Do many games in broken arrays end otherwise than those of the engine?"""
    model = settle(open_model("resistance"), {"players": 8}).model
    found = Simulator(break_rule(model)).play(20_000, np.random.default_rng(1))
    try:
        alike(found, Counter(compile_python(model).simulate(20_000, Random(1))))
    except AssertionError:
        return True
    return False


@pytest.mark.parametrize(
    "broken", ["a tie approves", "one fail too many needed", "the first rejection ends it"]
)
def test_games_in_arrays_by_other_rules_end_otherwise(broken: str) -> None:
    assert games_caught(EFFECTS[broken])


def test_games_in_arrays_end_as_the_engine_says() -> None:
    assert not games_caught(whole)
