"""Many games played at random at once: a settled model in, how often each result came up out.

The same compiled phases that deduction reads are followed here for a whole crowd of games, a column for each. Games
that wait at the same choice are played together; where they part ways the crowd is parted. Everybody chooses uniformly
among what is legal and breaks no duty; chance follows the rulebook.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import numpy as np

from rules_dsl import model as m
from rules_dsl.arrays.columns import Array, Leaf, Tensor, both
from rules_dsl.arrays.crowd import Crowd, parted, together
from rules_dsl.arrays.drawing import Options, draw_deal, draw_value
from rules_dsl.arrays.program import (
    AssignCode,
    ChoiceCode,
    IfCode,
    NextCode,
    Point,
    Program,
    ShowCode,
    StatementCode,
    WinCode,
)
from rules_dsl.arrays.run import changed
from rules_dsl.arrays.scene import Scene, leaf
from rules_dsl.arrays.shapes import Nest, decode, disjunction, encode, entry, leaves, place, replaced, select
from rules_dsl.model import Value
from rules_dsl.play import Stuck
from rules_dsl.reference import MOST_SILENT_PHASES
from rules_dsl.types import Type, is_index
from rules_dsl.values import least

MOST_TURNS = 100_000  # how often a crowd is played on before it is said that its games do not end


def play_games(model: m.Model, games: int, rng: np.random.Generator) -> Counter[Value]:
    """Plays so many games to the end; `Simulator` for several rounds of it."""
    return Simulator(model).play(games, rng)


class Simulator:
    """Plays games of one settled model; what it remembers only makes it faster."""

    def __init__(self, model: m.Model) -> None:
        self.model = model
        self.program = Program(model)
        self.players = model.players.count
        self._options: dict[Point, Options] = {}
        self.needed: dict[tuple[int, ...], frozenset[str]] = {}  # by the statements that are still to be done

    def play(self, games: int, rng: np.random.Generator) -> Counter[Value]:
        """How often each result came up in so many games; None where nobody won."""
        return _Round(self, rng).run(games)

    def options(self, point: Point) -> Options:
        """What can be chosen somewhere."""
        if point not in self._options:
            name, step = point
            self._options[point] = Options(self.program, self.program.phase(name).choices[step])
        return self._options[point]


class _Round:
    """One crowd of games on its way to the end."""

    def __init__(self, simulator: Simulator, rng: np.random.Generator) -> None:
        self.simulator = simulator
        self.program = simulator.program
        self.players = simulator.players
        self.rng = rng
        self.waiting: dict[Point, list[Crowd]] = {}
        self.entering: list[tuple[Crowd, str, int]] = []  # what was found to enter a phase next, last first
        self.results: Counter[Value] = Counter()

    def run(self, games: int) -> Counter[Value]:
        model, formulas = self.simulator.model, self.program.formulas
        values = {n: formulas.wanted(v.initial, v.type)(Scene({})) for n, v in model.variables.items()}
        self._enter(Crowd(games, values), model.start, 0)
        self._enter_all()
        turns = 0
        while self.waiting:
            turns += 1
            if turns > MOST_TURNS:
                raise Stuck(f"games have not ended after {MOST_TURNS:,} turns")
            point = max(self.waiting, key=lambda p: sum(c.size for c in self.waiting[p]))
            crowd = together(self.waiting.pop(point), self.program.live[point])
            self._choose(crowd, point)
            self._arrive(crowd, point[0], point[1] + 1, 0)
            self._enter_all()
        return self.results

    def _enter_all(self) -> None:
        """On through phases in which nobody chooses, each branch to its end before the next one."""
        left: list[tuple[Crowd, str, int]] = []
        while self.entering or left:
            left += reversed(self.entering)
            self.entering = []
            self._enter(*left.pop())

    # --- phases ---

    def _enter(self, crowd: Crowd, name: str, silent: int) -> None:
        """Into a phase, or past it where it does not take place."""
        while crowd.size:
            silent += 1
            if silent > MOST_SILENT_PHASES:
                raise Stuck(f"nobody chooses anything any more around phase '{name}'")
            code = self.program.phase(name)
            entered = code.when(crowd.scene())
            if entered is True:
                self._arrive(crowd, name, 0, silent)
                return
            if isinstance(entered, Tensor):
                inside, crowd = parted(crowd, entered)
                if inside.size:
                    self._arrive(inside, name, 0, silent)
            name = code.phase.otherwise

    def _arrive(self, crowd: Crowd, name: str, step: int, silent: int) -> None:
        """On to the next choice somebody has, or to the end of the phase."""
        code = self.program.phase(name)
        while step < len(code.choices):
            choice = code.choices[step]
            somebody = self._somebody(crowd, choice)
            if isinstance(somebody, Tensor):
                stays, crowd = parted(crowd, somebody)
                if stays.size:
                    self.waiting.setdefault((name, step), []).append(stays)
                if not crowd.size:
                    return
            elif somebody:
                self.waiting.setdefault((name, step), []).append(crowd)
                return
            crowd.values[choice.choice.variable] = encode(choice.variable_type, least(choice.variable_type))
            if choice.choice.chooser.kind == "one":
                crowd.values[f"{choice.choice.variable}_by"] = 0
            step += 1
        self._body(crowd, code.body, silent)

    def _body(self, crowd: Crowd, body: tuple[StatementCode, ...], silent: int) -> None:
        for i, code in enumerate(body):
            match code:
                case NextCode():
                    self.entering.append((crowd, code.statement.phase, silent))
                    return
                case WinCode():
                    self._won(crowd, code)
                    return
                case AssignCode():
                    self._assign(crowd, code)
                case ShowCode():
                    continue
                case IfCode():
                    condition = code.condition(crowd.scene())
                    if isinstance(condition, Tensor) and code.quiet:
                        self._either(crowd, code, condition)
                        continue
                    rest = body[i + 1 :]
                    if isinstance(condition, Tensor):
                        then = self._needed((*code.then, *rest))
                        one, two = parted(crowd, condition, then, self._needed((*code.otherwise, *rest)))
                        if one.size:
                            self._body(one, (*code.then, *rest), silent)
                        if two.size:
                            self._body(two, (*code.otherwise, *rest), silent)
                    else:
                        self._body(crowd, (*(code.then if condition else code.otherwise), *rest), silent)
                    return

    def _needed(self, body: tuple[StatementCode, ...]) -> frozenset[str]:
        """The variables that matter before the rest of a phase."""
        statements = tuple(code.statement for code in body)
        key = tuple(map(id, statements))
        if key not in self.simulator.needed:
            self.simulator.needed[key] = self.program.liveness.before(statements)
        return self.simulator.needed[key]

    def _either(self, crowd: Crowd, code: IfCode, condition: Leaf) -> None:
        """Both branches where all they do is change variables: each game keeps what its own branch did."""
        one = Crowd(crowd.size, crowd.values, crowd.axis)
        two = Crowd(crowd.size, crowd.values, crowd.axis)
        self._quietly(one, code.then)
        self._quietly(two, code.otherwise)
        for name in one.values.keys() & two.values.keys():  # what only one of them knows nobody will read
            a, b = one.values[name], two.values[name]
            # both may have given it the same new value
            crowd.values[name] = a if a is b else select(condition, a, b)

    def _quietly(self, crowd: Crowd, body: tuple[StatementCode, ...]) -> None:
        for code in body:
            if isinstance(code, AssignCode):
                self._assign(crowd, code)
            elif isinstance(code, IfCode):
                condition = code.condition(crowd.scene())
                if isinstance(condition, Tensor):
                    self._either(crowd, code, condition)
                else:
                    self._quietly(crowd, code.then if condition else code.otherwise)

    def _assign(self, crowd: Crowd, code: AssignCode) -> None:
        scene, name = crowd.scene(), code.statement.variable
        places = [place(type_, leaf(key(scene))) for type_, key in code.keys]
        if places and name not in crowd.values:
            return  # nobody will read the rest of it either
        crowd.values[name] = changed(crowd.values, name, places, code.value(scene))

    def _won(self, crowd: Crowd, code: WinCode) -> None:
        if code.value is None:
            self.results[None] += crowd.size
            return
        nest, type_ = code.value(crowd.scene()), self.simulator.model.result
        for value, number in _tally(crowd, nest, type_):
            self.results[value] += number

    # --- choices ---

    def _somebody(self, crowd: Crowd, code: ChoiceCode) -> Leaf:
        when = code.when(crowd.scene())
        if when is False or code.choice.chooser.kind in ("player", "chance"):
            return when
        return both(when, disjunction(iter(self._active(crowd, code))))

    def _active(self, crowd: Crowd, code: ChoiceCode) -> list[Leaf]:
        scene, seat = crowd.scene(), code.choice.chooser.seat
        members = code.domain(scene) if code.domain is not None else None
        made: list[Leaf] = []
        for s in range(self.players):
            there = True if members is None else leaf(entry(members, s))
            made.append(False if there is False else both(there, code.condition(scene.bind(**{seat: s}))))
        return made

    def _choose(self, crowd: Crowd, point: Point) -> None:
        code = self.program.phase(point[0]).choices[point[1]]
        name = code.choice.variable
        if code.deal is not None:
            crowd.values[name] = draw_deal(crowd, code, self.rng)
            return
        options = self.simulator.options(point)
        match code.choice.chooser.kind:
            case "each":
                crowd.values[name] = self._each(crowd, code, options)
            case "one":
                value, seat = self._one(crowd, code, options)
                crowd.values[name], crowd.values[f"{name}_by"] = value, seat
            case _:
                crowd.values[name] = draw_value(crowd, options, {}, self.rng)

    def _each(self, crowd: Crowd, code: ChoiceCode, options: Options) -> Nest:
        idle = encode(code.type, least(code.type))
        seat = code.choice.chooser.seat
        made: list[Nest] = []
        for number, acts in enumerate(self._active(crowd, code)):
            if acts is False:
                made.append(idle)
                continue
            value = draw_value(crowd, options, {seat: number}, self.rng, acts)
            made.append(select(acts, value, idle))
        return tuple(made)

    def _one(self, crowd: Crowd, code: ChoiceCode, options: Options) -> tuple[Nest, Nest]:
        """A seat that has something to choose, each alike, then one of its options."""
        acting = np.stack([crowd.column(a) for a in self._active(crowd, code)], axis=1).astype(bool)
        seat = code.choice.chooser.seat
        if options.legal and not code.choice.optional:
            for number in range(self.players):
                acting[:, number] &= options.any_for(crowd, {seat: number})
        numbers = acting.sum(axis=1)
        if (numbers == 0).any():
            raise Stuck(f"somebody must choose {code.choice.variable} and nothing is allowed")
        wanted = (self.rng.random(crowd.size) * numbers).astype(np.int64)
        speaker = crowd.leaf((np.cumsum(acting, axis=1) > wanted[:, None]).argmax(axis=1).astype(np.int32))
        return draw_value(crowd, options, {seat: speaker}, self.rng), speaker


def _tally(crowd: Crowd, nest: Nest, type_: Type) -> list[tuple[Value, int]]:
    """Every value a nest has in some game, and in how many."""
    parts = list(leaves(nest))
    if not any(isinstance(x, Tensor) for x in parts):
        return [(decode(type_, nest), crowd.size)]
    if isinstance(nest, Tensor) and is_index(type_):
        numbers = nest.data.astype(np.int64)
        low = int(numbers.min())
        counted = np.bincount(numbers - low).tolist()
        return [(decode(type_, low + i), n) for i, n in enumerate(counted) if n]
    columns: list[Array] = [crowd.column(x) for x in parts]
    rows, often = np.unique(np.stack(columns, axis=1), axis=0, return_counts=True)
    made: list[tuple[Value, int]] = []
    for row, number in zip(rows.tolist(), often.tolist(), strict=True):
        made.append((decode(type_, _filled(nest, iter(row))), number))
    return made


def _filled(nest: Nest, parts: Iterator[int]) -> Nest:
    return replaced(nest, lambda _: next(parts))
