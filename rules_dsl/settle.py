"""Fixing parameters: an open model and some values in, a smaller model out.

`settle` fixes everything and gives one concrete game, with what the rulebook's set-up checks have to say
about it. `fix` fixes only the parameters it is given, for back ends that keep the others symbolic.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import product
from typing import TypeVar

from rules_dsl import model as m
from rules_dsl.dealing import misdeals
from rules_dsl.evaluate import Environment, evaluate, holds
from rules_dsl.model import Value
from rules_dsl.types import (
    BOOL,
    BagType,
    MapType,
    OptionalType,
    PlayerType,
    SetType,
    StackType,
    Type,
    cardinality,
)
from rules_dsl.values import is_value
from rules_dsl.walk import every, rebuild


class BadParameter(ValueError):
    """A parameter that does not exist, or a value it cannot have; with the clauses that say so, if any do."""

    def __init__(self, message: str, cites: tuple[str, ...] = ()) -> None:
        self.cites = cites
        super().__init__(message)


@dataclass(frozen=True)
class Settled:
    """One concrete game: the model without parameters, the values they had, the set-up checks that failed."""

    model: m.Model
    params: Mapping[str, Value]
    findings: tuple[m.Check, ...]

    @property
    def errors(self) -> tuple[m.Check, ...]:
        return tuple(f for f in self.findings if f.severity == "error")


def parameter_values(model: m.Model, given: Mapping[str, Value]) -> dict[str, Value]:
    """A value for every parameter: the given one or the default, which may depend on those before it."""
    for name in given:
        if name not in model.params:
            raise BadParameter(f"there is no parameter '{name}'; there are: {', '.join(model.params)}")
    values: dict[str, Value] = {}
    for name, param in model.params.items():
        players = values.get(m.PLAYERS, given.get(m.PLAYERS, model.fewest))
        if m.PLAYERS not in model.params:
            players = model.players.count
        assert isinstance(players, int)
        if name in given:
            values[name] = given[name]
        else:
            values[name] = evaluate(param.default, Environment(model, players, values))
        if not is_value(param.type, values[name], players):
            shown = param.type if name != m.PLAYERS else f"{model.fewest}..{model.most}"
            raise BadParameter(f"{name} cannot be {values[name]!r}: only {shown} is possible")
    return values


def settle(model: m.Model, given: Mapping[str, Value]) -> Settled:
    """Fixes every parameter, those not given at their defaults."""
    values = parameter_values(model, given)
    players = values.get(m.PLAYERS, model.players.count)  # fixed before, or fixed now
    assert isinstance(players, int)
    env = Environment(model, players, values)
    findings = tuple(c for c in model.checks if not holds(c.condition, env))
    if not any(c.severity == "error" for c in findings):  # else the rulebook's own words have said it
        findings += tuple(
            m.Check("error", _FALSE, found.text, found.choice.origin)
            for found in misdeals(model, players, values)
        )
    return Settled(fix(model, values), values, findings)


def fix(model: m.Model, values: Mapping[str, Value]) -> m.Model:
    """The model with these parameters replaced by their values and all that follows worked out."""
    return _Fixer(model, values).model()


T = TypeVar("T")


class _Fixer:
    def __init__(self, model: m.Model, values: Mapping[str, Value]) -> None:
        self.old = model
        self.values = values
        count = values.get(m.PLAYERS)
        self.count = count if isinstance(count, int) else model.players.count
        self.open_players = m.PLAYERS in model.params and m.PLAYERS not in values
        self.state_free: dict[str, bool] = {}

    def model(self) -> m.Model:
        old = self.old
        left = {name: self._param(p) for name, p in old.params.items() if name not in self.values}
        tables = {
            name: replace(
                t,
                keys=tuple(self.type(k) for k in t.keys),
                cells=tuple(self.expr(c) for c in self._cells_left(t)),
                type=self.type(t.type),
            )
            for name, t in old.tables.items()
        }
        return replace(
            old,
            players=PlayerType(self.count),
            tables=tables,
            params=left,
            checks=tuple(replace(c, condition=self.expr(c.condition)) for c in old.checks),
            variables={
                name: replace(
                    v,
                    type=self.type(v.type),
                    audience=self.audience(v.audience),
                    initial=self.expr(v.initial),
                )
                for name, v in old.variables.items()
            },
            definitions={
                name: replace(
                    d,
                    parameters=tuple((p, self.type(t)) for p, t in d.parameters),
                    value=self.expr(d.value),
                    type=self.type(d.type),
                )
                for name, d in old.definitions.items()
            },
            phases={name: self.phase(p) for name, p in old.phases.items()},
            result=self.type(old.result),
            speeches={
                name: replace(x, parameters=tuple((p, self.type(t)) for p, t in x.parameters))
                for name, x in old.speeches.items()
            },
            assumptions={name: replace(a, value=self.expr(a.value)) for name, a in old.assumptions.items()},
            properties={
                name: replace(p, value=self.expr(p.value) if p.value is not None else None)
                for name, p in old.properties.items()
            },
        )

    def _param(self, param: m.Param) -> m.Param:
        return replace(param, type=self.type(param.type), default=self.expr(param.default))

    def _cells_left(self, table: m.Table) -> Iterator[m.Expr]:
        """The cells of the seats really taken; those of the others lie among them."""
        places = product(*(range(cardinality(key)) for key in table.keys))
        for place, cell in zip(places, table.cells, strict=True):
            if all(
                at < self.count
                for at, key in zip(place, table.keys, strict=True)
                if isinstance(key, PlayerType)
            ):
                yield cell

    def type(self, type_: T) -> T:
        return _retyped(type_, self.count)  # type: ignore[arg-type, return-value]

    def audience(self, audience: m.Audience) -> m.Audience:
        return replace(audience, to=self.maybe(audience.to))

    def maybe(self, expr: m.Expr | None) -> m.Expr | None:
        return None if expr is None else self.expr(expr)

    def phase(self, phase: m.Phase) -> m.Phase:
        when = self.maybe(phase.when)
        return replace(
            phase,
            when=None if when == _TRUE else when,
            choices=tuple(self.choice(c) for c in phase.choices),
            body=self.body(phase.body),
        )

    def choice(self, choice: m.Choice) -> m.Choice:
        chooser = choice.chooser
        when = self.maybe(choice.when)
        requires = (replace(r, condition=self.expr(r.condition)) for r in choice.requires)
        return replace(
            choice,
            type=self.type(choice.type),
            chooser=replace(
                chooser,
                who=self.maybe(chooser.who),
                domain=self.maybe(chooser.domain),
                condition=self.maybe(chooser.condition),
            ),
            audience=self.audience(choice.audience),
            requires=tuple(r for r in requires if r.condition != _TRUE),
            deal=self.maybe(choice.deal),
            weight=self.maybe(choice.weight),
            when=None if when == _TRUE else when,
        )

    def body(self, body: tuple[m.Statement, ...]) -> tuple[m.Statement, ...]:
        made: list[m.Statement] = []
        for statement in body:
            match statement:
                case m.Assign():
                    keys = tuple(self.expr(k) for k in statement.keys)
                    made.append(replace(statement, keys=keys, value=self.expr(statement.value)))
                case m.If():
                    condition = self.expr(statement.condition)
                    then, otherwise = self.body(statement.then), self.body(statement.otherwise)
                    if isinstance(condition, m.Literal):
                        made += then if condition.value else otherwise
                        if made and isinstance(made[-1], m.Next | m.Win):
                            return tuple(made)
                    else:
                        made.append(replace(statement, condition=condition, then=then, otherwise=otherwise))
                case m.Show():
                    made.append(
                        replace(
                            statement,
                            domain=self.maybe(statement.domain),
                            condition=self.maybe(statement.condition),
                            value=self.expr(statement.value),
                        )
                    )
                case m.Win():
                    made.append(replace(statement, value=self.maybe(statement.value)))
                case m.Next():
                    made.append(statement)
        return tuple(made)

    # --- expressions ---

    def expr(self, expr: m.Expr) -> m.Expr:
        if isinstance(expr, m.Parameter):
            if expr.name not in self.values:
                return replace(expr, type=self.type(expr.type))
            return m.Literal(self.values[expr.name], self.type(expr.type))
        if isinstance(expr, m.Literal):
            return m.Literal(_shrunk(expr.value, expr.type, self.count), self.type(expr.type))
        made = replace(rebuild(expr, self.expr), type=self.type(expr.type))
        if isinstance(made, m.Quantify):
            made = replace(made, ranges=tuple(replace(r, type=self.type(r.type)) for r in made.ranges))
        return self._simplified(made)

    def _simplified(self, expr: m.Expr) -> m.Expr:
        if self._constant(expr):
            env = Environment(self.old, self.count, self.values)
            return m.Literal(evaluate(expr, env), expr.type)
        if isinstance(expr, m.Apply):
            return _shortened(expr)
        return expr

    def _constant(self, expr: m.Expr) -> bool:
        """Does the value follow from the parameters alone?"""
        if self.open_players and _counts_seats(expr):
            return False
        names = {r.name for part in every(expr) if isinstance(part, m.Quantify) for r in part.ranges}
        for part in every(expr):
            match part:
                case m.Bound(name, _):
                    if name not in names:
                        return False
                case m.Variable() | m.Parameter() | m.InPhase() | m.Over() | m.Winner() | m.Knows():
                    return False
                case m.Invoke(name, _, _):
                    if not self._definition_constant(name):
                        return False
                case m.Lookup(table, _, _):
                    if not all(self._closed(c) for c in self.old.tables[table].cells):
                        return False
        return True

    def _closed(self, cell: m.Expr) -> bool:
        return all(
            p.name in self.values if isinstance(p, m.Parameter) else not isinstance(p, m.Invoke)
            for p in every(cell)
        )

    def _definition_constant(self, name: str) -> bool:
        if name not in self.state_free:
            definition = self.old.definitions[name]
            parameters = {p for p, _ in definition.parameters}
            free = not (self.open_players and _counts_seats(definition.value))
            inner = {
                r.name
                for part in every(definition.value)
                if isinstance(part, m.Quantify)
                for r in part.ranges
            }
            for part in every(definition.value):
                match part:
                    case m.Variable() | m.InPhase() | m.Over() | m.Winner() | m.Knows():
                        free = False
                    case m.Parameter():
                        free = free and part.name in self.values
                    case m.Bound():
                        free = free and (part.name in parameters or part.name in inner)
                    case m.Lookup():
                        free = free and all(self._closed(c) for c in self.old.tables[part.table].cells)
                    case m.Invoke():
                        free = free and self._definition_constant(part.definition)
            self.state_free[name] = free
        return self.state_free[name]


_TRUE = m.Literal(True, BOOL)
_FALSE = m.Literal(False, BOOL)


def _counts_seats(expr: m.Expr) -> bool:
    """Does the value depend on how many seats are taken?"""
    return any(
        (isinstance(part, m.Quantify) and any(isinstance(r.type, PlayerType) for r in part.ranges))
        or (isinstance(part, m.Apply) and part.operation in ("left", "right"))
        for part in every(expr)
    )


def _shortened(expr: m.Apply) -> m.Expr:
    """Logic and branches with a known part, without that part."""
    known = [a.value if isinstance(a, m.Literal) else None for a in expr.arguments]
    match expr.operation, known:
        case "and", [False, _] | [_, False]:
            return _FALSE
        case "and", [True, _]:
            return expr.arguments[1]
        case "and", [_, True]:
            return expr.arguments[0]
        case "or", [True, _] | [_, True]:
            return _TRUE
        case "or", [False, _]:
            return expr.arguments[1]
        case "or", [_, False]:
            return expr.arguments[0]
        case "implies", [False, _] | [_, True]:
            return _TRUE
        case "implies", [True, _]:
            return expr.arguments[1]
        case "implies", [_, False]:
            return m.Apply("not", (expr.arguments[0],), BOOL)
        case "if", [True, *_]:
            return expr.arguments[1]
        case "if", [False, *_]:
            return expr.arguments[2]
        case _:
            return expr


def _retyped(type_: Type, count: int) -> Type:
    match type_:
        case PlayerType():
            return PlayerType(count)
        case SetType(PlayerType()):
            return SetType(PlayerType(count))
        case MapType(key, value):
            made = PlayerType(count) if isinstance(key, PlayerType) else key
            return MapType(made, _retyped(value, count))
        case BagType(PlayerType(), most):
            return BagType(PlayerType(count), most)
        case StackType(PlayerType(), depth):
            return StackType(PlayerType(count), depth)
        case OptionalType(inner) if inner is not None:
            return OptionalType(_retyped(inner, count))
        case _:
            return type_


def _shrunk(value: Value, type_: Type, count: int) -> Value:
    """A literal of an open model cut down to the seats really taken."""
    match type_, value:
        case MapType(key, inner), tuple():
            entries = value[:count] if isinstance(key, PlayerType) else value
            return tuple(_shrunk(v, inner, count) for v in entries)
        case BagType(PlayerType(), _), tuple():
            return value[:count]
        case OptionalType(inner), _ if inner is not None and value is not None:
            return _shrunk(value, inner, count)
        case _:
            return value
