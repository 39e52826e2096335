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

MOST_CANDIDATES = 200


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


class CertainGames:
    """The search for the shortest game that makes a claim about knowing and not knowing false.

    `where` is a condition on the last state, outside of which the claim is known to hold; `kind_of` tells kinds of last
    states apart.
    """

    def __init__(self, pair: Pair, claim: m.Expr, where: Truth, kind_of: Callable[[Game], Kind]) -> None:
        self.pair, self.claim, self.kind_of = pair, claim, kind_of
        self.atoms: list[_Atom] = []
        self.candidates = 0
        self.searches: dict[int, PairSearch] = {}
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
            if depth:
                self.run.extend()
            try:
                game = self._at_depth(depth, clock)
            except OutOfTime as error:
                return Found(None, depth - 1, False, str(error))
            if game is not None:
                return Found(game.at_rest, len(game.at_rest.moves), True)
            if depth >= 8 and depth % 4 == 0 and exhausted(self.run.solver, clock):
                return Found(None, depth, True)
        return Found(None, deepest, False)

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
            alike = and_(self._refuted_by(doubt, doubt.twin, depth))
        else:
            same_table = are_params(self.pair.system, proposed.params)
            alike = and_((same_table, *self._looks_like(proposed, doubt.seat, depth)[0]))
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

    def _refuted_by(self, doubt: Doubt, other: Game, depth: int) -> Iterator[Truth]:
        """The twin looks to the seat like the game, and leads to where the fact does not hold."""
        alike, now = self._looks_like(other, doubt.seat, depth)
        yield from alike
        twin = self.pair.twin
        scene = replace(twin.scene(twin.before), bound=dict(doubt.bound))
        failing = term(and_((twin.rests, not_(truth_of(doubt.expr.fact, scene)))))
        yield from substituted_each([failing], list(zip(twin.state_leaves(twin.before), now, strict=True)))

    def _looks_like(self, other: Game, seat: int, depth: int) -> tuple[list[Truth], list[Any]]:
        """That another game's moves are legal and step by step look to the seat like the game's: conditions on the game,
        and on parameters, which are not taken to be those the other was found with. What one of them has done beyond the
        other the seat sees nothing of. And where the other leads to.
        """
        system, twin = self.pair.system, self.pair.twin
        found: list[Truth] = [looks_same(system.first_slots, twin.first_slots, seat)]
        leaves = twin.state_leaves(twin.before)
        now = twin.state_leaves(twin.initial)
        for t, move in enumerate(other.moves):
            state = other.states[t]
            place = Place(state.phase, state.step)
            ours, theirs = system.steps[place], twin.steps[place]
            moved = zip(input_leaves(theirs, twin.model), move_leaves(theirs, twin.model, move), strict=True)
            pairs = [*zip(leaves, now, strict=True), *moved]
            if t < depth:
                alike = (system.at(system.before, place), looks_same(ours.slots, theirs.slots, seat))
            else:
                alike = (place in self.pair.unnoticed, nothing_seen(theirs.slots, seat))
            condition = and_((twin.at(twin.before, place), theirs.legal, *alike))
            (said_here,) = substituted_each([term(condition)], pairs)
            found.append(self.run.at(min(t, depth), said_here))
            now = substituted_each(twin.state_leaves(theirs.after), pairs)
        for t in range(len(other.moves), depth):
            found.append(self.run.at(t, or_(self._unnoticed(place, seat) for place in self.pair.unnoticed)))
        return found, now

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
