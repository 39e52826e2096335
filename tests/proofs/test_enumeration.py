"""The second reading: a wrong reading of the rules, or a wrong verdict, does not get past the interpreter."""

from __future__ import annotations

from dataclasses import replace

import pytest

from avalon_logic.proving import shipped_families
from proofs.clock import Clock
from proofs.enumeration import Reading, second_reading
from proofs.verdicts import PROVED, Verdict
from rules_dsl import model as m
from rules_dsl.smt import compile_smt
from tests.differential.breaking import Break, without_requirement, without_statement
from tests.proofs.house import COUNTDOWN, model_of, verdicts_of

FEW = 300  # steps


def read(
    change: Break = lambda model: model, verdicts: tuple[Verdict, ...] = (), text: str = COUNTDOWN
) -> Reading:
    model = model_of(text)
    return second_reading(model, compile_smt(change(model)), verdicts, Clock.of(60), most=FEW)


def test_formulas_made_from_the_rules_agree_with_the_interpreter_on_every_small_table() -> None:
    found = read(verdicts=tuple(verdicts_of()))
    assert not found.disagreements
    assert found.whole == found.tables == 2
    assert found.steps > 50
    assert found.refused > 5


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (without_requirement("take", "there are not that many left"), "the formulas allow"),
        (without_statement("take", m.Assign), "leads to"),
    ],
)
def test_a_rule_read_wrongly_is_noticed(change: Break, told: str) -> None:
    assert any(told in line for line in read(change).disagreements)


def test_a_table_read_wrongly_is_noticed() -> None:
    text = COUNTDOWN.replace(
        "  start take",
        '  ruling pace "How fast?" { slow "slow" fast "fast" } default slow\n'
        '  setup error unless pace == slow or players == 3 "two cannot be fast"\n  start take',
    )

    def unchecked(model: m.Model) -> m.Model:
        return replace(model, checks=())

    assert any("formulas take a table" in line for line in read(unchecked, text=text).disagreements)
    assert not read(text=text).disagreements


@pytest.mark.parametrize("name", ["four_moves", "never_stuck", "it_ends"])
def test_a_claim_proved_for_a_wrong_reason_is_noticed(name: str) -> None:
    """Each is said to be proved; the interpreter meets a state that shows it is not."""
    text = COUNTDOWN.replace("require taken <= left_over", "require taken < left_over").replace(
        "within 6", "within 2"
    )
    claim = model_of(text).properties[name]
    wrong = Verdict("countdown", claim, PROVED, "a dream", 0.0, depth=2)
    if name == "four_moves":
        text = COUNTDOWN
    found = read(verdicts=(wrong,), text=text)
    assert any(f"'{name}'" in line for line in found.disagreements)


def test_nothing_read_is_said_as_such() -> None:
    model = model_of(COUNTDOWN)
    found = second_reading(model, compile_smt(model), (), Clock.of(60), most=0)
    assert found.empty
    assert "nothing was compared" in str(found)


def test_time_that_runs_out_is_said_and_what_was_read_stays() -> None:
    (family,) = shipped_families(["resistance"])[:1]
    found = second_reading(family.model, compile_smt(family.model), (), Clock.of(1.5))
    assert not found.disagreements
    assert found.stopped


def test_a_shipped_game_is_read_alike_with_every_module_and_ruling() -> None:
    (family,) = shipped_families(["resistance"])[:1]
    found = second_reading(family.model, compile_smt(family.model), (), Clock.of(200), most=FEW)
    assert not found.disagreements
    assert found.tables > 8
    assert found.steps >= FEW
