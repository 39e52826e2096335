"""How long the shipped properties take: all player counts at once, one count after the other, and with certificates.

    pytest -s tests/benchmarks/test_proofs.py --benchmark-only

Without --benchmark-only (or --benchmark-enable) only the properties of a tiny game are decided and nothing is timed.
"""

from __future__ import annotations

from pathlib import Path
from time import perf_counter

from pytest_benchmark.fixture import BenchmarkFixture

from avalon_logic.proving import GAMES, own_families, shipped_families
from proofs.certificates import check_folder, exit_code
from proofs.families import Family
from proofs.prover import Options
from proofs.verdicts import Verdict
from proofs.workers import decide
from rules_dsl import Value
from tests.proofs.house import write_rules

CORES = 2
AT_ONCE_SECONDS, CERTIFIED_SECONDS = 60, 300


def decided(families: list[Family], folder: Path | None = None) -> list[Verdict]:
    """A verdict for every property. At a single count of players some are rightly other than in general."""
    found = list(decide(families, Options(), CORES, folder))
    assert found
    return found


def proved(families: list[Family], folder: Path | None = None) -> list[Verdict]:
    found = decided(families, folder)
    assert all(v.as_expected for v in found), [v for v in found if not v.as_expected]
    return found


def families_of(benchmark: BenchmarkFixture, folder: Path, players: int | None = None) -> list[Family]:
    """What is proved, for one count of players or all: the shipped properties if it is timed, else a tiny game's."""
    fixed: dict[str, Value] = {} if players is None else {"players": players}
    if benchmark.disabled:
        return own_families((write_rules(folder),), fixed=fixed)
    return shipped_families(GAMES, fixed=fixed)


def test_all_player_counts_at_once_are_quicker_than_one_after_the_other(
    benchmark: BenchmarkFixture, tmp_path: Path
) -> None:
    counts = range(2, 4) if benchmark.disabled else range(5, 11)
    started = perf_counter()
    each = [len(decided(families_of(benchmark, tmp_path, n))) for n in counts]
    one_by_one = perf_counter() - started
    at_once = benchmark.pedantic(proved, (families_of(benchmark, tmp_path),), rounds=1, iterations=1)
    assert each == [len(at_once)] * len(counts), "the same properties were decided"
    if not benchmark.disabled:
        seconds = benchmark.stats.stats.max
        print(
            f"\n{len(at_once)} verdicts: at once {seconds:.1f} s, one count after the other {one_by_one:.1f} s"
        )
        assert seconds < one_by_one
        assert seconds < AT_ONCE_SECONDS


def test_certificates_included_it_stays_quick(benchmark: BenchmarkFixture, tmp_path: Path) -> None:
    folder = tmp_path / "certificates"

    def certified() -> int:
        proved(families_of(benchmark, tmp_path), folder)
        checked = check_folder(folder, jobs=CORES)
        assert exit_code(checked) == 0
        return len(checked)

    obligations = benchmark.pedantic(certified, rounds=1, iterations=1)
    assert obligations > 5
    if not benchmark.disabled:
        seconds = benchmark.stats.stats.max
        print(f"\n{obligations} obligations proved and checked by two solvers in {seconds:.1f} s")
        assert seconds < CERTIFIED_SECONDS
