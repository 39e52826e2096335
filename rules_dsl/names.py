"""What the names of a composed game mean: types, parameters, tables, variables and definitions, typed on
demand.

`Names` is filled by `check` stage by stage. Definitions and published values are typed when they are first
asked for, in any order, without recursion. Faults are collected, so that an author sees all of them at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import ParamSpec, TypeVar

from rules_dsl import model as m
from rules_dsl import syntax as s
from rules_dsl.compose import Composition, Part
from rules_dsl.diagnostics import Diagnostic, Note, RulebookError, fail
from rules_dsl.elaborate import check, infer
from rules_dsl.limits import MOST_CELLS, Measure, cells, measure
from rules_dsl.scope import MOST_MEMBERS, Scope
from rules_dsl.source import Span
from rules_dsl.terms import every_part
from rules_dsl.types import (
    BOOL,
    BagType,
    EnumType,
    IndexType,
    IntType,
    MapType,
    OptionalType,
    PlayerType,
    SetType,
    StackType,
    Type,
    cardinality,
    is_index,
)
from rules_dsl.values import least
from rules_dsl.walk import reads

MOST_COPIES = 200
MOST_IN_PROGRESS = 4
MOST_FAULTS = 40
WIDEST = 1_000_000

P = ParamSpec("P")
T = TypeVar("T")


class Names:
    """Every name an expression of the game can use, and the faults found so far."""

    def __init__(self, composition: Composition) -> None:
        self.composition = composition
        self.faults: list[Diagnostic] = []
        self.types: dict[str, Type] = {"Bool": BOOL}
        self.enums: dict[str, EnumType] = {}
        self.members: dict[str, tuple[EnumType, ...]] = {}
        self.params: dict[str, m.Param] = {}
        self.tables: dict[str, m.Table] = {}
        self.variables: dict[str, m.StateVariable] = {}
        self.published: dict[str, list[tuple[s.Publish, str]]] = {}
        self.signatures: dict[str, tuple[tuple[Type, ...], Type]] = {}
        self.definitions: dict[str, m.Definition] = {}
        self.measures: dict[str, Measure] = {}
        self.in_progress: list[str] = []
        self.result: Type | None = None
        self.player = PlayerType(1)
        self.places: dict[str, Span] = {}

    # --- plumbing ---

    def attempt(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T | None:
        """The result of some checking, or None with its faults noted."""
        try:
            return work(*args, **kwargs)
        except RulebookError as error:
            self.faults += error.diagnostics
            self.in_progress.clear()
            return None

    def stop_on_faults(self) -> None:
        if self.faults:
            seen = {(d.code, d.span.file, d.span.start, d.message): d for d in reversed(self.faults)}
            raise RulebookError(seen[key] for key in sorted(seen, key=lambda k: k[1:3])[:MOST_FAULTS])

    def parts(self, kind: type[T]) -> Iterator[tuple[T, m.Origin]]:
        for part in self.composition.parts:
            if isinstance(part.item, kind):
                yield part.item, origin_of(part)

    def scope(self, *, state: bool = True, in_property: bool = False) -> Scope:
        return Scope(
            self.types,
            self.members,
            {name: p.type for name, p in self.params.items()},
            self.tables,
            self.variable_type if state else lambda _: None,
            self.signature,
            frozenset(self.composition.phases),
            self.result,
            in_property,
        )

    def claim(self, name: str, span: Span) -> None:
        """One name, one meaning, among the things an expression can name."""
        if name in self.places:
            raise fail(
                "E112", f"'{name}' is declared twice", span, notes=[Note("the other one:", self.places[name])]
            )
        if name in ("players", "over", "winner", "base", "Player", "Bool"):
            raise fail(
                "E301", f"'{name}' has a meaning of its own in the language", span, "choose another name"
            )
        self.places[name] = span

    def choices(self) -> Iterator[tuple[s.Choice, str]]:
        for phase in self.composition.phases.values():
            yield from phase.choices

    def type_of(self, expr: s.TypeExpr) -> Type:
        """A type expression as a type."""
        match expr:
            case s.TypeName(name):
                if name not in self.types:
                    known = ", ".join(sorted(self.types))
                    raise fail(
                        "E307",
                        f"there is no type '{name}'",
                        expr.span,
                        f"known types: {known}, Set, Bag, Stack",
                    )
                return self.types[name]
            case s.TypeRange(low, high):
                if low > high:
                    raise fail("E308", f"the range {low}..{high} is empty", expr.span)
                if high - low > WIDEST:
                    raise fail(
                        "E309", f"the range {low}..{high} is too wide; {WIDEST:,} is the most", expr.span
                    )
                return IntType(low, high)
            case s.TypeApply(name, element, capacity):
                inner = self.index_type(element, name)
                if name == "Set":
                    if capacity is not None:
                        raise fail("E310", "a set takes no number", expr.span)
                    return SetType(inner)
                if capacity is None or not 1 <= capacity <= MOST_COPIES:
                    raise fail(
                        "E310",
                        f"{name} needs a number from 1 to {MOST_COPIES}: {name}<{inner}, 8>",
                        expr.span,
                    )
                return BagType(inner, capacity) if name == "Bag" else StackType(inner, capacity)
            case s.TypeMap(key, value):
                made = MapType(self.index_type(key, "a map"), self.type_of(value))
                if cells(made) > MOST_CELLS:
                    raise fail("E347", f"{made} has more than {MOST_CELLS:,} entries", expr.span)
                return made
            case s.TypeOptional(inner_expr):
                optional = self.type_of(inner_expr)
                if isinstance(optional, OptionalType):
                    raise fail("E311", "an optional type cannot be optional again", expr.span)
                return OptionalType(optional)

    def index_type(self, expr: s.TypeExpr, user: str) -> IndexType:
        found = self.type_of(expr)
        if not is_index(found):
            raise fail(
                "E312",
                f"{found} is not simple enough for {user}",
                expr.span,
                "use Bool, a range, an enum or Player",
            )
        if cardinality(found) > MOST_MEMBERS:
            raise fail("E313", f"{found} has more than {MOST_MEMBERS} values, too many for {user}", expr.span)
        return found

    def only_params(self, expr: m.Expr, span: Span) -> None:
        found = reads(expr, self.definitions)
        if found:
            raise fail("E317", f"this is fixed before the game and cannot depend on '{min(found)}'", span)

    def audience(self, audience: s.Audience, type_: Type) -> m.Audience:
        if audience.kind == "own" and not (isinstance(type_, MapType) and isinstance(type_.key, PlayerType)):
            raise fail("E326", "'own' is for maps from Player: each seat sees its own entry", audience.span)
        return m.Audience(audience.kind, None)

    def choice_value_type(self, choice: s.Choice) -> Type | None:
        """What one chooser chooses, if the choice says so itself."""
        return self.type_of(choice.type) if choice.type is not None else None

    def variable_type(self, name: str) -> Type | None:
        if name in self.variables:
            return self.variables[name].type
        if name in self.published:
            return self.publish_type(name)
        return None

    def publish_type(self, name: str) -> Type:
        if name in self.variables:
            return self.variables[name].type
        publish, module = self.published[name][0]
        if publish.type is not None:
            type_ = self.type_of(publish.type)
        else:
            self._enter(f"publish {name}", publish.span)
            type_ = infer(publish.value, self.scope()).type
            self.in_progress.pop()
        if isinstance(type_, OptionalType) and type_.inner is None:
            raise fail("E330", f"give '{name}' a type", publish.span, f"publish {name}: Type = ...")
        self.variables[name] = m.StateVariable(
            name,
            type_,
            "published",
            m.Audience("public"),
            m.Literal(least(type_), type_),
            m.Origin(module, publish.cites, publish.span),
        )
        return type_

    # --- definitions ---

    def _enter(self, key: str, span: Span) -> None:
        if key in self.in_progress:
            circle = " -> ".join(
                k.split()[-1] for k in (*self.in_progress[self.in_progress.index(key) :], key)
            )
            self.in_progress.clear()
            raise fail("E331", f"this goes round in a circle: {circle}", span)
        if len(self.in_progress) > MOST_IN_PROGRESS:
            self.in_progress.clear()
            raise fail("E332", "published values and definitions rest on each other too deeply", span)
        self.in_progress.append(key)

    def signature(self, name: str) -> tuple[tuple[Type, ...], Type] | None:
        if name not in self.composition.definitions:
            return None
        return self.definition(name)

    def definition(self, name: str) -> tuple[tuple[Type, ...], Type]:
        """What a definition takes and gives; those it rests on are typed before it, so that nothing nests."""
        if name not in self.signatures:
            for needed in self._needed(name):
                if needed not in self.signatures and f"def {needed}" not in self.in_progress:
                    self._definition(needed)
            return self._definition(name)
        return self.signatures[name]

    def _needed(self, name: str) -> list[str]:
        """The definitions that one rests on, as far as its words show, each after those it rests on itself."""
        order: list[str] = []
        seen: set[str] = set()
        queue: list[tuple[str, bool]] = [(name, False)]
        while queue:
            current, done = queue.pop()
            if done:
                order.append(current)
            elif current not in seen:
                seen.add(current)
                queue.append((current, True))
                queue += [(n, False) for n in reversed(self._mentioned(current)) if n not in self.signatures]
        return order[:-1]

    def _mentioned(self, name: str) -> list[str]:
        item = self.composition.definitions[name].item
        assert isinstance(item, s.DefDecl)
        bound = {p.name for p in item.parameters}
        found: list[str] = []
        for part in every_part(item.value):
            match part:
                case s.Comprehension():
                    bound |= {b.name for b in part.binders}
                case s.Name(text):
                    found.append(text)
                case s.Call(called):
                    found.append(called)
        return [n for n in found if n in self.composition.definitions and n not in bound]

    def _definition(self, name: str) -> tuple[tuple[Type, ...], Type]:
        if name in self.signatures:
            return self.signatures[name]
        part = self.composition.definitions[name]
        item = part.item
        assert isinstance(item, s.DefDecl)
        self._enter(f"def {name}", item.span)
        if name in self.places:
            other = Note("the other one:", self.places[name])
            raise fail("E112", f"'{name}' is declared twice", item.span, notes=[other])
        scope = self.scope()
        parameters: list[tuple[str, Type]] = []
        for parameter in item.parameters:
            type_ = self.type_of(parameter.type)
            parameters.append((parameter.name, type_))
            scope = scope.bind(parameter.name, type_, parameter.span)
        if item.type is not None:
            value = check(item.value, scope, self.type_of(item.type))
            result = self.type_of(item.type)
        else:
            value = infer(item.value, scope)
            result = value.type
        if result == OptionalType(None):
            raise fail("E330", f"give '{name}' a type", item.span, f"def {name}: Type = ...")
        self.in_progress.pop()
        self.measures[name] = measure(value, self.measures, item.value.span)
        self.definitions[name] = m.Definition(name, tuple(parameters), value, result, origin_of(part))
        self.signatures[name] = (tuple(t for _, t in parameters), result)
        return self.signatures[name]


def origin_of(part: Part) -> m.Origin:
    return m.Origin(part.module, getattr(part.item, "cites", ()), part.item.span)
