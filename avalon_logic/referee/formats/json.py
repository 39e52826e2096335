"""JSON: the tables with their words and, beside them, the same facts without words. docs/tables.md has the schema."""

from __future__ import annotations

import json
from typing import Any

from avalon_logic.referee.document import Booklet, Table


def render(booklet: Booklet) -> str:
    return json.dumps(to_json(booklet), ensure_ascii=False, indent=1) + "\n"


def to_json(booklet: Booklet) -> dict[str, Any]:
    """The booklet as plain data."""
    return {
        "language": booklet.language,
        "title": booklet.title,
        "card": booklet.card,
        "pages": [
            {
                "name": page.name,
                "title": page.title,
                "subtitle": page.subtitle,
                "players": page.players,
                "tables": [_table(t) for t in page.tables],
            }
            for page in booklet.pages
        ],
        "notes": list(booklet.notes),
    }


def _table(table: Table) -> dict[str, Any]:
    return {
        "id": table.id,
        "kind": table.kind,
        "title": table.title,
        "columns": list(table.columns),
        "rows": [list(row) for row in table.rows],
        "notes": list(table.notes),
        "clauses": list(table.clauses),
        "data": table.data,
    }
