"""The page about the language: every complete example on it is parsed, composed, checked and played.

A block with a game stands alone; a block of modules belongs to the last game before it and is tried in every
mix of its modules.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from random import Random

import pytest

from avalon_logic.library import shipped_rulebooks
from proofs.prover import Options, prove
from rules_dsl import Library, RulebookError, build_model, compose, library, parse, reference, settle
from rules_dsl import model as m
from rules_dsl.evaluate import holds
from rules_dsl.play import Move, State
from rules_dsl.walk import every

PAGE = Path(__file__).parents[2] / "docs" / "language.md"
GAMES = 20
MOST_MOVES = 200


@dataclass(frozen=True)
class Example:
    """Games and modules as they stand on the page, and the mix of modules to play with."""

    place: str
    library: Library
    game: str
    modules: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.place}:{'+'.join((self.game, *self.modules))}"


def _blocks() -> list[tuple[str, str]]:
    text = PAGE.read_text(encoding="utf-8")
    found = re.finditer(r"^```rules\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    return [(f"line {text.count(chr(10), 0, b.start()) + 2}", b.group(1)) for b in found]


def _examples() -> list[Example]:
    made: list[Example] = []
    game = None
    for place, text in _blocks():
        book = parse(text, place)
        if book.games:
            game = book
            made += [Example(place, library([book]), g.name, ()) for g in book.games]
            continue
        assert game is not None, "modules stand after their game"
        names = [x.name for x in book.modules]
        mixes = [mix for size in range(1, len(names) + 1) for mix in combinations(names, size)]
        made += [Example(place, library([game, book]), game.games[0].name, mix) for mix in mixes]
    return made


def _excluded(example: Example) -> bool:
    taken = {*example.modules}
    for name in example.modules:
        taken |= {ref.name for ref in example.library.modules[name].requires}
    return any(ref.name in taken for name in taken for ref in example.library.modules[name].excludes)


EXAMPLES = _examples()
PLAYABLE = [example for example in EXAMPLES if not _excluded(example)]
EXCLUDED = [example for example in EXAMPLES if _excluded(example)]


def _model(example: Example) -> m.Model:
    return build_model(compose(example.library, example.game, example.modules))


def _move(model: m.Model, state: State, rng: Random) -> Move:
    awaited = reference.pending(model, state)
    assert awaited is not None
    seats = awaited.seats
    if awaited.choice.chooser.kind == "one":
        seats = (rng.choice(seats),)
    return tuple((seat, rng.choice(list(reference.options(model, state, seat)))) for seat in seats)


def _game(model: m.Model, rng: Random) -> list[State]:
    """The states of one random game, to its end."""
    state = reference.start(model).state
    states = [state]
    while not state.over:
        assert len(states) <= MOST_MOVES, "the game does not end"
        state = reference.step(model, state, _move(model, state, rng)).state
        states.append(state)
    return states


def _random_games(example: Example) -> list[tuple[m.Model, list[State]]]:
    opened = _model(example)
    games: list[tuple[m.Model, list[State]]] = []
    for seed in range(GAMES):
        players = opened.fewest + seed % (opened.most - opened.fewest + 1)
        settled = settle(opened, {"players": players})
        assert not settled.errors
        games.append((settled.model, _game(settled.model, Random(seed))))
    return games


def test_the_page_has_examples_of_games_and_of_modules() -> None:
    assert len([e for e in EXAMPLES if not e.modules]) >= 4
    assert len(PLAYABLE) > 8
    assert EXCLUDED


@pytest.mark.parametrize("example", PLAYABLE, ids=str)
def test_every_example_checks_and_plays_to_an_end_as_its_properties_say(example: Example) -> None:
    for model, states in _random_games(example):
        for claim in model.properties.values():
            if claim.kind == "terminates" and claim.bound is not None:
                assert len(states) - 1 <= claim.bound
            if claim.kind == "invariant" and claim.expect == "proved" and claim.value is not None:
                if any(isinstance(part, m.Knows) for part in every(claim.value)):
                    continue  # what is known is not a matter of one state
                for state in states:
                    assert holds(claim.value, reference.environment(model, state)), claim.name


@pytest.mark.parametrize("example", [e for e in PLAYABLE if _model(e).properties], ids=str)
def test_what_an_example_calls_reachable_happens(example: Example) -> None:
    games = _random_games(example)
    for claim in games[0][0].properties.values():
        if claim.kind == "reachable":
            assert any(
                holds(model.properties[claim.name].value, reference.environment(model, state))
                for model, states in games
                for state in states
            ), claim.name


@pytest.mark.parametrize("example", [e for e in PLAYABLE if _model(e).properties and not e.modules], ids=str)
def test_what_an_example_expects_of_the_prover_is_what_it_says(example: Example) -> None:
    verdicts = list(prove(_model(example), str(example), Options(seconds=60, games=20)))
    assert verdicts
    assert [v.name for v in verdicts if not v.as_expected] == []


@pytest.mark.parametrize("example", EXCLUDED, ids=str)
def test_modules_of_the_page_that_exclude_each_other_are_refused_together(example: Example) -> None:
    with pytest.raises(RulebookError, match="E105"):
        _model(example)


def test_statements_a_module_adds_stand_before_the_last_of_the_phase_or_first_of_all() -> None:
    fog = next(e for e in PLAYABLE if e.modules == ("fog",))
    phases = _model(fog).phases
    places = {
        name: [
            i for i, x in enumerate(phases[name].body) if isinstance(x, m.Assign) and x.variable == "foggy"
        ]
        for name in ("dawn", "day")
    }
    assert places == {"dawn": [0], "day": [len(phases["day"].body) - 2]}
    assert isinstance(phases["day"].body[-1], m.Next)


def test_too_many_foxes_are_refused_by_the_set_up_check() -> None:
    for example in PLAYABLE:
        opened = _model(example)
        if "fox_count" in opened.params:
            assert settle(opened, {"players": 4, "fox_count": 2}).errors


def test_the_page_lists_every_shipped_game_and_module_and_no_other() -> None:
    shipped = library(shipped_rulebooks())
    section = PAGE.read_text(encoding="utf-8").split("## What is shipped")[1]
    listed = set(re.findall(r"^\| `(\w+)` \|", section, re.MULTILINE))
    assert listed == {*shipped.games, *shipped.modules}


def test_every_error_code_belongs_to_a_family_of_the_page() -> None:
    root = PAGE.parents[1]
    used = {
        int(code)
        for folder in ("rules_dsl", "avalon_logic")
        for file in (root / folder).rglob("*.py")
        for code in re.findall(r'"E(\d{3})"', file.read_text(encoding="utf-8"))
    }
    rows = re.findall(r"^\| E(\d{3})(?: - E(\d{3}))? \|", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    families = [range(int(low), int(high or low) + 1) for low, high in rows]
    assert used
    assert sorted(code for code in used if not any(code in family for family in families)) == []
