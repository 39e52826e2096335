"""Work side by side: results as they come, nothing lost in silence, and an interruption that is heard at once."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from threading import Timer
from time import monotonic

import pytest

from avalon_logic.cli import main
from proofs.clock import Clock
from proofs.side_by_side import Lost, side_by_side
from tests.proofs.house import write_rules
from tests.proofs.test_clock import pigeons


def double(number: int) -> int:
    return 2 * number


def faulty() -> None:
    raise ValueError("no")


def vanishing() -> None:
    os._exit(7)


def hard() -> bool:
    return Clock.of(100).check(pigeons(14))


def test_every_task_gives_its_result_or_why_there_is_none() -> None:
    found = dict(side_by_side([(double, (4,)), (faulty, ()), (vanishing, ()), (double, (5,))], 2))
    assert (found[0], found[3]) == (8, 10)
    assert found[1] == Lost("ValueError: no")
    assert isinstance(found[2], Lost)
    assert "code 7" in found[2].why


@pytest.fixture
def interrupted_soon() -> Iterator[None]:
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    timer = Timer(3, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    yield
    timer.cancel()
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interrupted_soon")
def test_an_interruption_does_not_wait_for_a_solver_at_work() -> None:
    started = monotonic()
    with pytest.raises(KeyboardInterrupt):
        list(side_by_side([(hard, ()), (hard, ())], 2))
    assert monotonic() - started < 8
    assert not multiprocessing.active_children()


@pytest.mark.usefixtures("interrupted_soon")
def test_an_interrupted_coverage_says_what_it_did_not_work_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from avalon_logic.cli import coverage

    monkeypatch.setattr(coverage, "_covered", lambda *_given: hard())
    started = monotonic()
    assert main(["prove", str(write_rules(tmp_path)), "--coverage", "-j", "2"]) == 3
    assert monotonic() - started < 12
    shown = capsys.readouterr().out
    assert "countdown: 2 of 2 phases and requirements are put to use" in shown
    assert "not worked out: countdown: coverage: interrupted" in shown
    assert not multiprocessing.active_children()
