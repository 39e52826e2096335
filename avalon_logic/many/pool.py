"""Games judged by processes of their own, in the order they came, each within a limit of time and of memory.

A game that takes too long or too much is answered with that, and the next one goes on. So is a fault of ours: it is
said with the game that showed it, and loses none of the others.
"""

from __future__ import annotations

import gc
import multiprocessing
import signal
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from pathlib import Path
from time import monotonic
from typing import Any

from avalon_logic.many.sources import Source

Answer = Mapping[str, Any]
Job = Callable[[Source], Answer]

UNDECIDED = "undecided"
PATIENCE = (
    10  # times the limit on the clock, for a process that gets little of a busy machine or hears no signal
)
AHEAD = 16  # games handed out for each process before the first of them must be answered
MOST_GROWTH = 400  # megabytes after which a process makes room for a fresh one


@dataclass(frozen=True)
class Limits:
    """What one game may take: seconds of processor time, megabytes."""

    seconds: float = 10.0
    megabytes: int = 1_000


class _OutOfTime(BaseException):
    """Nothing that handles errors of a game may handle this one."""


def undecided(why: str) -> dict[str, Any]:
    return {"status": UNDECIDED, "error": why}


def judged(
    games: Iterator[Source], job: Job, workers: int, limits: Limits
) -> Generator[tuple[Source, Answer], None, None]:
    """Every game with its answer, in order. What is not yet answered when this is closed is dropped."""
    pool = _Pool(job, max(1, workers), limits)
    try:
        yield from pool.run(games)
    finally:
        pool.close()


# --- the process that hands out games ---


@dataclass
class _Worker:
    process: Any
    pipe: Connection
    task: tuple[int, Source] | None = None
    since: float = 0.0


class _Pool:
    def __init__(self, job: Job, workers: int, limits: Limits) -> None:
        methods = multiprocessing.get_all_start_methods()
        self.context: Any = multiprocessing.get_context("fork" if "fork" in methods else "spawn")
        self.job = job
        self.most = workers
        self.limits = limits
        self.workers: list[_Worker] = []

    def run(self, games: Iterator[Source]) -> Iterator[tuple[Source, Answer]]:
        taken = told = 0
        answers: dict[int, tuple[Source, Answer]] = {}
        more = True
        while more or told < taken:
            while more and taken - told < AHEAD * self.most and self._idle():
                source = next(games, None)
                if source is None:
                    more = False
                elif source.content is None:
                    answers[taken] = source, {"status": "unreadable", "error": source.error}
                    taken += 1
                else:
                    self._give(taken, source)
                    taken += 1
            for number, source, answer in self._heard():
                answers[number] = source, answer
            while told in answers:
                yield answers.pop(told)
                told += 1

    def _idle(self) -> bool:
        return len(self.workers) < self.most or any(w.task is None for w in self.workers)

    def _give(self, number: int, source: Source) -> None:
        worker = next((w for w in self.workers if w.task is None), None) or self._hired()
        worker.task, worker.since = (number, source), monotonic()
        with suppress(OSError):  # a process that has gone is noticed when its answer is waited for
            worker.pipe.send(source)

    def _hired(self) -> _Worker:
        ours, theirs = self.context.Pipe()
        others = [w.pipe for w in self.workers] + [ours]
        process = self.context.Process(
            target=_work, args=(self.job, self.limits, theirs, others), daemon=True
        )
        process.start()
        theirs.close()
        worker = _Worker(process, ours)
        self.workers.append(worker)
        return worker

    def _heard(self) -> Iterator[tuple[int, Source, Answer]]:
        """Answers that have come, and of processes that will give none, why."""
        busy = {w.pipe: w for w in self.workers if w.task is not None}
        if not busy:
            return
        ready: list[Any] = wait(list(busy), timeout=1.0)
        for pipe in ready:
            worker = busy[pipe]
            assert worker.task is not None
            number, source = worker.task
            try:
                answer, stays = worker.pipe.recv()
            except (EOFError, OSError):
                answer, stays = undecided(self._gone(worker)), False
            worker.task = None
            if not stays:
                self._dismiss(worker)
            yield number, source, answer
        for worker in busy.values():
            if worker.task is not None and monotonic() - worker.since > PATIENCE * self.limits.seconds:
                number, source = worker.task
                self._dismiss(worker)
                yield number, source, undecided(_too_long(self.limits))

    def _gone(self, worker: _Worker) -> str:
        worker.process.join(1)
        code = worker.process.exitcode
        return f"the process that read this game ended with code {code} (out of memory?)"

    def _dismiss(self, worker: _Worker) -> None:
        self.workers.remove(worker)
        worker.process.kill()
        worker.process.join()
        worker.pipe.close()

    def close(self) -> None:
        for worker in list(self.workers):
            self._dismiss(worker)


# --- the processes that judge ---


def _work(job: Job, limits: Limits, pipe: Connection, others: list[Connection]) -> None:
    for connection in others:
        connection.close()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # whoever started us hears it and reports
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    if hasattr(signal, "SIGVTALRM"):
        signal.signal(signal.SIGVTALRM, _ring)
    gc.set_threshold(
        50_000, 20, 50
    )  # games leave little behind in circles; looking for it takes a tenth of the time
    start = _megabytes("VmRSS")
    _bound(limits)
    with suppress(EOFError, OSError):
        while True:
            source = pipe.recv()
            answer, stays = _answer(job, source, limits)
            pipe.send((answer, stays and _megabytes("VmRSS") - start < MOST_GROWTH))


def _ring(_number: int, _frame: object) -> None:
    raise _OutOfTime


def _answer(job: Job, source: Source, limits: Limits) -> tuple[Answer, bool]:
    """The answer to one game, and whether this process is fit for another."""
    try:
        _clock(limits.seconds)
        try:
            return job(source), True
        finally:
            _clock(0)
    except _OutOfTime:
        return undecided(_too_long(limits)), True
    except MemoryError:
        return undecided(f"this game takes more than {limits.megabytes:,} MB"), False
    except Exception as error:
        return undecided(f"a fault of avalon, please report it: {type(error).__name__}: {error}"), True


def _too_long(limits: Limits) -> str:
    return (
        f"this game takes more than {limits.seconds:g} s; write down more of it, or give it more with --time"
    )


def _clock(seconds: float) -> None:
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_VIRTUAL, seconds)


def _bound(limits: Limits) -> None:
    """No more memory than what is there already and the limit; where the system knows such bounds."""
    with suppress(ImportError, OSError, ValueError):
        import resource

        most = (_megabytes("VmData") + limits.megabytes) * 2**20
        _, hard = resource.getrlimit(resource.RLIMIT_DATA)
        if _megabytes("VmData"):
            resource.setrlimit(resource.RLIMIT_DATA, (most, hard))


def _megabytes(name: str) -> int:
    """How much memory this process has, as the system counts it; 0 where it does not say."""
    with suppress(OSError, ValueError):
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith(f"{name}:"):
                return int(line.split()[1]) // 1024
    return 0
