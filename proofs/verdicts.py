"""What the prover says about a property, and whether its author expected it."""

from __future__ import annotations

from dataclasses import dataclass, field

from proofs.evidence import Evidence
from rules_dsl import model as m
from rules_dsl.smt import Game

PROVED, REFUTED, BOUNDED, UNKNOWN, VACUOUS = "proved", "refuted", "bounded", "unknown", "vacuous"


@dataclass(frozen=True)
class Verdict:
    """`outcome` is proved, refuted, bounded (no counterexample in `depth` events), unknown or vacuous.

    For a `reachable` claim proved means: `game` is a witness. `twin` is a second game that looks the same to a
    seat, where the property is about knowledge.
    """

    family: str
    claim: m.Property
    outcome: str
    how: str
    seconds: float
    lemmas: tuple[str, ...] = ()
    depth: int | None = None
    game: Game | None = None
    twin: Game | None = None
    seat: int | None = None
    notes: tuple[str, ...] = field(default=())
    narrow: bool = False  # decided for fewer tables than its author spoke of
    evidence: Evidence | None = field(default=None, repr=False, compare=False)

    @property
    def name(self) -> str:
        return self.claim.name

    @property
    def as_expected(self) -> bool:
        open_ = self.claim.expect == UNKNOWN and self.outcome == BOUNDED  # not decided either
        return self.outcome == self.claim.expect or open_ or self.elsewhere

    @property
    def elsewhere(self) -> bool:
        """Does the verdict expected rest on a game, or on a condition met, at a table that was left out?"""
        if not self.narrow or self.outcome not in (PROVED, REFUTED, VACUOUS):
            return False
        rests_on_a_game = (self.claim.kind == "reachable") == (self.claim.expect == PROVED)
        if self.claim.expect in (PROVED, REFUTED) and rests_on_a_game:
            return self.outcome != self.claim.expect
        return self.outcome == VACUOUS and self.claim.expect == PROVED

    @property
    def twin_is_left_behind(self) -> bool:
        """Does the game have an event more than its twin, which cannot go on so?"""
        if self.game is None or self.twin is None:
            return False
        return len(self.twin.moves) < len(self.game.moves)

    @property
    def undecided(self) -> bool:
        return self.outcome in (BOUNDED, UNKNOWN) and self.claim.expect != UNKNOWN


def exit_code(verdicts: list[Verdict]) -> int:
    """0 all as expected, 1 a verdict its author did not expect, 3 only undecided ones."""
    if any(not v.as_expected and not v.undecided for v in verdicts):
        return 1
    return 3 if any(v.undecided for v in verdicts) else 0
