"""Being told to stop: what was found until then is still reported."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def termination_interrupts() -> Iterator[None]:
    """Being told to end (as CI does when time is up) is an interruption like Ctrl-C."""

    def interrupt(_number: int, _frame: object) -> None:
        raise KeyboardInterrupt

    try:
        before = signal.signal(signal.SIGTERM, interrupt)
    except ValueError:  # only the main thread gets signals
        yield
        return
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
