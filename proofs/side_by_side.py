"""Pieces of work side by side, a process for each, that stop at once when whoever asked for them stops.

A pool waits for what its processes are at, and a solver at work hears of nothing. These processes are ended from outside.
"""

from __future__ import annotations

import multiprocessing
import signal
from collections.abc import Callable, Generator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from typing import Any

Task = tuple[Callable[..., Any], tuple[Any, ...]]  # a function of a module and what to call it with


@dataclass(frozen=True)
class Lost:
    """What there is instead of a result, and why."""

    why: str


def _work(task: Task, answer: Connection) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # whoever started us ends us
    function, arguments = task
    try:
        answer.send(function(*arguments))
    except Exception as error:  # a fault of one must not silence the others
        answer.send(Lost(f"{type(error).__name__}: {error}"))


def side_by_side(tasks: Sequence[Task], workers: int) -> Generator[tuple[int, Any], None, None]:
    """The number and the result of each task, as soon as it is there; a `Lost` for one that came to nothing."""
    methods = multiprocessing.get_all_start_methods()
    context = multiprocessing.get_context("fork" if "fork" in methods else "spawn")
    waiting = list(enumerate(tasks))
    running: dict[Connection, tuple[int, Any]] = {}
    try:
        while waiting or running:
            while waiting and len(running) < max(1, workers):
                number, task = waiting.pop(0)
                ours, theirs = context.Pipe(duplex=False)
                process = context.Process(target=_work, args=(task, theirs), daemon=True)  # type: ignore[attr-defined]
                process.start()
                theirs.close()
                running[ours] = number, process
            for ready in wait(list(running)):
                assert isinstance(ready, Connection)
                number, process = running.pop(ready)
                try:
                    result = ready.recv()
                except EOFError:
                    process.join()
                    result = Lost(f"its process ended with code {process.exitcode} (out of memory?)")
                process.join()
                yield number, result
    finally:
        for _, process in running.values():
            process.terminate()
        for _, process in running.values():
            with suppress(Exception):
                process.join(2)
