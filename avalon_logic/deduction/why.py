"""Why a fact is certain: a smallest set of things told, and of rules, that leaves no other way.

`explain(inquiry, fact)` asks Z3, by way of the same model as everything else but another back end than the one that
found the worlds. With no fact it explains why no deal is possible at all.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from textwrap import wrap
from typing import Any

import z3  # type: ignore[import-untyped]

from avalon_logic.deduction.argument import Step, argue
from avalon_logic.deduction.facts import Fact, expression
from avalon_logic.deduction.inquiry import Alone, Granted, Heard, Inquiry, Spoken, Told, dealing, suppose
from avalon_logic.deduction.seats import cards_in_deck
from avalon_logic.deduction.setting import CARDS, Setting
from rules_dsl import model as m
from rules_dsl.arrays.answers import matrix
from rules_dsl.arrays.visits import Visit
from rules_dsl.smt.cores import Undecided, consistent, smallest_core
from rules_dsl.smt.follow import Speech, Tracker
from rules_dsl.smt.paths import Path, Tracked
from rules_dsl.smt.symbolic import constant, decode, model_reader
from rules_dsl.smt.system import Place
from rules_dsl.smt.terms import and_, implies, not_, term
from rules_dsl.smt.unroll import finite_solver
from rules_dsl.walk import reads

MOST_MILLISECONDS = 60_000
WIDTH = 80


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

    If it is certain, `because` are the things told that force it, none of which can be spared, `rules` the rules used,
    and `argument` the steps from the contrary to the point at which no deal is left. If not, `world` is a possible deal
    in which it does not hold, and `opposite` is the explanation of the contrary if that is certain.
    """

    setting: Setting
    fact: Fact | None
    certain: bool
    because: tuple[Told, ...] = ()
    rules: tuple[Rule, ...] = ()
    argument: tuple[Step, ...] = ()
    world: dict[str, str] | None = None
    opposite: Explanation | None = None

    @property
    def claim(self) -> str:
        """What is explained."""
        return "no deal is possible" if self.fact is None else self.fact.text(self.setting.names)

    def lines(self) -> list[str]:
        """The argument, line by line, none longer than a terminal is wide."""
        if not self.certain:
            if self.opposite is not None:
                return [f"{self.claim}: never", *self.opposite.lines()]
            assert self.world is not None
            dealt = ", ".join(f"{name} {role}" for name, role in self.world.items())
            return [f"{self.claim}: not certain; it is not so if the cards are", *_wrapped(dealt, "  ", "  ")]
        return [*_wrapped(self._opening()), *self._steps(), *_wrapped(self._closing()), *self._rules()]

    def _opening(self) -> str:
        if not self.because:
            return f"{self.claim}, by the rules alone."
        if self.fact is None:
            return f"{self.claim}:"
        start = self.argument[0] if self.argument else None
        left = "" if start is None or start.groups is None else f" ({self._groups(start.groups)})"
        follows = f", then {self._concluded(start)}" if start is not None and start.concluded else ""
        name, what = self._contrary()
        return f"{self.claim}. Suppose {name} were {what}{left}{follows}:"

    def _steps(self) -> list[str]:
        told = {t.label: t for t in self.because}
        steps = {s.label: s for s in self.argument if s.label is not None}
        found: list[str] = []
        for number, label in enumerate(steps or told, 1):
            where = f" ({told[label].where})" if told[label].where else ""
            found += _wrapped(f"{told[label].text}{where}", f"  {number}. ", "     ")
            if label in steps:
                found += _wrapped(self._leaves(steps[label]), "     ", "     ")
        return found

    def _leaves(self, step: Step) -> str:
        """What a step leaves, in words."""
        if step.groups == 0:
            return f"then no deal is left{self._clauses(step)}"
        left = "" if step.groups is None else self._groups(step.groups)
        if step.concluded:
            return f"then {self._concluded(step)}" + (f"; {left}" if left else "")
        return f"then {left}" if left else "which alone settles nothing yet"

    def _concluded(self, step: Step) -> str:
        alike: dict[str, list[str]] = {}
        for fact in step.concluded:
            alike.setdefault(fact.what, []).append(self.setting.names[fact.seat])
        said = [f"{_listed(who)} {'is' if len(who) == 1 else 'are'} {what}" for what, who in alike.items()]
        return ", ".join(said) + self._clauses(step)

    def _clauses(self, step: Step) -> str:
        cites = dict.fromkeys(c for place in step.rules for c in self.rules[place].cites)
        return f" ({', '.join(cites)})" if cites else ""

    def _groups(self, number: int) -> str:
        few = self.setting.sides[-1]
        return f"{number} {few} {'group is' if number == 1 else 'groups are'} possible"

    def _contrary(self) -> tuple[str, str]:
        """Of whom the contrary is supposed, and what: with two sides not to be of one is to be of the other."""
        assert self.fact is not None
        name, denied, sides = self.setting.names[self.fact.seat], self.fact.denied(), self.setting.sides
        if not denied.holds and denied.what in sides and len(sides) == 2:
            return name, next(s for s in sides if s != denied.what)
        return name, denied.what if denied.holds else f"not {denied.what}"

    def _closing(self) -> str:
        if self.fact is None:
            if len(self.because) < 2:
                return "That cannot be."
            return "These cannot all be true; without any one of them there would be a deal."
        if not self.because:
            return ""
        name, what = self._contrary()
        spared = "Without this" if len(self.because) == 1 else "Leave out any one of these and"
        could = f"might {what[:3]} be{what[3:]}" if what.startswith("not ") else f"could be {what}"
        return f"So {self.claim}. {spared} {name} {could}."

    def _rules(self) -> list[str]:
        assumed = {a.name for a in self.setting.assumed()}
        found: list[str] = []
        for heading, among in (("By the rules:", False), ("Assumed, not a rule:", True)):
            rules = [r for r in self.rules if (not assumed.isdisjoint(r.cites)) == among]
            found += [heading] if rules else []
            found += [line for rule in rules for line in _wrapped(str(rule), "  - ", "    ")]
        return found

    def to_json(self) -> dict[str, Any]:
        """The argument as plain JSON."""
        return {
            "fact": None if self.fact is None else self.claim,
            "certain": self.certain,
            "because": [{"step": t.label, "where": t.where, "text": t.text} for t in self.because],
            "rules": [{"clauses": list(r.cites), "text": r.text} for r in self.rules],
            "argument": [self._step_json(step) for step in self.argument],
            "world": self.world,
            "opposite": None if self.opposite is None else self.opposite.to_json(),
        }

    def _step_json(self, step: Step) -> dict[str, Any]:
        told = next((t for t in self.because if t.label == step.label), None)
        supposed = None if told is not None or self.fact is None else " is ".join(self._contrary())
        return {
            "suppose": supposed,
            "step": step.label,
            "where": None if told is None else told.where,
            "text": None if told is None else told.text,
            "certain": [{"player": self.setting.names[f.seat], "is": f.what} for f in step.concluded],
            "clauses": list(dict.fromkeys(c for place in step.rules for c in self.rules[place].cites)),
            "groups": step.groups,
        }

    def __str__(self) -> str:
        return "\n".join(self.lines())


def _wrapped(text: str, first: str = "", rest: str = "") -> list[str]:
    return wrap(
        text,
        WIDTH,
        initial_indent=first,
        subsequent_indent=rest,
        break_long_words=False,
        break_on_hyphens=False,
    )


def _listed(words: Sequence[str]) -> str:
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


class Case:
    """An inquiry as Z3 terms: cards for every seat, and for every thing told and every rule a literal that turns it on."""

    def __init__(self, inquiry: Inquiry) -> None:
        self.setting = inquiry.setting
        self.inquiry = inquiry
        self.tracker = Tracker(inquiry.setting.model, inquiry.viewer, inquiry.setting.assumptions)
        paths = self.tracker.follow([dealing(self.setting, ()), *self._course()])
        self.cards = self.tracker.opening[0].values[CARDS]
        self.solver = finite_solver(MOST_MILLISECONDS)
        self.told: dict[int, Any] = {}
        self.rules: dict[tuple[tuple[str, ...], str], Any] = {}
        self.ways: list[tuple[Any, Path]] = []
        self._assert(paths)

    def _course(self) -> Iterator[Visit | Speech]:
        """The course of the game, as far as it is told."""
        for told in self.inquiry.told:
            for evidence in told.evidence:
                if isinstance(evidence, Heard):
                    yield replace(evidence.visit, index=told.label)
                elif isinstance(evidence, Spoken):
                    yield Speech(told.label, evidence.speech, evidence.values)

    def _evidence(self) -> Iterator[Tracked]:
        """What is told besides the course of the game."""
        dealt = {CARDS: self.cards}
        for told in self.inquiry.told:
            for evidence in told.evidence:
                if isinstance(evidence, Granted):
                    bound = {n: constant(v, t) for n, (t, v) in evidence.bound.items()}
                    holds = self._in_the_end(evidence.condition, bound, evidence.kind)
                    yield Tracked(told.label, evidence.origin.cites, evidence.text, holds)
                elif isinstance(evidence, Alone):
                    name, step = evidence.point
                    yield from self.tracker.alone(
                        dealt, Place(name, step), evidence.given, evidence.event, told.label
                    )

    def _assert(self, paths: Sequence[Path]) -> None:
        shared = 0
        first = paths[0].terms
        while shared < min(len(p.terms) for p in paths) and all(
            p.terms[shared] is first[shared] for p in paths
        ):
            shared += 1
        self.ways = [(z3.Bool(f"way {i}"), path) for i, path in enumerate(paths)]
        for tracked in (*first[:shared], *self._evidence()):
            self.solver.add(self._switched(tracked))
        if len(paths) > 1:
            # the game went exactly one of the ways it may have gone
            self.solver.add(z3.PbEq([(way, 1) for way, _ in self.ways], 1))
            for way, path in self.ways:
                self.solver.add(
                    z3.Implies(way, z3.And([self._switched(t) for t in path.terms[shared:]] + [True]))
                )

    def _in_the_end(self, condition: m.Expr, bound: Mapping[str, Any], kind: str) -> Any:
        """A condition when the last thing told has happened, whichever way the game went."""
        read = reads(condition, self.setting.model.definitions)
        if read <= {CARDS}:
            return self.tracker.granted({CARDS: self.cards}, condition, bound, kind)
        holds = [self.tracker.granted(s.values, condition, bound, kind) for _, s in self.ways]
        if len(holds) == 1:
            return holds[0]
        return and_(implies(way, h) for (way, _), h in zip(self.ways, holds, strict=True))

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
        return self._in_the_end(expression(fact, self.setting), {}, "require")

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
    reasons, keys = [labels[i] for i in needed], [rules[i] for i in used]
    return Explanation(
        setting,
        fact,
        True,
        tuple(told[label] for label in reasons),
        tuple(_rule(setting, *key) for key in keys),
        _argument(case, fact, reasons, keys),
    )


def _argument(
    case: Case, fact: Fact | None, reasons: Sequence[int], keys: Sequence[tuple[tuple[str, ...], str]]
) -> tuple[Step, ...]:
    """The steps; none if the solver has no time for them, because the reasons stand without."""
    if not reasons:
        return ()
    try:
        return argue(case, fact, reasons, keys)
    except Undecided:
        return ()


def _shown_world(case: Case, fact: Fact) -> tuple[str, ...]:
    """A deal in which the fact does not hold: the first there is, so that the same question has the same answer."""
    rows = matrix(suppose(case.inquiry, fact.denied()).worlds(), 1).tolist()
    return tuple(case.setting.roles[value] for value in rows[0]) if rows else case.world()


def _rule(setting: Setting, cites: tuple[str, ...], text: str) -> Rule:
    if text == "the cards dealt are those of the deck":
        cards = ", ".join(f"{n} {role}" if n > 1 else role for role, n in cards_in_deck(setting).items() if n)
        text = f"the deck is {cards}"
    return Rule(cites, text)
