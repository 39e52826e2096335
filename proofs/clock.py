"""How long a question may take: processor time of this process, so that a busy machine does not change a verdict.

The solver itself only knows the time on the wall. It gets what is left as if it had the machine to itself; if it comes
back without an answer and has had less, it goes on with what it has learnt. A process that gets next to nothing of the
machine is given up after `PATIENCE` times the limit on the wall.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from time import monotonic, process_time
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
