"""What has to be checked for a proof about two games that look the same to a seat: obligations as in `obligations`.

What both games share holds at the start, is kept by every two steps that look the same, and excludes what the claim
forbids. That the claims about each game by itself hold is an obligation of the induction they come from.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Any

import z3  # type: ignore[import-untyped]

from proofs.agreement import Agreement
from proofs.evidence import Twins
from proofs.obligations import Obligation
from rules_dsl.smt.terms import Truth, term


def _parts(labelled: list[tuple[str, Truth]]) -> tuple[tuple[str, Any], ...]:
    return tuple((label, term(part)) for label, part in labelled if part is not True)


def _shared(agreement: Agreement) -> list[tuple[str, Truth]]:
    return [
        (f"shared {i}: {agreement.claims[i].text}", agreement.claims[i].value)
        for i in sorted(agreement.alive)
    ]


def _some_lost(agreement: Agreement, moved: list[Any]) -> Any:
    return z3.Or(*(z3.Not(moved[i]) for i in sorted(agreement.alive)))


def _ground(agreement: Agreement) -> list[tuple[str, Truth]]:
    return [(f"known of each game {i}", part) for i, part in enumerate(agreement.ground())]


def agreement_obligations(agreement: Agreement) -> Iterator[Obligation]:
    """What two games that look the same share, at the start and after every step."""
    pair = agreement.pair
    first = agreement.moved(pair.system.initial, pair.twin.initial)
    yield Obligation(
        "pair initiation",
        "What two games that look the same share holds when they start.",
        _parts(
            [
                ("the parameters are allowed", pair.system.valid),
                ("the watcher has a seat", pair.seated),
                ("both starts look the same", pair.same_start),
                ("something is not shared", _some_lost(agreement, first)),
            ]
        ),
    )
    for place in pair.system.steps:
        ours, theirs = pair.system.steps[place], pair.twin.steps[place]
        here = [
            ("one game stands there", pair.system.at(pair.system.before, place)),
            ("and so does the other", pair.twin.at(pair.twin.before, place)),
            ("a legal step", ours.legal),
            ("a legal step of the other", theirs.legal),
            ("both look the same", pair.same_step[place]),
            (
                "something is not shared afterwards",
                _some_lost(agreement, agreement.moved(ours.after, theirs.after)),
            ),
        ]
        yield Obligation(
            f"pair consecution {place}",
            f"Two steps at {place} that look the same keep what is shared.",
            _parts([*_ground(agreement), *_shared(agreement), *here]),
        )


def twin_obligations(twins: Twins) -> Iterator[Obligation]:
    """Every game has the twins that these exchanges make of it, and they look the same to the watcher.

    A state has a stage: its place, and which of the conditions that the claim names hold. Steps lead from stage to stage
    only as listed; on every step towards the stage an exchange is used at, the exchanged game follows.
    """
    prover = twins.prover
    yield Obligation(
        "twin initiation",
        "A game with two seats exchanged begins as it did.",
        (("the parameters are allowed", term(prover.system.valid)), ("it does not", prover.start_differs())),
    )
    marks = _digest(prover.marks)
    for place in prover.system.steps:
        ground = prover.ground(place)
        yield Obligation(
            f"twin stages {marks} {place}",
            f"Steps at {place} lead from one stage of the game to another only as listed.",
            (*ground, ("it leads elsewhere", prover.elsewhere(place))),
        )
        differs = prover.deal_differs(place)
        if differs is not None:
            yield Obligation(
                f"twin deal {place}",
                "Cards of which two were exchanged lie as the deck has them.",
                (*ground, ("they do not", differs)),
            )
    for swap in twins.swaps:
        for place in prover.system.steps:
            failing = prover.failing(place, swap.guard, swap.shown, swap.stages)
            if failing is not None:
                yield Obligation(
                    f"twin step {_digest((swap.text, sorted(swap.stages, key=str), prover.marks))} {place}",
                    f"{swap.text}: a step at {place} can be followed and looks the same.",
                    (*prover.ground(place), *(("it cannot", part) for part in failing)),
                )


def _digest(value: object) -> str:
    """A short name for something too long to be one."""
    return hashlib.sha256(repr(value).encode("utf-8")).hexdigest()[:10]


def exclusion_obligation(agreement: Agreement, name: str, bad: Truth) -> Obligation:
    """What is shared rules out two games that show the claim false."""
    return Obligation(
        f"pair safety {name}",
        f"No two games that look the same show '{name}' false.",
        _parts([*_ground(agreement), *_shared(agreement), ("they do", bad)]),
    )
