"""`avalon prove --coverage`: which rules does no property depend on, and which phases and requirements does no game ever
put to use?"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing, suppress
from typing import Any

from avalon_logic.cli.output import console, print_json, termination_interrupts
from proofs.coverage import coverage
from proofs.exercise import EXERCISED, NOT_FOUND, exercises
from proofs.families import Family
from proofs.prover import Options
from proofs.side_by_side import Lost, Task, side_by_side


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
            "by": c.by,
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
    """Prints the rules no property of the families depends on and the parts no game exercises; 1 if there are any.

    When interrupted, what was worked out is printed; what is not known yet counts as undecided.
    """
    games = {family.game: family for family in reversed(families)}  # the first family of each game
    idle = list(reversed(games.values()))
    tasks: list[Task] = [(_exercised, (family, options)) for family in idle]
    tasks += [(_covered, (family, options)) for family in families]
    results: dict[int, Any] = {}
    with (
        suppress(KeyboardInterrupt),
        termination_interrupts(),
        closing(side_by_side(tasks, jobs)) as done,
    ):
        results.update(done)
    missing = {}
    for number, family in enumerate((*idle, *families)):
        result = results.get(number, Lost("interrupted"))
        if isinstance(result, Lost):
            missing[number] = (
                f"{family.name}: {'coverage' if number >= len(idle) else 'exercises'}: {result.why}"
            )
    rows = {number: rows for number, rows in sorted(results.items()) if number not in missing}
    parts = [row for number, found in rows.items() if number < len(idle) for row in found]
    found = [row for number, some in rows.items() if number >= len(idle) for row in some]
    best = {_key(row): row for row in sorted(found, key=lambda row: _STRENGTH.index(row["by"]))}
    bare = [row for row in best.values() if row["property"] is None]
    unused = [row for row in parts if row["status"] != EXERCISED]
    if as_json:
        undone = list(missing.values())
        print_json({"rules": found, "uncovered": bare, "exercises": parts, "missing": undone})
    else:
        _print_rules(list(best.values()))
        _print_parts(parts, unused)
        for line in missing.values():
            console().print(f"not worked out: {line}", style="bold red", markup=False)
    if missing:  # a rule that is bare so far may be covered by what is missing
        return 3
    if any(row["by"] != "undecided" for row in bare) or any(row["status"] != NOT_FOUND for row in unused):
        return 1
    return 3 if bare or unused else 0


_STRENGTH = ("", "undecided", "game", "proof")  # of what shows that a property depends on a rule


def _print_rules(rules: Sequence[dict[str, Any]]) -> None:
    out = console()
    covered = sum(row["property"] is not None for row in rules)
    proofs = sum(row["by"] == "proof" for row in rules)
    out.print(
        f"{covered} of {len(rules)} rules have a property that depends on them, {proofs} of them by its proof",
        markup=False,
    )
    for row in rules:
        if row["by"] == "game":
            out.print(f"  only by the game that shows {row['property']}: {_line(row)}", markup=False)
        elif row["property"] is None:
            what = "not decided in time" if row["by"] == "undecided" else "no property"
            out.print(f"  {what}: {_line(row)}", markup=False)


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
