"""What a viewer hears of an event of a record: pieces to follow through the phases, and a sentence for people.

Only what the viewer can have seen becomes a piece: the model says who sees which choice, and what others were shown is
passed over. The sentence, too, speaks of nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from avalon_logic.deduction.inquiry import Heard, Inquiry
from avalon_logic.fields import fields_of
from avalon_logic.records import Event, Record, RecordError, value_in
from rules_dsl import Model, Value
from rules_dsl import model as m
from rules_dsl.arrays.event import Mention
from rules_dsl.arrays.follow import AT, SAID, Clump
from rules_dsl.arrays.scene import Scene
from rules_dsl.arrays.shapes import decode, known
from rules_dsl.play import Observation
from rules_dsl.types import BOOL, BoolType, EnumType, MapType, OptionalType, PlayerType, SetType, Type

QUEST, TEAM, FAILS = "quest", "team", "fails"  # names the sentences know; without them they are plainer


@dataclass(frozen=True)
class Hearing:
    """The pieces of an event. `joins` means that it completes the event before it."""

    pieces: tuple[Clump, ...]
    joins: bool = False


def listen(event: Event, record: Record, model: Model, viewer: int | None) -> Hearing:
    """The pieces of an event that a viewer hears; raises `RecordError` for a value that is none."""
    if event.phase in model.speeches:
        return Hearing((_speech(event, record, model),))
    if event.phase not in model.phases:
        known_phases = ", ".join(p for p in model.phases if fields_of(model, p))
        raise RecordError(f"there is no event '{event.phase}'; there are: {known_phases}", event.where)
    values = parsed(event, record, model)
    if event.by is not None:
        record.seat(event.by)
    pieces = _pieces(event, record, model, values)
    after: list[Observation] = []
    choices = model.phases[event.phase].choices
    if not choices:
        after.append(Observation(event.phase, "phase", event.phase, None, None))
    after += [
        Observation(event.phase, "published", spec.name, None, values[spec.name].value)
        for spec in fields_of(model, event.phase)
        if spec.choice is None and not spec.shown and spec.name in values
    ]
    shown = _shown(event, record, model, viewer)
    if event.then is not None:
        after.append(Observation(event.then, "phase", event.then, None, None))
    if event.result is not None:
        result = value_in(model.result, event.result, record, event.where)
        after.append(Observation("", "result", "", None, result))
    names = {spec.name for spec in fields_of(model, event.phase)}
    given = {n: data for n, data in event.values.items() if n not in names and data is not None}
    pieces[0] = replace(pieces[0], given=_mentions(given, event, record, model))
    then = _mentions({n: d for n, d in event.after.items() if d is not None}, event, record, model)
    pieces[-1] = replace(pieces[-1], after=(*after, *shown), then=then)
    return Hearing(tuple(replace(p, silent=not shown) for p in pieces), not choices)


def _pieces(event: Event, record: Record, model: Model, values: Mapping[str, Given]) -> list[Clump]:
    """A piece for every choice of the phase that was written down or that everybody saw."""
    speaker = None if event.by is None else record.seat(event.by)
    pieces: list[Clump] = []
    choices = model.phases[event.phase].choices
    for step, choice in enumerate(choices):
        told = values.get(choice.variable)
        public = choice.audience.kind == "public" and choice.chooser.kind != "chance"
        if told is not None or public:
            seen = _choices(event, choice, told, speaker, step)
            pieces.append(Clump(0, "choice", choice.variable, seen, ()))
    if not pieces and choices and choices[0].chooser.kind != "chance":
        pieces.append(Clump(0, AT, choices[0].variable, (), ()))  # it was due, and no more is known
    return pieces or [Clump(0, "", "", (), ())]


def _mentions(said: Mapping[str, Any], event: Event, record: Record, model: Model) -> tuple[Mention, ...]:
    """Public values that an event mentions besides its own fields, as conditions."""
    found: list[Mention] = []
    for name, data in said.items():
        expr, type_, cites = _named(name, model)
        entries: list[tuple[m.Expr, Type, Any, str]] = [(expr, type_, data, name)]
        if isinstance(data, dict) and isinstance(type_, MapType):
            entries = []
            for key, entry in data.items():
                place = value_in(type_.key, key, record, event.where)
                at = m.At(expr, m.Literal(place, type_.key), type_.value)
                if entry is not None:
                    entries.append((at, type_.value, entry, f"{name} {key}"))
        for part, kind, entry, what in entries:
            value = m.Literal(value_in(kind, entry, record, event.where), kind)
            text = f"{what} is not {_spoken(kind, entry, record.names)}"
            found.append(Mention(m.Apply("eq", (part, value), BOOL), text, cites))
    return tuple(found)


def _named(name: str, model: Model) -> tuple[m.Expr, Type, tuple[str, ...]]:
    """A public variable, or a definition without parameters."""
    variable = model.variables.get(name)
    if variable is not None:
        return m.Variable(name, variable.type), variable.type, variable.origin.cites
    definition = model.definitions[name]
    return m.Invoke(name, (), definition.type), definition.type, definition.origin.cites


def _speech(event: Event, record: Record, model: Model) -> Clump:
    spoken: list[Value] = []
    for name, type_ in model.speeches[event.phase].parameters:
        said = event.values.get(name, event.by if name == "by" else None)
        if said is None:
            raise RecordError(f"'{event.phase}' needs '{name}'", event.where)
        spoken.append(value_in(type_, said, record, event.where))
    return Clump(0, SAID, event.phase, (Observation("", SAID, event.phase, None, tuple(spoken)),), ())


@dataclass(frozen=True)
class Given:
    """A value written down: of a choice of many, one for each seat."""

    value: Value = None
    by_seat: Mapping[int, Value] | None = None


def parsed(event: Event, record: Record, model: Model) -> dict[str, Given]:
    """Every value written down in an event, checked to be one; what somebody was shown is left aside."""
    specs = {f.name: f for f in fields_of(model, event.phase)}
    found: dict[str, Given] = {}
    for name, data in event.values.items():
        spec = specs.get(name)
        if spec is None:
            definition = model.definitions.get(name)
            if name in model.variables or (definition is not None and not definition.parameters):
                continue
            raise RecordError(
                f"'{event.phase}' has no '{name}'; it has: {', '.join(specs) or 'nothing'}", event.where
            )
        type_ = spec.type
        each = isinstance(type_, MapType) and (spec.shown or _by_seat(spec.choice))
        if each and data is not None:
            assert isinstance(type_, MapType)
            if not isinstance(data, dict):
                raise RecordError(f"'{name}' is given by player", event.where)
            entries = {
                _seat(who, record, event): value_in(type_.value, entry, record, event.where)
                for who, entry in data.items()
                if entry is not None
            }
            if not spec.shown:
                found[name] = Given(None, entries)
        elif data is not None:
            found[name] = Given(value_in(type_, data, record, event.where))
    return found


def _by_seat(choice: m.Choice | None) -> bool:
    return choice is not None and (choice.chooser.kind == "each" or choice.deal is not None)


def _seat(name: Any, record: Record, event: Event) -> int:
    try:
        return record.seat(name)
    except RecordError as error:
        raise RecordError(str(error), event.where) from None


def _choices(
    event: Event, choice: m.Choice, told: Given | None, speaker: int | None, step: int
) -> tuple[Observation, ...]:
    name = choice.variable
    if told is None:
        return ()
    if told.by_seat is not None:
        return tuple(Observation(event.phase, "choice", name, s, v) for s, v in sorted(told.by_seat.items()))
    seat = speaker if step == 0 and choice.chooser.kind in ("player", "one") else None
    return (Observation(event.phase, "choice", name, seat, told.value),)


def _shown(event: Event, record: Record, model: Model, viewer: int | None) -> tuple[Observation, ...]:
    """What the viewer was shown, of showings that depend on more than the cards dealt."""
    from avalon_logic.deduction.seats import card_shows

    if viewer is None or not any(isinstance(told, dict) for told in event.values.values()):
        return ()
    cards_only = {show.name for phase, show in card_shows(model) if phase == event.phase}
    found: list[Observation] = []
    for spec in fields_of(model, event.phase):
        told = event.values.get(spec.name)
        if spec.shown and spec.name not in cards_only and isinstance(told, dict):
            data = told.get(record.names[viewer])
            if data is not None and isinstance(spec.type, MapType) and spec.name in _show_names(model, event):
                value = value_in(spec.type.value, data, record, event.where)
                found.append(Observation(event.phase, "shown", spec.name, viewer, value))
    return tuple(found)


def _show_names(model: Model, event: Event) -> set[str]:
    from rules_dsl.walk import statements

    return {s.name for s in statements(model.phases[event.phase].body) if isinstance(s, m.Show)}


# --- sentences ---


def sentence(inquiry: Inquiry, event: Event, record: Record) -> str:
    """What the viewer heard, in words."""
    model, names = inquiry.setting.model, record.names
    if event.phase in model.speeches:
        values = {"by": event.by, **event.values}
        spoken = [values.get(name) for name, _ in model.speeches[event.phase].parameters]
        if event.phase == "says" and len(spoken) == 3:
            return f"{spoken[0]} says that {spoken[1]} is {spoken[2]}"
        return f"{event.phase} {' '.join(map(str, spoken))}"
    parts: list[str] = []
    for spec in fields_of(model, event.phase):
        data = event.values.get(spec.name)
        if spec.shown or data is None:
            continue
        if spec.choice is not None and spec.choice.audience.kind != "public":
            data = _own_part(inquiry, spec.choice, data, names)
            if data is None:
                continue
        elif spec.choice is None and spec.name == FAILS:
            return _quest_result(inquiry, record, data)
        parts.append(f"{spec.name} {_spoken(spec.type, data, names)}".strip())
    by = f" by {event.by}" if event.by is not None else ""
    return f"{event.phase}{by}" + (f": {', '.join(parts)}" if parts else "")


def _own_part(inquiry: Inquiry, choice: m.Choice, data: Any, names: tuple[str, ...]) -> Any:
    """The part of a secret choice that a viewer may mention: his own, or an answer to him."""
    viewer = inquiry.viewer
    if viewer is None:
        return None
    if isinstance(data, dict):
        me = names[viewer]
        return {me: data[me]} if data.get(me) is not None else None
    return data if choice.audience.to is not None and _among(inquiry, choice.audience.to, viewer) else None


def _among(inquiry: Inquiry, members: m.Expr, viewer: int) -> bool:
    """Is the viewer among these seats, as far as the public course of the game tells?"""
    for belief in inquiry.beliefs:
        try:
            nest = belief.machine.program.formulas.value(members)(Scene(belief.values))
        except KeyError:
            return False
        if not known(nest) or viewer not in decode(members.type, nest):  # type: ignore[operator]
            return False
    return True


def _quest_result(inquiry: Inquiry, record: Record, fails: Any) -> str:
    count = f"{fails} {'fail' if fails == 1 else 'fails'}"
    asked = before_secrets(inquiry)
    quest, team = public_value(asked, QUEST), public_value(asked, TEAM)
    if not isinstance(team, frozenset):
        return count
    members = ", ".join(n for s, n in enumerate(record.names) if s in team)
    return f"quest {quest} with {members}: {count}" if quest is not None else f"{members}: {count}"


def before_secrets(inquiry: Inquiry) -> Inquiry:
    """The inquiry before what was last chosen in secret: after it the public course may hang on it."""
    phases = inquiry.setting.model.phases.values()
    secret = {c.variable for p in phases for c in p.choices if c.audience.kind != "public"}
    here = inquiry
    while here.base is not None and here.told:
        heard = [e for e in here.told[-1].evidence if isinstance(e, Heard)]
        if not heard or any(c.kind != SAID and c.name not in secret for c in heard[0].clumps):
            break
        here = here.base
    return here


def public_value(inquiry: Inquiry, name: str) -> Value:
    """A variable or definition of the game if it is known now, else None."""
    model = inquiry.setting.model
    beliefs = inquiry.beliefs
    type_: Type
    if name in model.variables:
        type_ = model.variables[name].type
        expr: m.Expr = m.Variable(name, type_)
    elif name in model.definitions and not model.definitions[name].parameters:
        type_ = model.definitions[name].type
        expr = m.Invoke(name, (), type_)
    else:
        return None
    found: set[Value] = set()
    for belief in beliefs:
        try:
            nest = belief.machine.program.formulas.value(expr)(Scene(belief.values))
        except KeyError:
            return None
        if not known(nest):
            return None
        found.add(decode(type_, nest))
    return found.pop() if len(found) == 1 else None


def _spoken(type_: Type, data: Any, names: tuple[str, ...]) -> str:
    match type_:
        case SetType():
            return ", ".join(map(str, data)) or "nobody"
        case MapType(PlayerType(), BoolType()):
            return "".join({True: "+", False: "-"}.get(data.get(n), "?") for n in names)
        case MapType():
            return ", ".join(f"{who} {value}" for who, value in data.items() if value is not None)
        case BoolType():
            return "yes" if data else "no"
        case OptionalType() | EnumType() | _:
            return str(data)
