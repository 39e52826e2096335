"""A booklet as a folder: one file a page, and an index that leads to them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from html import escape

from avalon_logic.referee.document import Booklet, Page
from avalon_logic.referee.formats.html import style


def single(booklet: Booklet, page: Page) -> Booklet:
    """The booklet with only this page."""
    return replace(booklet, pages=(page,))


def index(booklet: Booklet, names: Sequence[str], format: str) -> dict[str, str]:
    """The index files of a folder: `index.html` for files a browser opens, `index.md` for the others."""
    titles = [*(p.title for p in booklet.pages), booklet.title]
    entries = list(zip(names, titles, strict=False))
    if format in ("html", "pdf"):
        links = "\n".join(f'<li><a href="{escape(n)}">{escape(t)}</a></li>' for n, t in entries)
        notes = "\n".join(f'<p class="remark">{escape(n)}</p>' for n in booklet.notes)
        return {
            "index.html": f"""<!DOCTYPE html>
<html lang="{booklet.language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{escape(booklet.title)}</title>
<style>
{style()}</style>
</head>
<body class="index">
<h1>{escape(booklet.title)}</h1>
<nav aria-label="{escape(booklet.contents)}"><ul>
{links}
</ul></nav>
{notes}
</body>
</html>
"""
        }
    lines = [f"# {booklet.title}", "", *(f"- [{t}]({n})" for n, t in entries), ""]
    lines += [line for note in booklet.notes for line in (f"> {note}", "")]
    return {"index.md": "\n".join(lines)}
