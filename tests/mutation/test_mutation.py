"""Mistakes put into the rulebooks are noticed: the rules that matter most by a property each, a fixed sample by anything."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from proofs.clock import Clock
from proofs.mutation import Mutant, mutated
from proofs.replays import replay
from proofs.search import search
from rules_dsl.smt import Game, compile_smt
from rules_dsl.smt.terms import not_
from tests.mutation.checks import (
    KILLED,
    REFUSED,
    SURVIVED,
    Outcome,
    Shelf,
    all_mutants,
    families_of,
    random_games,
    shipped,
)
from tests.mutation.run import main, score

ROOT = Path(__file__).parents[2]


@cache
def original() -> Shelf:
    return shipped()


@cache
def every_mutant() -> tuple[Mutant, ...]:
    return tuple(all_mutants(original()))


def mutant_at(file: str, text: str, kind: str, new: str) -> Mutant:
    """The mutant of one kind on the line that holds this text."""
    lines = original().texts[file].splitlines()
    found = [
        x
        for x in every_mutant()
        if x.file == file and text in lines[x.line - 1] and x.kind == kind and x.new == new
    ]
    assert len(found) == 1, found
    return found[0]


def shortest_counterexample(mutant: Mutant, game: str, claim: str) -> Game | None:
    """A game that breaks a claim when the mutant is in the place of the rulebook, replayed."""
    shelf = original()
    books = {**shelf.books, mutant.file: mutated(shelf.texts[mutant.file], shelf.books[mutant.file], mutant)}
    made = families_of(tuple(books.values()), [game])
    family = next(f for f in made if claim in f.properties)
    system = compile_smt(family.model)
    value = family.model.properties[claim].value
    assert value is not None
    clock = Clock.of(60)
    found = search(system, {claim: not_(system.holds(value))}, lambda _: clock, deepest=20)[claim]
    if found.game is not None:
        replay(family.model, found.game)
    return found.game


KEY_RULES = {
    "two fails": ("core.rules", "def fails_needed", "number", "1", "resistance", "two_fails_for_the_fourth"),
    "five rejections": (
        "core.rules",
        "if rejections == 5",
        "branch dropped",
        "",
        "resistance",
        "five_rejections_end_the_game",
    ),
    "ties": ("core.rules", "2 * count(", "operator", ">=", "resistance", "approved_by_a_strict_majority"),
    "the fifth-quest gate": (
        "targeting.rules",
        "require gated and target == 5",
        "requirement dropped",
        "",
        "resistance",
        "the_fifth_quest_needs_two_successes",
    ),
    "the Lady's past holders": (
        "lady.rules",
        "require not examined in past_holders",
        "requirement dropped",
        "",
        "avalon",
        "holders_never_repeat",
    ),
}


@pytest.mark.parametrize("rule", KEY_RULES)
def test_a_rule_that_matters_has_a_property_that_dies_with_it(rule: str) -> None:
    file, text, kind, new, game, claim = KEY_RULES[rule]
    assert shortest_counterexample(mutant_at(file, text, kind, new), game, claim) is not None


def test_the_rulebooks_as_they_are_pass_what_mutants_are_tried_on() -> None:
    assert random_games(families_of(tuple(original().books.values())), games=6) is None


def test_mistakes_of_every_kind_are_made_and_no_two_are_the_same() -> None:
    kinds = Counter(x.kind for x in every_mutant())
    assert {"number", "operator", "logic", "member", "next phase", "who sees it"} <= set(kinds)
    assert {"requirement dropped", "effect dropped", "branch dropped", "check dropped"} <= set(kinds)
    assert len({x.key for x in every_mutant()}) == len(every_mutant())
    assert len(every_mutant()) > 400


def test_every_requirement_of_the_rulebooks_is_dropped_by_some_mutant() -> None:
    dropped = [x for x in every_mutant() if x.kind == "requirement dropped"]
    written = sum(
        line.lstrip().startswith(("require ", "ought ", "on ")) and ("require" in line or "ought" in line)
        for name, text in original().texts.items()
        if name != "assumptions.rules"
        for line in text.splitlines()
    )
    assert len(dropped) >= written > 8


def test_a_fixed_sample_of_mistakes_is_noticed() -> None:
    # a process of its own: what this one has compiled of the true rulebooks would hide the mistakes
    words = ["--file", "core.rules", "--one-in", "40", "--seconds", "0", "--games", "6", "--json"]
    done = subprocess.run(
        [sys.executable, "-m", "tests.mutation.run", *words],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    report = json.loads(done.stdout)
    assert report["mutants"] >= 10
    assert report["killed"] >= 8
    assert report["score"] >= 0.9, report["survivors"]


def test_a_run_goes_on_where_it_stopped(tmp_path, capsys) -> None:  # type: ignore[no-untyped-def]
    report = tmp_path / "report.jsonl"
    words = ["--file", "resistance.rules", "--one-in", "9", "--seconds", "0", "--games", "3", "--json"]
    main([*words, "--report", str(report)])
    first = capsys.readouterr().out
    kept = report.read_text(encoding="utf-8")
    assert kept.count("\n") >= 1
    main([*words, "--report", str(report)])
    assert capsys.readouterr().out == first
    assert report.read_text(encoding="utf-8") == kept


def test_survivors_count_against_the_score() -> None:
    outcomes = [Outcome(KILLED, ""), Outcome(SURVIVED, ""), Outcome(REFUSED, ""), Outcome(KILLED, "")]
    assert score(outcomes) == pytest.approx(2 / 3)
