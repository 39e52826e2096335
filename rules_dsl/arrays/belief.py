"""What is still possible in a game: tables of worlds, and how an event changes them.

`begin(machine)` is the state of belief before anything was seen. `advance` takes an event at the choice awaited and
gives the beliefs after it (several if the event leaves open how the game went on), `apart` an event seen by itself,
without what led to it, and `grant` a fact. A belief whose `possible` is false holds no world.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from rules_dsl import model as m
from rules_dsl.arrays import worlds as w
from rules_dsl.arrays.columns import (
    Cell,
    Leaf,
    Tensor,
    both,
    combined,
    either,
    tensor,
)
from rules_dsl.arrays.eliminate import Group, Kernel, grouped, kernel
from rules_dsl.arrays.event import Event, Outcome, Piece, Reading, Refusal
from rules_dsl.arrays.program import Point
from rules_dsl.arrays.run import Machine
from rules_dsl.arrays.scene import Scene
from rules_dsl.arrays.shapes import Nest, encode, leaves, replaced
from rules_dsl.arrays.tables import computed, filtered, settled, tidied
from rules_dsl.model import Value
from rules_dsl.walk import reads

WEIGHED, PLAIN = (
    "weighed",
    "plain",
)  # kinds of choices: an assumption says how likely their values are, or none does
LIGHTEST = 1e-100  # weights are brought back to one before they get lighter


@dataclass(frozen=True, slots=True, eq=False)
class Constraint:
    """What one observation said about the worlds, kept for explanations."""

    label: int
    kernels: tuple[Kernel, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Belief:
    """The choice awaited (None when the game is over), what is known of the variables, and the worlds."""

    machine: Machine
    point: Point | None
    values: Mapping[str, Nest]
    tables: tuple[w.Table, ...]
    dealt: tuple[str, ...] = ()  # variables that hold cards dealt out; worlds are told apart by them
    over: bool = False
    result: Nest = (False, 0)
    constraints: tuple[Constraint, ...] = ()
    whole: bool = True  # nothing hidden but the cards dealt has ever mattered
    met: frozenset[int] = frozenset()  # which of the things that became known the last event accounts for
    forks: frozenset[str] = (
        frozenset()
    )  # what kinds of choices, not seen, set it apart from other beliefs held
    fresh: bool = False  # no record has spoken of the visit of a phase in which the choice awaited is
    passed: frozenset[str] = (
        frozenset()
    )  # phases visited and left since the last visit that one has spoken of
    kept: frozenset[str] = frozenset()  # variables that are kept track of although no rule may read them

    @property
    def possible(self) -> bool:
        """Is there a world left?"""
        return all(len(t.rows) for t in self.tables)


@dataclass(frozen=True, slots=True, eq=False)
class Change:
    """The beliefs an event leaves, and what ruled everything else out."""

    beliefs: tuple[Belief, ...]
    refusals: tuple[Refusal, ...]


def begin(machine: Machine, kept: frozenset[str] = frozenset()) -> Belief:
    """Before the first choice."""
    reading = machine.start()
    (outcome,) = reading.outcomes
    return _first(machine, outcome, kept)


def begin_seeing(machine: Machine, event: Event, kept: frozenset[str] = frozenset()) -> Change:
    """The same, where something became known before that choice."""
    reading = machine.start(event)
    return Change(tuple(_first(machine, o, kept) for o in reading.outcomes), tuple(reading.refusals))


def _first(machine: Machine, outcome: Outcome, kept: frozenset[str]) -> Belief:
    return Belief(
        machine,
        outcome.point,
        outcome.values,
        (),
        over=outcome.over,
        result=outcome.result,
        met=outcome.met,
        fresh=outcome.fresh,
        passed=outcome.passed,
        kept=kept,
    )


def advance(belief: Belief, event: Event, label: int = -1) -> Change:
    """The beliefs after an event at the choice awaited."""
    if belief.point is None:
        raise ValueError("the game is over: nothing more is chosen")
    reading = belief.machine.read(belief.point, belief.values, event)
    found = tuple(after for o in reading.outcomes if (after := _apply(belief, o, label)) is not None)
    if len(found) > 1:
        name, step = belief.point
        target = belief.machine.model.phases[name].choices[step].variable
        weighed = any(a.kind != "require" for a in belief.machine.assumed.get(target, ()))
        kind = WEIGHED if weighed else PLAIN
        found = tuple(replace(b, forks=b.forks | {kind}) for b in found)
    return Change(found, tuple(reading.refusals))


def balanced(beliefs: Sequence[Belief]) -> list[Belief]:
    """The same beliefs with likelihoods that cannot vanish; only how they compare with each other matters."""
    heaviest = 0.0
    for belief in beliefs:
        for table in belief.tables:
            if table.piles and table.weights is not None and len(table.weights):
                heaviest = max(heaviest, float(table.weights.max()))
    alone = len(beliefs) == 1
    if (not alone or not beliefs[0].forks) and (heaviest == 0 or heaviest > LIGHTEST):
        return list(beliefs)
    made: list[Belief] = []
    for belief in beliefs:
        tables = belief.tables
        if 0 < heaviest <= LIGHTEST:
            tables = tuple(
                replace(t, weights=t.weights / heaviest) if t.piles and t.weights is not None else t
                for t in tables
            )
        made.append(replace(belief, tables=tables, forks=frozenset() if alone else belief.forks))
    return made


def apart(belief: Belief, point: Point, given: Mapping[str, Value], event: Event, label: int = -1) -> Belief:
    """The belief with an event of some phase taken by itself; only the given variables are known for it."""
    model = belief.machine.model
    values: dict[str, Nest] = {name: belief.values[name] for name in belief.dealt}
    for name, value in given.items():
        values[name] = encode(model.variables[name].type, value)
    reading = belief.machine.read_alone(point, values, event)
    return _restricted(belief, alternatives(reading), label)


def refused(
    machine: Machine, belief: Belief, point: Point, given: Mapping[str, Value], event: Event
) -> Reading:
    """How an event taken by itself is read, for messages about one that no unknown can explain."""
    values: dict[str, Nest] = {name: belief.values[name] for name in belief.dealt}
    for name, value in given.items():
        values[name] = encode(machine.model.variables[name].type, value)
    return machine.read_alone(point, values, event)


def alternatives(reading: Reading) -> list[tuple[Kernel, ...]]:
    """For every way an event can have come about, the conditions on the columns."""
    return [tuple(kernel(g) for g in grouped(o.pieces, o.weights, ())[0]) for o in reading.outcomes]


def likelihood(
    belief: Belief, machine: Machine, point: Point, given: Mapping[str, Value], event: Event
) -> Leaf | float | None:
    """How likely an event would be now if it came to that, by world; without likelihoods, whether it is possible.

    `machine` may have other assumptions than the belief's own. None if other choices come in between.
    """
    values = dict(belief.values)
    for name, value in given.items():
        values[name] = encode(machine.model.variables[name].type, value)
    reading = machine.read_alone(point, values, event)
    if any(o.point is not None or o.over for o in reading.outcomes):
        return None
    made: Leaf | float = False
    for kernels in alternatives(reading):
        way: Leaf | float = True
        for condition in kernels:
            way = _times(way, condition.leaf)
        made = _plus(made, way)
    return made


def grant(
    belief: Belief,
    fact: m.Expr,
    bound: Mapping[str, Nest] | None = None,
    given: Mapping[str, Value] | None = None,
    label: int = -1,
    origin: m.Origin = m.BUILT_IN,
) -> Belief:
    """The belief in which a condition of the rulebook's language holds as well."""
    kernels: list[Kernel] = []
    for part in fact_parts(belief, fact, bound, given):
        if part is False:
            kernels.append(Kernel(False, ()))
        elif isinstance(part, Cell | Tensor):
            piece = Piece(part, origin)
            kernels.append(Kernel(part, (piece,)))
    return _restricted(belief, [tuple(kernels)], label)


def exhausted(belief: Belief) -> Belief:
    """The belief with every world gone."""
    return _restricted(belief, [(Kernel(False, ()),)], -1)


def weigh(belief: Belief, likelihood: m.Expr, bound: Mapping[str, Nest], label: int = -1) -> Belief:
    """The belief after something whose likelihood in percent depends on the world."""
    found = belief.machine.program.formulas.value(likelihood)(Scene(belief.values, bound))
    if isinstance(found, Cell | Tensor):
        part = tensor(found)
        return _restricted(belief, [(Kernel(Tensor(part.axes, part.data / 100.0), ()),)], label)
    return _restricted(belief, [(Kernel(found != 0, ()),)], label)


def fact_parts(
    belief: Belief,
    fact: m.Expr,
    bound: Mapping[str, Nest] | None = None,
    given: Mapping[str, Value] | None = None,
) -> Iterator[Leaf]:
    """Conditions on the columns that all hold exactly if a fact does."""
    model = belief.machine.model
    values = dict(belief.values)
    for name, value in (given or {}).items():
        values[name] = encode(model.variables[name].type, value)
    for name in reads(fact, model.definitions):
        if name not in values:
            raise ValueError(f"nothing is known about {name} here")
    return belief.machine.program.formulas.parts(fact)(Scene(values, bound))


def _restricted(belief: Belief, ways: list[tuple[Kernel, ...]], label: int) -> Belief:
    """Only the worlds in which one of several groups of conditions holds."""
    kernels = ways[0] if len(ways) == 1 else (_any_of(ways),)
    tables = belief.tables
    for condition in kernels:
        tables = filtered(tables, condition.leaf)
    return replace(belief, tables=tables, constraints=(*belief.constraints, Constraint(label, kernels)))


def _any_of(ways: list[tuple[Kernel, ...]]) -> Kernel:
    made: Leaf | float = False
    pieces: list[Piece] = []
    for kernels in ways:
        way: Leaf | float = True
        for condition in kernels:
            pieces += condition.pieces
            way = _times(way, condition.leaf)
        made = _plus(made, way)
    return Kernel(made, tuple(pieces))


def _times(a: Leaf | float, b: Leaf | float) -> Leaf | float:
    if a is True or a is False or b is True or b is False or (_is_truth(a) and _is_truth(b)):
        return both(a, b)  # type: ignore[arg-type]
    return combined(lambda x, y: x * y, np.multiply, a, b)  # type: ignore[arg-type]


def _plus(a: Leaf | float, b: Leaf | float) -> Leaf | float:
    if _is_truth(a) and _is_truth(b):
        return either(a, b)  # type: ignore[arg-type]
    return combined(lambda x, y: x + y, np.add, a, b)  # type: ignore[arg-type]


def _is_truth(a: Leaf | float) -> bool:
    if isinstance(a, Cell):
        return a.boolean
    return a.data.dtype == np.bool_ if isinstance(a, Tensor) else isinstance(a, bool)


# --- following an outcome ---


@dataclass(frozen=True, slots=True, eq=False)
class _Plan:
    """What an outcome asks of every belief it is applied to, whatever worlds that holds."""

    wanted: Mapping[int, Cell | Tensor]  # unknowns that will still matter
    # with the condition they come to, if none of them is wanted
    groups: tuple[tuple[Group, Kernel | None], ...]
    plain: tuple[Cell | Tensor, ...]
    values: Mapping[str, Nest]  # the variables that are kept


def _plan(machine: Machine, outcome: Outcome, dealt: tuple[str, ...], kept: frozenset[str]) -> _Plan:
    found = outcome.plans.get((dealt, kept))
    if isinstance(found, _Plan):
        return found
    needed = set(dealt) | kept
    if outcome.point is not None:
        needed |= machine.program.live[outcome.point]
    for name in machine.assumptions:
        needed |= reads(machine.model.assumptions[name].value, machine.model.definitions)
    wanted = {
        id(x): x
        for name in sorted(needed & set(outcome.values))
        for x in leaves(outcome.values[name])
        if isinstance(x, Tensor) or (isinstance(x, Cell) and x.free)
    }
    groups, plain = grouped(outcome.pieces, outcome.weights, wanted.values())
    values = {
        name: nest
        for name, nest in outcome.values.items()
        if name in needed or all(not isinstance(x, Cell | Tensor) for x in leaves(nest))
    }
    made = _Plan(wanted, tuple((g, None if g.wanted else kernel(g)) for g in groups), tuple(plain), values)
    outcome.plans[dealt, kept] = made
    return made


def _apply(belief: Belief, outcome: Outcome, label: int) -> Belief | None:
    machine = belief.machine
    dealt = (*belief.dealt, *(d.variable for d in outcome.deals))
    tables = (*belief.tables, *(w.dealt(d.cells, d.counts) for d in outcome.deals))
    plan = _plan(machine, outcome, dealt, belief.kept)
    columns: dict[int, Leaf] = {}
    kernels: list[Kernel] = []
    for group, condition in plan.groups:
        if condition is None:
            tables = settled(machine, tables, group, columns)
        else:
            kernels.append(condition)
            if condition.leaf is False and not tables:
                return None
            tables = filtered(tables, condition.leaf)
        if not all(len(t.rows) for t in tables):
            break
    if not all(len(t.rows) for t in tables):
        tables = tuple(w.kept(t, np.zeros(len(t.rows), dtype=bool)) for t in tables)
        # the record may go on: nothing is known of these, but they were something
        for x in plan.wanted.values():
            columns[id(x)] = machine.supply.lost(tensor(x).data.ravel().tolist(), _is_truth(x))
    else:
        for x in plan.plain:
            tables = computed(machine, tables, x, columns)
    values = plan.values
    if columns:
        values = {name: replaced(nest, lambda x: columns.get(id(x), x)) for name, nest in values.items()}
    tables, values = tidied(tables, values, dealt)
    grown = (*belief.constraints, Constraint(label, tuple(kernels))) if kernels else belief.constraints
    return Belief(
        machine,
        outcome.point,
        values,
        tables,
        dealt,
        outcome.over,
        outcome.result,
        grown,
        belief.whole and not columns,
        outcome.met,
        belief.forks,
        outcome.fresh,
        outcome.passed,
        belief.kept,
    )


def settled_columns(belief: Belief) -> Belief:
    """The same belief with what is the same in all its worlds known as such."""
    tables, values = tidied(belief.tables, belief.values, belief.dealt)
    return replace(belief, tables=tables, values=values)
