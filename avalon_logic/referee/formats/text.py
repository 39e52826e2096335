"""Plain text for the terminal, with rich's tables; colour only where the console has it."""

from __future__ import annotations

import io
from collections.abc import Iterator

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table as RichTable
from rich.text import Text

from avalon_logic.referee.document import Booklet, Page, Table

WIDTH = 110


def render(booklet: Booklet) -> str:
    """The booklet without colour, at a fixed width."""
    out = io.StringIO()
    console = Console(file=out, width=WIDTH, color_system=None, highlight=False, legacy_windows=False)
    show(booklet, console)
    return "\n".join(line.rstrip() for line in out.getvalue().splitlines()) + "\n"


def show(booklet: Booklet, console: Console) -> None:
    """Prints the booklet on a console."""
    console.print(Text(booklet.title, style="bold underline"))
    for page in booklet.pages:
        console.print()
        console.print(Text(page.title, style="bold cyan"), Text(page.subtitle, style="dim"), sep="  ")
        console.print(Group(*_parts(page)))
    for note in booklet.notes:
        console.print()
        console.print(Text(note, style="yellow"))


def _parts(page: Page) -> Iterator[RenderableType]:
    for table in page.tables:
        yield Text()
        clauses = f"  {', '.join(table.clauses)}" if table.clauses else ""
        yield Text.assemble((table.id, "dim"), "  ", (table.title, "bold"), (clauses, "dim"))
        if table.rows:
            yield _table(table)
        for note in table.notes:
            yield Padding(Text(note, style="italic"), (0, 0, 0, 2))


def _table(table: Table) -> RichTable:
    headed = any(table.columns) and table.kind != "script"
    made = RichTable(show_header=headed, pad_edge=True, header_style="bold", show_lines=_has_long_rows(table))
    for index, column in enumerate(table.columns):
        numbers = table.kind in ("board", "matrix") and index > 0
        made.add_column(Text(column), justify="center" if numbers else "left", overflow="fold")
    for row in table.rows:
        made.add_row(*(Text(cell) for cell in row))
    return made


def _has_long_rows(table: Table) -> bool:
    """Rows that will break over lines want a rule between them."""
    return table.kind == "list" and any(sum(map(len, row)) + 3 * len(row) > WIDTH for row in table.rows)
