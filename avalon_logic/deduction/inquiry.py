"""A deduction in progress: whose eyes, what has been told so far, and what is still possible.

`open_inquiry` starts one. `hear` takes the next piece of a record, `suppose` a fact, `note_*` single observations
without the rest of the game. Every function gives a new inquiry and leaves the old one as it was, so taking something
back is going back to the inquiry before.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from avalon_logic.deduction.facts import Fact, expression
from avalon_logic.deduction.setting import CARDS, Setting
from rules_dsl import Value
from rules_dsl import model as m
from rules_dsl.arrays import AFTER_CHOICE, Belief, Event, apart, grant
from rules_dsl.arrays.answers import Worlds, count, worlds
from rules_dsl.arrays.event import Seen
from rules_dsl.arrays.follow import Clump, Follower, follow, follow_from, heard
from rules_dsl.arrays.shapes import Nest, encode
from rules_dsl.model import Show
from rules_dsl.play import Observation
from rules_dsl.types import BOOL, SetType
from rules_dsl.walk import rebuild, statements


@dataclass(frozen=True)
class Told:
    """One thing that was told, and how many worlds it left. `label` is how explanations refer to it."""

    label: int
    text: str
    before: int
    after: int
    where: str = ""

    @property
    def removed(self) -> int:
        """How many worlds it removed."""
        return self.before - self.after


@dataclass(frozen=True, eq=False)
class Inquiry:
    """What a viewer (None: the neutral observer) can conclude from what was told."""

    setting: Setting
    viewer: int | None
    follower: Follower
    told: tuple[Told, ...] = ()
    known: Mapping[int, str] = field(default_factory=dict)  # cards the viewer was told at the start

    @property
    def beliefs(self) -> tuple[Belief, ...]:
        """What is possible, as the machine keeps it."""
        return self.follower.current()

    def worlds(self) -> Worlds:
        """The possible deals."""
        return worlds(self.beliefs, CARDS)

    def count(self) -> int:
        """How many deals are possible."""
        return count(self.worlds())


def open_inquiry(setting: Setting, viewer: int | None = None, role: str | None = None) -> Inquiry:
    """Right after the deal: nothing is known but the deck, and to a seat its own card."""
    if (viewer is None) != (role is None):
        raise ValueError("a seat comes with its role, and a role with its seat")
    start = Inquiry(setting, viewer, follow_from(setting.machine, viewer))
    seen: tuple[Observation, ...] = ()
    if viewer is not None:
        if not 0 <= viewer < len(setting.names):
            raise ValueError(f"there is no seat {viewer}")
        seen = (Observation("", "choice", CARDS, viewer, role, frozenset({viewer})),)
    clump = Clump(0, "choice", CARDS, seen, ())
    after = replace(start, follower=follow(start.follower, clump))
    total = count(
        worlds(follow(follow_from(setting.machine, None), Clump(0, "choice", CARDS, (), ())).current(), CARDS)
    )
    if viewer is None:
        return after
    assert role is not None
    told = Told(0, f"{setting.names[viewer]} holds {role}", total, after.count())
    return replace(after, told=(told,), known={viewer: role})


def hear(inquiry: Inquiry, clump: Clump, text: str, where: str = "") -> Inquiry:
    """The inquiry after the next piece of a record, read through the phases of the game."""
    label = len(inquiry.told)
    before = inquiry.count()
    after = replace(inquiry, follower=follow(inquiry.follower, replace(clump, index=label)))
    told = Told(label, text, before, after.count(), where)
    return replace(after, told=(*inquiry.told, told))


def suppose(inquiry: Inquiry, fact: Fact, text: str = "") -> Inquiry:
    """The inquiry if a fact holds."""
    said = text or fact.text(inquiry.setting.names)
    return _each(inquiry, said, lambda b, label: grant(b, expression(fact, inquiry.setting), label=label))


def note_condition(inquiry: Inquiry, condition: m.Expr, text: str, origin: m.Origin = m.BUILT_IN) -> Inquiry:
    """The inquiry if a condition of the rulebook's language holds."""
    return _each(inquiry, text, lambda b, label: grant(b, condition, label=label, origin=origin))


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
    return _each(inquiry, text, lambda b, label: apart(b, point, given, event, label))


def note_speech(
    inquiry: Inquiry, speech: str, spoken: Mapping[str, Value], assumption: str | None, text: str
) -> Inquiry:
    """The inquiry after a speech; it binds nobody unless an assumption about it is named."""
    declared = inquiry.setting.model.speeches[speech]
    nests: dict[str, Nest] = {name: encode(t, spoken[name]) for name, t in declared.parameters}
    if assumption is None:
        return _each(inquiry, text, lambda b, label: b)
    rule = inquiry.setting.model.assumptions[assumption]
    return _each(inquiry, text, lambda b, label: heard(b, rule, nests, label))


def note_sights(inquiry: Inquiry, names: tuple[str, ...], seats: frozenset[int], text: str) -> Inquiry:
    """The inquiry after the viewer saw these seats in showings of these names; being shown nobody is seeing none."""
    assert inquiry.viewer is not None
    model = inquiry.setting.model
    shows = [
        s
        for phase in model.phases.values()
        for s in statements(phase.body)
        if isinstance(s, Show) and s.name in names
    ]
    type_ = SetType(model.players)
    seen: m.Expr = m.Literal(frozenset(), type_)
    for show in shows:
        seat = m.Literal(inquiry.viewer, model.players)
        shown = put(show.value, show.seat, seat)
        conditions: list[m.Expr] = []
        if show.domain is not None:
            conditions.append(m.Apply("in", (seat, put(show.domain, show.seat, seat)), BOOL))
        if show.condition is not None:
            conditions.append(put(show.condition, show.seat, seat))
        for condition in conditions:
            shown = m.Apply("if", (condition, shown, m.Literal(frozenset(), type_)), type_)
        seen = m.Apply("union", (seen, shown), type_)
    condition = m.Apply("eq", (seen, m.Literal(seats, type_)), BOOL)
    origin = shows[0].origin if shows else m.BUILT_IN
    cites = tuple(dict.fromkeys(c for s in shows for c in s.origin.cites))
    return note_condition(inquiry, condition, text, m.Origin(origin.module, cites, origin.span))


def put(expr: m.Expr, name: str, value: m.Expr) -> m.Expr:
    """The expression with a bound name replaced."""
    if isinstance(expr, m.Bound):
        return value if expr.name == name else expr
    if isinstance(expr, m.Quantify) and any(r.name == name for r in expr.ranges):
        return expr
    return rebuild(expr, lambda part: put(part, name, value))


def _each(inquiry: Inquiry, text: str, change: Callable[[Belief, int], Belief]) -> Inquiry:
    label = len(inquiry.told)
    before = inquiry.count()
    follower = inquiry.follower
    beliefs = tuple((change(b, label), owed) for b, owed in follower.beliefs)
    alive = tuple((b, owed) for b, owed in beliefs if b.possible)
    after = replace(inquiry, follower=replace(follower, beliefs=alive or beliefs[:1]))
    return replace(after, told=(*inquiry.told, Told(label, text, before, after.count())))
