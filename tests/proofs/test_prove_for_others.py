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
