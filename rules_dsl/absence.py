"""What belongs to a module that is left open cannot be in a parameter while the module is out.

An open module still adds its members to the enums of the game. Takes the parts of a composition and the parameters;
gives set-up checks that refuse, for example, a deck with cards of a module that is not in play.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from rules_dsl import model as m
from rules_dsl import syntax as s
from rules_dsl.compose import Composition
from rules_dsl.types import BOOL, BagType, EnumType, IntType, MapType, OptionalType, SetType, Type
from rules_dsl.values import least


def absence_checks(composition: Composition, params: Mapping[str, m.Param]) -> Iterator[m.Check]:
    """A check for every parameter and every module left open whose enum members it could hold."""
    for name, param in params.items():
        here = m.Parameter(name, param.type)
        for enum, parts in composition.enums.items():
            for part in parts:
                if part.module not in composition.open_modules or not isinstance(part.item, s.EnumDecl):
                    continue
                members = [member.name for member in part.item.members]
                free = [c for x in members if (c := _without(here, param.type, enum, x)) is not None]
                if free:
                    yield _check(part.module, name, free, part.item)


def _check(module: str, name: str, free: list[m.Expr], item: s.EnumDecl) -> m.Check:
    condition = m.Apply("or", (m.Parameter(m.module_parameter(module), BOOL), _all(free)), BOOL)
    text = f"{name} speaks of what only module '{module}' brings into play"
    return m.Check("error", condition, text, m.Origin(module, (), item.span))


def _all(conditions: list[m.Expr]) -> m.Expr:
    whole = conditions[0]
    for condition in conditions[1:]:
        whole = m.Apply("and", (whole, condition), BOOL)
    return whole


def _without(value: m.Expr, type_: Type, enum: str, member: str) -> m.Expr | None:
    """The condition that a value has nothing of the member; None if its type has no room for it."""
    match type_:
        case EnumType(name) if name == enum:
            return m.Apply("ne", (value, m.Literal(member, type_)), BOOL)
        case SetType(EnumType(name) as kind) if name == enum:
            inside = m.Apply("in", (m.Literal(member, kind), value), BOOL)
            return m.Apply("not", (inside,), BOOL)
        case MapType(EnumType(name) as kind, inner) if name == enum:
            entry = m.At(value, m.Literal(member, kind), inner)
            return m.Apply("eq", (entry, m.Literal(least(inner), inner)), BOOL)
        case BagType(EnumType(name) as kind, most) if name == enum:
            many = IntType(0, most)
            return m.Apply("eq", (m.At(value, m.Literal(member, kind), many), m.Literal(0, many)), BOOL)
        case OptionalType(EnumType(name) as kind) if name == enum:
            some = m.Apply("some", (m.Literal(member, kind),), type_)
            return m.Apply("ne", (value, some), BOOL)
        case MapType(key, EnumType(name) as kind) if name == enum:
            entry = m.At(value, m.Bound("k", key), kind)
            other = m.Apply("ne", (entry, m.Literal(member, kind)), BOOL)
            return m.Quantify("all", (m.Range("k", key, None),), other, None, BOOL)
        case _:
            return None
