"""A rule broken in the Z3 back end only is caught by playing along with the others."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from random import Random

import pytest

from avalon_logic.library import open_model
from rules_dsl import Model, Settled, Value, settle
from rules_dsl import model as m
from rules_dsl.play import IllegalMove
from rules_dsl.smt import compile_smt
from rules_dsl.smt.play import RelationPlay
from rules_dsl.walk import rebuild
from tests.differential.agreement import play_along, replay_everywhere, solver_games

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


def caught(break_rule: Callable[[Model], Model], seeds: int = 20) -> bool:
    """Does playing along notice that the relation was made from a broken model?"""
    plays = [(RelationPlay(compile_smt(break_rule(t.model)), {}), t) for t in tables()]
    for seed in range(seeds):
        for play, table in plays:
            try:
                play_along(play, table, Random(seed), attempts=4)
            except (AssertionError, IllegalMove):
                return True
    return False


def without_requirement(phase: str, text: str) -> Callable[[Model], Model]:
    def change(model: Model) -> Model:
        if phase not in model.phases:
            return model
        old = model.phases[phase]
        choices = tuple(
            replace(c, requires=tuple(r for r in c.requires if r.text != text)) for c in old.choices
        )
        return replace(model, phases={**model.phases, phase: replace(old, choices=choices)})

    return change


def requirements() -> list[tuple[str, str]]:
    return [
        (phase.name, rule.text)
        for phase in open_model("avalon_2021", MODULES).phases.values()
        for choice in phase.choices
        for rule in choice.requires
    ]


def with_operation(phase: str, old: str, new: str) -> Callable[[Model], Model]:
    """Every comparison of one kind in a phase's effects replaced by another."""

    def change_expr(expr: m.Expr) -> m.Expr:
        made = rebuild(expr, change_expr)
        return replace(made, operation=new) if isinstance(made, m.Apply) and made.operation == old else made

    def change_body(body: tuple[m.Statement, ...]) -> tuple[m.Statement, ...]:
        return tuple(
            replace(
                s,
                condition=change_expr(s.condition),
                then=change_body(s.then),
                otherwise=change_body(s.otherwise),
            )
            if isinstance(s, m.If)
            else s
            for s in body
        )

    def change(model: Model) -> Model:
        made = replace(model.phases[phase], body=change_body(model.phases[phase].body))
        assert made != model.phases[phase]
        return replace(model, phases={**model.phases, phase: made})

    return change


def without_statement(phase: str, kind: type) -> Callable[[Model], Model]:
    def change(model: Model) -> Model:
        body = model.phases[phase].body
        kept = tuple(s for s in body if not isinstance(s, kind))
        assert kept != body
        made = replace(model.phases[phase], body=kept)
        return replace(model, phases={**model.phases, phase: made})

    return change


def with_cell(table: str, place: int) -> Callable[[Model], Model]:
    def change(model: Model) -> Model:
        old = model.tables[table]
        cell = old.cells[place]
        assert isinstance(cell, m.Literal)
        assert isinstance(cell.value, int)
        cells = (*old.cells[:place], replace(cell, value=cell.value - 1), *old.cells[place + 1 :])
        return replace(model, tables={**model.tables, table: replace(old, cells=cells)})

    return change


def test_nothing_is_noticed_when_nothing_is_broken() -> None:
    assert not caught(lambda model: model, seeds=3)


@pytest.mark.parametrize(("phase", "text"), requirements())
def test_a_requirement_missing_in_the_relation_is_noticed(phase: str, text: str) -> None:
    assert caught(without_requirement(phase, text))


@pytest.mark.parametrize(
    "broken",
    [
        pytest.param(with_operation("vote", "gt", "ge"), id="a tie approves"),
        pytest.param(with_operation("tally", "ge", "gt"), id="one fail too many needed"),
        pytest.param(with_operation("rejected", "eq", "lt"), id="the first rejection ends it"),
        pytest.param(without_statement("reveal", m.Show), id="nobody sees anything at the reveal"),
        pytest.param(without_statement("aftermath", m.Assign), id="the leader stays"),
        pytest.param(with_cell("team_size", 10), id="the first team of seven has one member"),
    ],
)
def test_an_effect_changed_in_the_relation_is_noticed(broken: Callable[[Model], Model]) -> None:
    assert caught(broken)


def test_a_solver_with_a_rule_missing_plays_games_the_others_refuse() -> None:
    table = tables()[0]
    broken = compile_smt(without_requirement("cards", "a good player must play success")(table.model))
    honest = compile_smt(table.model)
    depths = {8: False, 12: False, 20: False}
    games = [game for seed in range(6) for game in solver_games(broken, {}, depths, seed)]
    with pytest.raises((AssertionError, IllegalMove)):
        for game in games:
            replay_everywhere(replace(broken, model=honest.model), game)
