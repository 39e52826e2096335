"""The generated engine does what the reference interpreter says, step by step, in every game there is."""

from __future__ import annotations

from itertools import islice
from random import Random

import pytest

from rules_dsl import Engine, Model, Value, reference
from rules_dsl.play import IllegalMove, Move, Pending, State, state_from_json, state_to_json
from rules_dsl.types import MapType
from rules_dsl.values import from_ordinal
from tests.python.mixes import ALL, BASE, Mix, engine, model

MOST_COMPARED = 300


def a_deal(choice_type: MapType, counts: tuple[int, ...], rng: Random) -> Value:
    cards = [from_ordinal(choice_type.value, kind) for kind, n in enumerate(counts) for _ in range(n)]  # type: ignore[arg-type]
    rng.shuffle(cards)
    return tuple(cards)


def a_move(made: Model, compiled: Engine, state: State, awaited: Pending, rng: Random, compare: bool) -> Move:
    """A random move; if asked to, compares what each seat may choose on the way."""
    choice = awaited.choice
    if choice.deal is not None:
        assert isinstance(choice.type, MapType)
        counts = reference.evaluate(choice.deal, reference.environment(made, state))
        return ((-1, a_deal(choice.type, counts, rng)),)  # type: ignore[arg-type]
    seats = awaited.seats if choice.chooser.kind != "one" else (rng.choice(awaited.seats),)
    move = []
    for seat in seats:
        options = list(islice(compiled.options(state, seat), MOST_COMPARED))
        if compare:
            assert options == list(islice(reference.options(made, state, seat), MOST_COMPARED))
            proper = [
                v
                for v in options
                if not reference.check_value(choice, reference.environment(made, state), seat, v)
            ]
            assert proper == list(islice(compiled.proper_options(state, seat), len(proper)))
            for other in range(made.players.count):
                if other not in awaited.seats:
                    assert not list(compiled.options(state, other))
        move.append((seat, rng.choice(options)))
    return tuple(move)


def nonsense(move: Move, state: State, made: Model, rng: Random) -> Move:
    """A move that is probably wrong: a seat too many, too few, a value of no kind, or one against the rules."""
    values: list[Value] = [
        None,
        True,
        -1,
        99,
        "fail",
        "good",
        "x",
        frozenset(),
        frozenset({0, 1}),
        frozenset({77}),
        (),
        (1, 2),
    ]
    kind = rng.randrange(5)
    if kind == 0:
        return move[1:]
    if kind == 1:
        return (*move, (rng.randrange(-1, made.players.count + 1), move[0][1]))
    if kind == 2:
        return tuple((seat + 1, value) for seat, value in move)
    place = rng.randrange(len(move))
    return tuple((s, rng.choice(values) if i == place else v) for i, (s, v) in enumerate(move))


def same_refusal(made: Model, compiled: Engine, state: State, move: Move) -> bool:
    """Do both refuse the move for the same reason, or both play it alike?"""
    try:
        expected = reference.step(made, state, move)
    except IllegalMove as refused:
        with pytest.raises(IllegalMove) as caught:
            compiled.step(state, move)
        assert caught.value.message == refused.message
        assert caught.value.requirement == refused.requirement
        assert caught.value.cites == refused.cites
        assert caught.value.choice == refused.choice
        return True
    assert compiled.step(state, move) == expected
    return False


def play_in_step(mix: Mix, seed: int, compare: bool) -> int:
    made, compiled, rng = model(mix), engine(mix), Random(seed)
    step = reference.start(made)
    assert step == compiled.start()
    refusals = 0
    while not step.state.over:
        state = step.state
        awaited = reference.pending(made, state)
        assert awaited is not None
        assert compiled.pending(state) == awaited
        move = a_move(made, compiled, state, awaited, rng, compare)
        for _ in range(3):
            refusals += same_refusal(made, compiled, state, nonsense(move, state, made, rng))
        step = reference.step(made, state, move)
        assert compiled.step(state, move) == step
        assert compiled.decode(compiled.encode(step.state)) == step.state
        assert (
            compiled.decode(
                compiled.raw_step(compiled.encode(state), *compiled.raw_move(compiled.encode(state), move))
            )
            == step.state
        )
        for seat in (None, *range(made.players.count)):
            assert compiled.visible(step.state, seat) == reference.visible(made, step.state, seat)
        assert state_from_json(made, state_to_json(made, step.state)) == step.state
        assert hash(state_from_json(made, state_to_json(made, step.state))) == hash(step.state)
    assert compiled.pending(step.state) is None
    with pytest.raises(IllegalMove, match="over"):
        compiled.step(step.state, ())
    return refusals


@pytest.mark.parametrize("mix", ALL, ids=str)
def test_the_generated_engine_plays_as_the_reference_does(mix: Mix) -> None:
    assert play_in_step(mix, 1, compare=False) > 0
    assert play_in_step(mix, 2, compare=False) > 0


@pytest.mark.parametrize("mix", [x for x in ALL if x not in BASE or x.players in (5, 7)][::2], ids=str)
def test_the_generated_engine_allows_what_the_reference_allows(mix: Mix) -> None:
    play_in_step(mix, 3, compare=True)
