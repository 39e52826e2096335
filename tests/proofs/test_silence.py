"""Claims that a phase tells nobody anything, on a small game, against every game there is."""

from __future__ import annotations

from collections import defaultdict

import pytest

from proofs.prover import Options, prove
from proofs.verdicts import Verdict
from rules_dsl import Model, build_model, compose, library, parse, reference
from rules_dsl import model as m
from rules_dsl.evaluate import holds
from rules_dsl.play import Move, Observation, State
from rules_dsl.settle import settle
from rules_dsl.smt import Game
from tests.differential.knowledge import legal_moves, seen_by

WHISPERS = """
game whispers {
  players 3..3
  enum Colour { red, black }
  result Colour
  param deck: Colour -> 0..3 = map(c in Colour: if c == red then 1 else 2)
  public asker: Player
  hidden teller: Player
  start deal
  phase deal { chance deals card: Player -> Colour from deck own  next nod }
  phase nod { each p in Player chooses nods: Bool public  next lay }
  phase lay {
    each p in { asker, left(asker) } chooses laid: Bool secret
      require card[p] == black implies not laid "black cards stay in the hand"
    publish many = count(p in Player | laid[p])
    next ask
  }
  phase ask {
    asker chooses asked: Player public
      require asked != asker "somebody else is asked"
    asked chooses answer: Colour shown to { asker }
      ought answer == card[asked] "the answer is true"
    teller := asked
    if answer != card[asked] { win card[asked] }
    next toss
  }
  phase toss { chance chooses coin: Bool public  win red }
  PROPERTY
}
"""

CLAIMS = [
    ("nod", "proved"),
    ("lay", "refuted"),
    ("ask", "refuted"),
    ("toss", "proved"),
    ("ask to p in Player where (at(ask) or p != asker) and not over", "proved"),
    ("ask to p in Player where at(ask) or p != asker", "refuted"),
    ("ask to p in { asker } where not over", "refuted"),
    ("ask to p in { teller } where not over and not at(ask)", "proved"),
    ("lay to p in Player where card[p] == red", "refuted"),
    ("lay to p in Player where card[p] == red and deck[red] == 1", "proved"),
    ("lay to p in Player where many == 0", "proved"),
    ("lay to p in Player where many == 1", "refuted"),
]  # fmt: skip


def model_of(claim: str) -> Model:
    book = parse(WHISPERS.replace("PROPERTY", f'silent quiet "it tells nothing": {claim} expect proved'))
    return build_model(compose(library([book]), "whispers"))


def verdict(claim: str) -> Verdict:
    model = model_of(claim)
    (found,) = prove(model, "whispers", Options(seconds=60, games=10))
    return found


def is_silent(model: Model) -> bool:
    """By the words of the definition: every game of every deal, grouped by what a seat has seen."""
    return all(_is_silent(settle(model, {"deck": (red, 3 - red)}).model) for red in range(4))


def _is_silent(table: Model) -> bool:
    claim = table.properties["quiet"]
    first = reference.start(table)
    level = [(first.state, [seen_by(first.observations, seat) for seat in range(3)])]
    while level:
        if not all(_answered(claim, table, level, seat) for seat in range(3)):
            return False
        level = [
            (step.state, [(*old, seen_by(step.observations, seat)) for seat, old in enumerate(seen)])
            for state, seen in level
            if not state.over
            for move in legal_moves(table, state)
            for step in [reference.step(table, state, move)]
        ]
    return True


Level = list[tuple[State, list[tuple[Observation, ...]]]]


def _answered(claim: m.Property, table: Model, level: Level, seat: int) -> bool:
    alike: dict[object, list[State]] = defaultdict(list)
    for state, seen in level:
        if not state.over and state.phase == claim.phase:
            alike[state.step, seen[seat]].append(state)
    for states in alike.values():
        outcomes = [_outcomes(claim, table, state, seat) for state in states]
        if any(mine - {look for look, _ in theirs} for mine in map(_meant, outcomes) for theirs in outcomes):
            return False
    return True


Outcome = tuple[tuple[Observation, ...], bool]


def _outcomes(claim: m.Property, table: Model, state: State, seat: int) -> set[Outcome]:
    """What a seat may see next, and whether the claim then speaks of it."""
    found = set()
    for move in legal_moves(table, state):
        step = reference.step(table, state, move)
        env = reference.environment(table, step.state).bind(**({claim.seat: seat} if claim.seat else {}))
        meant = claim.value is None or holds(claim.value, env)
        found.add((seen_by(step.observations, seat), meant))
    return found


def _meant(outcomes: set[Outcome]) -> set[tuple[Observation, ...]]:
    return {look for look, meant in outcomes if meant}


@pytest.mark.parametrize(("claim", "expected"), CLAIMS)
def test_silence_agrees_with_every_game_there_is(claim: str, expected: str) -> None:
    found = verdict(claim)
    assert found.outcome == expected
    assert is_silent(model_of(claim)) == (expected == "proved")


@pytest.mark.parametrize("claim", [c for c, expected in CLAIMS if expected == "refuted"])
def test_what_tells_is_shown_by_two_games_one_of_which_cannot_go_on_alike(claim: str) -> None:
    found = verdict(claim)
    assert found.game is not None
    assert found.twin is not None
    assert found.seat is not None
    assert len(found.game.moves) == len(found.twin.moves) + 1
    table = settle(model_of(claim), found.game.params).model
    ours, theirs = (_views(table, game, found.seat) for game in (found.game, found.twin))
    assert ours[:-1] == theirs
    last = found.twin.states[-1]
    answers = {
        seen_by(reference.step(table, last, x).observations, found.seat) for x in legal_moves(table, last)
    }
    assert ours[-1] not in answers


def _views(table: Model, game: Game, seat: int) -> list[tuple[Observation, ...]]:
    step = reference.start(table)
    views = [seen_by(step.observations, seat)]
    move: Move
    for move in game.moves:
        step = reference.step(table, step.state, move)
        views.append(seen_by(step.observations, seat))
    return views


def test_silence_nobody_is_there_to_hear_is_vacuous() -> None:
    assert verdict("nod to p in Player where over").outcome == "vacuous"


def test_a_silent_phase_that_starts_to_publish_is_found_out() -> None:
    """The claim dies with the rule it rests on."""
    told = WHISPERS.replace(
        "chooses nods: Bool public  next lay",
        """chooses nods: Bool public
      require card[p] == red implies nods "red cards nod"
    next lay""",
    )
    book = parse(told.replace("PROPERTY", 'silent quiet "it tells nothing": nod expect proved'))
    (found,) = prove(
        build_model(compose(library([book]), "whispers")), "whispers", Options(seconds=60, games=10)
    )
    assert found.outcome == "refuted"
