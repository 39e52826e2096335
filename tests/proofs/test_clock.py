"""The limit of a question is processor time: a busy machine does not change a verdict, a hard question still ends."""

from __future__ import annotations

import multiprocessing
import os
import signal
from time import monotonic, process_time, sleep
from typing import Any

import pytest
import z3  # type: ignore[import-untyped]

from proofs import clock as clocks
from proofs.clock import Clock, OutOfTime
from proofs.prover import Options, prove
from proofs.verdicts import UNKNOWN
from rules_dsl.smt import finite_solver
from tests.proofs.house import COUNTDOWN, model_of


def pigeons(holes: int) -> Any:
    """One pigeon more than there are holes: easy to say, and harder with every hole for a solver to refuse."""
    solver = finite_solver()
    sits = [[z3.Bool(f"pigeon {i} in {j}") for j in range(holes)] for i in range(holes + 1)]
    solver.add(*(z3.Or(*row) for row in sits))
    for j in range(holes):
        for a in range(holes + 1):
            solver.add(*(z3.Or(z3.Not(sits[a][j]), z3.Not(sits[b][j])) for b in range(a)))
    return solver


def test_a_question_answered_in_time_is_answered() -> None:
    assert not Clock.of(30).check(pigeons(6))


def test_a_hard_question_ends_when_its_time_is_used_up() -> None:
    started = process_time()
    with pytest.raises(OutOfTime):
        Clock.of(0.5).check(pigeons(14))
    assert 0.4 < process_time() - started < 5


def test_the_answer_is_the_same_when_others_take_most_of_the_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if this process got next to nothing of it: the question takes longer than its limit on the wall."""
    monkeypatch.setattr(clocks, "process_time", lambda: monotonic() / 1000)
    monkeypatch.setattr(clocks, "PATIENCE", 1000)
    solver, limit, started = pigeons(9), 0.2, monotonic()
    assert not Clock.of(limit).check(solver)
    assert monotonic() - started > limit


def _answer(results: Any) -> None:
    results.put("ready")
    results.put(Clock.of(3).check(pigeons(9)))


@pytest.mark.skipif(not hasattr(signal, "SIGSTOP"), reason="processes cannot be stopped here")
def test_a_process_that_is_stopped_for_longer_than_its_limit_keeps_its_verdict() -> None:
    context = multiprocessing.get_context("spawn")
    results = context.Queue()
    process = context.Process(target=_answer, args=(results,), daemon=True)
    process.start()
    assert process.pid is not None
    assert results.get(timeout=60) == "ready"
    sleep(0.1)
    os.kill(process.pid, signal.SIGSTOP)
    sleep(3.5)
    os.kill(process.pid, signal.SIGCONT)
    assert results.get(timeout=60) is False
    process.join(10)


def test_a_process_that_gets_nothing_of_the_machine_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clocks, "process_time", lambda: 0.0)
    started = monotonic()
    with pytest.raises(OutOfTime):
        Clock.of(0.05).check(pigeons(14))
    assert monotonic() - started < 20


def test_a_stopped_clock_leaves_the_time_to_others() -> None:
    clock = Clock.of(0.3)
    clock.stop()
    end = process_time() + 0.5
    while process_time() < end:
        pass
    assert clock.left() > 0.2
    end = process_time() + 0.4
    while process_time() < end:
        pass
    with pytest.raises(OutOfTime):
        clock.left()


def test_a_solver_that_gives_up_for_another_reason_is_not_asked_again() -> None:
    class Tired:
        asked = 0
        ctx = z3.main_ctx()
        solver = None

        def set(self, *_given: object) -> None:
            self.asked += 1

        def reason_unknown(self) -> str:
            return "incomplete"

    tired = Tired()
    with pytest.MonkeyPatch.context() as patch, pytest.raises(OutOfTime):
        patch.setattr(clocks, "checked", lambda *_given: z3.unknown)
        Clock.of(5).check(tired)
    assert tired.asked == 1


def busy(seconds: float) -> None:
    end = process_time() + seconds
    while process_time() < end:
        pass


def test_work_between_two_questions_ends_when_its_time_is_used_up() -> None:
    started = process_time()
    with pytest.raises(OutOfTime), Clock.of(0.2).within():
        busy(20)
    assert process_time() - started < 5
    busy(0.5)  # what comes later is not stopped any more


def test_a_stop_that_is_caught_inside_still_counts() -> None:
    reached = False
    with pytest.raises(OutOfTime), Clock.of(0.1).within():
        try:
            busy(20)
        except OutOfTime:
            reached = True
    assert reached


def test_a_stop_that_another_library_makes_an_error_of_its_own_of_is_out_of_time() -> None:
    def badly_wrapped() -> None:
        try:
            busy(20)
        except OutOfTime as error:
            raise TypeError("argument 3: something") from error

    with pytest.raises(OutOfTime), Clock.of(0.1).within():
        badly_wrapped()


def test_a_fault_of_its_own_stays_what_it_is() -> None:
    with pytest.raises(ZeroDivisionError), Clock.of(10).within():
        print(1 // 0)


def test_a_limit_around_another_one_goes_on_after_it() -> None:
    with pytest.raises(OutOfTime), Clock.of(0.6).within():
        with pytest.raises(OutOfTime), Clock.of(0.1).within():
            busy(20)
        busy(20)


DOUBLING = COUNTDOWN.replace(
    "  start take",
    "  def d0(p: Player) = p == turn and left_over > 0\n"
    + "".join(f"  def d{i}(p: Player) = d{i - 1}(left(p)) or d{i - 1}(p)\n" for i in range(1, 14))
    + "  start take",
)
ENDLESS = "all(p in Player | d13(p) implies left_over > 0)"


def test_a_claim_that_is_endless_to_write_down_costs_only_its_own_time() -> None:
    text = DOUBLING.replace("at(take) implies left_over > 0 expect", f"{ENDLESS} expect")
    model = model_of(text)
    started = process_time()
    found = {v.name: v for v in prove(model, "countdown", Options(seconds=0.5, deepest=12, games=10))}
    assert process_time() - started < 15
    assert found["somebody_must_take"].outcome == UNKNOWN
    assert "out of time" in found["somebody_must_take"].how
    assert found["never_full_again"].outcome == "proved"
    assert found["never_stuck"].outcome == "proved"


def test_rules_that_are_endless_to_write_down_leave_every_property_undecided() -> None:
    text = DOUBLING.replace(
        "moves := min(moves + 1, 6)", "moves := min(moves + count(p in Player | d13(p)), 6)"
    )
    started = process_time()
    found = list(prove(model_of(text), "countdown", Options(seconds=0.5, deepest=12, games=2)))
    assert process_time() - started < 15
    assert {v.outcome for v in found} == {UNKNOWN}
    assert len(found) == 6
    assert all("rules were turned into formulas" in v.how for v in found)
