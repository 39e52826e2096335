"""How long a question may take: processor time of this process, so that a busy machine does not change a verdict.

Making the question costs time as well: `Clock.within` stops what is neither a question nor its answer, terms being built
above all. It does so from outside, by a signal, wherever the work stands; so what was being made is not to be used, and
nothing that was found within counts once it has struck.

The solver itself only knows the time on the wall. It gets what is left as if it had the machine to itself; if it comes
back without an answer and has had less, it goes on with what it has learnt. A process that gets next to nothing of the
machine is given up after `PATIENCE` times the limit on the wall.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import monotonic, process_time
from types import FrameType
from typing import Any

import z3  # type: ignore[import-untyped]

from rules_dsl.smt.raw import checked

PATIENCE = 10
LEAST = 0.01  # seconds worth another call of the solver
OUT_OF_MEMORY = "out of memory"
STOPPED_BY_TIME = ("timeout", "canceled", "interrupted")


class OutOfTime(Exception):
    """The time given for a question was used up, or the solver gave up; `str` says which."""

    def __init__(self, why: str = "out of time") -> None:
        super().__init__(why)


SLACK = 0.5  # seconds, besides a tenth of the time left, for a question to come to its own end
AGAIN = (
    1.0  # seconds after which a stop nobody heard is repeated; what is put right on the way out takes less
)
SOON = 0.001  # seconds after which a stop that came at a bad moment is tried again
NEAR = 6  # frames looked at for work that must not be left half done


def _stops_here(frame: FrameType | None) -> bool:
    """Not while one of the solver's objects is made or given back: an exception there is only printed."""
    for _ in range(NEAR):
        if frame is None:
            return True
        if frame.f_code.co_name in ("__init__", "__del__") and frame.f_code.co_filename == z3.z3.__file__:
            return False
        frame = frame.f_back
    return True


@contextmanager
def _within(seconds: float) -> Iterator[None]:
    struck = False

    def strike(_number: int, frame: FrameType | None) -> None:
        nonlocal struck
        if _stops_here(frame):
            struck = True
            raise OutOfTime
        signal.setitimer(signal.ITIMER_PROF, SOON, AGAIN)

    # only the main thread gets signals, and not every system has this clock: there only questions end in time
    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        yield
        return
    started = process_time()
    before = signal.signal(signal.SIGPROF, strike)
    outer, _ = signal.setitimer(signal.ITIMER_PROF, max(seconds, LEAST), AGAIN)
    try:
        yield
    except Exception:
        if not struck:
            raise
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
        if outer:  # a limit around this one goes on
            signal.setitimer(signal.ITIMER_PROF, max(outer - (process_time() - started), LEAST), AGAIN)
    if struck:  # whatever became of the exception on its way out: others may have made one of their own of it
        raise OutOfTime


@dataclass
class Clock:
    """Time for a question. It runs from the start, but where it was stopped only from the next question to the solver."""

    seconds: float
    used: float = 0.0  # processor time, up to when it was last stopped
    passed: float = 0.0  # time on the wall
    _since: tuple[float, float] | None = field(default_factory=lambda: (process_time(), monotonic()))

    @staticmethod
    def of(seconds: float) -> Clock:
        return Clock(seconds)

    def stop(self) -> None:
        """What follows is somebody else's time."""
        if self._since is not None:
            self.used += process_time() - self._since[0]
            self.passed += monotonic() - self._since[1]
            self._since = None

    def left(self) -> float:
        """The seconds the solver may take now; raises `OutOfTime` if there are none."""
        self.stop()
        self._since = (process_time(), monotonic())
        left = min(self.seconds - self.used, PATIENCE * self.seconds - self.passed)
        if left < min(LEAST, self.seconds / 2):
            raise OutOfTime
        return left

    @contextmanager
    def within(self) -> Iterator[None]:
        """What runs inside is given up once the time and a little more is used up: `OutOfTime` is raised, even if what runs
        inside has caught it.
        """
        with _within(1.1 * self.left() + SLACK):
            yield

    def check(self, solver: Any, *assumptions: Any) -> bool:
        """Is it satisfiable? Raises `OutOfTime` instead of a guess."""
        while True:
            solver.set("timeout", max(1, int(self.left() * 1000)))
            answer = checked(solver, assumptions)
            if answer != z3.unknown:
                return bool(answer == z3.sat)
            reason = str(solver.reason_unknown())
            if reason not in STOPPED_BY_TIME:
                raise OutOfTime(OUT_OF_MEMORY if OUT_OF_MEMORY in reason else f"the solver gave up: {reason}")
