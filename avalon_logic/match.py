"""A game between named players, as a server keeps it: views, options and moves are plain JSON with names for seats.

A match is a value: every move gives a new one. Saved, it is a record that `avalon replay` reads, the configuration and
every card in it, with one field more (`saved`) for what has begun and is no event yet.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from avalon_logic.configuration import Configuration, engine_of
from avalon_logic.json_values import value_from_json, value_to_json
from avalon_logic.records import Record, RecordError, record_from_json
from avalon_logic.saving import played_record, replayed
from rules_dsl import Game, Value
from rules_dsl import model as m
from rules_dsl.play import CHANCE, IllegalMove, Observation, Pending
from rules_dsl.types import MapType, PlayerType, Type
from rules_dsl.walk import reads, statements


@dataclass(frozen=True)
class Match:
    """A game and the names at the table, in seating order."""

    configuration: Configuration
    names: tuple[str, ...]
    game: Game = field(repr=False)

    @staticmethod
    def start(
        configuration: Configuration,
        names: Sequence[str],
        seed: int | None = 0,
        chance: Mapping[str, Any] | None = None,
    ) -> Match:
        """A new match; raises `Refused` for a table the rules refuse and `RecordError` for names that do not fit.

        `chance` gives what is drawn, as JSON: {"role": {"Ann": "merlin", ...}, "leader": "Ann"}; the rest comes from the
        seed, or without one (None) from `draw`.

        >>> match = Match.start(Configuration("avalon", 5), ["Ann", "Bob", "Cid", "Dan", "Eve"], seed=7)
        >>> match.view(None)["awaits"]["choice"]
        'team'
        """
        engine = engine_of(configuration)
        names = tuple(names)
        if len(set(names)) != len(names) or len(names) != configuration.players:
            raise RecordError(f"{configuration.players} different names are needed, not: {', '.join(names)}")
        drawn = {c.choice.variable: c.type for c in engine.choices if c.kind == "chance"}
        record = Record(configuration, names)
        given: list[tuple[str, Value]] = []
        for name, data in (chance or {}).items():
            if name not in drawn:
                raise RecordError(f"'{name}' is not drawn by chance; {', '.join(sorted(drawn))} is")
            given.append((name, value_from_json(drawn[name], data, record, name)))
        return Match(configuration, names, Game.start(engine, seed, given))

    # --- asking ---

    @property
    def over(self) -> bool:
        return self.game.over

    def seat(self, name: str) -> int:
        """The seat of a player; raises `RecordError` if nobody goes by this name."""
        return Record(self.configuration, self.names).seat(name)

    def view(self, name: str | None) -> dict[str, Any]:
        """All that a player (None: a spectator) has seen and sees, and nothing more."""
        seat = None if name is None else self.seat(name)
        view, model = self.game.view(seat), self.game.engine.model
        made: dict[str, Any] = {
            "seat": name,
            "phase": self.game.state.phase,
            "over": self.game.over,
            "winner": self._out(model.result, self.game.winner) if self.game.winner is not None else None,
            "awaits": self._awaited(seat),
            "visible": {n: self._visible(n, v, seat) for n, v in view.visible.items()},
            "seen": [self._observed(o) for o in view.observations],
        }
        if view.chosen and self.game.pending is not None:
            made["chosen"] = self._out(m.choice_type(self.game.pending.choice), view.chosen[0])
        return made

    def legal(self, name: str) -> list[Any]:
        """What a player may choose now; nothing if it is not his turn."""
        awaited = self.game.pending
        if awaited is None:
            return []
        type_ = m.choice_type(awaited.choice)
        return [self._out(type_, v) for v in self.game.legal(self.seat(name))]

    # --- playing ---

    def choose(self, name: str, data: Any) -> Match:
        """The match after a player's choice; raises `IllegalMove` if the rules refuse it, `RecordError` if it is none.

        >>> match = Match.start(Configuration("avalon", 5), ["Ann", "Bob", "Cid", "Dan", "Eve"], chance={"leader": "Cid"})
        >>> match.choose("Cid", ["Ann", "Cid"]).view("Ann")["visible"]["team"]
        ['Ann', 'Cid']
        >>> match.choose("Cid", ["Ann"])
        Traceback (most recent call last):
        ...
        rules_dsl.play.IllegalMove: the team has the wrong size for this quest
        """
        return self._chosen(self.seat(name), data)

    def draw(self, data: Any) -> Match:
        """The match after chance was told what came up (in a match without a seed)."""
        return self._chosen(CHANCE, data)

    def _chosen(self, seat: int, data: Any) -> Match:
        awaited = self.game.pending
        if awaited is None:
            raise IllegalMove("the game is over")
        if seat not in awaited.seats:
            who = "chance" if seat == CHANCE else self.names[seat]
            raise IllegalMove(f"{who} has nothing to choose now", choice=awaited.choice)
        record = Record(self.configuration, self.names)
        value = value_from_json(m.choice_type(awaited.choice), data, record, awaited.choice.variable)
        return replace(self, game=self.game.choose(seat, value))

    def say(self, speech: str, said: Mapping[str, Any]) -> Match:
        """The match after something was said aloud: say("says", {"by": "Ann", "about": "Dan", "value": "evil"})."""
        declared = self.game.engine.model.speeches.get(speech)
        if declared is None:
            raise RecordError(f"nobody can say '{speech}'")
        record = Record(self.configuration, self.names)
        names = [name for name, _ in declared.parameters]
        if set(said) != set(names):
            raise RecordError(f"'{speech}' takes: {', '.join(names)}")
        values = [value_from_json(type_, said[name], record, name) for name, type_ in declared.parameters]
        return replace(self, game=self.game.say(speech, *values))

    # --- saving ---

    def to_json(self) -> dict[str, Any]:
        """The match as a record with everything in it, secrets too: for the server, not for the players."""
        return played_record(self.configuration, self.names, self.game)

    @staticmethod
    def from_json(data: Mapping[str, Any], paths: Iterable[Path] = ()) -> Match:
        """The match a record stands for, played again; raises `RecordError` saying where it is none.

        >>> match = Match.start(Configuration("avalon", 5), ["Ann", "Bob", "Cid", "Dan", "Eve"], seed=7)
        >>> Match.from_json(match.to_json()) == match
        True
        """
        record = record_from_json(dict(data), tuple(paths))
        if record.saved and "roles" not in data:  # the rulebook's own deck, and not the one that was dealt
            record = replace(record, configuration=replace(record.configuration, roles=None))
        return Match(record.configuration, record.names, replayed(engine_of(record.configuration), record))

    # --- JSON ---

    def _out(self, type_: Type, value: Value) -> Any:
        return value_to_json(type_, value, self.names)

    def _visible(self, name: str, value: Value, seat: int | None) -> Any:
        """A visible variable; of a map of choices only what was chosen."""
        variable = self.game.engine.model.variables[name]
        if variable.audience.kind == "own" and isinstance(variable.type, MapType):
            return self._out(variable.type.value, value)
        by = self.game.chosen.get(name)
        made = self._out(variable.type, value)
        if (
            isinstance(variable.type, MapType)
            and isinstance(variable.type.key, PlayerType)
            and by is not None
        ):
            return made if CHANCE in by else {n: v for n, v in made.items() if self.names.index(n) in by}
        return made

    def _observed(self, seen: Observation) -> dict[str, Any]:
        made: dict[str, Any] = {"phase": seen.phase, "kind": seen.kind}
        if seen.kind == "phase":
            return made
        model = self.game.engine.model
        if seen.kind == "said":
            assert isinstance(seen.value, tuple)
            parameters = model.speeches[seen.name].parameters
            values = {n: self._out(t, v) for (n, t), v in zip(parameters, seen.value, strict=True)}
            return {**made, "name": seen.name, "value": values}
        made["name"] = seen.name
        if seen.seat is not None:
            made["by" if seen.kind == "choice" and not self._drawn(seen) else "to"] = self.names[seen.seat]
        made["value"] = self._out(_type_of(model, seen), seen.value)
        return made

    def _drawn(self, seen: Observation) -> bool:
        """Was this drawn by chance, such as the card a seat was dealt?"""
        choices = self.game.engine.model.phases[seen.phase].choices
        return any(c.variable == seen.name and c.chooser.kind == "chance" for c in choices)

    def _awaited(self, seat: int | None) -> dict[str, Any] | None:
        """What is awaited and of whom, as far as this seat can know it: who names Merlin, say, is a secret."""
        awaited = self.game.pending
        if awaited is None:
            return None
        mine = seat is not None and seat in awaited.seats
        if self._open(awaited, seat):
            by = [self.names[s] for s in awaited.seats if s != CHANCE]
            return {"choice": awaited.choice.variable, "by": by}
        if mine and seat is not None:
            return {"choice": awaited.choice.variable, "by": [self.names[seat]]}
        return {"choice": None, "by": None}

    def _open(self, awaited: Pending, seat: int | None) -> bool:
        """Does what a seat sees decide which choice of the phase is awaited, and of whom?"""
        model = self.game.engine.model
        choices = model.phases[awaited.phase].choices[: self.game.state.step + 1]
        asked = [c.when for c in choices]
        asked += [e for c in choices for e in (c.chooser.who, c.chooser.domain, c.chooser.condition)]
        read = {r for e in asked if e is not None for r in reads(e, model.definitions)}
        return read <= set(self.game.engine.visible(self.game.state, seat)) - {
            n for n in read if model.variables[n].audience.kind == "own"
        }


def _type_of(model: m.Model, seen: Observation) -> Type:
    """The type of what was seen."""
    if seen.kind == "result":
        return model.result
    if seen.kind == "shown":
        body = statements(model.phases[seen.phase].body)
        return next(s.value.type for s in body if isinstance(s, m.Show) and s.name == seen.name)
    declared = model.variables[seen.name]
    if seen.kind == "choice":
        choice = next((c for c in model.phases[seen.phase].choices if c.variable == seen.name), None)
        if choice is not None:
            own = choice.audience.kind == "own" and choice.chooser.kind != "each" and seen.seat is not None
            return choice.type.value if own and isinstance(choice.type, MapType) else m.choice_type(choice)
    return declared.type
