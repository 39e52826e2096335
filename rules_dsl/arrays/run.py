"""Carries an event through the phases for all cases at once: which conditions on the unknowns it stands for.

`Machine(model).read(point, values, event)` follows the reference interpreter's order exactly, but with nests of leaves
for values. Where the way to go depends on something unknown both ways are followed. The result does not depend on
which worlds are still possible, so it is remembered and used again.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import replace

from rules_dsl import model as m
from rules_dsl.arrays.choosing import awaited, choose, pass_over
from rules_dsl.arrays.columns import Cell, Leaf, Tensor, both, negated
from rules_dsl.arrays.event import AFTER_CHOICE, Deal, Event, Mention, Outcome, Piece, Reading, Refusal, Seen
from rules_dsl.arrays.formulas import Formulas
from rules_dsl.arrays.narrowing import restricted
from rules_dsl.arrays.path import Dead, Path, Values, add, first_of, outcome_of, unmet
from rules_dsl.arrays.program import (
    AssignCode,
    IfCode,
    NextCode,
    Point,
    Program,
    ShowCode,
    StatementCode,
    WinCode,
)
from rules_dsl.arrays.scene import Scene, leaf
from rules_dsl.arrays.shapes import Nest, encode, entry, place, same, select, with_entry
from rules_dsl.arrays.supply import Supply
from rules_dsl.model import BUILT_IN
from rules_dsl.play import Stuck
from rules_dsl.reference import MOST_SILENT_PHASES
from rules_dsl.types import OptionalType
from rules_dsl.values import is_value, least

MOST_REMEMBERED = 4_000  # a game has some hundred events; more would only hold memory
_NOTHING = Event()


class Machine:
    """Reads events of one settled model."""

    def __init__(self, model: m.Model, assumptions: Sequence[str] = ()) -> None:
        self.model = model
        self.program = Program(model)
        self.players = model.players.count
        self.assumptions = tuple(assumptions)
        for name in assumptions:
            if name not in model.assumptions:
                raise KeyError(f"there is no assumption '{name}'; there are: {', '.join(model.assumptions)}")
        self.weighs = any(model.assumptions[name].kind != "require" for name in assumptions)
        self.supply = Supply({n: v.type for n, v in model.variables.items()}, self.players)
        self.dealt: dict[tuple[str, tuple[int, ...]], Deal] = {}
        self._remembered: dict[Hashable, Reading] = {}
        self.assumed: dict[str, list[m.Assumption]] = {}
        for name in assumptions:
            assumption = model.assumptions[name]
            self.assumed.setdefault(assumption.target, []).append(assumption)

    # --- reading an event ---

    def start(self, event: Event = _NOTHING) -> Reading:
        """The first choices of a game, and what became known before them."""
        formulas = self.program.formulas
        values = {n: formulas.wanted(v.initial, v.type)(Scene({})) for n, v in self.model.variables.items()}
        reading = Reading()
        try:
            for path, phase in self._enter(Path(Values(values)), self.model.start, event, reading):
                self._finish(path, phase, 0, event, reading)
        except Dead as dead:
            reading.refusals.append(dead.refusal)
        return reading

    def read(self, point: Point, values: Mapping[str, Nest], event: Event) -> Reading:
        """Every way the event can have come about, from a choice awaited on."""
        key = (point, tuple(values.items()), event)
        found = self._remembered.get(key)
        if found is None:
            if len(self._remembered) >= MOST_REMEMBERED:
                self._remembered.clear()
            bare = replace(event, chosen=()) if event.chosen else event
            whole = self._remembered.get((*key[:2], bare)) if event.chosen else None
            if whole is not None:
                variable = self.model.phases[point[0]].choices[point[1]].variable
                found = restricted(whole, variable, self.model.variables[variable].type, event.chosen)
            if found is None:
                found = self._read(point, Values(values), event)
            self._remembered[key] = found
        return found

    def read_alone(self, point: Point, given: Mapping[str, Nest], event: Event) -> Reading:
        """The same where nothing but the given variables is known of the game so far."""
        key = ("alone", point, tuple(given.items()), event)
        found = self._remembered.get(key)
        if found is None:
            if len(self._remembered) >= MOST_REMEMBERED:
                self._remembered.clear()
            found = self._remembered[key] = self._read(point, Values(given, self.supply), event)
        return found

    def _read(self, point: Point, values: Values, event: Event) -> Reading:
        reading = Reading()
        name, step = point
        code = self.program.phase(name).choices[step]
        try:
            path = Path(values)
            path.phase, path.fresh, path.passed, path.account = name, event.fresh, event.passed, event.viewers
            choose(self, path, code, event)
            if event.until == AFTER_CHOICE:
                reading.outcomes.append(outcome_of(path, None))
            else:
                self._finish(path, name, step + 1, event, reading)
        except Dead as dead:
            reading.refusals.append(dead.refusal)
        return reading

    def _finish(self, path: Path, phase: str, step: int, event: Event, reading: Reading) -> None:
        """On from a choice, to the next choice or the end, along every way."""
        work = [(path, phase, step)]
        while work:
            here, name, at = work.pop()
            try:
                for outcome in self._onward(here, name, at, event, work, reading):
                    fault = _wrong_end(outcome, event) or self._unlike(outcome, event)
                    if fault is None:
                        reading.outcomes.append(outcome)
                    else:
                        reading.refusals.append(fault)
            except Dead as dead:
                reading.refusals.append(dead.refusal)

    def _unlike(self, outcome: Outcome, event: Event) -> Refusal | None:
        """What is wrong with how things are said to be in the end; what depends on unknowns is added to the outcome."""
        if len(outcome.met) < len(event.after):
            return None
        for mention in event.then:
            origin = m.Origin("", mention.cites)
            for part in mentioned(self.program.formulas, outcome.values, mention):
                if part is False:
                    return Refusal(origin, mention.text)
                if isinstance(part, Cell | Tensor):
                    outcome.pieces = [*outcome.pieces, Piece(part, origin, mention.text)]
        return None

    def _onward(
        self,
        path: Path,
        name: str,
        step: int,
        event: Event,
        work: list[tuple[Path, str, int]],
        reading: Reading,
    ) -> Iterator[Outcome]:
        code = self.program.phase(name)
        while step < len(code.choices):
            choice = code.choices[step]
            somebody = awaited(self, path, choice)
            if somebody is True or (somebody is not False and choice.choice.chooser.kind == "each"):
                yield outcome_of(path, (name, step))
                return
            if somebody is not False:
                stays = path.twin()
                add(stays, somebody, choice.choice.origin, "somebody has this choice")
                yield outcome_of(stays, (name, step))
                add(path, negated(somebody), choice.choice.origin, "nobody has this choice")
            pass_over(path, choice)
            step += 1
        for after, ending in self._body(path, code.body, name, event, reading):
            if after.stopped:
                yield outcome_of(after, None)
            elif isinstance(ending, NextCode):
                following = ending.statement.phase
                try:
                    work += [(p, where, 0) for p, where in self._enter(after, following, event, reading)]
                except Dead as dead:
                    reading.refusals.append(dead.refusal)
            else:
                assert isinstance(ending, WinCode)
                try:
                    yield self._won(after, ending, event)
                except Dead as dead:
                    reading.refusals.append(dead.refusal)

    def _won(self, path: Path, ending: WinCode, event: Event) -> Outcome:
        result: Nest = (False, encode(self.model.result, least(self.model.result)))
        if ending.value is not None:
            result = (True, ending.value(path.scene()))
        if event.dutiful:
            for owed, origin, text in path.duties:
                add(path, owed, origin, text)
        if event.result:
            wanted = encode(OptionalType(self.model.result), event.result[0])
            for part in same(result, wanted):
                add(path, part, ending.statement.origin, "the game ended otherwise")
            result = wanted
        if path.fresh:
            path.fresh, path.passed = False, path.passed | {path.phase}
        made = outcome_of(path, None)
        made.over, made.result = True, result
        return made

    def _enter(self, path: Path, phase: str, event: Event, reading: Reading) -> Iterator[tuple[Path, str]]:
        while True:
            path.silent_phases += 1
            if path.silent_phases > MOST_SILENT_PHASES:
                raise Stuck(f"nobody chooses anything any more around phase '{phase}'")
            code = self.program.phase(phase)
            entered = code.when(path.scene())
            if entered is True:
                self._arrive(path, code.phase, event)
                yield path, phase
                return
            if entered is not False:
                stays = path.twin()
                try:
                    self._arrive(stays, code.phase, event)
                    add(stays, entered, code.phase.origin, f"phase '{phase}' takes place")
                except Dead as dead:
                    reading.refusals.append(dead.refusal)
                else:
                    yield stays, phase
                add(path, negated(entered), code.phase.origin, f"phase '{phase}' does not take place")
            phase = code.phase.otherwise

    def _arrive(self, path: Path, phase: m.Phase, event: Event) -> None:
        """A phase is entered, and with that another left; raises `Dead` if something was to come about in that."""
        for at, owed in enumerate(event.after):
            if at not in path.met and owed.phase and owed.kind != "phase" and owed.phase == path.phase:
                raise Dead(_declared(self.model, owed), f"{owed.name} did not come about")
            if at not in path.met and owed.kind == "phase":
                break
        at_ = first_of(path, event, "phase", phase.name)
        seen = None if at_ is None else event.after[at_]
        if seen is not None and seen.claims:
            path.fresh, path.passed = False, frozenset()
        else:
            path.passed |= {path.phase} if path.fresh else frozenset()
            path.fresh = True
        path.phase = phase.name
        if not event.throughout:
            path.account = frozenset() if seen is None else seen.account
        for mention in () if seen is None else seen.given:
            for part in mentioned(self.program.formulas, path.values, mention):
                add(path, part, m.Origin("", mention.cites), mention.text)

    # --- effects ---

    def _body(
        self, path: Path, body: tuple[StatementCode, ...], phase: str, event: Event, reading: Reading
    ) -> Iterator[tuple[Path, NextCode | WinCode | None]]:
        """Does statements in order along every way, until one ends the phase."""
        for i, code in enumerate(body):
            match code:
                case NextCode() | WinCode():
                    yield path, code
                    return
                case AssignCode():
                    self._assign(path, code, event)
                    if path.stopped:
                        yield path, None
                        return
                case ShowCode():
                    if not path.account:
                        continue
                    for here in self._show(path, code, event, tuple(sorted(path.account)), reading):
                        yield from self._on(here, body[i + 1 :], phase, event, reading)
                    return
                case IfCode():
                    condition = code.condition(path.scene())
                    if condition is not True and condition is not False and code.quiet:
                        self._either(path, code, condition, phase, event, reading)
                        continue
                    rest = body[i + 1 :]
                    for branch, holds in ((code.then, condition), (code.otherwise, negated(condition))):
                        if holds is False:
                            continue
                        here = path if holds is True else path.twin()
                        try:
                            add(here, holds, code.statement.origin, "")
                        except Dead as dead:
                            reading.refusals.append(dead.refusal)
                            continue
                        yield from self._on(here, (*branch, *rest), phase, event, reading)
                    return
        yield path, None

    def _on(
        self, path: Path, body: tuple[StatementCode, ...], phase: str, event: Event, reading: Reading
    ) -> Iterator[tuple[Path, NextCode | WinCode | None]]:
        """The rest of a body along one way; that this way ends nowhere says nothing of the others."""
        try:
            yield from self._body(path, body, phase, event, reading)
        except Dead as dead:
            reading.refusals.append(dead.refusal)

    def _either(
        self, path: Path, code: IfCode, condition: Leaf, phase: str, event: Event, reading: Reading
    ) -> None:
        """Both branches of an unknown condition, when all they do is change variables."""
        one, two = path.twin(), path.twin()
        for branch, here in ((code.then, one), (code.otherwise, two)):
            for _ in self._body(here, branch, phase, event, reading):
                pass
        for name in {**one.values, **two.values}:
            if not (one.values.tracks(name) and two.values.tracks(name)):
                continue  # no rule reads it any more, or the branch that leaves it alone would have kept it
            a, b = one.values[name], two.values[name]
            # both may have given it the same new value
            path.values[name] = a if a is b else select(condition, a, b)

    def _assign(self, path: Path, code: AssignCode, event: Event) -> None:
        scene, statement = path.scene(), code.statement
        value = code.value(scene)
        name = statement.variable
        if statement.published:
            at = first_of(path, event, "published", name)
            if at is not None:
                seen = event.after[at].value
            if at is not None and event.after[at].noted:
                if not is_value(code.type, seen, self.players):
                    raise Dead(statement.origin, f"{seen!r} is not a value of {code.type} for {name}")
                wanted = encode(code.type, seen)
                for part in same(value, wanted):
                    add(path, part, statement.origin, f"{name} is something else")
                value = wanted
            path.stopped = event.until == name
        if code.keys and not path.values.tracks(name):
            return  # an entry of something no rule reads any more
        places = [place(type_, leaf(key(scene))) for type_, key in code.keys]
        path.values[name] = changed(path.values, name, places, value)

    def _show(
        self, path: Path, code: ShowCode, event: Event, seats: tuple[int, ...], reading: Reading
    ) -> Iterator[Path]:
        """What each of these seats is shown against what it says it was; both ways where that is open."""
        if not seats:
            yield path
            return
        statement, seat = code.statement, seats[0]
        scene = path.scene().bind(**{statement.seat: seat})
        members = code.domain(scene) if code.domain is not None else None
        there = True if members is None else leaf(entry(members, seat))
        shown = False if there is False else both(there, code.condition(scene))
        if shown is False and unmet(path, event, "shown", statement.name, seat) is not None:
            reading.refusals.append(
                Refusal(statement.origin, f"seat {seat} cannot have seen {statement.name}")
            )
        unseen = path.twin()
        at = None if shown is False else first_of(path, event, "shown", statement.name, seat)
        try:
            if at is not None:
                add(path, shown, statement.origin, f"seat {seat} cannot have seen {statement.name}")
                if event.after[at].noted:
                    wanted = encode(statement.value.type, event.after[at].value)
                    for part in same(code.value(scene), wanted):
                        add(
                            path, part, statement.origin, f"seat {seat} must have seen other {statement.name}"
                        )
                yield from self._show(path, code, event, seats[1:], reading)
        except Dead as dead:
            reading.refusals.append(dead.refusal)
        if shown is True and at is not None:
            return
        try:
            add(unseen, negated(shown), statement.origin, f"seat {seat} must have seen {statement.name}")
        except Dead as dead:
            reading.refusals.append(dead.refusal)
            return
        yield from self._show(unseen, code, event, seats[1:], reading)


def mentioned(formulas: Formulas, values: Mapping[str, Nest], mention: Mention) -> list[Leaf]:
    """The conditions a mention stands for; none if it speaks of something that is not kept track of any more."""
    try:
        return list(formulas.parts(mention.fact)(Scene(values)))
    except KeyError:
        return []


def _declared(model: m.Model, owed: Seen) -> m.Origin:
    """Where the rules speak of something that was to come about."""
    return model.variables[owed.name].origin if owed.name in model.variables else BUILT_IN


def _wrong_end(outcome: Outcome, event: Event) -> Refusal | None:
    """What is wrong if the game is over, or is not, against what is known."""
    stopped_early = outcome.point is None and not outcome.over
    if stopped_early or event.over is None or event.over == outcome.over:
        return None
    return Refusal(BUILT_IN, "the game is over by then" if outcome.over else "the game is not over yet")


def changed(values: Mapping[str, Nest], name: str, places: list[Leaf], value: Nest) -> Nest:
    """The variable with one entry, or the whole, replaced."""

    def inner(old: Nest, left: list[Leaf]) -> Nest:
        if not left:
            return value
        return with_entry(old, left[0], inner(entry(old, left[0]), left[1:]))

    return inner(values[name], places) if places else value
