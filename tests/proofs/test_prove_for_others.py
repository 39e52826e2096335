"""`avalon prove --certify` and `--junit` as a user runs them."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from avalon_logic.cli import main
from proofs import certificates
from proofs.certificates import MissingSolver
from tests.proofs.house import COUNTDOWN, write_rules

WRONG = COUNTDOWN.replace("over implies moves >= 4 expect refuted", "over implies moves >= 4 expect proved")


def test_the_report_shows_both_solvers_answers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rules = write_rules(tmp_path)
    folder, junit = tmp_path / "certificates", tmp_path / "prove.xml"
    assert main(["prove", str(rules), "--certify", str(folder), "--junit", str(junit), "-j", "1"]) == 0
    shown = capsys.readouterr().out
    assert "z3 and cvc5 both say unsat to" in shown
    assert (folder / "countdown" / "initiation.smt2").read_text(encoding="utf-8").startswith("; countdown: ")
    root = ET.fromstring(junit.read_text(encoding="utf-8"))
    assert (root.get("tests"), root.get("failures"), root.get("errors")) == ("6", "0", "0")


def test_the_json_report_has_a_line_for_every_property_and_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rules = write_rules(tmp_path)
    assert main(["prove", str(rules), "--certify", str(tmp_path / "c"), "--json", "-j", "1"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert all(c["z3"] == c["cvc5"] == "unsat" for c in report["certificates"])
    lines = {p["property"]: p["certificate"] for p in report["properties"]}
    assert lines["somebody_must_take"].startswith("certified: z3 and cvc5 agree on")
    assert lines["four_moves"].startswith("not certified: a game shows it")


def test_a_disagreement_is_a_finding(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(certificates, "ask_cvc5", lambda text, seconds: "sat")
    rules, junit = write_rules(tmp_path), tmp_path / "prove.xml"
    words = ["prove", str(rules), "--certify", str(tmp_path / "c"), "--junit", str(junit), "-j", "1"]
    assert main(words) == 1
    assert "FAILED countdown/initiation.smt2: z3 says unsat, cvc5 says sat" in capsys.readouterr().out
    assert int(ET.fromstring(junit.read_text(encoding="utf-8")).get("failures", "0")) > 0


def test_an_unexpected_verdict_is_a_failure_with_its_game(tmp_path: Path) -> None:
    rules, junit = write_rules(tmp_path, WRONG), tmp_path / "prove.xml"
    assert main(["prove", str(rules), "--junit", str(junit), "-j", "1"]) == 1
    (failure,) = ET.fromstring(junit.read_text(encoding="utf-8")).iter("failure")
    assert failure.text is not None
    assert "1. take: taken: seat 1 2" in failure.text


def test_a_missing_second_solver_is_said_before_anything_is_proved(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing() -> None:
        raise MissingSolver("cvc5 is not installed: pip install 'avalon-logic[certify]'")

    monkeypatch.setattr(certificates, "require_cvc5", missing)
    assert main(["prove", str(write_rules(tmp_path)), "--certify", str(tmp_path / "c")]) == 2
    assert "pip install 'avalon-logic[certify]'" in capsys.readouterr().err
    assert not (tmp_path / "c").exists()


def test_a_file_where_a_folder_is_wanted_is_bad_input(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rules = write_rules(tmp_path)
    assert main(["prove", str(rules), "--certify", str(rules)]) == 2
    assert "name a folder" in capsys.readouterr().err
    assert main(["prove", str(rules), "--junit", str(tmp_path / "no" / "where.xml"), "-j", "1"]) == 2


FULL = Path("/dev/full")  # a disk with no room left


@pytest.mark.skipif(not FULL.exists(), reason="there is no /dev/full here")
def test_a_certificate_that_cannot_be_written_is_a_failure(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rules, folder, junit = write_rules(tmp_path), tmp_path / "certificates", tmp_path / "prove.xml"
    (folder / "countdown").mkdir(parents=True)
    (folder / "countdown" / "initiation.smt2").symlink_to(FULL)
    words = ["prove", str(rules), "--certify", str(folder), "--junit", str(junit), "-j", "1"]
    assert main(words) == 1
    shown = capsys.readouterr().out
    assert "FAILED countdown/certificate.json: could not be written" in shown
    assert "No space left on device" in shown
    assert int(ET.fromstring(junit.read_text(encoding="utf-8")).get("failures", "0")) > 0


def test_a_folder_nothing_can_be_written_to_is_said_before_anything_is_proved(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "certificates"
    folder.mkdir()
    (folder / "countdown").write_text("in the way", encoding="utf-8")
    assert main(["prove", str(write_rules(tmp_path)), "--certify", str(folder), "-j", "1"]) == 2
    assert "countdown" in capsys.readouterr().err


def test_certificates_of_an_earlier_run_are_not_taken_for_this_ones(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from proofs import workers

    rules, folder = write_rules(tmp_path), tmp_path / "certificates"
    assert main(["prove", str(rules), "--certify", str(folder), "-j", "1"]) == 0
    monkeypatch.setattr(workers, "write_certificates", lambda *_given: [])
    assert main(["prove", str(rules), "--certify", str(folder), "-j", "1"]) == 1
    assert "FAILED countdown/certificate.json: nothing was written" in capsys.readouterr().out


def test_certificates_are_not_promised_where_none_are_made(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["prove", str(write_rules(tmp_path)), "--coverage", "--certify", str(tmp_path / "c")]
    assert main(words) == 2
    assert "--coverage" in capsys.readouterr().err


def test_nothing_to_certify_is_said_as_such(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["prove", str(write_rules(tmp_path)), "--property", "long_game", "-j", "1"]
    assert main([*words, "--certify", str(tmp_path / "c")]) == 0
    shown = capsys.readouterr().out
    assert "there was nothing for the solvers to check" in shown
    assert "0 of 0" not in shown
    assert certificates.main([str(tmp_path / "c")]) == 3
    assert "there is nothing to check here" in capsys.readouterr().out


def test_a_proof_without_a_certificate_is_not_certified(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from dataclasses import replace

    from proofs import workers

    whole = workers.prove

    def without_evidence(*given: object) -> object:
        return (replace(v, evidence=None) for v in whole(*given))  # type: ignore[arg-type]

    monkeypatch.setattr(workers, "prove", without_evidence)
    words = ["prove", str(write_rules(tmp_path)), "--property", "never_full_again", "-j", "1"]
    assert main([*words, "--certify", str(tmp_path / "c")]) == 3
    assert "never_full_again: not certified: no certificate for this method" in capsys.readouterr().out


def test_the_report_says_what_was_read_twice_and_what_is_not_covered(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "c"
    assert main(["prove", str(write_rules(tmp_path)), "--certify", str(folder), "-j", "1"]) == 0
    shown = capsys.readouterr().out
    assert "second reading, countdown: the interpreter and the formulas agree about" in shown
    assert "at 2 tables, all of them whole" in shown
    assert "not covered: how the rules were turned into formulas" in shown
    contents = json.loads((folder / "countdown" / "certificate.json").read_text(encoding="utf-8"))
    assert any("turned into formulas" in line for line in contents["does_not_cover"])


def test_rules_read_wrongly_fail_though_both_solvers_agree(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The translator forgets a requirement: the formulas are about another game, of which the claim may be true."""
    from proofs import session
    from rules_dsl.smt import compile_smt
    from tests.differential.breaking import without_requirement

    forget = without_requirement("take", "there are not that many left")
    monkeypatch.setattr(session, "compile_smt", lambda model: compile_smt(forget(model)))
    words = ["prove", str(write_rules(tmp_path)), "--property", "somebody_must_take", "-j", "1"]
    assert main([*words, "--certify", str(tmp_path / "c")]) == 1
    shown = capsys.readouterr().out
    assert "proved   somebody_must_take" in shown
    assert "second reading: the formulas allow" in shown
