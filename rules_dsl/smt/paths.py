"""From one choice to the next along every way: a model, a place and symbolic values in, one `Path` for each way out.

`execute` merges all ways into one outcome and forgets in which order things came about. Here they stay apart as long as
it matters: a path keeps what a record says of each visit of a phase against what comes about in it, in the order in which
the reference interpreter goes, circles of phases included. Paths that differ in nothing that was said are merged.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from rules_dsl import model as m
from rules_dsl.arrays.event import Mention, Seen
from rules_dsl.arrays.visits import Visit
from rules_dsl.play import Stuck
from rules_dsl.reference import MOST_SILENT_PHASES
from rules_dsl.smt.execute import Values, is_awaited, merge_values
from rules_dsl.smt.expressions import Scene, truth_of, updated, value_of
from rules_dsl.smt.symbolic import Maybe, conform, constant, merge, same
from rules_dsl.smt.terms import Truth, and_, number, or_
from rules_dsl.smt.terms import not_ as negated
from rules_dsl.types import OptionalType
from rules_dsl.values import least

SceneOf = Callable[[str, Values], Scene]


@dataclass(frozen=True, slots=True)
class Tracked:
    """A condition on the unknowns. `label` is the observation it belongs to, None if it holds in any game."""

    label: int | None
    cites: tuple[str, ...]
    text: str
    term: Truth


@dataclass(frozen=True, slots=True)
class Path:
    """One way the game may have gone: in which phase it is, before which choice (None: over), and its variables.

    `at` is the visit of the record that was spoken of last, `made` how many of its choices are over, `fresh` whether the
    game has come to another visit since,
    `met` what has come about of that one, `leads` a phase it is still to lead to. `ways` are the conditions under which
    the rules lead along this path since the last choice, `terms` everything else that must hold.
    """

    phase: str
    step: int | None
    values: Values
    at: int = -1
    made: int = 0
    fresh: bool = False
    met: frozenset[int] = frozenset()
    leads: str | None = None
    ways: tuple[Truth, ...] = ()
    terms: tuple[Tracked, ...] = ()
    result: Maybe | None = None
    visited: frozenset[str] = frozenset()  # phases entered since the last choice
    passed: frozenset[tuple[str, int]] = frozenset()  # choices passed by since nothing more was told

    def key(self) -> tuple[object, ...]:
        """Paths with the same key go on alike, but for the values."""
        terms = tuple(map(id, self.terms))
        return (self.phase, self.step, self.at, self.made, self.fresh, self.met, self.leads, terms)


class Walker:
    """Runs a game on through the phases, with what a record says of the visits to come."""

    def __init__(
        self,
        model: m.Model,
        scene_of: SceneOf,
        visits: Sequence[Visit],
        viewer: int | None,
        possible: Callable[[Path], bool],
    ) -> None:
        self.model = model
        self.scene_of = scene_of
        self.visits = visits
        self.viewer = viewer
        self.possible = possible  # asked where phases come round again: can this be at all?
        self.label: int | None = None

    def start(self, values: Values) -> list[Path]:
        """Up to the first choice."""
        return self._run([*self._enter(Path("", None, values), self.model.start)])

    def onward(self, path: Path) -> list[Path]:
        """From before a choice, or after the last one of a phase, to the next choice somebody has or the end."""
        return self._run([replace(path, ways=(), visited=frozenset())])

    def _run(self, work: list[Path]) -> list[Path]:
        stops: dict[tuple[object, ...], Path] = {}
        waiting: dict[tuple[object, ...], Path] = {}
        steps = 0
        while work or waiting:
            steps += 1
            for path in work:
                waiting[path.key()] = _merged(waiting[path.key()], path) if path.key() in waiting else path
            if steps > MOST_SILENT_PHASES * (1 + len(stops)):
                raise Stuck(f"nobody chooses anything any more around '{next(iter(waiting.values())).phase}'")
            work = []
            for path in self._through(waiting.pop(next(iter(waiting))), work):
                stops[path.key()] = _merged(stops[path.key()], path) if path.key() in stops else path
        return list(stops.values())

    def _through(self, path: Path, work: list[Path]) -> Iterator[Path]:
        """Through a phase, to each choice of it that somebody may have, and on to other phases."""
        phase = self.model.phases[path.phase]
        for place in range(path.step or 0, len(phase.choices)):
            choice = phase.choices[place]
            awaited = is_awaited(choice, self.scene_of(phase.name, path.values))
            if awaited is not False:
                yield replace(path, step=place, ways=(*path.ways, awaited))
            if awaited is True:
                return
            path = replace(
                path, ways=(*path.ways, negated(awaited)), values=self._passed_over(choice, path.values)
            )
        for after, ending in self._body(path, phase.body):
            if isinstance(ending, m.Next):
                work += self._enter(after, ending.phase)
            else:
                assert isinstance(ending, m.Win)
                result = self._result(ending, self.scene_of(phase.name, after.values))
                if not self._owes(after):
                    yield replace(after, step=None, result=result)

    def _enter(self, path: Path, name: str) -> Iterator[Path]:
        for _ in range(MOST_SILENT_PHASES):
            if self._owes(path):
                return
            phase = self.model.phases[name]
            when = truth_of(phase.when, self.scene_of(name, path.values))
            if when is not False:
                entered = self._arrived(replace(path, ways=(*path.ways, when)), phase)
                if name not in path.visited or self.possible(entered):
                    yield replace(entered, visited=path.visited | {name})
            if when is True:
                return
            path = replace(path, ways=(*path.ways, negated(when)))
            name = phase.otherwise
        raise Stuck(f"phases are passed over in a circle, '{name}' among them")

    def _arrived(self, path: Path, phase: m.Phase) -> Path:
        """In a phase, which may be the visit the record speaks of next."""
        leads = None if path.leads == phase.name else path.leads
        path = replace(path, phase=phase.name, step=0, fresh=True, leads=leads)
        following = path.at + 1
        if following < len(self.visits) and self.visits[following].phase == phase.name and leads is None:
            return self.claimed(path)
        return path

    def claimed(self, path: Path) -> Path:
        """The path, taken for the visit the record speaks of next."""
        at = path.at + 1
        seen = self.visits[at]
        scene = self.scene_of(path.phase, path.values)
        given = tuple(mentioned(x, scene, seen.index) for x in seen.given)
        terms = (*path.terms, *(t for t in given if t.term is not True))
        return replace(path, at=at, made=0, fresh=False, met=frozenset(), leads=seen.leads, terms=terms)

    def _owes(self, path: Path) -> bool:
        """Is something said of the visit that is over which has not come about?"""
        if path.fresh or path.at < 0:
            return False
        seen = self.visits[path.at]
        passed = self.model.phases[seen.phase].choices[path.made :]
        return len(path.met) < len(seen.after) or any(seen.binds(c, self.viewer) for c in passed)

    def _passed_over(self, choice: m.Choice, values: Values) -> Values:
        type_ = self.model.variables[choice.variable].type
        made = {**values, choice.variable: constant(least(type_), type_)}
        if choice.chooser.kind == "one":
            made[f"{choice.variable}_by"] = constant(0, self.model.players)
        return made

    # --- effects ---

    def _body(self, path: Path, body: Sequence[m.Statement]) -> Iterator[tuple[Path, m.Next | m.Win | None]]:
        for i, statement in enumerate(body):
            scene = self.scene_of(path.phase, path.values)
            match statement:
                case m.Next() | m.Win():
                    yield path, statement
                    return
                case m.Assign():
                    path = self._assign(path, statement, scene)
                case m.Show():
                    for taken in self._show(path, statement, scene):
                        yield from self._body(taken, body[i + 1 :])
                    return
                case m.If():
                    test = truth_of(statement.condition, scene)
                    if not isinstance(test, bool) and _quiet(statement):
                        path = self._either(path, statement, test)
                        continue
                    rest = body[i + 1 :]
                    for branch, holds in ((statement.then, test), (statement.otherwise, negated(test))):
                        if holds is not False:
                            taken = path if holds is True else replace(path, ways=(*path.ways, holds))
                            yield from self._body(taken, (*branch, *rest))
                    return
        yield path, None

    def _either(self, path: Path, statement: m.If, test: Truth) -> Path:
        """Both branches, when all they do is change variables."""
        ((then, _),) = self._body(path, statement.then)
        ((other, _),) = self._body(path, statement.otherwise)
        return replace(path, values=merge_values(test, then.values, other.values))

    def _assign(self, path: Path, statement: m.Assign, scene: Scene) -> Path:
        name = statement.variable
        type_ = self.model.variables[name].type
        value = value_of(statement.value, scene)
        if statement.published:
            found = self._next(path, "published", name)
            if found is not None:
                place, thing = found
                path = replace(path, met=path.met | {place})
                if thing.noted:
                    told = conform(constant(thing.value, type_), type_)
                    text = f"the {name} shown follow from what was chosen"
                    path = self._holding(
                        path, statement.origin.cites, text, same(conform(value, type_), told)
                    )
                    value = told
        keys = [value_of(k, scene) for k in statement.keys]
        new = conform(updated(path.values[name], type_, keys, value), type_)
        return replace(path, values={**path.values, name: new})

    def _show(self, path: Path, statement: m.Show, scene: Scene) -> Iterator[Path]:
        """What the viewer is shown against what he says he was; both ways where that is open."""
        if self.viewer is None or path.fresh or path.at < 0 or not self.visits[path.at].account:
            yield path
            return
        inside = scene.bind(**{statement.seat: number(self.viewer)})
        shown = truth_of(statement.condition, inside)
        if statement.domain is not None:
            shown = and_((shown, value_of(statement.domain, scene).members[self.viewer]))
        cites = statement.origin.cites
        found = None if shown is False else self._next(path, "shown", statement.name)
        if found is not None:
            place, thing = found
            type_ = statement.value.type
            agrees = same(conform(value_of(statement.value, inside), type_), constant(thing.value, type_))
            met = replace(path, met=path.met | {place})
            yield self._holding(met, cites, f"{statement.name} came about", and_((shown, agrees)))
        if found is None or shown is not True:
            yield self._holding(path, cites, "nothing else was shown", negated(shown))

    def _next(self, path: Path, kind: str, name: str) -> tuple[int, Seen] | None:
        """The first thing of this name that the record says of the visit and that has not come about yet."""
        if path.fresh or path.at < 0:
            return None
        things = enumerate(self.visits[path.at].after)
        return next(
            (p for p in things if p[0] not in path.met and (p[1].kind, p[1].name) == (kind, name)), None
        )

    def _holding(self, path: Path, cites: tuple[str, ...], text: str, term: Truth) -> Path:
        if term is True:
            return path
        label = self.visits[path.at].index
        return replace(path, terms=(*path.terms, Tracked(label, cites, text, term)))

    def _result(self, statement: m.Win, scene: Scene) -> Maybe:
        type_ = self.model.result
        if statement.value is None:
            return Maybe(False, constant(least(type_), type_))
        made: Maybe = conform(Maybe(True, value_of(statement.value, scene)), OptionalType(type_))
        return made


def mentioned(mention: Mention, scene: Scene, label: int) -> Tracked:
    """What the record mentions of public variables, as a term."""
    return Tracked(
        label, mention.cites, "how things stand follows from the rules", truth_of(mention.fact, scene)
    )


def _quiet(statement: m.Statement) -> bool:
    """Does it change variables and nothing else, so that nobody sees which branch was taken?"""
    match statement:
        case m.Assign():
            return not statement.published
        case m.If():
            return all(_quiet(s) for s in (*statement.then, *statement.otherwise))
        case _:
            return False


def _merged(one: Path, two: Path) -> Path:
    """Two paths to the same place of which at most one was taken."""
    ours, theirs = and_(one.ways), and_(two.ways)
    result = one.result
    if one.result is not None and two.result is not None:
        result = merge(theirs, two.result, one.result)
    values = merge_values(theirs, two.values, one.values)
    visited = one.visited | two.visited
    return replace(one, values=values, ways=(or_((ours, theirs)),), result=result, visited=visited)
