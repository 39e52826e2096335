"""Mistakes put into the rulebooks are noticed: the rules that matter most by a property each, a fixed sample by anything."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from functools import cache
from pathlib import Path
from time import sleep

import pytest

from proofs.clock import Clock
from proofs.mutation import Mutant, mutated
from proofs.replays import replay
from proofs.search import search
from rules_dsl import Library, library
from rules_dsl.smt import Game, compile_smt
from rules_dsl.smt.terms import not_
from rules_dsl.syntax import If, Next, PhaseDecl, TableDecl
from tests.mutation import checks, run
from tests.mutation.checks import (
    EQUIVALENT,
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
from tests.mutation.difference import first_difference, proved_difference
from tests.mutation.known import Known, known_mutants, named
from tests.mutation.run import main, score, summary

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
    assert {"number", "table entry", "operator", "logic", "member", "variable"} <= set(kinds)
    assert {"next phase", "next phases swapped"} <= set(kinds)
    assert {"who", "who sees it", "order", "condition dropped", "override dropped"} <= set(kinds)
    assert {"requirement dropped", "effect dropped", "branch dropped", "check dropped"} <= set(kinds)
    assert {"showing dropped", "ending dropped"} <= set(kinds)
    assert len({x.key for x in every_mutant()}) == len(every_mutant())
    assert len(every_mutant()) > 800


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


def test_every_entry_of_a_table_is_tried_one_higher_and_one_lower() -> None:
    (core,) = original().books["core.rules"].games
    tables = [item for item in core.items if isinstance(item, TableDecl)]
    cells = sum(len(row.values) for table in tables for row in table.rows)
    assert sum(x.kind == "table entry" for x in every_mutant()) == 2 * cells == 84


def test_two_next_phases_are_exchanged_and_nothing_else() -> None:
    swap = next(x for x in every_mutant() if x.words.startswith("cards <-> rejected"))
    vote = next(
        p
        for p in mutated(original().texts[swap.file], original().books[swap.file], swap).games[0].items
        if isinstance(p, PhaseDecl) and p.name == "vote"
    )
    (branch,) = vote.body
    assert isinstance(branch, If)
    assert [x.phase for x in (*branch.then, *branch.otherwise) if isinstance(x, Next)] == [
        "rejected",
        "cards",
    ]
    assert Counter(swap.old) == Counter(swap.new)


def test_a_part_is_left_out_or_put_elsewhere_and_nothing_else_changes() -> None:
    text = original().texts["lady.rules"]
    book = original().books["lady.rules"]
    made = [x for x in every_mutant() if x.file == "lady.rules" and x.dropped is not None]
    assert len({repr(mutated(text, book, x)) for x in made}) == len(made)
    (opened,) = (x for x in made if x.new == "seen by all")
    (lady,) = (p for p in mutated(text, book, opened).modules[0].items if isinstance(p, PhaseDecl))
    assert [c.audience.kind for c in lady.choices if c.audience is not None] == ["public", "public"]


# --- those that live ---


def proved_the_same(mutant: Mutant) -> str | None:
    """How the mutant differs from the rulebook it is made of; None if it is proved that it does not."""
    shelf = original()
    books = {**shelf.books, mutant.file: mutated(shelf.texts[mutant.file], shelf.books[mutant.file], mutant)}
    return proved_difference(families_of(tuple(shelf.books.values())), families_of(tuple(books.values())))


@pytest.mark.parametrize("entry", known_mutants(), ids=lambda entry: f"{entry.file}: {entry.rule[:30]}")
def test_a_mutant_said_to_make_no_difference_is_there_and_is_the_same_game(entry: Known) -> None:
    mutant = named(entry, every_mutant(), original().texts)
    assert mutant is not None, "no such mutant any more"
    assert len(entry.reason) > 20
    assert proved_the_same(mutant) is None


def test_a_mutant_that_makes_a_rare_difference_is_not_called_the_same() -> None:
    # random games hardly ever find this one: it takes the Lady, the quest chosen by the leader, and another ruling
    rare = mutant_at("lady.rules", "just_resolved <= 4", "number", "5")
    assert first_difference(library(original().books.values()), shelf_with(rare), 10) is None
    assert str(proved_the_same(rare)).startswith("avalon: what is chosen, follows or is seen in ")


def shelf_with(mutant: Mutant) -> Library:
    shelf = original()
    changed = mutated(shelf.texts[mutant.file], shelf.books[mutant.file], mutant)
    return library({**shelf.books, mutant.file: changed}.values())


def test_whoever_lives_is_listed_with_the_reason() -> None:
    one, two, three = every_mutant()[:3]
    results = [
        (one, Outcome(SURVIVED, "nothing noticed", "a state")),
        (two, Outcome(EQUIVALENT, "proved")),
        (three, Outcome(KILLED, "an example")),
    ]
    report = summary(results, {one.key: "because of this", three.key: "outdated"})
    assert report["survivors"] == [f"{one}: because of this (a state)"]
    assert report["equivalents"] == [f"{two}: no reason known (proved)"]
    assert report["unexplained"] == [str(two)]
    assert report["explained_but_dead"] == [str(three)]


def test_examples_that_do_not_run_are_an_alarm(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="did not run"):
        checks._examples([str(tmp_path / "missing.py")])


def test_a_crash_or_a_late_answer_is_no_kill(monkeypatch: pytest.MonkeyPatch) -> None:
    def crash(*_: object) -> Outcome:
        raise ZeroDivisionError

    for judge, by in ((crash, "a crash"), (lambda *_: sleep(60), "not judged in time")):
        monkeypatch.setattr(run, "judge", judge)
        ((_, outcome, _),) = run.judged(original(), every_mutant()[:1], limit=1.5)
        assert (outcome.status, outcome.by) == (SURVIVED, by)


def test_survivors_count_against_the_score() -> None:
    outcomes = [Outcome(KILLED, ""), Outcome(SURVIVED, ""), Outcome(REFUSED, ""), Outcome(KILLED, "")]
    assert score(outcomes) == pytest.approx(2 / 3)
