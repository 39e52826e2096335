"""Ctrl-C while a solver works: the solver takes it for itself, and everybody else must hear of it all the same."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from threading import Timer

import pytest
import z3  # type: ignore[import-untyped]

from proofs.clock import Clock
from rules_dsl.smt.cores import consistent

HOUSE = """
module late "Nothing" for avalon {
  invariant rejections_stay_few "few teams are rejected": over implies rejections <= 5 expect proved
  invariant rejections_stay_fewer "fewer teams are rejected": over implies rejections <= 3 expect proved
}
"""


def hard() -> z3.Solver:
    """A question that takes minutes."""
    solver = z3.Solver()
    a, b, c, d, e, f = (z3.BitVec(name, 64) for name in "abcdef")
    solver.add(a * b * a == c * d + 12345678912345, a > 77, b > 88, c * c * c == e * f + 3)
    solver.add(z3.UGT(e * b, c * a))
    solver.set("timeout", 20_000)
    return solver


@pytest.mark.parametrize("ask", [lambda s: Clock.of(100).check(s), lambda s: consistent(s, [])])
def test_an_interruption_during_a_question_is_an_interruption(ask: object) -> None:
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    timer = Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT))
    try:
        timer.start()
        with pytest.raises(KeyboardInterrupt):
            ask(hard())  # type: ignore[operator]
    finally:
        timer.cancel()
        signal.signal(signal.SIGINT, before)


def interrupted(words: list[str], folder: Path, after: float) -> tuple[int, str, float]:
    """What a command says, and how long it takes, when the whole group hears Ctrl-C as at a terminal."""
    process = subprocess.Popen(
        [sys.executable, "-m", *words],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler) and None,
    )
    try:
        time.sleep(after)
        asked = time.monotonic()
        os.killpg(process.pid, signal.SIGINT)
        shown, _ = process.communicate(timeout=45)
        return process.returncode, shown, time.monotonic() - asked
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)


def test_pytest_stops_at_ctrl_c(tmp_path: Path) -> None:
    (tmp_path / "house.rules").write_text(HOUSE)
    words = ["pytest", "-p", "no:cacheprovider", "-q", "house.rules"]
    code, shown, seconds = interrupted(words, tmp_path, 6)
    assert code == 2, shown
    assert "KeyboardInterrupt" in shown
    assert seconds < 20


def test_coverage_stops_at_ctrl_c(tmp_path: Path) -> None:
    words = ["avalon_logic", "prove", "--coverage", "--game", "resistance", "-j", "2"]
    code, shown, seconds = interrupted(words, tmp_path, 6)
    assert code == 3, shown
    assert "interrupted" in shown and "Traceback" not in shown
    assert seconds < 8
