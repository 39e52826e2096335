"""A game of any rulebook written down and read again: by the replay, by the worlds of every seat, by what explains them.

`written` plays a random game on the reference and gives the record; the other functions hold a record against the game
it was made from. The worlds and the explanations must leave the same deals.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random

import z3  # type: ignore[import-untyped]

from avalon_logic.configuration import Configuration
from avalon_logic.deduction.hearing import listen
from avalon_logic.following import Player
from avalon_logic.recording import events_of, has_heading
from avalon_logic.records import Record, record_from_json, record_to_json, value_out
from avalon_logic.typed_records import record_from_text, record_to_text
from rules_dsl import Model, Value, compile_python, reference
from rules_dsl import model as m
from rules_dsl.arrays import Machine, compile_arrays, grant
from rules_dsl.arrays.visits import Tour, Visit, tour_from, visit
from rules_dsl.play import CHANCE, Move, Observation, State, Step
from rules_dsl.smt.follow import Tracker
from rules_dsl.smt.symbolic import constant, same
from rules_dsl.smt.terms import and_, or_, term
from rules_dsl.smt.unroll import finite_solver
from rules_dsl.types import BOOL, MapType
from tests.differential.knowledge import legal_moves

NAMES = ("Ann", "Bob", "Cid", "Dan", "Eve")


@dataclass(frozen=True)
class Written:
    """A game and its record. `dealt` is the variable of the first deal, and `cards` what was dealt."""

    model: Model
    record: Record
    steps: tuple[Step, ...]
    dealt: str | None
    cards: Value


def written(model: Model, rng: Random, path: Path | None = None, most: int = 40) -> Written:
    """A random game of the reference, to its end or for so many choices, with everything anybody saw."""
    first = reference.start(model)
    played: list[tuple[State, Move, Step]] = []
    step = first
    while not step.state.over and len(played) < most:
        state = step.state
        move = rng.choice(legal_moves(model, state))
        step = reference.step(model, state, move)
        played.append((state, move, step))
    names = NAMES[: model.players.count]
    deal: dict[str, str] = {}
    dealt, cards = None, None
    if played:
        state, move, _ = played[0]
        choice = model.phases[state.phase].choices[state.step]
        if has_heading(choice):
            dealt, cards = choice.variable, move[0][1]
            assert isinstance(choice.type, MapType) and isinstance(cards, tuple)
            deal = {n: value_out(choice.type.value, c, names) for n, c in zip(names, cards, strict=True)}
    winner = None if not step.state.over or step.state.result is None else str(step.state.result)
    configuration = Configuration(model.name, len(names), paths=() if path is None else (path,))
    events = events_of(model, first, played, names, sights=True)
    record = Record(configuration, names, events, deal, winner)
    return Written(model, record, (first, *(s for _, _, s in played)), dealt, cards)


def read_back(game: Written) -> Record:
    """The record after JSON and back; the same from its typed form, where it has one."""
    again = record_from_json(json.loads(json.dumps(record_to_json(game.record))))
    assert [(e.phase, e.values, e.by) for e in again.events] == [
        (e.phase, e.values, e.by) for e in game.record.events
    ]
    text = record_to_text(game.record)
    typed = record_from_text(text, lambda _: game.model)
    assert [(e.phase, e.values, e.by) for e in typed.events] == [
        (e.phase, e.values, e.by) for e in game.record.events
    ], text
    return replace(again, configuration=game.record.configuration)


def replayed(game: Written, record: Record) -> None:
    """The replay finds the record legal and comes to where the game came."""
    player = Player(compile_python(game.model), record)
    found = player.run()
    assert found is None, (found, record_to_text(record))
    last = game.steps[-1].state
    ends = {(state.over, state.result) for state, _ in player.ways}
    assert (last.over, last.result) in ends
    assert ends == {(last.over, last.result)}, ends


def visits_of(game: Written, record: Record, viewer: int | None) -> list[Visit]:
    """What a seat hears of the record, the deal first."""
    heard: list[Visit] = []
    if game.dealt is not None:
        assert isinstance(game.cards, tuple)
        phase = next(
            p.name for p in game.model.phases.values() for c in p.choices if c.variable == game.dealt
        )
        own = (
            () if viewer is None else (Observation(phase, "choice", game.dealt, viewer, game.cards[viewer]),)
        )
        heard.append(Visit(-1, phase, {game.dealt: own}))
    for number, event in enumerate(record.events):
        heard.append(replace(listen(event, record, game.model, viewer), index=number))
    if record.winner is not None and heard:
        heard[-1] = replace(heard[-1], result=(game.steps[-1].state.result,))
    return heard


def deals_of(game: Written) -> list[Value]:
    """Every deal there is; one that is none if the game does not begin with a deal."""
    if game.dealt is None:
        return [None]
    state = game.steps[0].state
    return list(reference.options(game.model, state, CHANCE))


def by_arrays(game: Written, machine: Machine, visits: list[Visit], viewer: int | None) -> list[Value]:
    """The deals that are possible by the worlds after the last visit; the true one must be after every visit."""
    tour = tour_from(machine, viewer)
    possible = deals_of(game)
    for seen in visits:
        tour = visit(tour, seen)
        possible = [deal for deal in possible if _holds(game, tour, deal)]
        assert game.cards in possible, seen
    return possible


def _holds(game: Written, tour: Tour, deal: Value) -> bool:
    if game.dealt is None:
        return any(b.possible for b in tour.current())
    type_ = game.model.variables[game.dealt].type
    fact = m.Apply("eq", (m.Variable(game.dealt, type_), m.Literal(deal, type_)), BOOL)
    return any(grant(b, fact).possible for b in tour.current())


def by_terms(game: Written, visits: list[Visit], viewer: int | None) -> list[Value]:
    """The same by what explains deductions."""
    tracker = Tracker(game.model, viewer)
    paths = tracker.follow(visits)
    solver = finite_solver()
    solver.add(term(or_(and_(t.term for t in p.terms) for p in paths)))
    found: list[Value] = []
    for deal in deals_of(game):
        solver.push()
        if game.dealt is not None:
            type_ = game.model.variables[game.dealt].type
            solver.add(term(same(tracker.opening[0].values[game.dealt], constant(deal, type_))))
        if solver.check() == z3.sat:
            found.append(deal)
        solver.pop()
    return found


def round_trip(model: Model, rng: Random, most: int = 40) -> Written:
    """Plays a game, writes it down and reads it everywhere."""
    game = written(model, rng, most=most)
    record = read_back(game)
    replayed(game, record)
    machine = compile_arrays(model)
    for viewer in (None, *range(model.players.count)):
        visits = visits_of(game, record, viewer)
        deals = by_arrays(game, machine, visits, viewer)
        assert by_terms(game, visits, viewer) == deals, (viewer, record_to_text(record))
    return game
