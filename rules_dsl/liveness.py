"""Which variables still matter on entering a phase: those some later rule may read before they are written again.

Two states that differ only in other variables have the same future. Takes a model, gives a set for every phase.
"""

from __future__ import annotations

from rules_dsl import model as m
from rules_dsl.flow import successors
from rules_dsl.walk import choice_expressions, reads, statement_expressions, statements


def live_on_entry(model: m.Model) -> dict[str, frozenset[str]]:
    """For every phase, the variables whose value on entry can still matter."""
    standing = frozenset(
        name
        for v in model.variables.values()
        if v.audience.to is not None
        for name in reads(v.audience.to, model.definitions)
    )
    used = {name: _read_first(model, phase) for name, phase in model.phases.items()}
    written = {name: frozenset(_written(phase)) for name, phase in model.phases.items()}
    live = {name: standing | used[name] for name in model.phases}
    changed = True
    while changed:
        changed = False
        for name, phase in model.phases.items():
            after: frozenset[str] = frozenset()
            for following in successors(phase):
                after |= live[following]
            kept = after if phase.when is not None else after - written[name]
            found = standing | used[name] | kept
            if found != live[name]:
                live[name] = found
                changed = True
    return live


def _written(phase: m.Phase) -> set[str]:
    """What a phase always gives a new value: its choices, made or passed over."""
    return {name for choice in phase.choices for name in m.written_by(choice)}


def _read_first(model: m.Model, phase: m.Phase) -> frozenset[str]:
    """What a phase reads before it has chosen it itself."""
    found: set[str] = set()
    chosen: set[str] = set()
    if phase.when is not None:
        found |= reads(phase.when, model.definitions)
    for choice in phase.choices:
        for expr in choice_expressions(choice):
            found |= reads(expr, model.definitions) - chosen
        chosen.update(m.written_by(choice))
    for statement in statements(phase.body):
        for expr in statement_expressions(statement):
            found |= reads(expr, model.definitions) - chosen
        if isinstance(statement, m.Assign) and statement.keys:
            found |= {statement.variable} - chosen
    return frozenset(found)
