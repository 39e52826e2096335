"""A deduction in progress: whose eyes, what has been told so far, and what is still possible.

`open_inquiry` starts one. `hear` takes the next piece of a record, `suppose` a fact, `note_*` single observations
without the rest of the game. Every function gives a new inquiry and leaves the old one as it was, so taking something
back is going back to the inquiry before.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache

from avalon_logic.deduction.facts import Fact, expression
from avalon_logic.deduction.setting import CARDS, Setting
from rules_dsl import Value
from rules_dsl import model as m
from rules_dsl.arrays import AFTER_CHOICE, Belief, Event, Machine, apart, grant
from rules_dsl.arrays.answers import Worlds, count, worlds
from rules_dsl.arrays.event import Seen
from rules_dsl.arrays.follow import heard
from rules_dsl.arrays.program import Point
from rules_dsl.arrays.shapes import Nest, encode
from rules_dsl.arrays.visits import Tour, Visit, noted, tour_from, visit
from rules_dsl.evaluate import Environment, holds
from rules_dsl.model import Show
from rules_dsl.play import Observation
from rules_dsl.types import BOOL, PlayerType, SetType, Type
from rules_dsl.walk import rebuild, statements


@dataclass(frozen=True, eq=False)
class Heard:
    """Evidence: a visit of a phase, read through the course of the game."""

    visit: Visit


@dataclass(frozen=True, eq=False)
class Spoken:
    """Evidence: something somebody said. It binds nobody, but assumptions may be about it."""

    speech: str
    values: tuple[Value, ...]


@dataclass(frozen=True, eq=False)
class Granted:
    """Evidence: a condition of the rulebook's language (of kind "weight": a likelihood), and where it comes from."""

    condition: m.Expr
    origin: m.Origin = m.BUILT_IN
    bound: Mapping[str, tuple[Type, Value]] = field(default_factory=dict)
    kind: str = "require"
    text: str = ""


@dataclass(frozen=True, eq=False)
class Alone:
    """Evidence: a choice by itself, with only the given variables known of the game before it."""

    point: Point
    given: Mapping[str, Value]
    event: Event


Evidence = Heard | Spoken | Granted | Alone


@dataclass(frozen=True, eq=False)
class Told:
    """One thing that was told, and how many worlds it left. `label` is how explanations refer to it."""

    label: int
    text: str
    before: int
    after: int
    where: str = ""
    evidence: tuple[Evidence, ...] = ()

    @property
    def removed(self) -> int:
        """How many worlds it removed."""
        return self.before - self.after


@dataclass(frozen=True, eq=False)
class Inquiry:
    """What a viewer (None: the neutral observer) can conclude from what was told."""

    setting: Setting
    viewer: int | None
    tour: Tour
    told: tuple[Told, ...] = ()
    known: Mapping[int, str] = field(default_factory=dict)  # cards the viewer was told at the start
    base: Inquiry | None = None  # to which the evidence of the last thing told was added
    aside: tuple[str, ...] = ()  # what a record says that tells the viewer nothing, and why

    @property
    def beliefs(self) -> tuple[Belief, ...]:
        """What is possible, as the machine keeps it."""
        return self.tour.current()

    def worlds(self) -> Worlds:
        """The possible deals."""
        return self._worlds

    @cached_property
    def _worlds(self) -> Worlds:
        return worlds(self.beliefs, CARDS)

    def count(self) -> int:
        """How many deals are possible."""
        return count(self._worlds)


def open_inquiry(
    setting: Setting, viewer: int | None = None, role: str | None = None, kept: frozenset[str] = frozenset()
) -> Inquiry:
    """Right after the deal: nothing is known but the deck, and to a seat its own card.

    `kept` are variables to keep track of although no rule reads them, because the record will speak of them.
    """
    if (viewer is None) != (role is None):
        raise ValueError("a seat comes with its role, and a role with its seat")
    start = Inquiry(setting, viewer, tour_from(setting.machine, viewer, kept))
    seen: tuple[Observation, ...] = ()
    if viewer is not None:
        if not 0 <= viewer < len(setting.names):
            raise ValueError(f"there is no seat {viewer}")
        seen = (Observation("", "choice", CARDS, viewer, role, frozenset({viewer})),)
    after = replace(start, tour=visit(start.tour, dealing(setting, seen)))
    if viewer is None:
        return after
    total = _all_deals(setting.machine)
    assert role is not None
    held = Granted(expression(Fact(viewer, role), setting))
    told = Told(0, f"{setting.names[viewer]} holds {role}", total, after.count(), "", (held,))
    return replace(after, told=(told,), known={viewer: role})


@lru_cache(maxsize=128)
def _all_deals(machine: Machine) -> int:
    """How many deals the deck allows."""
    phase, _ = machine.program.find(CARDS)
    nobody = visit(tour_from(machine, None), Visit(-1, phase, {CARDS: ()}))
    return count(worlds(nobody.current(), CARDS))


def dealing(setting: Setting, seen: tuple[Observation, ...]) -> Visit:
    """The visit in which the cards are dealt."""
    phase, _ = setting.machine.program.find(CARDS)
    return Visit(-1, phase, {CARDS: seen})


def hear(inquiry: Inquiry, seen: Visit, text: str, where: str = "") -> Inquiry:
    """The inquiry after a visit of a phase."""
    label = len(inquiry.told)
    before = inquiry.count()
    seen = replace(seen, index=label)
    after = replace(inquiry, tour=visit(inquiry.tour, seen), base=inquiry)
    told = Told(label, text, before, after.count(), where, (Heard(seen),))
    return replace(after, told=(*inquiry.told, told))


def hear_speech(
    inquiry: Inquiry, speech: str, values: tuple[Value, ...], text: str, where: str = ""
) -> Inquiry:
    """The inquiry after somebody said something; assumptions in force may be about it."""
    model = inquiry.setting.model
    parameters = model.speeches[speech].parameters
    nests: dict[str, Nest] = {name: encode(t, v) for (name, t), v in zip(parameters, values, strict=True)}
    rules = [model.assumptions[name] for name in inquiry.setting.assumptions]

    def said(belief: Belief, label: int) -> Belief:
        for rule in rules:
            if rule.target == speech:
                belief = heard(belief, rule, nests, label)
        return belief

    return _each(inquiry, text, Spoken(speech, values), said, where)


def suppose(inquiry: Inquiry, fact: Fact, text: str = "") -> Inquiry:
    """The inquiry if a fact holds."""
    said = text or fact.text(inquiry.setting.names)
    return note_condition(inquiry, expression(fact, inquiry.setting), said)


def note_condition(inquiry: Inquiry, condition: m.Expr, text: str, origin: m.Origin = m.BUILT_IN) -> Inquiry:
    """The inquiry if a condition of the rulebook's language holds."""
    evidence = Granted(condition, origin, text="what is shown at the reveal" if origin.cites else "")
    return _each(inquiry, text, evidence, lambda b, label: grant(b, condition, label=label, origin=origin))


def note_choice(
    inquiry: Inquiry,
    variable: str,
    chosen: Mapping[int, Value],
    given: Mapping[str, Value],
    text: str,
    published: Mapping[str, Value] | None = None,
) -> Inquiry:
    """The inquiry after a choice taken by itself: only the given variables are known of the game before it."""
    point = inquiry.setting.machine.program.find(variable)
    after = tuple(Seen("published", name, value) for name, value in (published or {}).items())
    until = after[-1].name if after else AFTER_CHOICE
    event = Event(chosen=tuple(sorted(chosen.items())), after=after, until=until)
    evidence = Alone(point, dict(given), event)
    return _each(inquiry, text, evidence, lambda b, label: apart(b, point, given, event, label))


def note_speech(
    inquiry: Inquiry, speech: str, spoken: Mapping[str, Value], assumption: str | None, text: str
) -> Inquiry:
    """The inquiry after a speech; it binds nobody unless an assumption about it is named."""
    declared = inquiry.setting.model.speeches[speech]
    nests: dict[str, Nest] = {name: encode(t, spoken[name]) for name, t in declared.parameters}
    if assumption is None:
        return _each(inquiry, text, None, lambda b, label: b)
    rule = inquiry.setting.model.assumptions[assumption]
    bound = {name: (t, spoken[name]) for name, t in declared.parameters}
    evidence = Granted(rule.value, m.Origin(rule.name, (rule.name,)), bound, rule.kind, rule.text)
    return _each(inquiry, text, evidence, lambda b, label: heard(b, rule, nests, label))


def note_sights(inquiry: Inquiry, seen: Mapping[tuple[str, ...], frozenset[int]], text: str) -> Inquiry:
    """The inquiry after the viewer saw seats in showings of these names; being shown nobody is seeing none."""
    assert inquiry.viewer is not None
    model = inquiry.setting.model
    conditions: list[m.Expr] = []
    cites: dict[str, None] = {}
    origin = m.BUILT_IN
    for names, seats in seen.items():
        shows = [
            s
            for phase in model.phases.values()
            for s in statements(phase.body)
            if isinstance(s, m.Show) and s.name in names
        ]
        for show in shows:
            origin = show.origin
            if _meant_for(show, inquiry.setting, inquiry.known.get(inquiry.viewer)):
                cites.update(dict.fromkeys(show.origin.cites))
        conditions.append(_sees(shows, m.Literal(inquiry.viewer, model.players), seats))
    whole = conditions[0]
    for condition in conditions[1:]:
        whole = m.Apply("and", (whole, condition), BOOL)
    return note_condition(inquiry, whole, text, m.Origin(origin.module, tuple(cites), origin.span))


def _meant_for(show: Show, setting: Setting, role: str | None) -> bool:
    """Is this shown to somebody with this card? Only for naming the clauses that matter."""
    if role not in setting.roles or show.condition is None:
        return True
    players = len(setting.names)
    env = Environment(setting.model, players, variables={CARDS: (role,) * players}).bind(**{show.seat: 0})
    return holds(show.condition, env)


def _sees(shows: Sequence[Show], seat: m.Literal, seats: frozenset[int]) -> m.Expr:
    """These showings together show a seat exactly these seats."""
    assert isinstance(seat.type, PlayerType)
    type_ = SetType(seat.type)
    nobody = m.Literal(frozenset(), type_)
    seen: m.Expr = nobody
    for show in shows:
        shown = put(show.value, show.seat, seat)
        conditions: list[m.Expr] = []
        if show.domain is not None:
            conditions.append(m.Apply("in", (seat, put(show.domain, show.seat, seat)), BOOL))
        if show.condition is not None:
            conditions.append(put(show.condition, show.seat, seat))
        for condition in conditions:
            shown = m.Apply("if", (condition, shown, nobody), type_)
        seen = m.Apply("union", (seen, shown), type_)
    return m.Apply("eq", (seen, m.Literal(seats, type_)), BOOL)


def put(expr: m.Expr, name: str, value: m.Expr) -> m.Expr:
    """The expression with a bound name replaced."""
    if isinstance(expr, m.Bound):
        return value if expr.name == name else expr
    if isinstance(expr, m.Quantify) and any(r.name == name for r in expr.ranges):
        return expr
    return rebuild(expr, lambda part: put(part, name, value))


def _each(
    inquiry: Inquiry,
    text: str,
    evidence: Evidence | None,
    change: Callable[[Belief, int], Belief],
    where: str = "",
) -> Inquiry:
    label = len(inquiry.told)
    before = inquiry.count()
    tour = noted(inquiry.tour, lambda belief: change(belief, label))
    after = replace(inquiry, tour=tour, base=inquiry)
    found = () if evidence is None else (evidence,)
    return replace(after, told=(*inquiry.told, Told(label, text, before, after.count(), where, found)))
