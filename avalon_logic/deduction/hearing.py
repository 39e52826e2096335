"""What a viewer hears of an event of a record: pieces to follow through the phases, and a sentence for people.

Only what the viewer can have seen becomes a piece: the model says who sees which choice, and what others were shown is
passed over. The sentence, too, speaks of nothing else.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from avalon_logic.blame import deciding_cites
from avalon_logic.deduction.inquiry import Heard, Inquiry, Spoken
from avalon_logic.fields import SAW, check_event, fields_of, only_mentions, speaker
from avalon_logic.records import NONE, Event, Record, RecordError, entries_in, key_in, value_in
from rules_dsl import Model, Value
from rules_dsl import model as m
from rules_dsl.arrays.event import Mention, Seen
from rules_dsl.arrays.scene import Scene
from rules_dsl.arrays.shapes import decode, known
from rules_dsl.arrays.visits import Visit
from rules_dsl.play import Observation
from rules_dsl.types import BOOL, BoolType, EnumType, MapType, OptionalType, PlayerType, SetType, Type
from rules_dsl.walk import reads

QUEST, TEAM, FAILS = "quest", "team", "fails"  # names the sentences know; without them they are plainer


def listen(event: Event, record: Record, model: Model, viewer: int | None) -> Visit:
    """What a viewer hears of a visit; raises `RecordError` for what cannot be read."""
    check_event(event, record, model)
    declared = model.phases[event.phase]
    told: dict[str, tuple[Observation, ...]] = {}
    speakers: dict[str, int] = {}
    for choice in declared.choices:
        by = event.by if choice is speaker(declared) else event.values.get(f"{choice.variable}_by")
        seat = None if by is None else record.seat(by)
        data = event.values.get(choice.variable)
        if data is not None:
            told[choice.variable] = _choices(event, choice, data, seat, record)
        elif seat is not None:
            speakers[choice.variable] = seat
    names = {spec.name for spec in fields_of(model, event.phase)}
    given = {n: data for n, data in event.values.items() if n not in names and data is not None}
    then = {n: data for n, data in event.after.items() if data is not None}
    result: tuple[Value, ...] = ()
    if event.result is not None:
        result = (value_in(model.result, event.result, record, event.where),)
    account, shown = _shown(event, record, model, viewer)
    return Visit(
        0,
        event.phase,
        told,
        speakers,
        (*_published(event, record, model), *shown),
        account,
        _mentions(given, event, record, model),
        tuple(
            replace(mention, cites=deciding_cites(model, event.phase))
            for mention in _mentions(then, event, record, model)
        ),
        event.then,
        result,
        due=only_mentions(event, model),
    )


def _published(event: Event, record: Record, model: Model) -> Iterator[Seen]:
    """What the visit told everybody; where something was told twice, the first time too, if only that it was."""
    fields = [f for f in fields_of(model, event.phase) if f.choice is None and not f.shown]
    for spec in fields:
        data = event.values.get(spec.name)
        later = [f for f in fields if f.what == spec.what and f.number > spec.number]
        if data is not None:
            value = value_in(spec.type, data, record, event.where)
            yield Seen("published", spec.what, value, phase=event.phase)
        elif any(event.values.get(f.name) is not None for f in later):
            yield Seen("published", spec.what, phase=event.phase, noted=False)


def _mentions(said: Mapping[str, Any], event: Event, record: Record, model: Model) -> tuple[Mention, ...]:
    """Public values that an event mentions besides its own fields, as conditions."""
    found: list[Mention] = []
    for name, data in said.items():
        expr, type_, cites = _named(name, model)
        entries: list[tuple[m.Expr, Type, Any, str]] = [(expr, type_, data, name)]
        if isinstance(data, dict) and isinstance(type_, MapType):
            entries = []
            for key, entry in data.items():
                place = key_in(type_.key, key, record, event.where)
                at = m.At(expr, m.Literal(place, type_.key), type_.value)
                if entry is not None:
                    entries.append((at, type_.value, entry, f"{name} {key}"))
        for part, kind, entry, what in entries:
            value = m.Literal(value_in(kind, entry, record, event.where), kind)
            text = f"{what} is not {_spoken(kind, entry, record.names)}"
            found.append(Mention(m.Apply("eq", (part, value), BOOL), text, cites))
    return tuple(found)


def mentioned_variables(record: Record, model: Model) -> frozenset[str]:
    """The variables that events of a record speak of besides what was chosen and published in them."""
    found: set[str] = set()
    for event in record.events:
        if event.phase not in model.phases:
            continue
        fields = {spec.name for spec in fields_of(model, event.phase)}
        for name in (*(n for n in event.values if n not in fields), *event.after):
            if name in model.variables:
                found.add(name)
            elif name in model.definitions:
                found |= reads(model.definitions[name].value, model.definitions)
    return frozenset(found)


def _named(name: str, model: Model) -> tuple[m.Expr, Type, tuple[str, ...]]:
    """A public variable, or a definition without parameters."""
    variable = model.variables.get(name)
    if variable is not None:
        return m.Variable(name, variable.type), variable.type, variable.origin.cites
    definition = model.definitions[name]
    return m.Invoke(name, (), definition.type), definition.type, definition.origin.cites


def speech_of(event: Event, record: Record, model: Model) -> tuple[Value, ...]:
    """What somebody said, in the order of the speech's parameters."""
    spoken: list[Value] = []
    for name, type_ in model.speeches[event.phase].parameters:
        said = event.values.get(name, event.by if name == "by" else None)
        if said is None:
            raise RecordError(f"'{event.phase}' needs '{name}'", event.where)
        spoken.append(value_in(type_, said, record, event.where))
    return tuple(spoken)


def _choices(
    event: Event, choice: m.Choice, data: Any, seat: int | None, record: Record
) -> tuple[Observation, ...]:
    """What was written down about a choice, as somebody would have seen it."""
    name, type_ = choice.variable, choice.type
    if choice.chooser.kind == "each":
        entries = entries_in(PlayerType(len(record.names)), m.choice_type(choice), data, record, event.where)
    elif choice.deal is not None:
        assert isinstance(type_, MapType)
        entries = entries_in(type_.key, type_.value, data, record, event.where)
    else:
        value = value_in(m.choice_type(choice), data, record, event.where)
        return (Observation(event.phase, "choice", name, seat, value),)
    return tuple(Observation(event.phase, "choice", name, s, v) for s, v in sorted(entries.items()))


def _shown(event: Event, record: Record, model: Model, viewer: int | None) -> tuple[bool, tuple[Seen, ...]]:
    """Whether the viewer says what he was shown, and what, of showings that depend on more than the cards dealt."""
    from avalon_logic.deduction.seats import card_shows

    if viewer is None or not any(isinstance(told, dict) for told in event.values.values()):
        return False, ()
    cards_only = {show.name for phase, show in card_shows(model) if phase == event.phase}
    account, found = False, []
    fields = [f for f in fields_of(model, event.phase) if f.shown and f.what not in (*cards_only, SAW)]
    for spec in fields:
        told = event.values.get(spec.name)
        data = told.get(record.names[viewer]) if isinstance(told, dict) else None
        if data is None:
            continue
        account = True
        assert isinstance(spec.type, MapType)
        value = value_in(spec.type.value, data, record, event.where)
        if data not in ([], NONE):
            found.append(Seen("shown", spec.what, value, viewer, event.phase))
    return account, tuple(found)


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
    parts += _said_after(event)
    by = f" by {event.by}" if event.by is not None else ""
    return f"{event.phase}{by}" + (f": {', '.join(parts)}" if parts else "")


def _said_after(event: Event) -> list[str]:
    """What an event is said to have come to, in words."""
    found: list[str] = []
    for name, data in event.after.items():
        entries = data.items() if isinstance(data, dict) else [("", data)]
        found += [f"{name} {key} {value}".replace("  ", " ") for key, value in entries if value is not None]
    return found


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


def shown_to_somebody(inquiry: Inquiry, event: Event, record: Record) -> tuple[str, ...]:
    """What an event says was shown to seats it does not name, where it is open whether the viewer is one of them."""
    model, viewer = inquiry.setting.model, inquiry.viewer
    if viewer is None or event.by is not None or event.phase not in model.phases:
        return ()
    return tuple(
        f"{event.where or event.phase}: whether {record.names[viewer]} was shown "
        f"{choice.variable} {event.values[choice.variable]} is not written down; add: by NAME"
        for choice in model.phases[event.phase].choices
        if choice.audience.to is not None
        and choice.chooser.kind == "player"
        and event.values.get(choice.variable) is not None
        and not _chose_by_record(event, choice, record.names[viewer])
        and not _sure_who_sees(inquiry, choice.audience.to, viewer)
    )


def _chose_by_record(event: Event, choice: m.Choice, name: str) -> bool:
    who = choice.chooser.who
    return isinstance(who, m.Variable) and event.values.get(who.name) == name


def _sure_who_sees(inquiry: Inquiry, members: m.Expr, viewer: int) -> bool:
    for belief in inquiry.beliefs:
        try:
            nest = belief.machine.program.formulas.value(members)(Scene(belief.values))
        except KeyError:
            return True  # it hangs on what is chosen in this event
        if not known(nest[viewer]):  # type: ignore[index]
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
    phases = inquiry.setting.model.phases
    here = inquiry
    while here.base is not None and here.told:
        (evidence,) = here.told[-1].evidence[:1] or (None,)
        if isinstance(evidence, Heard):
            choices = phases[evidence.visit.phase].choices
            if not choices or any(c.audience.kind == "public" for c in choices):
                break
        elif not isinstance(evidence, Spoken):
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
