"""No hollow proofs: does a claim that was proved ever say anything?"""

from __future__ import annotations

from dataclasses import dataclass

from proofs.clock import Clock
from proofs.lemmas import apply
from proofs.replays import replay
from proofs.samples import sample_environment
from proofs.search import search
from proofs.session import Session
from proofs.verdicts import UNKNOWN, VACUOUS
from rules_dsl import model as m
from rules_dsl.evaluate import holds
from rules_dsl.smt.terms import Truth, and_
from rules_dsl.types import BOOL
from rules_dsl.walk import every


def antecedent(value: m.Expr) -> m.Expr | None:
    """When an implication, or one for all of something, says anything at all."""
    match value:
        case m.Apply("implies", (condition, conclusion), _):
            inner = antecedent(conclusion)
            return condition if inner is None else apply("and", condition, inner)
        case m.Quantify("all", ranges, condition, _, _) if condition is not None:
            inner = antecedent(condition)
            return m.Quantify(
                "exists", ranges, inner if inner is not None else m.Literal(True, BOOL), None, BOOL
            )
        case _:
            return None


@dataclass(frozen=True)
class Idle:
    """Why a claim that was proved says nothing, or may say nothing."""

    outcome: str  # vacuous, or unknown where that was not decided
    how: str


def vacuous(session: Session, property_: m.Property) -> Idle | None:
    """Why the property says nothing, or None if some reachable state is really touched by it."""
    assert property_.value is not None
    condition = antecedent(property_.value)
    if condition is None or any(isinstance(e, m.Knows) for e in every(condition)):
        return None
    if any(holds(condition, sample_environment(session.model, s)) for s in session.seen):
        return None
    system = session.prepare()
    return never(session, and_((system.rests, system.holds(condition))))


def never(session: Session, condition: Truth) -> Idle | None:
    """Why a condition on a state, or on a choice made there, is never met; None if some game meets it."""
    system = session.prepare()
    clock = Clock.of(session.options.seconds)
    result = search(system, {"": condition}, lambda _: clock, session.options.deepest)[""]
    if result.game is not None:
        replay(session.model, result.game)
        return None
    if result.complete:
        return Idle(VACUOUS, "nothing ever happens: its condition is never met")
    return Idle(UNKNOWN, f"it holds, but whether it ever applies was not decided: {result.undecided}")
