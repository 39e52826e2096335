"""What `avalon prove` leaves behind for others to check: certificates, checked by a second solver, and a JUnit report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from avalon_logic.cli.output import BadInput, console, progress

if TYPE_CHECKING:
    from proofs.certificates import Checked
    from proofs.families import Family
    from proofs.verdicts import Verdict


@dataclass(frozen=True)
class Certified:
    """The answers of both solvers, and one line for each property."""

    checked: tuple[Checked, ...] = ()
    lines: tuple[tuple[tuple[str, str], str], ...] = ()

    def line(self, verdict: Verdict) -> str:
        return dict(self.lines).get((verdict.family, verdict.name), "")

    @property
    def failed(self) -> frozenset[tuple[str, str]]:
        return frozenset(key for key, line in self.lines if line.startswith("certificate FAILED"))

    @property
    def exit_code(self) -> int:
        from proofs.certificates import exit_code

        return exit_code(self.checked)

    def as_json(self) -> list[dict[str, Any]]:
        return [
            {
                "family": c.family,
                "file": c.file,
                **dict(c.answers),
                "stands": c.stands,
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


def certify(folder: Path, families: Sequence[Family], seconds: float, jobs: int) -> Certified:
    """Checks what the processes wrote; every file by both solvers."""
    from proofs.certificates import CONTENTS, check_folder, summary
    from proofs.obligations import slug

    checked: list[Checked] = []
    lines: dict[tuple[str, str], str] = {}
    places = [folder / slug(f.name) for f in families]
    show = progress(len(places), "certificates")
    for number, place in enumerate(places, 1):
        if (place / CONTENTS).exists():
            mine = check_folder(place, seconds, jobs)
            checked += mine
            lines |= summary(place, mine)
        show(number)
    return Certified(tuple(checked), tuple(lines.items()))


def print_certified(certified: Certified) -> None:
    """What both solvers say of all obligations together."""
    out = console()
    standing = sum(1 for c in certified.checked if c.stands)
    total = len(certified.checked)
    seconds = sum(c.seconds for c in certified.checked)
    out.print(
        f"certificates: z3 and cvc5 both say unsat to {standing} of {total} obligations, {seconds:.1f} s",
        markup=False,
    )
    for checked in certified.checked:
        if not checked.stands:
            out.print(f"  FAILED {checked}", style="bold red", markup=False)
    for (family, name), line in certified.lines:
        if line.startswith("not certified: no certificate"):
            out.print(f"  {family}: {name}: {line}", markup=False)


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
    path.write_text(text, encoding="utf-8")
