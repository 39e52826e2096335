"""Certificates: what a proof rests on as SMT-LIB 2 files, checked again by two solvers that only read the files.

`write_certificates` puts the obligations of a family's verdicts into a folder, with a list of contents; `check_folder`
reads them back and asks Z3 and cvc5 about each. A file that was changed, an answer other than "unsat" or two solvers
that disagree are failures. `python -m proofs.certificates FOLDER` does the second part alone.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from time import monotonic
from typing import Any

from proofs.evidence import Evidence
from proofs.lemmas import Lemma
from proofs.obligations import (
    Obligation,
    induction_obligations,
    invariant_obligations,
    longest_obligation,
    ranking_obligations,
    safety_obligation,
    slug,
    text_of,
    unrolling_obligation,
)
from proofs.pair_obligations import agreement_obligations, exclusion_obligation, twin_obligations
from proofs.verdicts import PROVED, REFUTED, Verdict
from rules_dsl.smt import System

CONTENTS = "certificate.json"
SOLVERS = ("z3", "cvc5")


class MissingSolver(Exception):
    """The second solver is not installed."""


@dataclass(frozen=True)
class Checked:
    """The answers of both solvers about one file. Both should be "unsat"."""

    family: str
    file: str
    answers: tuple[tuple[str, str], ...]
    seconds: float

    @property
    def stands(self) -> bool:
        return all(answer == "unsat" for _, answer in self.answers)

    @property
    def undecided(self) -> bool:
        return not self.stands and all(answer in ("unsat", "unknown") for _, answer in self.answers)

    def __str__(self) -> str:
        return f"{self.family}/{self.file}: " + ", ".join(f"{s} says {a}" for s, a in self.answers)


# --- writing ---


def write_certificates(verdicts: Iterable[Verdict], folder: Path) -> list[Path]:
    """Writes the obligations of every verdict that needs a proof, one folder for each family; gives those folders."""
    by_family: dict[str, list[Verdict]] = {}
    for verdict in verdicts:
        by_family.setdefault(verdict.family, []).append(verdict)
    made = []
    for family, group in by_family.items():
        place = folder / slug(family)
        place.mkdir(parents=True, exist_ok=True)
        _write_family(family, group, place)
        made.append(place)
    return made


def _write_family(family: str, verdicts: Sequence[Verdict], place: Path) -> None:
    files: dict[str, str] = {}
    needs: dict[str, list[str]] = {}

    def put(obligation: Obligation, prefix: str = "") -> str:
        name = f"{slug(prefix + obligation.name)}.smt2"
        if name not in files:
            text = text_of(obligation, family)
            (place / name).write_text(text, encoding="utf-8")
            files[name] = _digest(text)
        return name

    shared: dict[int, list[str]] = {}
    for system, claims in _by_system(verdicts):
        prefix = f"{len(shared)} " if shared else ""
        shared[id(system)] = [put(o, prefix) for o in induction_obligations(system, claims)]
    for verdict in verdicts:
        evidence = verdict.evidence
        if evidence is not None:
            leaning = shared[id(evidence.whole or evidence.system)] if evidence.claims else []
            needs[verdict.name] = leaning + [put(o) for o in _own_obligations(verdict.name, evidence)]
    contents = {
        "family": family,
        "files": files,
        "properties": {
            v.name: {
                "outcome": v.outcome,
                "how": v.how,
                "files": needs.get(v.name, []),
                "note": not_certified(v),
            }
            for v in verdicts
        },
    }
    (place / CONTENTS).write_text(json.dumps(contents, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def _by_system(verdicts: Sequence[Verdict]) -> Iterator[tuple[System, tuple[Lemma, ...]]]:
    """For every system all claims its proofs rest on: sets that are inductive are so together."""
    systems: dict[int, System] = {}
    claims: dict[int, dict[Lemma, None]] = {}
    for verdict in verdicts:
        if verdict.evidence is not None and verdict.evidence.claims:
            system = verdict.evidence.whole or verdict.evidence.system
            key = id(system)
            systems[key] = system
            claims.setdefault(key, {}).update(dict.fromkeys(verdict.evidence.claims))
    for key, system in systems.items():
        yield system, tuple(claims[key])


def _own_obligations(name: str, evidence: Evidence) -> Iterator[Obligation]:
    system, claims = evidence.system, evidence.known
    if evidence.twins is not None:
        yield from twin_obligations(evidence.twins)
        yield safety_obligation(system, claims, name, evidence.bad)
        return
    if evidence.invariant is not None:
        yield from invariant_obligations(system, claims, name, evidence.invariant, evidence.bad)
        return
    if evidence.shared is not None:
        yield from agreement_obligations(evidence.shared)
        yield exclusion_obligation(evidence.shared, name, evidence.bad)
        return
    if evidence.ranks is not None:
        yield from ranking_obligations(system, claims, name, evidence.ranks)
        if evidence.bad is not False:
            yield safety_obligation(system, claims, name, evidence.bad)
        return
    if evidence.events is None:
        yield safety_obligation(system, claims, name, evidence.bad)
        return
    if evidence.bad is not False:
        yield unrolling_obligation(system, claims, evidence.events, name, evidence.bad)
    yield longest_obligation(system, claims, evidence.events, name)


def not_certified(verdict: Verdict) -> str:
    """Why there is nothing for a second solver to check, or "" if there is."""
    if verdict.evidence is not None:
        return ""
    if verdict.game is not None:
        return "a game shows it, which the interpreter has replayed"
    if verdict.outcome in (PROVED, REFUTED):
        return f"no certificate for this method: {verdict.how}"
    return f"nothing to certify: {verdict.outcome}"


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


# --- checking ---


def check_folder(
    folder: Path, seconds: float = 60.0, jobs: int = 1, report: Callable[[Checked], None] = lambda _: None
) -> list[Checked]:
    """Both solvers' answers about every file listed in the folder and those below it."""
    require_cvc5()
    tasks = []
    lists = sorted(folder.rglob(CONTENTS))
    if not lists:
        raise FileNotFoundError(2, f"no {CONTENTS} here", str(folder))
    for contents_file in lists:
        contents = json.loads(contents_file.read_text(encoding="utf-8"))
        for name, digest in contents["files"].items():
            tasks.append((contents["family"], contents_file.parent / name, digest, seconds))
    made = []
    for checked in _mapped(tasks, jobs):
        report(checked)
        made.append(checked)
    return made


def _mapped(tasks: Sequence[tuple[str, Path, str, float]], jobs: int) -> Iterator[Checked]:
    if jobs <= 1 or len(tasks) < 2:
        yield from map(_check_file, tasks)
        return
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        yield from pool.map(_check_file, tasks)


def _check_file(task: tuple[str, Path, str, float]) -> Checked:
    family, path, digest, seconds = task
    started = monotonic()
    try:
        text = path.read_text(encoding="utf-8")
    except OSError:
        return Checked(family, path.name, (("file", "missing"),), 0.0)
    if _digest(text) != digest:
        return Checked(family, path.name, (("file", "changed since it was written"),), 0.0)
    return Checked(family, path.name, ask_both(text, seconds), monotonic() - started)


def ask_both(text: str, seconds: float) -> tuple[tuple[str, str], ...]:
    """What each solver says about one SMT-LIB text."""
    return (("z3", ask_z3(text, seconds)), ("cvc5", ask_cvc5(text, seconds)))


def ask_z3(text: str, seconds: float) -> str:
    """Z3's answer: unsat, sat, unknown, or what is wrong with the text."""
    import z3  # type: ignore[import-untyped]

    solver = z3.SolverFor("QF_FD")
    solver.set("timeout", int(seconds * 1000))
    try:
        solver.from_string(text)
        return str(solver.check())
    except z3.Z3Exception as error:
        return f"error: {error}"


def require_cvc5() -> Any:
    """The second solver's module; raises `MissingSolver` with what to do if it is not there."""
    try:
        import cvc5  # type: ignore[import-not-found, import-untyped, unused-ignore]
    except ImportError:
        raise MissingSolver(
            "certificates are checked by a second solver, cvc5, which is not installed: "
            "pip install 'avalon-logic[certify]'"
        ) from None
    return cvc5


def ask_cvc5(text: str, seconds: float) -> str:
    """cvc5's answer, by its own reader of SMT-LIB."""
    cvc5 = require_cvc5()
    solver = cvc5.Solver()
    solver.setOption("bitblast", "eager")
    solver.setOption("tlimit-per", str(int(seconds * 1000)))
    parser = cvc5.InputParser(solver)
    answer = ""
    try:
        parser.setStringInput(cvc5.InputLanguage.SMT_LIB_2_6, text, "certificate")
        while not (command := parser.nextCommand()).isNull():
            answer += command.invoke(solver, parser.getSymbolManager())
    except Exception as error:  # cvc5 raises several kinds, none of them exported under one base
        return f"error: {error}"
    if "but got sat" in answer:  # cvc5 compares with the status the file expects
        return "sat"
    return "unknown" if answer.startswith("unknown") else answer.strip()


# --- what a report says ---


def summary(folder: Path, checked: Sequence[Checked]) -> dict[tuple[str, str], str]:
    """For every family and property one line: certified by both, or what is missing."""
    answers = {(c.family, c.file): c for c in checked}
    lines: dict[tuple[str, str], str] = {}
    for contents_file in sorted(folder.rglob(CONTENTS)):
        contents = json.loads(contents_file.read_text(encoding="utf-8"))
        for name, entry in contents["properties"].items():
            mine = [
                answers[contents["family"], f] for f in entry["files"] if (contents["family"], f) in answers
            ]
            failed = [c for c in mine if not c.stands]
            if failed:
                line = f"certificate FAILED: {failed[0]}"
            elif mine:
                line = f"certified: {' and '.join(SOLVERS)} agree on {len(mine)} obligation(s)"
            else:
                line = f"not certified: {entry['note']}"
            lines[contents["family"], name] = line
    return lines


def exit_code(checked: Sequence[Checked]) -> int:
    """0 if everything stands, 1 if something was refuted or changed, 3 if a solver ran out of time."""
    if all(c.stands for c in checked):
        return 0
    return 3 if all(c.stands or c.undecided for c in checked) else 1


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m proofs.certificates", description="Check certificates again with Z3 and cvc5."
    )
    parser.add_argument("folder", type=Path, help="a folder written by `avalon prove --certify`")
    parser.add_argument("-j", type=int, default=1, metavar="JOBS", help="processes (default 1)")
    parser.add_argument("--seconds", type=float, default=60.0, help="limit for each file and solver")
    parser.add_argument("--json", action="store_true", help="one JSON object for each file")
    args = parser.parse_args(arguments)

    def show(one: Checked) -> None:
        plain = {"family": one.family, "file": one.file, **dict(one.answers), "stands": one.stands}
        print(json.dumps({**plain, "seconds": round(one.seconds, 3)}) if args.json else one, flush=True)

    try:
        checked = check_folder(args.folder, args.seconds, args.j, show)
    except (MissingSolver, OSError) as error:
        print(error, file=sys.stderr)
        return 2
    code = exit_code(checked)
    if not args.json:
        word = {0: "all stand", 1: "NOT all stand", 3: "not all decided"}[code]
        print(f"{len(checked)} obligations, {word}")
    return code


if __name__ == "__main__":
    sys.exit(main())
