"""Verdicts as JUnit XML, which every CI system shows: one test case for each property of each family.

A property passes if its verdict is the one its author expects. Another verdict is a failure with the counterexample as
text; an undecided one is an error, so that it never looks like a pass.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Callable, Mapping, Sequence

from proofs.verdicts import Verdict

Tell = Callable[[Verdict], Sequence[str]]


def problem(verdict: Verdict) -> str:
    """One line on what is not as expected, or "" if all is."""
    if verdict.as_expected:
        return ""
    if verdict.undecided:
        return f"undecided, expected {verdict.claim.expect}: {verdict.how}"
    return f"{verdict.outcome}, expected {verdict.claim.expect}: {verdict.how}"


def junit(
    verdicts: Sequence[Verdict],
    tell: Tell,
    certificates: Mapping[tuple[str, str], str] | None = None,
    failed: frozenset[tuple[str, str]] = frozenset(),
    scopes: Mapping[str, str] | None = None,
) -> str:
    """The report. `tell` gives the lines of a verdict's game; `certificates` what is known of each property's
    certificate, `failed` the properties whose certificate did not stand; `scopes` which tables each family is about.
    """
    root = ET.Element("testsuites", name="avalon prove")
    families: dict[str, list[Verdict]] = {}
    for verdict in verdicts:
        families.setdefault(verdict.family, []).append(verdict)
    for family, group in families.items():
        suite = ET.SubElement(root, "testsuite", name=family)
        for verdict in group:
            key = (family, verdict.name)
            scope = (scopes or {}).get(family, "")
            _case(suite, verdict, tell, scope, (certificates or {}).get(key, ""), key in failed)
        _totals(suite)
    for name in ("tests", "failures", "errors"):
        root.set(name, str(sum(int(s.get(name, "0")) for s in root)))
    root.set("time", f"{sum(float(s.get('time', '0')) for s in root):.3f}")
    ET.indent(root)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"


def _case(
    suite: ET.Element, verdict: Verdict, tell: Tell, scope: str, certificate: str, failed: bool
) -> None:
    claim = verdict.claim
    span = claim.origin.span
    case = ET.SubElement(
        suite,
        "testcase",
        classname=verdict.family,
        name=verdict.name,
        time=f"{verdict.seconds:.3f}",
        file=span.file,
        line=str(span.line),
    )
    about = [claim.text, f"{verdict.outcome}: {verdict.how}"]
    if scope:
        about.append(f"scope: {scope}")
    if claim.origin.cites:
        about.append("clauses: " + ", ".join(claim.origin.cites))
    about += [f"lemma: {text}" for text in verdict.lemmas]
    if certificate:
        about.append(certificate)
    wrong = problem(verdict) or (certificate if failed else "")
    if wrong:
        kind = "error" if verdict.undecided else "failure"
        found = ET.SubElement(case, kind, message=_clean(wrong), type=verdict.outcome)
        found.text = _clean("\n".join([*about, *tell(verdict)]))
    else:
        ET.SubElement(case, "system-out").text = _clean("\n".join(about))


def _totals(suite: ET.Element) -> None:
    suite.set("tests", str(len(suite)))
    for name, tag in (("failures", "failure"), ("errors", "error")):
        suite.set(name, str(sum(1 for case in suite if case.find(tag) is not None)))
    suite.set("skipped", "0")
    suite.set("time", f"{sum(float(case.get('time', '0')) for case in suite):.3f}")


def _clean(text: str) -> str:
    """Without the control characters XML cannot hold."""
    return "".join(c for c in text if c in "\n\t" or ord(c) >= 32)
