"""The state of a game: declared variables, what is chosen, who spoke, and what is published.

Each function reads declarations of the composition and enters variables into the `Names`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from rules_dsl import model as m
from rules_dsl import syntax as s
from rules_dsl.diagnostics import Diagnostic, Note, fail
from rules_dsl.elaborate import check
from rules_dsl.names import Names
from rules_dsl.source import Span
from rules_dsl.types import MapType, OptionalType, SetType, Type
from rules_dsl.values import least


def refuse_names_of_our_own(names: Names) -> None:
    """Who made the choice `x` of a group is called `x_by`, an open module `m` `with_m`: nothing else may be."""
    taken = {
        f"{choice.name}_by": (f"who made the choice '{choice.name}'", choice.span)
        for choice, _ in names.choices()
        if choice.chooser.kind == "one"
    }
    for module in names.composition.open_modules:
        taken[m.module_parameter(module)] = (f"whether module '{module}' is in play", names.composition.span)
    for name, span in _declared(names):
        if name in taken:
            what, place = taken[name]
            note = Note("the choice:", place) if name.endswith("_by") else Note("the game:", place)
            names.faults.append(
                Diagnostic("E350", f"'{name}' already says {what}", span, "choose another name", (note,))
            )


def _declared(names: Names) -> Iterator[tuple[str, Span]]:
    """Every name a rulebook gives to a value."""
    for part in names.composition.parts:
        if isinstance(part.item, s.StateDecl | s.ParamDecl | s.RulingDecl | s.TableDecl):
            yield part.item.name, part.item.span
    for name, part in names.composition.definitions.items():
        yield name, part.item.span
    for phase in names.composition.phases.values():
        yield from ((choice.name, choice.span) for choice, _ in phase.choices)
        for statement, _ in phase.body:
            yield from ((publish.name, publish.span) for publish in _publishes(statement))


def enter_variables(names: Names) -> None:
    refuse_names_of_our_own(names)
    for item, origin in names.parts(s.StateDecl):
        names.attempt(_state, names, item, origin)
    for phase in names.composition.phases.values():
        for choice, module in phase.choices:
            names.attempt(_choice_variable, names, choice, module)
        for statement, module in phase.body:
            for publish in _publishes(statement):
                names.published.setdefault(publish.name, []).append((publish, module))
    for name, found in names.published.items():
        if name in names.variables or name in names.places or name in names.composition.definitions:
            publish, _ = found[0]
            names.faults.append(
                Diagnostic(
                    "E112",
                    f"'{name}' is already declared",
                    publish.span,
                    f"to change it write {name} := ...",
                )
            )


def _state(names: Names, item: s.StateDecl, origin: m.Origin) -> None:
    if item.name in (c.name for c, _ in names.choices()):
        names.places.pop(item.name, None)  # a choice may write a variable declared on its own
    names.claim(item.name, item.span)
    if item.name in names.composition.definitions:
        raise fail("E112", f"'{item.name}' is declared twice", item.span)
    type_ = names.type_of(item.type)
    initial = m.Literal(least(type_), type_)
    names.variables[item.name] = m.StateVariable(
        item.name, type_, "state", names.audience(item.audience, type_), initial, origin
    )


def enter_initials(names: Names) -> None:
    """The values and audiences of variables, which may speak of parameters."""

    def one(item: s.StateDecl) -> None:
        made = names.variables[item.name]
        if item.initial is not None:
            initial = check(item.initial, names.scope(state=False), made.type)
            names.only_params(initial, item.initial.span)
            made = replace(made, initial=initial)
        if item.audience.to is not None:
            seats = check(item.audience.to, names.scope(), SetType(names.player))
            made = replace(made, audience=m.Audience("to", seats))
        names.variables[item.name] = made

    for item, _ in names.parts(s.StateDecl):
        names.attempt(one, item)


def _choice_variable(names: Names, choice: s.Choice, module: str) -> None:
    origin = m.Origin(module, choice.cites, choice.span)
    value = names.choice_value_type(choice)
    known = names.variables.get(choice.name)
    if value is None:
        if known is None:
            raise fail(
                "E327",
                f"what can be chosen for '{choice.name}'?",
                choice.span,
                f"write {choice.name}: Type",
            )
        return
    type_: Type = OptionalType(value) if choice.optional else value
    if choice.chooser.kind == "each":
        type_ = MapType(names.player, type_)
    if known is not None:
        if known.type != type_:
            raise fail("E328", f"'{choice.name}' is {known.type} elsewhere, here it is {type_}", choice.span)
    else:
        if choice.name in names.composition.definitions:
            raise fail("E112", f"'{choice.name}' is declared twice", choice.span)
        if choice.audience is None:
            raise fail(
                "E329",
                f"who sees '{choice.name}'?",
                choice.span,
                "write public, secret, own or 'shown to ...'",
            )
        audience = names.audience(choice.audience, type_)
        initial = m.Literal(least(type_), type_)
        names.variables[choice.name] = m.StateVariable(
            choice.name, type_, "choice", audience, initial, origin
        )
    if choice.chooser.kind == "one":
        speaker = f"{choice.name}_by"
        if speaker not in names.variables:
            audience = names.variables[choice.name].audience
            first = m.Literal(0, names.player)
            names.variables[speaker] = m.StateVariable(
                speaker, names.player, "speaker", audience, first, origin
            )


def _publishes(statement: s.Statement) -> Iterator[s.Publish]:
    match statement:
        case s.Publish():
            yield statement
        case s.If():
            for inner in (*statement.then, *statement.otherwise):
                yield from _publishes(inner)
        case _:
            return
