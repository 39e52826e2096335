"""Is every phase and every requirement of a game ever put to use? A phase is exercised when some game enters it, a
requirement when in some reachable state it alone refuses a value that all the others of that choice allow. An "ought"
refuses nothing; it is exercised when a value that may be chosen breaks it.

Takes a model, open or settled. Random games come first; what they leave is ruled out by the claims already proved, or
searched for, event by event. Gives every part with the game that exercises it, or with why none does.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from random import Random

import z3  # type: ignore[import-untyped]

from proofs.clock import Clock, OutOfTime
from proofs.induction import said, strengthen
from proofs.lemmas import Lemma, guesses
from proofs.replays import Disagreement, replay
from proofs.samples import (
    Sample,
    random_move,
    random_params,
    random_value,
    sample_environment,
    samples,
)
from proofs.search import Found, search
from rules_dsl import model as m
from rules_dsl import reference
from rules_dsl.evaluate import Environment, evaluate, holds
from rules_dsl.model import Value
from rules_dsl.play import IllegalMove, Move, Observation, State, Stuck
from rules_dsl.settle import Settled, settle
from rules_dsl.smt import Game, System, compile_smt, finite_solver
from rules_dsl.smt.observations import Slot
from rules_dsl.smt.raw import listened
from rules_dsl.smt.symbolic import model_reader
from rules_dsl.smt.terms import Truth, and_, not_, or_, term
from rules_dsl.smt.unroll import are_params, decode_move, is_state, is_value
from rules_dsl.walk import statements

MOST_EVENTS = 400
GUESSING = 30  # random games that guesses about all states are made from
EARLY = 16  # events a search looks ahead before claims about all states are worked out
DRAWS = 12  # values tried for each seat that chooses

EXERCISED, NEVER, NOT_FOUND = "exercised", "never", "not found"

# a phase, or a requirement of one of its choices: (phase, choice, requirement)
Key = tuple[str, int | None, int | None]


@dataclass(frozen=True)
class Part:
    """Something a rulebook says that a game may put to use."""

    key: Key
    kind: str  # "phase", "require" or "ought"
    text: str
    origin: m.Origin


@dataclass(frozen=True)
class Exercise:
    """A part and what was found. `game` ends where the phase is entered or the requirement refuses `refused`.

    `usual` is False where no game under the default rulings exercises it, True where one does, None where that was
    not decided.
    """

    part: Part
    status: str
    how: str
    game: Game | None = None
    usual: bool | None = True
    refused: Move | None = None


def parts_of(model: m.Model) -> Iterator[Part]:
    """Every phase and every requirement of a model. What cites no clause itself has those of what it belongs to."""
    for name, phase in model.phases.items():
        inner = (*phase.choices, *statements(phase.body))
        cites = phase.origin.cites or tuple(dict.fromkeys(c for x in inner for c in x.origin.cites))
        yield Part((name, None, None), "phase", name, replace(phase.origin, cites=cites))
        for i, choice in enumerate(phase.choices):
            for k, rule in enumerate(choice.requires):
                origin = replace(rule.origin, cites=rule.origin.cites or choice.origin.cites)
                yield Part((name, i, k), rule.kind, rule.text or choice.variable, origin)


def exercises(
    model: m.Model,
    *,
    seconds: float = 60.0,
    deepest: int = 110,
    games: int = 200,
    seed: int = 0,
) -> list[Exercise]:
    """Every part of the model, with a game that exercises it or the reason why there is none.

    `seconds` is the time for each part the random games leave open, `deepest` how many events a search looks ahead.
    """
    met = _played(model, games, seed)
    solver = _Solver(model, seconds, deepest)
    return [_decide(solver, part, met.get(part.key)) for part in parts_of(model)]


def _decide(solver: _Solver, part: Part, met: _Met | None) -> Exercise:
    if met is not None:
        usual = met.usual or _known(solver.reach(part.key, usually=True))
        return Exercise(part, EXERCISED, "a random game", met.game, usual, met.refused)
    found = solver.reach(part.key, usually=False)
    if found.game is not None:
        game, refused = solver.shown(part, found.game)
        usual = _known(solver.reach(part.key, usually=True))
        how = f"after {len(game.moves)} event(s), found by search"
        return Exercise(part, EXERCISED, how, game, usual, refused)
    if found.complete:
        return Exercise(part, NEVER, "no state that can be reached does it", usual=False)
    how = found.undecided
    return Exercise(part, NOT_FOUND, how, usual=None)


def _known(found: Found) -> bool | None:
    return True if found.game is not None else False if found.complete else None


# --- random games ---


@dataclass(frozen=True)
class _Met:
    game: Game
    usual: bool
    refused: Move | None


def _played(model: m.Model, games: int, seed: int) -> dict[Key, _Met]:
    """What random games put to use: the first game for each part, one under the default rulings where there is one."""
    found: dict[Key, _Met] = {}
    rng = Random(seed)
    for _ in range(games):
        table = random_params(model, rng)
        if table is None:
            continue
        usual = _is_usual(model, table)
        for key, game, refused in _met_in(model, table, rng):
            if key not in found or (usual and not found[key].usual):
                found[key] = _Met(game, usual, refused)
    return found


def _is_usual(model: m.Model, table: Settled) -> bool:
    env = Environment(model, table.model.players.count, table.params)
    return all(
        table.params[name] == evaluate(param.default, env)
        for name, param in model.params.items()
        if param.kind == "ruling"
    )


def _met_in(model: m.Model, table: Settled, rng: Random) -> Iterator[tuple[Key, Game, Move | None]]:
    """The parts one random game puts to use, each with the game up to there and what a requirement refuses."""
    try:
        step = reference.start(table.model)
    except Stuck:
        return
    states, moves, seen = [step.state], list[Move](), set[Key]()
    while True:
        here: dict[Key, Move | None] = dict.fromkeys(_entered(step.observations))
        here |= _binding(model, table, step.state, rng)
        for key in sorted(here.keys() - seen, key=str):
            yield key, Game(table.params, tuple(states), tuple(moves)), here[key]
        seen |= here.keys()
        if step.state.over or len(moves) >= MOST_EVENTS:
            return
        try:
            move = random_move(table.model, step.state, rng)
            step = reference.step(table.model, step.state, move)
        except Stuck:
            return
        states.append(step.state)
        moves.append(move)


def _entered(observations: Sequence[Observation]) -> Iterator[Key]:
    for seen in observations:
        if seen.kind == "phase":
            yield seen.phase, None, None


def _binding(model: m.Model, table: Settled, state: State, rng: Random) -> dict[Key, Move | None]:
    """The requirements put to use by some value drawn at random, each with who chose it.

    They are read in the open model: at one table rules that say nothing there are folded away.
    """
    awaited = reference.pending(table.model, state)
    found: dict[Key, Move | None] = {}
    if awaited is None or awaited.choice.deal is not None:
        return found
    players = table.model.players.count
    env = sample_environment(model, Sample(table.params, players, state))
    choices = model.phases[state.phase].choices
    index = next(i for i, c in enumerate(choices) if c.variable == awaited.choice.variable)
    if not choices[index].requires:
        return found
    for seat in awaited.seats:
        for _ in range(DRAWS):
            value = random_value(awaited.choice.type, players, rng)
            for k in _alone(choices[index], env, seat, value):
                found[state.phase, index, k] = ((seat, value),)
    return found


def _alone(choice: m.Choice, env: Environment, seat: int, value: Value) -> list[int]:
    """The requirement that alone refuses the value; of a value that is not refused, every "ought" it breaks."""
    bound: dict[str, Value] = {choice.variable: value}
    if choice.chooser.seat:
        bound[choice.chooser.seat] = seat
    inside = env.bind(**bound)
    if choice.weight is not None and evaluate(choice.weight, inside) == 0:
        return []
    broken = [k for k, rule in enumerate(choice.requires) if not holds(rule.condition, inside)]
    refusing = [k for k in broken if choice.requires[k].kind == "require"]
    if refusing:
        return refusing if len(refusing) == 1 else []
    return broken


# --- the solver ---


def _goal(system: System, key: Key) -> Truth:
    """The part is put to use at the start, or by the step from the state `before`."""
    phase, index, rule = key
    if index is None:
        entered: list[Truth] = [_enters(system.first_slots, phase)]
        for place, step in system.steps.items():
            made = _enters(step.slots, phase)
            if made is not False:
                entered.append(and_((system.at(system.before, place), step.legal, made)))
        return or_(entered)
    place = next(p for p in system.steps if (p.phase, p.step) == (phase, index))
    step = system.steps[place]
    assert rule is not None
    wanted = step.choice.requires[rule]
    others = [c.term for c in step.conditions if c.rule is not wanted]
    ours = next(c.term for c in (*step.conditions, *step.oughts) if c.rule is wanted)
    return and_((system.at(system.before, place), *others, not_(ours)))


def _enters(slots: Sequence[Slot], phase: str) -> Truth:
    return or_(slot.made for slot in slots if (slot.kind, slot.phase) == ("phase", phase))


@dataclass
class _Solver:
    """Answers whether a part can be put to use: first by claims that hold in every state, then by search."""

    model: m.Model
    seconds: float
    deepest: int

    @cached_property
    def system(self) -> System:
        return compile_smt(self.model)

    @cached_property
    def proved(self) -> list[Lemma]:
        """Guesses about all states that are true."""
        claims = list(guesses(self.model, list(samples(self.model, GUESSING))))
        try:
            alive = strengthen(self.system, claims, Clock.of(self.seconds)).alive
        except OutOfTime:
            return []
        return [claims[i] for i in sorted(alive)]

    def reach(self, key: Key, *, usually: bool) -> Found:
        """The shortest game to where the part is put to use; `usually`: under the default rulings."""
        goal = _goal(self.system, key)
        if usually:
            goal = and_((goal, *_default_rulings(self.system)))
        clock = Clock.of(2 * self.seconds)  # of which the claims may take half, once
        try:
            if self._ruled_out(goal, (), clock):
                return Found(None, 0, True)
            early = search(self.system, {"": goal}, lambda _: clock, min(EARLY, self.deepest))[""]
            if early.game is not None or early.complete:
                return early
            if self._ruled_out(goal, self.proved, clock):
                return Found(None, 0, True)
        except OutOfTime as error:
            return Found(None, -1, False, str(error))
        return search(self.system, {"": goal}, lambda _: clock, self.deepest)[""]

    def shown(self, part: Part, game: Game) -> tuple[Game, Move | None]:
        """The game found, with the step that enters the phase, or with the choice the requirement refuses: both are
        played on the interpreter, so that what the solver found is really so.
        """
        last = replay(self.model, game)[-1]
        if part.kind == "phase" and part.key in _entered(last.observations):
            return game, None
        solver, system = finite_solver(), self.system
        solver.add(are_params(system, game.params), is_state(system, system.before, game.states[-1]))
        solver.add(term(system.valid), term(_goal(system, part.key)))
        if listened(solver.check(), solver) != z3.sat:
            raise Disagreement(f"nothing to be chosen in the last state shows {part.text!r}")
        step = next(s for p, s in system.steps.items() if (p.phase, p.step) == _standing(game.states[-1]))
        move = decode_move(system, step, model_reader(solver.model()))
        if part.kind != "phase":
            _check_refused(self.model, part, game, move)
            return game, move
        longer = _played_on(self.model, game, move)
        if part.key not in _entered(replay(self.model, longer)[-1].observations):
            raise Disagreement(f"{move} does not lead to {part.text!r}")
        return longer, None

    def _ruled_out(self, goal: Truth, claims: Sequence[Lemma], clock: Clock) -> bool:
        solver = finite_solver()
        solver.add(term(self.system.valid), term(self.system.formed), term(goal))
        solver.add(*(term(said(self.system, claim, self.system.before)) for claim in claims))
        return not clock.check(solver)


def _standing(state: State) -> tuple[str, int]:
    return state.phase, state.step


def _played_on(model: m.Model, game: Game, move: Move) -> Game:
    table = settle(model, game.params)
    after = reference.step(table.model, game.states[-1], move).state
    return replace(game, states=(*game.states, after), moves=(*game.moves, move))


def _check_refused(model: m.Model, part: Part, game: Game, move: Move) -> None:
    """Raises `Disagreement` unless of all requirements this one alone stands against the move."""
    phase, index, rule = part.key
    assert index is not None
    table = settle(model, game.params)
    env = sample_environment(model, Sample(table.params, table.model.players.count, game.states[-1]))
    choice = model.phases[phase].choices[index]
    against = [set(_alone(choice, env, seat, value)) for seat, value in move if value is not None]
    if not any(rule in alone for alone in against):
        raise Disagreement(f"{part.text!r} does not refuse {move}")
    try:
        reference.step(table.model, game.states[-1], move)
    except IllegalMove as error:
        rule_text = error.requirement.text if error.requirement is not None else None
        if part.kind == "require" and rule_text is not None and (rule_text or choice.variable) == part.text:
            return
    else:
        if part.kind == "ought":
            return
    raise Disagreement(f"the interpreter does not judge {move} by {part.text!r}")


def _default_rulings(system: System) -> Iterator[Truth]:
    model = system.model
    for name, param in model.params.items():
        if param.kind == "ruling":
            value = evaluate(param.default, Environment(model, model.fewest))
            yield is_value(system.params[name], param.type, value)
