"""Many solver literals at once, through Z3's C interface: its Python wrapper spends longer on checking the sorts of a
thousand literals than the solver does on the question they are part of.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import z3  # type: ignore[import-untyped]

_TRUE = 1  # Z3_L_TRUE


class Literals:
    """Fresh Boolean constants, by number."""

    def __init__(self, prefix: str, count: int) -> None:
        self.context = z3.main_ctx()
        self.terms = [z3.Bool(f"{prefix}{i}") for i in range(count)]
        self._declared = [t.decl() for t in self.terms]
        self._numbers = {t.get_id(): i for i, t in enumerate(self.terms)}

    def __getitem__(self, index: int) -> Any:
        return self.terms[index]

    def some_of(self, indices: Sequence[int]) -> Any:
        """At least one of these holds."""
        array = (z3.Ast * len(indices))(*(self.terms[i].as_ast() for i in indices))
        return z3.BoolRef(z3.Z3_mk_or(self.context.ref(), len(indices), array), self.context)

    def in_core(self, solver: Any) -> set[int]:
        """Those of the literals that are in the solver's unsat core."""
        ids = (x.get_id() for x in solver.unsat_core())
        return {self._numbers[x] for x in ids if x in self._numbers}

    def true_in(self, model: Any, indices: Sequence[int]) -> set[int]:
        """Those of the literals that are true in a model."""
        context, found = self.context.ref(), set()
        for i in indices:
            value = z3.Z3_model_get_const_interp(context, model.model, self._declared[i].ast)
            if value and z3.Z3_get_bool_value(context, value) == _TRUE:
                found.add(i)
        return found
