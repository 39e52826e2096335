"""The Z3 terms that are made by the hundred thousand, through Z3's C interface: its Python wrapper spends several times
longer on checking the sorts of the parts than on making the term. Whoever calls these answers for the sorts.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import z3  # type: ignore[import-untyped]


def _array(parts: Sequence[Any]) -> Any:
    return (z3.Ast * len(parts))(*[x.ast for x in parts])


def conjunction(parts: Sequence[Any]) -> Any:
    """All of these Booleans; at least one is given."""
    context = parts[0].ctx
    return z3.BoolRef(z3.Z3_mk_and(context.ref(), len(parts), _array(parts)), context)


def disjunction(parts: Sequence[Any]) -> Any:
    """Some of these Booleans; at least one is given."""
    context = parts[0].ctx
    return z3.BoolRef(z3.Z3_mk_or(context.ref(), len(parts), _array(parts)), context)


def negation(a: Any) -> Any:
    return z3.BoolRef(z3.Z3_mk_not(a.ctx.ref(), a.ast), a.ctx)


def equality(a: Any, b: Any) -> Any:
    """Two Booleans or two bit-vectors of one width are equal."""
    return z3.BoolRef(z3.Z3_mk_eq(a.ctx.ref(), a.ast, b.ast), a.ctx)


def below(a: Any, b: Any) -> Any:
    """Of two bit-vectors of one width, read as numbers that are never negative, the first is smaller."""
    return z3.BoolRef(z3.Z3_mk_bvult(a.ctx.ref(), a.ast, b.ast), a.ctx)


def choice(condition: Any, then: Any, otherwise: Any) -> Any:
    """One of two Booleans, or of two bit-vectors of one width."""
    context = condition.ctx
    made = z3.Z3_mk_ite(context.ref(), condition.ast, then.ast, otherwise.ast)
    return (z3.BoolRef if isinstance(then, z3.BoolRef) else z3.BitVecRef)(made, context)


def substituted(whole: Any, pairs: Sequence[tuple[Any, Any]]) -> Any:
    """A Boolean with the first of each pair replaced by the second, which is of the same sort."""
    olds, news = _array([old for old, _ in pairs]), _array([new for _, new in pairs])
    made = z3.Z3_substitute(whole.ctx.ref(), whole.ast, len(pairs), olds, news)
    return z3.BoolRef(made, whole.ctx)


def substituted_each(terms: Sequence[Any], pairs: Sequence[tuple[Any, Any]]) -> list[Any]:
    """The same for several Booleans and bit-vectors, each simplified."""
    olds, news = _array([old for old, _ in pairs]), _array([new for _, new in pairs])
    made = []
    for whole in terms:
        context = whole.ctx
        there = z3.BoolRef if isinstance(whole, z3.BoolRef) else z3.BitVecRef
        new = there(z3.Z3_substitute(context.ref(), whole.ast, len(pairs), olds, news), context)
        made.append(there(z3.Z3_simplify(context.ref(), new.ast), context))
    return made


KEYBOARD = "interrupted from keyboard"  # why a solver gave up that took Ctrl-C for itself


def listened(answer: Any, solver: Any) -> Any:
    """The solver's answer. While it works it takes Ctrl-C for itself: here everybody else hears of it."""
    if answer == z3.unknown and KEYBOARD in str(solver.reason_unknown()):
        raise KeyboardInterrupt
    return answer


def checked(solver: Any, assumptions: Sequence[Any]) -> Any:
    """The solver's answer under these Booleans."""
    made = z3.Z3_solver_check_assumptions(
        solver.ctx.ref(), solver.solver, len(assumptions), _array(assumptions)
    )
    return listened(z3.CheckSatResult(made), solver)
