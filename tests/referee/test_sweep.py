"""Every number of players, every legal role set, every module: all languages and formats are made without error.

By default a sample that changes with nothing; the whole with `pytest tests/referee/test_sweep.py --whole-sweep -n 2`.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from itertools import chain, combinations
from random import Random

import html5lib
import pypdf
import pytest

from avalon_logic.configuration import Configuration
from avalon_logic.referee.booklet import booklet, card, gather
from avalon_logic.referee.formats import FORMATS, render
from avalon_logic.referee.messages import LANGUAGES
from tests.referee import books

SAMPLE = 24
PARTS = 12


def _mixes(*modules: str) -> list[tuple[str, ...]]:
    return list(chain.from_iterable(combinations(modules, k) for k in range(len(modules) + 1)))


def every_table() -> Iterator[Configuration]:
    """Every game, number of players, role set and mix of modules."""
    for n in books.COUNTS:
        for modules in _mixes("targeting", "blind_spies"):
            yield Configuration("resistance", n, modules)
    for n, roles in books.role_sets():
        for modules in _mixes("targeting", "blind_spies", "lady"):
            yield Configuration("avalon", n, modules, roles)
        for modules in _mixes("blind_spies", "lady"):
            yield Configuration("avalon_2021", n, modules, roles)


def _chosen(whole: bool) -> list[Configuration]:
    tables = list(every_table())
    return tables if whole else Random(2021).sample(tables, SAMPLE)


def test_the_sweep_is_over_what_there_is() -> None:
    tables = list(every_table())
    assert len({t.key() for t in tables}) == len(tables) == 24 + 12 * len(list(books.role_sets()))


@pytest.mark.parametrize("part", range(PARTS))
def test_every_table_can_be_printed_in_every_language_and_format(
    part: int, request: pytest.FixtureRequest
) -> None:
    whole = bool(request.config.getoption("--whole-sweep"))
    for index, configuration in enumerate(_chosen(whole)):
        if index % PARTS != part:
            continue
        night = gather(configuration, [configuration.players], strict=True)
        for turn, language in enumerate(LANGUAGES):
            made = booklet(night, language)
            assert made.notes == ()
            assert len(made.pages) == 2
            for format in FORMATS:
                if format == "pdf" and not whole and turn != index % len(LANGUAGES):
                    continue  # the sample makes each PDF in one language, the whole sweep in all
                content = render(made, format)
                assert len(content) > 1000
                if format == "html":
                    html5lib.HTMLParser(strict=True).parse(content.decode())
                if format == "pdf":
                    reader = pypdf.PdfReader(io.BytesIO(content))
                    assert made.pages[1].title in reader.pages[1].extract_text()
        content = render(card(night, LANGUAGES[index % 3]), "pdf")
        assert len(pypdf.PdfReader(io.BytesIO(content)).pages) == 1
