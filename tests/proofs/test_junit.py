"""The JUnit report: what CI systems read."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import pytest

from proofs.junit import junit
from proofs.telling import tell
from proofs.verdicts import Verdict
from tests.proofs.house import COUNTDOWN, model_of, verdicts_of

WRONG = COUNTDOWN.replace("over implies moves >= 4 expect refuted", "over implies moves >= 4 expect proved")


@pytest.fixture(scope="module")
def verdicts() -> list[Verdict]:
    return verdicts_of(WRONG)


def lines(verdict: Verdict) -> list[str]:
    return tell(model_of(WRONG), verdict.game) if verdict.game is not None else []


def test_every_property_is_a_test_case_with_its_time_and_place(verdicts: list[Verdict]) -> None:
    root = ET.fromstring(junit(verdicts, lines))
    assert root.tag == "testsuites"
    assert (root.get("tests"), root.get("failures"), root.get("errors")) == ("6", "1", "0")
    cases = {case.get("name"): case for case in root.iter("testcase")}
    assert set(cases) == set(model_of(WRONG).properties)
    for case in cases.values():
        assert case.get("classname") == "countdown"
        assert float(case.get("time", "-1")) >= 0
        assert case.get("file") == "house.rules"


def test_the_failure_holds_the_counterexample(verdicts: list[Verdict]) -> None:
    root = ET.fromstring(junit(verdicts, lines))
    (failure,) = root.iter("failure")
    assert failure.get("message") == "refuted, expected proved: counterexample of 3 event(s)"
    assert failure.text is not None
    assert "a game has at least four moves" in failure.text
    assert "  3. take: taken: seat" in failure.text


def test_an_undecided_property_is_an_error(verdicts: list[Verdict]) -> None:
    root = ET.fromstring(junit(verdicts_of(seconds=0.0), lines))
    assert int(root.get("errors", "0")) > 0
    assert root.get("failures") == "0"


def test_a_certificate_that_fails_fails_its_property(verdicts: list[Verdict]) -> None:
    key = ("countdown", "somebody_must_take")
    report = junit(verdicts, lines, {key: "certificate FAILED: cvc5 says sat"}, frozenset({key}))
    failures = {c.get("name"): c.find("failure") for c in ET.fromstring(report).iter("testcase")}
    found = failures["somebody_must_take"]
    assert found is not None
    assert found.get("message") == "certificate FAILED: cvc5 says sat"
