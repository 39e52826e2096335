"""The formats a booklet can be had in: a booklet in, the text (or for PDF the bytes) of a file out."""

from __future__ import annotations

from avalon_logic.referee.document import Booklet
from avalon_logic.referee.formats import csv, html, json, markdown, text

FORMATS = ("text", "md", "html", "csv", "json", "pdf")
SUFFIX = {"text": ".txt", "md": ".md", "html": ".html", "csv": ".csv", "json": ".json", "pdf": ".pdf"}


def render(booklet: Booklet, format: str) -> bytes:
    """The booklet as one file; for PDF, raises `ImportError` without the library that makes it and `ValueError`
    for a letter its font does not have."""
    if format == "pdf":
        from avalon_logic.referee.formats import pdf  # its library is an extra

        return pdf.render(booklet)
    made = {
        "text": text.render,
        "md": markdown.render,
        "html": html.render,
        "csv": csv.render,
        "json": json.render,
    }[format](booklet)
    return made.encode("utf-8")
