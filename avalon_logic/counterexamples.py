"""A game the prover found, as people read it: a record `avalon replay` accepts, and a table of its events.

Takes a family and a game in the values of its model; seats get first names. The ghosts of the claims stay out of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from avalon_logic.configuration import Configuration
from avalon_logic.library import open_model
from avalon_logic.recording import events_of
from avalon_logic.records import Record, as_key, key_out, value_out
from proofs.families import Family
from proofs.replays import replay
from rules_dsl import Value, settle
from rules_dsl import model as m
from rules_dsl.play import CHANCE, State
from rules_dsl.smt import Game
from rules_dsl.types import MapType, PlayerType
from rules_dsl.walk import statements

NAMES = ("William", "Thomas", "Laura", "Justine", "Eric", "Ann", "Bob", "Cid", "Dan", "Eve")
ROLES = "role"


@dataclass(frozen=True)
class Row:
    """One event of a game, for a table."""

    number: int
    phase: str
    who: str
    what: str
    changed: tuple[str, ...]
    clauses: tuple[str, ...]


def all_params(family: Family, game: Game) -> dict[str, Value]:
    """The parameters of the game, those fixed for the whole family too."""
    return {**family.fixed, **game.params}


def names_of(family: Family, game: Game) -> tuple[str, ...]:
    players = all_params(family, game).get(m.PLAYERS, family.model.players.count)
    assert isinstance(players, int)
    return NAMES[:players] + tuple(f"Seat{i + 1}" for i in range(len(NAMES), players))


def modules_in(family: Family, game: Game) -> tuple[str, ...]:
    """The modules of rules that are in play."""
    params = all_params(family, game)
    return (*family.modules, *(x for x in family.open_modules if params.get(f"with_{x}")))


def rulings_in(family: Family, game: Game) -> dict[str, str]:
    """The rulings that differ from the books' defaults."""
    model = open_model(family.game, modules_in(family, game), paths=family.paths)
    usual = settle(model, {}).params
    params = all_params(family, game)
    return {
        name: str(params[name])
        for name, param in model.params.items()
        if param.kind == "ruling" and name in params and params[name] != usual[name]
    }


def record_of(family: Family, game: Game, title: str = "") -> Record:
    """The game as a record."""
    names = names_of(family, game)
    params = all_params(family, game)
    played = settle(family.model, game.params).model
    first, *steps = replay(family.model, game)
    events = events_of(played, first, zip(game.states, game.moves, steps, strict=False), names)
    roles, deal = _cards(family, params, game, names)
    configuration = Configuration(
        family.game,
        len(names),
        modules_in(family, game),
        roles,
        rulings_in(family, game),
        family.paths,
    )
    last = game.states[-1]
    winner = None
    if last.over and last.result is not None:
        winner = key_out(as_key(played.result), last.result, names)
    return Record(configuration, names, events, deal, winner, title)


def _chosen(model: m.Model, choice: m.Choice, move: Any, names: tuple[str, ...]) -> Any:
    type_ = m.choice_type(choice)
    if choice.chooser.kind == "each":
        return {names[seat]: value_out(type_, value, names) for seat, value in move}
    return value_out(type_, move[0][1], names)


def _cards(
    family: Family, params: Mapping[str, Value], game: Game, names: tuple[str, ...]
) -> tuple[tuple[str, ...] | None, dict[str, str]]:
    """The deck and, once dealt, who has which card."""
    variables = dict(zip(family.model.variables, game.states[-1].values, strict=True))
    deck = params.get("deck")
    kind = family.model.variables[ROLES].type if ROLES in family.model.variables else None
    if not isinstance(kind, MapType) or not isinstance(deck, tuple):
        return None, {}
    members = kind.value.members  # type: ignore[union-attr]
    roles = tuple(r for r, many in zip(members, deck, strict=True) for _ in range(int(many)))  # type: ignore[arg-type]
    dealt = variables[ROLES]
    assert isinstance(dealt, tuple)
    return roles, {n: str(r) for n, r in zip(names, dealt, strict=False)} if game.moves else {}


def rows_of(family: Family, game: Game) -> Iterator[Row]:
    """The events of the game, what each of them changed and which clauses it used."""
    names = names_of(family, game)
    played = settle(family.model, game.params).model
    ghosts = {n for n, v in played.variables.items() if v.origin.module in family.watchers}
    for t, move in enumerate(game.moves):
        state = game.states[t]
        choice = played.phases[state.phase].choices[state.step]
        seats = [seat for seat, _ in move if seat != CHANCE]
        who = (
            "chance"
            if not seats
            else "all"
            if len(seats) == len(names)
            else " ".join(names[s] for s in seats)
        )
        told = f"{choice.variable} {_told(_chosen(played, choice, move, names))}"
        changed = tuple(_changes(played, state, game.states[t + 1], names, ghosts | {choice.variable}))
        yield Row(t + 1, state.phase, who, told, changed, clauses_of(played, state, game.states[t + 1]))


def _told(value: Any) -> str:
    if isinstance(value, dict):
        if value and all(isinstance(v, bool) for v in value.values()):
            yes = [n for n, v in value.items() if v]
            return f"by {' '.join(yes)}" if yes else "by nobody"
        return " ".join(f"{n}={v}" for n, v in value.items())
    if isinstance(value, list):
        return " ".join(str(v) for v in value) or "nobody"
    return "none" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


def _changes(
    model: m.Model, before: State, after: State, names: tuple[str, ...], left_out: set[str]
) -> Iterator[str]:
    for (name, variable), old, new in zip(model.variables.items(), before.values, after.values, strict=True):
        if old == new or name in left_out or variable.kind == "speaker":
            continue
        if isinstance(variable.type, MapType) and not isinstance(variable.type.key, PlayerType):
            assert isinstance(old, tuple)
            assert isinstance(new, tuple)
            low = getattr(variable.type.key, "low", 0)
            for i, (x, y) in enumerate(zip(old, new, strict=True)):
                if x != y:
                    yield f"{name} {i + low}: {_told(value_out(variable.type.value, y, names))}"
        else:
            yield f"{name}: {_told(value_out(variable.type, new, names))}"
    if after.over:
        yield f"over, {after.result or 'nobody'} wins"


def clauses_of(model: m.Model, before: State, after: State) -> tuple[str, ...]:
    """The clauses of the choice made and of what it requires."""
    choice = model.phases[before.phase].choices[before.step]
    found = [*choice.origin.cites, *(c for r in choice.requires for c in r.origin.cites)]
    if after.over:
        for statement in statements(model.phases[after.phase].body):
            if isinstance(statement, m.Win | m.If):
                found += statement.origin.cites
    return tuple(dict.fromkeys(found))
