"""How the game can end: every ending found by playing on to it, grouped by the phase it happens in and the result.

`declared_endings` lists what the rules state, so that a test can hold the two against each other.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from avalon_logic.referee.rounds import play_quest, round_choice, targets
from avalon_logic.referee.stage import Stage
from rules_dsl import Value
from rules_dsl import model as m
from rules_dsl.evaluate import evaluate
from rules_dsl.flow import successors
from rules_dsl.play import State
from rules_dsl.reference import environment
from rules_dsl.types import EnumType, PlayerType
from rules_dsl.values import all_values

NOBODY = "none"


@dataclass(frozen=True)
class Ending:
    """A way the game ends. `numbers` are the counts every such end has in common, `roles` the roles of the seats
    that a choice named or that spoke."""

    phase: str
    result: str
    numbers: Mapping[str, int]
    roles: Mapping[str, tuple[str, ...]]
    cites: tuple[str, ...]


def endings(stage: Stage) -> tuple[Ending, ...]:
    """Plays to every end: all teams rejected, every score, every naming, every breach that ends the game."""
    names = stage.names
    start, _ = stage.opening()
    ends: list[State] = []
    refused = stage.until(start, (names.card,), {names.ballot: lambda s, seat: False})
    if refused.over:
        ends.append(refused)
    frontier, first = [start], round_choice(stage)
    seen: set[object] = set()
    while frontier:
        now = frontier.pop()
        if stage.key(now) in seen:
            continue
        seen.add(stage.key(now))
        for failed in (False, True):
            state = play_quest(stage, now, targets(stage, now)[0], failed)
            while not state.over and stage.awaits(state) != first:
                ends += _ends_of_phase(stage, state)
                state = stage.play(state, {})
            if state.over:
                ends.append(state)
            else:
                frontier.append(state)
    return _grouped(stage, ends)


def _ends_of_phase(stage: Stage, state: State) -> list[State]:
    """The ends a phase of few choices has for whoever chooses in it, one for each role named."""
    ends: list[State] = []
    queue, phase = [state], state.phase
    while queue:
        now = queue.pop()
        if now.over:
            ends.append(now)
        elif now.phase == phase:
            awaited = stage.pending(now)
            if awaited.choice.chooser.kind == "each":
                continue
            for seat in awaited.seats:
                queue += [stage.engine.step(now, ((seat, v),)).state for v in _one_of_each(stage, now, seat)]
    return ends


def _one_of_each(stage: Stage, state: State, seat: int) -> list[Value]:
    """Options that differ: of seats with the same role one will do."""
    options = list(stage.engine.options(state, seat))
    if not isinstance(stage.pending(state).choice.type, PlayerType):
        return options
    first: dict[str, Value] = {}
    for value in options:
        if isinstance(value, int):
            first.setdefault(stage.deal[value], value)
    return list(first.values())


def _grouped(stage: Stage, ends: list[State]) -> tuple[Ending, ...]:
    groups: dict[tuple[str, str], list[State]] = {}
    for end in ends:
        result = NOBODY if end.result is None else str(end.result)
        groups.setdefault((end.phase, result), []).append(end)
    order = list(stage.settled.model.phases)
    made = []
    for phase, result in sorted(groups, key=lambda g: (order.index(g[0]), g[1])):
        states = groups[phase, result]
        made.append(
            Ending(
                phase,
                result,
                _numbers(stage, states),
                _roles(stage, phase, states),
                _cites(stage, phase, result, states),
            )
        )
    return tuple(made)


def _numbers(stage: Stage, ends: list[State]) -> dict[str, int]:
    """The public counts that are the same in all these ends."""
    found: dict[str, int] = {}
    for name, variable in stage.settled.model.variables.items():
        values = {stage.value(end, name) for end in ends}
        if variable.kind == "state" and variable.audience.kind == "public" and len(values) == 1:
            (value,) = values
            if (
                isinstance(value, int)
                and not isinstance(value, bool)
                and not isinstance(variable.type, PlayerType)
            ):
                found[name] = value
    return found


def _roles(stage: Stage, phase: str, ends: list[State]) -> dict[str, tuple[str, ...]]:
    """For the phase's choices among seats, and for who spoke: the roles that came up, in the rulebook's order."""
    found: dict[str, tuple[str, ...]] = {}
    for choice in stage.settled.model.phases[phase].choices:
        for name in m.written_by(choice):
            if isinstance(stage.settled.model.variables[name].type, PlayerType):
                roles = {stage.deal[int(stage.value(end, name))] for end in ends}  # type: ignore[arg-type]
                found[name] = tuple(r for r in stage.deck if r in roles)
    return found


def _cites(stage: Stage, phase: str, result: str, ends: list[State]) -> tuple[str, ...]:
    """The clauses of the win statements of this phase that give this result."""
    found: list[str] = []
    for ending, where, cites in _stated(stage.settled.model):
        if where == phase and (ending.value is None) == (result == NOBODY):
            possible = {result} if ending.value is None else set(_results(stage, ending, ends))
            if result in possible:
                found += cites
    return tuple(sorted(set(found))) or stage.settled.model.phases[phase].origin.cites


def _results(stage: Stage, ending: m.Win, ends: list[State]) -> list[str]:
    assert ending.value is not None
    return [str(evaluate(ending.value, environment(stage.settled.model, end))) for end in ends]


def _stated(model: m.Model) -> list[tuple[m.Win, str, tuple[str, ...]]]:
    """Every reachable `win` or `draw` with its phase and the clauses around it."""
    reached: list[str] = []
    queue = [model.start]
    while queue:
        name = queue.pop(0)
        if name in reached:
            continue
        phase = model.phases[name]
        never = isinstance(phase.when, m.Literal) and phase.when.value is False
        reached.append(name)
        queue += [phase.otherwise] if never else sorted(successors(phase))
    skipped = {n for n in reached if isinstance(w := model.phases[n].when, m.Literal) and w.value is False}
    found = []
    for name in reached:
        if name not in skipped:
            found += [(win, name, cites) for win, cites in _wins(model.phases[name].body, ())]
    return found


def _wins(body: tuple[m.Statement, ...], around: tuple[str, ...]) -> list[tuple[m.Win, tuple[str, ...]]]:
    found: list[tuple[m.Win, tuple[str, ...]]] = []
    for statement in body:
        if isinstance(statement, m.Win):
            found.append((statement, statement.origin.cites or around))
        elif isinstance(statement, m.If):
            cites = statement.origin.cites or around
            found += _wins(statement.then, cites) + _wins(statement.otherwise, cites)
    return found


def declared_endings(model: m.Model) -> frozenset[tuple[str, str]]:
    """(phase, result) for every ending the rules of a model state; a computed result may be any."""
    found: set[tuple[str, str]] = set()
    for win, phase, _ in _stated(model):
        match win.value:
            case None:
                found.add((phase, NOBODY))
            case m.Literal(value, _):
                found.add((phase, str(value)))
            case _:
                assert isinstance(model.result, EnumType)
                found |= {(phase, str(v)) for v in all_values(model.result, 1)}
    return frozenset(found)
