"""Smallest sets of conditions that cannot all hold."""

from __future__ import annotations

import z3  # type: ignore[import-untyped]

from rules_dsl.smt.cores import smallest_core, smallest_hitting_set
from rules_dsl.smt.unroll import finite_solver


def test_a_contradiction_of_more_conditions_than_python_nests_calls_is_found() -> None:
    literals = [z3.Bool(f"told {i}") for i in range(1_100)]
    solver = finite_solver()
    solver.add(z3.Not(z3.And(literals[:1_050])))
    assert smallest_core(solver, literals) == list(range(1_050))


def test_what_must_be_met_by_itself_is_met_without_trying() -> None:
    single = [frozenset({i}) for i in range(2_000)]
    assert smallest_hitting_set([*single, frozenset({5, 2_001}), frozenset({2_002, 2_003})]) == [
        *range(2_000),
        2_002,
    ]
