"""One way a game can have gone since the choice awaited, while an event is being read.

A `Path` collects conditions on the unknowns (`add`), likelihoods, cards dealt, and the variables as they are on it.
"""

from __future__ import annotations

from collections.abc import Mapping

from rules_dsl import model as m
from rules_dsl.arrays.columns import Cell, Leaf, Tensor, either, negated
from rules_dsl.arrays.event import Deal, Event, Outcome, Piece, Refusal, Weight
from rules_dsl.arrays.program import Point
from rules_dsl.arrays.scene import Scene
from rules_dsl.arrays.shapes import Nest
from rules_dsl.arrays.supply import Supply


class Values(dict[str, Nest]):
    """The variables; those not given are any value that will do, if a maker of such values is at hand."""

    def __init__(
        self, given: Mapping[str, Nest], supply: Supply | None = None, made: dict[str, Nest] | None = None
    ) -> None:
        super().__init__(given)
        self.supply = supply
        self.made = made if made is not None else {}  # one unknown is the same along every way

    def __missing__(self, name: str) -> Nest:
        if self.supply is None:
            raise KeyError(name)
        if name not in self.made:
            self.made[name] = self.supply.free(self.supply.types[name], name)
        self[name] = self.made[name]
        return self.made[name]

    def tracks(self, name: str) -> bool:
        """Is anything known of this variable, or can it be made up?"""
        return name in self or self.supply is not None

    def twin(self) -> Values:
        return Values(self, self.supply, self.made)


class Path:
    """One way through the phases so far."""

    __slots__ = (
        "account",
        "deals",
        "duties",
        "fresh",
        "met",
        "passed",
        "phase",
        "pieces",
        "silent_phases",
        "stopped",
        "values",
        "weights",
    )

    def __init__(self, values: Values) -> None:
        self.values = values
        self.pieces: list[Piece] = []
        self.weights: list[Weight] = []
        self.deals: list[Deal] = []
        self.met: frozenset[int] = frozenset()
        self.silent_phases = 0
        self.stopped = False
        self.duties: list[tuple[Leaf, m.Origin, str]] = []  # what is owed in secret but not required
        self.phase = ""  # the phase being visited
        self.fresh = False  # no record has spoken of this visit
        self.passed: frozenset[str] = frozenset()  # phases visited and left since the last visit spoken of
        self.account: frozenset[int] = frozenset()  # seats of which everything shown to them now is known

    def twin(self) -> Path:
        made = Path(self.values.twin())
        made.pieces, made.weights, made.deals = list(self.pieces), list(self.weights), list(self.deals)
        made.met, made.silent_phases, made.stopped = self.met, self.silent_phases, self.stopped
        made.duties = list(self.duties)
        made.phase, made.fresh, made.passed = self.phase, self.fresh, self.passed
        made.account = self.account
        return made

    def scene(self) -> Scene:
        return Scene(self.values)


class Dead(Exception):
    """This way is impossible whatever the unknowns are."""

    def __init__(self, origin: m.Origin, text: str) -> None:
        self.refusal = Refusal(origin, text)
        super().__init__(text)


def add(path: Path, condition: Leaf, origin: m.Origin, text: str) -> None:
    """One more condition on the unknowns; raises `Dead` if it can never hold."""
    if condition is False:
        raise Dead(origin, text)
    if isinstance(condition, Cell | Tensor):
        path.pieces.append(Piece(condition, origin, text))


def implied(condition: Leaf, part: Leaf) -> Leaf:
    """The part, where the condition holds."""
    return part if condition is True else either(negated(condition), part)


def unmet(path: Path, event: Event, kind: str, name: str, seat: int | None = None) -> int | None:
    """The first thing of this name that became known and has not been met yet.

    What was seen after a phase was entered cannot be met before that.
    """
    for at, seen in enumerate(event.after):
        if at in path.met:
            continue
        if (seen.kind, seen.name, seen.seat) == (kind, name, seat):
            return at
        if seen.kind == "phase":
            return None
    return None


def first_of(path: Path, event: Event, kind: str, name: str, seat: int | None = None) -> int | None:
    """The same; it is met now."""
    at = unmet(path, event, kind, name, seat)
    if at is not None:
        path.met |= {at}
    return at


def outcome_of(path: Path, point: Point | None) -> Outcome:
    """What the path has come to."""
    return Outcome(
        point,
        dict(path.values),
        path.pieces,
        path.weights,
        path.deals,
        path.met,
        fresh=path.fresh,
        passed=path.passed,
    )
