"""How long a full booklet takes: all numbers of players, one language, HTML, everything worked out afresh.

    pytest tests/benchmarks/test_tables.py --benchmark-only

The limit is 5 seconds after start. Without --benchmark-only (or --benchmark-enable) the booklets are only made.
"""

from __future__ import annotations

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from avalon_logic.configuration import Configuration
from avalon_logic.referee.booklet import booklet, forget, gather
from avalon_logic.referee.formats import render

LIMIT = 5.0
NIGHTS = {
    "the base game": Configuration("avalon"),
    "the most modules": Configuration(
        "avalon", modules=("lady", "targeting"), roles=("merlin", "percival", "assassin", "morgana")
    ),
}


def make(configuration: Configuration, format: str) -> bytes:
    forget()
    return render(booklet(gather(configuration, range(5, 11), strict=False), "fr"), format)


@pytest.mark.parametrize("name", NIGHTS)
@pytest.mark.parametrize("format", ["html", "pdf"])
def test_a_full_booklet_is_made_while_you_wait(benchmark: BenchmarkFixture, name: str, format: str) -> None:
    made = benchmark.pedantic(make, args=(NIGHTS[name], format), rounds=3, warmup_rounds=0)
    assert len(made) > 10_000
    if benchmark.enabled and format == "html":
        assert benchmark.stats.stats.min < LIMIT
