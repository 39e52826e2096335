"""What can be written down about a phase: a model and a phase in, the fields of an event out.

The fields are the choices of the phase, the values it publishes and what it shows, so every module is covered without
new code.
"""

from __future__ import annotations

from dataclasses import dataclass

from avalon_logic.records import Event, Record, RecordError, entries_in, value_in
from rules_dsl import Model
from rules_dsl import model as m
from rules_dsl.types import MapType, OptionalType, SetType, Type
from rules_dsl.walk import statements


@dataclass(frozen=True)
class Field:
    """A field of an event: a choice of the phase, a value it publishes, or (by seat) what somebody was shown in it.

    `number` says which time it is if one visit of the phase can publish or show the same more than once; `speaks` is
    for who spoke for several in a choice that is not the first a player makes (`by` is for that one).
    """

    name: str
    type: Type
    choice: m.Choice | None
    shown: bool = False
    what: str = ""  # the name in the rulebook: the field's own without its number
    number: int = 1
    speaks: bool = False

    @property
    def by_seat(self) -> bool:
        """Is it written down entry by entry, as far as known?"""
        return self.shown or (
            self.choice is not None
            and not self.speaks
            and (self.choice.chooser.kind == "each" or self.choice.deal is not None)
        )


SAW = "saw"  # the field for what a seat saw in all showings of a phase together


# by the model's identity, kept alive with it
_FIELDS: dict[int, tuple[Model, dict[str, tuple[Field, ...]]]] = {}
_MOST_MODELS = 256


def fields_of(model: Model, phase: str) -> tuple[Field, ...]:
    """What can be written down about a phase, in order."""
    kept = _FIELDS.get(id(model))
    if kept is None or kept[0] is not model:
        if len(_FIELDS) >= _MOST_MODELS:
            _FIELDS.clear()
        kept = _FIELDS[id(model)] = (model, {})
    if phase not in kept[1]:
        kept[1][phase] = _fields_of(model, phase)
    return kept[1][phase]


def _fields_of(model: Model, phase: str) -> tuple[Field, ...]:
    declared = model.phases[phase]
    found = [
        Field(c.variable, model.variables[c.variable].type, c, what=c.variable) for c in declared.choices
    ]
    times = _times(declared.body)
    names = {f.name for f in found}
    for (kind, name), most in times.items():
        if kind == "published" and name not in names:
            type_ = model.variables[name].type
            found += [Field(numbered(name, i), type_, None, False, name, i) for i in range(1, most + 1)]
    names |= {f.name for f in found}
    shows = {s.name: s.value.type for s in statements(declared.body) if isinstance(s, m.Show)}
    shows = {name: type_ for name, type_ in shows.items() if name not in names}
    seats = SetType(model.players)
    if shows and SAW not in {*names, *shows} and all(type_ == seats for type_ in shows.values()):
        found.append(Field(SAW, MapType(model.players, seats), None, True, SAW))
    for name, type_ in shows.items():
        told = type_ if type_ == seats else OptionalType(type_)  # nobody is seen by whom nobody is shown to
        most = 1 if type_ == seats else times["shown", name]
        found += [
            Field(numbered(name, i), MapType(model.players, told), None, True, name, i)
            for i in range(1, most + 1)
        ]
    first = speaker(declared)
    found += [
        Field(f"{c.variable}_by", model.players, c, False, c.variable, speaks=True)
        for c in declared.choices
        if c.chooser.kind in ("player", "one") and c is not first and _free(f"{c.variable}_by", model)
    ]
    return tuple(found)


def _free(name: str, model: Model) -> bool:
    """May a field be called so without being taken for another variable?"""
    return name not in model.variables or model.variables[name].kind == "speaker"


def numbered(name: str, number: int) -> str:
    """What the field is called for the second time and later: no name of a rulebook has a space."""
    return name if number == 1 else f"{name} {number}"


def _times(body: tuple[m.Statement, ...]) -> dict[tuple[str, str], int]:
    """How often one visit can publish or show each thing at most."""
    found: dict[tuple[str, str], int] = {}
    for statement in body:
        match statement:
            case m.Assign() if statement.published:
                key = ("published", statement.variable)
                found[key] = found.get(key, 0) + 1
            case m.Show():
                key = ("shown", statement.name)
                found[key] = found.get(key, 0) + 1
            case m.If():
                then, other = _times(statement.then), _times(statement.otherwise)
                for key in {**then, **other}:
                    found[key] = found.get(key, 0) + max(then.get(key, 0), other.get(key, 0))
            case _:
                pass
    return found


def speaker(phase: m.Phase) -> m.Choice | None:
    """The choice that `by` speaks of: the first one a single player makes."""
    return next((c for c in phase.choices if c.chooser.kind in ("player", "one")), None)


def tells_of(event: Event, choice: m.Choice, model: Model) -> bool:
    """Was anything written down about a choice?"""
    spoken = event.by is not None and choice is speaker(model.phases[event.phase])
    return spoken or any(
        event.values.get(name) is not None for name in (choice.variable, f"{choice.variable}_by")
    )


def mentionable(model: Model, name: str) -> Type | None:
    """The type of a value that an event may mention: a variable, or a definition without parameters."""
    if name in model.variables:
        return model.variables[name].type
    definition = model.definitions.get(name)
    return definition.type if definition is not None and not definition.parameters else None


def only_mentions(event: Event, model: Model) -> bool:
    """Does an event say something of the state of things, and nothing of what was chosen or came of it?

    Where nothing is chosen in the open, such an event says only that the phase is due; the next event of the same phase
    speaks of the same visit.
    """
    fields = {f.name for f in fields_of(model, event.phase)}
    return (
        bool(event.values)
        and not fields & set(event.values)
        and not (event.after or event.result or event.then)
        and not any(in_the_open(c) for c in model.phases[event.phase].choices)
    )


def in_the_open(choice: m.Choice) -> bool:
    """Does everybody see a player make this choice, so that a record must have a line for it?"""
    return choice.audience.kind == "public" and choice.chooser.kind != "chance"


def check_event(event: Event, record: Record, model: Model) -> None:
    """Refuses what is no value, or what no reader of an event could use: nothing of it is dropped in silence."""
    if event.phase not in model.phases:
        known = ", ".join(p for p in model.phases if fields_of(model, p))
        raise RecordError(f"there is no event '{event.phase}'; there are: {known}", event.where)
    declared = model.phases[event.phase]
    fields = {f.name: f for f in fields_of(model, event.phase)}
    for name, data in (*event.values.items(), *event.after.items()):
        field = fields.get(name) if name in event.values else None
        type_ = field.type if field is not None else mentionable(model, name)
        if type_ is None:
            known = ", ".join(fields) or "nothing"
            raise RecordError(f"'{event.phase}' has no '{name}'; it has: {known}", event.where)
        if data is None:
            continue
        if field is None and name in event.values and not declared.choices:
            text = f"'{name}' cannot be compared in '{event.phase}', where nobody chooses"
            raise RecordError(f"{text}; write it on another event", event.where)
        if isinstance(type_, MapType) and isinstance(data, dict) and (field is None or field.by_seat):
            entries_in(type_.key, type_.value, data, record, event.where)
        elif isinstance(type_, MapType) and field is not None and field.by_seat:
            raise RecordError(f"'{name}' is given by player", event.where)
        else:
            value_in(type_, data, record, event.where)
    if event.by is not None:
        record.seat(event.by)
        if speaker(declared) is None:
            raise RecordError(f"nobody chooses alone in '{event.phase}', so 'by' says nothing", event.where)
