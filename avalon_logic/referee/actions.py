"""Who may do what in each phase: read off the phases of the model, with what is legal asked of the engine.

Words are left to the catalog; here are the names the words are kept under.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from avalon_logic.referee.rounds import play_quest, round_choice, targets
from avalon_logic.referee.stage import Stage
from rules_dsl import Value
from rules_dsl import model as m
from rules_dsl.flow import successors
from rules_dsl.play import State
from rules_dsl.types import BoolType, EnumType
from rules_dsl.walk import every


@dataclass(frozen=True)
class Action:
    """One choice of a phase. `who` is the name the chooser goes by ("" for chance, "all" for every player); `roles`
    are the roles in play that choose, where that depends on the role. `legal` says which role may choose what, where
    it differs."""

    variable: str
    kind: str
    who: str
    roles: tuple[str, ...]
    audience: str
    audience_names: tuple[str, ...]
    optional: bool
    requires: tuple[str, ...]
    duties: tuple[str, ...]
    legal: Mapping[str, tuple[str, ...]]
    cites: tuple[str, ...]


@dataclass(frozen=True)
class PhaseActions:
    name: str
    actions: tuple[Action, ...]
    following: tuple[str, ...]
    ends: bool
    cites: tuple[str, ...]


def actions(stage: Stage, ending: Collection[str]) -> tuple[PhaseActions, ...]:
    """The phases that can be entered, in the order they are first met; `ending` are those the game can end in."""
    model = stage.settled.model
    entered: list[str] = []
    queue = [model.start]
    while queue:
        name = queue.pop(0)
        if name not in entered:
            entered.append(name)
            queue += list(_following(model, name))
    samples = _samples(stage)
    made = []
    for name in entered:
        phase = model.phases[name]
        made.append(
            PhaseActions(
                name,
                tuple(
                    _action(stage, c, samples.get(c.variable, []))
                    for c in phase.choices
                    if not _never(c.when)
                ),
                _following(model, name),
                name in ending,
                phase.origin.cites,
            )
        )
    return tuple(made)


def _never(when: m.Expr | None) -> bool:
    return isinstance(when, m.Literal) and when.value is False


def _following(model: m.Model, name: str) -> tuple[str, ...]:
    """The phases that come next, in the order they are named; those that are always passed over left out."""
    phase = model.phases[name]
    found: list[str] = []
    queue = [n for n in _named(phase.body) if n in successors(phase)]
    while queue:
        following = queue.pop(0)
        target = model.phases[following]
        if target.when is not None:
            queue.append(target.otherwise)
        if not _never(target.when):
            found.append(following)
    return tuple(dict.fromkeys(found))


def _named(body: tuple[m.Statement, ...]) -> list[str]:
    found: list[str] = []
    for statement in body:
        match statement:
            case m.Next():
                found.append(statement.phase)
            case m.If():
                found += _named(statement.then) + _named(statement.otherwise)
            case _:
                pass
    return found


def _action(stage: Stage, choice: m.Choice, samples: list[State]) -> Action:
    chooser = choice.chooser
    expr = chooser.who if chooser.kind == "player" else chooser.domain
    name = "" if chooser.kind == "chance" else "all" if expr is None else name_of(expr)
    roles: tuple[str, ...] = ()
    legal: dict[str, tuple[str, ...]] = {}
    if samples and chooser.kind != "chance":
        if chooser.kind == "one":
            found = {stage.deal[s] for sample in samples for s in stage.pending(sample).seats}
            roles = tuple(r for r in stage.deck if r in found)
        legal = _legal(stage, choice, samples)
    requires = [r for r in choice.requires if not _always(stage.settled.model, r.condition)]
    return Action(
        choice.variable,
        chooser.kind,
        name,
        roles,
        choice.audience.kind,
        names_in(choice.audience.to),
        choice.optional,
        tuple(r.text for r in requires if r.kind == "require" and r.text),
        tuple(r.text for r in requires if r.kind == "ought" and r.text),
        legal,
        choice.origin.cites,
    )


def _always(model: m.Model, expr: m.Expr) -> bool:
    """Is this condition idle under the rulings in force?"""
    if isinstance(expr, m.Invoke):
        expr = model.definitions[expr.definition].value
    return isinstance(expr, m.Literal) and expr.value is True


def name_of(expr: m.Expr) -> str:
    """The name an expression for a chooser goes by."""
    match expr:
        case m.Variable(name, _) | m.Invoke(name, _, _) | m.Parameter(name, _):
            return name
        case _:
            return next((n for part in every(expr) if part is not expr and (n := name_of(part))), "")


def names_in(expr: m.Expr | None) -> tuple[str, ...]:
    """The variables and definitions an audience is made of."""
    if expr is None:
        return ()
    found = [p.name if isinstance(p, m.Variable) else p.definition for p in every(expr) if _is_name(p)]  # type: ignore[union-attr]
    return tuple(dict.fromkeys(found))


def _is_name(expr: m.Expr) -> bool:
    return isinstance(expr, m.Variable | m.Invoke)


def _samples(stage: Stage) -> dict[str, list[State]]:
    """For every choice that comes up in a whole game of successes, or of failures, states in which it is awaited."""
    found: dict[str, list[State]] = {}
    for failed in (False, True):
        state, _ = stage.opening()
        for role in stage.deck:
            _pass_round(stage, state, role, found)
        while not state.over:
            variable = stage.awaits(state)
            assert variable is not None
            if variable == round_choice(stage):
                state = play_quest(stage, state, targets(stage, state)[0], failed)
            else:
                found.setdefault(variable, []).append(state)
                state = stage.play(state, {})
    return found


def _pass_round(stage: Stage, state: State, role: str, found: dict[str, list[State]]) -> None:
    """Notes the choices of one round with this role on the team."""
    names = stage.names

    def team(now: State, seat: int) -> Value:
        options = list(stage.engine.options(now, seat))
        wanted = stage.deal.index(role)
        return next((o for o in options if isinstance(o, frozenset) and wanted in o), options[0])

    first = round_choice(stage)
    begun = False
    while not state.over and not (begun and stage.awaits(state) == first):
        found.setdefault(stage.awaits(state) or "", []).append(state)
        state = stage.play(state, {names.team: team, names.ballot: lambda s, seat: True})
        begun = True


def _legal(stage: Stage, choice: m.Choice, samples: list[State]) -> dict[str, tuple[str, ...]]:
    """By role: what may be chosen, where roles differ and there is little to choose from."""
    if not isinstance(choice.type, EnumType | BoolType):
        return {}
    by_role = {
        stage.deal[seat]: tuple(str(v) for v in stage.engine.options(sample, seat))
        for sample in samples
        for seat in stage.pending(sample).seats
    }
    return {r: by_role[r] for r in stage.deck if r in by_role} if len(set(by_role.values())) > 1 else {}
