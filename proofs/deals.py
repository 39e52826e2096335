"""Arrangements of a deck as terms: the deck laid out kind by kind, its cards moved to other places.

For a deal that rules or weights limit. An arrangement found legal at one table is kept as what it does with the laid-out
deck, so that it can be tried at tables with other decks as well.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rules_dsl.model import Value
from rules_dsl.smt import Step, System
from rules_dsl.smt.expressions import at_place, value_of
from rules_dsl.smt.raw import substituted
from rules_dsl.smt.symbolic import MapOf, Symbolic, conform, constant, leaves, merge
from rules_dsl.smt.system import deal_places
from rules_dsl.smt.terms import Num, Truth, less, not_, number, term, total
from rules_dsl.smt.unroll import input_leaves
from rules_dsl.types import MapType, cardinality
from rules_dsl.values import least, ordinal

Order = tuple[int, ...]  # for every place: which card of the laid-out deck lies there


def plain_order(step: Step) -> Order:
    assert isinstance(step.choice.type, MapType)
    return tuple(range(cardinality(step.choice.type.key)))


def order_of(step: Step, dealt: Sequence[Value]) -> Order:
    """What an arrangement does with the laid-out deck; places that are not taken at its table stay as they are."""
    assert isinstance(step.choice.type, MapType)
    kinds = [ordinal(step.choice.type.value, card) for card in dealt]  # type: ignore[arg-type]
    laid_out = sorted(range(len(kinds)), key=lambda i: kinds[i])  # card j of the laid-out deck came from here
    order = list(plain_order(step))
    for card, place in enumerate(laid_out):
        order[place] = card
    return tuple(order)


def may_be_dealt(system: System, step: Step, order: Order) -> Any:
    """Moving the cards of the laid-out deck like this gives an arrangement that may be dealt."""
    assert step.choice.deal is not None
    assert isinstance(step.choice.type, MapType)
    type_ = step.choice.type
    counts = value_of(step.choice.deal, system.scene(system.before)).entries
    taken = deal_places(type_, system.players)
    blank = constant(least(type_.value), type_.value)
    cards = (merge(here, _card(card, counts, type_), blank) for here, card in zip(taken, order, strict=True))
    value = conform(MapOf(tuple(cards)), type_)
    pairs = list(zip(input_leaves(step, system.model), leaves(value, type_), strict=True))
    return substituted(term(step.legal), pairs)


def _card(place: int, counts: Sequence[Num], type_: MapType) -> Symbolic:
    """The card at a place of the deck laid out kind by kind."""
    kind: Any = type_.value
    made = at_place(0, kind)
    for i in range(1, len(counts)):
        before: Truth = not_(less(number(place), total(counts[:i])))
        made = merge(before, at_place(i, kind), made)
    return made
