"""Markdown with tables as GitHub and most other renderers read them."""

from __future__ import annotations

import re

from avalon_logic.referee.document import Booklet, Table


def render(booklet: Booklet) -> str:
    lines = [f"# {_safe(booklet.title)}", ""]
    if len(booklet.pages) > 1:
        lines += [f"**{_safe(booklet.contents)}**", ""]
        lines += [f"- {_safe(p.title)}" for p in booklet.pages]
        lines.append("")
    for page in booklet.pages:
        lines += [f"## {_safe(page.title)}", "", f"*{_safe(page.subtitle)}*", ""]
        for table in page.tables:
            lines += [f"### {table.id} {_safe(table.title)}", ""]
            lines += _table(table)
            for note in table.notes:
                lines += [_safe(note), ""]
            if table.clauses:
                lines += [f"<sub>{', '.join(table.clauses)}</sub>", ""]
    for note in booklet.notes:
        lines += [f"> {_safe(note)}", ""]
    return "\n".join(lines).rstrip() + "\n"


def _table(table: Table) -> list[str]:
    if not table.rows:
        return []
    if table.kind == "script":
        return [*(f"{number}. {_safe(line)}" for number, line in table.rows), ""]
    align = [":---", *(":-:" if table.kind in ("board", "matrix") else ":---" for _ in table.columns[1:])]
    lines = [_row(table.columns), _row(align, escape=False)]
    return [*lines, *(_row(row) for row in table.rows), ""]


def _row(cells: tuple[str, ...] | list[str], escape: bool = True) -> str:
    return "| " + " | ".join(_safe(c) if escape else c for c in cells) + " |"


def _safe(text: str) -> str:
    """Text in which no character has a meaning in Markdown."""
    return re.sub(r"([\\`*_\[\]<>|#])", r"\\\1", text)
