"""Phases, from syntax to model: who chooses what from where, what is required, and what the effects are."""

from __future__ import annotations

from dataclasses import replace

from rules_dsl import model as m
from rules_dsl import syntax as s
from rules_dsl.compose import ComposedPhase
from rules_dsl.diagnostics import fail
from rules_dsl.elaborate import at, bind_ranges, check, domain_of, infer, truth
from rules_dsl.names import Names
from rules_dsl.scope import Scope
from rules_dsl.types import BagType, IntType, MapType, OptionalType, PlayerType, SetType, Type
from rules_dsl.values import count_values

MOST_OPTIONS = 70_000


def build_phase(names: Names, phase: ComposedPhase) -> m.Phase:
    item = phase.declared
    when = truth(item.when, names.scope()) if item.when is not None else None
    choices = tuple(_choice(names, c, module) for c, module in phase.choices)
    chosen = [c.variable for c in choices]
    for name in chosen:
        if chosen.count(name) > 1:
            raise fail("E333", f"phase '{item.name}' chooses '{name}' twice", item.span)
    body = tuple(_statement(names, b, module, phase) for b, module in phase.body)
    origin = m.Origin(phase.module, item.cites, item.span)
    return m.Phase(item.name, choices, body, when, phase.goes_on or "", origin)


def _choice(names: Names, item: s.Choice, module: str) -> m.Choice:
    variable = names.variables[item.name]
    origin = m.Origin(module, item.cites, item.span)
    value = names.choice_value_type(item)
    if value is None:
        value = variable.type
        if item.chooser.kind == "each":
            if not (isinstance(value, MapType) and isinstance(value.key, PlayerType)):
                raise fail(
                    "E328",
                    f"'{item.name}' is chosen by each of several, so it is a map from Player",
                    item.span,
                )
            value = value.value
        if item.optional:
            if not isinstance(value, OptionalType) or value.inner is None:
                raise fail("E328", f"'{item.name}' may be declined, so it is an optional type", item.span)
            value = value.inner
    scope, chooser = _chooser(names, item.chooser)
    inside = replace(scope, bound={**scope.bound, item.name: value})
    if item.name in scope.bound:
        raise fail("E210", f"'{item.name}' already stands for something else here", item.span)
    deal = infer(item.source, names.scope()) if item.source is not None else None
    if deal is not None:
        _check_deal(names, item, value, deal)
    elif count_values(value, names.player.count) > MOST_OPTIONS:
        raise fail("E334", f"{value} has more than {MOST_OPTIONS:,} values to choose from", item.span)
    weight = None
    if item.weight is not None:
        if chooser.kind != "chance":
            raise fail("E335", "only chance weighs its options", item.span)
        weight = infer(item.weight, inside)
        if not isinstance(weight.type, IntType) or weight.type.low < 0:
            raise fail("E336", "a weight is a number, never negative", item.weight.span)
    audience = variable.audience
    if item.audience is not None:
        to = None
        if item.audience.to is not None:
            to = check(item.audience.to, scope, SetType(names.player))
        names.audience(item.audience, variable.type)
        audience = m.Audience(item.audience.kind, to)
    requires = tuple(
        m.Require(r.kind, truth(r.condition, inside), r.text, m.Origin(r.module or module, r.cites, r.span))
        for r in item.requires
    )
    when = truth(item.when, names.scope()) if item.when is not None else None
    return m.Choice(item.name, chooser, value, item.optional, audience, requires, deal, weight, when, origin)


def _chooser(names: Names, item: s.Chooser) -> tuple[Scope, m.Chooser]:
    scope = names.scope()
    if item.kind == "chance":
        return scope, m.Chooser("chance")
    if item.binder is None:
        assert item.who is not None
        return scope, m.Chooser("player", check(item.who, scope, names.player))
    domain, type_ = domain_of(item.binder.domain, scope)
    if not isinstance(type_, PlayerType):
        raise fail("E337", f"only players choose, this is a set of {type_}", item.binder.span)
    inside = scope.bind(item.binder.name, type_, item.binder.span)
    condition = truth(item.condition, inside) if item.condition is not None else None
    return inside, m.Chooser(item.kind, None, item.binder.name, domain, condition)


def _check_deal(names: Names, item: s.Choice, value: Type, deal: m.Expr) -> None:
    if item.chooser.kind != "chance" or not isinstance(value, MapType):
        raise fail("E338", "only chance deals, and only the entries of a map", item.span)
    counts = deal.type
    ok = (isinstance(counts, BagType) and counts.element == value.value) or (
        isinstance(counts, MapType)
        and counts.key == value.value
        and isinstance(counts.value, IntType)
        and counts.value.low >= 0
    )
    if not ok:
        raise fail(
            "E339", f"'from' wants how many of each {value.value} there are, this is {counts}", item.span
        )


def _statement(names: Names, item: s.Statement, module: str, phase: ComposedPhase) -> m.Statement:
    scope = names.scope()
    origin = m.Origin(module, item.cites, item.span)
    match item:
        case s.Assign():
            variable = names.variables.get(item.name)
            if variable is None:
                raise fail("E340", f"there is no state variable '{item.name}'", item.span)
            target: m.Expr = m.Variable(item.name, variable.type)
            keys: list[m.Expr] = []
            for key in item.keys:
                entry = at(target, key, scope, item.span)
                assert isinstance(entry, m.At)
                keys.append(entry.key)
                target = entry
            return m.Assign(item.name, tuple(keys), check(item.value, scope, target.type), False, origin)
        case s.If():
            return m.If(
                truth(item.condition, scope),
                tuple(_statement(names, x, module, phase) for x in item.then),
                tuple(_statement(names, x, module, phase) for x in item.otherwise),
                origin,
            )
        case s.Publish():
            return m.Assign(
                item.name, (), check(item.value, scope, names.publish_type(item.name)), True, origin
            )
        case s.Show():
            (range_,), inside = bind_ranges((item.binder,), scope)
            if not isinstance(range_.type, PlayerType):
                raise fail(
                    "E337", f"only players can be shown something, not {range_.type}", item.binder.span
                )
            condition = truth(item.condition, inside) if item.condition is not None else None
            return m.Show(item.name, range_.name, range_.domain, condition, infer(item.value, inside), origin)
        case s.Win(None):
            return m.Win(None, origin)
        case s.Win(value):
            if names.result is None:
                raise fail(
                    "E341",
                    "the game does not say what a result is",
                    item.span,
                    "add for example: result Side",
                )
            assert value is not None
            return m.Win(check(value, scope, names.result), origin)
        case s.Next(None):
            if phase.goes_on is None:
                raise fail("E342", "'continue' is for phases put before or after another", item.span)
            return m.Next(phase.goes_on, origin)
        case s.Next(name):
            assert name is not None
            if name not in names.composition.phases:
                known = ", ".join(names.composition.phases)
                raise fail("E343", f"there is no phase '{name}'", item.span, f"phases: {known}")
            return m.Next(name, origin)
