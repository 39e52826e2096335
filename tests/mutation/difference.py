"""Is a mutant another game at all? Random games and tables find most differences; that there is none is proved, or not
said."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from random import Random

from avalon_logic.proving import GAMES, OPEN
from proofs.clock import Clock, OutOfTime
from proofs.equivalence import compare
from proofs.families import Family, fits, speaks_of_knowing
from proofs.induction import strengthen
from proofs.lemmas import Lemma, guesses
from proofs.samples import random_move, random_params, random_value, samples
from rules_dsl import Library, Model, build_model, compose, reference, settle
from rules_dsl.model import choice_type
from rules_dsl.play import IllegalMove, Move, State, Stuck
from rules_dsl.selection import included_modules
from rules_dsl.smt import compile_smt


def proved_difference(ours: Sequence[Family], theirs: Sequence[Family], seconds: float = 300.0) -> str | None:
    """How the games of two lists of families differ, if it is not proved that they do not."""
    for one, two in zip(ours, theirs, strict=True):
        if one.knowing:
            continue  # the same game with other claims about it
        found = compare(one.model, two.model, (), Clock.of(seconds), deepest=0)
        if found.same is None:
            found = compare(one.model, two.model, proved_claims(one.model, seconds), Clock.of(seconds))
        if found.same is None:
            return f"{one.name}: not proved to be the same ({found.how})"
        if not found.same:
            events = "" if found.game is None else f", after {len(found.game.moves)} event(s)"
            return f"{one.name}: {found.how}{events}"
    return None


def proved_claims(model: Model, seconds: float) -> tuple[Lemma, ...]:
    """Claims about all states of a game: its properties, and what random games suggest, as far as that is inductive."""
    claims = [
        Lemma(p.text, p.value, p.name)
        for p in model.properties.values()
        if p.kind == "invariant" and p.expect == "proved" and p.value is not None and not speaks_of_knowing(p)
    ]
    claims += guesses(model, list(samples(model, 60)))
    try:
        return tuple(
            claims[i] for i in sorted(strengthen(compile_smt(model), claims, Clock.of(seconds)).alive)
        )
    except OutOfTime:
        return ()


def first_difference(original: Library, changed: Library, games: int) -> str | None:
    """Something that goes another way: a table accepted or refused, a move, a state, something seen. None if nothing."""
    for game in GAMES:
        ours = build_model(compose(original, game, (), _open(original, game)))
        theirs = build_model(compose(changed, game, (), _open(changed, game)))
        for seed in range(games):
            found = _differs(ours, theirs, Random(seed))
            if found is not None:
                return f"{game}: {found}"
    return None


def _open(lib: Library, game: str) -> tuple[str, ...]:
    built_in = included_modules(lib, game)
    return tuple(n for n in OPEN if n not in built_in and fits(lib, lib.modules[n], game))


def _differs(ours: Model, theirs: Model, rng: Random) -> str | None:
    if (ours.fewest, ours.most) != (theirs.fewest, theirs.most):
        return "the number of players"
    for _ in range(3):
        given = _any_params(ours, rng)
        one, two = settle(ours, given), settle(theirs, given)
        if [(c.severity, c.text) for c in one.findings] != [(c.severity, c.text) for c in two.findings]:
            return "a table accepted or refused, or a note about it"
        if one.params != two.params:
            return "what a table plays when nothing is said"
    table = random_params(ours, rng)
    if table is None:
        return None
    return _plays_otherwise(table.model, settle(theirs, table.params).model, rng)


def _any_params(model: Model, rng: Random) -> dict[str, object]:
    players = rng.randint(model.fewest, model.most)
    given: dict[str, object] = {"players": players}
    for name, param in model.params.items():
        if name in ("players", "deck"):
            continue
        if param.kind == "module" or rng.random() < 0.4:
            given[name] = random_value(param.type, players, rng)
    return given


def _plays_otherwise(ours: Model, theirs: Model, rng: Random) -> str | None:
    try:
        one, two = reference.start(ours), reference.start(theirs)
        for _ in range(150):
            if one.state != two.state:
                return f"the state after '{one.state.phase}'"
            if Counter(one.observations) != Counter(two.observations):
                return f"what is seen in '{one.state.phase}'"
            if [b.text for b in one.breaches] != [b.text for b in two.breaches]:
                return "a duty"
            state = one.state
            if reference.visible(ours, state, 0) != reference.visible(theirs, state, 0):
                return "what a seat can look at"
            if state.over:
                return None
            for attempt in _attempts(ours, state, rng):
                if _legal(ours, state, attempt) != _legal(theirs, state, attempt):
                    return f"whether {attempt} is legal in '{state.phase}'"
            move = random_move(ours, state, rng)
            one, two = reference.step(ours, state, move), reference.step(theirs, state, move)
    except (IllegalMove, Stuck) as error:
        return str(error)
    return None


def _attempts(model: Model, state: State, rng: Random) -> Iterator[Move]:
    awaited = reference.pending(model, state)
    assert awaited is not None
    type_ = choice_type(awaited.choice)
    seats = (rng.choice(awaited.seats),) if awaited.choice.chooser.kind == "one" else awaited.seats
    for _ in range(2):
        yield tuple((seat, random_value(type_, model.players.count, rng)) for seat in seats)


def _legal(model: Model, state: State, move: Move) -> bool:
    try:
        reference.step(model, state, move)
    except IllegalMove:
        return False
    return True
