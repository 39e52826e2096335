"""What a seat can know, twice: by trying every game on the reference, and by the NumPy back end from what it saw."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from random import Random

from rules_dsl import Model, Value, reference
from rules_dsl import model as m
from rules_dsl.arrays import Belief, compile_arrays, grant
from rules_dsl.arrays.follow import clumps, follow, follow_from
from rules_dsl.play import CHANCE, Move, Observation, State
from rules_dsl.types import BOOL, MapType, SetType, is_index
from rules_dsl.values import all_values

MOST_STATES = 3_000


class TooMany(Exception):
    """More games than are worth trying."""


def legal_moves(model: Model, state: State) -> list[Move]:
    awaited = reference.pending(model, state)
    assert awaited is not None
    per_seat = [[(seat, v) for v in reference.options(model, state, seat)] for seat in awaited.seats]
    if awaited.choice.chooser.kind == "one":
        return [(entry,) for entries in per_seat for entry in entries]
    return list(product(*per_seat))


def seen_by(observations: Sequence[Observation], viewer: int | None) -> tuple[Observation, ...]:
    return tuple(o for o in observations if o.seen_by(viewer))


def random_game(
    model: Model, rng: Random, viewer: int | None, most: int
) -> tuple[State, tuple[Observation, ...]]:
    """A random game of at most so many choices: where it stands and what a seat saw of it."""
    step = reference.start(model)
    seen = seen_by(step.observations, viewer)
    for _ in range(most):
        if step.state.over:
            break
        step = reference.step(model, step.state, rng.choice(legal_moves(model, step.state)))
        seen += seen_by(step.observations, viewer)
    return step.state, seen


def by_trying(model: Model, seen: tuple[Observation, ...], viewer: int | None) -> set[State]:
    """Every state the game may be in for somebody who saw this, found by playing every game there is."""
    first = reference.start(model)
    told = len(seen_by(first.observations, viewer))
    frontier, done, found = [(first.state, told)], set(), set()
    while frontier:
        state, told = frontier.pop()
        if (state, told) in done:
            continue
        done.add((state, told))
        if len(done) > MOST_STATES:
            raise TooMany
        if told == len(seen):
            found.add(state)
        if state.over:
            continue
        for move in legal_moves(model, state):
            step = reference.step(model, state, move)
            more = seen_by(step.observations, viewer)
            if seen[told : told + len(more)] == more:
                frontier.append((step.state, told + len(more)))
    return found


def by_arrays(model: Model, seen: tuple[Observation, ...], viewer: int | None) -> tuple[Belief, ...]:
    follower = follow_from(compile_arrays(model), viewer)
    for clump in clumps(seen):
        follower = follow(follower, clump)
    return follower.current()


def questions(model: Model, belief: Belief) -> Iterator[tuple[str, m.Expr, int | None, Value]]:
    """For every variable still kept track of, every simple value it, an entry of it or a member can have."""
    for name, variable in model.variables.items():
        if name not in belief.values:
            continue
        whole = m.Variable(name, variable.type)
        if is_index(variable.type):
            for value in all_values(variable.type, model.players.count):
                literal = m.Literal(value, variable.type)
                yield name, m.Apply("eq", (whole, literal), BOOL), None, value
        elif isinstance(variable.type, MapType) and is_index(variable.type.value):
            for place, key in enumerate(all_values(variable.type.key, model.players.count)):
                entry = m.At(whole, m.Literal(key, variable.type.key), variable.type.value)
                for value in all_values(variable.type.value, model.players.count):
                    literal = m.Literal(value, variable.type.value)
                    yield name, m.Apply("eq", (entry, literal), BOOL), place, value
        elif isinstance(variable.type, SetType):
            for key in all_values(variable.type.element, model.players.count):
                literal = m.Literal(key, variable.type.element)
                yield name, m.Apply("in", (literal, whole), BOOL), None, frozenset({key})


def holds_in(model: Model, state: State, name: str, place: int | None, value: Value) -> bool:
    actual = state.values[list(model.variables).index(name)]
    if isinstance(value, frozenset):
        assert isinstance(actual, frozenset)
        return value <= actual
    if place is not None:
        assert isinstance(actual, tuple)
        return actual[place] == value
    return actual == value


def settled_for(model: Model, states: set[State], viewer: int | None) -> bool:
    """Does everybody wait for something the viewer will see, so that nothing more may have happened meanwhile?"""
    for state in states:
        if state.over:
            continue
        awaited = reference.pending(model, state)
        assert awaited is not None
        chance = awaited.seats == (CHANCE,)
        if chance or (awaited.choice.audience.kind != "public" and viewer not in awaited.seats):
            return False
    return True


def answers(
    model: Model, rng: Random, viewer: int | None, most: int, arrays: Model | None = None
) -> Iterator[tuple[str, bool, bool]]:
    """Plays a random game and asks what its end may be like for the viewer: each question, whether the arrays hold it
    possible, and whether trying every game shows that it is. `arrays` is what they are made from, if not the model.
    """
    actual, seen = random_game(model, rng, viewer, most)
    states = by_trying(model, seen, viewer)
    assert actual in states
    if not settled_for(model, states, viewer) or all(o.kind == "phase" for o in seen):
        return  # a record in which nothing has happened yet leaves the game where it starts
    beliefs = by_arrays(arrays or model, seen, viewer)
    for name, fact, place, value in questions(model, beliefs[0]):
        if all(name in b.values for b in beliefs):
            told = any(grant(b, fact).possible for b in beliefs)
            tried = any(holds_in(model, s, name, place, value) for s in states)
            yield f"{name}{'' if place is None else [place]} = {value!r}", told, tried


def compare_knowledge(
    model: Model, rng: Random, viewer: int | None, most: int, arrays: Model | None = None
) -> int:
    """The two ways to know must agree on everything; how many questions were asked."""
    asked = 0
    for question, told, tried in answers(model, rng, viewer, most, arrays):
        assert told == tried, f"{question}: arrays {told}, trying {tried}"
        asked += 1
    return asked


def never_rules_out_what_can_be(model: Model, rng: Random, viewer: int | None, most: int) -> int:
    """The arrays may hold more possible than trying shows, because a record may leave out what happened; never less."""
    asked = 0
    for question, told, tried in answers(model, rng, viewer, most):
        assert told or not tried, f"{question}: ruled out, but it can be"
        asked += 1
    return asked
