"""Random choices for many games at once: a value for each, uniform among the proper ones, chance as it is weighed.

The rules are held against all values a choice has, once for each distinct way the things they read can be, and each
game draws from the values found for it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache

import numpy as np

from rules_dsl import model as m
from rules_dsl.arrays.columns import Array, Axis, Leaf, Tensor, both
from rules_dsl.arrays.crowd import Crowd, axis_of
from rules_dsl.arrays.path import implied
from rules_dsl.arrays.program import ChoiceCode, Program
from rules_dsl.arrays.scene import Parts, Scene, leaf
from rules_dsl.arrays.shapes import Nest, encode, known, leaves, replaced
from rules_dsl.arrays.worlds import arrangements
from rules_dsl.play import Stuck
from rules_dsl.types import IntType, MapType, cardinality, is_index
from rules_dsl.values import all_values, from_ordinal
from rules_dsl.values import arrangements as count_arrangements
from rules_dsl.walk import reads

FEW_OPTIONS = 16  # so many are held against the rules for each game by itself
MOST_KEYS = 1 << 16  # as many distinct ways are told apart by numbering them
MOST_AT_ONCE = 1 << 24  # entries of a table of options worked out at a time
MOST_DEALS = 1 << 20  # arrangements that are listed to be drawn from
MOST_TRIES = 1000


class Options:
    """Every value of a choice, side by side, and the rules for it compiled."""

    def __init__(self, program: Program, code: ChoiceCode) -> None:
        formulas, choice = program.formulas, code.choice
        self.choice = choice
        values = list(all_values(m.choice_type(choice), program.model.players.count))
        self.size = len(values)
        self.axis: Axis = axis_of(self.size, "options")
        nests = [encode(code.type, v) for v in values]
        self.columns = [_column(c) for c in zip(*(leaves(n) for n in nests), strict=True)]
        self.plain = nests if self.size <= FEW_OPTIONS else []
        self.shape = nests[0]
        self.nest = self._laid(lambda i: Tensor((self.axis,), self.columns[i]))
        conditions = [(r.kind, formulas.parts(r.condition)) for r in choice.requires]
        self.legal: list[Parts] = [parts for kind, parts in conditions if kind == "require"]
        self.proper: list[Parts] = [parts for _, parts in conditions]
        self.weight = code.weight
        exprs = [r.condition for r in choice.requires] + (
            [choice.weight] if choice.weight is not None else []
        )
        self.read = frozenset().union(*(reads(e, program.model.definitions) for e in exprs))

    def _laid(self, made: Callable[[int], Leaf]) -> Nest:
        numbers = iter(range(len(self.columns)))
        return replaced(self.shape, lambda _: made(next(numbers)))

    def any_for(self, crowd: Crowd, seat: Mapping[str, Nest]) -> Array:
        """In which games a seat has something to choose."""
        keyed, way = _distinct(crowd, self, seat)
        found = np.asarray(_holding(self, keyed, self.legal).any(axis=1))
        return found if way is None else found[way]

    def chosen(self, crowd: Crowd, places: Array | int) -> Nest:
        """The nest of the values at these places, one for each game."""
        return self._laid(lambda i: crowd.leaf(self.columns[i][places]))


def _column(values: tuple[Leaf, ...]) -> Array:
    return np.array(values, dtype=np.bool_ if isinstance(values[0], bool) else np.int32)


def draw_value(
    crowd: Crowd, options: Options, seat: Mapping[str, Nest], rng: np.random.Generator, acts: Leaf = True
) -> Nest:
    """A value for each game in which the choice is made; what it is in the others does not matter."""
    if not options.proper and options.weight is None:
        return options.chosen(crowd, _evenly(options.size, crowd.size, rng))
    keyed, way = _distinct(crowd, options, seat)
    if options.weight is not None:
        return options.chosen(crowd, _weighed(crowd, options, keyed, seat, way, rng))
    idle = None if acts is True else ~crowd.column(acts)
    if way is None:
        return options.chosen(crowd, _one_by_one(crowd, options, keyed.scene, idle, rng))
    numbers, flat, starts = _allowed(options, keyed, way, idle)
    drawn = (rng.random(crowd.size) * numbers[way]).astype(np.intp)
    return options.chosen(crowd, flat[np.minimum(starts[way] + drawn, len(flat) - 1)])


def _evenly(size: int, games: int, rng: np.random.Generator) -> Array:
    """A number below `size` for each game."""
    if size == 2:
        bits = np.frombuffer(rng.bytes(-(-games // 8)), dtype=np.uint8)
        return np.unpackbits(bits, count=games)
    return rng.integers(0, size, games, dtype=np.int32)


def _one_by_one(
    crowd: Crowd, options: Options, scene: Scene, idle: Array | None, rng: np.random.Generator
) -> Array:
    """The place of an option for each game, where each has its own and there are few."""
    allowed = _each_allowed(options, scene, options.proper)
    if options.size == 2 and allowed[0] is True:
        bits = _evenly(2, crowd.size, rng)
        return bits if allowed[1] is True else bits & crowd.column(allowed[1])
    table = np.stack([crowd.column(a) for a in allowed])
    numbers = table.sum(axis=0, dtype=np.int8)
    if not numbers.all():
        if len(options.legal) < len(options.proper):
            at_all = np.stack([crowd.column(a) for a in _each_allowed(options, scene, options.legal)])
            table = np.where(numbers == 0, at_all, table)
            numbers = table.sum(axis=0, dtype=np.int8)
        missing = numbers == 0
        if (missing if idle is None else missing & ~idle).any():
            raise Stuck(f"somebody must choose {options.choice.variable} and nothing is allowed")
    wanted = (rng.random(crowd.size) * numbers).astype(np.int8)
    found = np.zeros(crowd.size, dtype=np.int8)
    passed = np.zeros(crowd.size, dtype=np.int8)
    for place, here in enumerate(table):
        found[here & (passed == wanted)] = place
        passed += here
    return found


def _each_allowed(options: Options, scene: Scene, rules: list[Parts]) -> list[Leaf]:
    """For each option whether it meets the rules; taken by itself much of a rule folds away."""
    made: list[Leaf] = []
    for nest in options.plain:
        value, given = nest, True
        if options.choice.optional:
            assert isinstance(nest, tuple)
            given, value = bool(nest[0]), nest[1]
        inside = scene.bind(**{options.choice.variable: value})
        holds: Leaf = True
        for parts in rules if given else ():
            for part in parts(inside):
                holds = both(holds, part)
        made.append(holds)
    return made


class _Keyed:
    """The distinct ways in which what the rules read can be: a scene, and how many there are."""

    def __init__(self, scene: Scene, size: int, axis: Axis | None) -> None:
        self.scene = scene
        self.size = size
        self.axis = axis


def _distinct(crowd: Crowd, options: Options, seat: Mapping[str, Nest]) -> tuple[_Keyed, Array | None]:
    """The ways, and which of them each game is in (None: each game is a way of its own)."""
    read = {name: crowd.values[name] for name in sorted(options.read) if name in crowd.values}
    parts = [x for nest in (*read.values(), *seat.values()) for x in leaves(nest) if isinstance(x, Tensor)]
    if not parts:
        return _Keyed(Scene(read, seat), 1, None), np.zeros(crowd.size, dtype=np.intp)
    if options.size <= FEW_OPTIONS:
        return _Keyed(Scene(read, seat), crowd.size, crowd.axis), None
    code, space = np.zeros(crowd.size, dtype=np.int64), 1
    for part in parts:
        low, high = int(part.data.min()), int(part.data.max())
        width = high - low + 1
        if space > (1 << 62) // width:
            code = np.unique(code, return_inverse=True)[1].ravel()
            space = int(code.max()) + 1
        code = code * width + (part.data.astype(np.int64) - low)
        space *= width
    if space <= MOST_KEYS:
        first = np.full(space, -1, dtype=np.intp)
        first[code] = np.arange(crowd.size)
        found = np.flatnonzero(first >= 0)
        numbers = np.zeros(space, dtype=np.intp)
        numbers[found] = np.arange(len(found))
        places, way = first[found], numbers[code]
    else:
        _, places, way = np.unique(code, return_index=True, return_inverse=True)
        way = way.ravel()
    axis = axis_of(len(places), "ways")

    def taken(x: Leaf) -> Leaf:
        return Tensor((axis,), x.data[places]) if isinstance(x, Tensor) else x

    values = {name: replaced(nest, taken) for name, nest in read.items()}
    return _Keyed(Scene(values, {n: replaced(v, taken) for n, v in seat.items()}), len(places), axis), way


def _allowed(options: Options, keyed: _Keyed, way: Array, idle: Array | None) -> tuple[Array, Array, Array]:
    """For each way how many options there are, all of them in a row, and where its own begin."""
    table = _holding(options, keyed, options.proper)
    numbers = table.sum(axis=1)
    empty = numbers == 0
    if empty.any():  # nothing proper: what is allowed at all
        if len(options.legal) < len(options.proper):
            table = np.where(empty[:, None], _holding(options, keyed, options.legal), table)
            numbers = table.sum(axis=1)
            empty = numbers == 0
        missing = empty[way]
        if (missing if idle is None else missing & ~idle).any():
            raise Stuck(f"somebody must choose {options.choice.variable} and nothing is allowed")
    flat = np.nonzero(table)[1]
    if not len(flat):
        flat = np.zeros(1, dtype=np.intp)
    return numbers, flat, np.concatenate([[0], np.cumsum(numbers)[:-1]])


def _holding(options: Options, keyed: _Keyed, rules: list[Parts]) -> Array:
    """Which option meets the rules in which way."""
    value: Nest = options.nest
    given: Leaf = True
    if options.choice.optional:
        assert isinstance(value, tuple)
        given, value = leaf(value[0]), value[1]
    scene = keyed.scene.bind(**{options.choice.variable: value})
    holds: Leaf = True
    for parts in rules:
        for part in parts(scene):
            holds = both(holds, implied(given, part))
    return np.ascontiguousarray(np.broadcast_to(_table(holds, options, keyed), (keyed.size, options.size)))


def _table(found: Leaf, options: Options, keyed: _Keyed) -> Array:
    if not isinstance(found, Tensor):
        return np.full((1, 1), found)
    shape = tuple(a.size if a in found.axes else 1 for a in (keyed.axis, options.axis))
    # an axis made later comes later, and those of ways and of crowds are made at any time
    data = found.data
    if len(found.axes) == 2 and found.axes[0] is options.axis:
        data = data.T
    return data.reshape(shape)


def _weighed(
    crowd: Crowd,
    options: Options,
    keyed: _Keyed,
    seat: Mapping[str, Nest],
    way: Array | None,
    rng: np.random.Generator,
) -> Array:
    assert options.weight is not None
    scene = keyed.scene.bind(**{options.choice.variable: options.nest})
    weights = _table(leaf(options.weight(scene)), options, keyed)
    weights = np.broadcast_to(weights, (keyed.size, options.size)) * _holding(options, keyed, options.legal)
    sums = np.cumsum(weights, axis=1, dtype=np.float64)
    if (sums[:, -1] <= 0).any():
        raise Stuck(f"nothing can come up for {options.choice.variable}")
    wanted = rng.random(crowd.size) * (sums[way, -1] if way is not None else sums[:, -1])
    if len(sums) == 1:
        return np.searchsorted(sums[0], wanted, side="right")
    rows = sums[way] if way is not None else sums
    return np.asarray((rows <= wanted[:, None]).sum(axis=1))


# --- deals ---


def draw_deal(crowd: Crowd, code: ChoiceCode, rng: np.random.Generator) -> Nest:
    """Cards laid out in each game, every arrangement that the rules allow as often as it weighs: of those that weigh
    less than the heaviest could, as many fewer are kept.
    """
    assert code.deal is not None and isinstance(code.choice.type, MapType)
    laid = _laid_out(crowd, code, rng, np.arange(crowd.size))
    luck = rng.random(crowd.size) if code.weight is not None else np.zeros(crowd.size)
    for _ in range(MOST_TRIES):
        refused = _refused(crowd, code, laid, luck)
        if not len(refused):
            return _nest(crowd, laid)
        laid[:, refused] = _laid_out(crowd, code, rng, refused)
        if code.weight is not None:
            luck[refused] = rng.random(len(refused))
    raise Stuck(f"no arrangement of the cards is allowed for {code.choice.variable}")


def _nest(crowd: Crowd, laid: Array) -> Nest:
    return tuple(crowd.leaf(column) for column in laid)


def _refused(crowd: Crowd, code: ChoiceCode, laid: Array, luck: Array) -> Array:
    scene = crowd.scene().bind(**{code.choice.variable: _nest(crowd, laid)})
    holds: Leaf = True
    for _, parts in code.requires:
        for part in parts(scene):
            holds = both(holds, part)
    fine = np.ones(crowd.size, dtype=bool) if holds is True else crowd.column(holds)
    if code.weight is not None:
        weight = code.choice.weight
        assert weight is not None and isinstance(weight.type, IntType)
        fine = fine & (luck * weight.type.high < crowd.column(leaf(code.weight(scene))))
    return np.flatnonzero(~fine)


def _laid_out(crowd: Crowd, code: ChoiceCode, rng: np.random.Generator, games: Array) -> Array:
    """A row for each place, a column for each of the games."""
    assert code.deal is not None and isinstance(code.choice.type, MapType)
    type_ = code.choice.type
    assert is_index(type_.value)
    labels = [encode(type_.value, from_ordinal(type_.value, i)) for i in range(cardinality(type_.value))]
    kinds = _column(tuple(leaf(x) for x in labels))
    counts, places = code.deal(crowd.scene()), cardinality(type_.key)
    if known(counts):
        numbers = tuple(int(c) for c in leaves(counts))  # type: ignore[arg-type]
        ways = count_arrangements(numbers, places)
        if 0 < ways <= MOST_DEALS:
            return kinds[_every_deal(numbers)[:, rng.integers(0, ways, len(games))]]
    piles = np.stack([crowd.column(c)[games] for c in leaves(counts)], axis=1)
    if (piles.sum(axis=1) != places).any():
        raise Stuck("there are not as many cards as places to deal them to")
    cards = np.repeat(np.tile(kinds, len(games)), piles.ravel()).reshape(len(games), places)
    return np.ascontiguousarray(rng.permuted(cards, axis=1).T)


@lru_cache(maxsize=16)
def _every_deal(counts: tuple[int, ...]) -> Array:
    """Every arrangement as a column of kinds."""
    held = [i for i, n in enumerate(counts) if n]
    return np.array(held, dtype=np.intp)[arrangements(tuple(counts[i] for i in held))].T.copy()
