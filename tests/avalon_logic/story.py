"""A table at which a story is told: each thing that happens is played on the generated engine and on the reference.

The two must agree at every step: state, what became known, duties broken, refusals.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache

import pytest

from avalon_logic.configuration import Configuration, load
from rules_dsl import Settled, Value, reference
from rules_dsl.play import CHANCE, IllegalMove, Move, Observation, Pending, State
from rules_dsl.python import Engine, compile_python


@lru_cache(maxsize=256)
def _compiled(key: tuple[object, ...], settled: _ById) -> Engine:
    return compile_python(settled.settled.model)


class _ById:
    def __init__(self, settled: Settled) -> None:
        self.settled = settled

    def __hash__(self) -> int:
        return 0

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _ById)


def engine_of(configuration: Configuration) -> Engine:
    """The generated engine of a table the rules accept."""
    return _compiled(configuration.key(), _ById(load(configuration)))


class Story:
    """A game in progress. Seats are names; `deal` gives every name a role, the first leader is `leader`."""

    def __init__(
        self,
        deal: Mapping[str, str],
        leader: str,
        *,
        game: str = "avalon",
        modules: Iterable[str] = (),
        rulings: Mapping[str, str] | None = None,
    ) -> None:
        self.names = tuple(deal)
        configuration = Configuration(
            game, len(deal), tuple(modules), tuple(deal.values()), dict(rulings or {})
        )
        self.engine = engine_of(configuration)
        self.model = self.engine.model
        self.seen: list[Observation] = []
        self.breaches: list[str] = []
        first = self.engine.start()
        assert first == reference.start(self.model)
        self.state: State = first.state
        self.play(((CHANCE, tuple(deal.values())),))
        self.play(((CHANCE, self.seat(leader)),))

    def seat(self, name: str) -> int:
        return self.names.index(name)

    def play(self, move: Move) -> None:
        """One move on both engines, which must agree; raises `IllegalMove` if both refuse it."""
        try:
            step = self.engine.step(self.state, move)
        except IllegalMove as refused:
            self._refused_by_reference_too(move, refused)
            raise
        assert step == reference.step(self.model, self.state, move)
        self.state = step.state
        self.seen += step.observations
        self.breaches += [c for b in step.breaches for c in b.origin.cites]

    def _refused_by_reference_too(self, move: Move, refused: IllegalMove) -> None:
        with pytest.raises(IllegalMove) as also:
            reference.step(self.model, self.state, move)
        assert also.value.cites == refused.cites

    def choose(self, value: Value, by: str | None = None) -> None:
        """The one who must choose (or `by`) chooses."""
        seat = self.awaited.seats[0] if by is None else self.seat(by)
        self.play(((seat, value),))

    def propose(self, *team: str, quest: int | None = None) -> None:
        """The leader names a team, and under free choice a quest."""
        if quest is not None:
            self.choose(quest)
        self.choose(frozenset(self.seat(n) for n in team))

    def vote(self, *, reject: Iterable[str] = ()) -> None:
        against = set(reject)
        self.play(tuple((s, n not in against) for s, n in enumerate(self.names)))

    def reject(self) -> None:
        """Everybody rejects a team of the first so many players."""
        self.propose_any()
        self.vote(reject=self.names)

    def propose_any(self, quest: int | None = None) -> None:
        """The leader names the first team the rules offer."""
        if quest is not None:
            self.choose(quest)
        self.choose(next(iter(self.engine.options(self.state, self.awaited.seats[0]))))

    def cards(self, *, fails: Iterable[str] = ()) -> None:
        failing = {self.seat(n) for n in fails}
        assert failing <= set(self.awaited.seats)
        self.play(tuple((s, "fail" if s in failing else "success") for s in self.awaited.seats))

    def quest(self, *team: str, fails: Iterable[str] = (), quest: int | None = None) -> None:
        """A team proposed, approved by all and sent."""
        self.propose(*team, quest=quest)
        self.vote()
        self.cards(fails=fails)

    def lady(self, examined: str, passes: str) -> None:
        """The Lady's holder examines somebody, who passes a loyalty card."""
        self.choose(self.seat(examined))
        self.choose(passes)

    @property
    def awaited(self) -> Pending:
        awaited = self.engine.pending(self.state)
        assert awaited is not None, "the game is over"
        assert awaited == reference.pending(self.model, self.state)
        return awaited

    @property
    def chooser(self) -> str:
        """The name of the one who must choose."""
        (seat,) = self.awaited.seats
        return self.names[seat]

    @property
    def phase(self) -> str:
        return "over" if self.state.over else self.state.phase

    @property
    def winner(self) -> Value:
        assert self.state.over
        return self.state.result

    def value(self, name: str) -> Value:
        return self.state.values[list(self.model.variables).index(name)]

    def options(self) -> set[Value]:
        """What the first one who must choose may choose."""
        seat = self.awaited.seats[0]
        found = set(self.engine.options(self.state, seat))
        assert found == set(reference.options(self.model, self.state, seat))
        return found

    def named_options(self) -> set[str]:
        """The same, for a choice of a player."""
        return {self.names[s] for s in self.options()}  # type: ignore[index,misc]

    def shown(self, name: str) -> dict[str, frozenset[str]]:
        """What the reveal showed this player, by the name of the step."""
        return {
            o.name: frozenset(self.names[s] for s in o.value)  # type: ignore[union-attr,misc]
            for o in self.seen
            if o.kind == "shown" and o.seat == self.seat(name)
        }

    def knows(self, name: str, what: str) -> list[Value]:
        """The values of a choice this player has seen."""
        seat = self.seat(name)
        return [o.value for o in self.seen if o.kind == "choice" and o.name == what and o.seen_by(seat)]
