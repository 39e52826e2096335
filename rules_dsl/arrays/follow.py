"""Follows a record through the phases: a list of observations in, the beliefs after each of them out.

The record may be partial. What the viewer could not have seen is left out, whatever the record says: the model decides
who sees what. A choice of which nothing was seen is passed by if the viewer could not see it or if it is chance's; a
choice everybody sees must be there, if only as an observation of kind "unknown".
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from rules_dsl import model as m
from rules_dsl.arrays.belief import Belief, advance, balanced, begin, grant, settled_columns, weigh
from rules_dsl.arrays.choosing import awaited
from rules_dsl.arrays.columns import Leaf
from rules_dsl.arrays.event import SOMEBODY, Event, Refusal, Seen
from rules_dsl.arrays.path import Path, Values
from rules_dsl.arrays.run import Machine
from rules_dsl.arrays.scene import Scene, leaf
from rules_dsl.arrays.shapes import Nest, encode
from rules_dsl.model import Value
from rules_dsl.play import CHANCE, Observation
from rules_dsl.types import BOOL
from rules_dsl.walk import statements

SAID = "said"  # an observation of this kind is a speech; its value has the speech's parameters in order


class UnreadableRecord(ValueError):
    """The record does not fit the rules as far as everybody can see; `index` is the observation that does not.

    `awaited` are the phases that would come first.
    """

    def __init__(
        self, message: str, index: int, refusals: Sequence[Refusal] = (), awaited: tuple[str, ...] = ()
    ) -> None:
        self.message = message
        self.awaited = awaited
        self.index = index
        self.refusals = tuple(refusals)
        super().__init__(message)

    @property
    def cites(self) -> tuple[str, ...]:
        """The clauses that were broken."""
        return tuple(dict.fromkeys(c for r in self.refusals for c in r.origin.cites))


@dataclass(frozen=True, slots=True, eq=False)
class Clump:
    """Observations of one choice (or one speech) and of what followed it. `index` is the first one's place."""

    index: int
    kind: str
    name: str
    seen: tuple[Observation, ...]
    after: tuple[Observation, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Follower:
    """A belief in several branches, and what the record says that no choice has accounted for yet."""

    beliefs: tuple[tuple[Belief, tuple[Observation, ...]], ...]
    viewer: int | None

    def current(self) -> tuple[Belief, ...]:
        """The beliefs with a world left, or one without if there is none."""
        possible = tuple(b for b, _ in self.beliefs if b.possible)
        return possible or (self.beliefs[0][0],)


def follow_from(machine: Machine, viewer: int | None) -> Follower:
    """Before the record starts."""
    return Follower(((begin(machine), ()),), viewer)


def clumps(observations: Sequence[Observation]) -> Iterator[Clump]:
    """The record cut into pieces that are read together."""
    made: list[Clump] = []
    for index, seen in enumerate(observations):
        match seen.kind:
            case "phase" if not made:
                continue  # the game starts there
            case "choice" if (
                made
                and (made[-1].kind, made[-1].name) == ("choice", seen.name)
                and not made[-1].after
                and seen.seat not in {o.seat for o in made[-1].seen}
            ):
                made[-1] = replace(made[-1], seen=(*made[-1].seen, seen))
            case "choice" | "said":
                made.append(Clump(index, seen.kind, seen.name, (seen,), ()))
            case "unknown":
                made.append(Clump(index, "choice", seen.name, (), ()))
            case _:
                if not made or made[-1].kind == SAID:
                    made.append(Clump(index, "", "", (), ()))
                made[-1] = replace(made[-1], after=(*made[-1].after, seen))
    return iter(made)


def follow(follower: Follower, clump: Clump) -> Follower:
    """The beliefs after one more piece of the record."""
    if clump.kind == SAID:
        return _listen(follower, clump)
    after: list[tuple[Belief, tuple[Observation, ...]]] = []
    faults = Faults()
    seen_after = tuple(o for o in clump.after if _open(o, follower.viewer))
    for belief, owed in follower.beliefs:
        for here, left in _reach(belief, owed, clump, follower.viewer, faults):
            if not clump.name:
                after += _settle(here, (*left, *seen_after), clump, follower.viewer, faults)
                continue
            for sure, seen in sure_who_sees(here, clump.seen, clump.index, follower.viewer):
                event = event_of(sure, seen, follower.viewer)
                for now, still in _step(sure, event, seen_after, clump, faults):
                    after += _settle(now, still, clump, follower.viewer, faults)
    if not after:
        raise faults.refusal(clump.index, clump.name, _phase_of(clump))
    alive = [(b, left) for b, left in after if b.possible] or after[:1]
    beliefs = balanced([b for b, _ in alive])
    return Follower(tuple((b, left) for b, (_, left) in zip(beliefs, alive, strict=True)), follower.viewer)


@dataclass(slots=True)
class Faults:
    refusals: list[Refusal] = field(default_factory=list)
    awaited: dict[str, m.Origin] = field(default_factory=dict)
    unmet: dict[str, m.Origin] = field(default_factory=dict)

    def refusal(self, index: int, name: str, what: str) -> UnreadableRecord:
        """What to say when no way is left to read a piece; `what` is the phase it speaks of, if it does."""
        told = [r for r in self.refusals if r.text and r.origin.cites] or [r for r in self.refusals if r.text]
        if told:
            others = [r for r in self.refusals if r.text and r not in told]
            return UnreadableRecord(told[0].text, index, [*told, *others])
        if self.awaited and (what or not self.unmet):
            first = " or ".join(f"'{phase}'" for phase in self.awaited)
            text = f"{what or name} does not come here: {first} comes first"
            refusals = [Refusal(o, text) for o in self.awaited.values()]
            return UnreadableRecord(text, index, refusals, tuple(self.awaited))
        if self.unmet:
            text = f"after this, {' or '.join(map(repr, self.unmet))} does not follow"
            return UnreadableRecord(text, index, [Refusal(o, text) for o in self.unmet.values()])
        return UnreadableRecord(f"{what or name} does not come here: the game is over", index)

    def wait(self, belief: Belief, choice: m.Choice) -> None:
        """The rules want this choice, not what the record says."""
        assert belief.point is not None
        phase = belief.machine.model.phases[belief.point[0]]
        self.awaited[phase.name] = phase.origin if phase.origin.cites else choice.origin

    def miss(self, belief: Belief, owed: Sequence[Observation | Seen]) -> None:
        """The record says that something came about which did not."""
        for thing in owed:
            self.unmet[thing.name or thing.kind] = _deciding(belief.machine.model, thing)


def _phase_of(clump: Clump) -> str:
    """The phase a piece says something happened in, if it says so."""
    named = [o.phase for o in clump.seen if o.phase] + [o.name for o in clump.after if o.kind == "phase"]
    return f"'{named[0]}'" if named and (clump.seen or not clump.name) else ""


def _deciding(model: m.Model, thing: Observation | Seen) -> m.Origin:
    """Where the rules decide whether a phase comes next, or the variable that was published."""
    if thing.kind == "phase":
        for phase in model.phases.values():
            for statement in statements(phase.body):
                if isinstance(statement, m.If) and statement.origin.cites:
                    inner = (*statements(statement.then), *statements(statement.otherwise))
                    if any(isinstance(s, m.Next) and s.phase == thing.name for s in inner):
                        return statement.origin
    return model.variables[thing.name].origin if thing.name in model.variables else m.BUILT_IN


def _open(seen: Observation, viewer: int | None) -> bool:
    """Is this something that became known to the viewer, if it is no choice?"""
    return seen.kind != "shown" or seen.seat == viewer


def visible(belief: Belief, choice: m.Choice, viewer: int | None, seat: int | None) -> bool:
    """Does the viewer see what this seat chose (or, of cards dealt, the card of this seat)?"""
    if choice.audience.kind == "public":
        return True
    if viewer is None:
        return False
    if seat == viewer:
        return True
    if choice.audience.to is None:
        return False
    sees = _sees(belief, choice, viewer, seat)
    if not isinstance(sees, bool):
        raise ValueError(f"it is not known who sees {choice.variable}")
    return sees


def _sees(belief: Belief, choice: m.Choice, viewer: int, seat: int | None) -> Leaf:
    """Is the viewer among those who are let see a choice?"""
    assert choice.audience.to is not None
    scene = Scene(belief.values)
    if choice.chooser.seat:
        scene = scene.bind(**{choice.chooser.seat: -1 if seat is None else seat})
    members = belief.machine.program.formulas.value(choice.audience.to)(scene)
    assert isinstance(members, tuple)
    return leaf(members[viewer])


def sure_who_sees(
    belief: Belief, seen: tuple[Observation, ...], label: int, viewer: int | None
) -> Iterator[tuple[Belief, tuple[Observation, ...]]]:
    """The belief and what is seen of the choice awaited, in two parts if it is not known whether the viewer sees it."""
    choice = awaited_choice(belief)
    assert choice is not None
    if viewer is None or choice.audience.to is None or choice.chooser.kind == "each" or not seen:
        yield belief, seen
        return
    sees = _sees(belief, choice, viewer, seen[0].seat)
    if isinstance(sees, bool):
        yield belief, seen
        return
    seat = m.Literal(viewer, belief.machine.model.players)
    among: m.Expr = m.Apply("in", (seat, choice.audience.to), BOOL)
    for fact, told in ((among, seen), (m.Apply("not", (among,), BOOL), ())):
        part = grant(belief, fact, label=label, origin=choice.origin)
        if part.possible:
            yield settled_columns(part), told


def awaited_choice(belief: Belief) -> m.Choice | None:
    if belief.point is None:
        return None
    name, step = belief.point
    return belief.machine.model.phases[name].choices[step]


def event_of(belief: Belief, seen: Sequence[Observation], viewer: int | None) -> Event:
    """What the viewer knows of the choice awaited, where everything he is shown is told."""
    choice = awaited_choice(belief)
    assert choice is not None
    told = [o for o in seen if visible(belief, choice, viewer, o.seat)]
    chosen: tuple[tuple[int, Value], ...] = ()
    entries: tuple[tuple[int, Value], ...] = ()
    if choice.chooser.kind == "chance":
        entries = tuple((o.seat, o.value) for o in told if o.seat is not None and choice.deal is not None)
        chosen = tuple((CHANCE, o.value) for o in told if o.seat is None)
    else:
        chosen = tuple((SOMEBODY if o.seat is None else o.seat, o.value) for o in told)
    viewers = frozenset[int]() if viewer is None else frozenset({viewer})
    return Event(chosen=chosen, entries=entries, viewers=viewers, throughout=True)


def _reach(
    belief: Belief, owed: tuple[Observation, ...], clump: Clump, viewer: int | None, faults: Faults
) -> Iterator[tuple[Belief, tuple[Observation, ...]]]:
    """Passes choices by that the viewer does not see, up to the one the record speaks of next."""
    choice = awaited_choice(belief)
    if choice is None:
        return
    if not clump.name or (choice.variable == clump.name and not owed):
        yield belief, owed
        return
    event = None if choice.variable == clump.name else passing_by(belief, choice, viewer)
    if event is None:
        faults.wait(belief, choice)
        return
    for after, left in _step(belief, event, owed, clump, faults):
        yield from _reach(after, left, clump, viewer, faults)


def passable(choice: m.Choice) -> bool:
    """Can a choice be made without everybody seeing it? What chance does need not be noted."""
    return choice.chooser.kind == "chance" or choice.audience.kind != "public"


def passing_by(belief: Belief, choice: m.Choice, viewer: int | None) -> Event | None:
    """What it means that nothing was seen of a choice; None if something must have been."""
    event = event_of(belief, (), viewer)
    if passable(choice):
        return event
    if choice.chooser.kind == "each" and not _somebody_chooses(belief, choice):
        # everybody would have seen it: so nobody had this choice
        return replace(event, silent=frozenset(range(belief.machine.players)))
    return None


def _somebody_chooses(belief: Belief, choice: m.Choice) -> bool:
    """Is it certain that there is somebody who makes this choice?"""
    assert belief.point is not None
    name, step = belief.point
    machine = belief.machine
    code = machine.program.phase(name).choices[step]
    return awaited(machine, Path(Values(belief.values)), code) is True


def _settle(
    belief: Belief, owed: tuple[Observation, ...], clump: Clump, viewer: int | None, faults: Faults
) -> Iterator[tuple[Belief, tuple[Observation, ...]]]:
    """Passes unseen choices by until everything that became known is accounted for."""
    if not owed:
        yield belief, ()
        return
    choice = awaited_choice(belief)
    event = None if choice is None else passing_by(belief, choice, viewer)
    if event is None:
        if choice is not None and not clump.name:
            faults.wait(belief, choice)
        faults.miss(belief, owed)
        return
    for after, left in _step(belief, event, owed, clump, faults):
        yield from _settle(after, left, clump, viewer, faults)


def _step(
    belief: Belief,
    event: Event,
    after: tuple[Observation, ...],
    clump: Clump,
    faults: Faults,
) -> Iterator[tuple[Belief, tuple[Observation, ...]]]:
    """One choice made, and which of the observations that followed are still to come."""
    ended = [o for o in after if o.kind == "result"]
    things = [o for o in after if o.kind != "result"]
    event = replace(
        event,
        after=tuple(Seen(o.kind, o.name, o.value, o.seat) for o in things),
        dutiful=not ended,
        result=(ended[0].value,) if ended else (),
    )
    change = advance(belief, event, clump.index)
    faults.refusals += change.refusals
    for now in change.beliefs:
        left = [o for i, o in enumerate(things) if i not in now.met]
        yield now, (*left, *([] if now.over else ended))


# --- speeches ---


def _listen(follower: Follower, clump: Clump) -> Follower:
    """A speech binds nobody; assumptions about it may."""
    made: list[tuple[Belief, tuple[Observation, ...]]] = []
    for belief, owed in follower.beliefs:
        model = belief.machine.model
        speech = model.speeches.get(clump.name)
        if speech is None:
            raise UnreadableRecord(f"there is no speech '{clump.name}'", clump.index)
        for name in belief.machine.assumptions:
            assumption = model.assumptions[name]
            if assumption.target == clump.name:
                value = clump.seen[0].value
                assert isinstance(value, tuple)
                belief = heard(belief, assumption, _spoken(speech, value), clump.index)
        made.append((belief, owed))
    beliefs = balanced([b for b, _ in made])
    return replace(follower, beliefs=tuple((b, left) for b, (_, left) in zip(beliefs, made, strict=True)))


def _spoken(speech: m.Speech, value: tuple[Value, ...]) -> dict[str, Nest]:
    return {name: encode(t, v) for (name, t), v in zip(speech.parameters, value, strict=True)}


def heard(belief: Belief, assumption: m.Assumption, spoken: Mapping[str, Nest], label: int) -> Belief:
    """The belief after a speech to which an assumption applies."""
    if assumption.kind == "require":
        return grant(belief, assumption.value, spoken, label=label, origin=assumption.origin)
    return weigh(belief, assumption.value, spoken, label)
