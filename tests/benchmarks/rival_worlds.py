"""The same question put to two general solvers: which deals fit these quests? Each encoding is the plain one.

A position is a deck and quests (team, fails); seats count from 0. `clingo_*` needs the `benchmark` extra.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

Quest = tuple[frozenset[int], int]
World = tuple[str, ...]

EVIL = frozenset({"assassin", "morgana", "mordred", "oberon", "minion"})

PROGRAM = """
1 { holds(P, R) : deck(R, _) } 1 :- player(P).
:- deck(R, N), #count { P : holds(P, R) } != N.
evil(P) :- holds(P, R), bad(R).
:- quest(Q, F), #count { P : member(Q, P), evil(P) } < F.
#show holds/2.
"""


def _control(deck: Mapping[str, int], quests: Sequence[Quest]) -> Any:
    import clingo

    facts = [f"player(0..{sum(deck.values()) - 1})."]
    facts += [f"deck({role}, {n})." for role, n in deck.items()]
    facts += [f"bad({role})." for role in deck if role in EVIL]
    for number, (team, fails) in enumerate(quests):
        facts.append(f"quest({number}, {fails}).")
        facts += [f"member({number}, {seat})." for seat in sorted(team)]
    control = clingo.Control(["--models=0", "--warn=none"])
    control.add("base", [], PROGRAM + "\n".join(facts))
    control.ground([("base", [])])
    return control


def clingo_count(deck: Mapping[str, int], quests: Sequence[Quest]) -> int:
    """How many deals fit; no model is looked at."""
    control = _control(deck, quests)
    control.solve()
    return int(control.statistics["summary"]["models"]["enumerated"])


def clingo_list(deck: Mapping[str, int], quests: Sequence[Quest]) -> list[World]:
    """Every deal that fits, as roles by seat: the quickest way found to read clingo's models."""
    control = _control(deck, quests)
    meaning = {
        atom.symbol: (atom.symbol.arguments[0].number, atom.symbol.arguments[1].name)
        for atom in control.symbolic_atoms.by_signature("holds", 2)
    }
    found: list[World] = []

    def read(model: Any) -> None:
        cards = dict(meaning[symbol] for symbol in model.symbols(shown=True))
        found.append(tuple(cards[seat] for seat in range(len(cards))))

    control.solve(on_model=read)
    return found


def z3_list(deck: Mapping[str, int], quests: Sequence[Quest], most: int | None = None) -> list[World]:
    """Deals that fit, at most so many, one solution at a time: each found is forbidden by a clause."""
    import z3

    players = sum(deck.values())
    holds = {(p, r): z3.Bool(f"holds_{p}_{r}") for p in range(players) for r in deck}
    solver = z3.Solver()
    for p in range(players):
        solver.add(z3.PbEq([(holds[p, r], 1) for r in deck], 1))
    for role, n in deck.items():
        solver.add(z3.PbEq([(holds[p, role], 1) for p in range(players)], n))
    for team, fails in quests:
        if fails:
            evil = [(z3.Or([holds[p, r] for r in deck if r in EVIL]), 1) for p in sorted(team)]
            solver.add(z3.PbGe(evil, fails))
    found: list[World] = []
    while (most is None or len(found) < most) and solver.check() == z3.sat:
        model = solver.model()
        world = tuple(next(r for r in deck if z3.is_true(model[holds[p, r]])) for p in range(players))
        found.append(world)
        solver.add(z3.Or([z3.Not(holds[p, r]) for p, r in enumerate(world)]))
    return found
