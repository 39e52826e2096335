"""The tree a rulebook is parsed into: names are still text, types still names, modules still separate.

Nodes are frozen values. Their spans say where they stand and never take part in equality.
"""

# ruff: noqa: RUF009 - the default of a place is a dataclass field, not a shared value

from __future__ import annotations

from dataclasses import dataclass

from rules_dsl.source import Span
from rules_dsl.terms import (
    Attribute,
    Binary,
    Binder,
    Call,
    Comprehension,
    Conditional,
    Expr,
    Index,
    IsNone,
    ModuleIn,
    Name,
    Number,
    SetLiteral,
    TypeApply,
    TypeExpr,
    TypeMap,
    TypeName,
    TypeOptional,
    TypeRange,
    Unary,
    at_span,
)

# --- statements --------------------------------------------------------------------------------------------

Cites = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Assign:
    name: str
    keys: tuple[Expr, ...]
    value: Expr
    cites: Cites
    span: Span = at_span()


@dataclass(frozen=True, slots=True)
class If:
    condition: Expr
    then: tuple[Statement, ...]
    otherwise: tuple[Statement, ...]
    cites: Cites
    span: Span = at_span()


@dataclass(frozen=True, slots=True)
class Publish:
    name: str
    type: TypeExpr | None
    value: Expr
    cites: Cites
    span: Span = at_span()


@dataclass(frozen=True, slots=True)
class Show:
    name: str
    binder: Binder
    condition: Expr | None
    value: Expr
    cites: Cites
    span: Span = at_span()


@dataclass(frozen=True, slots=True)
class Win:
    """`win X`, or `draw` when there is no value."""

    value: Expr | None
    cites: Cites
    span: Span = at_span()


@dataclass(frozen=True, slots=True)
class Next:
    """`next P`, or `continue` when there is no phase."""

    phase: str | None
    cites: Cites
    span: Span = at_span()


Statement = Assign | If | Publish | Show | Win | Next


@dataclass(frozen=True, slots=True)
class Require:
    kind: str  # "require" or "ought"
    condition: Expr
    text: str
    cites: Cites
    span: Span = at_span()
    module: str = ""  # the module that adds it to a choice of another's, filled in by composition


@dataclass(frozen=True, slots=True)
class Chooser:
    kind: str  # "player", "each", "one" or "chance"
    who: Expr | None
    binder: Binder | None
    condition: Expr | None
    span: Span = at_span()


@dataclass(frozen=True, slots=True)
class Audience:
    kind: str  # "public", "hidden", "own" or "to"
    to: Expr | None
    span: Span = at_span()


@dataclass(frozen=True, slots=True)
class Choice:
    chooser: Chooser
    optional: bool
    name: str
    type: TypeExpr | None
    source: Expr | None
    weight: Expr | None
    audience: Audience | None
    when: Expr | None
    cites: Cites
    requires: tuple[Require, ...]
    span: Span = at_span()


# --- declarations ------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Players:
    low: int
    high: int
    cites: Cites
    span: Span = at_span()


@dataclass(frozen=True, slots=True)
class AttributeDecl:
    name: str
    type: TypeExpr
    default: Expr | None
    span: Span = at_span()


@dataclass(frozen=True, slots=True)
class MemberDecl:
    name: str
    positional: tuple[Expr, ...]
    named: tuple[tuple[str, Expr], ...]
    cites: Cites
    span: Span = at_span()


@dataclass(frozen=True, slots=True)
class EnumDecl:
    name: str
    extends: bool
    attributes: tuple[AttributeDecl, ...]
    members: tuple[MemberDecl, ...]
    cites: Cites
    span: Span = at_span()


@dataclass(frozen=True, slots=True)
class TypeDecl:
    name: str
    type: TypeExpr
    cites: Cites
    span: Span = at_span()


@dataclass(frozen=True, slots=True)
class TableRow:
    key: Expr
    values: tuple[Expr, ...]
    span: Span = at_span()


@dataclass(frozen=True, slots=True)
class TableDecl:
    name: str
    overrides: bool
    keys: tuple[TypeExpr, ...]
    rows: tuple[TableRow, ...]
    cites: Cites
    span: Span = at_span()


@dataclass(frozen=True, slots=True)
class ParamDecl:
    name: str
    overrides: bool
    type: TypeExpr | None
    default: Expr
    cites: Cites
    span: Span = at_span()


@dataclass(frozen=True, slots=True)
class Alternative:
    name: str
    text: str
    span: Span = at_span()


@dataclass(frozen=True, slots=True)
class RulingDecl:
    name: str
    overrides: bool
    text: str
    type: TypeExpr | None
    alternatives: tuple[Alternative, ...]
    default: str
    cites: Cites
    span: Span = at_span()


@dataclass(frozen=True, slots=True)
class DefParameter:
    name: str
    type: TypeExpr
    span: Span = at_span()


@dataclass(frozen=True, slots=True)
class DefDecl:
    name: str
    overrides: bool
    parameters: tuple[DefParameter, ...]
    type: TypeExpr | None
    value: Expr
    cites: Cites
    span: Span = at_span()


@dataclass(frozen=True, slots=True)
class StateDecl:
    name: str
    audience: Audience
    type: TypeExpr
    initial: Expr | None
    cites: Cites
    span: Span = at_span()


@dataclass(frozen=True, slots=True)
class SetupCheck:
    severity: str  # "error", "warning" or "note"
    condition: Expr
    text: str
    cites: Cites
    span: Span = at_span()


@dataclass(frozen=True, slots=True)
class PhaseDecl:
    name: str
    overrides: bool
    placement: str | None  # "before" or "after"
    anchor: str | None
    when: Expr | None
    choices: tuple[Choice, ...]
    body: tuple[Statement, ...]
    cites: Cites
    span: Span = at_span()


@dataclass(frozen=True, slots=True)
class ExtendDecl:
    phase: str
    first: bool
    choices: tuple[Choice, ...]
    requires: tuple[tuple[str, tuple[Require, ...]], ...]
    body: tuple[Statement, ...]
    cites: Cites
    span: Span = at_span()


@dataclass(frozen=True, slots=True)
class StartDecl:
    phase: str
    overrides: bool
    span: Span = at_span()


@dataclass(frozen=True, slots=True)
class ResultDecl:
    type: TypeExpr
    span: Span = at_span()


@dataclass(frozen=True, slots=True)
class SpeechDecl:
    name: str
    parameters: tuple[DefParameter, ...]
    cites: Cites
    span: Span = at_span()


@dataclass(frozen=True, slots=True)
class AssumeDecl:
    name: str
    text: str
    target: str
    by: str | None
    kind: str  # "require" or "weight"
    value: Expr
    cites: Cites
    span: Span = at_span()


@dataclass(frozen=True, slots=True)
class PropertyDecl:
    kind: str  # "invariant", "reachable", "progress", "terminates", "silent" or "symmetric"
    name: str
    text: str
    value: Expr | None  # for "silent": which of the seats are meant
    bound: int | None
    expect: str
    cites: Cites
    span: Span = at_span()
    phase: Reference | None = None
    binder: Binder | None = None


Item = (
    Players
    | EnumDecl
    | TypeDecl
    | TableDecl
    | ParamDecl
    | RulingDecl
    | DefDecl
    | StateDecl
    | SetupCheck
    | PhaseDecl
    | ExtendDecl
    | StartDecl
    | ResultDecl
    | SpeechDecl
    | AssumeDecl
    | PropertyDecl
)


@dataclass(frozen=True, slots=True)
class Reference:
    """A module or game named by another."""

    name: str
    span: Span = at_span()


@dataclass(frozen=True, slots=True)
class Game:
    name: str
    abstract: bool
    parent: Reference | None
    includes: tuple[Reference, ...]
    text: str
    items: tuple[Item, ...]
    span: Span = at_span()


@dataclass(frozen=True, slots=True)
class Module:
    name: str
    bases: tuple[Reference, ...]
    requires: tuple[Reference, ...]
    excludes: tuple[Reference, ...]
    after: tuple[Reference, ...]
    text: str
    items: tuple[Item, ...]
    span: Span = at_span()


@dataclass(frozen=True, slots=True)
class Rulebook:
    """Everything one source text declares."""

    games: tuple[Game, ...]
    modules: tuple[Module, ...]


__all__ = [
    "Alternative",
    "Assign",
    "AssumeDecl",
    "Attribute",
    "AttributeDecl",
    "Audience",
    "Binary",
    "Binder",
    "Call",
    "Choice",
    "Chooser",
    "Cites",
    "Comprehension",
    "Conditional",
    "DefDecl",
    "DefParameter",
    "EnumDecl",
    "Expr",
    "ExtendDecl",
    "Game",
    "If",
    "Index",
    "IsNone",
    "Item",
    "MemberDecl",
    "Module",
    "ModuleIn",
    "Name",
    "Next",
    "Number",
    "ParamDecl",
    "PhaseDecl",
    "Players",
    "PropertyDecl",
    "Publish",
    "Reference",
    "Require",
    "ResultDecl",
    "Rulebook",
    "RulingDecl",
    "SetLiteral",
    "SetupCheck",
    "Show",
    "SpeechDecl",
    "StartDecl",
    "StateDecl",
    "Statement",
    "TableDecl",
    "TableRow",
    "TypeApply",
    "TypeDecl",
    "TypeExpr",
    "TypeMap",
    "TypeName",
    "TypeOptional",
    "TypeRange",
    "Unary",
    "Win",
]
