"""A second reading of the rules: small tables played through on the interpreter that defines the language, every step
compared with what the formulas say of it, every proved claim with the states met.

Both solvers read the same formulas, so two solvers that agree say nothing about how the rules were turned into them. This
reading does not use the translation at all. What it did not look at is said: how many tables were played through whole,
how many only in part. It refutes a certificate, it never makes one: a table not read whole carries no proof.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice, product
from random import Random

from proofs.clock import Clock, OutOfTime
from proofs.families import speaks_of_knowing
from proofs.samples import Sample, random_move, random_params, random_value, sample_environment
from proofs.verdicts import PROVED, REFUTED, Verdict
from rules_dsl import model as m
from rules_dsl import reference
from rules_dsl.evaluate import holds
from rules_dsl.model import Value
from rules_dsl.play import CHANCE, IllegalMove, Move, State, Step, Stuck
from rules_dsl.settle import Settled, settle
from rules_dsl.smt import System, finite_solver
from rules_dsl.smt.play import RelationPlay
from rules_dsl.smt.symbolic import model_reader
from rules_dsl.smt.terms import term
from rules_dsl.smt.unroll import are_params, decode_params

TABLES = 24  # tables of a family that are read
STEPS = 1000  # steps compared, all tables together
WIDE = 40  # of a state with more moves than these only some are tried
WRONG = 3  # moves that are no choice, or not a legal one, tried in each state
MOST_TOLD = 5  # disagreements after which there is no need for more


@dataclass(frozen=True)
class Reading:
    """What was compared. `whole` tables were played through: every state that can be reached, every move there."""

    tables: int = 0
    whole: int = 0
    states: int = 0
    steps: int = 0
    refused: int = 0
    stopped: str = ""  # why there is less than there might be
    disagreements: tuple[str, ...] = ()

    @property
    def empty(self) -> bool:
        return not self.steps

    def __str__(self) -> str:
        if self.disagreements:
            return f"the interpreter and the formulas do not agree: {self.disagreements[0]}"
        if self.empty:
            return f"nothing was compared with the interpreter{f': {self.stopped}' if self.stopped else ''}"
        extent = "all of them whole" if self.whole == self.tables else f"{self.whole} of them whole"
        return (
            f"the interpreter and the formulas agree about {self.steps} steps and {self.refused} refusals "
            f"in {self.states} states at {self.tables} tables, {extent}"
            + (f" ({self.stopped})" if self.stopped else "")
        )


@dataclass(frozen=True)
class _Claims:
    """The proved claims that speak of single states or of going on."""

    always: tuple[tuple[str, m.Expr], ...]  # they hold in every state
    never: tuple[tuple[str, m.Expr], ...]  # they hold in none
    never_stuck: tuple[str, ...]
    longest: tuple[tuple[str, int], ...]


def _claims(verdicts: Sequence[Verdict]) -> _Claims:
    plain = [v for v in verdicts if v.game is None and v.claim.value and not speaks_of_knowing(v.claim)]
    always = [(v.name, v.claim.value) for v in plain if (v.claim.kind, v.outcome) == ("invariant", PROVED)]
    never = [(v.name, v.claim.value) for v in plain if (v.claim.kind, v.outcome) == ("reachable", REFUTED)]
    sure = [v for v in verdicts if v.outcome == PROVED]
    return _Claims(
        tuple((n, e) for n, e in always if e is not None),
        tuple((n, e) for n, e in never if e is not None),
        tuple(v.name for v in sure if v.claim.kind in ("progress", "terminates")),
        tuple((v.name, v.depth) for v in sure if v.claim.kind == "terminates" and v.depth is not None),
    )


def small_tables(model: m.Model, system: System, clock: Clock, rng: Random) -> Iterator[Settled]:
    """Tables of as few players as can be: any one, with each module and each ruling in turn, then some drawn at random."""
    seen: list[Mapping[str, Value]] = []
    solver = finite_solver()
    solver.add(term(system.valid))
    for name, value in [("", None), *_wishes(model)]:
        for players in range(model.fewest, model.most + 1):
            wish = {name: value} if name else {}
            if m.PLAYERS in model.params:
                wish[m.PLAYERS] = players
            solver.push()
            solver.add(are_params(system, wish))
            found = decode_params(system, model_reader(solver.model())) if clock.check(solver) else None
            solver.pop()
            if found is not None:
                if found not in seen:
                    seen.append(found)
                    yield settle(model, found)
                break
    for _ in range(TABLES):
        drawn = random_params(model, rng)
        if drawn is not None and drawn.params not in seen:
            seen.append(drawn.params)
            yield drawn


def _wishes(model: m.Model) -> Iterator[tuple[str, Value]]:
    for name, param in model.params.items():
        if param.kind == "module":
            yield from ((name, True), (name, False))
        elif param.kind == "ruling":
            yield from ((name, word) for word, _ in param.alternatives)


def any_table(model: m.Model, rng: Random) -> Settled:
    """A table drawn at random that the set-up checks may well refuse."""
    given: dict[str, Value] = {m.PLAYERS: rng.randint(model.fewest, model.most)}
    players = given[m.PLAYERS] if m.PLAYERS in model.params else model.players.count
    assert isinstance(players, int)
    for name, param in model.params.items():
        if name != m.PLAYERS and rng.random() < 0.5:
            given[name] = random_value(param.type, players, rng)
    return settle(model, {name: value for name, value in given.items() if name in model.params})


def second_reading(
    model: m.Model,
    system: System,
    verdicts: Sequence[Verdict],
    clock: Clock,
    seed: int = 0,
    most: int = STEPS,
) -> Reading:
    """Compares the formulas of a system with the model as the interpreter plays it, and the verdicts with the states met."""
    rng = Random(seed)
    reader = _Reader(
        model, system, _claims(verdicts), any(speaks_of_knowing(v.claim) for v in verdicts), clock, rng
    )
    try:
        with clock.within():
            tables = list(islice(small_tables(model, system, clock, rng), TABLES))
            for _ in range(TABLES if model.params else 0):
                reader.accepts(any_table(model, rng))
            for number, settled in enumerate(tables):
                share = (most - reader.made.steps) // (len(tables) - number)
                reader.read(settled, reader.made.steps + share)
                if len(reader.told) >= MOST_TOLD:
                    break
    except OutOfTime as error:
        reader.made = replace(reader.made, stopped=str(error))
    return replace(reader.made, disagreements=tuple(reader.told))


class _Reader:
    def __init__(
        self, model: m.Model, system: System, claims: _Claims, sight_matters: bool, clock: Clock, rng: Random
    ) -> None:
        self.model = model
        self.system = system
        self.claims = claims
        self.sight_matters = sight_matters
        self.clock = clock
        self.rng = rng
        self.made = Reading()
        self.told: list[str] = []

    def _count(self, **more: int) -> None:
        self.made = replace(self.made, **{name: getattr(self.made, name) + n for name, n in more.items()})

    def _tell(self, settled: Settled, what: str) -> None:
        usual = settle(self.model, {}).params
        table = ", ".join(
            f"{k}={v}" for k, v in settled.params.items() if usual.get(k) != v or k == m.PLAYERS
        )
        if len(self.told) < MOST_TOLD:
            self.told.append(f"{what} (table: {table or 'the usual one'})")

    def accepts(self, settled: Settled) -> bool:
        """Do both accept the set-up?"""
        self.clock.left()
        accepted = RelationPlay(self.system, settled.params).accepts()
        if accepted and settled.errors:
            self._tell(settled, "the formulas take a table that the set-up checks refuse")
        if not accepted and not settled.errors:
            self._tell(settled, "the formulas refuse a table that the set-up checks take")
        self._count(refused=int(bool(settled.errors)))
        return accepted and not settled.errors

    def read(self, settled: Settled, steps: int) -> None:
        """Plays a table through, as far as so many steps in all go."""
        if not self.accepts(settled):
            return
        play = RelationPlay(self.system, settled.params)
        self._count(tables=1)
        try:
            first = reference.start(settled.model)
        except Stuck:
            for name in self.claims.never_stuck:
                self._tell(settled, f"the game is stuck before it begins, whatever '{name}' says")
            return
        if self._differs(first, play.start()):
            self._tell(settled, f"the first state is {first.state}, not {play.start().state}")
            return
        half = (self.made.steps + steps) // 2
        if self._breadth_first(settled, play, first.state, half):
            self._count(whole=1)
            return
        while self.made.steps < steps and len(self.told) < MOST_TOLD:
            if not self._one_game(settled, play, first.state):
                return

    def _breadth_first(self, settled: Settled, play: RelationPlay, first: State, steps: int) -> bool:
        """Every state that can be reached, the nearest first; True if that was all of them, with all their moves."""
        whole, seen, waiting = True, {first}, deque([(first, 0)])
        while waiting:
            if self.made.steps >= steps or len(self.told) >= MOST_TOLD:
                return False
            state, events = waiting.popleft()
            moves, all_ = self._moves(settled.model, state)
            whole = whole and all_
            self._look_at(settled, state, events, bool(moves))
            self._refusals(settled, play, state)
            for move in moves:
                after = self._compare(settled, play, state, move)
                if after is not None and after not in seen:
                    seen.add(after)
                    waiting.append((after, events + 1))
        return whole

    def _one_game(self, settled: Settled, play: RelationPlay, state: State) -> bool:
        """A random game to its end; False if it cannot even begin."""
        events = 0
        while not state.over and events < 400:
            try:
                move = random_move(settled.model, state, self.rng)
            except Stuck:
                self._look_at(settled, state, events, False)
                return events > 0
            self._look_at(settled, state, events, True)
            self._refusals(settled, play, state)
            after = self._compare(settled, play, state, move)
            if after is None:
                return events > 0
            state, events = after, events + 1
        self._look_at(settled, state, events, False)
        return events > 0

    # --- one state, one step ---

    def _moves(self, model: m.Model, state: State) -> tuple[list[Move], bool]:
        """Legal moves, and whether these are all."""
        awaited = reference.pending(model, state)
        if awaited is None:
            return [], True
        offers = [
            [(seat, value) for value in islice(reference.options(model, state, seat), WIDE + 1)]
            for seat in awaited.seats
        ]
        if awaited.choice.chooser.kind == "one":
            found: list[Move] = [(option,) for offer in offers for option in offer]
        else:
            found = [tuple(move) for move in islice(product(*offers), WIDE + 1)]
        cut = len(found) > WIDE or any(len(offer) > WIDE for offer in offers)
        return found[:WIDE], not cut

    def _look_at(self, settled: Settled, state: State, events: int, goes_on: bool) -> None:
        """Do the proved claims hold in a state that the interpreter reaches?"""
        self.clock.left()
        self._count(states=1)
        sample = Sample(settled.params, settled.model.players.count, state)
        env = sample_environment(self.model, sample)
        wrong = [name for name, value in self.claims.always if not holds(value, env)]
        wrong += [name for name, value in self.claims.never if holds(value, env)]
        if not state.over and not goes_on:
            wrong += self.claims.never_stuck
        wrong += [name for name, bound in self.claims.longest if events > bound]
        for name in wrong:
            self._tell(
                settled, f"after {events} event(s) the interpreter shows '{name}' to be decided wrongly"
            )

    def _refusals(self, settled: Settled, play: RelationPlay, state: State) -> None:
        """Moves with a value drawn at random: the rules refuse most of them."""
        awaited = reference.pending(settled.model, state)
        if awaited is None or not awaited.seats:
            return
        players = settled.model.players.count
        type_ = m.choice_type(awaited.choice)
        for _ in range(WRONG):
            seats: Sequence[int] = awaited.seats
            if awaited.choice.chooser.kind == "one":
                seats = (self.rng.randrange(players),)
            move = tuple((seat, random_value(type_, players, self.rng)) for seat in seats)
            self._compare(settled, play, state, move)

    def _compare(self, settled: Settled, play: RelationPlay, state: State, move: Move) -> State | None:
        """The state after a move if both take it and agree about it."""
        self.clock.left()
        try:
            ours = reference.step(settled.model, state, move)
        except Stuck:
            for name in self.claims.never_stuck:
                self._tell(settled, f"after {_shown(state, move)} the game is stuck, whatever '{name}' says")
            return None
        except IllegalMove:
            self._count(refused=1)
            if not play.broken(state, move):
                self._tell(
                    settled, f"the formulas allow {_shown(state, move)}, which the interpreter refuses"
                )
            return None
        self._count(steps=1)
        broken = play.broken(state, move)
        if broken:
            self._tell(
                settled,
                f"the formulas refuse {_shown(state, move)} by {broken[0].name}; the interpreter does not",
            )
            return None
        theirs = play.step(state, move)
        if self._differs(ours, theirs):
            self._tell(
                settled, f"{_shown(state, move)} leads to {ours.state}, by the formulas to {theirs.state}"
            )
            return None
        return ours.state

    def _differs(self, ours: Step, theirs: Step) -> bool:
        if ours.state != theirs.state:
            return True
        return self.sight_matters and ours.observations != theirs.observations


def _shown(state: State, move: Move) -> str:
    chosen = ", ".join(
        f"{'chance' if seat == CHANCE else f'seat {seat + 1}'}: {value}" for seat, value in move
    )
    return f"{chosen} in phase '{state.phase}'"


__all__ = ["Reading", "second_reading"]
