"""A game that was played as a record, and back: everything that happened, secret choices and chance too.

The record is one that `avalon replay` reads. What has begun and is no whole event yet (choices of a phase that goes on,
or of seats that wait for others) stands beside the events under `saved`, with the seed of what chance has still to draw.
What was said between two choices of one phase is written after that phase.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from avalon_logic.configuration import Configuration
from avalon_logic.fields import fields_of
from avalon_logic.json_values import value_from_json, value_to_json
from avalon_logic.records import Event, Record, RecordError, record_to_json
from rules_dsl import Engine, Game
from rules_dsl import model as m
from rules_dsl.game import Said
from rules_dsl.play import CHANCE, IllegalMove, Move, Observation, State
from rules_dsl.types import MapType

Entry = dict[str, Any]


def played_record(configuration: Configuration, names: Sequence[str], game: Game) -> dict[str, Any]:
    """The game as the JSON of a record."""
    return _Writer(configuration, tuple(names), game).record()


class _Writer:
    """Gathers the choices and published values of each visit of a phase into an event."""

    def __init__(self, configuration: Configuration, names: tuple[str, ...], game: Game) -> None:
        self.configuration, self.names, self.game = configuration, names, game
        self.model = game.engine.model
        self.events: list[Entry] = []
        self.deal: Entry = {}
        self.visit: Entry = {}  # what has happened since a phase was entered
        self.talk: list[Entry] = []  # said meanwhile
        self.unsaid: set[str] = set()  # published more than once in this visit, so one value does not tell
        self.spoke: list[list[Any]] = []  # who spoke for several, where `by` says something else

    def record(self) -> dict[str, Any]:
        engine = self.game.engine
        first = engine.start()
        state = first.state
        self._observe(first.observations)
        for event in self.game.events:
            if isinstance(event, Said):
                self._say(event)
                continue
            self._choice(state, event.move)
            step = engine.step(state, event.move)
            self._observe(step.observations)
            state = step.state
        begun = self._begun(state)
        winner = None
        if state.over and state.result is not None:
            winner = value_to_json(self.model.result, state.result, self.names)
        made = record_to_json(Record(self.configuration, self.names, (), self.deal, winner))
        made["events"] = self.events
        saved: Entry = {"seed": self.game.seed}
        drawn = {c.choice.variable: c.choice.type for c in engine.choices if c.kind == "chance"}
        if self.game.given:
            saved["given"] = [[n, value_to_json(drawn[n], v, self.names)] for n, v in self.game.given]
        if begun:
            saved["begun"] = begun
        if self.spoke:
            saved["spoke"] = self.spoke
        made["saved"] = saved
        return made

    def _observe(self, observations: Sequence[Observation]) -> None:
        for seen in observations:
            if seen.kind == "phase":
                self._finish()
                self.visit = {"phase": seen.phase}
            elif seen.kind == "published" and seen.name not in self.unsaid:
                type_ = self.model.variables[seen.name].type
                value = value_to_json(type_, seen.value, self.names)
                if self.visit.setdefault(seen.name, value) != value:
                    del self.visit[seen.name]
                    self.unsaid.add(seen.name)

    def _finish(self) -> None:
        if len(self.visit) > 1:
            self.events.append(self.visit)
        self.events += self.talk
        self.visit, self.talk, self.unsaid = {}, [], set()

    def _say(self, said: Said) -> None:
        parameters = self.model.speeches[said.speech].parameters
        values = {
            n: value_to_json(t, v, self.names) for (n, t), v in zip(parameters, said.values, strict=True)
        }
        (self.talk if len(self.visit) > 1 else self.events).append({"phase": said.speech, **values})

    def _choice(self, state: State, move: Move) -> None:
        choice = self.model.phases[state.phase].choices[state.step]
        if choice.deal is not None and not self.deal and not self.events and len(self.visit) == 1:
            assert isinstance(choice.type, MapType)
            self.deal = value_to_json(choice.type, move[0][1], self.names)
            return
        self.visit[choice.variable] = self._made(choice, move)
        if choice.chooser.kind in ("player", "one"):
            name = self.names[move[0][0]]
            if self.visit.setdefault("by", name) != name and choice.chooser.kind == "one":
                self.spoke.append([len(self.events), choice.variable, name])

    def _made(self, choice: m.Choice, move: Move) -> Any:
        type_ = m.choice_type(choice)
        if choice.chooser.kind == "each":
            return {self.names[seat]: value_to_json(type_, value, self.names) for seat, value in move}
        return value_to_json(type_, move[0][1], self.names)

    def _begun(self, state: State) -> Entry:
        """What of a visit has happened when the game stands in the midst of it."""
        begun: Entry = {}
        if not state.over and ((state.step > 0 and len(self.visit) > 1) or self.game.waiting):
            begun = dict(self.visit)
            self.visit = {}
            if self.game.waiting:
                choice = self.model.phases[state.phase].choices[state.step]
                begun[choice.variable] = self._made(choice, self.game.waiting)
        self._finish()
        return begun


def replayed(engine: Engine, record: Record) -> Game:
    """The game a record stands for, played again; raises `RecordError` where it says too little or something else."""
    game = Game.start(engine, None)
    spoke = {(n, variable): name for n, variable, name in _listed(record.saved, "spoke", 3)}
    if record.deal:
        game = _dealt(game, record)
    for number, event in enumerate(record.events):
        game = _after(game, record, event, number, spoke)
    begun = record.saved.get("begun")
    if begun is not None:
        if not isinstance(begun, dict) or not isinstance(begun.get("phase"), str):
            raise RecordError("'begun' is an object with a 'phase'", "saved")
        values = {k: v for k, v in begun.items() if k not in ("phase", "by")}
        event = Event(begun["phase"], values, begun.get("by"), None, "what has begun")
        game = _after(game, record, event, len(record.events), spoke, whole=False)
    seed = record.saved.get("seed")
    if seed is not None and (not isinstance(seed, int) or isinstance(seed, bool)):
        raise RecordError(f"the seed is {seed!r}, not a number", "saved")
    drawn = {c.choice.variable: c.type for c in engine.choices if c.kind == "chance"}
    given = []
    for name, data in _listed(record.saved, "given", 2):
        if name not in drawn:
            raise RecordError(f"'{name}' is not drawn by chance", "saved")
        given.append((name, value_from_json(drawn[name], data, record, "saved")))
    game = replace(game, seed=seed, given=tuple(given))
    _compare(record, played_record(record.configuration, record.names, game))
    return game


def _listed(saved: Mapping[str, Any], name: str, size: int) -> list[list[Any]]:
    found = saved.get(name, [])
    if not isinstance(found, list) or not all(isinstance(x, list) and len(x) == size for x in found):
        raise RecordError(f"'{name}' is a list of lists of {size}", "saved")
    return found


def _dealt(game: Game, record: Record) -> Game:
    awaited = game.pending
    if awaited is None or awaited.choice.deal is None:
        raise RecordError("this game does not begin with a deal", "deal")
    value = value_from_json(awaited.choice.type, dict(record.deal), record, "deal")
    return _refused("deal", lambda: game.play(((CHANCE, value),)))


def _after(
    game: Game,
    record: Record,
    event: Event,
    number: int,
    spoke: Mapping[tuple[int, str], str],
    whole: bool = True,
) -> Game:
    """The game after one event; one that is not whole may leave out choices and seats."""
    model = game.engine.model
    if event.phase in model.speeches:
        values = {**event.values, **({"by": event.by} if event.by is not None else {})}
        said = [
            value_from_json(type_, values.get(name), record, event.where)
            for name, type_ in model.speeches[event.phase].parameters
        ]
        return game.say(event.phase, *said)
    if event.phase not in model.phases:
        raise RecordError(f"there is no event '{event.phase}'", event.where)
    known = [f.name for f in fields_of(model, event.phase) if not f.shown]
    for name in event.values:
        if name not in known:
            raise RecordError(f"a saved '{event.phase}' has no '{name}'", event.where)
    for choice in model.phases[event.phase].choices:
        if choice.variable not in event.values:
            continue
        awaited = game.pending
        if awaited is None or awaited.phase != event.phase or awaited.choice.variable != choice.variable:
            found = "the game is over" if awaited is None else f"'{awaited.choice.variable}' is chosen next"
            raise RecordError(f"'{choice.variable}' is not to be chosen: {found}", event.where)
        by = spoke.get((number, choice.variable), event.by)
        move = _move(game, awaited.seats, choice, event, by, record)
        if whole or tuple(seat for seat, _ in move) == awaited.seats or choice.chooser.kind != "each":
            game = _refused(event.where, lambda game=game, move=move: game.play(move))
        else:
            for seat, value in move:
                game = _refused(event.where, lambda g=game, s=seat, v=value: g.choose(s, v))
    return game


def _move(
    game: Game, seats: tuple[int, ...], choice: m.Choice, event: Event, by: str | None, record: Record
) -> Move:
    type_, data = m.choice_type(choice), event.values[choice.variable]
    if choice.chooser.kind == "each":
        if not isinstance(data, dict):
            raise RecordError(f"'{choice.variable}' is an object by player", event.where)
        made = ((record.seat(n), value_from_json(type_, v, record, event.where)) for n, v in data.items())
        return tuple(sorted(made, key=lambda entry: entry[0]))
    value = value_from_json(type_, data, record, event.where)
    if choice.chooser.kind == "one" and len(seats) > 1:
        if by is None:
            raise RecordError(f"who chose '{choice.variable}'? ('by')", event.where)
        return ((record.seat(by), value),)
    return ((seats[0], value),)


def _refused(where: str, play: Any) -> Game:
    try:
        made = play()
    except (IllegalMove, ValueError) as error:
        raise RecordError(str(error), where) from None
    assert isinstance(made, Game)
    return made


def _compare(record: Record, made: Mapping[str, Any]) -> None:
    """Everything a record says must be what the rules make of it."""
    said: list[Entry] = []
    for event in record.events:
        said.append({"phase": event.phase, **event.values, **({"by": event.by} if event.by else {})})
    for number, (mine, theirs) in enumerate(zip(said, made["events"], strict=False), 1):
        for name in {**mine, **theirs}:
            if mine.get(name) != theirs.get(name):
                raise RecordError(
                    f"'{name}' is {theirs.get(name)!r}, not {mine.get(name)!r}", f"event {number}"
                )
    if len(said) != len(made["events"]):
        raise RecordError(f"{len(made['events'])} events come of it, not {len(said)}", "events")
    if record.winner != made.get("winner"):
        raise RecordError(f"the winner is {made.get('winner')!r}, not {record.winner!r}", "winner")
    if (record.saved.get("begun") or {}) != made["saved"].get("begun", {}):
        raise RecordError(f"what has begun is {made['saved'].get('begun')!r}", "saved")
