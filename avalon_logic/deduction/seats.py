"""What a seat knows besides what everybody sees: its card, whom it saw at the reveal, what only it was answered.

A record states this in its `deal` line and in what the phases show privately. Where the whole deal was written down
(afterwards, or by a site), it also follows from the deal: `sights_in_deal`, `with_duties`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from avalon_logic.deduction.setting import CARDS, Setting
from avalon_logic.fields import SAW, fields_of
from avalon_logic.records import Event, Record, RecordError, value_in, value_out
from rules_dsl import Model, Value
from rules_dsl import model as m
from rules_dsl.evaluate import Environment, evaluate, holds
from rules_dsl.types import MapType, SetType
from rules_dsl.values import all_values
from rules_dsl.walk import reads, statement_expressions, statements

# whom a seat saw, by showing; `SAW` stands for all showings together
Sights = Mapping[str, frozenset[int]]


_FOUND: dict[int, tuple[Model, tuple[tuple[str, m.Show], ...]]] = {}
_MOST_FOUND = 64


def card_shows(model: Model) -> tuple[tuple[str, m.Show], ...]:
    """The showings of seats that depend on nothing but the cards dealt, with their phases."""
    kept = _FOUND.get(id(model))
    if kept is None or kept[0] is not model:
        if len(_FOUND) >= _MOST_FOUND:
            _FOUND.clear()
        kept = _FOUND[id(model)] = (model, tuple(_card_shows(model)))
    return kept[1]


def _card_shows(model: Model) -> Iterator[tuple[str, m.Show]]:
    for phase in model.phases.values():
        for statement in statements(phase.body):
            if isinstance(statement, m.Show) and statement.value.type == SetType(model.players):
                read = {r for e in statement_expressions(statement) for r in reads(e, model.definitions)}
                if read <= {CARDS}:
                    yield phase.name, statement


def whole_deal(record: Record, model: Model) -> tuple[str, ...] | None:
    """The card of every seat, if the record has them all."""
    type_ = model.variables[CARDS].type
    assert isinstance(type_, MapType)
    for name, role in record.deal.items():
        record.seat(name)
        value_in(type_.value, role, record, "deal")
    if len(record.deal) < len(record.names):
        return None
    return tuple(record.deal[name] for name in record.names)


def sights_in_deal(model: Model, deal: tuple[str, ...], seat: int) -> Sights:
    """Whom a seat saw if these were the cards."""
    found: dict[str, frozenset[int]] = {}
    for _, show in card_shows(model):
        env = Environment(model, model.players.count, variables={CARDS: deal}).bind(**{show.seat: seat})
        there = show.domain is None or seat in evaluate(show.domain, env)  # type: ignore[operator]
        if there and holds(show.condition, env):
            found[show.name] = frozenset(evaluate(show.value, env))  # type: ignore[arg-type]
        else:
            found.setdefault(show.name, frozenset())
    return found


def sights_told(event: Event, record: Record, model: Model, seat: int) -> Sights | None:
    """Whom a seat saw by its own account in an event of a record; None if the event does not say."""
    name = record.names[seat]
    if not any(isinstance(told, dict) and name in told for told in event.values.values()):
        return None
    shows = {show.name for phase, show in card_shows(model) if phase == event.phase}
    found: dict[str, frozenset[int]] = {}
    for spec in fields_of(model, event.phase):
        told = event.values.get(spec.name)
        if not spec.shown or not isinstance(told, dict) or told.get(name) is None:
            continue
        if spec.name == SAW or spec.name in shows:
            assert isinstance(spec.type, MapType)
            value = value_in(spec.type.value, told[name], record, event.where)
            assert isinstance(value, frozenset)
            found[spec.name] = value  # type: ignore[assignment]
    if not found:
        return None
    if SAW not in found:
        found = {show: found.get(show, frozenset()) for show in sorted(shows)}
    return found


def with_duties(event: Event, record: Record, model: Model, deal: tuple[str, ...]) -> Event:
    """The event with what was answered in secret filled in where duty leaves one answer, given the whole deal."""
    phase = model.phases.get(event.phase)
    if phase is None:
        return event
    values: dict[str, Value] = {CARDS: deal}
    filled = dict(event.values)
    for choice in phase.choices:
        data = filled.get(choice.variable)
        if data is not None:
            if choice.chooser.kind in ("player", "one"):
                values[choice.variable] = value_in(m.choice_type(choice), data, record, event.where)
            continue
        bound = {choice.variable, choice.chooser.seat}
        conditions = [r.condition for r in choice.requires]
        read = {r for c in conditions for r in reads(c, model.definitions)}
        private = choice.audience.to is not None and choice.chooser.kind == "player" and not choice.optional
        if not private or not conditions or not read - bound <= set(values):
            continue
        env = Environment(model, model.players.count, variables=values)
        fit = [
            v
            for v in all_values(choice.type, model.players.count)
            if all(holds(c, env.bind(**{choice.variable: v})) for c in conditions)
        ]
        if len(fit) == 1:
            filled[choice.variable] = value_out(choice.type, fit[0], record.names)
    return replace(event, values=filled)


def breaks_duty(event: Event, record: Record, model: Model) -> bool:
    """Does the record itself say that a duty was broken in secret, by the cards it gives and what it says was chosen?"""
    phase = model.phases.get(event.phase)
    if phase is None:
        return False
    dealt: dict[int, Value] = {record.seat(name): role for name, role in record.deal.items()}
    chosen: dict[str, Value] = {}
    for choice in phase.choices:
        data = event.values.get(choice.variable)
        if data is None or choice.chooser.kind not in ("player", "one"):
            continue
        chosen[choice.variable] = value_in(m.choice_type(choice), data, record, event.where)
        if choice.audience.kind != "public" and any(
            _surely_broken(r, chosen, dealt, choice.chooser.seat, model)
            for r in choice.requires
            if r.kind == "ought"
        ):
            return True
    return False


def _surely_broken(
    duty: m.Require, chosen: Mapping[str, Value], dealt: Mapping[int, Value], speaker: str, model: Model
) -> bool:
    """Is a duty broken, with any one card in the place of those that the record does not give?"""
    read = set(reads(duty.condition, model.definitions)) - {speaker}
    if not read <= {*chosen, CARDS}:
        return False
    type_ = model.variables[CARDS].type
    assert isinstance(type_, MapType)
    seats = range(model.players.count)
    return not any(
        holds(
            duty.condition, Environment(model, len(seats), variables={**chosen, CARDS: deal}).bind(**chosen)
        )
        for deal in {tuple(dealt.get(s, card) for s in seats) for card in all_values(type_.value, len(seats))}
    )


def card_of(record: Record, setting: Setting, seat: int, role: str | None) -> str:
    """The card a seat holds: as given, or as the record says."""
    name = record.names[seat]
    written = record.deal.get(name)
    if role is None and written is None:
        raise RecordError(
            f"which card does {name} hold? Give the role (--role ROLE; at the table: as {name} ROLE), "
            f"or write a line: deal {name}=ROLE"
        )
    if role is not None and written is not None and role != written:
        raise RecordError(f"{name} holds {written} in the record, not {role}")
    held = role if role is not None else written
    assert held is not None
    if held not in setting.roles:
        raise RecordError(f"there is no role '{held}' in this game; there are: {', '.join(setting.roles)}")
    if not cards_in_deck(setting)[held]:
        raise RecordError(f"{name} cannot hold {held}: there is no such card in this deck")
    return held


def cards_in_deck(setting: Setting) -> dict[str, int]:
    """How many cards there are of each role."""
    choice = next(c for p in setting.model.phases.values() for c in p.choices if c.variable == CARDS)
    assert choice.deal is not None
    counts = evaluate(choice.deal, Environment(setting.model, len(setting.names)))
    return dict(zip(setting.roles, counts, strict=True))  # type: ignore[arg-type]
