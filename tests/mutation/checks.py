"""What can kill a mutant of the shipped rulebooks, cheapest first: the checker, properties on random games of the
mutant, the worked examples, the prover. Before the prover is asked the mutant is compared with the original: one that
is proved to be the same game makes no difference, and nothing could kill it.

Everything here runs in a process of its own that was forked for one mutant: it puts the mutant in the place of the
shipped rulebook and never takes it out again.
"""

from __future__ import annotations

import contextlib
import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

import pytest

import avalon_logic.library as shelf
from avalon_logic.proving import GAMES, OPEN, property_files, shipped_claims
from proofs.families import Family, families, speaks_of_knowing
from proofs.mutation import Mutant, mutants, mutated
from proofs.prover import Options, prove
from proofs.samples import random_game, random_params
from rules_dsl import (
    Model,
    RulebookError,
    Settled,
    library,
    parse,
)
from rules_dsl import syntax as s
from rules_dsl.evaluate import Environment, holds
from rules_dsl.play import IllegalMove, State, Stuck
from tests.mutation.difference import first_difference, proved_difference

TESTS = Path(__file__).parents[1]
EXAMPLES = tuple(
    str(TESTS / "avalon_logic" / f"{name}.py")
    for name in (
        "test_worked_examples",
        "test_defaults",
        "test_on_the_table",
        "test_configuration",
        "test_rulings",
        "test_views",
    )
)
NOT_RULES = ("assumptions.rules",)  # how people play is not a rule of the game

REFUSED, KILLED, EQUIVALENT, SURVIVED = "refused", "killed", "equivalent", "survived"


@dataclass(frozen=True)
class Outcome:
    """What became of a mutant. `by` names the check that killed it, or why it counts as equivalent."""

    status: str
    by: str
    detail: str = ""


@dataclass(frozen=True)
class Shelf:
    """The shipped rulebooks as they are, by file."""

    texts: dict[str, str]
    books: dict[str, s.Rulebook]


def shipped() -> Shelf:
    from importlib.resources import files

    folder = files("avalon_logic") / "rulebooks"
    texts = {f.name: f.read_text(encoding="utf-8") for f in folder.iterdir() if f.name.endswith(".rules")}
    return Shelf(texts, {name: parse(text, name) for name, text in sorted(texts.items())})


def all_mutants(original: Shelf) -> list[Mutant]:
    books = list(original.books.values())
    return [
        mutant
        for name, book in original.books.items()
        if name not in NOT_RULES
        for mutant in mutants(original.texts[name], name, book, books)
    ]


def judge(
    original: Shelf, mutant: Mutant, prove_seconds: float, games: int, examples: Sequence[str] = EXAMPLES
) -> Outcome:
    """Puts the mutant in place and runs the checks. Only for a process of its own."""
    try:
        changed = mutated(original.texts[mutant.file], original.books[mutant.file], mutant)
        books = tuple({**original.books, mutant.file: changed}.values())
        made = families_of(books)
    except RulebookError as error:
        return Outcome(REFUSED, "the checker", str(error).splitlines()[0])
    shelf.shipped_rulebooks = lambda: books  # type: ignore[assignment]
    for check in (
        lambda: random_games(made[:1], games),
        lambda: _examples(examples),
        lambda: random_games(made[1:], games),
    ):
        found = check()
        if found is not None:
            return found
    difference = first_difference(library(original.books.values()), library(books), games)
    if difference is None:
        difference = proved_difference(families_of(tuple(original.books.values())), made)
    if difference is None:
        return Outcome(EQUIVALENT, "proved to be the same game")
    return _prover(made, prove_seconds) or Outcome(SURVIVED, "nothing noticed", difference)


def families_of(books: tuple[s.Rulebook, ...], games: Sequence[str] = GAMES) -> list[Family]:
    """The shipped properties about these rulebooks."""
    claims = [parse(path.read_text(encoding="utf-8"), path.name) for path in property_files()]
    lib = library((*books, *claims))
    return families(lib, games, shipped_claims(), open_modules=OPEN)


# --- properties on random games ---


def random_games(made: list[Family], games: int) -> Outcome | None:
    """A property that a random game breaks."""
    for family in made:
        found = _sampled(family, games)
        if found is not None:
            return Outcome(KILLED, "a property, by a random game", f"{family.name}: {found}")
    return None


def _sampled(family: Family, games: int) -> str | None:
    """The name of a property a random game of the mutant breaks."""
    model, rng = family.model, Random(1)
    claims = [
        p
        for p in model.properties.values()
        if p.kind == "invariant" and p.expect == "proved" and p.value is not None and not speaks_of_knowing(p)
    ]
    bound = min((p.bound for p in model.properties.values() if p.bound is not None), default=400)
    for _ in range(games):
        table = random_params(model, rng)
        if table is None:
            return "no table is possible"
        try:
            game = random_game(table, rng, bound + 1)
        except (Stuck, IllegalMove) as stuck:
            return f"stuck: {stuck}"
        if game is None:
            return "stuck from the start"
        if len(game.moves) > bound:
            return f"a game of more than {bound} events"
        if not game.states[-1].over:
            return "somebody is stuck"
        for state in game.states:
            env = _environment(model, table, state)
            for claim in claims:
                assert claim.value is not None
                if not holds(claim.value, env):
                    return claim.name
    return None


def _environment(model: Model, table: Settled, state: State) -> Environment:
    values = dict(zip(model.variables, state.values, strict=True))
    players = table.model.players.count
    return Environment(
        model, players, table.params, values, phase=state.phase, over=state.over, result=state.result
    )


# --- examples ---


def _examples(files: Sequence[str]) -> Outcome | None:
    """The first worked example that goes another way."""
    seen, said = _Failures(), io.StringIO()
    alone = ["-p", "no:cacheprovider", "-p", "no:xdist", "-o", "addopts=--import-mode=importlib"]
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        code = pytest.main(["-x", "-q", *alone, *files], plugins=[seen])
    if seen.failed:
        return Outcome(KILLED, "an example", seen.failed[0])
    if code != pytest.ExitCode.OK:  # examples that did not run have noticed nothing and allowed nothing
        raise RuntimeError(f"the examples did not run: {said.getvalue()[-300:]}")
    return None


class _Failures:
    def __init__(self) -> None:
        self.failed: list[str] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self.failed.append(report.nodeid.split("::")[-1])

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self.failed.append(report.nodeid)


# --- the prover ---


def _prover(made: list[Family], seconds: float) -> Outcome | None:
    if seconds <= 0:
        return None
    for family in made:
        for verdict in prove(family.model, family.name, Options(seconds=seconds)):
            if not verdict.as_expected and not verdict.undecided:
                return Outcome(KILLED, "the prover", f"{family.name}: {verdict.name} {verdict.outcome}")
    return None
