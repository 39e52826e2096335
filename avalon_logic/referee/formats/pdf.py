"""PDF, made with reportlab: one sheet for each number of players, the text embedded so that it can be searched.

The font is the one that comes with reportlab (Bitstream Vera, free to embed); it has the letters of western Europe.
The type size is the largest at which a page of the booklet fits its sheet; a letter sheet takes the same page.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

from avalon_logic.referee.document import Booklet, Page, Table, side_by_side
from avalon_logic.referee.formats.html import has_names_first, unbroken

try:
    import reportlab
    from reportlab.lib import colors
    from reportlab.lib.styles import ParagraphStyle
    from reportlab.lib.units import mm
    from reportlab.pdfbase import pdfmetrics
    from reportlab.pdfbase.ttfonts import TTFont
    from reportlab.platypus import (
        BaseDocTemplate,
        Flowable,
        Frame,
        FrameBreak,
        KeepTogether,
        NextPageTemplate,
        PageBreak,
        PageTemplate,
        Paragraph,
        Spacer,
        TableStyle,
    )
    from reportlab.platypus import Table as Grid
except ImportError as error:
    raise ImportError(
        "PDF files need reportlab: pip install reportlab (or, in a clone of this project: pip install '.[pdf]')"
    ) from error

SHEET = (210 * mm, 279 * mm)  # as wide as A4 and as high as letter: prints on both
MARGIN, GAP, HEAD = 11 * mm, 6 * mm, 13 * mm
SIZES = (9.2, 8.8, 8.4, 8.0, 7.6, 7.2, 6.8, 6.4, 6.0, 5.6)
CARD_SIZES = (15.0, 14.0, 13.0, 12.0, 11.0, 10.0, 9.0, 8.0)
COMMON_SIZE = 7.4
SOFT, LINE = colors.HexColor("#5a5a5a"), colors.HexColor("#b5b5b5")


def render(booklet: Booklet) -> bytes:
    """The booklet as a PDF file."""
    _fonts()
    story: list[Any] = []
    for index, page in enumerate(booklet.pages):
        if index:
            story += [NextPageTemplate(_template(booklet, page)), PageBreak()]
        story += _story(booklet, page, _fitting(booklet, page))
    made, _ = _built(booklet, story, _template(booklet, booklet.pages[0]))
    return made


@lru_cache(maxsize=1)
def _fonts() -> None:
    folder = Path(reportlab.__file__).parent / "fonts"
    for name in ("Vera", "VeraBd", "VeraIt"):
        pdfmetrics.registerFont(TTFont(name, str(folder / f"{name}.ttf")))
    pdfmetrics.registerFontFamily("Vera", normal="Vera", bold="VeraBd", italic="VeraIt", boldItalic="VeraBd")


def _template(booklet: Booklet, page: Page) -> str:
    return "columns" if page.players is not None and not booklet.card else "plain"


def _built(booklet: Booklet, story: list[Any], first: str) -> tuple[bytes, int]:
    """The file and its number of sheets."""
    width, height = SHEET
    inner = width - 2 * MARGIN
    body = height - 2 * MARGIN - HEAD
    half = (inner - GAP) / 2

    def frame(x: float, y: float, w: float, h: float) -> Any:
        return Frame(x, y, w, h, leftPadding=0, rightPadding=0, topPadding=0, bottomPadding=0)

    head = [frame(MARGIN, height - MARGIN - HEAD, inner, HEAD)]
    templates = {
        "columns": [
            *head,
            frame(MARGIN, MARGIN, half, body),
            frame(MARGIN + half + GAP, MARGIN, half, body),
        ],
        "plain": [*head, frame(MARGIN, MARGIN, inner, body)],
        "more": [frame(MARGIN, MARGIN, inner, body + HEAD)],
    }
    numbered: list[int] = []

    def foot(canvas: Any, document: Any) -> None:
        numbered.append(document.page)
        canvas.setFont("Vera", 6)
        canvas.setFillColor(SOFT)
        canvas.drawRightString(width - MARGIN, MARGIN / 2, f"{booklet.title} · {document.page}")

    out = io.BytesIO()
    document = BaseDocTemplate(
        out,
        pagesize=SHEET,
        title=booklet.title,
        lang=booklet.language,
        author="",
        creator="Avalon Logic",
        invariant=1,
    )
    ordered = sorted(templates, key=lambda name: name != first)
    document.addPageTemplates(
        [PageTemplate(id=name, frames=templates[name], onPage=foot) for name in ordered]
    )
    document.build(story)
    return out.getvalue(), len(numbered)


def _fitting(booklet: Booklet, page: Page) -> float:
    """The largest type size at which the page fits one sheet; what holds for all may take more sheets."""
    if page.players is None:
        return COMMON_SIZE
    sizes = CARD_SIZES if booklet.card else SIZES
    for size in sizes:
        if _built(booklet, _story(booklet, page, size), _template(booklet, page))[1] == 1:
            return size
    return sizes[-1]


def _story(booklet: Booklet, page: Page, size: float) -> list[Any]:
    width = SHEET[0] - 2 * MARGIN
    columns = _template(booklet, page) == "columns"
    inner = (width - GAP) / 2 if columns else width
    title = ParagraphStyle("title", fontName="VeraBd", fontSize=15, leading=18)
    under = ParagraphStyle("under", fontName="Vera", fontSize=8, leading=11, textColor=SOFT)
    story: list[Any] = [
        Paragraph(_text(booklet, page.title), title),
        Paragraph(_text(booklet, page.subtitle), under),
        FrameBreak(),
    ]
    if not columns:
        story.append(NextPageTemplate("more"))
    for row in side_by_side(page) if booklet.card else [(table,) for table in page.tables]:
        story += _row(booklet, row, size, inner)
    if page is booklet.pages[-1]:
        small = ParagraphStyle("small", fontName="VeraIt", fontSize=7, leading=9, textColor=SOFT)
        story += [Paragraph(_text(booklet, note), small) for note in booklet.notes]
    return story


def _row(booklet: Booklet, row: Sequence[Table], size: float, width: float) -> list[Any]:
    """One table, or on a card two small ones beside each other."""
    if len(row) == 1:
        parts = _section(booklet, row[0], size, width)
        return [KeepTogether(parts)] if len(row[0].rows) < 20 else parts
    half = (width - GAP) / 2
    left, right = (_section(booklet, table, size, half) for table in row)
    made = Grid([[left, "", right]], colWidths=[half, GAP, half])
    made.setStyle(TableStyle([("VALIGN", (0, 0), (-1, -1), "TOP"), *_padding(0, 0)]))
    return [made]


def _section(booklet: Booklet, table: Table, size: float, width: float) -> list[Any]:
    if booklet.card and table.kind != "script":
        size = min(13.0, size) if table.kind == "board" else min(8.4, size * 0.75)
    head = ParagraphStyle(
        "head", fontName="VeraBd", fontSize=max(size + 1, 8), leading=max(size + 1, 8) * 1.3, keepWithNext=1
    )
    note = ParagraphStyle(
        "note", fontName="VeraIt", fontSize=size * 0.94, leading=size * 1.2, spaceBefore=1.5
    )
    cites = ParagraphStyle("cites", fontName="Vera", fontSize=4.8, leading=6, textColor=SOFT, spaceBefore=1)
    parts: list[Any] = [Paragraph(_text(booklet, table.title), head)]
    if table.rows:
        parts.append(
            _agreed(booklet, table, width)
            if table.kind == "agreed"
            else _script(booklet, table, size, width)
            if table.kind == "script"
            else _grid(booklet, table, size, width)
        )
    parts += [Paragraph(_text(booklet, n), note) for n in table.notes]
    if not booklet.card:
        parts.append(Paragraph(_text(booklet, ", ".join((table.id, *table.clauses))), cites))
    parts.append(Spacer(1, size * 0.9))
    return parts


def _script(booklet: Booklet, table: Table, size: float, width: float) -> Any:
    style = ParagraphStyle("line", fontName="Vera", fontSize=size, leading=size * 1.28)
    number = ParagraphStyle("number", parent=style, textColor=SOFT, alignment=2)
    rows = []
    for step, line in table.rows:
        who, sign, what = _text(booklet, line).partition(":")
        said = f"<b>{who}{sign}</b>{what}" if sign else who
        rows.append([Paragraph(step, number), Paragraph(said, style)])
    lead = size * 2.4
    made = Grid(rows, colWidths=[lead, width - lead])
    pad = size * 0.16
    made.setStyle(TableStyle([("VALIGN", (0, 0), (-1, -1), "TOP"), *_padding(pad, 2)]))
    return made


def _agreed(booklet: Booklet, table: Table, width: float) -> Any:
    """Questions and answers in two columns of small type."""
    style = ParagraphStyle("agreed", fontName="Vera", fontSize=6.6, leading=8.2, spaceAfter=1.6)
    lines = [
        Paragraph(f"{_text(booklet, question)} <b>{_text(booklet, answer)}</b>", style)
        for question, answer in table.rows
    ]
    half = (len(lines) + 1) // 2
    made = Grid([[lines[:half], lines[half:]]], colWidths=[width / 2, width / 2])
    made.setStyle(TableStyle([("VALIGN", (0, 0), (-1, -1), "TOP"), *_padding(1, 2)]))
    return made


def _padding(pad: float, side: float) -> list[Any]:
    whole = (0, 0), (-1, -1)
    return [
        ("TOPPADDING", *whole, pad),
        ("BOTTOMPADDING", *whole, pad),
        ("LEFTPADDING", *whole, side),
        ("RIGHTPADDING", *whole, side),
    ]


def _grid(booklet: Booklet, table: Table, size: float, width: float) -> Any:
    centred = table.kind in ("board", "matrix")
    cell = ParagraphStyle("cell", fontName="Vera", fontSize=size, leading=size * 1.2)
    bold = ParagraphStyle("bold", parent=cell, fontName="VeraBd")
    middle = ParagraphStyle("middle", parent=cell, alignment=1)
    large = ParagraphStyle(
        "large", parent=middle, fontName="VeraBd", fontSize=size * 1.35, leading=size * 1.6
    )
    head = ParagraphStyle("head", parent=cell, textColor=SOFT, fontSize=size * 0.92, alignment=int(centred))
    rows: list[list[Any]] = []
    headed = any(table.columns)
    widths = _widths(booklet, table, size, width)
    if headed:
        first, *rest = table.columns
        left = ParagraphStyle("left", parent=head, alignment=0)
        upright = centred and any(
            _width(booklet, word, size, bold=False) + 5 > room
            for text, room in zip(rest, widths[1:], strict=True)
            for word in text.split()
        )
        heads = [
            _Upright(_plain(booklet, c), size) if upright else Paragraph(_text(booklet, c), head)
            for c in rest
        ]
        rows.append([Paragraph(_text(booklet, first), left), *heads])
    value = large if table.kind == "board" else middle if centred else bold if table.kind == "facts" else cell
    start = bold if has_names_first(table) else cell
    for row in table.rows:
        rows.append(
            [
                Paragraph(_text(booklet, row[0]), start),
                *(Paragraph(_text(booklet, c), value) for c in row[1:]),
            ]
        )
    made = Grid(rows, colWidths=widths, repeatRows=int(headed))
    style = [
        ("VALIGN", (0, 0), (-1, -1), "MIDDLE" if centred else "TOP"),
        ("LINEBELOW", (0, 0), (-1, -2), 0.4, LINE),
        ("LINEABOVE", (0, 0), (-1, 0), 0.8, colors.black),
        *_padding(size * 0.18, 2.5),
    ]
    if headed:
        style += [
            ("VALIGN", (0, 0), (-1, 0), "BOTTOM"),
            ("ALIGN", (1, 0), (-1, 0), "CENTER" if centred else "LEFT"),
        ]
    made.setStyle(TableStyle(style))
    return made


def _widths(booklet: Booklet, table: Table, size: float, width: float) -> list[float]:
    """Column widths: what the longest words need, the rest shared by how much more the texts want."""
    count = len(table.columns)
    if table.kind in ("board", "matrix"):
        firsts = (table.columns[0], *(r[0] for r in table.rows))
        first = min(max(_width(booklet, text, size, bold=True) for text in firsts) + 8, width * 0.42)
        return [first, *[(width - first) / (count - 1)] * (count - 1)]
    cells = [[row[i] for row in (table.columns, *table.rows)] for i in range(count)]
    pad = 7.0
    least = [
        max(_width(booklet, w, size, bold=True) for c in column for w in (c.split() or [""])) + pad
        for column in cells
    ]
    wanted = [max(_width(booklet, c, size, bold=True) for c in column) + pad for column in cells]
    if sum(wanted) <= width:
        spare = (width - sum(wanted)) / count
        return [w + spare for w in wanted]
    more = [w - m for w, m in zip(wanted, least, strict=True)]
    left = max(width - sum(least), 0)
    scale = min(1.0, width / sum(least))
    return [m * scale + left * x / (sum(more) or 1) for m, x in zip(least, more, strict=True)]


def _width(booklet: Booklet, text: str, size: float, bold: bool) -> float:
    return float(pdfmetrics.stringWidth(_plain(booklet, text), "VeraBd" if bold else "Vera", size))


class _Upright(Flowable):  # type: ignore[misc]
    """A column head that reads upwards."""

    def __init__(self, text: str, size: float) -> None:
        super().__init__()
        self.text, self.size = text, size

    def wrap(self, width: float, height: float) -> Sequence[float]:
        self.room = width
        return width, pdfmetrics.stringWidth(self.text, "Vera", self.size * 0.92) + 2

    def draw(self) -> None:
        self.canv.saveState()
        self.canv.setFillColor(SOFT)
        self.canv.setFont("Vera", self.size * 0.92)
        self.canv.translate(self.room / 2 + self.size * 0.32, 1)
        self.canv.rotate(90)
        self.canv.drawString(0, 0, self.text)
        self.canv.restoreState()


def _plain(booklet: Booklet, text: str) -> str:
    """The text as it is set; raises `ValueError` for a letter the font does not have, rather than lose it."""
    if booklet.language == "fr":
        text = unbroken(text)
    glyphs = pdfmetrics.getFont("Vera").face.charToGlyph
    for letter in text:
        if ord(letter) not in glyphs:
            raise ValueError(
                f"the PDF's font has no letter '{letter}' (in '{text}'): "
                "use --format html, and print that from a browser"
            )
    return text


def _text(booklet: Booklet, text: str) -> str:
    return escape(_plain(booklet, text))
