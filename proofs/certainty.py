"""Games after which somebody is certain of something, or not: how a claim that nobody can be is refuted, and one that
speaks of both.

The search proposes games in which the facts hold that nobody should be certain of, as if everybody knew or did not know
what suits the search. `Mind` then looks for twins: games that look the same to a seat and in which the fact does not hold.
A twin refutes the proposed game, and every other game it looks like to that seat, whatever the parameters that leave it
legal. Where there is none, the seat is certain in every game at the same table that looks the same to it. So what is learnt
is exact, and when the games run out without one that stands, the claim holds.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import z3  # type: ignore[import-untyped]

from proofs.clock import Clock, OutOfTime
from proofs.pairs import Doubt, Mind, Pair, PairSearch, plain_scene
from proofs.search import Found, exhausted, plainest
from rules_dsl import model as m
from rules_dsl.smt import Game, Place, Unrolling, finite_solver
from rules_dsl.smt.expressions import Scene, truth_of, value_of
from rules_dsl.smt.observations import looks_same, nothing_seen
from rules_dsl.smt.raw import substituted, substituted_each
from rules_dsl.smt.symbolic import constant, same
from rules_dsl.smt.terms import Num, Truth, and_, equal, not_, number, or_, term
from rules_dsl.smt.unroll import are_params, input_leaves, move_leaves
from rules_dsl.types import OptionalType

MOST_CANDIDATES = 2000
MOST_CARRIED = 400


@dataclass(frozen=True)
class Kind:
    """A kind of last state. Candidates of a kind that has failed are put off until no other kind is left."""

    name: Hashable
    condition: Truth


@dataclass(frozen=True)
class _Atom:
    """One `knows` of the claim with its names bound, and the literal that stands for it."""

    expr: m.Knows
    bound: dict[str, Any]
    who: Num
    literal: Any


@dataclass(frozen=True)
class _Beside:
    """Another game beside the one searched for: when it is legal and looks the same to a seat, and where it has come to.
    `place` is where it stands, if it may go on beside a longer game.
    """

    alike: tuple[Truth, ...]
    now: tuple[Any, ...]
    place: Place | None = None


class CertainGames:
    """The search for the shortest game that makes a claim about knowing and not knowing false.

    `where` is a condition on the last state, outside of which the claim is known to hold; `kind_of` tells kinds of last
    states apart.
    """

    def __init__(self, pair: Pair, claim: m.Expr, where: Truth, kind_of: Callable[[Game], Kind]) -> None:
        self.pair, self.claim, self.kind_of = pair, claim, kind_of
        self.atoms: list[_Atom] = []
        self.candidates = 0
        self.started = False
        self.searches: dict[int, PairSearch] = {}
        self.twins: list[tuple[Doubt, _Beside]] = []
        system = pair.system
        scene = replace(system.scene(system.before), knows=self._supposed)
        self.goal = term(and_((where, system.rests, not_(truth_of(claim, scene)))))
        self.run = Unrolling(system, finite_solver())
        self.run.start_initial()

    def _supposed(self, scene: Scene, expr: m.Knows) -> Truth:
        """As far as has been learnt yet, the seat may know whatever is true."""
        literal = z3.Bool(f"certain {len(self.atoms)}")
        self.atoms.append(_Atom(expr, dict(scene.bound), value_of(expr.player, scene), literal))
        return and_((literal, truth_of(expr.fact, scene)))

    def shortest(self, deepest: int, clock: Clock) -> Found:
        """The shortest game; or none, up to a depth or at all."""
        for depth in range(deepest + 1):
            try:
                found = self.next_depth(clock)
            except OutOfTime as error:
                return Found(None, depth - 1, False, str(error))
            if found is not None:
                return found
        return Found(None, deepest, False)

    def next_depth(self, clock: Clock) -> Found | None:
        """Looks one event further; None if it may be found further on."""
        if self.started:
            self.run.extend()
            self.run.solver.add(*self._carried_on(self.run.depth))
        self.started = True
        depth = self.run.depth
        game = self._at_depth(depth, clock)
        if game is not None:
            return Found(game.at_rest, len(game.at_rest.moves), True)
        if depth >= 8 and depth % 4 == 0 and exhausted(self.run.solver, clock):
            return Found(None, depth, True)
        return None

    def _at_depth(self, depth: int, clock: Clock) -> Game | None:
        solver, put_off = self.run.solver, dict[Hashable, Any]()
        goal = substituted(self.goal, [*self.run.moments[depth], *self._literals(depth)])
        while True:
            attempt = z3.FreshBool("attempt")
            solver.add(z3.Implies(attempt, z3.And(goal, *put_off.values())))
            if not clock.check(solver, attempt):
                if not put_off:
                    return None
                put_off = {}
                continue
            game = self.run.trace(plainest(self.pair.system, solver, attempt, clock), depth)
            mind = Mind(self.pair, game, clock, self.searches)
            if not mind.holds(self.claim):
                return game
            self.candidates += 1
            if self.candidates >= MOST_CANDIDATES:
                raise OutOfTime("too many games had to be looked at")
            for doubt in mind.doubts:
                solver.add(*self._learnt(doubt, game, depth))
            kind = self.kind_of(game)
            put_off[kind.name] = self.run.at(depth, not_(kind.condition))

    def _literals(self, depth: int) -> list[tuple[Any, Any]]:
        return [(a.literal, z3.Bool(f"{depth}@ {a.literal.decl().name()}")) for a in self.atoms]

    def _learnt(self, doubt: Doubt, proposed: Game, depth: int) -> Iterator[Any]:
        """No game to this depth that looks to the seat like the twin makes the seat certain; or, without a twin, every
        game at this table that looks like the one proposed does.
        """
        if doubt.twin is not None:
            twin = self._beside(doubt.twin, doubt.seat, depth, proposed)
            self.twins.append((doubt, twin))
            yield from self._refuted_by(doubt, twin, depth)
        else:
            same_table = are_params(self.pair.system, proposed.params)
            alike = and_((same_table, *self._beside(proposed, doubt.seat, depth).alike))
            yield from self._known_where(alike, doubt, depth)

    def _known_where(self, alike: Truth, doubt: Doubt, depth: int) -> Iterator[Any]:
        """Where this holds of a game, the doubt is settled for the seat as it was in the game proposed."""
        for atom, (_, literal) in zip(self.atoms, self._literals(depth), strict=True):
            if atom.expr is doubt.expr:
                meant = and_(
                    (
                        equal(atom.who, number(doubt.seat)),
                        *(same(atom.bound[name], value) for name, value in doubt.bound.items()),
                    )
                )
                if meant is not False:
                    known = literal if doubt.twin is None else z3.Not(literal)
                    yield z3.Implies(z3.And(self.run.at(depth, meant), term(alike)), known)

    def _refuted_by(self, doubt: Doubt, other: _Beside, depth: int) -> Iterator[Any]:
        """Where the twin looks to the seat like the game, and leads to where the fact does not hold, it is not certain."""
        twin = self.pair.twin
        scene = replace(twin.scene(twin.before), bound=dict(doubt.bound))
        failing = term(and_((twin.rests, not_(truth_of(doubt.expr.fact, scene)))))
        there = substituted_each([failing], list(zip(twin.state_leaves(twin.before), other.now, strict=True)))
        yield from self._known_where(and_((*other.alike, *there)), doubt, depth)

    def _beside(self, other: Game, seat: int, depth: int, proposed: Game | None = None) -> _Beside:
        """Another game, beside any to this depth. Where it moved as the game proposed did, it is taken to move as any game
        does that this is said of. What one of them has done beyond the other the seat sees nothing of.
        """
        system, twin = self.pair.system, self.pair.twin
        first = looks_same(system.first_slots, twin.first_slots, seat)
        made = _Beside((first,), tuple(twin.state_leaves(twin.initial)))
        for t, move in enumerate(other.moves):
            place = Place(other.states[t].phase, other.states[t].step)
            ours, theirs = system.steps[place], twin.steps[place]
            chosen = move_leaves(theirs, twin.model, move)
            if proposed is not None and t < depth:
                as_proposed = move_leaves(ours, twin.model, proposed.moves[t])
                leaves = zip(chosen, as_proposed, input_leaves(ours, twin.model), strict=True)
                chosen = [mine if value.eq(usual) else value for value, usual, mine in leaves]
            made = self._one_on(made, place, chosen, seat, t, depth)
        for t in range(len(other.moves), depth):
            unseen = self.run.at(t, or_(self._unnoticed(place, seat) for place in self.pair.unnoticed))
            made = replace(made, alike=(*made.alike, unseen))
        last = other.states[-1]
        if len(other.moves) == depth and not last.over:
            made = replace(made, place=Place(last.phase, last.step))
        return made

    def _one_on(
        self, made: _Beside, place: Place, chosen: Sequence[Any], seat: int, moment: int, depth: int
    ) -> _Beside:
        """The other game one step on, from this place with these inputs, which may be those of the game itself."""
        system, twin = self.pair.system, self.pair.twin
        ours, theirs = system.steps[place], twin.steps[place]
        pairs = list(zip(twin.state_leaves(twin.before), made.now, strict=True))
        pairs += zip(input_leaves(theirs, twin.model), chosen, strict=True)
        if moment < depth:
            alike = (system.at(system.before, place), looks_same(ours.slots, theirs.slots, seat))
        else:
            alike = (place in self.pair.unnoticed, nothing_seen(theirs.slots, seat))
        condition = and_((twin.at(twin.before, place), theirs.legal, *alike))
        said_here, *after = substituted_each([term(condition), *twin.state_leaves(theirs.after)], pairs)
        here = self.run.moments[min(moment, depth)]
        now = substituted_each(after, here)
        return _Beside((*made.alike, substituted(said_here, here)), tuple(now))

    def _carried_on(self, depth: int) -> Iterator[Any]:
        """What the twins of games one step shorter teach: each goes on as the game does that it is beside."""
        carried: list[tuple[Doubt, _Beside]] = []
        for doubt, made in self.twins:
            if made.place is None:
                continue
            step = self.pair.system.steps[made.place]
            chosen = input_leaves(step, self.pair.twin.model)
            longer = self._one_on(made, made.place, chosen, doubt.seat, depth - 1, depth)
            yield from self._refuted_by(doubt, longer, depth)
            places = [p for p in self.pair.twin.steps if self._may_stand(longer, p)]
            carried += [(doubt, replace(longer, place=place)) for place in places]
        self.twins = carried[:MOST_CARRIED]

    def _may_stand(self, other: _Beside, place: Place) -> bool:
        twin = self.pair.twin
        here = term(twin.at(twin.before, place))
        (there,) = substituted_each([here], list(zip(twin.state_leaves(twin.before), other.now, strict=True)))
        return not z3.is_false(there)

    def _unnoticed(self, place: Place, seat: int) -> Truth:
        system = self.pair.system
        return and_((system.at(system.before, place), nothing_seen(system.steps[place].slots, seat)))


def kinds_of_end(pair: Pair, marks: Sequence[m.Expr] = ()) -> Callable[[Game], Kind]:
    """Last states by place, by which of the marks hold, and by the result."""
    system = pair.system
    scene = system.scene(system.before)
    held = [truth_of(mark, scene) for mark in marks]

    def kind_of(game: Game) -> Kind:
        last, plain = game.states[-1], plain_scene(system, game)
        place = Place(last.phase, None if last.over else last.step)
        these = tuple(truth_of(mark, plain) is True for mark in marks)
        result = constant(last.result, OptionalType(system.model.result))
        condition = and_(
            (
                system.at(system.before, place),
                *(x if now else not_(x) for x, now in zip(held, these, strict=True)),
                same(system.before.result, result),
            )
        )
        return Kind((place, these, last.result), condition)

    return kind_of
