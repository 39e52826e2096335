"""Families decided in processes of their own: every property comes back with a verdict, whatever happens there."""

from __future__ import annotations

from pathlib import Path

import pytest
import z3  # type: ignore[import-untyped]

from avalon_logic.proving import shipped_families
from proofs import workers
from proofs.certificates import check_folder, exit_code
from proofs.families import Family
from proofs.prover import Options
from proofs.verdicts import UNKNOWN, Verdict
from proofs.verdicts import exit_code as verdicts_code
from proofs.workers import decide
from rules_dsl.smt import Unrolling
from tests.proofs.house import COUNTDOWN, model_of, verdicts_of


def family() -> Family:
    return Family("countdown", "countdown", (), (), (), model_of(COUNTDOWN))


def test_a_process_sends_back_every_verdict() -> None:
    found = {v.name: v.outcome for v in decide([family()], Options(seconds=20, deepest=12), 2)}
    assert found == {v.name: v.outcome for v in verdicts_of()}


def test_a_process_leaves_the_certificates_of_its_proofs(tmp_path: Path) -> None:
    assert list(decide([family()], Options(seconds=20, deepest=12), 1, tmp_path))
    assert exit_code(check_folder(tmp_path, seconds=30)) == 0


def test_a_verdict_that_got_lost_is_unknown_and_not_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    def forgetful(*given: object) -> list[Verdict]:
        return verdicts_of()[1:]

    monkeypatch.setattr(workers, "prove", forgetful)
    found = {v.name: v for v in decide([family()], Options(seconds=20), 1)}
    assert set(found) == set(model_of(COUNTDOWN).properties)
    lost = [v for v in found.values() if v.outcome == UNKNOWN]
    assert [v.how for v in lost] == ["its verdict was lost"]


def test_a_process_that_fails_leaves_its_properties_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(*given: object) -> list[Verdict]:
        raise MemoryError

    monkeypatch.setattr(workers, "prove", failing)
    found = list(decide([family()], Options(seconds=20), 1))
    assert {v.outcome for v in found} == {UNKNOWN}
    assert len(found) == 6
    assert "out of memory" in found[0].how


def test_a_family_too_large_for_the_memory_leaves_the_others_their_verdicts() -> None:
    """For real: the tiny game fits into this, the shipped one does not."""
    (large,) = shipped_families(["resistance"])[:1]
    found = list(decide([large, family()], Options(seconds=60, deepest=12, memory=30), 2))
    names = {f: {v.name for v in found if v.family == f} for f in ("resistance", "countdown")}
    assert names == {"resistance": set(large.properties), "countdown": set(family().properties)}
    assert all(v.as_expected for v in found if v.family == "countdown")
    lost = [v for v in found if v.family == "resistance" and v.outcome == UNKNOWN]
    assert lost
    assert all("out of memory" in v.how for v in lost)
    assert verdicts_code(found) == 3


def test_a_solver_without_memory_is_known_by_what_its_wrapper_makes_of_it() -> None:
    try:
        try:
            raise z3.Z3Exception(b"out of memory")
        except z3.Z3Exception:
            raise z3.Z3Exception("model is not available") from None
    except z3.Z3Exception as error:
        assert workers._is_out_of_memory(error)
    assert not workers._is_out_of_memory(z3.Z3Exception("model is not available"))


def test_what_a_search_has_found_is_told_before_it_goes_deeper(monkeypatch: pytest.MonkeyPatch) -> None:
    """The memory runs out at the sixth event; the game of three was found by then."""
    whole = Unrolling.extend

    def heavy(self: Unrolling) -> None:
        if self.depth == 5:
            raise MemoryError
        whole(self)

    monkeypatch.setattr(Unrolling, "extend", heavy)
    found = {v.name: v for v in decide([family()], Options(seconds=20, deepest=12), 1)}
    assert found["four_moves"].outcome == "refuted"
    assert found["long_game"].how == "out of memory"
