"""What has to be checked for a proof to stand, as formulas none of which may be satisfiable.

An `Obligation` is a name, a few sentences and labelled formulas; the proof stands if all of them cannot hold together.
`induction_obligations` and the functions after it make them from a system and the claims a proof rests on. They assume
nothing that is not itself an obligation: that every state is well formed is proved here as well.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from proofs.evidence import Ranks
from proofs.horn import lost_at, starts_outside
from proofs.induction import said
from proofs.lemmas import Lemma
from rules_dsl.smt import Place, SymbolicState, System, Unrolling
from rules_dsl.smt.expressions import value_of
from rules_dsl.smt.symbolic import well_formed
from rules_dsl.smt.terms import (
    Num,
    Truth,
    and_,
    equal,
    in_interval,
    less,
    less_equal,
    not_,
    number,
    or_,
    pick,
    term,
    unknowns,
)
from rules_dsl.types import OptionalType


@dataclass(frozen=True)
class Obligation:
    """`parts` are formulas with labels; together they must be unsatisfiable."""

    name: str
    says: str
    parts: tuple[tuple[str, Any], ...]


def formed(system: System, state: SymbolicState) -> Truth:
    """The state is well formed: every value is one of its type, for this many players."""
    result = OptionalType(system.model.result)
    parts = [well_formed(state.values[n], t, system.players) for n, t in system.types.items()]
    over = or_(system.at(state, p) for p in system.places if p.step is None)
    parts += [well_formed(state.result, result, system.players), in_interval(state.place)]
    parts.append(or_((not_(state.result.some), over)))
    return and_(parts)


def _claims(system: System, claims: Sequence[Lemma], state: SymbolicState) -> Iterator[tuple[str, Truth]]:
    for i, claim in enumerate(claims):
        yield f"claim {i}: {claim.text}", said(system, claim, state)


def _kept(parts: Sequence[tuple[str, Truth]]) -> tuple[tuple[str, Any], ...]:
    return tuple((label, term(part)) for label, part in parts if part is not True)


def _not_all(system: System, claims: Sequence[Lemma], state: SymbolicState) -> Truth:
    return or_((not_(formed(system, state)), *(not_(said(system, c, state)) for c in claims)))


def induction_obligations(system: System, claims: Sequence[Lemma]) -> Iterator[Obligation]:
    """The claims hold at the start, and every step from every place keeps them, and the state well formed."""
    yield Obligation(
        "initiation",
        "Every claim holds in every initial state, which is well formed.",
        _kept(
            [
                ("the parameters are allowed", system.valid),
                ("some claim fails at the start", _not_all(system, claims, system.initial)),
            ]
        ),
    )
    before = [
        ("the parameters are allowed", system.valid),
        ("the state is well formed", formed(system, system.before)),
        *_claims(system, claims, system.before),
    ]
    for place, step in system.steps.items():
        rules = [
            (f"rule {c.name}{' (' + ', '.join(c.cites) + ')' if c.cites else ''}", c.term)
            for c in step.conditions
        ]
        here = [(f"the game stands at {place}", system.at(system.before, place)), *rules]
        after = [("some claim fails after the step", _not_all(system, claims, step.after))]
        yield Obligation(
            f"consecution {place}",
            f"A legal step at {place} keeps every claim.",
            _kept([*before, *here, *after]),
        )


def safety_obligation(system: System, claims: Sequence[Lemma], name: str, bad: Truth) -> Obligation:
    """The claims rule out what a property forbids."""
    return Obligation(
        f"safety {name}",
        f"The claims exclude every state that breaks '{name}'.",
        _kept(
            [
                ("the parameters are allowed", system.valid),
                ("the state is well formed", formed(system, system.before)),
                *_claims(system, claims, system.before),
                ("the property fails", bad),
            ]
        ),
    )


def invariant_obligations(
    system: System, claims: Sequence[Lemma], name: str, invariant: Any, bad: Truth
) -> Iterator[Obligation]:
    """A condition found for one property holds at the start, is kept by every step, and rules out what is forbidden."""
    valid = ("the parameters are allowed", system.valid)
    yield Obligation(
        f"invariant {name} at the start",
        "The invariant found holds in every initial state.",
        _kept([valid, ("it does not", starts_outside(system, invariant))]),
    )
    before = [
        valid,
        ("the state is well formed", formed(system, system.before)),
        *_claims(system, claims, system.before),
    ]
    for place in system.steps:
        yield Obligation(
            f"invariant {name} {place}",
            f"A legal step at {place} keeps the invariant found.",
            _kept([*before, *lost_at(system, invariant, place)]),
        )
    yield Obligation(
        f"safety {name}",
        f"The invariant found excludes every state that breaks '{name}'.",
        _kept([*before, ("the invariant found", invariant), ("the property fails", bad)]),
    )


def unrolling_obligation(
    system: System, facts: Sequence[Lemma], events: int, name: str, bad: Truth
) -> Obligation:
    """No game has a state with `bad` after any number of events up to this one. `facts` hold in every state."""
    unrolling, parts = _unrolled(system, facts, events)
    goal = or_(unrolling.at(t, bad) for t in range(events + 1))
    says = f"No game breaks '{name}' in its first {events} events."
    return Obligation(f"unrolling {name}", says, _kept([*parts, ("the property fails", goal)]))


def longest_obligation(system: System, facts: Sequence[Lemma], events: int, name: str) -> Obligation:
    """No game has more events than these."""
    _, parts = _unrolled(system, facts, events + 1)
    return Obligation(f"longest {name}", f"No game has more than {events} events.", _kept(parts))


def _unrolled(
    system: System, facts: Sequence[Lemma], events: int
) -> tuple[Unrolling, list[tuple[str, Truth]]]:
    collected = _Collector()
    unrolling = Unrolling(system, collected)
    unrolling.start_initial()
    for _ in range(events):
        unrolling.extend()
    known = [said(system, fact, system.before) for fact in facts]
    for moment in range(events + 1):
        collected.add(*(unrolling.at(moment, fact) for fact in known))
    return unrolling, [(f"run {i}", part) for i, part in enumerate(collected.parts)]


def ranking_obligations(
    system: System, claims: Sequence[Lemma], name: str, ranks: Ranks
) -> Iterator[Obligation]:
    """A number that every event makes smaller and that is known at every place: games end."""
    before = [
        ("the parameters are allowed", system.valid),
        ("the state is well formed", formed(system, system.before)),
        *_claims(system, claims, system.before),
    ]
    highest = max(ranks.numbers.values(), default=0)
    initial = _rank(system, system.initial, ranks, highest)
    yield Obligation(
        f"rank {name} at the start",
        f"Every game starts with a number of at most {highest}.",
        _kept(
            [("the parameters are allowed", system.valid), ("it does not", less(number(highest), initial))]
        ),
    )
    for place, step in system.steps.items():
        old = _rank(system, system.before, ranks, highest, place)
        rules = [(f"rule {c.name}", c.term) for c in step.conditions]
        here = [
            (f"the game stands at {place}", system.at(system.before, place)),
            ("the number is known", less_equal(old, number(highest))),
            *rules,
        ]
        ended = or_(system.at(step.after, p) for p in system.places if p.step is None and p.phase)
        new = _rank(system, step.after, ranks, highest)
        smaller = or_((ended, less(new, old)))
        yield Obligation(
            f"rank {name} {place}",
            f"A step at {place} that does not end the game makes the number smaller.",
            _kept([*before, *here, ("it does not", not_(smaller))]),
        )


def _rank(system: System, state: SymbolicState, ranks: Ranks, highest: int, here: Place | None = None) -> Num:
    """The number of a state, which may be known to stand `here`; one more than the highest where none is known."""
    scene = system.scene(state)
    values = [value_of(measure.value, scene) for measure in ranks.measures]
    by_place: dict[Place, dict[tuple[int, ...], int]] = {}
    for (place, wanted), rank in ranks.numbers.items():
        by_place.setdefault(place, {})[wanted] = rank
    if here is not None:
        return _looked_up(values, by_place.get(here, {}), highest + 1)
    made = number(highest + 1)
    for place, table in sorted(by_place.items(), key=str):
        standing = system.at(state, place)
        if standing is not False:
            made = pick(standing, _looked_up(values, table, highest + 1), made)
    return made


def _looked_up(values: Sequence[Num], table: Mapping[tuple[int, ...], int], missing: int) -> Num:
    """The entry of a table for these values, found one value after the other."""
    if not values:
        return number(table.get((), missing))
    rows: dict[int, dict[tuple[int, ...], int]] = {}
    for (first, *rest), entry in table.items():
        rows.setdefault(first, {})[tuple(rest)] = entry
    made = number(missing)
    for first, row in sorted(rows.items()):
        made = pick(equal(values[0], number(first)), _looked_up(values[1:], row, missing), made)
    return made


class _Collector:
    """Takes the place of a solver and only keeps what is added."""

    def __init__(self) -> None:
        self.parts: list[Any] = []

    def add(self, *parts: Any) -> None:
        self.parts += parts


def text_of(obligation: Obligation, family: str) -> str:
    """The obligation as SMT-LIB 2."""
    formulas = [part for _, part in obligation.parts]
    lines = [
        f"; {family}: {obligation.name}",
        f"; {obligation.says}",
        "; The proof stands if these cannot all hold.",
        f"(set-info :source |{_plain(family)}: {_plain(obligation.name)}|)",
        "(set-info :status unsat)",
        "(set-logic QF_BV)",
    ]
    for constant in unknowns(formulas):
        lines.append(f"(declare-const |{constant.decl().name()}| {constant.sort().sexpr()})")
    for label, part in obligation.parts:
        lines += [f"; {_plain(label)}", f"(assert {part.sexpr()})"]
    return "\n".join([*lines, "(check-sat)", ""])


def _plain(text: str) -> str:
    return " ".join(text.replace("|", "/").split())


def slug(name: str) -> str:
    """A name as part of a file's name."""
    return "".join(c if c.isalnum() or c in "-_." else "-" for c in name).strip("-")
