"""Claims that what a phase shows is the same for every seating, on small games and against exchanged deals."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, product

import pytest

from proofs.prover import Options, prove
from proofs.verdicts import Verdict
from rules_dsl import Model, build_model, compose, library, parse, reference
from rules_dsl.play import CHANCE, Observation
from rules_dsl.settle import fix, settle

CARDS = """
game looks {
  players 3..4
  enum Colour { red, black }
  result Colour
  param deck: Colour -> 0..4 = map(c in Colour: if c == red then 1 else players - 1)
  public first: Player
  public reds: Set<Player> = {}
  public someone: Player? = none
  start deal
  phase deal { chance deals card: Player -> Colour from deck own  next begin }
  phase begin { chance chooses first  next look }
  phase look {
    SHOWN
    win red
  }
  symmetric alike "all seats are alike": PHASE expect proved
}
"""

SHOWN = [
    ("show friends to p in Player where card[p] == red: { q in Player | q != p and card[q] == red }", True),
    (
        "show friends to p in Player where card[p] == red: { q in Player | card[q] == red and q != left(p) }",
        False,
    ),
    ("show number to p in Player: count(q in Player | card[q] == red)", True),
    ("show beside to p in Player where p != first: card[left(p)]", False),
    ("show start to p in { first }: map(q in Player: card[q] == card[first])", True),
    ("publish told = { q in Player | card[q] == red }", True),
    ("publish told = card[left(first)]", False),
    ("publish told = card[first]", True),
    ("if card[first] == red { show start to p in Player where card[p] == red: first }", True),
    ("if card[left(first)] == red { show start to p in Player where card[p] == red: first }", False),
]


def model_of(shown: str, phase: str = "look") -> Model:
    book = parse(CARDS.replace("SHOWN", shown).replace("PHASE", phase))
    return build_model(compose(library([book]), "looks"))


def verdict(model: Model) -> Verdict:
    (found,) = prove(model, "looks", Options(seconds=60, games=10))
    return found


def _seen(table: Model, deal: tuple[str, ...], first: int) -> set[Observation]:
    state = reference.step(table, reference.start(table).state, ((CHANCE, deal),)).state
    step = reference.step(table, state, ((CHANCE, first),))
    return {o for o in step.observations if o.kind in ("shown", "published")}


def _tables(model: Model) -> Iterator[tuple[Model, tuple[str, ...]]]:
    for players in (3, 4):
        for deal in product(("red", "black"), repeat=players):
            deck = (deal.count("red"), deal.count("black"))
            yield settle(model, {"players": players, "deck": deck}).model, deal


def is_symmetric(model: Model) -> bool:
    """Every deal and every two seats, by the interpreter."""
    for table, deal in _tables(model):
        players = len(deal)
        for a, b in combinations(range(players), 2):
            other = {a: b, b: a}
            turned = tuple(deal[other.get(i, i)] for i in range(players))
            for first in range(players):
                ours = {_renamed(o, other) for o in _seen(table, deal, first)}
                if ours != _seen(table, turned, other.get(first, first)):
                    return False
    return True


def _renamed(o: Observation, other: dict[int, int]) -> Observation:
    value = o.value
    if isinstance(value, frozenset):
        value = frozenset(other.get(x, x) for x in value)  # type: ignore[call-overload]
    elif isinstance(value, tuple):
        value = tuple(value[other.get(i, i)] for i in range(len(value)))
    elif o.name == "start":
        value = other.get(value, value)  # type: ignore[call-overload]
    to = None if o.to is None else frozenset(other.get(x, x) for x in o.to)
    seat = None if o.seat is None else other.get(o.seat, o.seat)
    return Observation(o.phase, o.kind, o.name, seat, value, to)


@pytest.mark.parametrize(("shown", "alike"), SHOWN)
def test_symmetry_agrees_with_exchanging_seats_by_hand(shown: str, alike: bool) -> None:
    model = model_of(shown)
    found = verdict(model)
    assert found.outcome == ("proved" if alike else "refuted")
    assert is_symmetric(model) == alike


@pytest.mark.parametrize("players", [3, 4])
def test_symmetry_is_decided_for_one_number_of_players_too(players: int) -> None:
    shown, crooked = SHOWN[0][0], SHOWN[1][0]
    assert verdict(fix(model_of(shown), {"players": players})).outcome == "proved"
    assert verdict(fix(model_of(crooked), {"players": players})).outcome == "refuted"


def test_a_broken_symmetry_is_shown_by_a_game_and_two_seats() -> None:
    found = verdict(model_of("show beside to p in Player where p != first: card[left(p)]"))
    assert found.game is not None
    assert len(found.game.moves) == found.depth == 2
    assert "exchange seats" in found.how


def test_a_phase_that_shows_nothing_proves_nothing() -> None:
    assert verdict(model_of("publish told = card[first]", "begin")).outcome == "vacuous"
