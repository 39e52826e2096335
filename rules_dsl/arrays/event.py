"""What can be seen of one choice and of what follows until the next one, and what it leaves possible.

An `Event` says what is known; whatever it does not mention is unknown. `Outcome` is one way the event can have come
about: conditions on the unknowns, likelihoods, and the variables afterwards.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from rules_dsl import model as m
from rules_dsl.arrays.columns import Cell, Leaf, Tensor, cells
from rules_dsl.arrays.program import Point
from rules_dsl.arrays.shapes import Nest
from rules_dsl.model import Value

TO_THE_END = None  # go on to the next choice
AFTER_CHOICE = ""  # stop when the choice is made


SOMEBODY = -2  # the seat of a choice of which only the value is known


@dataclass(frozen=True, slots=True)
class Mention:
    """A condition on the variables that is said to hold, and what to say if it does not."""

    fact: m.Expr
    text: str
    cites: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Seen:
    """Something that became known after a choice.

    `kind` is "published", "shown" (to `seat`) or "phase" (one was entered); `value` is what was seen, if that was
    `noted`. `phase` is where it belongs, if that is known: it must come about before that phase is left. The other
    fields are for a phase entered: `claims` if the record speaks of this visit, `given` what holds on entering, `account`
    the seats of which everything shown to them in this visit is listed.
    """

    kind: str
    name: str
    value: Value = None
    seat: int | None = None
    phase: str = ""
    noted: bool = True
    claims: bool = False
    given: tuple[Mention, ...] = ()
    account: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class Event:
    """What is known of a choice.

    `chosen` are choices seen, by seat (-1 for chance); `entries` seen entries of a map that was dealt; `silent` seats
    known not to have chosen. `after` is what became known then. `viewers` are seats of which everything shown to them
    is in `after`, so that not being shown something tells them something. `over` says whether the game has ended, and
    `result` with what. `dutiful` takes it that nobody ended the game by breaking a duty in secret. `until` stops early:
    after the choice, or after a value of that name was published. `then` holds once all of `after` has come about.
    `speaker` is who chose if only that is known. `viewers` are accounted for in this visit of the phase, or with
    `throughout` until the next choice. `fresh` and `passed` are those of the belief (see `Outcome`).
    """

    chosen: tuple[tuple[int, Value], ...] = ()
    entries: tuple[tuple[int, Value], ...] = ()
    silent: frozenset[int] = frozenset()
    after: tuple[Seen, ...] = ()
    viewers: frozenset[int] = frozenset()
    over: bool | None = None
    result: tuple[Value, ...] = ()  # empty: not known
    dutiful: bool = False
    then: tuple[Mention, ...] = ()
    until: str | None = TO_THE_END
    speaker: int | None = None
    throughout: bool = False
    fresh: bool = False
    passed: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, eq=False)
class Piece:
    """A condition on unknowns, and the part of the rulebook it comes from."""

    leaf: Cell | Tensor
    origin: m.Origin
    text: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Weight:
    """How likely a choice was, in percent, and the unknowns that stand for what was chosen if that was not seen."""

    leaf: Leaf
    chosen: tuple[Cell, ...] = ()

    def free(self) -> set[int]:
        """The secret choices to be summed over: those made, and any that the likelihood reads."""
        return {c.id for c in (*cells(self.leaf), *self.chosen) if c.free}


@dataclass(frozen=True, slots=True, eq=False)
class Refusal:
    """Why a way to read the event is out of the question whatever the unknowns are."""

    origin: m.Origin
    text: str


@dataclass(slots=True, eq=False)
class Outcome:
    """One way the event can have come about. `point` is the choice awaited next, None when the game is over.

    `fresh`: no record has spoken of the visit in which that choice is; `passed`: phases that were visited and left since
    the last visit one has spoken of.
    """

    point: Point | None
    values: dict[str, Nest]
    pieces: list[Piece]
    weights: list[Weight]
    deals: list[Deal]
    met: frozenset[int] = frozenset()  # which of the things that became known were met on the way
    result: Nest = (False, 0)
    over: bool = False
    fresh: bool = False
    passed: frozenset[str] = frozenset()
    # what beliefs keep with it, worked out once
    plans: dict[tuple[tuple[str, ...], frozenset[str]], object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, eq=False)
class Deal:
    """Cards that have just been dealt."""

    variable: str
    cells: tuple[Cell, ...]
    counts: tuple[int, ...]


@dataclass(slots=True, eq=False)
class Reading:
    """All the ways an event can have come about, and what ruled the others out."""

    outcomes: list[Outcome] = field(default_factory=list)
    refusals: list[Refusal] = field(default_factory=list)
