"""A game being played: immutable, repeatable, and the same after a trip through JSON at every step."""

from __future__ import annotations

import json
from random import Random

import pytest

from avalon_logic.configuration import Configuration, engine_of
from rules_dsl import Game
from rules_dsl.play import CHANCE, IllegalMove
from tests.python.mixes import BASE, MODULES, Mix, engine

DEAL = ("merlin", "assassin", "servant", "minion", "servant")


def five(seed: int | None = 0) -> Game:
    return Game.start(engine_of(Configuration("avalon", 5)), seed, {"role": DEAL, "leader": 0})


def random_choice(game: Game, rng: Random) -> Game:
    assert game.pending is not None
    seat = rng.choice(game.pending.seats)
    return game.choose(seat, rng.choice(game.proper(seat)))


@pytest.mark.parametrize("mix", [*BASE, *MODULES[::4]], ids=str)
def test_a_game_survives_json_at_every_step_and_old_games_stay_as_they_were(mix: Mix) -> None:
    rng = Random(str(mix))
    game = Game.start(engine(mix), seed=rng.randrange(1000))
    while not game.over:
        written = json.dumps(game.to_json())
        again = Game.from_json(engine(mix), json.loads(written))
        assert again == game
        assert hash(again) == hash(game)
        assert [again.view(s) for s in range(mix.players)] == [game.view(s) for s in range(mix.players)]
        following = random_choice(game, rng)
        assert json.dumps(game.to_json()) == written, "a choice changed the game it was made in"
        game = following
    assert game.winner in ("good", "evil")
    assert Game.from_json(engine(mix), game.to_json()) == game


def test_the_same_seed_and_choices_give_the_same_game() -> None:
    games = []
    for _ in range(2):
        rng = Random(4)
        game = Game.start(engine(BASE[5]), seed=11)
        while not game.over:
            game = random_choice(game, rng)
        games.append(game)
    assert games[0] == games[1]
    assert Game.start(engine(BASE[5]), seed=12) != Game.start(engine(BASE[5]), seed=11)


def test_without_a_seed_chance_waits_to_be_told() -> None:
    game = Game.start(engine_of(Configuration("avalon", 5)), None)
    assert game.pending is not None
    assert game.pending.seats == (CHANCE,)
    game = game.choose(CHANCE, DEAL).choose(CHANCE, 3)
    assert game.pending is not None
    assert game.pending.seats == (3,)


def test_nobody_learns_of_a_vote_before_all_have_voted() -> None:
    game = five().choose(0, frozenset({0, 1}))
    voted = game.choose(2, False)
    assert [voted.view(s) for s in (0, 1, 3, 4)] == [game.view(s) for s in (0, 1, 3, 4)]
    assert voted.view(2).chosen == (False,)
    assert voted.pending is not None
    assert voted.pending.seats == (0, 1, 3, 4)
    with pytest.raises(IllegalMove):
        voted.choose(2, True)


def test_a_refused_choice_names_its_clause_and_changes_nothing() -> None:
    game = five()
    before = game.to_json()
    with pytest.raises(IllegalMove) as refused:
        game.choose(0, frozenset({0, 1, 2}))
    assert refused.value.cites == ("CORE-11",)
    assert game.to_json() == before


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"players": 6}, "for 6 players"),
        ({"seed": "x"}, "the seed is 'x'"),
        ({"events": [{"choice": "role", "by": [[-1, ["merlin"] * 5]]}]}, "event 1"),
        ({"events": [{"choice": "team", "by": []}]}, "event 1: role is chosen next, not team"),
        ({"waiting": [[0, 7]]}, "the choices that wait"),
    ],
)
def test_json_that_is_no_game_says_where(change: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Game.from_json(five().engine, {**five().to_json(), **change})
