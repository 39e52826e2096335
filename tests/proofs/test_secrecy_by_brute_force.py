"""The proofs about Merlin's secret, held against an oracle that tries every deal and knows nothing of the prover."""

from __future__ import annotations

from random import Random

from avalon_logic.configuration import Configuration, load
from rules_dsl import reference
from rules_dsl.play import Step
from tests.oracle.brute_worlds import Json, World, answer
from tests.oracle.random_positions import random_play

ENDS = ("role", "not_role", "assume", "claim")  # the naming, and what no rule makes certain


def merlins(position: Json) -> set[int]:
    return {world.index("Merlin") for world in answer(position).worlds}


def before_the_naming(position: Json) -> Json:
    return {**position, "observations": [o for o in position["observations"] if o["type"] not in ENDS]}


def positions(role: str, many: int) -> list[tuple[Json, World]]:
    rng, found = Random(11), []
    while len(found) < many:
        position, world = random_play(rng, players=(5, 6, 7), most_deals=900)
        seat = position["viewer"]
        if seat is not None and seat["role"] == role and "Merlin" in position["deck"]:
            found.append((position, world))
    return found


def test_no_servant_is_certain_of_merlin_before_the_naming() -> None:
    for position, world in positions("Servant", 40):
        left = merlins(before_the_naming(position))
        assert world.index("Merlin") in left
        assert len(left) > 1


def test_the_naming_can_make_a_servant_certain() -> None:
    """Five players, seat 1 a servant; the Assassin, seat 5, has hit seat 2."""
    named: Json = {
        "players": 5,
        "deck": {"Merlin": 1, "Servant": 2, "Assassin": 1, "Minion": 1},
        "viewer": {"seat": 1, "role": "Servant"},
        "options": {},
        "observations": [
            {"type": "role", "seat": 5, "role": "Assassin"},
            {"type": "role", "seat": 2, "role": "Merlin"},
        ],
    }
    assert merlins(named) == {1}


def test_percival_can_be_certain_of_merlin_without_morgana() -> None:
    for position, world in positions("Percival", 20):
        left = merlins(before_the_naming(position))
        if "Morgana" not in position["deck"]:
            assert left == {world.index("Merlin")}


def test_renaming_seats_renames_what_the_reveal_shows() -> None:
    """Turning the table by one seat turns every view by one seat."""
    roles = ("merlin", "percival", "assassin", "morgana", "mordred")
    model = load(Configuration("avalon", 9, roles=roles)).model
    rng = Random(5)
    deal = [
        "merlin",
        "percival",
        "servant",
        "servant",
        "servant",
        "servant",
        "assassin",
        "morgana",
        "mordred",
    ]
    for _ in range(20):
        rng.shuffle(deal)
        here, turned = _revealed(model, tuple(deal)), _revealed(model, (deal[-1], *deal[:-1]))
        moved = {(seat + 1) % 9: frozenset((s + 1) % 9 for s in seen) for seat, seen in here.items()}
        assert moved == turned
        assert here


def _revealed(model, deal: tuple[str, ...]) -> dict[int, frozenset[int]]:  # type: ignore[no-untyped-def]
    step: Step = reference.step(model, reference.start(model).state, ((-1, deal),))
    step = reference.step(model, step.state, ((-1, 0),))
    return {o.seat: o.value for o in step.observations if o.kind == "shown"}  # type: ignore[misc]
