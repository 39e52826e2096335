"""Games after which somebody is certain: none is missed, none is given that has a twin, and few are tried in vain."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from proofs import certainty
from proofs.certainty import CertainGames, kinds_of_end
from proofs.clock import Clock
from proofs.pairs import pair_of
from tests.proofs.house import model_of, verdicts_of

CERTAIN = (
    'invariant nobody "nobody is certain": all(p in Player | coin implies not knows(p, coin)) expect refuted'
)

PEEK = """
game peek "A coin, and a look at it of which the table keeps no trace" {
  players 2..3
  result Player
  ruling looks "May anybody look?" { yes "they may"  no "they may not" } default no
  public looked: 0..7 = 0
  public turn: Player
  hidden coin: Bool = false
  start toss
  phase toss { chance chooses coin  next look }
  phase look {
    turn chooses looked
    show side to p in Player where (SEES) and p == turn: coin
    looked := 0
    END
  }
  CLAIM
}
"""


def peek(sees: str, end: str = "win turn", claim: str = CERTAIN) -> str:
    return PEEK.replace("SEES", sees).replace("END", end).replace("CLAIM", claim)


def tried(text: str, seed: int, monkeypatch: pytest.MonkeyPatch) -> tuple[int, int]:
    """How long the game found is, and how many were looked at in vain, with a seed for the solver."""
    made: Callable[..., Any] = certainty.finite_solver

    def seeded() -> Any:
        solver = made()
        solver.set("random_seed", seed)
        return solver

    monkeypatch.setattr(certainty, "finite_solver", seeded)
    model = model_of(text, "peek")
    pair = pair_of(model)
    claim = model.properties["nobody"].value
    assert claim is not None
    search = CertainGames(pair, claim, True, kinds_of_end(pair))
    found = search.shortest(6, Clock.of(60))
    assert found.game is not None
    return found.depth, search.candidates


def test_a_look_that_leaves_no_trace_in_the_last_state_still_makes_certain() -> None:
    """Every game ends in the same state, whether anybody looked or not."""
    (found,) = verdicts_of(peek("looked == 3"), game="peek")
    assert (found.outcome, found.depth) == ("refuted", 2)
    assert found.game is not None
    assert found.game.moves[1] == ((found.game.states[0].values[1], 3),)


def test_a_ruling_the_last_state_does_not_show_still_makes_certain() -> None:
    (found,) = verdicts_of(peek("looks == yes"), game="peek")
    assert (found.outcome, found.depth) == ("refuted", 2)
    assert found.game is not None
    assert found.game.params["looks"] == "yes"


def test_without_a_look_nobody_is_ever_certain() -> None:
    (found,) = verdicts_of(peek("false"), game="peek")
    assert found.outcome == "proved"
    assert "complete unrolling" in found.how


def test_to_be_shown_nothing_can_make_certain_too() -> None:
    tails = CERTAIN.replace(
        "coin implies not knows(p, coin)", "over and not coin implies not knows(p, not coin)"
    )
    (found,) = verdicts_of(peek("coin and looked == 1", claim=tails), game="peek")
    assert (found.outcome, found.depth) == ("refuted", 2)


def test_a_twin_is_no_twin_under_a_ruling_that_forbids_its_moves() -> None:
    text = peek("false").replace(
        "chance chooses coin", 'chance chooses coin require looks == no or coin "heads only"'
    )
    (found,) = verdicts_of(text, game="peek")
    assert (found.outcome, found.depth) == ("refuted", 1)
    assert found.game is not None
    assert found.game.params["looks"] == "yes"


def test_a_twin_is_no_twin_under_a_ruling_that_makes_the_fact_true_in_it() -> None:
    told = CERTAIN.replace("knows(p, coin)", "knows(p, coin or looks == yes)")
    (found,) = verdicts_of(peek("false", claim=told), game="peek")
    assert (found.outcome, found.depth) == ("refuted", 1)


def test_a_twin_is_no_twin_under_a_ruling_that_takes_it_elsewhere() -> None:
    text = peek("false").replace("next look }", "if looks == yes and not coin { next aside }  next look }")
    text = text.replace(
        "  invariant", "  phase aside { turn chooses other: 0..7 public  win turn }\n  invariant"
    )
    (found,) = verdicts_of(text, game="peek")
    assert (found.outcome, found.depth) == ("refuted", 1)


@pytest.mark.parametrize("seat", ["first", "left(first)", "right(first)"])
def test_one_seats_doubt_is_not_another_seats(seat: str) -> None:
    """Nobody sees whose turn it is; at his turn one of the seats is shown the coin."""
    text = peek(
        "false",
        "win first",
        claim=CERTAIN.replace("all(p in Player | coin", "(coin").replace("(p, coin)", "(turn, coin)"),
    )
    text = text.replace("players 2..3", "players 3..3").replace(
        "public turn", "public first: Player\n  hidden turn"
    )
    text = text.replace("next look }", "next whose }\n  phase whose { chance chooses turn  next look }")
    text = text.replace("turn chooses looked", "")
    text = text.replace("(false) and p == turn", f"p == turn and turn == {seat}")
    (found,) = verdicts_of(text, game="peek")
    assert (found.outcome, found.depth) == ("refuted", 2)


@pytest.mark.parametrize("seed", range(1, 13))
def test_a_kind_of_end_that_failed_is_put_off(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Eight ways to end the game look different and tell nothing; the ninth phase tells."""
    text = peek("false", "if looked == 3 { looked := 0 next tell } win turn").replace("  CLAIM", "")
    text = text.replace("    looked := 0\n    if", "    if").replace(
        "  invariant", "  phase tell { publish side = coin  win left(turn) }\n  invariant"
    )
    depth, candidates = tried(text, seed, monkeypatch)
    assert depth == 2
    assert candidates <= 4, "one for each kind of end: two or three seats may win"


@pytest.mark.parametrize("seed", range(1, 13))
def test_a_kind_put_off_comes_back_before_longer_games_are_tried(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    depth, _ = tried(peek("looked == 3"), seed, monkeypatch)
    assert depth == 2


def test_one_twin_stands_for_all_rulings_under_which_it_is_legal() -> None:
    """There is nothing to tell the games apart by but the number of seats, and what was chosen: nothing yet, or one of
    eight numbers."""
    model = model_of(peek("false"), "peek")
    pair = pair_of(model)
    claim = model.properties["nobody"].value
    assert claim is not None
    search = CertainGames(pair, claim, True, kinds_of_end(pair))
    found = search.shortest(8, Clock.of(60))
    assert found.game is None
    assert found.complete
    assert 0 < search.candidates <= 2 * 9


@pytest.mark.parametrize(
    "doubts",
    [
        "all(p in Player | not knows(p, coin))",
        "not exists(p in Player | knows(p, coin))",
        "(coin implies not knows(turn, coin)) and not knows(left(turn), coin)",
    ],
)
def test_that_several_seats_doubt_at_once_is_not_decided_by_the_doubt_of_one(doubts: str) -> None:
    """One twin shows the doubt of one seat; here the game that shows the claim needs a twin for each."""
    claim = f'reachable nobody "nobody knows of the coin": over and coin and {doubts} expect proved'
    (found,) = verdicts_of(peek("false", claim=claim), game="peek")
    assert found.outcome == "proved"
    assert found.game is not None


def test_that_nobody_doubts_is_not_said_of_a_game_in_which_one_seat_knows() -> None:
    claim = 'reachable nobody "nobody knows": over and coin and all(p in Player | not knows(p, coin)) expect refuted'
    (found,) = verdicts_of(peek("true", claim=claim), game="peek")
    assert found.outcome == "refuted"
