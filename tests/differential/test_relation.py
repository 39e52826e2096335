"""The Z3 relation says what the reference interpreter and the engine do, event by event, in every game there is."""

from __future__ import annotations

import os
from random import Random

import pytest

from rules_dsl import reference
from rules_dsl.smt import compile_smt
from rules_dsl.smt.play import RelationPlay
from tests.conformance.test_conformance import IDS, MIXES, bound_reference, moves
from tests.conformance.test_conformance import settled as settled_tiny
from tests.differential.agreement import (
    GAMES,
    any_move,
    module_mixes,
    open_system,
    play_along,
    replay_everywhere,
    same_judgement,
    same_step,
    solver_games,
    solver_games_of_mixes,
    table_with,
)
from tests.python.mixes import ALL, Mix, settled

COUNTS = range(5, 11)
EVERY_MIX = "AVALON_EVERY_MIX" in os.environ  # every module mix at every count of players: six minutes


def mixes_at(game: str, players: int) -> list[tuple[str, ...]]:
    """The module mixes to try at a count of players: all of them, or each mix at one count, in turn."""
    mixes = module_mixes(game)
    return mixes if EVERY_MIX else mixes[players % len(COUNTS) :: len(COUNTS)]


@pytest.mark.parametrize("mix", ALL, ids=str)
def test_random_games_satisfy_the_relation_of_their_own_table(mix: Mix) -> None:
    table = settled(mix)
    play = RelationPlay(compile_smt(table.model), {})
    assert play_along(play, table, Random(1), attempts=3), "no illegal move was tried"


@pytest.mark.parametrize("players", COUNTS)
@pytest.mark.parametrize("game", GAMES)
def test_random_games_of_every_module_mix_satisfy_the_open_relation(game: str, players: int) -> None:
    system, rng = open_system(game), Random(players)
    for modules in mixes_at(game, players):
        table = table_with(system.model, players, modules, rng)
        assert table is not None, f"no table with {modules}"
        play_along(RelationPlay(system, table.params), table, rng)


@pytest.mark.parametrize("players", COUNTS)
@pytest.mark.parametrize("game", GAMES)
def test_games_chosen_by_the_solver_for_every_module_mix_replay(game: str, players: int) -> None:
    system = open_system(game)
    for found in solver_games_of_mixes(system, players, mixes_at(game, players), depth=12):
        replay_everywhere(system, found)


@pytest.mark.parametrize("players", COUNTS)
@pytest.mark.parametrize("game", GAMES)
def test_games_chosen_by_the_solver_replay_with_the_same_views(game: str, players: int) -> None:
    depths = {5: False, 12: False, 17: True, 20: False, 24: True}
    games = list(solver_games(open_system(game), {"players": players}, depths, seed=players))
    assert len(games) >= 4
    assert any(g.states[-1].over for g in games)
    for found in games:
        replay_everywhere(open_system(game), found)


def test_the_solver_chooses_games_that_differ() -> None:
    games = [
        g
        for seed in range(3)
        for g in solver_games(open_system("avalon"), {"players": 7}, {6: False, 14: False}, seed)
    ]
    assert len({g.moves for g in games}) == 6
    assert len({tuple(sorted((k, str(v)) for k, v in g.params.items())) for g in games}) >= 4


@pytest.mark.parametrize("mix", ALL[::6], ids=str)
def test_games_chosen_by_the_solver_at_one_table_replay(mix: Mix) -> None:
    system = compile_smt(settled(mix).model)
    games = list(solver_games(system, {}, {10: False, 17: True}, seed=3))
    assert games
    for found in games:
        replay_everywhere(system, found)


@pytest.mark.parametrize("mix", MIXES, ids=IDS)
def test_tiny_games_satisfy_their_relation_on_every_short_game(
    mix: tuple[str, str, tuple[str, ...], int],
) -> None:
    model = settled_tiny(*mix)
    play, plain, rng = RelationPlay(compile_smt(model), {}), bound_reference(model), Random(1)
    same_step(reference.start(model), play.start())
    frontier, seen = [reference.start(model).state], set()
    while frontier and len(seen) < 40:
        state = frontier.pop(0)
        if state in seen or state.over:
            continue
        seen.add(state)
        same_judgement(play, model, state, any_move(model, state, rng))
        for move in moves(plain, state)[:12]:
            expected = reference.step(model, state, move)
            same_step(expected, play.step(state, move))
            frontier.append(expected.state)
    assert seen
