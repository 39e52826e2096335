"""Mutants that are known to live, each with the reason, from `known.toml`.

A mutant is named by the rule it is made in, not by a place in a file: the text of its line without clauses and
comments, the kind of mistake, and the words exchanged. So an entry outlives every change but one to its own rule.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from proofs.mutation import Mutant

KNOWN = Path(__file__).parent / "known.toml"
_NOT_THE_RULE = re.compile(r"\s*(?://.*|\bcite\b\s.*)$")


@dataclass(frozen=True)
class Known:
    """`nth`: which of several mutants of one rule that exchange the same words."""

    file: str
    rule: str
    kind: str
    change: str
    reason: str
    nth: int = 1


def known_mutants(path: Path = KNOWN) -> list[Known]:
    return [Known(**entry) for entry in tomllib.loads(path.read_text(encoding="utf-8"))["mutant"]]


def rule_of(mutant: Mutant, texts: Mapping[str, str]) -> str:
    """The rule a mutant is made in, as it is written."""
    line = texts[mutant.file].splitlines()[mutant.line - 1]
    return " ".join(_NOT_THE_RULE.sub("", line).split())


def named(entry: Known, mutants: Iterable[Mutant], texts: Mapping[str, str]) -> Mutant | None:
    """The mutant an entry speaks about; None if there is no such mutant any more."""
    found = [
        m
        for m in mutants
        if (m.file, m.kind, m.change) == (entry.file, entry.kind, entry.change)
        and rule_of(m, texts) == entry.rule
    ]
    found.sort(key=lambda m: m.start)
    return found[entry.nth - 1] if entry.nth <= len(found) else None


def reasons(mutants: Iterable[Mutant], texts: Mapping[str, str]) -> dict[str, str]:
    """The reason why a mutant lives, by its key."""
    every = list(mutants)
    found = ((named(entry, every, texts), entry.reason) for entry in known_mutants())
    return {mutant.key: reason for mutant, reason in found if mutant is not None}
