"""Families decided side by side: one process for each, so that a solver that crashes, runs out of memory or is stopped
takes nothing with it but its own open questions.

`decide` gives verdicts as they are found. What a process did not get to is reported as unknown.
"""

from __future__ import annotations

import multiprocessing
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from multiprocessing.process import BaseProcess
from pathlib import Path
from queue import Empty
from typing import Any

import z3  # type: ignore[import-untyped]

from proofs.certificates import write_certificates
from proofs.clock import OUT_OF_MEMORY, Clock, OutOfTime
from proofs.enumeration import Reading, second_reading
from proofs.families import Family
from proofs.prover import Options, Session, chosen, prove
from proofs.verdicts import UNKNOWN, Verdict

DONE, FAILED = "done", "failed"


def _work(number: int, family: Family, options: Options, folder: Path | None, results: Any) -> None:
    # whoever started us may take this as an interruption; a solver would not hear of it before its answer
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    if options.memory is not None:
        # what the process that started this one holds already does not count
        held = z3.Z3_get_estimated_alloc_size() // 2**20
        z3.set_param("memory_max_size", options.memory + held)
    kept: list[Verdict] = []
    session = Session(family.name, family.model, options)
    try:
        for verdict in prove(family.model, family.name, options, session):
            kept.append(verdict)
            # evidence is made of solver terms, which cannot leave their process
            results.put((number, replace(verdict, evidence=None, narrow=family.narrow)))
        if folder is not None and (lost := _certificates(session, kept, folder)):
            results.put((number, Unwritten(lost)))
        results.put((number, DONE))
    except KeyboardInterrupt:
        pass  # whoever started us reports
    except BaseException as error:  # a fault of one family must not silence the others
        if _is_out_of_memory(error):
            results.put((number, OUT_OF_MEMORY))
        else:
            results.put((number, f"{FAILED}: {type(error).__name__}: {error}"))
            raise


@dataclass(frozen=True)
class Unwritten:
    """What a process says whose certificates could not be written."""

    why: str


def _certificates(session: Session, verdicts: Sequence[Verdict], folder: Path) -> str:
    """Writes what the proofs rest on; gives the reason if that did not work, whatever it is: the verdicts stand, but
    nobody can check them.
    """
    seconds = session.options.seconds
    try:
        try:
            reading = second_reading(session.model, session.prepare(), verdicts, Clock.of(seconds))
        except OutOfTime as error:
            reading = Reading(stopped=str(error))
        with Clock.of(seconds * (1 + len(verdicts))).within():
            write_certificates(verdicts, folder, reading)
    except OSError as error:
        return f"could not be written: {error.filename or folder}: {error.strerror}"
    except Exception as error:
        why = OUT_OF_MEMORY if _is_out_of_memory(error) else f"{type(error).__name__}: {error}"
        return f"could not be made: {why}"
    return ""


def _is_out_of_memory(error: BaseException | None) -> bool:
    """Is this what is left of a solver without memory? Its wrapper may have made another error of the first one."""
    if error is None:
        return False
    said = isinstance(error, z3.Z3Exception) and OUT_OF_MEMORY in str(error)
    return said or isinstance(error, MemoryError) or _is_out_of_memory(error.__context__)


def decide(
    families: Sequence[Family],
    options: Options,
    workers: int,
    certificates: Path | None = None,
    unwritten: Callable[[str, str], None] = lambda _family, _why: None,
) -> Iterator[Verdict]:
    """A verdict for every property of every family, in the order they are decided.

    With a folder for certificates each process writes there what its proofs rest on; `unwritten` is told of a family whose
    certificates could not be written, and why.
    """
    methods = multiprocessing.get_all_start_methods()
    context = multiprocessing.get_context("fork" if "fork" in methods else "spawn")
    results: Any = context.Queue()
    # pairs of games take longest, then many properties: begun last they would be waited for alone
    waiting = sorted(enumerate(families), key=lambda x: (not x[1].knowing, -len(x[1].properties)))
    running: dict[int, BaseProcess] = {}
    decided: dict[int, set[str]] = {number: set() for number, _ in waiting}
    try:
        while waiting or running:
            while waiting and len(running) < max(1, workers):
                number, family = waiting.pop(0)
                process = context.Process(  # type: ignore[attr-defined]
                    target=_work, args=(number, family, options, certificates, results), daemon=True
                )
                process.start()
                running[number] = process
            for number, message in _messages(results, running):
                if isinstance(message, Verdict):
                    decided[number].add(message.name)
                    yield message
                    continue
                if isinstance(message, Unwritten):
                    unwritten(families[number].name, message.why)
                    continue
                running.pop(number).join()
                reason = "its verdict was lost" if message == DONE else message
                yield from _left_open(families[number], options, decided[number], reason)
    finally:
        for process in running.values():
            process.terminate()
            with suppress(Exception):
                process.join(2)


def _messages(results: Any, running: dict[int, BaseProcess]) -> Iterator[tuple[int, Any]]:
    """The next message; or, for processes that ended without a word, that they did."""
    try:
        yield results.get(timeout=0.5)
        return
    except Empty:
        pass
    for number in [n for n, process in running.items() if not process.is_alive()]:
        with suppress(Empty):  # its last words may still be on the way
            while True:
                said = results.get(timeout=0.2)
                yield said
                if said[0] == number and isinstance(said[1], str):
                    return
        code = running[number].exitcode
        yield number, f"{FAILED}: the solver's process ended with code {code} (out of memory?)"
        return


def _left_open(family: Family, options: Options, decided: set[str], reason: str) -> Iterator[Verdict]:
    for claim in chosen(family.model, options):
        if claim.name not in decided:
            yield Verdict(family.name, claim, UNKNOWN, reason, 0.0)
