"""Claims that a phase is silent, or the same for every seating, where nobody chooses in the phase; against every deal."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

import pytest

from proofs.telling import tell_games
from proofs.verdicts import Verdict
from rules_dsl import Model, reference, settle
from rules_dsl.play import Observation, State
from tests.differential.knowledge import legal_moves, seen_by
from tests.proofs.house import model_of, verdicts_of

LOOKS = """
game looks {
  players 3..3
  enum Colour { red, black }
  result Colour
  public first: Player
  public told: 0..3 = 0
  hidden marked: Player
  start START
  phase deal { each p in Player chooses card: Colour secret  next mark }
  phase mark { chance chooses marked  next AFTER }
  phase look { HAPPENS  next BEFORE }
  phase name { chance chooses first  win red }
  CLAIM
}
"""

SILENT = [
    ("", "proved"),
    ("publish reds = count(p in Player | card[p] == red)", "refuted"),
    ("publish nothing = told", "proved"),
    ("show mine to p in Player: card[p]", "proved"),
    ("show beside to p in Player: card[left(p)]", "refuted"),
    ("show it to p in { marked }: told", "refuted"),
    ("told := count(p in Player | card[p] == red)", "proved"),
    ("if card[marked] == red { publish sign = 1 }", "refuted"),
    ("if told == 1 { publish sign = 1 }", "proved"),
]


def book(happens: str, claim: str, start: str = "deal") -> str:
    after, before = ("look", "name") if start == "deal" else ("name", "deal")
    text = LOOKS.replace("AFTER", after).replace("BEFORE", before)
    return text.replace("HAPPENS", happens).replace("CLAIM", claim).replace("START", start)


def verdict(text: str) -> Verdict:
    (found,) = verdicts_of(text, game="looks", seconds=60)
    return found


@pytest.mark.parametrize(("happens", "expected"), SILENT)
def test_a_phase_nobody_chooses_in_is_silent_if_what_follows_its_entry_looks_the_same(
    happens: str, expected: str
) -> None:
    text = book(happens, 'silent quiet "it tells nothing": look expect proved')
    found = verdict(text)
    assert found.outcome == expected
    assert is_silent(model_of(text, "looks")) == (expected == "proved")
    if expected == "refuted":
        assert found.game is not None
        assert found.twin is not None
        assert found.game.moves != found.twin.moves
        assert len(found.game.moves) == len(found.twin.moves) == found.depth
        assert tell_games(model_of(text, "looks"), found)


def is_silent(model: Model) -> bool:
    """Every game, grouped by what a seat had seen when the phase was entered: what it sees then, up to the next choice."""
    table = settle(model, {}).model
    after: dict[object, set[object]] = defaultdict(set)
    for _, seen in games(table):
        for seat in range(3):
            mine = [seen_by(event, seat) for event in seen]
            for i, event in enumerate(mine):
                for k, one in enumerate(event):
                    if one.kind == "phase" and one.name == "look":
                        after[seat, *mine[:i], event[: k + 1]].add(event[k + 1 :])
    assert after
    return all(len(found) == 1 for found in after.values())


def games(table: Model) -> Iterator[tuple[State, list[tuple[Observation, ...]]]]:
    first = reference.start(table)
    queue = [(first.state, [first.observations])]
    while queue:
        state, seen = queue.pop()
        if state.over:
            yield state, seen
            continue
        for move in legal_moves(table, state):
            step = reference.step(table, state, move)
            queue.append((step.state, [*seen, step.observations]))


def test_a_phase_at_the_very_start_is_asked_as_well() -> None:
    phase = "publish sign = 1  show beside to p in { first }: left(p)"
    (silent,) = verdicts_of(book(phase, 'silent q "s": look expect proved', "look"), game="looks")
    assert silent.outcome == "proved"  # everybody knows beforehand what will be shown
    (crooked,) = verdicts_of(book(phase, 'symmetric q "s": look expect refuted', "look"), game="looks")
    assert crooked.outcome == "refuted"  # it is always the first seat that is shown something
    assert crooked.game is not None
    assert crooked.game.moves == ()
    even = "publish sign = told  show beside to p in Player: left(p)"
    (straight,) = verdicts_of(book(even, 'symmetric q "s": look expect refuted', "look"), game="looks")
    assert straight.outcome == "refuted"  # the next seat clockwise is another one after an exchange
    (same,) = verdicts_of(
        book("show me to p in Player: p", 'symmetric q "s": look expect proved', "look"), game="looks"
    )
    assert same.outcome == "proved"


def test_a_silent_phase_that_is_never_entered_is_hollow() -> None:
    text = book("if told == 3 { next hall }", 'silent quiet "it tells nothing": hall expect proved')
    text = text.replace("phase name {", "phase hall { publish two = marked  next name }\n  phase name {", 1)
    assert verdict(text).outcome == "vacuous"
