"""Checking: a composition in, the typed finite model out, or every fault found with its place.

Declarations are checked one by one; each fault is collected and the next declaration looked at, so that an
author sees all of them at once.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

from rules_dsl import model as m
from rules_dsl import syntax as s
from rules_dsl.absence import absence_checks
from rules_dsl.compose import Composition
from rules_dsl.constants import enter_constants, enter_types
from rules_dsl.dealing import misdeals_by_default
from rules_dsl.diagnostics import Diagnostic, fail
from rules_dsl.elaborate import bind_ranges, coerce, infer, truth
from rules_dsl.flow import check_flow
from rules_dsl.limits import measure_all
from rules_dsl.names import Names
from rules_dsl.phases import build_phase
from rules_dsl.scope import Scope
from rules_dsl.settle import BadParameter, parameter_values
from rules_dsl.types import BOOL, IntType, MapType, PlayerType
from rules_dsl.variables import enter_initials, enter_variables
from rules_dsl.walk import every

MOST_PHASES = 200
MOST_PLAYERS = 16


def build_model(composition: Composition) -> m.Model:
    """The model of a composed game."""
    names = Names(composition)
    if len(composition.phases) > MOST_PHASES:
        crowded = composition.phases[list(composition.phases)[MOST_PHASES]].declared
        raise fail("E348", f"a game has at most {MOST_PHASES} phases", crowded.span)
    fewest, most = _players(names)
    enter_types(names)
    names.stop_on_faults()
    enter_variables(names)
    names.stop_on_faults()
    enter_constants(names)
    names.stop_on_faults()
    enter_initials(names)
    names.stop_on_faults()
    for name in composition.definitions:
        names.attempt(names.definition, name)
    for name in names.published:
        names.attempt(names.publish_type, name)
    names.stop_on_faults()
    phases = {name: names.attempt(build_phase, names, p) for name, p in composition.phases.items()}
    checks = (*_checks(names), *absence_checks(composition, names.params))
    speeches = _speeches(names)
    assumptions = _assumptions(names, speeches)
    properties = _properties(names)
    start = _start(names)
    names.stop_on_faults()
    made = m.Model(
        composition.name,
        composition.text,
        composition.family,
        composition.modules,
        fewest,
        most,
        names.player,
        names.enums,
        names.tables,
        names.params,
        checks,
        names.variables,
        names.definitions,
        {name: phase for name, phase in phases.items() if phase is not None},
        start,
        names.result or BOOL,
        speeches,
        assumptions,
        properties,
    )
    names.faults += check_flow(made, composition)
    names.attempt(measure_all, made, names.measures)
    names.stop_on_faults()
    names.faults += misdeals_by_default(made, _default_tables(made))
    names.stop_on_faults()
    return made


def _default_tables(model: m.Model) -> dict[int, dict[str, m.Value]]:
    """The defaults of all parameters, by the number of players; without the tables that have none that fit."""
    found: dict[int, dict[str, m.Value]] = {}
    for players in range(model.fewest, model.most + 1):
        with suppress(BadParameter):
            found[players] = parameter_values(model, {m.PLAYERS: players})
    return found


def _players(names: Names) -> tuple[int, int]:
    for item, origin in names.parts(s.Players):
        if not 1 <= item.low <= item.high <= MOST_PLAYERS:
            raise fail(
                "E302",
                f"players {item.low}..{item.high}: from 1 to {MOST_PLAYERS} is possible",
                item.span,
            )
        names.player = PlayerType(item.high)
        names.types["Player"] = names.player
        names.types["players"] = IntType(item.low, item.high)
        low = m.Literal(item.low, IntType(item.low, item.low))
        names.params["players"] = m.Param(
            "players", "players", IntType(item.low, item.high), low, origin=origin
        )
        return item.low, item.high
    raise fail(
        "E303",
        f"game '{names.composition.name}' does not say how many players it has",
        names.composition.span,
        "add: players 5..10",
    )


def _checks(names: Names) -> tuple[m.Check, ...]:
    made: list[m.Check] = []

    def one(item: s.SetupCheck, origin: m.Origin) -> None:
        condition = truth(item.condition, names.scope())
        names.only_params(condition, item.span)
        made.append(m.Check(item.severity, condition, item.text, origin))

    for item, origin in names.parts(s.SetupCheck):
        names.attempt(one, item, origin)
    return tuple(made)


def _speeches(names: Names) -> dict[str, m.Speech]:
    made: dict[str, m.Speech] = {}
    for item, origin in names.parts(s.SpeechDecl):
        types = [names.attempt(names.type_of, p.type) for p in item.parameters]
        named = tuple((p.name, t) for p, t in zip(item.parameters, types, strict=True) if t is not None)
        made[item.name] = m.Speech(item.name, named, origin)
    return made


def _assumptions(names: Names, speeches: dict[str, m.Speech]) -> dict[str, m.Assumption]:
    made: dict[str, m.Assumption] = {}

    def one(item: s.AssumeDecl, origin: m.Origin) -> None:
        scope = names.scope()
        if item.target in speeches:
            for name, type_ in speeches[item.target].parameters:
                scope = scope.bind(name, type_, item.span)
        else:
            choice = next((c for c, _ in names.choices() if c.name == item.target), None)
            if choice is None:
                raise fail("E344", f"'{item.target}' is neither a choice nor a speech", item.span)
            variable = names.variables[item.target].type
            each = choice.chooser.kind == "each"
            value = variable.value if each and isinstance(variable, MapType) else variable
            if item.by is not None:
                scope = scope.bind(item.by, names.player, item.span)
            scope = replace(scope, bound={**scope.bound, item.target: value})
        if item.kind == "require":
            checked = truth(item.value, scope)
        else:
            checked = coerce(infer(item.value, scope), IntType(0, 100), item.value.span)
        made[item.name] = m.Assumption(
            item.name, item.text, item.target, item.by or "", item.kind, checked, origin
        )

    for item, origin in names.parts(s.AssumeDecl):
        names.attempt(one, item, origin)
    return made


def _properties(names: Names) -> dict[str, m.Property]:
    made: dict[str, m.Property] = {}

    def one(item: s.PropertyDecl, origin: m.Origin) -> None:
        phase = item.phase
        if phase is not None and phase.name not in names.composition.phases:
            known = ", ".join(names.composition.phases)
            raise fail("E343", f"there is no phase '{phase.name}'", phase.span, f"phases: {known}")
        scope = names.scope(in_property=True)
        if item.binder is None:
            value = truth(item.value, scope) if item.value is not None else None
            seat = ""
        else:
            value, seat = _watchers(item, item.binder, scope), item.binder.name
        made[item.name] = m.Property(
            item.kind,
            item.name,
            item.text,
            value,
            item.bound,
            item.expect,
            origin,
            phase.name if phase is not None else None,
            seat,
        )

    for item, origin in names.parts(s.PropertyDecl):
        names.attempt(one, item, origin)
    return made


def _watchers(item: s.PropertyDecl, binder: s.Binder, scope: Scope) -> m.Expr:
    """The seats something is silent to, as a condition on one seat."""
    (range_,), inside = bind_ranges((binder,), scope)
    if not isinstance(range_.type, PlayerType):
        raise fail("E337", f"only players can be shown something, not {range_.type}", binder.span)
    parts: list[m.Expr] = []
    if range_.domain is not None:
        parts.append(m.Apply("in", (m.Bound(range_.name, range_.type), range_.domain), BOOL))
    if item.value is not None:
        parts.append(truth(item.value, inside))
    if any(isinstance(e, m.Knows) for part in parts for e in every(part)):
        raise fail("E349", "who is meant cannot depend on what somebody knows", binder.span)
    return (
        m.Apply("and", (parts[0], parts[1]), BOOL) if len(parts) == 2 else (*parts, m.Literal(True, BOOL))[0]
    )


def _start(names: Names) -> str:
    for item, _ in names.parts(s.StartDecl):
        if item.phase not in names.composition.phases:
            names.faults.append(Diagnostic("E343", f"there is no phase '{item.phase}'", item.span))
        return item.phase
    names.faults.append(
        Diagnostic(
            "E345",
            f"game '{names.composition.name}' does not say where it starts",
            names.composition.span,
            "add: start PHASE",
        )
    )
    return ""
