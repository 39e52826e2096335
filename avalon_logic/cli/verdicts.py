"""Verdicts as they are printed: family by family in a fixed order while the run goes on, then what they come to.

`Live` takes verdicts in the order they are decided. What it prints on stdout depends on the verdicts alone; how far the
run has come it tells on stderr, on a terminal in one line that changes, elsewhere (a log) in a line for each family and
for each verdict nobody expected.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from avalon_logic.cli.output import console, wide_console
from avalon_logic.cli.streams import bare

if TYPE_CHECKING:
    from proofs.families import Family
    from proofs.verdicts import Verdict
    from rules_dsl.smt import Game


class Live:
    """The verdicts of a run. A family is printed as soon as it and all before it are decided, unless `quiet`."""

    def __init__(self, families: Sequence[Family], asked: Sequence[str], quiet: bool) -> None:
        self.families = list(families)
        self.asked = asked
        self.quiet = quiet
        self._open = {f.name: {p for p in f.properties if not asked or p in asked} for f in families}
        self.total = sum(len(names) for names in self._open.values())
        self._found: dict[tuple[str, str], Verdict] = {}
        self._printed = 0

    @property
    def found(self) -> list[Verdict]:
        """What was decided, in the order of the report."""
        places = [(f.name, p) for f in self.families for p in f.properties]
        return [self._found[place] for place in places if place in self._found]

    def add(self, verdict: Verdict) -> None:
        self._found[verdict.family, verdict.name] = verdict
        self._open[verdict.family].discard(verdict.name)
        self._progress(verdict)
        while self._printed < len(self.families) and not self._open[self.families[self._printed].name]:
            self._print_next()

    def end(self) -> None:
        """Prints what is left, be it incomplete."""
        if sys.stderr.isatty():
            print("\r\x1b[K", end="", file=bare(sys.stderr), flush=True)
        while self._printed < len(self.families):
            self._print_next()

    def _progress(self, verdict: Verdict) -> None:
        done = f"{len(self._found)}/{self.total}"
        line = f"{done} {verdict.family}: {verdict.name} {verdict.outcome}"
        if sys.stderr.isatty():
            print(f"\r\x1b[K{line[:100]}", end="", file=bare(sys.stderr), flush=True)
            return
        if not verdict.as_expected:
            expected = f"(expected: {verdict.claim.expect})"
            print(f"{line}: {verdict.how} {expected}", file=sys.stderr, flush=True)
        if not self._open[verdict.family] and len(self.families) > 1:
            print(f"{done} {verdict.family}: done", file=sys.stderr, flush=True)

    def _print_next(self) -> None:
        family = self.families[self._printed]
        self._printed += 1
        ours = [v for v in self.found if v.family == family.name]
        if self.quiet or not ours:
            return
        if sys.stderr.isatty():
            print("\r\x1b[K", end="", file=bare(sys.stderr), flush=True)
        from proofs.scope import scope_of

        out = console()
        out.print(f"\n[bold]{family.name}[/bold]", end="")
        out.print(f": {scope_of(family)}", markup=False)
        for verdict in ours:
            print_verdict(family, verdict, bool(self.asked))
        sys.stdout.flush()


STYLES = {"proved": "green", "refuted": "yellow"}


def print_verdict(family: Family, verdict: Verdict, with_games: bool) -> None:
    """One verdict; the game that shows it if asked for, or if nobody expected it."""
    out = console()
    expected = "" if verdict.as_expected else f"  (expected: {verdict.claim.expect})"
    if verdict.elsewhere:
        expected = f"  (here; {verdict.claim.expect} where other tables are allowed)"
    style = STYLES.get(verdict.outcome, "red") if verdict.as_expected else "bold red"
    out.print(f"  {verdict.outcome:8}", style=style, end="", markup=False)
    out.print(f" {verdict.name}: {verdict.claim.text}{expected}", markup=False)
    if with_games or not verdict.as_expected:
        cites = ", ".join(verdict.claim.origin.cites)
        out.print(
            f"           {verdict.how}, {verdict.seconds:.1f} s{f'  [{cites}]' if cites else ''}",
            markup=False,
        )
        if verdict.lemmas:
            out.print(f"           leaning on: {'; '.join(verdict.lemmas)}", markup=False)
        if verdict.game is not None:
            print_game(family, verdict.game, "the game:" if verdict.twin is None else "one game:")
        if verdict.twin is not None:
            from avalon_logic.counterexamples import names_of

            who = names_of(family, verdict.twin)[verdict.seat or 0]
            until = ", but cannot go on so" if verdict.twin_is_left_behind else ""
            print_game(family, verdict.twin, f"another one, which looks the same to {who}{until}:")


def print_game(family: Family, game: Game, title: str) -> None:
    """The events of a game as a table."""
    from rich.table import Table

    from avalon_logic.counterexamples import record_of, rows_of

    out = console()
    record = record_of(family, game)
    c = record.configuration
    setting = f"{c.game}, {c.players} players"
    setting += f", with {' '.join(c.modules)}" if c.modules else ""
    setting += f", roles {' '.join(c.roles)}" if c.roles else ""
    setting += f", rulings {' '.join(f'{k}={v}' for k, v in c.rulings.items())}" if c.rulings else ""
    out.print(f"           {title} {setting}", markup=False)
    if not game.moves:
        out.print("           no event is needed: it is so from the start", markup=False)
        return
    table = Table(show_edge=False, pad_edge=False, box=None, header_style="dim")
    for heading in ("", "phase", "who", "choice", "then", "clauses"):
        table.add_column(heading, overflow="fold")
    for row in rows_of(family, game):
        table.add_row(
            str(row.number), row.phase, row.who, row.what, "; ".join(row.changed), " ".join(row.clauses)
        )
    from rich.padding import Padding

    wide_console().print(Padding(table, (0, 0, 0, 11), expand=False))


def print_summary(found: Sequence[Verdict], total: int, interrupted: bool) -> None:
    """How many there are of each verdict, which were not decided and why, which nobody expected."""
    out = console()
    decided = [v for v in found if not v.undecided]
    counts = {x: sum(v.outcome == x for v in decided) for x in dict.fromkeys(v.outcome for v in decided)}
    shown = ", ".join(f"{n} {name}" for name, n in counts.items()) or "none"
    out.print(f"\n{len(decided)} of {total} properties decided: {shown}", markup=False)
    if interrupted:
        out.print(
            "interrupted; the verdicts above stand, the other properties were not decided", markup=False
        )
    open_ = sorted((v for v in found if v.undecided), key=lambda v: (v.family, v.how))
    for (family, how), group in groupby(open_, key=lambda v: (v.family, v.how)):
        names = ", ".join(v.name for v in group)
        out.print(f"not decided in {family}, {how}: {names}", style="bold red", markup=False)
    surprising = [v for v in decided if not v.as_expected]
    if surprising:
        names = ", ".join(f"{v.family}: {v.name}" for v in surprising)
        out.print(f"not as expected: {names}", style="bold red", markup=False)
    elif not interrupted and not open_:
        out.print("all as expected", style="green", markup=False)
    if any("out of memory" in v.how for v in open_):
        out.print(
            "with fewer processes (-j), more memory (--memory) or one property at a time (--property) it may be enough",
            markup=False,
        )
