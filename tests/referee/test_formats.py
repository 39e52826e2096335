"""Every format holds the whole booklet: HTML is valid, PDF opens and has all its text, CSV and JSON read back."""

from __future__ import annotations

import csv
import io
import json
import unicodedata

import html5lib
import pypdf
import pytest

from avalon_logic.configuration import Configuration
from avalon_logic.referee.booklet import booklet, card, gather
from avalon_logic.referee.document import Booklet
from avalon_logic.referee.formats import FORMATS, render
from avalon_logic.referee.messages import LANGUAGES

EVERYBODY = ("merlin", "percival", "assassin", "mordred", "morgana", "oberon")


def made(language: str, *counts: int, of_card: bool = False) -> Booklet:
    configuration = Configuration("avalon", 10, ("lady", "targeting"), EVERYBODY if counts == (10,) else None)
    night = gather(configuration, counts, strict=True)
    return card(night, language) if of_card else booklet(night, language)


def texts(document: Booklet) -> list[str]:
    """Every piece of text a booklet has."""
    found = list(document.notes)
    for page in document.pages:
        found += [page.title, page.subtitle]
        for table in page.tables:
            found += [table.title, *table.notes]
            found += [c for row in table.rows for c in (row[1:] if table.kind == "script" else row)]
            if table.kind not in ("script", "agreed"):
                found += table.columns
    return [text for text in found if text]


def squeezed(text: str) -> str:
    """Without spaces, which line breaks may add and take away."""
    return "".join(unicodedata.normalize("NFC", text).split())


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("of_card", [False, True])
def test_the_pdf_opens_and_every_word_can_be_searched(language: str, of_card: bool) -> None:
    document = made(language, 10, of_card=of_card)
    reader = pypdf.PdfReader(io.BytesIO(render(document, "pdf")))
    whole = squeezed("".join(page.extract_text() for page in reader.pages))
    missing = [text for text in texts(document) if squeezed(text) not in whole]
    assert missing == []
    assert reader.metadata is not None
    assert reader.metadata.title == document.title


@pytest.mark.parametrize("language", LANGUAGES)
def test_each_number_of_players_has_one_sheet(language: str) -> None:
    document = made(language, 5, 6, 7, 8, 9, 10)
    reader = pypdf.PdfReader(io.BytesIO(render(document, "pdf")))
    first_lines = [page.extract_text().splitlines()[:3] for page in reader.pages[:7]]
    titles = [page.title for page in document.pages]
    assert [next(t for t in titles if t in lines) for lines in first_lines] == titles


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_card_is_a_single_sheet(language: str) -> None:
    for configuration in (
        Configuration("avalon", 10, ("lady", "targeting"), EVERYBODY),
        Configuration("avalon_2021", 9, ("lady",), ("merlin", "percival", "assassin", "mordred", "morgana")),
        Configuration("resistance", 5),
    ):
        document = card(gather(configuration, [configuration.players], strict=True), language)
        assert len(pypdf.PdfReader(io.BytesIO(render(document, "pdf"))).pages) == 1


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("of_card", [False, True])
def test_the_html_is_valid_and_complete(language: str, of_card: bool) -> None:
    document = made(language, 10, of_card=of_card)
    text = render(document, "html").decode()
    tree = html5lib.HTMLParser(strict=True, namespaceHTMLElements=False).parse(text)
    assert tree.get("lang") == language
    whole = squeezed("".join(tree.itertext()))
    assert [t for t in texts(document) if squeezed(t) not in whole] == []
    ids = [e.get("id") for e in tree.iter() if e.get("id")]
    assert len(ids) == len(set(ids))
    links = {e.get("href")[1:] for e in tree.iter("a")}
    assert links <= set(ids)
    outside = [e for e in tree.iter() if e.get("src") or (e.tag == "link")]
    assert outside == []


def test_html_escapes_what_a_rulebook_says() -> None:
    from dataclasses import replace

    document = made("en", 5)
    nasty = replace(document.pages[0], title='<script>alert("x")</script> & more')
    text = render(replace(document, pages=(nasty,)), "html").decode()
    assert "<script>" not in text
    assert "&lt;script&gt;" in text


def test_markdown_escapes_what_a_rulebook_says() -> None:
    from dataclasses import replace

    document = made("en", 5)
    nasty = replace(document.pages[0], title="*bold* | _cell_ <b>", tables=())
    text = render(replace(document, pages=(nasty,)), "md").decode()
    assert "## \\*bold\\* \\| \\_cell\\_ \\<b\\>" in text


@pytest.mark.parametrize("language", LANGUAGES)
def test_text_and_markdown_have_every_cell(language: str) -> None:
    document = made(language, 5, 6)
    plain = squeezed(render(document, "text").decode().translate({ord(c): None for c in "│┃┆"}))
    for table in document.pages[0].tables:
        for row in table.rows:
            for cell in row:
                first = cell.split()[0] if cell.split() else ""
                assert squeezed(first) in plain
    markdown = render(document, "md").decode()
    for text in texts(document):
        assert squeezed(text) in squeezed(markdown.replace("\\", "")), text


def test_csv_reads_back() -> None:
    document = made("fr", 5, 6)
    rows = list(csv.reader(io.StringIO(render(document, "csv").decode(), newline="")))
    for page in document.pages:
        for table in page.tables:
            ahead = [page.title, table.id, table.title]
            for row in (table.columns, *table.rows):
                assert [*ahead, *row] in rows


def test_json_has_words_and_facts_side_by_side() -> None:
    document = made("es", 5, 7)
    read = json.loads(render(document, "json"))
    assert set(read) == {"language", "title", "card", "pages", "notes"}
    assert [page["players"] for page in read["pages"]] == [5, 7, None]
    for page, original in zip(read["pages"], document.pages, strict=True):
        assert set(page) == {"name", "title", "subtitle", "players", "tables"}
        for table, source in zip(page["tables"], original.tables, strict=True):
            assert set(table) == {"id", "kind", "title", "columns", "rows", "notes", "clauses", "data"}
            assert [tuple(row) for row in table["rows"]] == list(source.rows)
            assert table["data"] == json.loads(json.dumps(source.data))


@pytest.mark.parametrize("format", FORMATS)
def test_rendering_twice_gives_the_same_bytes(format: str) -> None:
    document = made("en", 5)
    assert render(document, format) == render(document, format)
