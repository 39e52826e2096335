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
from rules_dsl.smt import finite_solver


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
