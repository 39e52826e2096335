"""Shared by all tests: `pytest --renew-expected` rewrites the expected-output files instead of comparing with them.

Benchmarks are timed only under --benchmark-enable or --benchmark-only; otherwise they just run once.
"""

from __future__ import annotations

from pathlib import Path

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--renew-expected", action="store_true", help="rewrite expected-output files; then read the diff"
    )
    parser.addoption(
        "--whole-sweep",
        action="store_true",
        help="print every referee table there is, not a sample (minutes)",
    )


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    options = config.option
    if not (options.benchmark_only or options.benchmark_enable):
        options.benchmark_disable = True


@pytest.fixture
def matches_file(request: pytest.FixtureRequest):  # type: ignore[no-untyped-def]
    """Compares a text with a file, or rewrites the file under --renew-expected."""

    def compare(text: str, path: Path) -> None:
        if request.config.getoption("--renew-expected"):
            path.write_text(text, encoding="utf-8")
        assert path.exists(), f"{path} is missing; make it with pytest --renew-expected"
        assert text == path.read_text(encoding="utf-8")

    return compare
