"""Which rule is at fault when a recorded event does not fit: a model and the course of the game in, clauses out.

The course is the phases entered so far, in order. Everything here is read off the model, so it works for every
rulebook: who led is blamed on the rule that made him leader, a phase that should not have come on the rule that
led elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from avalon_logic.fields import SAW
from rules_dsl import model as m
from rules_dsl.flow import successors
from rules_dsl.walk import statements

Cites = tuple[str, ...]


def may_be_unwritten(choice: m.Choice) -> bool:
    """Chance and secret choices need no line of their own in a record; public choices do."""
    return choice.chooser.kind == "chance" or choice.audience.kind != "public"


def writer_cites(model: m.Model, course: Sequence[str], variable: str) -> Cites:
    """The clauses of the rule that gave a variable its present value, else those of its declaration."""
    for name in reversed(course):
        phase = model.phases[name]
        for statement in reversed(tuple(statements(phase.body))):
            if isinstance(statement, m.Assign) and statement.variable == variable and statement.origin.cites:
                return statement.origin.cites
        for choice in phase.choices:
            if choice.variable == variable and choice.origin.cites:
                return choice.origin.cites
    return model.variables[variable].origin.cites


def deciding_cites(model: m.Model, phase: str) -> Cites:
    """The clauses of the first rule that decides how a phase goes on."""
    for statement in statements(model.phases[phase].body):
        if isinstance(statement, m.If) and statement.origin.cites:
            return statement.origin.cites
    return model.phases[phase].origin.cites


def entry_cites(model: m.Model, course: Sequence[str]) -> Cites:
    """The clauses of the rule that led from the last phase but one to the last."""
    if len(course) < 2:
        return ()
    for statement in statements(model.phases[course[-2]].body):
        if isinstance(statement, m.Next) and statement.phase == course[-1] and statement.origin.cites:
            return statement.origin.cites
    return ()


def out_of_turn_cites(model: m.Model, course: Sequence[str], over: bool, recorded: str) -> Cites:
    """The clauses that keep a recorded phase from coming now; `course` ends where the game really is."""
    wanted = model.phases[recorded]
    if over and recorded == course[-1]:
        return _ending_cites(wanted)
    if (
        wanted.otherwise and wanted.origin.cites
    ):  # a phase put before or after another says itself when it comes
        return wanted.origin.cites
    here = model.phases[course[-1]]
    if (
        not over
        and here.when is not None
        and here.origin.cites
        and leads_silently(model, here.otherwise, recorded)
    ):
        return here.origin.cites
    for earlier, later in _steps_since_last_choice(model, course, over):
        if later is not None and leads_silently(model, later, recorded):
            continue
        others = successors(model.phases[earlier]) - {later}
        if any(leads_silently(model, other, recorded) for other in others):
            cites = _parting_cites(model.phases[earlier], later)
            if cites:
                return cites
    if over:
        return _ending_cites(here)
    return here.origin.cites or here.choices[0].origin.cites


def _steps_since_last_choice(
    model: m.Model, course: Sequence[str], over: bool
) -> Iterator[tuple[str, str | None]]:
    """The last steps from phase to phase that nobody had a say in, the first of them first."""
    pairs: list[tuple[str, str | None]] = [(course[-1], None)] if over else []
    for earlier, later in zip(reversed(course[:-1]), reversed(course[1:]), strict=True):
        pairs.append((earlier, later))
        if any(not may_be_unwritten(c) for c in model.phases[earlier].choices):
            break
    return reversed(pairs)


def leads_silently(model: m.Model, start: str, target: str) -> bool:
    """Can the game come from one phase to another without a public choice on the way?"""
    seen: set[str] = set()
    queue = [start]
    while queue:
        name = queue.pop()
        if name == target:
            return True
        if name in seen:
            continue
        seen.add(name)
        phase = model.phases[name]
        if all(may_be_unwritten(c) for c in phase.choices):
            queue += successors(phase)
        elif phase.when is not None:
            queue.append(phase.otherwise)
    return False


def _parting_cites(phase: m.Phase, later: str | None) -> Cites:
    """The clauses of the decision that led on to `later` (None: that ended the game)."""
    for statement in statements(phase.body):
        if isinstance(statement, m.If) and statement.origin.cites:
            inside = tuple(statements((*statement.then, *statement.otherwise)))
            ends = any(isinstance(x, m.Win) for x in inside)
            leads = any(isinstance(x, m.Next) for x in inside)
            if leads or (later is None and ends):
                return statement.origin.cites
    return ()


def _ending_cites(phase: m.Phase) -> Cites:
    """The clauses of the rule that ended the game in this phase."""
    found: Cites = ()
    for statement in statements(phase.body):
        if isinstance(statement, m.If | m.Win) and statement.origin.cites:
            found = statement.origin.cites
    return found


def show_cites(model: m.Model, phase: str, name: str) -> Cites:
    """The clauses of what is shown in a phase under a name (all of it, if the name is the common one)."""
    shows = [s for s in statements(model.phases[phase].body) if isinstance(s, m.Show)]
    return tuple(dict.fromkeys(c for s in shows if name in (s.name, SAW) for c in s.origin.cites))


def hidden_requirements(model: m.Model) -> Iterator[m.Require]:
    """What the rules demand of choices that are not made in the open."""
    for phase in model.phases.values():
        for choice in phase.choices:
            if choice.audience.kind != "public":
                yield from (r for r in choice.requires if r.kind == "require")


def without(model: m.Model, requirement: m.Require) -> m.Model:
    """The model with one requirement dropped."""
    phases = {
        name: replace(
            phase,
            choices=tuple(
                replace(c, requires=tuple(r for r in c.requires if r is not requirement))
                for c in phase.choices
            ),
        )
        for name, phase in model.phases.items()
    }
    return replace(model, phases=phases)
