"""What `avalon prove` leaves behind for others to check: certificates, checked by a second solver and held against a second
reading of the rules, and a JUnit report. A certificate that could not be written or checked is a failure.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from avalon_logic.cli.output import BadInput, console, progress
from avalon_logic.writing import write_whole

if TYPE_CHECKING:
    from proofs.certificates import Checked
    from proofs.families import Family
    from proofs.verdicts import Verdict


@dataclass(frozen=True)
class Certified:
    """The answers of both solvers, one line for each property, and one for each family on its second reading."""

    checked: tuple[Checked, ...] = ()
    lines: tuple[tuple[tuple[str, str], str], ...] = ()
    readings: tuple[tuple[str, str], ...] = ()
    unread: tuple[str, ...] = ()  # families of which nothing was read a second time

    def line(self, verdict: Verdict) -> str:
        return dict(self.lines).get((verdict.family, verdict.name), "")

    @property
    def failed(self) -> frozenset[tuple[str, str]]:
        from proofs.certificates import FAILED, OPEN

        return frozenset(key for key, line in self.lines if line.startswith((FAILED, OPEN)))

    @property
    def exit_code(self) -> int:
        """0 if every proof has a certificate that stands, 1 if one failed, 3 if one is missing or not decided."""
        from proofs.certificates import exit_code, lines_code

        codes = {exit_code(self.checked), lines_code(line for _, line in self.lines), 3 if self.unread else 0}
        return 1 if 1 in codes else max(codes)

    def as_json(self) -> list[dict[str, Any]]:
        return [
            {
                "family": c.family,
                "file": c.file,
                **dict(c.answers),
                "stands": c.stands,
                "problem": c.problem,
                "seconds": round(c.seconds, 3),
            }
            for c in self.checked
        ]


def ready_to_report(folder: Path | None, junit: Path | None) -> None:
    """Says before minutes of proof, not after, that something is missing."""
    if junit is not None and (junit.is_dir() or not junit.absolute().parent.is_dir()):
        raise BadInput(f"--junit {junit}: no file can be written there")
    if folder is None:
        return
    from proofs.certificates import MissingSolver, require_cvc5

    try:
        require_cvc5()
    except MissingSolver as error:
        raise BadInput(str(error)) from None
    if folder.exists() and not folder.is_dir():
        raise BadInput(f"--certify {folder}: this is a file; name a folder")


def make_room(folder: Path, families: Sequence[Family]) -> None:
    """Takes away the lists of an earlier run, which must not be taken for this one's; says now if nothing can be written."""
    from proofs.certificates import CONTENTS
    from proofs.obligations import slug

    for family in families:
        place = folder / slug(family.name)
        try:
            place.mkdir(parents=True, exist_ok=True)
            (place / CONTENTS).write_text("", encoding="utf-8")
            (place / CONTENTS).unlink()
        except OSError as error:
            raise BadInput(f"--certify {folder}: {error.filename or place}: {error.strerror}") from None


def certify(
    folder: Path,
    families: Sequence[Family],
    found: Sequence[Verdict],
    unwritten: Mapping[str, str],
    seconds: float,
    jobs: int,
) -> Certified:
    """Checks what the processes wrote; every file by both solvers, and that every verdict is in the lists."""
    from proofs.certificates import (
        CONTENTS,
        FAILED,
        BadContents,
        Checked,
        check_folder,
        read_contents,
        summary,
    )
    from proofs.enumeration import Reading
    from proofs.obligations import slug

    checked: list[Checked] = []
    lines: dict[tuple[str, str], str] = {}
    readings: dict[str, str] = {}
    unread: list[str] = []
    show = progress(len(families), "certificates")
    for number, family in enumerate(families, 1):
        place = folder / slug(family.name)
        why = unwritten.get(family.name, "")
        if not why and not (place / CONTENTS).exists():
            why = "nothing was written"
        if why:
            checked.append(Checked(family.name, CONTENTS, (), 0.0, why))
        else:
            mine = check_folder(place, seconds, jobs)
            checked += mine
            lines |= summary(place, mine)
            why = "the list of contents does not name it"
            with suppress(BadContents):
                written = read_contents(place / CONTENTS)["second_reading"]
                reading = Reading() if written is None else Reading(**written)
                readings[family.name] = str(reading)
                if reading.empty and not reading.disagreements:
                    unread.append(family.name)
        for verdict in found:
            if verdict.family == family.name and not verdict.undecided:
                lines.setdefault((verdict.family, verdict.name), f"{FAILED}: {why}")
        show(number)
    return Certified(tuple(checked), tuple(lines.items()), tuple(readings.items()), tuple(unread))


def print_certified(certified: Certified) -> None:
    """What both solvers and the second reading say, what is not certified, and what no certificate covers."""
    from proofs.certificates import NO_METHOD
    from proofs.coverings import NOT_COVERED

    out = console()
    asked = [c for c in certified.checked if c.answers]
    standing = sum(1 for c in asked if c.stands)
    seconds = sum(c.seconds for c in asked)
    out.print(
        f"certificates: z3 and cvc5 both say unsat to {standing} of {len(asked)} obligations, {seconds:.1f} s"
        if asked
        else "certificates: there was nothing for the solvers to check",
        markup=False,
    )
    for checked in certified.checked:
        if not checked.stands:
            out.print(f"  FAILED {checked}", style="bold red", markup=False)
    for (family, name), line in certified.lines:
        if line.startswith(f"not certified: {NO_METHOD}"):
            out.print(f"  {family}: {name}: {line}", style="bold red", markup=False)
    for family, line in certified.readings:
        out.print(f"second reading, {family}: {line}", markup=False)
    for sentence in NOT_COVERED:
        out.print(f"  not covered: {sentence}", style="dim", markup=False)


def write_junit(
    path: Path, families: Sequence[Family], found: Sequence[Verdict], certified: Certified
) -> None:
    """The JUnit report; a file that cannot be written is bad input."""
    from proofs.junit import junit
    from proofs.scope import full_scope
    from proofs.telling import tell_games

    models = {family.name: family.model for family in families}

    def lines(verdict: Verdict) -> list[str]:
        return tell_games(models[verdict.family], verdict)

    scopes = {family.name: full_scope(family) for family in families}
    text = junit(found, lines, dict(certified.lines), certified.failed, scopes)
    write_whole(path, text)
