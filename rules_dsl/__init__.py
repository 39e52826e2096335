"""rules_dsl: a small language in which the rules of a game with hidden information are a program.

The stages, each a function from one value to the next:

    parse(text) -> Rulebook          grammar, syntax
    library(rulebooks) -> Library    all games and modules, by name
    compose(library, game, modules) -> Composition
    build_model(composition) -> Model     typed, finite, parameters still open
    settle(model, parameters) -> Settled  one concrete game
    compile_python(model) -> Engine       generated code that plays it
    Game.start(engine, seed) -> Game      a game being played

Back ends take a model: `reference` interprets it and defines what it means; `python` generates an engine,
`arrays` NumPy code over all worlds at once, `smt` Z3 terms.
"""

from rules_dsl.check import build_model
from rules_dsl.compose import Composition, Library, UnknownName, compose, library
from rules_dsl.diagnostics import Diagnostic, RulebookError
from rules_dsl.game import Game, View
from rules_dsl.grammar import parse
from rules_dsl.model import Model, Value
from rules_dsl.python import Engine, compile_python
from rules_dsl.settle import BadParameter, Settled, fix, settle

__all__ = [
    "BadParameter",
    "Composition",
    "Diagnostic",
    "Engine",
    "Game",
    "Library",
    "Model",
    "RulebookError",
    "Settled",
    "UnknownName",
    "Value",
    "View",
    "build_model",
    "compile_python",
    "compose",
    "fix",
    "library",
    "parse",
    "settle",
]
