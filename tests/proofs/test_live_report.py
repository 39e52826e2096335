"""Verdicts are seen while the run goes on, in an order that does not depend on who was quicker."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest

from avalon_logic.cli.verdicts import Live, print_summary
from proofs.families import Family
from proofs.verdicts import UNKNOWN, Verdict
from tests.proofs.house import COUNTDOWN, model_of, verdicts_of


@pytest.fixture(scope="module")
def decided() -> tuple[list[Family], list[Verdict]]:
    families = [Family(name, "countdown", (), (), (), model_of(COUNTDOWN)) for name in ("one", "two")]
    return families, [replace(v, family=f.name, seconds=0.0) for f in families for v in verdicts_of()]


def test_the_report_does_not_depend_on_the_order_of_the_verdicts(
    decided: tuple[list[Family], list[Verdict]], capsys: pytest.CaptureFixture[str]
) -> None:
    families, verdicts = decided
    shown = set()
    for seed in range(5):
        live = Live(families, (), quiet=False)
        mixed = Random(seed).sample(verdicts, len(verdicts))
        for verdict in mixed:
            live.add(verdict)
        live.end()
        shown.add(capsys.readouterr().out)
        assert [(v.family, v.name) for v in live.found] == [
            (f.name, p) for f in families for p in f.properties
        ]
    assert len(shown) == 1


def test_a_family_is_printed_as_soon_as_it_and_all_before_it_are_decided(
    decided: tuple[list[Family], list[Verdict]], capsys: pytest.CaptureFixture[str]
) -> None:
    families, verdicts = decided
    first, second = verdicts[:6], verdicts[6:]
    live = Live(families, (), quiet=False)
    for verdict in (*second, *first[1:]):
        live.add(verdict)
    waiting = capsys.readouterr()
    assert waiting.out == ""
    assert waiting.err == "6/12 two: done\n"
    live.add(first[0])
    assert [line for line in capsys.readouterr().out.splitlines() if ": 2 to 3 players" in line] == [
        "one: 2 to 3 players",
        "two: 2 to 3 players",
    ]


def test_a_run_that_ends_early_prints_what_there_is(
    decided: tuple[list[Family], list[Verdict]], capsys: pytest.CaptureFixture[str]
) -> None:
    families, verdicts = decided
    live = Live(families, (), quiet=False)
    live.add(verdicts[7])
    live.end()
    shown = capsys.readouterr().out
    assert verdicts[7].name in shown
    assert verdicts[0].name not in shown


def test_a_log_hears_at_once_of_a_verdict_nobody_expected(
    decided: tuple[list[Family], list[Verdict]], capsys: pytest.CaptureFixture[str]
) -> None:
    families, verdicts = decided
    live = Live(families, (), quiet=True)
    live.add(verdicts[0])
    assert capsys.readouterr().err == ""
    live.add(replace(verdicts[1], outcome="refuted", how="counterexample of 3 event(s)"))
    told = capsys.readouterr()
    assert told.err == (
        "2/12 one: somebody_must_take refuted: counterexample of 3 event(s) (expected: proved)\n"
    )
    assert told.out == ""


def test_what_was_not_decided_is_not_counted_as_decided(
    decided: tuple[list[Family], list[Verdict]], capsys: pytest.CaptureFixture[str]
) -> None:
    _, verdicts = decided
    lost = [replace(v, outcome=UNKNOWN, how="out of memory", game=None) for v in verdicts[6:]]
    print_summary([*verdicts[:6], *lost], 12, interrupted=False)
    shown = capsys.readouterr().out
    assert "6 of 12 properties decided: 5 proved, 1 refuted" in shown
    assert "not decided in two, out of memory: never_full_again, somebody_must_take" in shown
    assert "all as expected" not in shown
    assert "--memory" in shown
