"""The generated engine and the engine written by hand from the book agree move for move.

Both ways, for every number of players, with and without free choice of quest: games the generated engine plays at
random are played again by the hand-written one, and its random games by the generated one. Every move must be
accepted by both, whoever must choose must be the same, and so must the winner. On a sample the sets of legal moves
are compared at every step.
"""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from avalon_logic.configuration import Configuration, load
from rules_dsl import Engine, compile_python
from rules_dsl.play import Move
from rules_dsl.python.raw import decoder
from tests.oracle.plain_engine import Game, avalon_deck, deal, play_random_move

GAMES = 10_000
SAMPLE = 60

TABLES = [(players, targeting) for players in range(5, 11) for targeting in (False, True)]
tables = pytest.mark.parametrize(("players", "targeting"), TABLES)


def engine_for(players: int, targeting: bool) -> Engine:
    modules = ("targeting",) if targeting else ()
    return compile_python(load(Configuration("avalon", players, modules)).model)


class Second:
    """A game on the hand-written engine, told of choices by the names the rulebook gives them."""

    def __init__(self, targeting: bool) -> None:
        self.targeting = targeting
        self.roles: tuple[str, ...] = ()
        self.game: Game | None = None
        self.target: int | None = None

    def tell(self, variable: str, value: Any) -> None:
        if variable == "role":
            self.roles = value
        elif variable == "leader":
            self.game = Game(self.roles, value, targeting=self.targeting)
        elif variable == "target":
            self.target = value
        else:
            assert self.game is not None
            match variable:
                case "team":
                    self.game.propose(value, self.target)
                case "approve":
                    self.game.vote(value)
                case "card":
                    self.game.play_cards({s: value[s] for s in self.game.team})
                case "victim":
                    self.game.assassinate(value)


@tables
def test_games_of_the_generated_engine_are_games_of_the_hand_written_one(
    players: int, targeting: bool
) -> None:
    engine = engine_for(players, targeting)
    names = [c.choice.variable for c in engine.choices]
    decode = [decoder(engine.model.variables[name].type) for name in names]
    winners = {"good": 0, "evil": 0}
    for played in engine.random_games(GAMES, Random(players)):
        second = Second(targeting)
        for entry in played.log:
            second.tell(names[entry[0]], decode[entry[0]](entry[-1]))  # type: ignore[call-overload]
        assert second.game is not None
        assert second.game.winner == played.result
        winners[str(played.result)] += 1
    assert min(winners.values()) > GAMES / 10, "both sides must win often, or little was compared"


def as_moves(game: Game, players: int) -> list[Move]:
    """A finished game of the hand-written engine, which does not log secret cards, as choices; cards apart."""
    moves: list[Move] = []
    for entry in game.log:
        match entry["event"]:
            case "propose":
                if game.targeting:
                    moves.append(((entry["leader"], entry["quest"]),))
                moves.append(((entry["leader"], frozenset(entry["team"])),))
            case "vote":
                moves.append(tuple(enumerate(entry["votes"])))
            case "quest":
                moves.append(tuple(sorted(entry["cards"].items())))
            case "assassinate":
                moves.append(((entry["by"], entry["target"]),))
    return moves


def play_by_hand(players: int, targeting: bool, rng: Random) -> Game:
    """A random game of the hand-written engine, with the cards noted down."""
    roles, leader = deal(avalon_deck(players), rng)
    game = Game(roles, leader, targeting=targeting)
    while game.phase != "over":
        if game.phase == "cards":
            cards = {s: rng.choice(game.legal_cards(s)) for s in game.team}
            game.play_cards(cards)
            next(e for e in reversed(game.log) if e["event"] == "quest")["cards"] = cards
        else:
            play_random_move(game, rng)
    return game


@tables
def test_games_of_the_hand_written_engine_are_games_of_the_generated_one(
    players: int, targeting: bool
) -> None:
    engine = engine_for(players, targeting)
    rng = Random(100 + players)
    for _ in range(GAMES):
        game = play_by_hand(players, targeting, rng)
        first = game.log[0]["leader"]
        raw = engine.raw_start
        for move in (((-1, game.roles),), ((-1, first),), *as_moves(game, players)):
            engine.check(raw, move)
            raw = engine.raw_step(raw, *engine.raw_move(raw, move))
        assert engine.raw_over(raw)
        assert engine.decode(raw).result == game.winner


@tables
def test_both_engines_allow_the_same_moves_at_every_step(players: int, targeting: bool) -> None:
    engine = engine_for(players, targeting)
    rng = Random(200 + players)
    for _ in range(SAMPLE):
        game = play_by_hand(players, targeting, rng)
        again = Game(game.roles, game.log[0]["leader"], targeting=targeting)
        state = engine.step(engine.start().state, ((-1, game.roles),)).state
        state = engine.step(state, ((-1, again.leader),)).state
        second = Second(targeting)
        second.roles, second.game = game.roles, again
        for move in as_moves(game, players):
            awaited = engine.pending(state)
            assert awaited is not None
            assert awaited.seats == tuple(seat for seat, _ in move)
            name = awaited.choice.variable
            for seat in awaited.seats:
                assert set(engine.options(state, seat)) == legal_by_hand(second, name, seat)
            value = dict(move) if awaited.choice.chooser.kind == "each" else move[0][1]
            second.tell(name, tuple(value[s] for s in range(players)) if name == "approve" else value)
            state = engine.step(state, move).state
        assert state.over
        assert state.result == again.winner == game.winner


def legal_by_hand(second: Second, variable: str, seat: int) -> set[Any]:
    game = second.game
    assert game is not None
    match variable:
        case "target":
            return set(game.legal_quests())
        case "team":
            quest = second.target if second.targeting else game.legal_quests()[0]
            assert quest is not None
            return {frozenset(team) for team in game.legal_teams(quest)}
        case "approve":
            return set(game.legal_votes())
        case "card":
            return set(game.legal_cards(seat))
        case _:
            return set(game.legal_victims())
