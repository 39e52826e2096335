"""The prover on small games: every verdict there is, hollow claims, knowledge checked by brute force."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from proofs.knowledge import demands
from proofs.prover import Options, prove
from proofs.verdicts import REFUTED, Verdict, exit_code
from rules_dsl import Model, build_model, compose, library, parse, reference
from rules_dsl.model import Knows
from rules_dsl.play import Observation, State
from rules_dsl.settle import settle
from rules_dsl.walk import every
from tests.proofs.knowing_by_trying import true_everywhere

CARDS = """
game cards {
  players 3..4
  enum Colour { red, black }
  result Colour
  param deck: Colour -> 0..4 = map(c in Colour: if c == red then 1 else players - 1)
  setup error unless deck[red] >= 1 and deck[red] + deck[black] == players "one card each"
  public turns: 0..3 = 0
  public shown: Player
  start deal
  phase deal { chance deals card: Player -> Colour from deck own  next turn }
  phase turn {
    chance chooses shown
    publish colour = card[shown]
    turns := min(turns + 1, 3)
    if turns == 2 { win colour }
    next turn
  }
  PROPERTIES
}
"""


def model_of(*properties: str, text: str = CARDS) -> Model:
    book = parse(text.replace("PROPERTIES", "\n".join(properties)), "cards.rules")
    return build_model(compose(library([book]), next(iter(g.name for g in book.games))))


def verdict(*properties: str, text: str = CARDS) -> Verdict:
    found = list(prove(model_of(*properties, text=text), "cards", Options(seconds=60, games=20)))
    return found[-1]


def test_a_true_invariant_is_proved() -> None:
    assert verdict('invariant few "few turns": turns <= 2 expect proved').outcome == "proved"


def test_a_false_invariant_is_refuted_by_the_shortest_game() -> None:
    found = verdict('invariant no_turn "no turn": turns == 0 expect proved')
    assert (found.outcome, found.depth) == ("refuted", 2)
    assert exit_code([found]) == 1


def test_a_hollow_claim_is_called_vacuous() -> None:
    found = verdict('invariant hollow "never": turns == 3 implies shown == left(shown) expect proved')
    assert found.outcome == "vacuous"
    assert exit_code([found]) == 1


def test_a_witness_is_a_game() -> None:
    found = verdict('reachable two "two turns": turns == 2 and over expect proved')
    assert found.outcome == "proved"
    assert found.game is not None
    assert found.game.states[-1].over


def test_what_cannot_be_reached_is_refuted() -> None:
    assert verdict('reachable three "three turns": turns == 3 expect refuted').outcome == "refuted"


def test_the_end_is_bounded() -> None:
    assert verdict('terminates ends "it ends" within 3 expect proved').outcome == "proved"
    assert verdict('terminates ends "it ends" within 2 expect proved').outcome == "refuted"


def test_no_time_is_unknown_and_never_a_pass() -> None:
    model = model_of('invariant few "few turns": turns <= 2 expect proved')
    (found,) = prove(model, "cards", Options(seconds=1e-6, games=5))
    assert found.outcome in ("unknown", "bounded")
    assert exit_code([found]) == 3


def test_somebody_stuck_is_found() -> None:
    text = CARDS.replace(
        "chance chooses shown", 'shown chooses pass: Bool public\n require turns == 0 "once"'
    )
    found = verdict('progress never_stuck "somebody can go on" expect proved', text=text)
    assert (found.outcome, found.depth) == ("refuted", 2)


KNOWING = [
    ('all(p in Player | card[p] == red implies knows(p, card[p] == red))', "proved"),
    ('all(p in Player, q in Player | card[q] == red implies knows(p, card[q] == red))', "refuted"),
    ("turns > 0 implies all(p in Player | colour == red implies knows(p, card[shown] == red))", "proved"),
    ("turns == 0 implies all(p in Player, q in Player | p != q and deck[red] == 1 and card[p] == black "
     "implies possible(p, card[q] == red))", "proved"),
    ("all(p in Player, q in Player | p != q and card[p] == black implies not knows(p, card[q] == red))", "refuted"),
    ("turns == 0 implies all(p in Player, q in Player | p != q and deck[red] == 2 and card[p] == black "
     "implies possible(p, card[q] == red))", "proved"),
    ("turns < 2 and deck[red] == 1 and players == 4 and deck[black] == 3 implies all(p in Player, q in Player | "
     "p != q and card[p] == black and q != shown implies possible(p, card[q] == red))", "refuted"),
]  # fmt: skip


def histories(model: Model) -> Iterator[tuple[State, list[list[Observation]], dict[str, object]]]:
    """Every game of every table, by the interpreter: the state and what was observed, event by event."""
    for players in (3, 4):
        for red in range(1, players + 1):
            params = {"players": players, "deck": (red, players - red)}
            settled = settle(model, params)
            if settled.errors:
                continue
            first = reference.start(settled.model)
            queue = [(first.state, [list(first.observations)])]
            while queue:
                state, seen = queue.pop()
                yield state, seen, params
                awaited = reference.pending(settled.model, state)
                if awaited is None:
                    continue
                for value in reference.options(settled.model, state, awaited.seats[0]):
                    step = reference.step(settled.model, state, ((awaited.seats[0], value),))
                    queue.append((step.state, [*seen, list(step.observations)]))


@pytest.mark.parametrize(("claim", "expected"), KNOWING)
def test_claims_about_knowledge_agree_with_brute_force(claim: str, expected: str) -> None:
    said = f'invariant k "somebody knows": not at(deal) implies ({claim}) expect proved'
    found = verdict(said)
    assert found.outcome == expected
    assert _by_brute_force(model_of(said)) == (expected == "proved")


def _by_brute_force(model: Model) -> bool:
    from dataclasses import replace

    from proofs.pairs import plain_scene
    from rules_dsl.smt import Game, compile_smt
    from rules_dsl.smt.expressions import Scene, truth_of, value_of

    system = compile_smt(model)
    all_of_them = list(histories(model))
    value = model.properties["k"].value
    assert value is not None
    by_view: dict[tuple[object, ...], list[Scene]] = {}
    scenes = [plain_scene(system, Game(params, (state,), ())) for state, _, params in all_of_them]  # type: ignore[arg-type]

    def view(seat: int, index: int) -> tuple[object, ...]:
        _, seen, params = all_of_them[index]
        return (seat, tuple(params.items()), tuple(tuple(o for o in x if o.seen_by(seat)) for x in seen))

    for index, (_, _, params) in enumerate(all_of_them):
        for seat in range(int(params["players"])):  # type: ignore[call-overload]
            by_view.setdefault(view(seat, index), []).append(scenes[index])

    def holds(index: int) -> bool:
        def knows(scene: Scene, expr: Knows) -> bool:
            alike = by_view[view(value_of(expr.player, scene).value, index)]
            return all(truth_of(expr.fact, replace(s, bound=scene.bound)) is True for s in alike)

        return truth_of(value, replace(scenes[index], knows=knows)) is True

    return all(holds(index) for index in range(len(all_of_them)))


def test_claims_that_take_two_twins_to_refute_are_decided_game_by_game() -> None:
    entangled = 'invariant k "a or b": knows(shown, turns == 0) or knows(shown, turns == 1) expect proved'
    value = model_of(entangled).properties["k"].value
    assert value is not None
    assert any(isinstance(e, Knows) for e in every(value))
    assert demands(value) == "both"
    assert not true_everywhere(model_of(entangled), value)
    assert verdict(entangled).outcome == REFUTED
