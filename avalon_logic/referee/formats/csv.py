"""CSV: all tables one below the other, one line a row: page, table, title, then the cells under their heads."""

from __future__ import annotations

import csv
import io

from avalon_logic.referee.document import Booklet


def render(booklet: Booklet) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    for page in booklet.pages:
        for table in page.tables:
            ahead = (page.title, table.id, table.title)
            writer.writerow((*ahead, *table.columns))
            for row in table.rows:
                writer.writerow((*ahead, *row))
            for note in table.notes:
                writer.writerow((*ahead, note))
    for note in booklet.notes:
        writer.writerow((booklet.title, "", "", note))
    return out.getvalue()
