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
    Array,
    Axis,
    Cell,
    Leaf,
    Tensor,
    both,
    cells,
    combined,
    either,
    spread,
    tensor,
)
from rules_dsl.arrays.eliminate import Group, Kernel, grouped, kernel, solved
from rules_dsl.arrays.event import Event, Outcome, Piece, Reading, Refusal
from rules_dsl.arrays.program import Point
from rules_dsl.arrays.run import Machine
from rules_dsl.arrays.scene import Scene
from rules_dsl.arrays.shapes import Nest, encode, leaves, replaced
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

    @property
    def possible(self) -> bool:
        """Is there a world left?"""
        return all(len(t.rows) for t in self.tables)


@dataclass(frozen=True, slots=True, eq=False)
class Change:
    """The beliefs an event leaves, and what ruled everything else out."""

    beliefs: tuple[Belief, ...]
    refusals: tuple[Refusal, ...]


def begin(machine: Machine) -> Belief:
    """Before the first choice."""
    reading = machine.start()
    (outcome,) = reading.outcomes
    return Belief(machine, outcome.point, outcome.values, ())


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
    if not alone and (heaviest == 0 or heaviest > LIGHTEST):
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
        tables = _filtered(tables, condition.leaf)
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


# --- filtering tables ---


def _filtered(tables: tuple[w.Table, ...], leaf: Leaf | float) -> tuple[w.Table, ...]:
    if isinstance(leaf, Cell | Tensor):
        part = tensor(leaf)
        tables, at = _joined(tables, [a.cell for a in part.axes])
        table, entries = w.read(tables[at], part)
        table = w.kept(table, entries) if entries.dtype == np.bool_ else w.weighed(table, entries)
        return (*tables[:at], table, *tables[at + 1 :])
    if leaf is False or leaf == 0:
        if not tables:  # nothing was unknown: one world, and now none
            return (w.Table(np.zeros((0, 0), dtype=np.int16), {}, (), ()),)
        return tuple(w.kept(t, np.zeros(len(t.rows), dtype=bool)) for t in tables)
    return tables


def _joined(tables: tuple[w.Table, ...], wanted: Sequence[Cell]) -> tuple[tuple[w.Table, ...], int]:
    """The tables with those that hold these cells made one, and which one it is."""
    touched = [i for i, t in enumerate(tables) if any(c.id in t.columns for c in wanted)]
    if not touched:
        raise ValueError("an unknown is in no table of worlds")
    first = touched[0]
    if len(touched) == 1:
        return tables, first
    made = tables[first]
    for i in touched[1:]:
        made = w.product(made, tables[i])
    rest = [made if i == first else t for i, t in enumerate(tables) if i == first or i not in touched]
    return tuple(rest), first


# --- following an outcome ---


def _apply(belief: Belief, outcome: Outcome, label: int) -> Belief | None:
    machine = belief.machine
    dealt = (*belief.dealt, *(d.variable for d in outcome.deals))
    needed = set(dealt)
    if outcome.point is not None:
        needed |= machine.program.live[outcome.point]
    for name in machine.assumptions:
        needed |= reads(machine.model.assumptions[name].value, machine.model.definitions)
    tables = (*belief.tables, *(w.dealt(d.cells, d.counts) for d in outcome.deals))
    wanted = {
        id(x): x
        for name in sorted(needed & set(outcome.values))
        for x in leaves(outcome.values[name])
        if isinstance(x, Tensor) or (isinstance(x, Cell) and x.free)
    }
    groups, plain = grouped(outcome.pieces, outcome.weights, wanted.values())
    columns: dict[int, Leaf] = {}
    kernels: list[Kernel] = []
    for group in groups:
        if group.wanted:
            tables = _settled(machine, tables, group, columns)
        else:
            made = kernel(group)
            kernels.append(made)
            if made.leaf is False and not tables:
                return None
            tables = _filtered(tables, made.leaf)
        if not all(len(t.rows) for t in tables):
            break
    if not all(len(t.rows) for t in tables):
        tables = tuple(w.kept(t, np.zeros(len(t.rows), dtype=bool)) for t in tables)
        for x in wanted.values():  # the record may go on: nothing is known of these, but they were something
            columns[id(x)] = machine.supply.lost(tensor(x).data.ravel().tolist(), _is_truth(x))
    else:
        for x in plain:
            tables = _computed(machine, tables, x, columns)
    values: dict[str, Nest] = {}
    for name, nest in outcome.values.items():
        if name in needed:
            values[name] = replaced(nest, lambda x: columns.get(id(x), x))
        elif all(not isinstance(x, Cell | Tensor) for x in leaves(nest)):
            values[name] = nest
    tables, values = _tidied(tables, values, dealt)
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
    )


def _settled(
    machine: Machine, tables: tuple[w.Table, ...], group: Group, columns: dict[int, Leaf]
) -> tuple[w.Table, ...]:
    """Adds columns for secret choices that will still matter."""
    stay = sorted({c for x in group.wanted for c in cells(x) if c.free}, key=lambda c: c.id)
    axes, data = solved(group, stay)
    fixed = tuple(a for a in axes if not a.cell.free)
    kept = tuple(a for a in axes if a.cell.free)
    order = [axes.index(a) for a in (*fixed, *kept)]
    width = 1
    for a in kept:
        width *= a.size
    grid = data.transpose(order).reshape(-1, width)
    if fixed:
        tables, at = _joined(tables, [a.cell for a in fixed])
        table, cases = w.read(
            tables[at], Tensor(fixed, np.arange(len(grid)).reshape([a.size for a in fixed]))
        )
    else:
        at = len(tables)
        table = w.Table(np.zeros((1, 0), dtype=np.int16), {}, (), ())
        tables = (*tables, table)
        cases = np.zeros(1, dtype=np.intp)
    found, choice = np.nonzero(grid[cases])
    weights = None if table.weights is None else table.weights[found]
    if machine.weighs:
        likelihood = _evenly(group, grid, kept)[cases][found, choice]
        weights = likelihood if weights is None else weights * likelihood
    grown = replace(table, rows=table.rows[found], weights=weights)
    for x in group.wanted:
        if id(x) in columns:
            continue
        part = tensor(x)
        whole = (*fixed, *kept)
        entries = _over(part, whole).reshape(len(grid), width)[cases[found], choice]
        grown, columns[id(x)] = _column(machine, grown, entries, part)
    # choices that leave the same behind are one world
    rows, weights = w.distinct(grown.rows, grown.weights)
    grown = replace(grown, rows=rows, weights=weights)
    return (*tables[:at], grown, *tables[at + 1 :])


def _evenly(group: Group, grid: Array, kept: tuple[Axis, ...]) -> Array:
    """Likelihoods in which every value of a choice that no assumption weighs counts alike.

    Such a choice only rules worlds out: a world does not become likelier by leaving more ways to make it.
    """
    weighed = {i for weight in group.weights for i in weight.free()}
    data = grid.reshape(len(grid), *(a.size for a in kept)).astype(np.float64)
    plain: list[int] = []
    ways: Array = data > 0  # how many values each case stands for
    for i, axis in enumerate(kept, 1):
        shape = [1] * data.ndim
        shape[i] = axis.size
        sizes = np.bincount(np.array(axis.codes), minlength=axis.size).reshape(shape)
        data = data * sizes
        if axis.cell.id not in weighed:
            plain.append(i)
            ways = ways * sizes
    if plain:
        data = data / np.maximum(ways.sum(axis=tuple(plain), keepdims=True), 1)
    return data.reshape(grid.shape)


def _over(part: Tensor, axes: tuple[Axis, ...]) -> Array:
    ordered = tuple(sorted(axes, key=lambda a: a.cell.id))
    data = np.broadcast_to(spread(part, ordered), [a.size for a in ordered])
    return data.transpose([ordered.index(a) for a in axes])


def _computed(
    machine: Machine, tables: tuple[w.Table, ...], x: Cell | Tensor, columns: dict[int, Leaf]
) -> tuple[w.Table, ...]:
    """Adds a column for a value that follows from others."""
    if id(x) in columns:
        return tables
    part = tensor(x)
    tables, at = _joined(tables, [a.cell for a in part.axes])
    table, entries = w.read(tables[at], part)
    table, columns[id(x)] = _column(machine, table, entries, part)
    return (*tables[:at], table, *tables[at + 1 :])


def _column(machine: Machine, table: w.Table, entries: Array, part: Tensor) -> tuple[w.Table, Leaf]:
    values, places = np.unique(entries, return_inverse=True)
    boolean = part.data.dtype == np.bool_
    if len(values) == 1:
        return table, (bool(values[0]) if boolean else int(values[0]))
    cell = machine.supply.column([int(v) for v in values], boolean, "column")
    return w.with_column(table, cell, places.ravel()), cell


def settled_columns(belief: Belief) -> Belief:
    """The same belief with what is the same in all its worlds known as such."""
    tables, values = _tidied(belief.tables, dict(belief.values), belief.dealt)
    return replace(belief, tables=tables, values=values)


def _tidied(
    tables: tuple[w.Table, ...], values: dict[str, Nest], dealt: tuple[str, ...]
) -> tuple[tuple[w.Table, ...], dict[str, Nest]]:
    """Columns nobody reads any more go, and what is the same in all worlds becomes known."""
    if all(len(t.piles) == 1 and len(t.cells) == len(t.piles[0].cells) for t in tables):
        return tables, values
    used = {x for nest in values.values() for x in leaves(nest) if isinstance(x, Cell)}
    constant: dict[Cell, Leaf] = {}
    made: list[w.Table] = []
    for table in tables:
        held = {c for p in table.piles for c in p.cells}
        stay = [c for c in table.cells if c in used or c in held]
        if len(table.rows):
            for cell in [c for c in stay if c not in held]:
                column = table.rows[:, table.columns[cell.id]]
                if (column == column[0]).all():
                    value = cell.values[int(column[0])]
                    constant[cell] = bool(value) if cell.boolean else value
                    stay.remove(cell)
        table = w.projected(table, stay)
        if table.cells or not len(table.rows):
            made.append(table)
    if constant:
        for name, nest in values.items():
            values[name] = replaced(nest, lambda x: constant.get(x, x) if isinstance(x, Cell) else x)
    return tuple(made), values
