"""Follows a record through the phases with Z3 terms: which conditions on the unknowns each observation stands for.

The same pieces that `rules_dsl.arrays.follow` reads become `Tracked` terms, each under the number of the observation
and the clause it comes from, so that a set of them without a solution is an explanation. A `Strand` is one way the game
may have gone; an observation that leaves the way open forks it. What was seen counts as a known value from there on.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import z3  # type: ignore[import-untyped]

from rules_dsl import model as m
from rules_dsl.arrays.event import SOMEBODY, Event, Mention
from rules_dsl.arrays.follow import AT, SAID, Clump
from rules_dsl.model import Value
from rules_dsl.play import CHANCE, Observation
from rules_dsl.smt.execute import CIRCLE, Stop, Values, is_awaited, passed_over, run_from
from rules_dsl.smt.expressions import Scene, truth_of, value_of
from rules_dsl.smt.observations import Slot
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
from rules_dsl.smt.system import NOBODY, Compiler, Place, Step
from rules_dsl.smt.terms import Truth, and_, equal, implies, not_, number, term
from rules_dsl.smt.unroll import finite_solver
from rules_dsl.types import MapType, OptionalType, Type


@dataclass(frozen=True, slots=True)
class Tracked:
    """A condition on the unknowns. `label` is the observation it belongs to, None if it holds in any game."""

    label: int | None
    cites: tuple[str, ...]
    text: str
    term: Truth


@dataclass(frozen=True)
class Strand:
    """One way the game may have gone: where it stands (None: over), its variables, and what must hold for it."""

    place: Place | None
    values: Values
    terms: tuple[Tracked, ...] = ()
    owed: tuple[Observation, ...] = ()


@dataclass(frozen=True)
class _Accounting:
    """A strand while what the record tells of is found among what came about; `used` are the slots it was."""

    strand: Strand
    used: frozenset[int] = frozenset()


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

    def start(self) -> tuple[Strand, ...]:
        """Before the record begins."""
        scene = self.scene_of("", {})
        first = {n: conform(value_of(v.initial, scene), v.type) for n, v in self.model.variables.items()}
        run = run_from(self.model, self.model.start, None, first, self.scene_of, self.halting)
        begun = (self._strand(Strand(None, first), stop, None) for stop in run.stops)
        nothing = Clump(0, "", "", (), (), silent=True)
        return tuple(here for strand in begun for here in self._rested(strand, nothing, None))

    def follow(self, strands: Sequence[Strand], clump: Clump, label: int) -> tuple[Strand, ...]:
        """The strands after one more piece of the record."""
        if clump.kind == SAID:
            return tuple(self._listened(s, clump, label) for s in strands)
        seen = tuple(o for o in clump.after if o.kind != "shown" or o.seat == self.viewer)
        made: list[Strand] = []
        for strand in strands:
            for here in self._reach(strand, clump, label):
                here = self._as_said(here, clump.given, label)
                if clump.kind == AT:
                    made.append(here)
                    continue
                if not clump.name:
                    made += self._settle(replace(here, owed=(*here.owed, *seen)), clump, label)
                    continue
                for after in self._made(here, clump.seen, seen, clump, label):
                    made += self._settle(after, clump, label)
        if made:
            return tuple(made)
        never = Tracked(label, (), "this does not come here by the rules", False)
        return tuple(_with(s, never) for s in strands)

    def _choice(self, strand: Strand) -> m.Choice | None:
        if strand.place is None or strand.place.step is None:
            return None
        return self.model.phases[strand.place.phase].choices[strand.place.step]

    def _passable(self, choice: m.Choice) -> bool:
        return choice.chooser.kind == "chance" or choice.audience.kind != "public"

    def _reach(self, strand: Strand, clump: Clump, label: int) -> Iterator[Strand]:
        choice = self._choice(strand)
        if choice is None:
            return
        if not clump.name or (choice.variable == clump.name and not strand.owed):
            yield strand
        elif choice.variable != clump.name and self._passable(choice):
            for after in self._made(strand, (), strand.owed, clump, label):
                yield from self._reach(after, clump, label)

    def _settle(self, strand: Strand, clump: Clump, label: int) -> Iterator[Strand]:
        if not strand.owed:
            yield strand
            return
        choice = self._choice(strand)
        if choice is None or not self._passable(choice):
            return
        for after in self._made(strand, (), strand.owed, clump, label):
            yield from self._settle(after, clump, label)

    def _made(
        self,
        strand: Strand,
        told: Sequence[Observation],
        after: tuple[Observation, ...],
        clump: Clump,
        label: int,
    ) -> Iterator[Strand]:
        """One choice made, and the game run on to the next."""
        choice = self._choice(strand)
        assert choice is not None and strand.place is not None and strand.place.step is not None
        scene = self.scene_of(strand.place.phase, strand.values)
        sights = [(o, self._visible(choice, scene, o.seat)) for o in told]
        seen = [o for o, visible in sights if visible is True]
        self.known = _known(choice, seen)
        made = self._chosen(choice, strand.place, scene)
        terms = [*strand.terms, *self._choosing(choice, made, scene, seen, label)]
        for o, visible in sights:  # it may be open whether the viewer is among those who see it
            if not isinstance(visible, bool):
                type_ = m.choice_type(choice)
                fits = implies(visible, same(made.value, constant(o.value, type_)))
                terms.append(Tracked(label, choice.origin.cites, f"who sees {choice.variable}", fits))
        values = {
            **strand.values,
            choice.variable: conform(made.value, self.model.variables[choice.variable].type),
        }
        if made.seat is not None:
            values[f"{choice.variable}_by"] = made.seat
        met: list[Tracked] = []
        told_of = [o.name for o in after if o.kind == "published"]
        wanted = {o.name: o.value for o in after if o.kind == "published" and told_of.count(o.name) == 1}

        def publish(statement: m.Assign, condition: Truth, value: Symbolic) -> Symbolic:
            name = statement.variable
            if name not in wanted:
                return value
            type_ = self.model.variables[name].type
            known = conform(constant(wanted[name], type_), type_)
            text = f"the {name} shown follow from what was chosen"
            met.append(Tracked(label, statement.origin.cites, text, implies(condition, same(value, known))))
            return known

        run = run_from(
            self.model,
            strand.place.phase,
            strand.place.step + 1,
            values,
            self.scene_of,
            self.halting,
            publish,
        )
        here = replace(strand, terms=(*terms, *met), owed=after)
        ended = [o for o in after if o.kind == "result"]
        for stop in run.stops:
            if stop.phase == CIRCLE or stop.condition is False:
                continue
            after_it = self._strand(here, stop, label)
            if stop.step is None and not ended and choice.audience.kind != "public":
                # nobody is taken to have ended the game by breaking a duty in secret
                for duty in made.oughts:
                    text = duty.rule.text if duty.rule is not None else ""
                    after_it = _with(after_it, Tracked(label, duty.cites, text, duty.term))
            for accounted in self._accounted(after_it, stop, run.slots, clump, label):
                yield from self._rested(accounted, clump, label)

    def _rested(self, strand: Strand, clump: Clump, label: int | None) -> Iterator[Strand]:
        """From where a run halts to where somebody chooses, on every way that is still possible."""
        place = strand.place
        if place is None or place.step is None or (place.phase, place.step) not in self.halting:
            yield strand
            return
        choice = self.choice_at(place)
        scene, cites = self.scene_of(place.phase, strand.values), self._cites(place.phase)
        awaited = False if choice is NOBODY else is_awaited(choice, scene)
        if awaited is not False:
            yield _with(strand, Tracked(label, cites, f"{choice.variable} is chosen", awaited))
        if awaited is True:
            return
        passed = _with(strand, Tracked(label, cites, f"nobody chooses {choice.variable}", not_(awaited)))
        if awaited is not False and not _possible(passed):
            return
        values = strand.values if choice is NOBODY else passed_over(self.model, choice, strand.values)
        run = run_from(self.model, place.phase, place.step + 1, values, self.scene_of, self.halting)
        for stop in run.stops:
            if stop.phase != CIRCLE and stop.condition is not False:
                after = self._strand(passed, stop, label)
                for accounted in self._accounted(after, stop, run.slots, clump, label):
                    yield from self._rested(accounted, clump, label)

    def _strand(self, strand: Strand, stop: Stop, label: int | None) -> Strand:
        place = None if stop.step is None else Place(stop.phase, stop.step)
        phase = self.model.phases[stop.phase]
        terms = strand.terms
        if stop.condition is not True:
            terms = (*terms, Tracked(label, phase.origin.cites, f"{phase.name} comes next", stop.condition))
        return Strand(place, stop.values, terms, strand.owed)

    def _accounted(
        self, strand: Strand, stop: Stop, slots: Sequence[Slot], clump: Clump, label: int | None
    ) -> Iterator[Strand]:
        """What became known on the way against what the record says became known; the rest stays owed."""
        work = [_Accounting(replace(strand, owed=()))]
        for thing in strand.owed:
            if thing.kind == "result":
                work = [self._ended(w, thing, stop, label) for w in work]
            else:
                work = [after for w in work for after in self._came_about(w, thing, slots, label)]
        for made in work:
            done = made.strand
            if self.viewer is not None and not clump.silent:
                for i, slot in enumerate(slots):
                    shown = slot.kind == "shown" and slot.seat is not None and slot.seat.value == self.viewer
                    if shown and i not in made.used:
                        text = "nothing else was shown"
                        done = _with(done, Tracked(label, self._cites(slot.phase), text, not_(slot.made)))
            if not done.owed:
                done = self._as_said(done, clump.then, label)
            if all(t.term is not False for t in done.terms[len(strand.terms) :]):
                yield done

    def _ended(self, work: _Accounting, thing: Observation, stop: Stop, label: int | None) -> _Accounting:
        """With the end of the game the record tells of; it stays owed where the game goes on."""
        if stop.step is not None:
            return replace(work, strand=replace(work.strand, owed=(*work.strand.owed, thing)))
        ending = OptionalType(self.model.result)
        result = stop.result or Maybe(False, None)
        agrees = same(conform(result, ending), constant(thing.value, ending))
        text = "who wins follows from the rules"
        return replace(work, strand=_with(work.strand, Tracked(label, self._cites(stop.phase), text, agrees)))

    def _came_about(
        self, work: _Accounting, thing: Observation, slots: Sequence[Slot], label: int | None
    ) -> Iterator[_Accounting]:
        """One thing the record tells of came about at the first place it can have, or at a later one, or not yet. Things
        of one name came about in the order in which the record has them.
        """
        strand = work.strand
        places = [i for i, slot in enumerate(slots) if _is_slot(slot, thing)]
        last = max((i for i in places if i in work.used), default=-1)
        for i in places[places.index(last) + 1 :] if last >= 0 else places:
            slot = slots[i]
            fits, cites = slot.made, self._cites(slot.phase)
            if slot.type is not None:
                fits = and_((fits, same(slot.value, conform(constant(thing.value, slot.type), slot.type))))
            here = _with(strand, Tracked(label, cites, f"{thing.name} came about", fits))
            yield _Accounting(here, work.used | {i})
            if slot.made is True:
                return
            missed = Tracked(label, cites, f"{thing.name} did not come about", not_(slot.made))
            strand = _with(strand, missed)
        yield replace(work, strand=replace(strand, owed=(*strand.owed, thing)))

    def _as_said(self, strand: Strand, mentions: Sequence[Mention], label: int | None) -> Strand:
        """The strand with what the record mentions of public variables."""
        phase = "" if strand.place is None else strand.place.phase
        for mention in mentions:
            holds = truth_of(mention.fact, self.scene_of(phase, strand.values))
            strand = _with(strand, Tracked(label, mention.cites, "the record says how things stood", holds))
        return strand

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
        self, choice: m.Choice, made: Step, scene: Scene, seen: Sequence[Observation], label: int
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
        elif choice.chooser.kind == "player" and seen and seen[0].seat not in (None, SOMEBODY):
            assert choice.chooser.who is not None and seen[0].seat is not None
            who = value_of(choice.chooser.who, scene)
            text = f"who chooses {choice.variable} is fixed"
            yield Tracked(label, choice.origin.cites, text, equal(who, number(seen[0].seat)))
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

    def _listened(self, strand: Strand, clump: Clump, label: int) -> Strand:
        speech = self.model.speeches[clump.name]
        spoken = clump.seen[0].value
        assert isinstance(spoken, tuple)
        bound = {n: constant(v, t) for (n, t), v in zip(speech.parameters, spoken, strict=True)}
        scene = self.scene_of("", strand.values).bind(**bound)
        heard = [assumed(a, scene, label, True) for a in self.assumptions if a.target == clump.name]
        return replace(strand, terms=(*strand.terms, *heard))

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
        terms += self._choosing(choice, made, scene, seen, label)
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


def _is_slot(slot: Slot, thing: Observation) -> bool:
    if slot.kind != thing.kind or slot.name != thing.name:
        return False
    return slot.kind != "shown" or (slot.seat is not None and slot.seat.value == thing.seat)


def _possible(strand: Strand) -> bool:
    """Can what must hold for this way hold together?"""
    solver = finite_solver()
    solver.add(*(term(t.term) for t in strand.terms))
    return bool(listened(solver.check(), solver) == z3.sat)


def _with(strand: Strand, term: Tracked) -> Strand:
    return strand if term.term is True else replace(strand, terms=(*strand.terms, term))


def _domain_text(choice: m.Choice) -> str:
    if choice.deal is not None:
        return "the cards dealt are those of the deck"
    return f"who may choose {choice.variable}"
