"""What players know: claims with `knows` and `possible`, decided over games that look the same.

A claim that somebody knows something is refuted by two games that look the same to him, and proved by what all such
pairs share (`agreement`). A claim that nobody can be certain is proved by twins (`swaps`); it is refuted by a game of
which every game that looks the same agrees, which `Mind` checks exactly.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import z3  # type: ignore[import-untyped]

from proofs.agreement import Agreement
from proofs.certainty import CertainGames, kinds_of_end
from proofs.clock import Clock, OutOfTime
from proofs.evidence import Evidence, Twins
from proofs.findings import Finding, undecided
from proofs.guards import Guard, dealt_map, guards
from proofs.lemmas import Lemma
from proofs.pairs import Pair, PairSearch, pair_of, plain_scene
from proofs.replays import replay
from proofs.search import Found
from proofs.silence import Silence
from proofs.small_tables import SmallTable, small_tables
from proofs.swaps import Stage, Swap, SwapProver
from rules_dsl import model as m
from rules_dsl.smt import Game, Place, System
from rules_dsl.smt.expressions import Scene, truth_of, value_of
from rules_dsl.smt.symbolic import model_reader
from rules_dsl.smt.terms import Truth, and_, not_, number, or_, term
from rules_dsl.smt.unroll import decode_params, decode_state
from rules_dsl.types import BOOL
from rules_dsl.walk import children, every, reads

TwoGames = tuple[Game, Game, int]  # a game, another that looks the same, and the seat it does to

MOST_SWAPS = 24
TWINS_SHARE = 0.25  # of the time left, for a proof by twins
QUICK_SHARE = 0.1  # of what is left then, for a first search among all games
SMALL_SHARE = 0.75  # of what is left then, for a search at small tables


def demands(expr: m.Expr) -> str:
    """What the claim says about knowing: "knowledge" (each `knows` must hold), "ignorance" (each must fail), "both"."""
    signs = {sign for sign, _ in _signs(expr, True)}
    if signs == {True} and not _entangled(expr):
        return "knowledge"
    return "ignorance" if signs == {False} else "both"


def _signs(expr: m.Expr, sign: bool) -> Iterator[tuple[bool, m.Knows]]:
    match expr:
        case m.Knows():
            yield sign, expr
        case m.Apply("not", (inner,), _):
            yield from _signs(inner, not sign)
        case m.Apply("implies", (condition, conclusion), _):
            yield from _signs(condition, not sign)
            yield from _signs(conclusion, sign)
        case m.Apply("and" | "or", _, _) | m.Quantify("all" | "exists", _, _, _, _):
            for part in children(expr):
                yield from _signs(part, sign)
        case m.Apply("if", (condition, *branches), _) if not _knowing(condition):
            for part in branches:
                yield from _signs(part, sign)
        case _:
            for part in children(expr):
                for atom in _knowing(part):
                    yield True, atom
                    yield False, atom


def _knowing(expr: m.Expr) -> list[m.Knows]:
    return [e for e in every(expr) if isinstance(e, m.Knows)]


def _entangled(expr: m.Expr, sign: bool = True) -> bool:
    """Could refuting the claim take two twins at once? (Then one pair of games does not decide it.)

    Under a `not` it is the other way round: "not all are in doubt" fails only where all of them are at once.
    """
    match expr:
        case m.Apply("not", (inner,), _):
            return _entangled(inner, not sign)
        case m.Apply("implies", (condition, conclusion), _):
            both = sign and bool(_knowing(condition)) and bool(_knowing(conclusion))
            return both or _entangled(condition, not sign) or _entangled(conclusion, sign)
        case m.Apply("or" | "and" as word, parts, _):
            several = sum(bool(_knowing(part)) for part in parts) > 1
            return (several and (word == "or") is sign) or any(_entangled(part, sign) for part in parts)
        case m.Quantify("all" | "exists" as word, _, _, _, _) if (word == "exists") is sign:
            return bool(_knowing(expr))
        case _:
            return any(_entangled(part, sign) for part in children(expr))


def conjuncts(claim: m.Expr) -> Iterator[m.Expr]:
    """Claims that hold together if and only if this one does."""
    match claim:
        case m.Apply("and", parts, _):
            for part in parts:
                yield from conjuncts(part)
        case m.Apply("implies", (condition, conclusion), type_) if not _knowing(condition):
            for part in conjuncts(conclusion):
                yield m.Apply("implies", (condition, part), type_)
        case m.Quantify("all", _, condition, _, _) if condition is not None:
            for part in conjuncts(condition):
                yield replace(claim, condition=part)
        case _:
            yield claim


def together(parts: Sequence[m.Expr]) -> m.Expr:
    whole = parts[0]
    for part in parts[1:]:
        whole = m.Apply("and", (whole, part), BOOL)
    return whole


class Knowledge:
    """Decides claims about knowledge in one game, leaning on claims proved about it.

    Two games side by side are paced systems, which halt more often than the one the claims were proved in: there the claims
    are only said of states at rest.
    """

    def __init__(self, whole: System, proved: Sequence[Lemma], deepest: int) -> None:
        self.whole = whole
        self.inductive = tuple(proved)
        self.proved = [replace(claim, at_rest=True) for claim in proved]
        self.deepest = deepest
        self.pair: Pair = pair_of(whole.model)
        self.system = self.pair.system
        self._agreement: Agreement | None = None
        self._provers: dict[tuple[m.Expr, ...], SwapProver] = {}
        self._worked: dict[str, None] = {}

    def decide(self, claim: m.Expr, clock: Clock) -> Finding:
        match demands(claim):
            case "knowledge":
                return self._known(claim, clock)
            case "ignorance":
                return self._unknown(claim, clock)
            case _:
                parts = list(conjuncts(claim))
                return (
                    self._certain_game(None, (), claim, clock)
                    if len(parts) == 1
                    else self._each(parts, clock)
                )

    def _each(self, parts: Sequence[m.Expr], clock: Clock) -> Finding:
        """Decides a claim part by part: all of them must hold."""
        found: list[Finding] = []
        for part in parts:
            if not _knowing(part):
                return self._certain_game(None, (), together(parts), clock)
            found.append(self.decide(part, clock))
            if found[-1].holds is False:
                return found[-1]
        lemmas = tuple(dict.fromkeys(text for f in found for text in f.lemmas))
        left = next((f for f in found if f.holds is None), None)
        if left is not None:
            return left
        return Finding(True, "; ".join(dict.fromkeys(f.how for f in found)), lemmas)

    def _evidence(self, bad: Truth, shared: Agreement | None = None, twins: Twins | None = None) -> Evidence:
        return Evidence(self.system, self.inductive, bad, shared=shared, twins=twins, whole=self.whole)

    # --- somebody knows ---

    def agreement(self, clock: Clock) -> Agreement:
        if self._agreement is None:
            self._agreement = Agreement(self.pair, self.proved, clock)
        return self._agreement

    def _known(self, claim: m.Expr, clock: Clock) -> Finding:
        violated = self.pair.violated(claim)
        anywhere = self.pair.anywhere(violated)
        shared = self.agreement(clock)
        if shared.in_step:
            used = shared.rules_out(anywhere, clock)
            if used is not None:
                evidence = self._evidence(anywhere, shared=shared)
                how = "induction over two games that look the same"
                return Finding(True, how, used, evidence=evidence)
        how = "two games of {} event(s) that look the same"
        return self._two_games(lambda run: run.find(violated, clock), how, clock)

    def _two_games(self, find: Callable[[PairSearch], TwoGames | None], how: str, clock: Clock) -> Finding:
        """The shortest two games that show a claim false, event by event."""
        run = PairSearch(self.pair)
        for depth in range(self.deepest + 1):
            if depth:
                run.extend()
            try:
                if depth and depth % 4 == 0 and not clock.check(run.solver):
                    whole = f"complete unrolling of both games: none has more than {depth} events"
                    return Finding(True, whole, depth=depth)
                found = find(run)
            except OutOfTime as error:
                return undecided(Found(None, depth - 1, False, str(error)))
            if found is not None:
                ours, theirs, seat = found
                replay(self.system.model, ours)
                replay(self.system.model, theirs)
                events = len(ours.moves)
                return Finding(False, how.format(len(theirs.moves)), (), ours, theirs, seat, events)
        return undecided(Found(None, self.deepest, False))

    # --- nobody is told anything ---

    def silent(self, claim: m.Property, clock: Clock) -> Finding:
        """Does the phase the claim is about tell nobody it speaks of anything?"""
        question = Silence(self.pair, claim)
        shared = self.agreement(clock)
        if not shared.in_step:
            return Finding(None, "games that look the same do not stay in step")
        used = question.proved(shared, clock)
        if used is not None:
            evidence = self._evidence(question.told(), shared=shared)
            how = "every game that looks the same can answer; induction over two games that do"
            return Finding(True, how, used, evidence=evidence, happens=question.happens())
        how = "two games that have looked the same for {} event(s); what comes next in one cannot come in the other"
        found = self._two_games(lambda run: question.find(run, clock), how, clock)
        return replace(found, happens=question.happens())

    # --- nobody can be certain ---

    def _unknown(self, claim: m.Expr, clock: Clock) -> Finding:
        if dealt_map(self.system.model) is None:
            return self._certain_game(None, (), claim, clock)
        first = Clock.of(TWINS_SHARE * clock.left())
        try:
            with first.within():
                found = self._by_twins(claim, first)
        except OutOfTime:
            found = None, ()
        if isinstance(found, Finding):
            return found
        prover, without = found
        return self._certain_game(prover, without, claim, clock)

    def _by_twins(self, claim: m.Expr, clock: Clock) -> Finding | tuple[SwapProver | None, Sequence[Stage]]:
        """Proved by a twin for every game; or the stages at which no exchange makes one (no prover: any stage)."""
        prover = self._swap_prover(claim, clock)
        swaps: list[Swap] = []
        without: list[Stage] = []  # stages at which no swap shows what is needed
        for _ in range(MOST_SWAPS):
            state = self._doubtful(prover, swaps, without, claim, clock)
            if state is None:
                break
            plain = plain_scene(self.system, state)
            more = self._useful(prover, swaps, claim, state, plain)
            if more is None:
                without.append(self._stage(prover, state, plain))
            else:
                swaps.append(more)
                self._worked[more.guard.text] = None
        else:
            # states nobody has looked at yet may be doubtful, at whatever stage
            return None, ()
        if not without:
            texts = tuple(dict.fromkeys(s.text for s in swaps))
            bad = self._false(prover, swaps, claim)
            evidence = self._evidence(bad, twins=Twins(prover, tuple(swaps)))
            how = "a twin for every game, by exchanging the cards of two seats"
            return Finding(True, how, texts, evidence=evidence)
        return prover, without

    def _swap_prover(self, claim: m.Expr, clock: Clock) -> SwapProver:
        marks = tuple(c for c in closed_conditions(claim) if reads(c, self.system.model.definitions))
        if marks not in self._provers:
            self._provers[marks] = SwapProver(self.pair, self.proved, marks, clock)
        self._provers[marks].clock = clock
        return self._provers[marks]

    def _false(self, prover: SwapProver, swaps: Sequence[Swap], claim: m.Expr) -> Truth:
        """The claim is false as far as the swaps can tell."""

        def knows(scene: Scene, expr: m.Knows) -> Truth:
            return prover.not_refuted(swaps, scene, expr, prover.here)

        scene = replace(self.system.scene(self.system.before), knows=knows)
        return and_((self.system.rests, not_(truth_of(claim, scene))))

    def _doubtful(
        self,
        prover: SwapProver,
        swaps: Sequence[Swap],
        without: Sequence[Stage],
        claim: m.Expr,
        clock: Clock,
    ) -> Game | None:
        """A state the proved claims allow in which somebody may be certain."""
        system, solver = self.system, prover.states
        solver.push()
        try:
            solver.add(*(z3.Not(term(prover.at_stage(stage, system.before))) for stage in without))
            solver.add(term(self._false(prover, swaps, claim)))
            model = solver.model() if clock.check(solver) else None
        finally:
            solver.pop()
        if model is None:
            return None
        read = model_reader(model)
        return Game(decode_params(system, read), (decode_state(system, system.before, read),), ())

    def _useful(
        self, prover: SwapProver, swaps: Sequence[Swap], claim: m.Expr, state: Game, plain: Scene
    ) -> Swap | None:
        """A swap that works and shows that what is doubtful in this state is not certain."""
        atoms: list[tuple[Scene, m.Knows]] = []

        def here(swap: Swap) -> Truth:
            return self._stage(prover, state, plain) in swap.stages

        def knows(scene: Scene, expr: m.Knows) -> Truth:
            sure = prover.not_refuted(swaps, scene, expr, here)
            if sure is True:
                atoms.append((scene, expr))
            return sure

        truth_of(claim, replace(plain, knows=knows))
        stage = self._stage(prover, state, plain)
        for scene, expr in atoms:
            who = value_of(expr.player, scene)
            shown = tuple(name for name, held in prover.sees(who, plain) if held is True)
            for guard in self._guards_that_refute(prover, scene, expr, who.value):
                swap = prover.safe_at(guard, shown, stage)
                if swap is not None and swap not in swaps:
                    return swap
        return None

    def _guards_that_refute(
        self, prover: SwapProver, scene: Scene, expr: m.Knows, who: int
    ) -> Iterator[Guard]:
        watcher = number(who)
        pairs = [
            (a, b)
            for a, b in prover.pairs(True, scene)
            if a.value != who
            and b.value != who
            and b.value < scene.players.value
            and truth_of(expr.fact, prover.after_swap(scene, a, b)) is False
        ]
        known = guards(self.system.model, prover.dealt)
        for guard in sorted(known, key=lambda g: g.text not in self._worked):
            if any(prover.fits(guard, scene, watcher, a, b) is True for a, b in pairs):
                yield guard

    def _stage(self, prover: SwapProver, state: Game, plain: Scene) -> Stage:
        last = state.states[-1]
        place = Place(last.phase, None if last.over else last.step)
        return place, tuple(truth_of(mark, plain) is True for mark in prover.marks)

    def _certain_game(
        self, prover: SwapProver | None, stages: Sequence[Stage], claim: m.Expr, clock: Clock
    ) -> Finding:
        """A game after which somebody is certain, checked against every game that looks the same: at a small table if
        the large one does not show one soon.
        """
        where: Truth = True
        if prover is not None:
            # at all other stages every game has a twin: often there is little left to look at
            where = or_(prover.at_stage(stage, self.system.before) for stage in stages)
        kinds = kinds_of_end(self.pair, () if prover is None else prover.marks)
        found = CertainGames(self.pair, claim, where, kinds).shortest(
            self.deepest, Clock.of(QUICK_SHARE * clock.left())
        )
        if found.game is None and not found.complete:
            game = self._at_a_small_table(claim, clock)
            if game is not None:
                return self._certain(game)
            found = CertainGames(self.pair, claim, where, kinds).shortest(self.deepest, clock)
        if found.game is not None:
            return self._certain(found.game)
        if found.complete:
            how = f"complete unrolling: no game has more than {found.depth} events"
            return Finding(True, how, depth=found.depth)
        return undecided(found)

    def _certain(self, game: Game) -> Finding:
        replay(self.system.model, game)
        events = len(game.moves)
        how = f"a game of {events} event(s); all games that look the same to the seat agree"
        return Finding(False, how, (), game, depth=events)

    def _at_a_small_table(self, claim: m.Expr, clock: Clock) -> Game | None:
        """A game found at one of the small tables, the same number of events at each in turn, in part of the time."""
        share = Clock.of(SMALL_SHARE * clock.left())
        try:
            with share.within():
                return self._shortest_at(small_tables(self.system.model, claim), share)
        except OutOfTime:
            return None

    def _shortest_at(self, tables: Sequence[SmallTable], clock: Clock) -> Game | None:
        searches: list[tuple[SmallTable, CertainGames]] = []
        for table in tables:
            pair = pair_of(table.model)
            searches.append((table, CertainGames(pair, table.claim, True, kinds_of_end(pair))))
        for _ in range(self.deepest + 1):
            for table, search in list(searches):
                found = search.next_depth(clock)
                if found is not None and found.game is not None:
                    return replace(found.game, params={**table.fixed, **found.game.params})
                if found is not None:
                    searches.remove((table, search))
            if not searches:
                return None
        return None


def closed_conditions(claim: m.Expr) -> Iterator[m.Expr]:
    """The conditions under which the claim speaks and that name no seat: they tell stages of the game apart."""
    match claim:
        case m.Apply("implies", (condition, conclusion), _):
            for part in _conjuncts(condition):
                if not any(isinstance(e, m.Bound | m.Knows | m.InPhase | m.Over) for e in every(part)):
                    yield part
            yield from closed_conditions(conclusion)
        case m.Quantify("all", _, condition, _, _) if condition is not None:
            yield from closed_conditions(condition)
        case m.Apply("not", (inner,), _):
            yield from closed_conditions(inner)
        case _:
            return


def _conjuncts(expr: m.Expr) -> Iterator[m.Expr]:
    if isinstance(expr, m.Apply) and expr.operation == "and":
        for part in expr.arguments:
            yield from _conjuncts(part)
    else:
        yield expr
