"""Every clause of the books with formal content is stated by some declaration of the rulebooks."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import avalon_logic

RULEBOOKS = Path(avalon_logic.__file__).parent / "rulebooks"
SHARED = Path(__file__).resolve().parents[3] / "shared" / "RULES.md"

# clauses with nothing to state, and why
NOT_STATED = {
    "CORE-35": "advice without force",
    "ROLE-12": "balance remarks, no rule",
    "TGT-08": "follows from the others (never stuck); a matter of proof",
    "REV-C": "belongs to a module that is not part of these rulebooks",
}
FAMILIES = {"CORE": 35, "ROLE": 12, "REV": 3, "TGT": 8, "LADY": 10, "LOY": 1}
SCRIPTS = ("REV-A", "REV-B", "REV-C", "REV-D", "REV-E")


def clauses() -> set[str]:
    numbered = {f"{family}-{n:02d}" for family, last in FAMILIES.items() for n in range(1, last + 1)}
    return numbered | set(SCRIPTS)


def cited() -> set[str]:
    found: set[str] = set()
    for path in RULEBOOKS.glob("*.rules"):
        for line in re.findall(r"cite\s+([A-Z0-9, -]+)", path.read_text(encoding="utf-8")):
            found |= set(re.findall(r"[A-Z][A-Z0-9]*-[A-Z0-9]+", line))
    return found


def test_every_clause_is_cited_or_has_a_reason_not_to_be() -> None:
    missing = clauses() - cited() - set(NOT_STATED)
    assert not missing, f"uncited: {', '.join(sorted(missing))}"


def test_no_reason_is_given_for_a_clause_that_is_cited() -> None:
    assert not set(NOT_STATED) & cited()


@pytest.mark.skipif(
    not SHARED.exists(), reason="../shared/RULES.md is not here: the list of clause ids is not compared"
)
def test_the_list_of_clauses_is_that_of_the_catalogue() -> None:
    text = SHARED.read_text(encoding="utf-8")
    found = set(re.findall(r"\*\*((?:CORE|ROLE|REV|TGT|LADY|LOY)-[A-Z0-9]+)\b", text))
    assert found == clauses()


@pytest.mark.skipif(
    not SHARED.exists(), reason="../shared/RULES.md is not here: citations are not compared with it"
)
def test_nothing_is_cited_that_does_not_exist() -> None:
    text = SHARED.read_text(encoding="utf-8")
    assert not {c for c in cited() if c not in text}
