"""Are two models the same game? Built of the same parts, they are when they judge every table alike, start alike, and
when every choice in every state that can be reached is legal in both or in neither, leads to the same state and shows
every seat the same.

Takes two models and claims proved about the first; gives a proof that they are the same, a game after which they are
not, or neither. It knows no game.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from proofs.clock import Clock, OutOfTime
from proofs.induction import said
from proofs.lemmas import Lemma
from proofs.search import search
from rules_dsl import model as m
from rules_dsl.smt import Game, Place, SymbolicState, System, compile_smt, finite_solver
from rules_dsl.smt.expressions import truth_of, value_of
from rules_dsl.smt.observations import Slot, looks_same
from rules_dsl.smt.symbolic import conform, same, well_formed
from rules_dsl.smt.system import Condition
from rules_dsl.smt.terms import Truth, and_, iff, implies, not_, or_, term
from rules_dsl.types import OptionalType


@dataclass(frozen=True)
class Comparison:
    """`same` is None where that was not decided; `game` ends in the state after which the two part."""

    same: bool | None
    how: str
    game: Game | None = None


def compare(
    ours: m.Model, theirs: m.Model, proved: Sequence[Lemma], clock: Clock, deepest: int = 40
) -> Comparison:
    """Are the two models the same game? `proved` are claims about the states of ours."""
    unlike = _built_otherwise(ours, theirs)
    if unlike is not None:
        return Comparison(None, f"not made of the same parts: {unlike}")
    one, two = compile_smt(ours), compile_smt(theirs)
    if one.places != two.places:
        return Comparison(None, "not made of the same parts: where the game can stand")
    try:
        for what, alike in _tables(one, two):
            if _possible(and_((_any_table(one), not_(alike))), clock):
                return Comparison(False, what)
        if _possible(and_((one.valid, not_(_same_start(one, two)))), clock):
            return Comparison(False, "the start")
        reached = and_((one.valid, one.formed, *(said(one, claim, one.before) for claim in proved)))
        parting = [and_((one.at(one.before, p), not_(_same_step(one, two, p)))) for p in one.steps]
        parting.append(not_(_same_sight(one, two)))
        parting = [goal for goal in parting if _possible(and_((reached, goal)), clock)]
        if not parting:
            return Comparison(True, "the same tables, the same start, every step the same")
        found = search(one, {"": or_(parting)}, lambda _: clock, deepest)[""]
    except OutOfTime as error:
        return Comparison(None, str(error))
    if found.game is not None:
        where = found.game.states[-1].phase
        return Comparison(False, f"what is chosen, follows or is seen in '{where}'", found.game)
    if found.complete:
        return Comparison(True, "no game comes to a step that differs, by complete unrolling")
    return Comparison(None, found.undecided)


def _possible(condition: Truth, clock: Clock) -> bool:
    solver = finite_solver()
    solver.add(term(condition))
    return clock.check(solver)


# --- built of the same parts ---


def _built_otherwise(ours: m.Model, theirs: m.Model) -> str | None:
    """The first thing one of them has and the other has not: there is nothing to compare step by step then."""
    for what, one, two in (
        ("parameters", _types(ours.params), _types(theirs.params)),
        ("variables", _types(ours.variables), _types(theirs.variables)),
        ("who sees a variable", _audiences(ours), _audiences(theirs)),
        ("choices", _choices(ours), _choices(theirs)),
        ("result", ours.result, theirs.result),
        ("players", ours.players, theirs.players),
        ("fewest players", ours.fewest, theirs.fewest),
    ):
        if one != two:
            return what
    return None


def _types(named: Mapping[str, m.Param] | Mapping[str, m.StateVariable]) -> list[object]:
    return [(name, x.type) for name, x in named.items()]


def _audiences(model: m.Model) -> list[object]:
    return [(name, v.audience.kind, v.audience.to is None) for name, v in model.variables.items()]


def _choices(model: m.Model) -> list[object]:
    return [
        (
            phase.name,
            c.variable,
            c.type,
            c.optional,
            c.chooser.kind,
            c.chooser.seat,
            c.audience.kind,
            c.weight,
        )
        for phase in model.phases.values()
        for c in phase.choices
    ]


# --- tables ---


def _any_table(system: System) -> Truth:
    """The parameters are values of their types, whatever the set-up checks say."""
    params = system.model.params
    given = {name: system.players if name == m.PLAYERS else system.params[name] for name in params}
    return and_(well_formed(given[name], param.type, system.players) for name, param in params.items())


def _tables(one: System, two: System) -> Iterator[tuple[str, Truth]]:
    """Everything said of a table before the game: findings, and what is played when nothing is said."""
    ours, theirs = _findings(one), _findings(two)
    for key in dict.fromkeys((*ours, *theirs)):
        yield f"a finding about a table: {key[1]}", iff(ours.get(key, True), theirs.get(key, True))
    scenes = [s.scene(s.before) for s in (one, two)]
    for name, param in one.model.params.items():
        values = [
            conform(value_of(s.model.params[name].default, scene), param.type)
            for s, scene in zip((one, two), scenes, strict=True)
        ]
        yield f"what is played when nothing is said of {name}", same(*values)


def _findings(system: System) -> dict[tuple[str, str], Truth]:
    scene = system.scene(system.before)
    found: dict[tuple[str, str], Truth] = {}
    for check in system.model.checks:
        key = check.severity, check.text
        found[key] = and_((found.get(key, True), truth_of(check.condition, scene)))
    return found


# --- steps ---


def _same_start(one: System, two: System) -> Truth:
    return and_(
        (_same_state(one, one.initial, two.initial), _same_seen(one, one.first_slots, two.first_slots))
    )


def _same_step(one: System, two: System, place: Place) -> Truth:
    """Any choice there is legal in both or neither, and if it is, nobody can tell which of the two is played."""
    ours, theirs = one.steps[place], two.steps[place]
    outcome = (
        _same_state(one, ours.after, theirs.after),
        _same_seen(one, ours.slots, theirs.slots),
        _same_duties(ours.oughts, theirs.oughts),
    )
    return and_((iff(ours.legal, theirs.legal), implies(ours.legal, and_(outcome))))


def _same_sight(one: System, two: System) -> Truth:
    """In one state, the same seats may look at each variable."""
    parts: list[Truth] = []
    for name, variable in one.model.variables.items():
        ours, theirs = variable.audience.to, two.model.variables[name].audience.to
        if ours is not None and theirs is not None:
            sets = value_of(ours, one.scene(one.before)), value_of(theirs, two.scene(two.before))
            parts.append(same(*sets))
    return and_(parts)


def _same_state(system: System, ours: SymbolicState, theirs: SymbolicState) -> Truth:
    parts = [same(ours.place, theirs.place)]
    for name, type_ in system.types.items():
        parts.append(same(conform(ours.values[name], type_), conform(theirs.values[name], type_)))
    result = OptionalType(system.model.result)
    parts.append(same(conform(ours.result, result), conform(theirs.result, result)))
    return and_(parts)


def _same_seen(system: System, ours: Sequence[Slot], theirs: Sequence[Slot]) -> Truth:
    return and_(looks_same(ours, theirs, seat) for seat in range(system.model.players.count))


def _same_duties(ours: Sequence[Condition], theirs: Sequence[Condition]) -> Truth:
    one, two = _by_text(ours), _by_text(theirs)
    return and_(iff(one.get(text, True), two.get(text, True)) for text in {**one, **two})


def _by_text(duties: Sequence[Condition]) -> dict[str, Truth]:
    found: dict[str, Truth] = {}
    for duty in duties:
        text = duty.rule.text if duty.rule is not None else ""
        found[text] = and_((found.get(text, True), duty.term))
    return found
