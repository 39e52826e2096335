"""Follows a record through the phases with Z3 terms: which conditions on the unknowns each visit stands for.

The same visits that `rules_dsl.arrays.visits` reads become `Tracked` terms, each under the number of what was told and
the clause it comes from, so that a set of them without a solution is an explanation. A `Path` is one way the game may
have gone; a visit that leaves the way open forks it. What was seen counts as a known value from there on.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import z3  # type: ignore[import-untyped]

from rules_dsl import model as m
from rules_dsl.arrays.event import SOMEBODY, Event
from rules_dsl.arrays.visits import Visit, own_secret
from rules_dsl.model import Value
from rules_dsl.play import CHANCE, Observation
from rules_dsl.smt.execute import run_from
from rules_dsl.smt.expressions import Scene, truth_of, value_of
from rules_dsl.smt.paths import Path, Tracked, Walker, mentioned
from rules_dsl.smt.raw import listened
from rules_dsl.smt.symbolic import (
    MapOf,
    Maybe,
    Symbolic,
    conform,
    constant,
    declare,
    same,
    well_formed,
)
from rules_dsl.smt.system import Compiler, Place, Step
from rules_dsl.smt.terms import Truth, and_, equal, implies, not_, number, term
from rules_dsl.smt.unroll import finite_solver
from rules_dsl.types import MapType, OptionalType, Type
from rules_dsl.walk import statements


@dataclass(frozen=True)
class Speech:
    """Something somebody said: its parameters in order. `index` is what it is told under."""

    index: int
    name: str
    values: tuple[Value, ...]


@dataclass
class _Known:
    """What is seen of a choice being made: by seat, or the value and the speaker."""

    by_seat: Mapping[int, Value] = field(default_factory=dict)
    value: tuple[Value, ...] = ()
    speaker: int | None = None


class Tracker(Compiler):
    """Turns observations of one settled model into terms, for the eyes of one viewer (None: a spectator)."""

    def __init__(self, model: m.Model, viewer: int | None, assumptions: Sequence[str] = ()) -> None:
        super().__init__(model)
        self.viewer = viewer
        self.assumptions = [model.assumptions[name] for name in assumptions]
        self.number = 0
        self.known = _Known()
        self.label: int | None = None
        self.dead: list[Path] = []  # ways that were excluded before the end of what was told
        self.dropped: list[Path] = []  # ways that came to nothing while a visit was followed
        self.opening: tuple[Path, ...] = ()  # the ways the game may have gone after the first thing told

    # --- unknowns ---

    def input(self, type_: Type, name: str) -> Symbolic:
        """The choice awaited: known where it was seen, else a fresh unknown."""
        self.number += 1
        if name.endswith(" by"):
            seat = self.known.speaker
            return declare(type_, f"{name} #{self.number}") if seat is None else number(seat)
        if self.known.value:
            return conform(constant(self.known.value[0], type_), type_)
        made = declare(type_, f"{name} #{self.number}")
        if self.known.by_seat:
            assert isinstance(made, MapOf) and isinstance(type_, MapType)
            entries = list(made.entries)
            for seat, value in self.known.by_seat.items():
                entries[seat] = conform(constant(value, type_.value), type_.value)
            made = MapOf(tuple(entries))
        return made

    def unknown(self, type_: Type, name: str) -> tuple[Symbolic, Tracked]:
        """Any value of a type, and that it is one."""
        self.number += 1
        made = declare(type_, f"{name} #{self.number}")
        return made, Tracked(None, (), "", well_formed(made, type_, self.players))

    # --- following a record ---

    def follow(self, course: Sequence[Visit | Speech]) -> tuple[Path, ...]:
        """Every way the game may have gone after all that was told, or part of it if no more was needed to exclude it."""
        visits = [x for x in course if isinstance(x, Visit)]
        self.walker = Walker(self.model, self.scene_of, visits, self.viewer, self._possible)
        scene = self.scene_of("", {})
        first = {n: conform(value_of(v.initial, scene), v.type) for n, v in self.model.variables.items()}
        paths = [self._folded(path, None) for path in self.walker.start(first)]
        number = -1
        for told in course:
            if isinstance(told, Speech):
                paths = [self._listened(path, told) for path in paths]
                continue
            number += 1
            self.dropped = []
            after = list(self._visited(paths, number))
            if not after:
                never = Tracked(told.index, *self._why_never(), False)
                after = [replace(p, at=number, fresh=True, terms=(*p.terms, never)) for p in paths]
            paths = self._alive(after)
            if number == 0:
                self.opening = tuple(after)
        return (*paths, *self.dead)

    def _alive(self, paths: list[Path]) -> list[Path]:
        """The paths worth following; what is known already to be impossible is set aside, with what made it so."""
        if len(paths) < 2:
            return paths
        found = [(path, self._satisfiable(path)) for path in paths]
        self.dead += [path for path, alive in found if not alive]
        return [path for path, alive in found if alive] or [self.dead.pop()]

    def _visited(self, paths: Sequence[Path], number: int) -> Iterator[Path]:
        """The paths after one more visit of the record."""
        seen = self.walker.visits[number]
        work = list(reversed(paths))
        passed: dict[tuple[object, ...], int] = {}
        while work:
            path = work.pop()
            choice = self._choice(path)
            if path.fresh and choice is not None:
                place = (path.phase, path.step, path.at)
                passed[place] = passed.get(place, 0) + 1
                if passed[place] > 1 and not self._satisfiable(path):
                    self.dead.append(path)  # choices nobody sees may go round in a circle
                    continue
            if path.at > number:
                yield path  # visited in passing, before anybody chose again
            elif path.at < number:
                if path.fresh and path.phase == seen.phase and choice is not None and path.leads is None:
                    work.append(self._due(path, seen, number) if seen.due else self.walker.claimed(path))
                elif choice is not None and self._passable(choice):
                    work += self._made(path, None, seen)
            elif choice is None or path.fresh:
                if seen.winner and path.leads is None and choice is not None:
                    work += self._to_the_end(path, choice, seen)
                    if not self._passable(choice) or self._point(path) in path.passed:
                        yield self._ended(path, seen)
                elif path.leads is None and (choice is None or not seen.result):
                    yield self._ended(path, seen)
                elif choice is not None and self._passable(choice):
                    work += self._made(path, None, seen)
            else:
                assert path.step is not None
                choices = self.model.phases[seen.phase].choices
                if any(seen.binds(c, self.viewer) for c in choices[path.made : path.step]):
                    continue
                left = len(seen.after) - len(path.met)
                if seen.due and not left:
                    yield replace(path, fresh=True)
                elif left or seen.waits(choices[path.step :], self.viewer, partial(self._may_see, path)):
                    work += self._made(path, seen, seen)
                else:
                    yield path

    def _to_the_end(self, path: Path, choice: m.Choice, seen: Visit) -> list[Path]:
        """On by a choice that nobody sees, once; where somebody must choose in the open, what comes may not be told."""
        if not self._passable(choice) or self._point(path) in path.passed:
            return []
        passed = path.passed | {self._point(path)}
        return [replace(after, passed=passed) for after in self._made(path, None, seen)]

    def _point(self, path: Path) -> tuple[str, int]:
        assert path.step is not None
        return path.phase, path.step

    def _due(self, path: Path, seen: Visit, number: int) -> Path:
        """The path where it is only said that a choice is due in a visit, which may be spoken of again."""
        scene = self.scene_of(path.phase, path.values)
        terms = tuple(t for x in seen.given if (t := mentioned(x, scene, seen.index)).term is not True)
        return replace(path, at=number, terms=(*path.terms, *terms))

    def _ended(self, path: Path, seen: Visit) -> Path:
        """The path once everything told of a visit has come about: how things stand, and who won if it is over."""
        scene = self.scene_of(path.phase, path.values)
        terms = [mentioned(x, scene, seen.index) for x in seen.then]
        wanted = seen.result or (seen.winner if path.step is None else ())
        if wanted:
            ending = OptionalType(self.model.result)
            result = path.result or Maybe(False, None)
            agrees = same(conform(result, ending), constant(wanted[0], ending))
            cites = self._ending(path.phase)
            terms.append(Tracked(seen.index, cites, "who wins follows from the rules", agrees))
        return replace(path, terms=(*path.terms, *(t for t in terms if t.term is not True)))

    def _choice(self, path: Path) -> m.Choice | None:
        return None if path.step is None else self.model.phases[path.phase].choices[path.step]

    def _passable(self, choice: m.Choice) -> bool:
        return choice.chooser.kind == "chance" or choice.audience.kind != "public"

    def _made(self, path: Path, own: Visit | None, sought: Visit) -> Iterator[Path]:
        """One choice made, and the game run on to the next; `own` is the visit it is in, if that is spoken of."""
        choice, label = self._choice(path), sought.index
        assert choice is not None and path.step is not None
        place = Place(path.phase, path.step)
        scene = self.scene_of(path.phase, path.values)
        told = () if own is None else self._seats(choice, own, scene)
        sights = [(o, self._visible(choice, scene, o.seat)) for o in told]
        seen = [o for o, visible in sights if visible is True]
        self.known = _known(choice, seen)
        if own is not None and not seen and choice.audience.kind == "public":
            self.known.speaker = own.speakers.get(choice.variable)
        speaker = self.known.speaker
        made = self._chosen(choice, place, scene)
        terms = [*path.terms, *self._choosing(choice, made, scene, seen, speaker, label)]
        for o, visible in sights:  # it may be open whether the viewer is among those who see it
            if not isinstance(visible, bool):
                type_ = m.choice_type(choice)
                fits = implies(visible, same(made.value, constant(o.value, type_)))
                terms.append(Tracked(label, choice.origin.cites, f"who sees {choice.variable}", fits))
        values = {
            **path.values,
            choice.variable: conform(made.value, self.model.variables[choice.variable].type),
        }
        if made.seat is not None:
            values[f"{choice.variable}_by"] = made.seat
        now = path.step + 1
        here = replace(
            path, step=now, values=values, terms=tuple(terms), made=path.made if path.fresh else now
        )
        for after in self.walker.onward(here):
            found = self._folded(after, label)
            silent = sought.dutiful and not (sought.result or sought.winner)
            if after.step is None and silent and choice.audience.kind != "public":
                # nobody is taken to have ended the game by breaking a duty in secret
                owed = (
                    Tracked(label, d.cites, d.rule.text if d.rule is not None else "", d.term)
                    for d in made.oughts
                )
                found = replace(found, terms=(*found.terms, *(t for t in owed if t.term is not True)))
            if all(t.term is not False for t in found.terms[len(path.terms) :]):
                yield found
            else:
                self.dropped.append(found)

    def _seats(self, choice: m.Choice, own: Visit, scene: Scene) -> tuple[Observation, ...]:
        """What was written down about a choice; with its seat, if it is clear who had it."""
        told = own.told.get(choice.variable, ())
        if not told or not own_secret(choice, told[0].seat):
            return told
        assert choice.chooser.who is not None
        who = value_of(choice.chooser.who, scene)
        return (replace(told[0], seat=who.value),) if isinstance(who.value, int) else told

    def _may_see(self, path: Path, choice: m.Choice, seat: int | None) -> bool:
        """Can the viewer be among those who see a choice?"""
        scene = self.scene_of(path.phase, path.values)
        if own_secret(choice, seat):
            assert choice.chooser.who is not None
            return bool(value_of(choice.chooser.who, scene).value == self.viewer)
        return self._visible(choice, scene, seat) is not False

    def _folded(self, path: Path, label: int | None) -> Path:
        """The path with the conditions under which the rules led along it among its terms."""
        way = and_(path.ways)
        if way is True:
            return replace(path, ways=())
        led = Tracked(label, self._cites(path.phase), f"{path.phase} comes next", way)
        return replace(path, ways=(), terms=(*path.terms, led))

    def _possible(self, path: Path) -> bool:
        """Can the game have gone so? Asked where phases come round again, so that no circle goes on for nothing."""
        whole = self._folded(path, self.label)
        if self._satisfiable(whole):
            return True
        self.dead.append(whole)
        return False

    def _satisfiable(self, path: Path) -> bool:
        if any(t.term is False for t in path.terms):
            return False
        solver = finite_solver()
        solver.add(*(term(t.term) for t in path.terms if t.term is not True))
        return bool(listened(solver.check(), solver) != z3.unsat)

    def _why_never(self) -> tuple[tuple[str, ...], str]:
        """The clauses and the rule that the way which fitted longest fails by, where none is left."""
        for path in sorted(self.dropped, key=lambda p: -len(p.terms)):
            for tracked in path.terms:
                if tracked.term is False and tracked.cites:
                    return tracked.cites, tracked.text
        return (), "this does not come here by the rules"

    def _ending(self, phase: str) -> tuple[str, ...]:
        """The clauses of the rules that end the game in a phase."""
        found = [s for s in statements(self.model.phases[phase].body) if isinstance(s, m.If | m.Win)]
        return tuple(dict.fromkeys(c for s in found for c in s.origin.cites)) or self._cites(phase)

    def _cites(self, phase: str) -> tuple[str, ...]:
        return self.model.phases[phase].origin.cites

    # --- one choice ---

    def _chosen(self, choice: m.Choice, place: Place, scene: Scene) -> Step:
        make = self.each if choice.chooser.kind == "each" else self.single
        return make(place, choice, scene)

    def _visible(self, choice: m.Choice, scene: Scene, seat: int | None) -> Truth:
        if choice.audience.kind == "public":
            return True
        if self.viewer is None:
            return False
        if seat == self.viewer:
            return True
        if choice.audience.to is None:
            return False
        inside = scene
        if choice.chooser.seat:
            inside = scene.bind(**{choice.chooser.seat: number(0 if seat is None else seat)})
        members = value_of(choice.audience.to, inside).members
        return members[self.viewer]

    def _choosing(
        self,
        choice: m.Choice,
        made: Step,
        scene: Scene,
        seen: Sequence[Observation],
        speaker: int | None,
        label: int,
    ) -> Iterator[Tracked]:
        """What the rules and the assumptions demand of a choice."""
        by_seat = {o.seat for o in seen if o.seat is not None}
        for i, condition in enumerate(made.conditions):
            text = condition.rule.text if condition.rule is not None else _domain_text(choice)
            # that an unknown is a value at all, and the deal, hold whatever was observed
            anyway = i == 0 and choice.chooser.kind != "one"
            yield Tracked(None if anyway else label, condition.cites, text, condition.term)
        if choice.chooser.kind == "each":
            for seat in sorted(by_seat):
                yield Tracked(
                    label, choice.origin.cites, f"only some choose {choice.variable}", made.seats[seat]
                )
        elif choice.chooser.kind == "player" and speaker is not None:
            assert choice.chooser.who is not None
            who = value_of(choice.chooser.who, scene)
            text = f"who chooses {choice.variable} is fixed"
            yield Tracked(label, choice.origin.cites, text, equal(who, number(speaker)))
        if choice.deal is not None and choice.audience.kind == "own":
            for o in seen:
                if o.seat is not None:
                    type_ = choice.type.value  # type: ignore[union-attr]
                    held = same(made.value.entries[o.seat], constant(o.value, type_))
                    yield Tracked(label, choice.origin.cites, "the card is in the deck", held)
        yield from self._assumed(choice, made, scene, label)

    def _assumed(self, choice: m.Choice, made: Step, scene: Scene, label: int) -> Iterator[Tracked]:
        for rule in self.assumptions:
            if rule.target != choice.variable:
                continue
            if choice.chooser.kind == "each":
                for seat, (chooses, value) in enumerate(zip(made.seats, made.value.entries, strict=True)):
                    bound = {choice.variable: value, rule.seat: number(seat)}
                    yield assumed(rule, scene.bind(**bound), label, chooses)
                continue
            bound = {choice.variable: made.value}
            if rule.seat:
                who = made.seat
                if who is None:
                    assert choice.chooser.who is not None
                    who = value_of(choice.chooser.who, scene)
                bound[rule.seat] = who
            yield assumed(rule, scene.bind(**bound), label, True)

    def _listened(self, path: Path, said: Speech) -> Path:
        speech = self.model.speeches[said.name]
        bound = {n: constant(v, t) for (n, t), v in zip(speech.parameters, said.values, strict=True)}
        scene = self.scene_of("", path.values).bind(**bound)
        heard = [assumed(a, scene, said.index, True) for a in self.assumptions if a.target == said.name]
        return replace(path, terms=(*path.terms, *heard))

    # --- observations by themselves ---

    def alone(
        self,
        dealt: Mapping[str, Symbolic],
        place: Place,
        given: Mapping[str, Value],
        event: Event,
        label: int,
    ) -> list[Tracked]:
        """An event of some phase taken by itself; only the given variables are known for it."""
        assert place.step is not None
        choice = self.model.phases[place.phase].choices[place.step]
        values: dict[str, Symbolic] = {}
        terms: list[Tracked] = []
        for name, variable in self.model.variables.items():
            if name in given:
                values[name] = conform(constant(given[name], variable.type), variable.type)
            elif name in dealt:
                values[name] = dealt[name]
            else:
                values[name], formed = self.unknown(variable.type, name)
                terms.append(formed)
        scene = self.scene_of(place.phase, values)
        seen = [Observation(place.phase, "choice", choice.variable, s, v) for s, v in event.chosen]
        self.known = _known(choice, seen)
        made = self._chosen(choice, place, scene)
        terms += self._choosing(choice, made, scene, seen, self.known.speaker, label)
        values[choice.variable] = conform(made.value, self.model.variables[choice.variable].type)
        if made.seat is not None:
            values[f"{choice.variable}_by"] = made.seat
        wanted = {s.name: s.value for s in event.after if s.kind == "published"}
        if len(wanted) != len(event.after):
            raise ValueError("by itself only what a choice publishes can be taken")

        def publish(statement: m.Assign, condition: Truth, value: Symbolic) -> Symbolic:
            if statement.variable in wanted:
                seen_value = wanted.pop(statement.variable)
                known = constant(seen_value, self.model.variables[statement.variable].type)
                text = f"the {statement.variable} shown follow from what was chosen"
                terms.append(
                    Tracked(label, statement.origin.cites, text, and_((condition, same(value, known))))
                )
                return known
            return value

        run_from(self.model, place.phase, place.step + 1, values, self.scene_of, self.halting, publish)
        return terms

    def granted(
        self,
        dealt: Mapping[str, Symbolic],
        condition: m.Expr,
        bound: Mapping[str, Symbolic],
        kind: str,
    ) -> Truth:
        """A condition on the cards dealt (or a likelihood, which must not be nought)."""
        scene = self.scene_of("", dealt).bind(**bound)
        return possible(condition, scene) if kind == "weight" else truth_of(condition, scene)


def assumed(rule: m.Assumption, scene: Scene, label: int, applies: Truth) -> Tracked:
    """An assumption as a term; a likelihood only rules out what it gives none."""
    holds = truth_of(rule.value, scene) if rule.kind == "require" else possible(rule.value, scene)
    return Tracked(label, (rule.name,), rule.text, implies(applies, holds))


def possible(likelihood: m.Expr, scene: Scene) -> Truth:
    """Does a likelihood leave it possible?"""
    return not_(equal(value_of(likelihood, scene), number(0)))


def _known(choice: m.Choice, seen: Sequence[Observation]) -> _Known:
    if choice.chooser.kind == "each":
        return _Known({o.seat: o.value for o in seen if o.seat is not None})
    if choice.deal is not None and choice.audience.kind == "own":
        return _Known()
    if not seen:
        return _Known()
    seat = seen[0].seat
    return _Known({}, (seen[0].value,), None if seat in (None, SOMEBODY, CHANCE) else seat)


def _domain_text(choice: m.Choice) -> str:
    if choice.deal is not None:
        return "the cards dealt are those of the deck"
    return f"who may choose {choice.variable}"
