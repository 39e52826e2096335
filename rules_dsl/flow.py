"""The graph of phases: every path through a phase must end, every phase must be reached, nothing may spin.

Takes a typed model; gives the diagnostics found.
"""

from __future__ import annotations

from collections.abc import Iterable

from rules_dsl import model as m
from rules_dsl.compose import Composition
from rules_dsl.diagnostics import Diagnostic, Note
from rules_dsl.walk import every, statements


def check_flow(model: m.Model, composition: Composition) -> list[Diagnostic]:
    """What is wrong with the way phases lead to each other."""
    found: list[Diagnostic] = []
    for phase in model.phases.values():
        found += _endings(phase)
    if found:
        return found
    reached = _reached(model)
    for name, phase in model.phases.items():
        if name not in reached:
            found.append(
                Diagnostic(
                    "E402",
                    f"phase '{name}' can never be reached",
                    phase.origin.span,
                    f"no 'next {name}' leads to it",
                    (Note("the game starts here:", model.phases[model.start].origin.span),),
                )
            )
    found += _spinning(model)
    return found


def successors(phase: m.Phase) -> set[str]:
    """The phases a phase can lead to."""
    found = {x.phase for x in statements(phase.body) if isinstance(x, m.Next)}
    return found | ({phase.otherwise} if phase.when is not None else set())


def _reached(model: m.Model) -> set[str]:
    reached: set[str] = set()
    queue = [model.start]
    while queue:
        name = queue.pop()
        if name not in reached:
            reached.add(name)
            queue += successors(model.phases[name])
    return reached


def _endings(phase: m.Phase) -> Iterable[Diagnostic]:
    """A body must end on every path, and nothing may stand after an end."""
    found: list[Diagnostic] = []

    def ends(body: tuple[m.Statement, ...]) -> bool:
        for index, statement in enumerate(body):
            match statement:
                case m.Next() | m.Win():
                    done = True
                case m.If():
                    then, otherwise = ends(statement.then), ends(statement.otherwise)
                    done = then and otherwise
                case _:
                    done = False
            if done:
                if index + 1 < len(body):
                    after = body[index + 1].origin.span
                    found.append(Diagnostic("E403", "this is never done: the phase has ended before", after))
                return True
        return False

    if not ends(phase.body):
        found.append(
            Diagnostic(
                "E401",
                f"phase '{phase.name}' can come to its end without 'next', 'continue', 'win' or 'draw'",
                phase.origin.span,
                "say what comes next on every path",
            )
        )
    return found


def _spinning(model: m.Model) -> list[Diagnostic]:
    """Phases in which nobody ever chooses must not lead round in a circle."""
    silent = {name for name, phase in model.phases.items() if not phase.choices}
    state: dict[str, int] = {}
    found: list[Diagnostic] = []

    def visit(name: str) -> None:
        state[name] = 1
        for following in sorted(successors(model.phases[name]) & silent):
            if state.get(following) == 1:
                found.append(
                    Diagnostic(
                        "E404",
                        f"phases '{name}' and '{following}' lead to each other without anybody choosing",
                        model.phases[name].origin.span,
                        notes=(Note("the other phase:", model.phases[following].origin.span),),
                    )
                )
            elif following not in state:
                visit(following)
        state[name] = 2

    for name in sorted(silent):
        if name not in state:
            visit(name)
    return found


def passing_cites(model: m.Model, choice: m.Choice) -> tuple[str, ...]:
    """The clauses by which a choice is passed over: of what its condition calls, else its own."""
    called = (
        [] if choice.when is None else [e.definition for e in every(choice.when) if isinstance(e, m.Invoke)]
    )
    cites = tuple(dict.fromkeys(c for name in called for c in model.definitions[name].origin.cites))
    return cites or choice.origin.cites
