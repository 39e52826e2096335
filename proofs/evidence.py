"""What a verdict rests on, kept so that another solver can check it again.

`Evidence` belongs to verdicts no game shows: claims that are inductive together, a condition they exclude, and where the
proof unrolled the game, over how many events.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from proofs.agreement import Agreement
from proofs.lemmas import Lemma
from proofs.swaps import Swap, SwapProver
from rules_dsl.smt import Place, System
from rules_dsl.smt.terms import Truth


@dataclass(frozen=True)
class Ranks:
    """A number for every place and every value of the measures there; every event makes it smaller."""

    measures: tuple[Lemma, ...]
    numbers: Mapping[tuple[Place, tuple[int, ...]], int]


@dataclass(frozen=True)
class Twins:
    """Exchanges that lead from a game to another that looks the same, and who proved them to."""

    prover: SwapProver
    swaps: tuple[Swap, ...]


@dataclass(frozen=True)
class Evidence:
    """`claims` are kept by every step; together they exclude `bad`. With `events` they only help: `bad` is excluded
    by following every game for so many events, and no game has more. With `shared`, `bad` is a condition on two games
    that look the same to a seat, excluded by what they share. With `ranks` every event makes a number smaller, and `bad` is
    what stops a game before its end. With `twins`, `bad` leans on the exchanges listed there, with
    `invariant` on a condition that steps keep as the claims do. `whole` is the system whose steps keep the claims, where it
    is not `system`: one that halts less often, so that `system` has them where it rests.
    """

    system: System = field(repr=False)
    claims: tuple[Lemma, ...]
    bad: Truth = field(repr=False)
    events: int | None = None
    ranks: Ranks | None = None
    shared: Agreement | None = field(default=None, repr=False)
    twins: Twins | None = field(default=None, repr=False)
    invariant: Any = field(default=None, repr=False)
    whole: System | None = field(default=None, repr=False)

    @property
    def known(self) -> tuple[Lemma, ...]:
        """The claims, as they are known of `system`."""
        return self.claims if self.whole is None else tuple(replace(c, at_rest=True) for c in self.claims)
