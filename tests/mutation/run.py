"""`python -m tests.mutation.run`: every mutant of the shipped rulebooks against properties, examples and the prover.

Each mutant is judged in a process of its own. With --report the results are kept in a file, one JSON object a line, and
a run that was interrupted goes on where it stopped. The summary lists every mutant that lives with the reason: one that
is another game and has no reason in `known.toml` is a finding, and so is a reason for a mutant that was killed.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from pathlib import Path
from time import monotonic
from typing import Any

from proofs.mutation import Mutant, sample
from tests.mutation.checks import (
    EQUIVALENT,
    EXAMPLES,
    KILLED,
    REFUSED,
    SURVIVED,
    Outcome,
    Shelf,
    all_mutants,
    judge,
    shipped,
)
from tests.mutation.known import reasons

GOAL = 0.95


def judged(
    original: Shelf,
    chosen: Sequence[Mutant],
    *,
    jobs: int = 1,
    prove_seconds: float = 10.0,
    games: int = 25,
    limit: float = 1200.0,
    examples: Sequence[str] = EXAMPLES,
) -> Iterator[tuple[Mutant, Outcome, float]]:
    """What became of each mutant, as soon as it is known. One that is not judged within `limit` seconds lives."""
    fork = get_context("fork")
    waiting = list(reversed(chosen))
    running: dict[Any, tuple[Any, Mutant, float]] = {}
    while waiting or running:
        while waiting and len(running) < jobs:
            mutant = waiting.pop()
            ours, theirs = fork.Pipe(duplex=False)
            child = fork.Process(
                target=_child, args=(theirs, original, mutant, prove_seconds, games, examples)
            )
            child.start()
            theirs.close()
            running[ours] = (child, mutant, monotonic())
        ready = wait(list(running), timeout=1.0)
        for pipe in [*ready, *(p for p, (_, _, begun) in running.items() if monotonic() - begun > limit)]:
            if pipe not in running:
                continue
            child, mutant, begun = running.pop(pipe)
            late = Outcome(SURVIVED, "not judged in time", f"after {limit:.0f} s")
            outcome = _result(pipe) if pipe in ready else late
            child.kill()
            child.join()
            yield mutant, outcome, monotonic() - begun


def _child(
    pipe: Any, original: Shelf, mutant: Mutant, prove_seconds: float, games: int, examples: Sequence[str]
) -> None:
    try:
        pipe.send(judge(original, mutant, prove_seconds, games, examples))
    except Exception as error:
        # a mistake of ours, not of the mutant: nothing that is meant to notice it did
        pipe.send(Outcome(SURVIVED, "a crash", f"{type(error).__name__}: {error}"[:200]))


def _result(pipe: Connection) -> Outcome:
    try:
        found = pipe.recv()
    except EOFError:
        return Outcome(SURVIVED, "a crash", "the process ended")
    assert isinstance(found, Outcome)
    return found


def score(outcomes: Sequence[Outcome]) -> float:
    """The share of mutants that make a difference and were noticed."""
    killed = sum(1 for o in outcomes if o.status == KILLED)
    survived = sum(1 for o in outcomes if o.status == SURVIVED)
    return killed / (killed + survived) if killed + survived else 1.0


def summary(results: Sequence[tuple[Mutant, Outcome]], why: Mapping[str, str]) -> dict[str, Any]:
    """The figures, and every mutant that lives; `why` has the reasons that are known."""
    outcomes = [outcome for _, outcome in results]
    living = [(m, o) for m, o in results if o.status in (SURVIVED, EQUIVALENT)]
    return {
        "mutants": len(results),
        **{
            status: sum(1 for o in outcomes if o.status == status)
            for status in (REFUSED, KILLED, EQUIVALENT, SURVIVED)
        },
        "killed_by": dict(Counter(o.by for o in outcomes if o.status == KILLED)),
        "kinds": {
            kind: dict(Counter(o.status for m, o in results if m.kind == kind))
            for kind in sorted({m.kind for m, _ in results})
        },
        "score": round(score(outcomes), 4),
        "survivors": [
            f"{m}: {why.get(m.key, 'no reason known')} ({o.detail})"
            for m, o in living
            if o.status == SURVIVED
        ],
        "equivalents": [
            f"{m}: {why.get(m.key, 'no reason known')} ({o.by})" for m, o in living if o.status == EQUIVALENT
        ],
        "unexplained": [str(m) for m, _ in living if m.key not in why],
        "explained_but_dead": [str(m) for m, o in results if m.key in why and o.status in (KILLED, REFUSED)],
    }


def _fingerprint(original: Shelf) -> str:
    joined = "\0".join(f"{name}\0{text}" for name, text in sorted(original.texts.items()))
    return hashlib.sha256(joined.encode()).hexdigest()[:16]


def _earlier(path: Path | None, fingerprint: str) -> dict[str, Outcome]:
    """Results of an earlier run over the same rulebooks."""
    if path is None or not path.exists():
        return {}
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return {
        x["mutant"]: Outcome(x["status"], x["by"], x["detail"]) for x in lines if x["rules"] == fingerprint
    }


def main(arguments: Sequence[str] | None = None, write: Callable[[str], None] = print) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.mutation.run", description=__doc__)
    parser.add_argument("-j", type=int, default=2, metavar="JOBS", help="processes (default 2)")
    parser.add_argument(
        "--one-in", type=int, default=1, metavar="N", help="a fixed sample, one in N of each kind"
    )
    parser.add_argument("--file", help="only mutants of this rulebook file, such as core.rules")
    parser.add_argument("--seconds", type=float, default=10.0, help="the prover's limit for a property")
    parser.add_argument("--games", type=int, default=25, help="random games for each check")
    parser.add_argument("--report", type=Path, help="keep results in this file and go on from it")
    parser.add_argument("--json", action="store_true", help="only the summary, as JSON")
    args = parser.parse_args(arguments)
    original = shipped()
    fingerprint = _fingerprint(original)
    chosen = sample([m for m in all_mutants(original) if args.file in (None, m.file)], args.one_in)
    known = _earlier(args.report, fingerprint)
    results = [(m, known[m.key]) for m in chosen if m.key in known]
    left = [m for m in chosen if m.key not in known]
    done = judged(original, left, jobs=args.j, prove_seconds=args.seconds, games=args.games)
    for mutant, outcome, seconds in done:
        results.append((mutant, outcome))
        if args.report is not None:
            line = {"rules": fingerprint, "mutant": mutant.key, "status": outcome.status}
            line |= {"by": outcome.by, "detail": outcome.detail, "seconds": round(seconds, 1)}
            with args.report.open("a", encoding="utf-8") as file:
                file.write(json.dumps(line, ensure_ascii=False) + "\n")
        if not args.json:
            place = f"{len(results)}/{len(chosen)}"
            write(
                f"{place:>9} {outcome.status:<10} {mutant}  [{outcome.by}: {outcome.detail}] {seconds:.1f} s"
            )
    places = {m.key: i for i, m in enumerate(chosen)}
    results.sort(key=lambda found: places[found[0].key])
    report = summary(results, reasons(all_mutants(original), original.texts))
    write(json.dumps(report, indent=None if args.json else 1, ensure_ascii=False))
    clean = not report["unexplained"] and not report["explained_but_dead"]
    return 0 if report["score"] >= GOAL and clean else 1


if __name__ == "__main__":
    sys.exit(main())
