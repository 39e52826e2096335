"""Certificates: what a proof rests on as SMT-LIB 2 files, checked again by two solvers that only read the files.

`write_certificates` puts the obligations of a family's verdicts into a folder, with a list of contents; `check_folder`
reads them back and asks Z3 and cvc5 about each. A file that was changed, an answer other than "unsat", two solvers that
disagree, or a property that the files do not cover are failures. What no certificate covers is named in each.
`python -m proofs.certificates FOLDER` does the second part alone.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import asdict, dataclass
from multiprocessing import get_context
from pathlib import Path
from time import monotonic, process_time
from typing import Any

from proofs.clock import PATIENCE
from proofs.coverings import NOT_COVERED, gaps, leans, method_of, prefix_of
from proofs.enumeration import Reading
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
from rules_dsl.smt.raw import listened

CONTENTS = "certificate.json"
SOLVERS = ("z3", "cvc5")
NO_METHOD = "no certificate for this method"


class MissingSolver(Exception):
    """The second solver is not installed."""


@dataclass(frozen=True)
class Checked:
    """The answers of both solvers about one file, which should be "unsat"; or what is wrong with the certificate."""

    family: str
    file: str
    answers: tuple[tuple[str, str], ...]
    seconds: float
    problem: str = ""

    @property
    def stands(self) -> bool:
        return not self.problem and bool(self.answers) and all(a == "unsat" for _, a in self.answers)

    @property
    def undecided(self) -> bool:
        known = not self.problem and bool(self.answers)
        return known and not self.stands and all(a in ("unsat", "unknown") for _, a in self.answers)

    def __str__(self) -> str:
        said = self.problem or ", ".join(f"{s} says {a}" for s, a in self.answers)
        return f"{self.family}/{self.file}: {said}"


# --- writing ---


def write_certificates(
    verdicts: Iterable[Verdict], folder: Path, reading: Reading | None = None
) -> list[Path]:
    """Writes the obligations of every verdict that needs a proof, one folder for each family; gives those folders."""
    by_family: dict[str, list[Verdict]] = {}
    for verdict in verdicts:
        by_family.setdefault(verdict.family, []).append(verdict)
    made = []
    for family, group in by_family.items():
        place = folder / slug(family)
        place.mkdir(parents=True, exist_ok=True)
        _write_family(family, group, place, reading)
        made.append(place)
    return made


class _Files:
    """The files of a family, each obligation written once."""

    def __init__(self, family: str, place: Path) -> None:
        self.family = family
        self.place = place
        self.digests: dict[str, str] = {}
        self._parts: dict[str, tuple[tuple[str, Any], ...]] = {}

    def put(self, obligation: Obligation, prefix: str = "") -> str:
        name = f"{slug(prefix + obligation.name)}.smt2"
        if name not in self.digests:
            text = text_of(obligation, self.family)
            (self.place / name).write_text(text, encoding="utf-8")
            self.digests[name] = _digest(text)
            self._parts[name] = obligation.parts
        elif not _same_parts(self._parts[name], obligation.parts):
            raise ValueError(f"two different obligations are called '{obligation.name}'")
        return name


def _same_parts(ours: Sequence[tuple[str, Any]], theirs: Sequence[tuple[str, Any]]) -> bool:
    pairs = list(zip(ours, theirs, strict=False))
    return len(ours) == len(theirs) and all(a == b and x.eq(y) for (a, x), (b, y) in pairs)


def _write_family(family: str, verdicts: Sequence[Verdict], place: Path, reading: Reading | None) -> None:
    (place / CONTENTS).unlink(missing_ok=True)  # what is there is of another run
    files = _Files(family, place)
    systems = _systems(verdicts)
    numbers = {id(system): number for number, (system, _) in enumerate(systems)}
    leant_on = {n for v in verdicts if v.evidence is not None for n in _leaning(v.evidence, numbers)}
    shared = {
        number: [files.put(o, prefix_of(number)) for o in induction_obligations(system, claims)]
        for number, (system, claims) in enumerate(systems)
        if number in leant_on
    }
    properties = {}
    for verdict in verdicts:
        entry: dict[str, Any] = {"outcome": verdict.outcome, "how": verdict.how, "method": "", "files": []}
        evidence = verdict.evidence
        if evidence is not None:
            leaning = _leaning(evidence, numbers)
            entry["method"] = method_of(evidence)
            entry["system"], entry["leaning"] = numbers[id(evidence.system)], leaning
            entry["files"] = [file for number in leaning for file in shared[number]]
            entry["files"] += [files.put(o) for o in _own_obligations(verdict.name, evidence)]
        properties[verdict.name] = {**entry, "note": not_certified(verdict)}
    contents = {
        "family": family,
        "does_not_cover": NOT_COVERED,
        "second_reading": None if reading is None else asdict(reading),
        "places": [sorted(str(p) for p in system.steps) for system, _ in systems],
        "files": files.digests,
        "properties": properties,
    }
    # written last: where it is, everything it lists was written
    (place / CONTENTS).write_text(json.dumps(contents, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def _systems(verdicts: Sequence[Verdict]) -> list[tuple[System, tuple[Lemma, ...]]]:
    """Every system with all claims its proofs rest on: sets that are inductive are so together."""
    systems: dict[int, System] = {}
    claims: dict[int, dict[Lemma, None]] = {}
    for evidence in (v.evidence for v in verdicts if v.evidence is not None):
        base = evidence.whole or evidence.system
        for system in (base, evidence.system):
            systems[id(system)] = system
            claims.setdefault(id(system), {})
        claims[id(base)].update(dict.fromkeys(evidence.claims))
    return [(system, tuple(claims[key])) for key, system in systems.items()]


def _leaning(evidence: Evidence, numbers: Mapping[int, int]) -> list[int]:
    """The systems whose induction the proof rests on: that in which its claims hold, and its own, for well-formed states."""
    if not leans(evidence):
        return []
    return sorted({numbers[id(evidence.whole or evidence.system)], numbers[id(evidence.system)]})


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
        return f"{NO_METHOD}: {verdict.how}"
    return f"nothing to certify: {verdict.outcome}"


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


# --- checking ---


def check_folder(
    folder: Path, seconds: float = 60.0, jobs: int = 1, report: Callable[[Checked], None] = lambda _: None
) -> list[Checked]:
    """Both solvers' answers about every file listed in the folder and those below it, and every gap in the lists."""
    require_cvc5()
    made: list[Checked] = []

    def add(checked: Checked) -> None:
        report(checked)
        made.append(checked)

    tasks = []
    lists = sorted(folder.rglob(CONTENTS))
    if not lists:
        raise FileNotFoundError(2, f"no {CONTENTS} here", str(folder))
    for contents_file in lists:
        family = contents_file.parent.name
        try:
            contents = read_contents(contents_file)
        except BadContents as error:
            add(Checked(family, CONTENTS, (), 0.0, str(error)))
            continue
        for problem in _problems(contents):
            add(Checked(contents["family"], CONTENTS, (), 0.0, problem))
        for name, digest in contents["files"].items():
            tasks.append((contents["family"], contents_file.parent / name, digest, seconds))
    for checked in _mapped(tasks, jobs):
        add(checked)
    return made


class BadContents(Exception):
    """A list of contents that cannot be read, or says nothing."""


def read_contents(path: Path) -> dict[str, Any]:
    """The list of contents of a family's certificates."""
    try:
        contents: Any = json.loads(path.read_text(encoding="utf-8"))
        named = str(contents["family"]), dict(contents["files"]), dict(contents["properties"])
        gaps(contents)
        reading = contents["second_reading"]
        if reading is not None:
            Reading(**reading)
    except (OSError, ValueError, LookupError, TypeError, AttributeError) as error:
        raise BadContents(f"the list of contents cannot be read: {type(error).__name__}: {error}") from None
    if not named[2]:
        raise BadContents("the list of contents names no property")
    assert isinstance(contents, dict)
    return contents


def _problems(contents: dict[str, Any]) -> Iterator[str]:
    """What is wrong with a certificate before any solver is asked."""
    yield from (f"does not cover '{name}': {gap}" for name, gap in gaps(contents).items())
    reading = contents["second_reading"]
    if reading is not None and reading["disagreements"]:
        yield f"second reading: {reading['disagreements'][0]}"


def _mapped(tasks: Sequence[tuple[str, Path, str, float]], jobs: int) -> Iterator[Checked]:
    if jobs <= 1 or len(tasks) < 2:
        yield from map(_check_file, tasks)
        return
    done = 0
    try:
        with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
            for checked in pool.map(_check_file, tasks):
                done += 1
                yield checked
    except BrokenProcessPool:  # a solver took its process with it: what it left open is not decided
        for family, path, _, _ in tasks[done:]:
            yield Checked(family, path.name, tuple((solver, "unknown") for solver in SOLVERS), 0.0)


def _check_file(task: tuple[str, Path, str, float]) -> Checked:
    family, path, digest, seconds = task
    started = monotonic()
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return Checked(family, path.name, (("file", "missing"),), 0.0)
    if _digest(text) != digest:
        return Checked(family, path.name, (("file", "changed since it was written"),), 0.0)
    return Checked(family, path.name, ask_both(text, seconds), monotonic() - started)


def ask_both(text: str, seconds: float) -> tuple[tuple[str, str], ...]:
    """What each solver says about one SMT-LIB text."""
    return (("z3", _patiently(ask_z3, text, seconds)), ("cvc5", _patiently(ask_cvc5, text, seconds)))


def _patiently(ask: Callable[[str, float], str], text: str, seconds: float) -> str:
    """The solver's answer within so much processor time. It only knows the time on the wall: on a busy machine it is asked
    again, with more of that.
    """
    allowed = seconds
    while True:
        began = process_time()
        answer = ask(text, allowed)
        had_its_time = process_time() - began > 0.9 * seconds
        if answer != "unknown" or had_its_time or allowed >= PATIENCE * seconds:
            return answer
        allowed = min(3 * allowed, PATIENCE * seconds)


def ask_z3(text: str, seconds: float) -> str:
    """Z3's answer: unsat, sat, unknown, or what is wrong with the text."""
    import z3  # type: ignore[import-untyped]

    solver = z3.SolverFor("QF_FD")
    solver.set("timeout", int(seconds * 1000))
    try:
        solver.from_string(text)
        return str(listened(solver.check(), solver))
    except z3.Z3Exception as error:
        return f"error: {error}"


def require_cvc5() -> Any:
    """The second solver's module; raises `MissingSolver` with what to do if it is not there."""
    try:
        import cvc5  # type: ignore[import-not-found, import-untyped, unused-ignore]
    except ImportError:
        raise MissingSolver(
            "certificates are checked by a second solver, cvc5, which is not installed: "
            "pip install cvc5 (or, in a clone of this project: pip install '.[certify]')"
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

FAILED, OPEN = "certificate FAILED", "certificate not decided"


def summary(folder: Path, checked: Sequence[Checked]) -> dict[tuple[str, str], str]:
    """For every family and property one line: certified by both, or what is missing."""
    lines: dict[tuple[str, str], str] = {}
    for contents_file in sorted(folder.rglob(CONTENTS)):
        try:
            contents = read_contents(contents_file)
        except BadContents:
            continue
        family, missing = contents["family"], gaps(contents)
        answers = {c.file: c for c in checked if c.family == family}
        for name, entry in contents["properties"].items():
            lines[family, name] = _line(contents, entry, missing.get(name, ""), answers)
    return lines


def _line(contents: dict[str, Any], entry: dict[str, Any], gap: str, answers: dict[str, Checked]) -> str:
    reading = contents["second_reading"]
    if gap:
        return f"{FAILED}: {gap}"
    if not entry["method"]:
        return f"not certified: {entry['note']}"
    unasked = [file for file in entry["files"] if file not in answers]
    if unasked:
        return f"{FAILED}: {unasked[0]} was not checked"
    mine = [answers[file] for file in entry["files"]]
    failed = [c for c in mine if not c.stands]
    if failed:
        decided = [c for c in failed if not c.undecided]
        return f"{FAILED if decided else OPEN}: {(decided or failed)[0]}"
    if reading is not None and reading["disagreements"]:
        return f"{FAILED}: second reading: {reading['disagreements'][0]}"
    return f"certified: {' and '.join(SOLVERS)} agree on {len(mine)} obligation(s)"


def exit_code(checked: Sequence[Checked]) -> int:
    """0 if everything stands, 1 if something was refuted or changed, 3 if a solver ran out of time."""
    if all(c.stands for c in checked):
        return 0
    return 3 if all(c.stands or c.undecided for c in checked) else 1


def lines_code(lines: Iterable[str]) -> int:
    """1 if some property's certificate failed, 3 if a proof has none or one not decided, else 0."""
    said = list(lines)
    if any(line.startswith(FAILED) for line in said):
        return 1
    return 3 if any(line.startswith((OPEN, f"not certified: {NO_METHOD}")) for line in said) else 0


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
    lines = summary(args.folder, checked)
    codes = {exit_code(checked), lines_code(lines.values())}
    code = 1 if 1 in codes else max(codes)
    if not checked:  # nothing checked is no success
        code = 3
    if not args.json:
        for (family, name), line in lines.items():
            if line.startswith(FAILED) or NO_METHOD in line:
                print(f"{family}: {name}: {line}")
        word = {0: "all stand", 1: "NOT all stand", 3: "not all decided"}[code]
        print(f"{len(checked)} obligations, {word}" if checked else "there is nothing to check here")
    return code


if __name__ == "__main__":
    sys.exit(main())
