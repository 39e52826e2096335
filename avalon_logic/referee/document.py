"""What is printed: tables, pages of tables, a booklet of pages. Plain values; the formats render them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Table:
    """One referee table in one language.

    `kind` says how it reads best: "facts" (a name and a value in each row), "board" (a row of boxes), "matrix"
    (rows against columns), "script" (numbered lines to read aloud), "agreed" (questions and answers) or "list".
    `data` is the same without words.
    """

    id: str
    kind: str
    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...] = ()
    clauses: tuple[str, ...] = ()
    data: Any = field(default=None, compare=False)


@dataclass(frozen=True)
class Page:
    """Tables that belong together; `players` is None for what holds at every number of players."""

    name: str
    title: str
    subtitle: str
    players: int | None
    tables: tuple[Table, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Booklet:
    """Pages in one language. `card` marks the one page of a game night."""

    language: str
    title: str
    contents: str
    pages: tuple[Page, ...]
    notes: tuple[str, ...] = ()
    card: bool = False


def side_by_side(page: Page) -> list[tuple[Table, ...]]:
    """The tables of a card, two of few columns that follow one another in a row."""
    rows: list[tuple[Table, ...]] = []
    for table in page.tables:
        small = table.kind in ("facts", "list")
        if small and rows and len(rows[-1]) == 1 and rows[-1][0].kind in ("facts", "list"):
            rows[-1] = (*rows[-1], table)
        else:
            rows.append((table,))
    return rows
