"""HTML: one file with everything in it, for a phone at the table and for paper.

On paper each page of the booklet is one sheet of A4 or letter; on a narrow screen wide tables become cards.
"""

from __future__ import annotations

from functools import lru_cache
from html import escape
from importlib.resources import files

from avalon_logic.referee.document import Booklet, Page, Table


@lru_cache(maxsize=1)
def style() -> str:
    return (files("avalon_logic") / "referee" / "formats" / "booklet.css").read_text(encoding="utf-8")


def render(booklet: Booklet) -> str:
    spoken = _French() if booklet.language == "fr" else _Plain()
    parts = [_head(booklet, spoken)]
    if len(booklet.pages) > 1:
        parts.append(_contents(booklet, spoken))
    parts.append("<main>")
    parts += [_page(page, booklet.card, spoken) for page in booklet.pages]
    parts += [f'<p class="remark">{spoken.text(note)}</p>' for note in booklet.notes]
    parts.append("</main>\n</body>\n</html>\n")
    return "\n".join(parts)


class _Plain:
    """Text made safe for HTML."""

    def text(self, text: str) -> str:
        return escape(text)


class _French(_Plain):
    """French: the space before two-part signs never breaks the line."""

    def text(self, text: str) -> str:
        return super().text(unbroken(text))


def unbroken(text: str) -> str:
    """French typography: no line break before : ; ? ! »."""
    for sign in ":;?!»":
        text = text.replace(f" {sign}", f"\N{NO-BREAK SPACE}{sign}")
    return text


def _head(booklet: Booklet, spoken: _Plain) -> str:
    kind = "card" if booklet.card else "booklet"
    return f"""<!DOCTYPE html>
<html lang="{booklet.language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{spoken.text(booklet.title)}</title>
<style>
{style()}</style>
</head>
<body class="{kind}">
<header><h1>{spoken.text(booklet.title)}</h1></header>"""


def _contents(booklet: Booklet, spoken: _Plain) -> str:
    links = "\n".join(f'<li><a href="#{p.name}">{spoken.text(p.title)}</a></li>' for p in booklet.pages)
    return f'<nav aria-label="{spoken.text(booklet.contents)}"><ul>\n{links}\n</ul></nav>'


def _page(page: Page, card: bool, spoken: _Plain) -> str:
    tables = "\n".join(_table(t, page, spoken) for t in page.tables)
    scope = "players" if page.players is not None else "common"
    return f"""<article id="{page.name}" class="{scope}">
<header class="page"><h2>{spoken.text(page.title)}</h2><p>{spoken.text(page.subtitle)}</p></header>
<div class="tables">
{tables}
</div>
</article>"""


def _table(table: Table, page: Page, spoken: _Plain) -> str:
    wide = " wide" if _is_wide(table) else ""
    wide += "" if has_names_first(table) else " prose"
    wide += " many" if len(table.columns) > 6 and table.kind == "matrix" else ""
    clauses = (
        f'<span class="clauses">{escape(", ".join((table.id, *table.clauses)))}</span>'
        if table.clauses
        else f'<span class="clauses">{escape(table.id)}</span>'
    )
    body = {"script": _script, "agreed": _agreed}.get(table.kind, _grid)(table, spoken)
    notes = "".join(f'<p class="note">{spoken.text(n)}</p>\n' for n in table.notes)
    return f"""<section class="{table.kind}{wide}">
<h3>{spoken.text(table.title)}</h3>
{body}
{notes}{clauses}
</section>"""


def has_names_first(table: Table) -> bool:
    """Do the rows begin with short names, which stand in bold, and not with sentences?"""
    return table.kind != "facts" and all(len(row[0]) < 32 for row in table.rows)


def _is_wide(table: Table) -> bool:
    """Is this too much for one line of a phone, so that rows become cards there?"""
    longest = max((sum(map(len, row)) for row in table.rows), default=0)
    return table.kind == "list" and (len(table.columns) > 4 or longest > 85)


def _script(table: Table, spoken: _Plain) -> str:
    if not table.rows:
        return ""
    lines = "\n".join(f"<li>{_called(line, spoken)}</li>" for _, line in table.rows)
    return f"<ol>\n{lines}\n</ol>"


def _agreed(table: Table, spoken: _Plain) -> str:
    lines = "\n".join(f"<li>{spoken.text(q)} <b>{spoken.text(a)}</b></li>" for q, a in table.rows)
    return f"<ul>\n{lines}\n</ul>"


def _called(line: str, spoken: _Plain) -> str:
    """A line of the script with those called in bold."""
    who, sign, what = spoken.text(line).partition(":")
    return f"<b>{who}{sign}</b>{what}" if sign else who


def _grid(table: Table, spoken: _Plain) -> str:
    if not table.rows:
        return ""
    head = ""
    if any(table.columns):
        cells = "".join(f'<th scope="col">{spoken.text(c)}</th>' if c else "<td></td>" for c in table.columns)
        head = f"<thead><tr>{cells}</tr></thead>\n"
    rows = "\n".join(_row(table, row, spoken) for row in table.rows)
    return f'<div class="scroll"><table>\n{head}<tbody>\n{rows}\n</tbody>\n</table></div>'


def _row(table: Table, row: tuple[str, ...], spoken: _Plain) -> str:
    first, *rest = row
    headed = f'<th scope="row">{spoken.text(first)}</th>' if first else "<td></td>"
    cells = "".join(
        f'<td data-head="{spoken.text(head)}"{_emphasis(table, cell)}>{spoken.text(cell)}</td>'
        for head, cell in zip(table.columns[1:], rest, strict=True)
    )
    return f"<tr>{headed}{cells}</tr>"


def _emphasis(table: Table, cell: str) -> str:
    if table.kind == "matrix" and cell in ("·", "–"):
        return ' class="faint"'
    if cell in ("", "–"):
        return ' class="empty"'
    return ""
