"""Small tables at which a game that shows something is looked for first: the fewest players, the usual rulings, and no
module or one alone. What is found there is a game of the whole family; that nothing is found says nothing about it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from rules_dsl import model as m
from rules_dsl.model import Value
from rules_dsl.settle import fix, parameter_values
from rules_dsl.walk import statements


@dataclass(frozen=True)
class SmallTable:
    """A model with most of its parameters fixed, and the claim said of it."""

    model: m.Model
    claim: m.Expr
    fixed: Mapping[str, Value]


def small_tables(model: m.Model, claim: m.Expr) -> list[SmallTable]:
    """None of the modules first, then each that lets somebody see more than others do; none if nothing can be fixed."""
    usual = parameter_values(model, {})
    fixed = {n: usual[n] for n, p in model.params.items() if p.kind != "param" or n == m.PLAYERS}
    if not fixed:
        return []
    modules = [n for n, p in model.params.items() if p.kind == "module"]
    bare = _table(model, claim, {**fixed, **dict.fromkeys(modules, False)})
    known = set(_sights(bare.model))
    with_one = (_table(model, claim, {**bare.fixed, name: True}) for name in modules)
    return [bare, *(table for table in with_one if set(_sights(table.model)) - known)]


def _table(model: m.Model, claim: m.Expr, fixed: Mapping[str, Value]) -> SmallTable:
    some = next(iter(model.properties.values()))
    small = fix(replace(model, properties={"": replace(some, kind="invariant", value=claim)}), fixed)
    said = small.properties[""].value
    assert said is not None
    return SmallTable(small, said, fixed)


def _sights(model: m.Model) -> Iterator[tuple[str, str]]:
    """What only some seats may see: what is shown to them, and choices shown to more than who makes them."""
    for phase in model.phases.values():
        if isinstance(phase.when, m.Literal) and phase.when.value is False:
            continue
        for choice in phase.choices:
            out = isinstance(choice.when, m.Literal) and choice.when.value is False
            if choice.audience.to is not None and not out:
                yield phase.name, choice.variable
        for statement in statements(phase.body):
            if isinstance(statement, m.Show):
                yield phase.name, statement.name
