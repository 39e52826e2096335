"""How an answer looks: as text for a terminal of 80 columns, as HTML for a notebook, and as JSON (docs/deduction.md)."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from html import escape
from io import StringIO
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Group

    from avalon_logic.deduction.result import Player, Result, Share

BY_RULE = "by the rules votes prove nothing and claims may be lies"


def percent(share: Share) -> str:
    """A share for people: 0 and 100 % only if it is exactly that."""
    if share in (0, 1):
        return "100%" if share else "0%"
    return f"{min(max(float(share) * 100, 0.1), 99.9):.1f}".removesuffix(".0") + "%"


def exact(share: Share) -> str | None:
    """A share as a fraction; None for a probability that came from likelihoods."""
    return str(share) if isinstance(share, Fraction) else None


def headline(result: Result) -> str:
    """The answer in one line."""
    deals = f"{result.deals:,} {'deal' if result.deals == 1 else 'deals'}"
    who = "Neutral observer"
    if result.seat is not None:
        assert result.inquiry.viewer is not None
        who = f"{result.seat} ({result.inquiry.known[result.inquiry.viewer]})"
    supposed = f", if {' and '.join(result.supposed)}" if result.supposed else ""
    if not result.possible:
        return f"{who}{supposed}: no deal is possible; what was told cannot all be true"
    return f"{who}{supposed}: {result.count:,} of {deals} {'is' if result.count == 1 else 'are'} possible"


def assumption_lines(result: Result) -> list[str]:
    """On what the answer rests."""
    if not result.assumptions:
        return [f"assumptions: none; {BY_RULE}"]
    return ["assumptions:"] + [
        f"  {a.name}: {a.text}{' (weighted)' if a.kind == 'weight' else ''}" for a in result.assumptions
    ]


def can_be(player: Player) -> str:
    """The roles a player can have, the likeliest first."""
    ordered = sorted(player.roles.items(), key=lambda item: -item[1])
    return ", ".join(role if share == 1 else f"{role} {percent(share)}" for role, share in ordered)


def certain_lines(result: Result) -> list[str]:
    """What is certain, shortest first: sides together, then roles."""
    by_what: dict[str, list[str]] = {}
    for certainty in result.certain:
        by_what.setdefault(certainty.fact.what, []).append(result.record.names[certainty.fact.seat])
    if not by_what:
        return ["nothing is certain about anybody"] if result.possible else []
    ordered = [s for s in (*result.setting.sides, *result.setting.roles) if s in by_what]
    return [f"certainly {what}: {', '.join(by_what[what])}" for what in ordered]


def step_lines(result: Result) -> Iterator[tuple[str, str]]:
    """The things told that removed worlds, with how many."""
    for told in result.steps:
        if told.removed:
            where = f" ({told.where})" if told.where else ""
            yield f"-{told.removed:,}", f"{told.text}{where}"


def result_table(result: Result) -> Group:
    """The answer for a terminal."""
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    parts: list[Any] = [Text(headline(result), style="bold")]
    if result.possible:
        table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
        table.add_column("player", no_wrap=True, max_width=16)
        few = result.setting.sides[-1]
        table.add_column(few, justify="right")
        table.add_column("can be", overflow="fold")
        for player in result.players:
            share = player.sides.get(few, Fraction(0))
            style = "green" if share == 0 else "red" if share == 1 else ""
            table.add_row(Text(player.name), Text(percent(share), style=style), Text(can_be(player)))
        parts += [Text(""), table, Text("")]
        parts += [Text(line) for line in certain_lines(result)]
    removing = list(step_lines(result))
    if removing:
        parts.append(Text("worlds removed:"))
        steps = Table(box=None, pad_edge=False, padding=(0, 1, 0, 1), show_header=False)
        steps.add_column(justify="right")
        steps.add_column(overflow="fold")
        for number, line in removing:
            steps.add_row(Text(number), Text(line))
        parts.append(steps)
    first, *rest = assumption_lines(result)
    parts.append(Text(first))
    if rest:
        used = Table(box=None, pad_edge=False, padding=(0, 1, 0, 1), show_header=False)
        used.add_column()
        used.add_column(overflow="fold")
        for line in rest:
            used.add_row("-", Text(line.strip()))
        parts.append(used)
    parts += [Text(f"note: {note}") for note in result.notes]
    return Group(*parts)


def result_text(result: Result, width: int = 80) -> str:
    """The answer as plain text."""
    from rich.console import Console

    out = StringIO()
    Console(file=out, width=width, color_system=None, highlight=False).print(result_table(result))
    return "\n".join(line.rstrip() for line in out.getvalue().splitlines())


def result_html(result: Result) -> str:
    """The answer as an HTML table for a notebook."""
    few = result.setting.sides[-1]
    roles = [r for r in result.setting.roles if any(r in p.roles for p in result.players)]
    rows: list[str] = []
    if result.possible:
        heads = "".join(f"<th>{escape(h)}</th>" for h in ("player", few, *roles))
        rows.append(f"<tr>{heads}</tr>")
        for player in result.players:
            shares = [player.sides.get(few, Fraction(0)), *(player.roles.get(r, Fraction(0)) for r in roles)]
            cells = "".join(f"<td>{_cell(share)}</td>" for share in shares)
            rows.append(f"<tr><th>{escape(player.name)}</th>{cells}</tr>")
    lines = [*certain_lines(result), *assumption_lines(result), *(f"note: {n}" for n in result.notes)]
    return (
        f"<div><p><b>{escape(headline(result))}</b></p><table>{''.join(rows)}</table>"
        f"<p>{'<br>'.join(escape(line) for line in lines)}</p></div>"
    )


def _cell(share: Share) -> str:
    return f'<span title="{exact(share) or share}">{percent(share)}</span>' if share else ""


def result_json(result: Result, most: int | None = 0) -> dict[str, Any]:
    """The answer as JSON; `most` worlds are listed (None: all)."""
    viewer = result.inquiry.viewer
    made: dict[str, Any] = {
        "id": result.record.title,
        "seat": result.seat,
        "role": None if viewer is None else result.inquiry.known[viewer],
        "deals": result.deals,
        "worlds": result.count,
        "players": [
            {
                "name": p.name,
                "sides": {side: _share(s) for side, s in p.sides.items()},
                "roles": {role: _share(s) for role, s in p.roles.items()},
            }
            for p in result.players
        ],
        "certain": [{"player": result.record.names[c.fact.seat], "is": c.fact.what} for c in result.certain],
        "steps": [
            {"where": t.where, "text": t.text, "before": t.before, "after": t.after, "removed": t.removed}
            for t in result.steps
        ],
        "supposed": list(result.supposed),
        "assumptions": [{"name": a.name, "text": a.text, "kind": a.kind} for a in result.assumptions],
        "notes": list(result.notes),
    }
    if most != 0:
        made["list"] = result.worlds(most)
        if result.weighted:
            made["probabilities"] = result.probabilities()[: len(made["list"])]
    return made


def _share(share: Share) -> dict[str, Any]:
    return {"exact": exact(share), "share": float(share)}


def steps_table(result: Result) -> Any:
    """Every event with the worlds before and after it."""
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column("worlds", justify="right")
    table.add_column("removed", justify="right")
    table.add_column("after", overflow="fold")
    for told in result.steps:
        removed = f"{told.removed:,}" if told.removed else ""
        where = f" ({told.where})" if told.where else ""
        table.add_row(f"{told.after:,}", removed, Text(f"{told.text}{where}"))
    return table


def alignments_table(result: Result) -> Any:
    """Who can be on the smaller side together."""
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column("deals", justify="right")
    table.add_column("share", justify="right")
    table.add_column(f"{result.setting.sides[-1]} together", overflow="fold")
    for group in result.alignments:
        table.add_row(f"{group.worlds:,}", percent(group.share), Text(", ".join(group.members)))
    return table


def world_lines(result: Result, most: int | None) -> list[str]:
    """The possible deals, at most so many; where likelihoods count, how likely each is stands before it."""
    lines = [", ".join(f"{name} {role}" for name, role in world.items()) for world in result.worlds(most)]
    if not result.weighted:
        return lines
    shares = [percent(p) for p in result.probabilities()[: len(lines)]]
    return [f"{share:>5}  {line}" for share, line in zip(shares, lines, strict=True)]


def worlds_table(result: Result, most: int | None) -> Any:
    """The possible deals, one a line."""
    from rich.console import Group
    from rich.text import Text

    lines = world_lines(result, most)
    if len(lines) < result.count:
        lines.append(f"... {result.count - len(lines):,} more")
    return Group(*(Text(line) for line in lines))
