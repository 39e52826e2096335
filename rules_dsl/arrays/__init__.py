"""The NumPy back end: all worlds, or many games, at once.

`compile_arrays(model)` gives the machine that reads events of a settled model; `begin`, `advance`, `apart` and `grant`
keep track of what is possible; `worlds` and the functions of `answers` ask about it. `games.Simulator` plays many games
at random, side by side.
"""

from collections.abc import Sequence

from rules_dsl import model as m
from rules_dsl.arrays.belief import Belief, Change, Constraint, advance, apart, balanced, begin, grant
from rules_dsl.arrays.columns import TooManyUnknowns
from rules_dsl.arrays.event import AFTER_CHOICE, Event
from rules_dsl.arrays.run import Machine


def compile_arrays(model: m.Model, assumptions: Sequence[str] = ()) -> Machine:
    """The machine of a settled model; the assumptions named hold in all that it reads."""
    return Machine(model, assumptions)


__all__ = [
    "AFTER_CHOICE",
    "Belief",
    "Change",
    "Constraint",
    "Event",
    "Machine",
    "TooManyUnknowns",
    "advance",
    "apart",
    "balanced",
    "begin",
    "compile_arrays",
    "grant",
]
