"""What a verdict holds for, in words: the game, the players, what is fixed, and which modules are in, open or out."""

from __future__ import annotations

from proofs.families import Family
from rules_dsl import model as m


def scope_of(family: Family) -> str:
    """The tables the verdicts of a family hold for."""
    players = family.fixed.get(m.PLAYERS)
    tables = f"{players} players" if players else f"{family.model.fewest} to {family.model.most} players"
    if family.model.fewest == family.model.most:
        tables = f"{family.model.fewest} players"
    parts = [tables]
    kinds = {p.kind for name, p in family.model.params.items() if name != m.PLAYERS}
    if "param" in kinds:
        parts.append("every deck")
    fixed = [f"{name}={value}" for name, value in family.fixed.items() if name != m.PLAYERS]
    if fixed:
        parts.append(
            ", ".join([" ".join(fixed), *(["every other ruling open"] if "ruling" in kinds else [])])
        )
    elif "ruling" in kinds:
        parts.append("every ruling")
    for words, names in (
        ("with", family.modules),
        ("with or without", family.open_modules),
        ("without", family.left_out),
    ):
        if names:
            parts.append(f"{words} {' '.join(names)}")
    return ", ".join(parts)


def full_scope(family: Family) -> str:
    """The same with the name of the game, for where no heading says it."""
    return f"{family.game}, {scope_of(family)}"
