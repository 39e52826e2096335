"""A game being played: an immutable history, built on an engine.

`Game.start` begins one; `choose`, `play` and `say` give a new game and leave the old one as it was. Chance is
resolved at once from the seed, so the same seed and the same choices give the same game. Choices made at the
same time are collected seat by seat and nobody else learns of one before all have chosen. `view` is what one
seat has seen, and nothing more.

    >>> from rules_dsl import compile_python
    >>> from rules_dsl.example import example_model
    >>> engine = compile_python(example_model())
    >>> game = Game.start(engine, seed=1, chance={"seer": 2})
    >>> game.pending.choice.variable, game.pending.seats
    ('nod', (0, 1))
    >>> game = game.choose(0, True)
    >>> game.view(1).observations[-1].name
    'hint'
    >>> game = game.choose(1, False)
    >>> game.state.phase, game.legal(2)
    ('guess', (0, 1))
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any

from rules_dsl import model as m
from rules_dsl.chosen import Chosen, awaited_variables, chosen_after, chosen_at_start
from rules_dsl.model import Value
from rules_dsl.play import CHANCE, IllegalMove, Move, Observation, Pending, State, Step
from rules_dsl.python.engine import Engine
from rules_dsl.values import from_json, is_value, to_json


@dataclass(frozen=True, slots=True)
class Played:
    """A choice made, by all who had to choose."""

    move: Move


@dataclass(frozen=True, slots=True)
class Said:
    """Something said aloud; it changes nothing."""

    speech: str
    values: tuple[Value, ...]


Event = Played | Said


@dataclass(frozen=True, slots=True)
class View:
    """What a seat knows at first hand (None: a spectator). Who else saw something is not part of it.

    `visible` leaves out what nobody has chosen yet (or was passed over), and what others chose where the seat did not.
    `chosen` is the seat's own choice while it waits for those of others.
    """

    seat: int | None
    observations: tuple[Observation, ...]
    visible: Mapping[str, Value]
    chosen: tuple[Value, ...] = ()


@dataclass(frozen=True)
class Game:
    """A game and all that has happened in it. Compares and hashes by what happened, not by the engine."""

    engine: Engine = field(compare=False, repr=False)
    state: State
    seed: int | None
    given: tuple[tuple[str, Value], ...]
    events: tuple[Event, ...] = ()
    waiting: tuple[tuple[int, Value], ...] = ()
    observations: tuple[Observation, ...] = ()
    breaches: tuple[m.Require, ...] = field(default=(), compare=False, repr=False)
    chosen: Chosen = field(default_factory=dict, compare=False, repr=False)

    @staticmethod
    def start(
        engine: Engine,
        seed: int | None = 0,
        chance: Mapping[str, Value] | Iterable[tuple[str, Value]] = (),
    ) -> Game:
        """A new game. `chance` gives outcomes of chance by the name of what is drawn, for the first time it is
        drawn or, as pairs, for the first times; the rest comes from the seed. Without a seed (None) what is not
        given waits for `choose(CHANCE, value)`.

        >>> from rules_dsl import compile_python
        >>> from rules_dsl.example import example_model
        >>> engine = compile_python(example_model())
        >>> Game.start(engine, chance={"coin": ("copper", "gold", "copper")}).view(1).visible["coin"]
        'gold'
        """
        pairs = tuple(chance.items() if isinstance(chance, Mapping) else chance)
        drawn = {c.choice.variable for c in engine.choices if c.kind == "chance"}
        for name, _ in pairs:
            if name not in drawn:
                known = ", ".join(sorted(drawn)) or "nothing"
                raise ValueError(f"'{name}' is not drawn by chance; {known} is")
        return _with_chance(_before_all(engine, seed, pairs))

    # --- asking ---

    @property
    def over(self) -> bool:
        return self.state.over

    @property
    def winner(self) -> Value:
        """The result, or None while the game goes on or when it ended without one."""
        return self.state.result

    @property
    def pending(self) -> Pending | None:
        """Who still has to choose what now, or None when the game is over."""
        awaited = self.engine.pending(self.state)
        if awaited is None or not self.waiting:
            return awaited
        done = {seat for seat, _ in self.waiting}
        return replace(awaited, seats=tuple(seat for seat in awaited.seats if seat not in done))

    def legal(self, seat: int) -> tuple[Value, ...]:
        """What this seat may choose now, the least first; nothing if it is not its turn."""
        awaited = self.pending
        if awaited is None or seat not in awaited.seats:
            return ()
        return tuple(self.engine.options(self.state, seat))

    def proper(self, seat: int) -> tuple[Value, ...]:
        """Those of the legal values that break no rule of kind "ought" either."""
        awaited = self.pending
        if awaited is None or seat not in awaited.seats:
            return ()
        return tuple(self.engine.proper_options(self.state, seat))

    def view(self, seat: int | None) -> View:
        """All that a seat (None: a spectator) has seen and sees."""
        seen = tuple(_without_others(o, seat) for o in self.observations if o.seen_by(seat))
        chosen = tuple(value for by, value in self.waiting if by == seat)
        visible = self.engine.visible(self.state, seat)
        return View(seat, seen, {n: v for n, v in visible.items() if self._has_value(n, seat)}, chosen)

    def _has_value(self, variable: str, seat: int | None) -> bool:
        """Has somebody given this variable the value it has (of a map of which a seat sees its own entry: the seat)?"""
        model = self.engine.model
        if variable not in awaited_variables(model):
            return True
        by = self.chosen.get(variable)
        if by is None:
            return False
        own = model.variables[variable].audience.kind == "own"
        return not own or CHANCE in by or seat in by

    # --- playing ---

    def choose(self, seat: int, value: Value) -> Game:
        """The game after one seat's choice; raises `IllegalMove` if the rules refuse it.

        Where several choose at the same time the choice waits until the last of them has chosen.
        """
        awaited = self.pending
        if awaited is None:
            raise IllegalMove("the game is over")
        if seat not in awaited.seats:
            raise IllegalMove(
                f"seat {seat} does not choose {awaited.choice.variable} now", choice=awaited.choice
            )
        self.engine.check_value(self.engine.encode(self.state), seat, value)
        chosen = tuple(sorted((*self.waiting, (seat, value)), key=lambda entry: entry[0]))
        if awaited.choice.chooser.kind == "each" and len(awaited.seats) > 1:
            return replace(self, waiting=chosen)
        return self.play(chosen)

    def play(self, move: Move | Mapping[int, Value]) -> Game:
        """The game after a whole move: the choice of every seat that has to choose."""
        made: Move = tuple(sorted(move.items())) if isinstance(move, Mapping) else move
        return _with_chance(_after(self, made, self.engine.step(self.state, made)))

    def say(self, speech: str, *values: Value) -> Game:
        """The game after something was said for all to hear.

        >>> from rules_dsl import compile_python
        >>> from rules_dsl.example import example_model
        >>> engine = compile_python(example_model())
        >>> Game.start(engine).say("claims", 0, "gold").view(None).observations[-1].value
        (0, 'gold')
        """
        declared = self.engine.model.speeches.get(speech)
        if declared is None:
            known = ", ".join(self.engine.model.speeches) or "nothing"
            raise ValueError(f"nobody can say '{speech}'; what can be said: {known}")
        if len(values) != len(declared.parameters):
            raise ValueError(f"'{speech}' takes {len(declared.parameters)} values, not {len(values)}")
        for (name, type_), value in zip(declared.parameters, values, strict=True):
            if not is_value(type_, value, self.engine.model.players.count):
                raise ValueError(f"{value!r} is not a value of {type_} for {name}")
        heard = Observation(self.state.phase, "said", speech, None, values)
        return replace(
            self, events=(*self.events, Said(speech, values)), observations=(*self.observations, heard)
        )

    # --- JSON ---

    def to_json(self) -> dict[str, Any]:
        """The game as plain JSON: the seed, and everything that happened, chance included."""
        model = self.engine.model
        events: list[dict[str, Any]] = []
        state = self.engine.start().state
        for event in self.events:
            if isinstance(event, Said):
                types = [type_ for _, type_ in model.speeches[event.speech].parameters]
                said = [to_json(t, v) for t, v in zip(types, event.values, strict=True)]
                events.append({"say": event.speech, "values": said})
            else:
                events.append(
                    {"choice": self._choice(state).variable, "by": self._written(state, event.move)}
                )
                state = self.engine.step(state, event.move).state
        drawn = {c.choice.variable: c.choice.type for c in self.engine.choices if c.kind == "chance"}
        return {
            "game": model.name,
            "modules": list(model.modules),
            "players": model.players.count,
            "seed": self.seed,
            "given": [[name, to_json(drawn[name], value)] for name, value in self.given],
            "events": events,
            "waiting": self._written(self.state, self.waiting) if self.waiting else [],
        }

    def _choice(self, state: State) -> m.Choice:
        awaited = self.engine.pending(state)
        if awaited is None:
            raise ValueError("the game is over")
        return awaited.choice

    def _written(self, state: State, move: Move) -> list[list[Any]]:
        type_ = m.choice_type(self._choice(state))
        return [[seat, to_json(type_, value)] for seat, value in move]

    @staticmethod
    def from_json(engine: Engine, data: Mapping[str, Any]) -> Game:
        """The game a piece of JSON stands for, played again; raises `ValueError` saying where if it is none."""
        try:
            model = engine.model
            named = (data["game"], list(data["modules"]), data["players"])
            if named != (model.name, list(model.modules), model.players.count):
                raise ValueError(f"this is a game of {named[0]} for {named[2]} players, not of {engine!r}")
            drawn = {c.choice.variable: c.choice.type for c in engine.choices if c.kind == "chance"}
            given = tuple(
                (name, from_json(drawn[name], value, model.players.count)) for name, value in data["given"]
            )
            seed, events, waiting = data["seed"], list(data["events"]), list(data["waiting"])
            if seed is not None and not isinstance(seed, int):
                raise ValueError(f"the seed is {seed!r}, not a number")
        except (KeyError, TypeError) as error:
            raise ValueError(f"this is not a game: {error!r}") from None
        game = _before_all(engine, None, ())
        for number, event in enumerate(events, 1):
            try:
                game = game._replayed(event)
            except (ValueError, KeyError, TypeError, IllegalMove) as error:
                raise ValueError(f"event {number}: {error}") from None
        try:
            for seat, value in waiting:
                type_ = m.choice_type(game._choice(game.state))
                game = game.choose(seat, from_json(type_, value, model.players.count))
        except (ValueError, TypeError, IllegalMove) as error:
            raise ValueError(f"the choices that wait: {error}") from None
        return replace(game, seed=seed, given=given)

    def _replayed(self, event: Mapping[str, Any]) -> Game:
        players = self.engine.model.players.count
        if "say" in event:
            declared = self.engine.model.speeches.get(event["say"])
            types = [type_ for _, type_ in declared.parameters] if declared is not None else []
            values = [from_json(t, v, players) for t, v in zip(types, event["values"], strict=False)]
            return self.say(event["say"], *values)
        choice = self._choice(self.state)
        if event["choice"] != choice.variable:
            raise ValueError(f"{choice.variable} is chosen next, not {event['choice']}")
        type_ = m.choice_type(choice)
        return self.play(tuple((seat, from_json(type_, value, players)) for seat, value in event["by"]))


def _before_all(engine: Engine, seed: int | None, given: tuple[tuple[str, Value], ...]) -> Game:
    """The game before anybody, chance too, has chosen."""
    first = engine.start()
    chosen = chosen_at_start(engine.model, first.observations, first.state)
    return Game(engine, first.state, seed, given, observations=first.observations, chosen=chosen)


def _without_others(observation: Observation, seat: int | None) -> Observation:
    """The observation without who else made it, which may be a secret itself."""
    if observation.to is None or seat is None:
        return observation
    return replace(observation, to=frozenset({seat}))


def _after(game: Game, move: Move, step: Step) -> Game:
    return replace(
        game,
        state=step.state,
        events=(*game.events, Played(move)),
        waiting=(),
        observations=(*game.observations, *step.observations),
        breaches=(*game.breaches, *step.breaches),
        chosen=chosen_after(game.engine.model, game.chosen, game.state, move, step.observations, step.state),
    )


def _with_chance(game: Game) -> Game:
    """The game when nature has chosen as long as it is nature's turn."""
    engine = game.engine
    while not game.state.over:
        raw = engine.encode(game.state)
        choice = engine.choices[raw[0]]
        if choice.kind != "chance":
            break
        place = next((i for i, (n, _) in enumerate(game.given) if n == choice.choice.variable), None)
        if place is not None:
            value = game.given[place][1]
            game = replace(game, given=(*game.given[:place], *game.given[place + 1 :]))
        elif game.seed is None:
            break
        else:
            # a stream of its own for every draw, so that replaying a part does not depend on how it was drawn
            bits = Random(f"{game.seed}/{len(game.events)}").getrandbits
            value = choice.decode(choice.drawn(raw, bits))
        move: Move = ((CHANCE, value),)
        game = _after(game, move, engine.step(game.state, move))
    return game
