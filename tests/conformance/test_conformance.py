"""Tiny games that have nothing to do with each other, played on every back end there is and compared with the reference.

Each rulebook in `games/` exercises one thing. A back end that plays is a function from a settled model to an object with
the functions of the reference; adding one is one line in BACK_ENDS. The Z3 relation is held against the same games in
`differential/test_relation.py`, the NumPy back end in `differential/test_knowledge.py`.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice, product
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from rules_dsl import Model, build_model, compose, library, parse, reference, settle
from rules_dsl.play import CHANCE, IllegalMove, Move, State
from rules_dsl.python import compile_python

GAMES = Path(__file__).parent / "games"
BACK_ENDS: dict[str, Callable[[Model], Any]] = {"python": compile_python}


def bound_reference(model: Model) -> Any:
    bound = {
        n: partial(getattr(reference, n), model) for n in ("pending", "options", "step", "visible", "weight")
    }
    return SimpleNamespace(start=lambda: reference.start(model), **bound)


def mixes() -> Iterator[tuple[str, str, tuple[str, ...], int]]:
    for path in sorted(GAMES.glob("*.rules")):
        book = parse(path.read_text(encoding="utf-8"), path.name)
        modules = tuple(m.name for m in book.modules)
        for game in book.games:
            sets = [(), *[(m,) for m in modules], modules] if modules else [()]
            for chosen in dict.fromkeys(sets):
                model = build_model(compose(library([book]), game.name, chosen))
                for players in range(model.fewest, model.most + 1):
                    yield path.name, game.name, chosen, players


def settled(path: str, game: str, modules: tuple[str, ...], players: int) -> Model:
    book = parse((GAMES / path).read_text(encoding="utf-8"), path)
    return settle(build_model(compose(library([book]), game, modules)), {"players": players}).model


MIXES = list(mixes())
IDS = ["-".join([game, *modules, str(players)]) for _, game, modules, players in MIXES]


def moves(rules: Any, state: State) -> list[Move]:
    """Every move that is legal in a state."""
    awaited = rules.pending(state)
    per_seat = [[(seat, v) for v in rules.options(state, seat)] for seat in awaited.seats]
    if awaited.choice.chooser.kind == "one":
        return [(entry,) for entries in per_seat for entry in entries]
    return [tuple(combined) for combined in product(*per_seat)]


@pytest.mark.parametrize("back_end", BACK_ENDS)
@pytest.mark.parametrize("mix", MIXES, ids=IDS)
def test_back_ends_agree_with_the_reference_on_every_short_game(
    mix: tuple[str, str, tuple[str, ...], int], back_end: str
) -> None:
    model = settled(*mix)
    plain, tried = bound_reference(model), BACK_ENDS[back_end](model)
    assert tried.start() == plain.start()
    frontier, seen = [plain.start().state], set()
    while frontier and len(seen) < 400:
        state = frontier.pop(0)
        if state in seen or state.over:
            continue
        seen.add(state)
        assert tried.pending(state) == plain.pending(state)
        legal = moves(plain, state)
        assert moves(tried, state) == legal
        for seat in (None, *range(mix[3])):
            assert tried.visible(state, seat) == plain.visible(state, seat)
        for move in islice(legal, 60):
            if move[0][0] == CHANCE:
                assert tried.weight(state, move[0][1]) == plain.weight(state, move[0][1])
            expected, got = plain.step(state, move), tried.step(state, move)
            assert got == expected
            frontier.append(expected.state)
    assert seen


@pytest.mark.parametrize("back_end", BACK_ENDS)
@pytest.mark.parametrize("mix", MIXES, ids=IDS)
def test_illegal_moves_are_refused_alike(mix: tuple[str, str, tuple[str, ...], int], back_end: str) -> None:
    model = settled(*mix)
    plain, tried = bound_reference(model), BACK_ENDS[back_end](model)
    rng = random.Random(3)
    for _ in range(15):
        state = plain.start().state
        while not state.over:
            for value in (None, True, 0, 1, 7, "red", "nonsense", frozenset({0, 1, 2}), (0, 0)):
                move = tuple((seat, value) for seat in plain.pending(state).seats)
                outcomes = []
                for rules in (plain, tried):
                    try:
                        outcomes.append(rules.step(state, move))
                    except IllegalMove as error:
                        outcomes.append((error.requirement, error.cites))
                assert outcomes[0] == outcomes[1]
            legal = moves(plain, state)
            assert legal, f"stuck in {state}"
            state = plain.step(state, rng.choice(legal)).state


def play(model: Model, *choices: Any) -> State:
    """Plays given choices: a value for a single chooser, a tuple of values by seat for several."""
    state = reference.start(model).state
    for chosen in choices:
        awaited = reference.pending(model, state)
        assert awaited is not None
        several = awaited.choice.chooser.kind == "each"
        values = chosen if several else (chosen,) * 1
        state = reference.step(model, state, tuple(zip(awaited.seats, values, strict=several))).state
    return state


def test_paper_beats_rock_and_three_ties_end_it() -> None:
    model = settled("simultaneous.rules", "simultaneous", (), 2)
    assert play(model, ("paper", "rock")).result == 0
    assert play(model, ("rock", "rock"), ("rock", "paper")).result == 1
    tied = play(model, ("rock", "rock"), ("paper", "paper"), ("rock", "rock"))
    assert (tied.over, tied.result) == (True, None)


def test_the_ballot_shows_the_tally_and_nobodys_paper() -> None:
    model = settled("ballot.rules", "ballot", (), 3)
    step = reference.step(model, reference.start(model).state, ((0, "yes"), (1, "no"), (2, "yes")))
    assert step.state.result == "yes"
    assert {(o.name, o.value) for o in step.observations if o.seen_by(None)} >= {("ayes", 2)}
    assert [o.value for o in step.observations if o.name == "paper" and o.seen_by(1)] == ["no"]


def test_only_the_seer_sees_the_coin() -> None:
    model = settled("look.rules", "look", (), 3)
    state = reference.start(model).state
    state = reference.step(model, state, ((CHANCE, ("copper", "gold", "copper")),)).state
    step = reference.step(model, state, ((0, 1),))
    shown = [o for o in step.observations if o.kind == "shown"]
    assert [(o.value, o.to) for o in shown] == [("gold", frozenset({0}))]


def test_a_card_that_is_gone_cannot_be_drawn_again() -> None:
    model = settled("deck.rules", "deck", (), 1)
    state = reference.start(model).state
    assert list(reference.options(model, state, CHANCE)) == ["ace", "king"]
    assert [reference.weight(model, state, v) for v in ("ace", "king")] == [1, 2]
    state = reference.step(model, state, ((CHANCE, "ace"),)).state
    assert list(reference.options(model, state, CHANCE)) == ["king"]


def test_one_lays_only_cards_one_holds_and_may_pass() -> None:
    model = settled("hands.rules", "hands", (), 2)
    state = play(model, "star", "moon")
    assert list(reference.options(model, state, 0)) == [None, "moon"]
    assert play(model, "moon", "star", None, None, None).result is None
    assert play(model, None, "star", "star").result == 0


def test_only_a_smaller_block_goes_on_top() -> None:
    model = settled("tower.rules", "tower", (), 1)
    assert play(model, 3, 2, 1).result is True
    with pytest.raises(IllegalMove, match="smaller block"):
        play(model, 1, 2)
    assert play(model, 1, None, 3, 2, 1).result is True


def test_a_parry_needs_the_same_colour_in_hand() -> None:
    model = settled("counter.rules", "counter", (), 2)
    assert play(model, ("red", "blue"), "blue", "blue").result == 1
    assert play(model, ("red", "blue"), "blue", None).result == 0
    with pytest.raises(IllegalMove, match="same colour"):
        play(model, ("red", "blue"), "red", "red")


def test_the_inspection_comes_between_the_bids_and_their_count() -> None:
    plain = settled("inserted.rules", "sealed", (), 3)
    assert play(plain, ("high", "low", "low")).result is True
    model = settled("inserted.rules", "sealed", ("inspection",), 3)
    assert play(model, ("high", "low", "low"), 1, None).result is True
    assert play(model, ("high", "low", "low"), 1, "high").result is False
    assert play(settled("inserted.rules", "sealed", ("inspection",), 2), ("high", "low")).result is True


def test_the_tax_changes_the_price_everywhere_and_the_tariff_comes_on_top() -> None:
    prices = {}
    for modules in ((), ("tax",), ("tariff",), ("tax", "tariff")):
        model = settled("overridden.rules", "prices", modules, 1)
        prices[modules] = play(model, 3).values[0]
    assert prices == {(): 4, ("tax",): 3, ("tariff",): 2, ("tax", "tariff"): 1}


def test_heralds_call_before_the_others_choose() -> None:
    model = settled("early.rules", "early", (), 3)
    step = reference.step(model, play(model, frozenset({1})), ((1, True),))
    assert [(o.seat, o.value) for o in step.observations if o.seen_by(2)] == [(1, True)]
    awaited = reference.pending(model, step.state)
    assert awaited is not None
    assert awaited.seats == (0, 2)
    assert play(model, frozenset(), (True, True, False)).result is True


def test_a_forced_choice_has_one_option_and_a_broken_duty_is_noted() -> None:
    model = settled("forced.rules", "forced", (), 3)
    state = play(model, ("green", "red", "red"))
    assert list(reference.options(model, state, 0)) == ["green"]
    state = reference.step(model, state, ((0, "green"),)).state
    proper, broken = (reference.step(model, state, ((1, v),)) for v in (0, 1))
    assert (proper.state.result, proper.breaches) == ("green", ())
    assert [r.text for r in broken.breaches] == ["nobody should pick himself"]
    assert broken.state.result is None
    with pytest.raises(IllegalMove):
        reference.step(model, state, ((0, 1),))


def test_a_choice_passed_over_leaves_the_least_value_and_the_game_can_end_early() -> None:
    model = settled("ending.rules", "ending", (), 2)
    state = play(model, 2, True)
    assert (state.over, state.result) == (True, 0)
    passed = play(model, 1, True, 0)
    names = list(model.variables)
    assert passed.values[names.index("luck")] is False
    assert passed.values[names.index("points")] == ((1, 0), (0, 0))
    assert "bonus" in reference.visible(model, passed, 0)
    assert "bonus" not in reference.visible(model, passed, 1)


def test_whoever_declines_takes_nothing_and_three_who_pass_end_it() -> None:
    model = settled("declining.rules", "declining", (), 2)
    assert list(reference.options(model, play(model), 0)) == [None, "copper", "gold"]
    assert play(model, "gold", (None,)).result == 0
    after = play(model, "copper", (0,), None, (None,))
    assert (after.over, after.values[list(model.variables).index("takers")]) == (False, frozenset({0}))
    assert list(reference.options(model, after, 0)) == [None, "copper"]
    assert play(model, None, (None,), None, (None,), None, (None,)).over
