"""What a way of deciding has found out about a claim; the prover makes a verdict of it."""

from __future__ import annotations

from dataclasses import dataclass

from proofs.evidence import Evidence
from proofs.search import Found
from rules_dsl.smt import Game
from rules_dsl.smt.terms import Truth


@dataclass(frozen=True)
class Finding:
    """`holds` is True (proved), False (the game shows it false) or None (undecided, looked at up to `depth` events).

    `happens` is what the claim is about, where that is more than a condition on states: a proof is hollow if no game
    ever comes to it.
    """

    holds: bool | None
    how: str
    lemmas: tuple[str, ...] = ()
    game: Game | None = None
    twin: Game | None = None
    seat: int | None = None
    depth: int | None = None
    evidence: Evidence | None = None
    happens: Truth | None = None


def undecided(found: Found) -> Finding:
    """A search that neither found a game nor was complete."""
    return Finding(None, found.undecided, depth=found.depth if found.depth >= 0 else None)
