"""`avalon prove --coverage`: which rules does no property depend on, and which phases and requirements does no game ever
put to use?"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from typing import Any

from avalon_logic.cli.output import console, print_json
from proofs.coverage import coverage
from proofs.exercise import EXERCISED, NOT_FOUND, exercises
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


def _exercised(family: Family, options: Options) -> list[dict[str, Any]]:
    found = exercises(family.model, seconds=options.seconds, deepest=options.deepest, seed=options.seed)
    return [
        {
            "game": family.game,
            "kind": "phase" if e.part.kind == "phase" else "requirement",
            "phase": e.part.key[0],
            "rule": e.part.text,
            "module": e.part.origin.module,
            "clauses": list(e.part.origin.cites),
            "status": e.status,
            "how": e.how,
            "default_rulings": e.usual,
            "events": len(e.game.moves) if e.game is not None else None,
        }
        for e in found
    ]


def show_coverage(families: Sequence[Family], options: Options, jobs: int, as_json: bool) -> int:
    """Prints the rules no property of the families depends on and the parts no game exercises; 1 if there are any."""
    games = {family.game: family for family in reversed(families)}  # the first family of each game
    with ProcessPoolExecutor(max_workers=jobs) as pool:
        idle = [pool.submit(_exercised, family, options) for family in reversed(games.values())]
        found = [row for rows in pool.map(_covered, families, [options] * len(families)) for row in rows]
        parts = [row for task in idle for row in task.result()]
    noticed = {_key(row) for row in found if row["property"] is not None}
    bare = {_key(row): row for row in found if _key(row) not in noticed}
    unused = [row for row in parts if row["status"] != EXERCISED]
    if as_json:
        print_json({"rules": found, "uncovered": list(bare.values()), "exercises": parts})
    else:
        total = len({_key(row) for row in found})
        _print_rules(list(bare.values()), total)
        _print_parts(parts, unused)
    if bare or any(row["status"] != NOT_FOUND for row in unused):
        return 1
    return 3 if unused else 0


def _print_rules(bare: Sequence[dict[str, Any]], total: int) -> None:
    out = console()
    out.print(f"{total - len(bare)} of {total} rules have a property that depends on them", markup=False)
    for row in bare:
        out.print(f"  {_line(row)}", markup=False)


def _print_parts(parts: Sequence[dict[str, Any]], unused: Sequence[dict[str, Any]]) -> None:
    out = console()
    for game in dict.fromkeys(row["game"] for row in parts):
        ours = [row for row in parts if row["game"] == game]
        used = [row for row in ours if row["status"] == EXERCISED]
        out.print(
            f"{game}: {len(used)} of {len(ours)} phases and requirements are put to use in some game",
            markup=False,
        )
        for row in ours:
            if row in unused:
                out.print(f"  {row['status']}: {_line(row)}: {row['how']}", markup=False)
            elif row["default_rulings"] is False:
                out.print(f"  only under other rulings than the default: {_line(row)}", markup=False)


def _line(row: dict[str, Any]) -> str:
    cites = f"  [{', '.join(row['clauses'])}]" if row["clauses"] else ""
    if row["kind"] == "phase":
        return f"{row['module']}: phase {row['rule']}{cites}"
    place = f" in {row['phase']}" if row["phase"] else ""
    return f"{row['module']}: {row['kind']}{place}: {row['rule']}{cites}"


def _key(row: dict[str, Any]) -> tuple[str, str, str, str]:
    return row["module"], row["kind"], row["phase"], row["rule"]
