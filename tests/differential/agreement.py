"""Playing one game on several back ends at once: the Z3 relation, the reference interpreter, the generated engine."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import combinations
from random import Random

import z3  # type: ignore[import-untyped]

from avalon_logic.library import open_model, rulebook_library
from proofs.samples import random_move, random_value
from rules_dsl import Engine, Model, RulebookError, Settled, Value, compile_python, reference, settle
from rules_dsl import syntax as s
from rules_dsl.evaluate import Environment, holds
from rules_dsl.model import choice_type
from rules_dsl.play import IllegalMove, Move, State, Step
from rules_dsl.selection import family_of, included_modules
from rules_dsl.settle import parameter_values
from rules_dsl.smt import Game, System, Unrolling, compile_smt, finite_solver
from rules_dsl.smt.play import RelationPlay
from rules_dsl.smt.terms import or_, term
from rules_dsl.smt.unroll import are_params

GAMES = ("resistance", "avalon", "avalon_2021")


@cache
def modules_of(game: str) -> tuple[str, ...]:
    """The modules of rules that can be left open together: each that fits in beside those before it."""
    lib = rulebook_library()
    family = {g.name for g in family_of(lib, game)}
    kept: tuple[str, ...] = ()
    for name, module in sorted(lib.modules.items()):
        if all(isinstance(item, s.AssumeDecl) for item in module.items):
            continue  # how people play changes no step
        if not any(b.name in family for b in module.bases) or name in included_modules(lib, game):
            continue
        try:
            open_model(game, open_modules=(*kept, name))
        except RulebookError:
            continue
        kept = (*kept, name)
    return kept


@cache
def open_system(game: str) -> System:
    """The game with players, deck, rulings and every module open."""
    return compile_smt(open_model(game, open_modules=modules_of(game)))


def module_mixes(game: str) -> list[tuple[str, ...]]:
    """Every mix of modules."""
    names = modules_of(game)
    return [mix for size in range(len(names) + 1) for mix in combinations(names, size)]


def table_with(model: Model, players: int, modules: tuple[str, ...], rng: Random) -> Settled | None:
    """A table with exactly these modules, deck and rulings drawn at random, that the set-up checks accept."""
    for attempt in range(400):
        given: dict[str, Value] = {"players": players}
        for name, param in model.params.items():
            drawn = param.kind == "ruling" and attempt < 200 and rng.random() < 0.3
            if param.kind == "module":
                given[name] = name.removeprefix("with_") in modules
            elif drawn or name == "specials":
                given[name] = random_value(param.type, players, rng)
        values = parameter_values(model, given)
        env = Environment(model, players, values)
        if all(holds(c.condition, env) for c in model.checks if c.severity == "error"):
            return settle(model, given)
    return None


def same_step(expected: Step, got: Step) -> None:
    """The same state, the same things seen by the same seats in the same order, the same duties broken."""
    assert got.state == expected.state
    assert got.observations == expected.observations
    assert {b.text for b in got.breaches} == {b.text for b in expected.breaches}


def broken_rule(model: Model, state: State, move: Move) -> str | None:
    """The text of the requirement the reference refuses a move for; "" for another reason, None if it is legal."""
    try:
        reference.step(model, state, move)
    except IllegalMove as refused:
        return refused.requirement.text if refused.requirement else ""
    return None


def same_judgement(play: RelationPlay, model: Model, state: State, move: Move) -> bool:
    """Both refuse the move, or both play it; the rule the reference names is broken in the relation too.
    Was it refused?
    """
    expected = broken_rule(model, state, move)
    texts = [c.rule.text if c.rule else "" for c in play.broken(state, move)]
    assert (expected is None) == (texts == []), f"{move}: {expected} against {texts}"
    if expected is None:
        same_step(reference.step(model, state, move), play.step(state, move))
        return False
    assert expected in texts
    return True


def refuses(engine: Engine, state: State, move: Move) -> bool:
    try:
        engine.step(state, move)
    except IllegalMove:
        return True
    return False


def any_move(model: Model, state: State, rng: Random) -> Move:
    """A move of the right seats with values of the right type, legal or not."""
    awaited = reference.pending(model, state)
    assert awaited is not None
    choice = awaited.choice
    seats = (rng.choice(awaited.seats),) if choice.chooser.kind == "one" else awaited.seats
    count = model.players.count
    return tuple((seat, random_value(choice_type(choice), count, rng)) for seat in seats)


def play_along(play: RelationPlay, settled: Settled, rng: Random, attempts: int = 1) -> int:
    """A random game on relation, reference and engine, with attempts at illegal moves; how many were refused."""
    model = settled.model
    assert play.accepts()
    same_step(reference.start(model), play.start())
    refused = 0
    for state, move in engine_game(compile_python(model), model, rng):
        for _ in range(attempts):
            refused += same_judgement(play, model, state, any_move(model, state, rng))
        same_step(reference.step(model, state, move), play.step(state, move))
    return refused


def engine_game(engine: Engine, model: Model, rng: Random, attempts: int = 1) -> Iterator[tuple[State, Move]]:
    """A random game of the reference with the engine beside it, which must do the same and refuse the same; gives
    every state and the move made in it.
    """
    expected = reference.start(model)
    same_step(expected, engine.start())
    for _ in range(400):
        state = expected.state
        if state.over:
            return
        for _ in range(attempts):
            attempt = any_move(model, state, rng)
            assert refuses(engine, state, attempt) == (broken_rule(model, state, attempt) is not None)
        move = random_move(model, state, rng)
        expected = reference.step(model, state, move)
        same_step(expected, engine.step(state, move))
        yield state, move


def solver_games(
    system: System, fixed: Mapping[str, Value], depths: Mapping[int, bool], seed: int
) -> Iterator[Game]:
    """Games of these many events chosen by the solver with random decisions; True asks that they be over."""
    solver = finite_solver()
    solver.set("phase", "random")
    unrolling = Unrolling(system, solver)
    unrolling.start_initial()
    solver.add(are_params(system, fixed))
    over = or_(system.at(system.before, p) for p in system.places if p.step is None and p.phase)
    for depth, ended in sorted(depths.items()):
        while unrolling.depth < depth:
            unrolling.extend()
        solver.set("random_seed", seed * 1000 + depth)
        goal = z3.Bool(f"over after {depth}")
        solver.add(z3.Implies(goal, unrolling.at(depth, term(over))))
        if solver.check(*([goal] if ended else [])) == z3.sat:
            yield unrolling.game(solver.model(), depth)


def solver_games_of_mixes(
    system: System, players: int, mixes: Sequence[tuple[str, ...]], depth: int
) -> Iterator[Game]:
    """For each mix of modules a game of so many events, chosen by the solver with random decisions."""
    solver = finite_solver()
    solver.set("phase", "random")
    unrolling = Unrolling(system, solver)
    unrolling.start_initial()
    while unrolling.depth < depth:
        unrolling.extend()
    for i, mix in enumerate(mixes):
        fixed: dict[str, Value] = {
            name: name.removeprefix("with_") in mix
            for name, param in system.model.params.items()
            if param.kind == "module"
        }
        chosen = z3.Bool(f"mix {i}")
        solver.set("random_seed", players * 1000 + i)
        solver.add(z3.Implies(chosen, are_params(system, {"players": players, **fixed})))
        assert solver.check(chosen) == z3.sat, f"no game of {depth} events with {mix}"
        yield unrolling.game(solver.model(), depth)


def replay_everywhere(system: System, game: Game) -> None:
    """A solver's game again on reference, engine and relation: same states, same views, for every seat."""
    settled = settle(system.model, game.params) if system.model.params else None
    assert settled is None or not settled.errors
    model = system.model if settled is None else settled.model
    engine, play = compile_python(model), RelationPlay(system, game.params)
    expected = reference.start(model)
    assert expected.state == game.states[0]
    for move, after in zip(game.moves, game.states[1:], strict=True):
        before = expected.state
        expected = reference.step(model, before, move)
        assert expected.state == after
        same_step(expected, engine.step(before, move))
        same_step(expected, play.step(before, move))
        for seat in (None, *range(model.players.count)):
            assert engine.visible(after, seat) == reference.visible(model, after, seat)
