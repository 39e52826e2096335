"""Why a fact is certain: a smallest set of things told, and of rules, that leaves no other way.

`explain(inquiry, fact)` asks Z3, by way of the same model as everything else but another back end than the one that
found the worlds. With no fact it explains why no deal is possible at all.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import z3  # type: ignore[import-untyped]

from avalon_logic.deduction.facts import Fact, expression
from avalon_logic.deduction.inquiry import Alone, Granted, Heard, Inquiry, Told, suppose
from avalon_logic.deduction.seats import cards_in_deck
from avalon_logic.deduction.setting import CARDS, Setting
from rules_dsl.arrays.answers import matrix
from rules_dsl.arrays.follow import Clump
from rules_dsl.smt.cores import consistent, smallest_core
from rules_dsl.smt.follow import Strand, Tracked, Tracker
from rules_dsl.smt.symbolic import constant, decode, model_reader
from rules_dsl.smt.system import Place
from rules_dsl.smt.terms import not_, term
from rules_dsl.smt.unroll import finite_solver

MOST_MILLISECONDS = 60_000


@dataclass(frozen=True)
class Rule:
    """A rule an argument uses: the clauses that state it, and what it says."""

    cites: tuple[str, ...]
    text: str

    def __str__(self) -> str:
        return f"{self.text} ({', '.join(self.cites)})" if self.cites else self.text


@dataclass(frozen=True, eq=False)
class Explanation:
    """Why a fact is certain (`fact` None: why no deal is possible), or why it is not.

    If it is certain, `because` are the things told that force it, none of which can be spared, and `rules` the rules
    used. If not, `world` is a possible deal in which it does not hold, and `opposite` is the explanation of the
    contrary if that is certain.
    """

    setting: Setting
    fact: Fact | None
    certain: bool
    because: tuple[Told, ...] = ()
    rules: tuple[Rule, ...] = ()
    world: dict[str, str] | None = None
    opposite: Explanation | None = None

    @property
    def claim(self) -> str:
        """What is explained."""
        return "no deal is possible" if self.fact is None else self.fact.text(self.setting.names)

    def lines(self) -> list[str]:
        """The argument, line by line."""
        if not self.certain:
            if self.opposite is not None:
                return [f"{self.claim}: never", *self.opposite.lines()]
            assert self.world is not None
            dealt = ", ".join(f"{name} {role}" for name, role in self.world.items())
            return [f"{self.claim}: not certain; it is not so if the cards are", f"  {dealt}"]
        found = [f"{self.claim}, because" if self.because else f"{self.claim}, by the rules alone:"]
        found += [
            f"  {number}. {told.text}" + (f" ({told.where})" if told.where else "")
            for number, told in enumerate(self.because, 1)
        ]
        if self.rules:
            found.append("  and by the rules")
            found += [f"  - {rule}" for rule in self.rules]
        if self.fact is None:
            found.append(
                "That cannot be."
                if len(self.because) < 2
                else "These cannot all be true; without any one of them there would be a deal."
            )
        elif self.because:
            spared = "this" if len(self.because) == 1 else "any one of these"
            found.append(f"Without {spared} it could be that {self.fact.denied().text(self.setting.names)}.")
        return found

    def to_json(self) -> dict[str, Any]:
        """The argument as plain JSON."""
        return {
            "fact": None if self.fact is None else self.claim,
            "certain": self.certain,
            "because": [{"step": t.label, "where": t.where, "text": t.text} for t in self.because],
            "rules": [{"clauses": list(r.cites), "text": r.text} for r in self.rules],
            "world": self.world,
            "opposite": None if self.opposite is None else self.opposite.to_json(),
        }

    def __str__(self) -> str:
        return "\n".join(self.lines())


class Case:
    """An inquiry as Z3 terms: cards for every seat, and for every thing told and every rule a literal that turns it on."""

    def __init__(self, inquiry: Inquiry) -> None:
        self.setting = inquiry.setting
        self.inquiry = inquiry
        self.tracker = Tracker(inquiry.setting.model, inquiry.viewer, inquiry.setting.assumptions)
        strands = self.tracker.follow(self.tracker.start(), Clump(0, "choice", CARDS, (), ()), -1)
        self.cards = strands[0].values[CARDS]
        self.solver = finite_solver(MOST_MILLISECONDS)
        self.told: dict[int, Any] = {}
        self.rules: dict[tuple[tuple[str, ...], str], Any] = {}
        self._assert(strands, list(self._evidence(strands)))

    def _evidence(self, strands: Sequence[Strand]) -> Iterator[Tracked]:
        """What is told besides the course of the game."""
        dealt = {CARDS: self.cards}
        for told in self.inquiry.told:
            for evidence in told.evidence:
                if isinstance(evidence, Granted):
                    bound = {n: constant(v, t) for n, (t, v) in evidence.bound.items()}
                    holds = self.tracker.granted(dealt, evidence.condition, bound, evidence.kind)
                    yield Tracked(told.label, evidence.origin.cites, evidence.text, holds)
                elif isinstance(evidence, Alone):
                    name, step = evidence.point
                    yield from self.tracker.alone(
                        dealt, Place(name, step), evidence.given, evidence.event, told.label
                    )

    def _assert(self, strands: Sequence[Strand], besides: list[Tracked]) -> None:
        for told in self.inquiry.told:
            for evidence in told.evidence:
                if isinstance(evidence, Heard) and not told.continued:
                    for clump in evidence.clumps:
                        strands = self.tracker.follow(strands, clump, told.label)
        shared = 0
        first = strands[0].terms
        while shared < min(len(s.terms) for s in strands) and all(
            s.terms[shared] is first[shared] for s in strands
        ):
            shared += 1
        for tracked in (*first[:shared], *besides):
            self.solver.add(self._switched(tracked))
        if len(strands) > 1:
            self.solver.add(
                z3.Or([z3.And([self._switched(t) for t in s.terms[shared:]] + [True]) for s in strands])
            )

    def _switched(self, tracked: Tracked) -> Any:
        """The condition, in force only if what was told and the rule are."""
        switches = []
        if tracked.label is not None and tracked.label >= 0:
            switches.append(self.told.setdefault(tracked.label, z3.Bool(f"told {tracked.label}")))
        if tracked.text:
            key = (tracked.cites, tracked.text)
            switches.append(self.rules.setdefault(key, z3.Bool(f"rule {len(self.rules)}")))
        made = term(tracked.term)
        return z3.Implies(z3.And(*switches), made) if switches else made

    def condition(self, fact: Fact) -> Any:
        """A fact about the cards as a term."""
        return self.tracker.granted({CARDS: self.cards}, expression(fact, self.setting), {}, "require")

    def everything(self) -> list[Any]:
        """All switches."""
        return [*self.told.values(), *self.rules.values()]

    def world(self) -> tuple[str, ...]:
        """The cards in the solution found last."""
        model = self.setting.model
        type_ = model.variables[CARDS].type
        return decode(self.cards, type_, model.players.count, model_reader(self.solver.model()))  # type: ignore[return-value]

    def worlds(self, most: int) -> list[tuple[str, ...]]:
        """Every possible deal, found one by one, at most so many."""
        found: list[tuple[str, ...]] = []
        self.solver.push()
        while len(found) < most and consistent(self.solver, self.everything()):
            world = self.world()
            found.append(world)
            facts = (self.condition(Fact(s, role)) for s, role in enumerate(world))
            self.solver.add(z3.Or([term(not_(f)) for f in facts]))
        self.solver.pop()
        return found


def explain(inquiry: Inquiry, fact: Fact | None) -> Explanation:
    """Why a fact is certain, or a deal in which it does not hold; raises `Undecided` if time runs out."""
    return _explained(Case(inquiry), fact, True)


def _explained(case: Case, fact: Fact | None, both: bool) -> Explanation:
    setting = case.setting
    case.solver.push()
    if fact is not None:
        case.solver.add(term(not_(case.condition(fact))))
    labels, rules = sorted(case.told), list(case.rules)
    needed = smallest_core(case.solver, [case.told[x] for x in labels], list(case.rules.values()))
    if needed is None:
        assert fact is not None, "a deal is possible"
        consistent(case.solver, case.everything())
        world = dict(zip(setting.names, _shown_world(case, fact), strict=True))
        case.solver.pop()
        opposite = _explained(case, fact.denied(), False) if both else None
        contrary = opposite if opposite is not None and opposite.certain else None
        return Explanation(setting, fact, False, world=world, opposite=contrary)
    forced = [case.told[labels[i]] for i in needed]
    used = smallest_core(case.solver, [case.rules[x] for x in rules], forced)
    assert used is not None
    case.solver.pop()
    told = {t.label: t for t in case.inquiry.told}
    return Explanation(
        setting,
        fact,
        True,
        tuple(told[labels[i]] for i in needed),
        tuple(_rule(setting, *rules[i]) for i in used),
    )


def _shown_world(case: Case, fact: Fact) -> tuple[str, ...]:
    """A deal in which the fact does not hold: the first there is, so that the same question has the same answer."""
    rows = matrix(suppose(case.inquiry, fact.denied()).worlds(), 1).tolist()
    return tuple(case.setting.roles[value] for value in rows[0]) if rows else case.world()


def _rule(setting: Setting, cites: tuple[str, ...], text: str) -> Rule:
    if text == "the cards dealt are those of the deck":
        cards = ", ".join(f"{n} {role}" if n > 1 else role for role, n in cards_in_deck(setting).items() if n)
        text = f"the deck is {cards}"
    return Rule(cites, text)
