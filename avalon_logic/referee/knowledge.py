"""What each seat of a recorded game knows: whom it was shown, how many deals are left to it, what is certain to it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from avalon_logic.deduction import deduce
from avalon_logic.deduction.result import Result
from avalon_logic.deduction.seats import sights_in_deal, sights_told, whole_deal
from avalon_logic.records import Record
from avalon_logic.referee.document import Table
from avalon_logic.referee.messages import Words
from rules_dsl import Model


@dataclass(frozen=True)
class Knowledge:
    """One pair of eyes. `seen` is None if nobody wrote down whom the seat saw; `name` is None for a spectator."""

    name: str | None
    role: str | None
    seen: Mapping[str, tuple[str, ...]] | None
    worlds: int
    roles: Mapping[str, str]
    sides: Mapping[str, str]


def knowledge(record: Record, model: Model) -> tuple[Knowledge, ...]:
    """The spectator and every seat whose card the record has."""
    found = [_of(record, model, None)]
    return (*found, *(_of(record, model, name) for name in record.names if name in record.deal))


def _of(record: Record, model: Model, name: str | None) -> Knowledge:
    result = deduce(record, seat=name)
    roles: dict[str, str] = {}
    sides: dict[str, str] = {}
    for player in result.players if result.possible else ():
        if len(player.roles) == 1:
            roles[player.name] = next(iter(player.roles))
        elif len(player.sides) == 1:
            sides[player.name] = next(iter(player.sides))
    seen = None if name is None else _seen(record, model, result, name)
    return Knowledge(name, record.deal.get(name or ""), seen, result.count, roles, sides)


def _seen(record: Record, model: Model, result: Result, name: str) -> dict[str, tuple[str, ...]] | None:
    seat, deal = record.seat(name), whole_deal(record, model)
    sights = sights_in_deal(model, deal, seat) if deal is not None else None
    for event in record.events if sights is None else ():
        if event.phase in model.phases:
            sights = sights_told(event, record, model, seat) or sights
    if sights is None:
        return None
    return {show: tuple(record.names[s] for s in sorted(seats)) for show, seats in sights.items() if seats}


def table(id: str, record: Record, model: Model, words: Words) -> Table:
    """The knowledge of all seats."""
    found = knowledge(record, model)
    rows = [
        (
            words.say("words", "spectator") if k.name is None else k.name,
            words.role(k.role) if k.role else "",
            _shown(k, words),
            str(k.worlds),
            _certain(k, words),
        )
        for k in found
    ]
    columns = [words.say("words", w) for w in ("seat", "knows_role", "was_shown", "worlds", "knows")]
    data = [
        {
            "seat": k.name,
            "role": k.role,
            "seen": None if k.seen is None else {show: list(names) for show, names in k.seen.items()},
            "deals": k.worlds,
            "certain_roles": dict(k.roles),
            "certain_sides": dict(k.sides),
        }
        for k in found
    ]
    return Table(id, "list", words.say("titles", id), tuple(columns), tuple(rows), (), (), data)


def _shown(k: Knowledge, words: Words) -> str:
    if k.name is None:
        return ""
    if k.seen is None:
        return words.say("words", "not_written")
    names = [name for seats in k.seen.values() for name in seats]
    return words.listed(list(dict.fromkeys(names))) or words.say("words", "shown_nobody")


def _certain(k: Knowledge, words: Words) -> str:
    parts = [
        words.say("words", "legal", side=name, values=words.role(role)) for name, role in k.roles.items()
    ]
    for side in dict.fromkeys(k.sides.values()):
        named = [name for name, s in k.sides.items() if s == side]
        parts.append(
            words.say("words", "legal", side=words.word("members.Side", side), values=words.listed(named))
        )
    return words.say("language", "semicolon").join(parts) or words.say("words", "nothing_certain")
