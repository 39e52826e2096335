"""`avalon prove --coverage`: which rules does no property depend on?"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from typing import Any

from avalon_logic.cli.output import console, print_json
from proofs.coverage import coverage
from proofs.families import Family
from proofs.prover import Options


def _covered(family: Family, options: Options) -> list[dict[str, Any]]:
    return [
        {
            "family": family.name,
            "kind": c.rule.kind,
            "phase": c.rule.where,
            "rule": c.rule.text,
            "module": c.rule.origin.module,
            "clauses": list(c.rule.origin.cites),
            "property": c.property,
        }
        for c in coverage(family, options)
    ]


def show_coverage(families: Sequence[Family], options: Options, jobs: int, as_json: bool) -> int:
    """Prints the rules no property of the families depends on; 1 if there are any."""
    with ProcessPoolExecutor(max_workers=jobs) as pool:
        found = [row for rows in pool.map(_covered, families, [options] * len(families)) for row in rows]
    noticed = {_key(row) for row in found if row["property"] is not None}
    bare = {_key(row): row for row in found if _key(row) not in noticed}
    if as_json:
        print_json({"rules": found, "uncovered": list(bare.values())})
        return 1 if bare else 0
    out = console()
    total = len({_key(row) for row in found})
    out.print(f"{total - len(bare)} of {total} rules have a property that depends on them", markup=False)
    for row in bare.values():
        cites = f"  [{', '.join(row['clauses'])}]" if row["clauses"] else ""
        place = f" in {row['phase']}" if row["phase"] else ""
        out.print(f"  {row['module']}: {row['kind']}{place}: {row['rule']}{cites}", markup=False)
    return 1 if bare else 0


def _key(row: dict[str, Any]) -> tuple[str, str, str, str]:
    return row["module"], row["kind"], row["phase"], row["rule"]
