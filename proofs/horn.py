"""Invariants found by Spacer, Z3's solver for Horn clauses: for claims that are true, that no guess makes inductive, and
that no end of the game lets the search exhaust.

The states a game can reach are the least relation closed under its steps. Spacer looks for any relation closed under them
that excludes the bad states; what it finds is not believed but checked, like every other induction.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import z3  # type: ignore[import-untyped]

from proofs.clock import Clock, OutOfTime
from proofs.induction import excluded, said
from proofs.lemmas import Lemma
from rules_dsl.smt import Place, System, finite_solver
from rules_dsl.smt.raw import KEYBOARD, listened
from rules_dsl.smt.terms import Truth, term, unknowns
from rules_dsl.smt.unroll import relation


def found_invariant(
    system: System, bad: Truth, facts: Sequence[Lemma], clock: Clock, share: float = 1.0
) -> Any:
    """A condition on states that every game keeps and that excludes the bad ones; None if none was found.

    `share` of the time left is Spacer's.
    """
    known = [term(said(system, fact, system.before)) for fact in facts]
    try:
        if excluded(system, facts, bad, clock):
            return z3.BoolVal(True)  # what is bad is no state at all
        found = asked(system, term(bad), known, share * clock.left())
        if found is None or not holds_up(system, found, known, term(bad), clock):
            return None
    except OutOfTime:
        return None
    return found


def asked(system: System, bad: Any, known: Sequence[Any], seconds: float) -> Any:
    """What Spacer says, unchecked; None if it does not say so in a condition on one state."""
    steps = relation(system)
    state, inputs = list(steps.before), list(steps.inputs)
    valid = term(system.valid)
    closed = {x.get_id() for x in (*state, *inputs)}
    spoken = unknowns([valid, steps.legal, *steps.after, bad, *known])
    open_ = [x for x in spoken if x.get_id() not in closed]  # the parameters
    sorts = [x.sort() for x in (*open_, *state)]
    reached = z3.Function("reached", *sorts, z3.BoolSort())
    wrong = z3.Function("wrong", z3.BoolSort())
    engine = z3.Fixedpoint()
    engine.set("engine", "spacer")
    engine.set("timeout", max(1, int(seconds * 1000)))
    # otherwise steps are folded into each other, and the answer speaks of some choice made on the way
    engine.set("xform.inline_eager", False, "xform.inline_linear", False)
    engine.register_relation(reached, wrong)
    engine.declare_var(*open_, *state, *inputs)
    engine.rule(reached(*open_, *system.state_leaves(system.initial)), valid)
    engine.rule(reached(*open_, *steps.after), [reached(*open_, *state), *known, steps.legal])
    engine.rule(wrong(), [reached(*open_, *state), *known, bad])
    try:
        answer = listened(engine.query(wrong()), engine)
    except z3.Z3Exception as error:  # its way of saying that time is up, or of having taken Ctrl-C for itself
        if KEYBOARD in str(error) or KEYBOARD in str(engine.reason_unknown()):
            raise KeyboardInterrupt from None
        return None
    found = _definition(engine.get_answer(), reached, [*open_, *state]) if answer == z3.unsat else None
    return None if found is None or not _is_plain(found) else found


def _is_plain(condition: Any) -> bool:
    """Does it speak of one state only? An answer may say that there is some state before from which a step led here, and
    that no solver for finite domains can read.
    """
    queue, seen = [condition], set[int]()
    while queue:
        here = queue.pop()
        if z3.is_quantifier(here):
            return False
        if here.get_id() not in seen:
            seen.add(here.get_id())
            queue += here.children()
    return True


def _definition(answer: Any, relation_: Any, arguments: Sequence[Any]) -> Any:
    """What the answer says a relation is, said of these arguments; None if it does not say so in one formula."""
    if z3.is_quantifier(answer) and answer.is_forall() and z3.is_eq(answer.body()):
        head, body = answer.body().children()
        if z3.is_app(head) and head.decl().eq(relation_):
            values: list[Any] = [None] * answer.num_vars()
            for variable, argument in zip(head.children(), arguments, strict=True):
                if not z3.is_var(variable):
                    return None
                values[z3.get_var_index(variable)] = argument
            return None if None in values else z3.substitute_vars(body, *values)
    if z3.is_and(answer):
        return next(
            (d for x in answer.children() if (d := _definition(x, relation_, arguments)) is not None), None
        )
    return None


# --- checking what was found ---


def starts_outside(system: System, invariant: Any) -> Any:
    """Some game does not start with it."""
    return z3.Not(_said(system, invariant, system.state_leaves(system.initial)))


def lost_at(system: System, invariant: Any, place: Place) -> list[tuple[str, Truth]]:
    """A step from a place does not keep it."""
    step = system.steps[place]
    return [
        ("the invariant found", invariant),
        (f"the game stands at {place}", system.at(system.before, place)),
        *((f"rule {c.name}", c.term) for c in step.conditions),
        ("it is lost", z3.Not(_said(system, invariant, system.state_leaves(step.after)))),
    ]


def _said(system: System, invariant: Any, leaves: Sequence[Any]) -> Any:
    return z3.substitute(invariant, *zip(system.state_leaves(system.before), leaves, strict=True))


def holds_up(system: System, invariant: Any, known: Sequence[Any], bad: Any, clock: Clock) -> bool:
    """It holds at the start, every step keeps it, and it excludes what is bad."""
    return not any(clock.check(solver) for solver in _questions(system, invariant, known, bad))


def _questions(system: System, invariant: Any, known: Sequence[Any], bad: Any) -> Iterator[Any]:
    start = finite_solver()
    start.add(term(system.valid), starts_outside(system, invariant))
    yield start
    for place in system.steps:
        solver = finite_solver()
        solver.add(term(system.valid), term(system.formed), *known)
        solver.add(*(term(part) for _, part in lost_at(system, invariant, place)))
        yield solver
    end = finite_solver()
    end.add(term(system.valid), term(system.formed), *known, invariant, bad)
    yield end
