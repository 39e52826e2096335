"""Which two seats may exchange what they were dealt: conditions on both, from what a rulebook tells cards apart by."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rules_dsl import model as m
from rules_dsl.types import BOOL, BoolType, EnumType, MapType, PlayerType
from rules_dsl.walk import reads


@dataclass(frozen=True)
class Guard:
    """A condition on the two seats that are exchanged, `a` and `b`."""

    text: str
    value: m.Expr


def dealt_map(model: m.Model) -> m.StateVariable | None:
    """The variable that holds what the seats were dealt, if there is exactly one."""
    found = []
    for phase in model.phases.values():
        for choice in phase.choices:
            type_ = model.variables[choice.variable].type
            dealt = choice.deal is not None and isinstance(type_, MapType)
            if dealt and isinstance(type_.key, PlayerType) and isinstance(type_.value, EnumType):  # type: ignore[union-attr]
                found.append(model.variables[choice.variable])
    return found[0] if len(found) == 1 else None


def guards(model: m.Model, dealt: m.StateVariable) -> Iterator[Guard]:
    """Guards from the loosest to the tightest: none, the two seats alike in something, both of one kind."""
    assert isinstance(dealt.type, MapType)
    kind = dealt.type.value
    assert isinstance(kind, EnumType)
    seats = [m.Bound(x, model.players) for x in ("a", "b")]
    cards = [m.At(m.Variable(dealt.name, dealt.type), seat, kind) for seat in seats]
    yield Guard("any two other seats", m.Literal(True, BOOL))
    alike: list[tuple[str, list[m.Expr], m.Type]] = []
    for name, table in model.tables.items():
        if name.startswith(f"{kind.name}."):
            values: list[m.Expr] = [m.Lookup(name, (card,), table.type) for card in cards]
            alike.append((name.split(".")[1], values, table.type))
    for name, definition in model.definitions.items():
        unary = len(definition.parameters) == 1 and isinstance(definition.parameters[0][1], PlayerType)
        if unary and "@" not in name and reads(definition.value, model.definitions) <= {dealt.name}:
            calls: list[m.Expr] = [m.Invoke(name, (seat,), definition.type) for seat in seats]
            alike.append((name, calls, definition.type))
    alike.reverse()  # definitions say more than single attributes
    for i, (text, pair, type_) in enumerate(alike):
        if text in {other for other, _, _ in alike[:i]}:  # what is proved of one must not pass for the other
            alike[i] = f"printed {text}", pair, type_
    for text, pair, _ in alike:
        yield Guard(f"two other seats alike in {text}", m.Apply("eq", tuple(pair), BOOL))
    for text, pair, type_ in alike:
        members: Sequence[m.Value] = type_.members if isinstance(type_, EnumType) else (True, False)
        if isinstance(type_, EnumType | BoolType):
            for member in members:
                both = [m.Apply("eq", (x, m.Literal(member, type_)), BOOL) for x in pair]
                shown = member if isinstance(member, str) else str(member).lower()
                yield Guard(f"two other seats with {text} {shown}", m.Apply("and", tuple(both), BOOL))
