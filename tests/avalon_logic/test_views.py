"""What a seat sees never tells it more than the rules let it know.

Pairs of deals that a seat cannot tell apart (worked out here from the book's table of who sees whom, not from the
rulebook) are played with the same public play; secret choices may differ as long as what is public, and what the seat
chose or was shown itself, stays the same. At every step the two views of that seat must be equal.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise, product
from random import Random
from typing import Any

import pytest

from avalon_logic.configuration import Configuration, engine_of
from rules_dsl import Engine, Game
from rules_dsl.play import Pending
from tests.oracle.plain_engine import EVIL_COUNT, EVIL_ROLES

Deal = tuple[str, ...]

OPEN = ("target", "team", "approve", "examined", "victim")  # choices the book has made for all to see


@dataclass(frozen=True)
class Table:
    players: int
    roles: tuple[str, ...]
    modules: tuple[str, ...] = ()
    rulings: tuple[tuple[str, str], ...] = ()
    game: str = "avalon"

    def __str__(self) -> str:
        chosen = [f"{n}={v}" for n, v in self.rulings]
        return "-".join([self.game, str(self.players), *self.roles, *self.modules, *chosen])

    @property
    def deck(self) -> Deal:
        evil = [r for r in self.roles if r in EVIL_ROLES]
        good = [r for r in self.roles if r not in EVIL_ROLES]
        plain = ("resistance", "spy") if self.game == "resistance" else ("servant", "minion")
        evil += [plain[1]] * (EVIL_COUNT[self.players] - len(evil))
        return (*good, *[plain[0]] * (self.players - len(evil) - len(good)), *evil)


ALL_ROLES = ("merlin", "percival", "assassin", "morgana", "mordred", "oberon")
TABLES = [
    Table(5, (), game="resistance"),
    Table(7, (), ("blind_spies",), game="resistance"),
    Table(6, (), ("targeting",), game="resistance"),
    *(Table(n, ("merlin", "assassin")) for n in range(5, 11)),
    Table(7, ("merlin", "percival", "assassin", "morgana")),
    Table(5, ("merlin", "percival", "assassin", "mordred"), ("lady",)),
    Table(7, ("merlin", "assassin", "oberon"), ("lady", "targeting")),
    Table(10, ALL_ROLES, ("lady",)),
    Table(10, ALL_ROLES, ("lady", "targeting", "blind_spies")),
    Table(8, ("merlin", "percival", "assassin", "morgana"), ("lady",), (("lady_at_end", "used_first"),)),
    Table(10, ALL_ROLES, ("lady",), (("oberon_thumb", "hidden_from_merlin"),)),
    Table(7, ("merlin", "assassin", "morgana"), (), (("called_minions", "plain_only"),)),
    Table(7, ("merlin", "percival", "assassin", "mordred"), (), (("fifth_team", "no_vote"),)),
    Table(9, ("merlin", "percival", "morgana", "assassin"), (), (("killer", "morgana"),)),
    Table(8, ("merlin", "assassin"), (), (("quest_order", "from_start"),), game="avalon_2021"),
]


def sights(deal: Deal, table: Table, seat: int) -> tuple[frozenset[int], ...]:
    """Whom a seat sees at the reveal, by the table of who sees whom: fellows, thumbs, those who look like Merlin."""
    chosen = dict(table.rulings)
    plain_only = chosen.get("called_minions") == "plain_only"
    hidden = {"mordred"} | ({"oberon"} if chosen.get("oberon_thumb") == "hidden_from_merlin" else set())
    evil = {s for s, r in enumerate(deal) if r in EVIL_ROLES and (not plain_only or r in ("minion", "spy"))}
    looking = set() if "blind_spies" in table.modules else {s for s in evil if deal[s] != "oberon"}
    thumbs = {s for s in evil if deal[s] not in hidden}
    magic = {s for s, r in enumerate(deal) if r in ("merlin", "morgana")}
    return (
        frozenset(looking - {seat}) if seat in looking else frozenset({-1}),
        frozenset(thumbs) if deal[seat] == "merlin" else frozenset({-1}),
        frozenset(magic) if deal[seat] == "percival" else frozenset({-1}),
    )


def look_alikes(table: Table, rng: Random, seat: int) -> Iterator[tuple[Deal, Deal]]:
    """Pairs of different deals that are the same to a seat."""
    groups: dict[Any, list[Deal]] = {}
    for _ in range(400):
        cards = list(table.deck)
        rng.shuffle(cards)
        deal = tuple(cards)
        known = groups.setdefault((deal[seat], sights(deal, table, seat)), [])
        if deal not in known:
            known.append(deal)
    for known in groups.values():
        yield from pairwise(known)


def started(engine: Engine, deal: Deal, leader: int) -> Game:
    return Game.start(engine, chance={"role": deal, "leader": leader})


def same_for(seat: int, pair: tuple[Game, Game], awaited: Pending, rng: Random) -> tuple[Game, Game] | None:
    """Both games after the next choice, alike in all that is public or the seat's own; None if they must differ."""
    name = awaited.choice.variable
    shown = name == "loyalty" and pair[0].view(seat).visible["holder"] == seat
    moves = []
    for game in pair:
        assert game.pending is not None
        options = [[(s, v) for v in game.proper(s)] for s in game.pending.seats]
        moves.append(list(product(*options)))
        rng.shuffle(moves[-1])
    for first in moves[0][:20]:
        after = pair[0].play(first)
        for second in moves[1]:
            if first != second and (name in OPEN or shown):
                continue
            if dict(first).get(seat) != dict(second).get(seat):
                continue
            other = pair[1].play(second)
            tell = ("fails", "result")
            if [o.value for o in after.view(None).observations if o.name in tell] == [
                o.value for o in other.view(None).observations if o.name in tell
            ]:
                return after, other
    return None


@pytest.mark.parametrize("table", TABLES, ids=str)
def test_deals_a_seat_cannot_tell_apart_look_alike_all_through_the_game(table: Table) -> None:
    engine = engine_of(
        Configuration(table.game, table.players, table.modules, table.deck, dict(table.rulings))
    )
    rng = Random(str(table))
    steps = pairs = 0
    for seat in rng.sample(range(table.players), min(4, table.players)):
        for deals in list(look_alikes(table, rng, seat))[:12]:
            leader = rng.randrange(table.players)
            pair: tuple[Game, Game] | None = (
                started(engine, deals[0], leader),
                started(engine, deals[1], leader),
            )
            pairs += 1
            while pair is not None:
                assert pair[0].view(seat) == pair[1].view(seat), (deals, seat, pair[0].state.phase)
                steps += 1
                awaited, other = pair[0].pending, pair[1].pending
                if awaited is None or other is None or awaited.seats != other.seats:
                    break  # over, or who must choose differs and will be seen by his choice
                pair = same_for(seat, pair, awaited, rng)
    assert pairs >= 20
    assert steps >= 10 * pairs, "the pairs part too early to have tested much"


@pytest.mark.parametrize("table", TABLES, ids=str)
def test_deals_a_seat_can_tell_apart_look_different_from_the_start(table: Table) -> None:
    """The other direction: what the book lets a seat see is in its view."""
    engine = engine_of(
        Configuration(table.game, table.players, table.modules, table.deck, dict(table.rulings))
    )
    rng = Random(str(table))
    told = 0
    for _ in range(150):
        seat = rng.randrange(table.players)
        deals = []
        for _ in range(2):
            cards = list(table.deck)
            rng.shuffle(cards)
            deals.append(tuple(cards))
        alike = all(d[seat] == deals[0][seat] for d in deals)
        alike = alike and sights(deals[0], table, seat) == sights(deals[1], table, seat)
        views = [started(engine, d, 0).view(seat) for d in deals]
        assert (views[0] == views[1]) == alike
        told += not alike
    assert told > 20


def test_a_spectator_sees_no_role_and_no_card() -> None:
    table = TABLES[12]
    engine = engine_of(Configuration(table.game, table.players, table.modules, table.deck))
    game = Game.start(engine, seed=5)
    rng = Random(5)
    while game.pending is not None:
        for seen in game.view(None).observations:
            assert seen.name not in ("role", "card", "loyalty", "fellows", "thumbs", "magicians")
        assert not {"role", "card", "loyalty"} & set(game.view(None).visible)
        game = game.play(tuple((s, rng.choice(game.proper(s))) for s in game.pending.seats))
