"""Deals that rules or weights limit: which arrangements there are counts for secrecy, for going on and for random games."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations
from random import Random

import pytest

from proofs.prover import Options, prove
from proofs.samples import random_game, random_params, samples
from rules_dsl import Model, reference, settle
from rules_dsl.play import CHANCE
from tests.proofs.house import model_of

DEN = """
game den "A fox among hens" {
  players 3..4
  enum Beast { hen, fox }
  result Beast
  param deck: Beast -> 0..4 = map(b in Beast: if b == fox then 1 else players - 1)
  setup error unless deck[hen] + deck[fox] == players and deck[fox] == 1 "one fox, the others are hens"
  public host: Player
  INITIAL
  start seat
  phase seat { chance chooses host  next dealing }
  phase dealing { chance deals role: Player -> Beast from deck DEALT  next day }
  phase day { chance chooses coin: Bool public  win hen }
  invariant secret "a hen does not know the fox":
    at(day) and players == 4 implies
      all(p in Player, q in Player | p != q and role[p] == hen implies not knows(p, role[q] == fox)) expect proved
  progress goes_on "the cards can always be dealt" expect proved
}
"""

DEALT = [
    ("own", "proved", "proved"),
    ("own weighing (if role[host] == fox then 1 else 0)", "refuted", "proved"),
    ("own weighing (if role[host] == fox then 1 else 5)", "proved", "proved"),
    ("own weighing 0", "vacuous", "refuted"),
    ('own require role[host] == fox "the host is the fox"', "refuted", "proved"),
    ('own require role[host] == hen "the host is a hen"', "proved", "proved"),
    ('own require role[host] == fox and role[left(host)] == fox "both"', "vacuous", "refuted"),
    ('own require role[host] == fox or players == 4 "the host"', "proved", "proved"),
    ('own require host != left(left(host)) or role[host] == fox "nobody sits alone"', "proved", "proved"),
    ('own require players == 3 "only three may sit down"', "vacuous", "refuted"),
]  # fmt: skip


def den(dealt: str, initial: str = "") -> Model:
    words = dealt.split()
    if "weighing" in words:  # the order the language wants: weights, who sees it, requirements
        dealt = dealt.removeprefix("own ") + " own"
    return model_of(DEN.replace("DEALT", dealt).replace("INITIAL", initial), "den")


def verdicts(model: Model) -> dict[str, str]:
    return {v.name: v.outcome for v in prove(model, "den", Options(seconds=60, games=20, deepest=12))}


def deals(model: Model) -> Iterator[tuple[Model, int, list[tuple[str, ...]]]]:
    """Every table and host, with the deals the interpreter allows."""
    for players in (3, 4):
        table = settle(model, {"players": players}).model
        cards = ["fox", *["hen"] * (players - 1)]
        for host in range(players):
            state = reference.step(table, reference.start(table).state, ((CHANCE, host),)).state
            allowed = set(reference.options(table, state, CHANCE))
            yield table, host, [x for x in sorted(set(permutations(cards))) if x in allowed]


@pytest.mark.parametrize(("dealt", "secret", "goes_on"), DEALT)
def test_what_can_be_dealt_decides_who_knows_the_fox(dealt: str, secret: str, goes_on: str) -> None:
    model = den(dealt)
    assert verdicts(model) == {"secret": secret, "goes_on": goes_on}
    every = [(host, possible) for table, host, possible in deals(model) if table.players.count == 4]
    certain = any(
        len({x.index("fox") for x in possible if x[p] == "hen"}) == 1
        for _, possible in every
        for p in range(4)
    )
    assert certain == (secret == "refuted")
    assert all(possible for _, _, possible in deals(model)) == (goes_on == "proved")


def test_cards_everybody_holds_before_a_deal_are_no_secret() -> None:
    """Where no cards are dealt after all, the first seat is the fox from the start, as everybody knows."""
    first = "hidden role: Player -> Beast = map(p in Player: if all(q in Player | p <= q) then fox else hen)"
    book = DEN.replace("INITIAL", first).replace(
        "role: Player -> Beast from deck DEALT", "role from deck own"
    )
    skipped = "chance chooses skip: Bool public  if skip { next day }  next dealing"
    model = model_of(book.replace("chance chooses host  next dealing", skipped), "den")
    assert verdicts(model)["secret"] == "refuted"


@pytest.mark.parametrize("dealt", [x for x, _, goes_on in DEALT if goes_on == "proved"])
def test_random_games_deal_what_may_be_dealt(dealt: str) -> None:
    model = den(dealt)
    met = {(s.players, s.state.phase) for s in samples(model, 40)}
    assert {(3, "day"), (4, "day")} <= met


def test_a_random_game_stops_where_nothing_may_be_dealt() -> None:
    rng = Random(1)
    table = random_params(den("own weighing 0"), rng)
    assert table is not None
    game = random_game(table, rng)
    assert game is not None
    assert [state.phase for state in game.states] == ["seat", "dealing"]
