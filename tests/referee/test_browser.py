"""The HTML in a real browser: nothing sticks out on a phone, light and dark differ, each player count prints on one sheet.

Needs Chromium or Chrome; `.ci/run` installs one.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from html import escape, unescape
from pathlib import Path
from typing import Any

import pypdf
import pytest
from PIL import Image

from avalon_logic.configuration import Configuration
from avalon_logic.referee.booklet import booklet, card, gather
from avalon_logic.referee.document import Booklet
from avalon_logic.referee.formats import render
from avalon_logic.referee.messages import LANGUAGES

BROWSER = next((b for n in ("chromium", "chromium-browser", "google-chrome") if (b := shutil.which(n))), None)
pytestmark = pytest.mark.skipif(BROWSER is None, reason="no browser: apt-get install chromium")

EVERYBODY = ("merlin", "percival", "assassin", "mordred", "morgana", "oberon")
QUIET = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
)
SHEETS = {"A4": (595, 842), "letter": (612, 792)}

# put at the end of the page, which stands in a frame as wide as the screen meant; tells the outer page's title
MEASURE = """<script>
const wide = [...document.querySelectorAll("section")].filter(s => s.scrollWidth > s.clientWidth + 1).length;
const cut = [...document.querySelectorAll(".scroll")].filter(s => s.scrollWidth > s.clientWidth + 1)
  .map(s => s.closest("section").querySelector("h3").textContent);
const sizes = [...document.querySelectorAll("th, td, li, p")].filter(e => e.textContent.trim())
  .map(e => parseFloat(getComputedStyle(e).fontSize));
parent.document.title = JSON.stringify({
  window: innerWidth, page: document.documentElement.scrollWidth, wide, cut, smallest: Math.min(...sizes)});
</script>"""


def largest(language: str, *, of_card: bool = False) -> Booklet:
    """The table with most on it."""
    configuration = Configuration("avalon", 10, ("lady", "targeting"), EVERYBODY)
    night = gather(configuration, [10], strict=True)
    return card(night, language) if of_card else booklet(night, language)


def browse(folder: Path, *options: str, page: Path) -> str:
    """Runs the browser on a page and gives what it prints."""
    assert BROWSER is not None
    command = [BROWSER, *QUIET, f"--user-data-dir={folder / 'profile'}", *options, page.as_uri()]
    done = subprocess.run(command, capture_output=True, timeout=120, check=True)
    return done.stdout.decode()


def measured(folder: Path, made: Booklet, width: int) -> dict[str, Any]:
    page = folder / "page.html"
    inner = render(made, "html").decode().replace("</body>", MEASURE + "</body>")
    frame = f'<iframe srcdoc="{escape(inner)}" style="border: 0; width: {width}px; height: 900px"></iframe>'
    page.write_text(f"<!DOCTYPE html><title>-</title><body style='margin: 0'>{frame}")
    dom = browse(folder, f"--window-size={max(width, 600)},1000", "--dump-dom", page=page)
    title = re.search(r"<title>(\{.*?)</title>", dom, re.DOTALL)
    assert title is not None
    found = json.loads(unescape(title[1]))
    assert isinstance(found, dict)
    return found


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("language", LANGUAGES)
def test_nothing_sticks_out_of_the_screen(tmp_path: Path, language: str, width: int) -> None:
    for made in (largest(language), largest(language, of_card=True)):
        found = measured(tmp_path, made, width)
        assert found["window"] == width
        assert found["page"] <= width
        assert found["wide"] == 0
        assert found["cut"] == []
        assert found["smallest"] >= 11


def test_light_and_dark_are_two_faces_of_one_page(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_bytes(render(largest("en"), "html"))
    corners = []
    for name, setting in (("light", 1), ("dark", 0)):
        picture = tmp_path / f"{name}.png"
        scheme = f"--blink-settings=preferredColorScheme={setting}"
        browse(tmp_path, "--window-size=390,800", scheme, f"--screenshot={picture}", page=page)
        with Image.open(picture) as image:
            corners.append(image.convert("L").getpixel((2, 790)))
    light, dark = corners
    assert light > 200
    assert dark < 60


@pytest.mark.parametrize("sheet", SHEETS)
@pytest.mark.parametrize("language", LANGUAGES)
def test_each_number_of_players_prints_on_one_sheet(tmp_path: Path, language: str, sheet: str) -> None:
    night = gather(Configuration("avalon", 10, ("lady", "targeting"), EVERYBODY), [10], strict=True)
    more = gather(Configuration("avalon", 5, ("lady",)), [5, 7], strict=True)
    for made in (booklet(night, language), booklet(more, language)):
        pages = _printed(tmp_path, made, sheet)
        for number, page in enumerate(p for p in made.pages if p.players is not None):
            assert pages[number].startswith(page.title)
            assert _squeezed(page.tables[-1].rows[-1][-1]) in _squeezed(pages[number])
        common = made.pages[-1]
        assert pages[len(made.pages) - 1].startswith(common.title)


@pytest.mark.parametrize("sheet", SHEETS)
@pytest.mark.parametrize("language", LANGUAGES)
def test_a_card_prints_on_one_sheet(tmp_path: Path, language: str, sheet: str) -> None:
    assert len(_printed(tmp_path, largest(language, of_card=True), sheet)) == 1


def _printed(folder: Path, made: Booklet, sheet: str) -> list[str]:
    """The text of each printed sheet."""
    page, out = folder / "print.html", folder / "print.pdf"
    size = f"<style>@page {{ size: {sheet}; }}</style></head>"
    page.write_text(render(made, "html").decode().replace("</head>", size))
    browse(folder, "--no-pdf-header-footer", f"--print-to-pdf={out}", page=page)
    reader = pypdf.PdfReader(out)
    box = reader.pages[0].mediabox
    assert (round(box.width), round(box.height)) == SHEETS[sheet]
    return [p.extract_text().strip() for p in reader.pages]


def _squeezed(text: str) -> str:
    return "".join(text.split())
