"""The Z3 back end: a model, settled or with parameters open, as initial states and steps over finite-domain
terms.
"""

from rules_dsl.smt.system import Place, Step, SymbolicState, System, compile_paced, compile_smt
from rules_dsl.smt.unroll import Game, Unrolling, finite_solver

__all__ = [
    "Game",
    "Place",
    "Step",
    "SymbolicState",
    "System",
    "Unrolling",
    "compile_paced",
    "compile_smt",
    "finite_solver",
]
