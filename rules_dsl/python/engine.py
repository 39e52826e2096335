"""The engine of one settled game: generated functions on raw states, and round them the interface of
`reference`.

`compile_python(model)` writes the source, runs it once and gives an `Engine`. An engine changes nothing it
is given; the only thing it remembers is tables that make it faster.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from functools import cached_property
from random import Random
from typing import NamedTuple

from rules_dsl import model as m
from rules_dsl.evaluate import Environment, evaluate
from rules_dsl.model import Value
from rules_dsl.play import CHANCE, IllegalMove, Move, Observation, Pending, State, Step, Stuck
from rules_dsl.python.flow import Steps
from rules_dsl.python.playout import Playouts, write_playouts
from rules_dsl.python.program import FIRST_VARIABLE, Program, Writer
from rules_dsl.python.raw import (
    Raw,
    decoder,
    encoder,
    entries,
    gathered,
    lowest,
    raw_arrangements,
    raw_index,
    raw_values,
)
from rules_dsl.python.runtime import Bits, bits_of, deal, pick, pick_weighted, weighted
from rules_dsl.types import MapType, OptionalType, cardinality, is_index
from rules_dsl.values import from_ordinal, is_value, least

RawState = tuple[Raw, ...]
RawLog = list[tuple[Raw, ...]]  # one entry a choice: its number, the seat if one spoke for several, raw value
RawNote = tuple[
    int, int, Raw, int
]  # which observation, seat or -1, raw value, mask of those who see it or -1

MOST_SILENT_PHASES = 1000
_DECLINED = ~0


def compile_python(model: m.Model) -> Engine:
    """The engine of a settled model.

    >>> from rules_dsl.example import example_model
    >>> engine = compile_python(example_model())
    >>> engine.pending(engine.start().state).choice.variable
    'coin'
    """
    return Engine(model)


class Playout(NamedTuple):
    """A game played at random: its result and the raw log, from which `Engine.moves` makes the moves."""

    result: Value
    log: RawLog


class RawChoice:
    """The generated functions about one choice, on raw states and values."""

    def __init__(self, program: Program, number: int, space: dict[str, Callable[..., Raw]]) -> None:
        plan = program.plans[number]
        choice = plan.choice
        variable = program.model.variables[choice.variable].type
        self.number = number
        self.choice = choice
        self.phase = plan.phase.name
        self.step = program.by_phase[self.phase].index(plan)
        self.kind = plan.kind
        self.seat_bound = bool(choice.chooser.seat)
        self.type = m.choice_type(choice)
        self.index_type = choice.type if is_index(choice.type) else None
        self.encode = encoder(self.type)
        self.decode = decoder(self.type)
        self.map = variable if plan.kind == "each" and isinstance(variable, MapType) else None
        self.nobody: tuple[Raw, ...] = ()
        if self.map is not None:
            self.nobody = entries(self.map)(encoder(self.map)(least(self.map)))
        # the functions; `program` says what their letters mean
        self.choosers = space.get(f"w{number}")
        self.check = space[f"q{number}"]
        self.allowed = space.get(f"o{number}")
        self.proper = space.get(f"r{number}")
        self.weight = space.get(f"x{number}")
        self.cards = space.get(f"l{number}")
        self.quiet = space[f"c{number}"]
        self.noting = space[f"n{number}"]

    def seats(self, state: RawState) -> tuple[int, ...]:
        """Who chooses now."""
        return (CHANCE,) if self.choosers is None else tuple(bits_of(self.choosers(state)))

    def options(self, state: RawState, seat: int) -> Iterator[Raw]:
        """Every raw value this seat may choose, the least first."""
        return self._options(state, seat, self.allowed, lambda checked: checked < 0)

    def proper_options(self, state: RawState, seat: int) -> Iterator[Raw]:
        """Those that break no "ought" either."""
        return self._options(state, seat, self.proper, lambda checked: checked == _DECLINED)

    def _options(
        self, state: RawState, seat: int, mask: Callable[..., int] | None, good: Callable[[int], bool]
    ) -> Iterator[Raw]:
        if self.choice.optional:
            yield None
        if mask is not None and self.index_type is not None:
            values = raw_index(self.index_type)
            found: Iterator[Raw] = (values[i] for i in bits_of(mask(state, seat)))
        else:
            check = self.check
            found = (x for x in self.domain(state) if good(check(state, seat, x)))
        if self.weight is None:
            yield from found
        else:
            yield from (x for x in found if self.weight(state, x) != 0)

    def domain(self, state: RawState) -> Iterator[Raw]:
        """Every raw value that is one at all."""
        if self.cards is None:
            return raw_values(self.choice.type)
        assert isinstance(self.choice.type, MapType)
        return raw_arrangements(self.choice.type, self._counts(state))

    def _counts(self, state: RawState) -> tuple[int, ...]:
        assert self.cards is not None
        counts: tuple[int, ...] = self.cards(state)
        return counts

    def drawn(self, state: RawState, bits: Bits) -> Raw:
        """What chance gives, exactly as often as it weighs."""
        if self.cards is not None and not self.choice.requires and self.weight is None:
            type_ = self.choice.type
            assert isinstance(type_, MapType)
            assert is_index(type_.value)
            laid = deal(self._counts(state), cardinality(type_.key), lowest(type_.value), bits)
            return gathered(type_, laid)
        found = self.options(state, CHANCE)
        if self.weight is None:
            return pick(list(found), bits)
        weigh = self.weight
        return pick_weighted(weighted(found, lambda x: int(weigh(state, x))), bits)

    def arranged(self, state: RawState, value: Value) -> bool:
        """Is this an arrangement of the cards to be dealt?"""
        assert isinstance(self.choice.type, MapType)
        assert isinstance(value, tuple)
        kind = self.choice.type.value
        counts = self._counts(state)
        return all(value.count(from_ordinal(kind, i)) == c for i, c in enumerate(counts))  # type: ignore[arg-type]


class Engine:
    """One game, compiled. The functions are those of `reference` with the model left out."""

    def __init__(self, model: m.Model) -> None:
        self.model = model
        self._program = Program(model)
        steps = Steps(self._program)
        writer = Writer()
        self._program.write_choice_functions(writer)
        steps.write(writer)
        self.source = "\n".join(self._program.emitter.functions) + writer.text()
        space = dict(self._program.emitter.namespace)
        exec(compile(self.source, "<generated>", "exec"), space)
        functions: dict[str, Callable[..., Raw]] = space  # type: ignore[assignment]
        self.choices = tuple(RawChoice(self._program, i, functions) for i in range(len(self._program.plans)))
        self._notes = steps.notes
        self._enter = [functions.get(f"e{i}") for i in range(len(model.phases))]
        self._enter_noting = [functions.get(f"g{i}") for i in range(len(model.phases))]
        self._phases = tuple(model.phases)
        self._number = {(c.phase, c.step): c.number for c in self.choices}
        variables = model.variables.values()
        self._encode = [encoder(v.type) for v in variables]
        self._decode = [decoder(v.type) for v in variables]
        self._result = decoder(OptionalType(model.result))
        self._to_raw_result = encoder(OptionalType(model.result))
        self._audiences = [functions.get(f"a{i}") for i in range(len(self._encode))]

    def __repr__(self) -> str:
        return f"<engine of {self.model.name}, {self.model.players.count} players>"

    # --- raw states ---

    @cached_property
    def raw_start(self) -> RawState:
        """The raw state in which the first choice is awaited."""
        return self._onward(self._first(), None)

    def _first(self) -> RawState:
        env = Environment(self.model, self.model.players.count)
        values = [
            encode(evaluate(v.initial, env))
            for encode, v in zip(self._encode, self.model.variables.values(), strict=True)
        ]
        entry = len(self.choices) + self._phases.index(self.model.start)
        return (entry, None, *values)

    def _onward(self, raw: RawState, notes: list[RawNote] | None) -> RawState:
        """Through phases that only lead on to others."""
        first = len(self.choices)
        rounds = 0
        while raw[0] >= first:
            rounds += 1
            if rounds > MOST_SILENT_PHASES:
                raise Stuck("nobody chooses anything any more")
            if notes is None:
                raw = self._enter[raw[0] - first](raw, None)
            else:
                raw = self._enter_noting[raw[0] - first](raw, notes.append)
        return raw

    def raw_step(self, raw: RawState, seat: int, value: Raw) -> RawState:
        """The raw state after a choice that is known to be allowed. For "each", `value` is the whole raw
        map.
        """
        made: RawState = self.choices[raw[0]].quiet(raw, seat, value, None)
        return made if made[0] < len(self.choices) else self._onward(made, None)

    def raw_noting_step(self, raw: RawState, seat: int, value: Raw) -> tuple[RawState, list[RawNote]]:
        """The same, and who saw what."""
        notes: list[RawNote] = []
        made: RawState = self.choices[raw[0]].noting(raw, seat, value, notes.append)
        return self._onward(made, notes), notes

    def raw_over(self, raw: RawState) -> bool:
        return bool(raw[0] < 0)

    def encode(self, state: State) -> RawState:
        """A state as generated code has it."""
        values = [encode(v) for encode, v in zip(self._encode, state.values, strict=True)]
        if state.over:
            return (~self._phases.index(state.phase), self._to_raw_result(state.result), *values)
        return (self._number[state.phase, state.step], None, *values)

    def decode(self, raw: RawState) -> State:
        """A raw state as everybody else has it."""
        values = tuple(decode(v) for decode, v in zip(self._decode, raw[FIRST_VARIABLE:], strict=True))
        if raw[0] < 0:
            return State(self._phases[~raw[0]], 0, values, True, self._result(raw[1]))
        choice = self.choices[raw[0]]
        return State(choice.phase, choice.step, values)

    def _observations(self, notes: list[RawNote]) -> tuple[Observation, ...]:
        made = []
        for number, seat, value, to in notes:
            note = self._notes[number]
            audience = None if to < 0 else frozenset(bits_of(to))
            by = None if seat < 0 else seat
            made.append(Observation(note.phase, note.kind, note.name, by, note.decode(value), audience))
        return tuple(made)

    # --- the interface of `reference` ---

    def start(self) -> Step:
        """The first state in which somebody (or chance) must choose."""
        notes: list[RawNote] = []
        raw = self._onward(self._first(), notes)
        return Step(self.decode(raw), self._observations(notes))

    def pending(self, state: State) -> Pending | None:
        """Who must choose what, or None when the game is over."""
        if state.over:
            return None
        raw = self.encode(state)
        choice = self.choices[raw[0]]
        return Pending(state.phase, choice.choice, choice.seats(raw))

    def options(self, state: State, seat: int) -> Iterator[Value]:
        """Every value a seat that must choose may choose now, the least first; for chance only those with
        weight.
        """
        if state.over:
            return iter(())
        raw = self.encode(state)
        choice = self.choices[raw[0]]
        return map(choice.decode, choice.options(raw, seat)) if seat in choice.seats(raw) else iter(())

    def proper_options(self, state: State, seat: int) -> Iterator[Value]:
        """The options that break no "ought"."""
        if state.over:
            return iter(())
        raw = self.encode(state)
        choice = self.choices[raw[0]]
        return map(choice.decode, choice.proper_options(raw, seat)) if seat in choice.seats(raw) else iter(())

    def weight(self, state: State, value: Value) -> int:
        """How heavily chance weighs a value against the others; arrangements of a deal all weigh the same."""
        raw = self.encode(state)
        choice = self.choices[raw[0]]
        return 1 if choice.weight is None else int(choice.weight(raw, choice.encode(value)))

    def step(self, state: State, move: Move) -> Step:
        """Plays a move; raises `IllegalMove` and changes nothing if the rules refuse it."""
        if state.over:
            raise IllegalMove("the game is over")
        raw = self.encode(state)
        breaches = self.check(raw, move)
        seat, value = self.raw_move(raw, move)
        made, notes = self.raw_noting_step(raw, seat, value)
        return Step(self.decode(made), self._observations(notes), breaches)

    def check(self, raw: RawState, move: Move) -> tuple[m.Require, ...]:
        """The "ought" requirements a move breaks; raises `IllegalMove` if the rules refuse it."""
        choice = self.choices[raw[0]]
        awaited = choice.seats(raw)
        seats = tuple(seat for seat, _ in move)
        name = choice.choice.variable
        if choice.kind == "one":
            if len(seats) != 1 or seats[0] not in awaited:
                raise IllegalMove(f"one of seats {list(awaited)} chooses {name}", choice=choice.choice)
        elif tuple(sorted(seats)) != awaited:
            raise IllegalMove(f"seats {list(awaited)} choose {name}, not {list(seats)}", choice=choice.choice)
        breaches: list[m.Require] = []
        for seat, value in move:
            breaches += self.check_value(raw, seat, value)
        return tuple(breaches)

    def check_value(self, raw: RawState, seat: int, value: Value) -> list[m.Require]:
        """The "ought" requirements a seat's value breaks; raises `IllegalMove` if the rules refuse it."""
        made = self.choices[raw[0]]
        choice = made.choice
        if value is None and choice.optional:
            return []
        if not is_value(choice.type, value, self.model.players.count):
            raise IllegalMove(
                f"{value!r} is not a value of {choice.type} for {choice.variable}", choice=choice
            )
        if choice.deal is not None and not made.arranged(raw, value):
            raise IllegalMove(f"{choice.variable} is not an arrangement of the deck", choice=choice)
        raw_value = made.encode(value)
        checked = made.check(raw, seat, raw_value)
        if checked >= 0:
            broken = choice.requires[checked]
            raise IllegalMove(broken.text or f"{choice.variable} may not be {value!r}", broken, choice)
        if made.weight is not None and made.weight(raw, raw_value) == 0:
            raise IllegalMove(f"{value!r} cannot come up for {choice.variable}", choice=choice)
        return [choice.requires[i] for i in bits_of(~checked)]

    def raw_move(self, raw: RawState, move: Move) -> tuple[int, Raw]:
        """A move as `raw_step` takes it: the seat (of "one" or a single chooser) and the raw value of the
        variable.
        """
        choice = self.choices[raw[0]]
        if choice.map is None:
            return move[0][0], choice.encode(move[0][1])
        chosen = list(choice.nobody)
        for seat, value in move:
            chosen[seat] = choice.encode(value)
        return CHANCE, gathered(choice.map, tuple(chosen))

    def visible(self, state: State, seat: int | None) -> dict[str, Value]:
        """The variables a seat sees in a state (None: a spectator): public ones, its own entries, what it
        is let see.
        """
        raw = self.encode(state)
        found: dict[str, Value] = {}
        for number, (name, variable) in enumerate(self.model.variables.items()):
            audience, value = self._audiences[number], state.values[number]
            match variable.audience.kind:
                case "public":
                    found[name] = value
                case "own" if seat is not None:
                    assert isinstance(value, tuple)
                    found[name] = value[seat]
                case "to" if seat is not None and audience is not None and audience(raw) >> seat & 1:
                    found[name] = value
        return found

    # --- random play ---

    @cached_property
    def playouts(self) -> Playouts:
        """The functions that play at random, written when they are first asked for."""
        return write_playouts(self._program)

    def simulate(self, games: int, rng: Random) -> dict[Value, int]:
        """Plays games at random and counts the results; every choice is uniform among the proper options.

        >>> from rules_dsl.example import example_model
        >>> engine = compile_python(example_model())
        >>> sum(engine.simulate(100, Random(1)).values())
        100
        """
        play, bits = self.playouts.play, rng.getrandbits
        counted = Counter(play(bits) for _ in range(games))
        return {self._result(raw): count for raw, count in counted.items()}

    def random_games(self, games: int, rng: Random) -> Iterator[Playout]:
        """Plays games at random and keeps the log of each."""
        play, bits, result = self.playouts.play_logged, rng.getrandbits, self._result
        for _ in range(games):
            raw, log = play(bits)
            yield Playout(result(raw), log)

    def moves(self, log: RawLog) -> list[Move]:
        """The moves a log stands for."""
        raw = self.raw_start
        found: list[Move] = []
        for number, *spoken, value in log:
            choice = self.choices[number]
            assert raw[0] == number, "the log is of another game"
            if choice.map is not None:
                each = entries(choice.map)(value)
                found.append(tuple((seat, choice.decode(each[seat])) for seat in choice.seats(raw)))
            else:
                seat = spoken[0] if spoken else choice.seats(raw)[0]
                found.append(((seat, choice.decode(value)),))
            raw = self.raw_step(raw, spoken[0] if spoken else CHANCE, value)
        return found
