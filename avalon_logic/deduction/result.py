"""What can be concluded: the answer to a deduction, as a value that can be asked, printed, and shown in a notebook.

`conclude(inquiry, ...)` makes one. Shares are exact fractions over the possible deals, all deals being equally likely,
unless a weighted assumption is in force; then they are probabilities.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

from avalon_logic.configuration import describe_check
from avalon_logic.deduction.facts import Fact, parse_fact
from avalon_logic.deduction.inquiry import Inquiry, Told, suppose
from avalon_logic.deduction.setting import Setting
from avalon_logic.deduction.sides import fact_share, side_shares, together
from avalon_logic.records import Record
from rules_dsl.arrays.answers import Worlds, count, likelihoods, matrix, shares
from rules_dsl.model import Assumption

if TYPE_CHECKING:
    from avalon_logic.deduction.why import Explanation

Share = Fraction | float


@dataclass(frozen=True)
class Player:
    """What a player can be: the share of the worlds for every possible role and side."""

    name: str
    roles: dict[str, Share]
    sides: dict[str, Share]


@dataclass(frozen=True)
class Alignment:
    """The worlds in which exactly these players are on the side that is fewer (evil)."""

    members: tuple[str, ...]
    worlds: int
    share: Share


@dataclass(frozen=True, eq=False, repr=False)
class Result:
    """The answer to a deduction.

    >>> from avalon_logic.deduction import deduce
    >>> found = deduce('''
    ... players Ann Bob Cid Dan Eve
    ... first_leader Ann
    ... propose Ann Bob
    ... vote + + + - -
    ... tally 2
    ... ''')
    >>> found.count, found.deals
    (6, 60)
    >>> [str(fact) for fact in found.certain]
    ['Ann is evil', 'Bob is evil', 'Cid is good', 'Dan is good', 'Eve is good']
    >>> found.player("Cid").roles
    {'merlin': Fraction(1, 3), 'servant': Fraction(2, 3)}
    >>> found.worlds(1)
    [{'Ann': 'assassin', 'Bob': 'minion', 'Cid': 'merlin', 'Dan': 'servant', 'Eve': 'servant'}]
    """

    inquiry: Inquiry
    record: Record
    supposed: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    deals: int = field(default=0)

    @property
    def setting(self) -> Setting:
        return self.inquiry.setting

    @property
    def seat(self) -> str | None:
        """Whose eyes; None for the neutral observer."""
        return None if self.inquiry.viewer is None else self.record.names[self.inquiry.viewer]

    @property
    def steps(self) -> tuple[Told, ...]:
        """Everything that was told, with the number of worlds before and after."""
        return self.inquiry.told

    @property
    def assumptions(self) -> tuple[Assumption, ...]:
        """The assumptions that were used."""
        return self.setting.assumed()

    @property
    def weighted(self) -> bool:
        """Do likelihoods count, so that shares are probabilities?"""
        return any(a.kind == "weight" for a in self.assumptions)

    @cached_property
    def _worlds(self) -> Worlds:
        return self.inquiry.worlds()

    @cached_property
    def count(self) -> int:
        """The number of possible deals."""
        return count(self._worlds)

    @property
    def possible(self) -> bool:
        """Is any deal possible? If not, what was told contradicts itself or the rules."""
        return self.count > 0

    @cached_property
    def players(self) -> tuple[Player, ...]:
        """Every player with the roles and sides possible."""
        roles = self.setting.roles
        by_side = side_shares(self.inquiry, self._worlds)
        return tuple(
            Player(name, {roles[v]: s for v, s in sorted(entry.items())}, sides)
            for name, entry, sides in zip(self.record.names, shares(self._worlds), by_side, strict=True)
        )

    def player(self, name: str) -> Player:
        """One player."""
        return self.players[self.record.seat(name)]

    @cached_property
    def certain(self) -> tuple[Certainty, ...]:
        """What holds in every possible deal: sides, and roles; nothing if no deal is possible."""
        if not self.possible:
            return ()
        names = self.record.names
        found: list[Certainty] = []
        for seat, player in enumerate(self.players):
            if len(player.sides) == 1:
                found.append(Certainty(Fact(seat, next(iter(player.sides))), names))
            if len(player.roles) == 1:
                found.append(Certainty(Fact(seat, next(iter(player.roles))), names))
        return tuple(found)

    def worlds(self, most: int | None = None) -> list[dict[str, str]]:
        """The possible deals, at most so many; the likeliest first if likelihoods count."""
        roles, names = self.setting.roles, self.record.names
        return [
            dict(zip(names, (roles[v] for v in row), strict=True))
            for row in matrix(self._worlds, most).tolist()
        ]

    def probabilities(self) -> list[float]:
        """How likely each of the possible deals is, in the order of `worlds`."""
        return likelihoods(self._worlds).tolist()  # type: ignore[no-any-return]

    def matrix(self) -> Any:
        """The possible deals as a NumPy array: a row for each, a column for each seat, places in `setting.roles`."""
        return matrix(self._worlds)

    @cached_property
    def alignments(self) -> tuple[Alignment, ...]:
        """The worlds grouped by who is on the smaller side, the largest group first."""
        made = [
            Alignment(tuple(self.record.names[s] for s in members), number, share)
            for members, number, share in together(self.inquiry, self._worlds, self.setting.sides[-1])
        ]
        return tuple(sorted(made, key=lambda a: -a.share))

    def chance(self, fact: str) -> Share:
        """In which part of the worlds a fact such as "Ann is evil" holds, or can hold if the deal does not decide it."""
        return fact_share(self.inquiry, self._worlds, parse_fact(fact, self.setting))

    def what_if(self, *facts: str) -> Result:
        """The answer if these facts held as well.

        >>> from avalon_logic.deduction import deduce
        >>> found = deduce("players Ann Bob Cid Dan Eve\\nfirst_leader Ann\\npropose Ann Bob\\nvote ?\\ntally 1")
        >>> found.count, found.what_if("Ann is good").count
        (42, 18)
        >>> [str(c) for c in found.what_if("Ann is good").certain]
        ['Ann is good', 'Bob is evil']
        """
        inquiry = self.inquiry
        for text in facts:
            inquiry = suppose(inquiry, parse_fact(text, self.setting))
        return Result(inquiry, self.record, (*self.supposed, *facts), self.notes, self.deals)

    def why(self, fact: str) -> Explanation:
        """Why a fact is certain, as a short argument, or a deal in which it is not so."""
        from avalon_logic.deduction.why import explain

        return explain(self.inquiry, parse_fact(fact, self.setting))

    def conflict(self) -> Explanation | None:
        """If no deal is possible: a smallest set of things told that cannot all be true."""
        from avalon_logic.deduction.why import explain

        return None if self.possible else explain(self.inquiry, None)

    def to_json(self, most: int | None = 0) -> dict[str, Any]:
        """The answer as plain JSON; `most` worlds are listed (None: all)."""
        from avalon_logic.deduction.display import result_json

        return result_json(self, most)

    def __rich__(self) -> Any:
        from avalon_logic.deduction.display import result_table

        return result_table(self)

    def _repr_html_(self) -> str:
        from avalon_logic.deduction.display import result_html

        return result_html(self)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        from avalon_logic.deduction.display import result_html, result_text

        return {"text/plain": result_text(self), "text/html": result_html(self)}

    def __str__(self) -> str:
        from avalon_logic.deduction.display import result_text

        return result_text(self)

    def __repr__(self) -> str:
        from avalon_logic.deduction.display import headline

        return f"<{headline(self)}>"


@dataclass(frozen=True)
class Certainty:
    """A fact that holds in every possible deal."""

    fact: Fact
    names: tuple[str, ...]

    def __str__(self) -> str:
        return self.fact.text(self.names)


def conclude(
    inquiry: Inquiry, record: Record, supposed: Sequence[str] = (), notes: Sequence[str] = ()
) -> Result:
    """The answer an inquiry has come to."""
    setting = inquiry.setting
    checks = [f"set-up: {describe_check(c)}" for c in setting.settled.findings if c.severity == "error"]
    return Result(inquiry, record, tuple(supposed), (*notes, *checks), _deals(setting))


def _deals(setting: Setting) -> int:
    from avalon_logic.deduction.inquiry import open_inquiry

    return open_inquiry(setting).count()
