"""Every place where the prover stops early, made to stop at once: what was proved or refuted may become undecided, but
nothing that was not proved becomes proved. `docs/stopping-early.md` says of each why.
"""

from __future__ import annotations

import importlib
import re
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

import pytest

from proofs import certainty, guards, knowledge
from proofs.clock import Clock
from proofs.equivalence import compare
from proofs.exercise import EXERCISED, NEVER, exercises
from proofs.knowledge import Knowledge
from proofs.prover import Options, prove
from rules_dsl import reference
from rules_dsl.smt import compile_smt
from tests.proofs.house import model_of, verdicts_of

PAGE = Path(__file__).parents[2] / "docs" / "stopping-early.md"
DEN = """
game den "A fox among hens, and a walk that never ends" {
  players 4..4
  enum Beast { hen, fox }
  result Beast
  param deck: Beast -> 0..4 = map(b in Beast: 2)
  setup error unless deck[hen] == 2 and deck[fox] == 2 "two of each"
  public host: Player
  public place: 0..9 = 0
  start dealing
  phase dealing {
    chance deals role: Player -> Beast from deck own
    next look
  }
  phase look {
    show mates to p in Player where role[p] == fox: { q in Player | q != p and role[q] == fox }
    next walk
  }
  phase walk {
    host chooses far: Bool public
    place := (if far then place + 4 else place + 2) mod 10
    next walk
  }
  invariant never_seven "nobody ever stands on seven": place != 7 expect proved
  invariant never_six "nobody ever stands on six": place != 6 expect refuted
  invariant two_foxes "two are foxes": at(walk) implies count(p in Player | role[p] == fox) == 2 expect proved
  invariant hollow "nothing on seven": place == 7 implies far expect proved
  reachable on_eight "somebody stands on eight": place == 8 expect proved
  reachable on_three "somebody stands on three": place == 3 expect refuted
  progress goes_on "somebody can always go on" expect proved
  terminates ends "every game ends" expect refuted
  invariant secret "no hen finds a fox":
    at(walk) implies all(p in Player, q in Player | role[p] == hen and p != q
      implies not knows(p, role[q] == fox)) expect proved
  invariant open_secret "nobody finds the other fox":
    at(walk) implies all(p in Player, q in Player | role[q] == fox and p != q
      implies not knows(p, role[q] == fox)) expect refuted
  invariant mates_know "foxes know each other":
    at(walk) implies all(p in Player, q in Player | role[p] == fox and role[q] == fox implies knows(p, role[q] == fox))
    expect proved
  silent walking "where the host goes tells nothing": walk expect proved
  silent looking "the first look tells nothing": look expect refuted
  symmetric seats "the look is the same for every seating": look expect proved
}
"""
USUAL = Options(seconds=20, games=5, deepest=12)
UNDECIDED = {"bounded", "unknown"}


@lru_cache(maxsize=1)
def den():  # type: ignore[no-untyped-def]
    return model_of(DEN, "den")


def outcomes(options: Options) -> dict[str, str]:
    return {v.name: v.outcome for v in prove(den(), "den", options)}


@pytest.fixture(scope="module")
def usual() -> dict[str, str]:
    found = outcomes(USUAL)
    assert found == {
        name: p.expect if name != "hollow" else "vacuous" for name, p in den().properties.items()
    }
    return found


SEARCHED = ("never_seven", "never_six", "hollow", "on_eight", "on_three")
GOING_ON = ("goes_on", "ends")
KNOWING = ("secret", "open_secret", "mates_know", "walking")

# where, what, the smallest it can be, the claims it has to do with, and those undecided then
CAPS: list[tuple[str, str, float, tuple[str, ...], set[str]]] = [
    ("proofs.knowledge", "MOST_SWAPS", 0, ("secret", "open_secret"), {"secret"}),
    ("proofs.certainty", "MOST_CANDIDATES", 0, KNOWING, set()),
    ("proofs.search", "EARLY", 0, SEARCHED, set()),
    ("proofs.search", "EARLY_SHARE", 1e-9, SEARCHED, set()),
    ("proofs.samples", "TRIES", 0, (*SEARCHED, *GOING_ON, *KNOWING), set()),
    ("proofs.samples", "MOST_ARRANGEMENTS", 0, SEARCHED, set()),
    ("proofs.progress", "SMALL", 0, GOING_ON, set()),
    ("proofs.progress", "MOST_ARRANGEMENTS", 0, GOING_ON, set()),
    ("proofs.standstill", "MOST_LESSONS", 0, GOING_ON, set()),
    ("proofs.termination", "FINER", 0, GOING_ON, set()),
]


def allowed(usual: dict[str, str], found: dict[str, str]) -> bool:
    return all(outcome in {usual[name], *UNDECIDED} for name, outcome in found.items())


@pytest.mark.parametrize(
    ("module", "cap", "least", "claims", "undecided"), CAPS, ids=[f"{x[0]}.{x[1]}" for x in CAPS]
)
def test_a_cap_at_its_smallest_proves_nothing_more(
    usual: dict[str, str],
    monkeypatch: pytest.MonkeyPatch,
    module: str,
    cap: str,
    least: float,
    claims: tuple[str, ...],
    undecided: set[str],
) -> None:
    monkeypatch.setattr(importlib.import_module(module), cap, least)
    found = outcomes(replace(USUAL, only=claims, seconds=8))
    assert allowed(usual, found), found
    assert {name for name in undecided if found[name] in UNDECIDED} == undecided


@pytest.mark.parametrize("deepest", [0, 1, 3])
def test_a_search_that_looks_no_further_is_bounded(usual: dict[str, str], deepest: int) -> None:
    found = outcomes(replace(USUAL, deepest=deepest, only=(*SEARCHED, *GOING_ON, "secret")))
    assert allowed(usual, found), found
    if deepest < 3:  # the games that show these have three and four events
        assert {found["never_six"], found["on_eight"], found["ends"]} <= UNDECIDED


def test_without_random_games_nothing_more_is_proved(usual: dict[str, str]) -> None:
    found = outcomes(replace(USUAL, games=0, seconds=8))
    assert allowed(usual, found), found


def test_without_time_nothing_is_decided() -> None:
    found = outcomes(Options(seconds=1e-6, games=5, deepest=12))
    assert set(found.values()) <= UNDECIDED


def test_with_little_time_nothing_else_is_decided(usual: dict[str, str]) -> None:
    for seconds in (0.02, 0.1, 0.4):
        found = outcomes(replace(USUAL, seconds=seconds))
        assert allowed(usual, found), found


def test_too_few_exchanges_prove_no_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a true secret the last doubtful state was never looked at."""
    claim = den().properties["secret"].value
    assert claim is not None
    for most in (0, 1):
        monkeypatch.setattr(knowledge, "MOST_SWAPS", most)
        found = Knowledge(compile_smt(den()), (), 3).decide(claim, Clock.of(30))
        assert found.holds is None


def test_candidates_run_out_before_a_secret_is_proved(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(knowledge, "MOST_SWAPS", 0)
    monkeypatch.setattr(certainty, "MOST_CANDIDATES", 0)
    found = outcomes(Options(seconds=30, games=5, deepest=6, only=("secret", "open_secret")))
    assert found["secret"] in UNDECIDED
    assert found["open_secret"] in {"refuted", *UNDECIDED}


HOSTED = DEN.replace("from deck own", 'from deck own\n      require HOST "the host"')


def about_going_on(host: str) -> dict[str, str]:
    model = model_of(HOSTED.replace("HOST", host), "den")
    only = ("goes_on", "ends")
    return {v.name: v.outcome for v in prove(model, "den", Options(30, deepest=6, games=5, only=only))}


def test_a_deck_too_large_to_be_tried_leaves_it_open_whether_it_can_be_dealt(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    nowhere = "all(p in Player | role[p] == fox)"
    assert about_going_on(nowhere) == {"goes_on": "refuted", "ends": "refuted"}
    monkeypatch.setattr("proofs.progress.MOST_ARRANGEMENTS", 0)
    assert set(about_going_on(nowhere).values()) <= UNDECIDED


def test_states_nobody_has_looked_at_are_not_proved_to_have_a_move(monkeypatch: pytest.MonkeyPatch) -> None:
    assert about_going_on("role[host] == fox")["goes_on"] == "proved"
    monkeypatch.setattr("proofs.standstill.MOST_LESSONS", 0)
    assert about_going_on("role[host] == fox")["goes_on"] in UNDECIDED


def test_guards_of_one_wording_are_not_taken_for_each_other() -> None:
    """A definition called like an attribute says something else: what is proved of one must not pass for the other."""
    text = DEN.replace(
        "enum Beast { hen, fox }",
        "enum Beast (side: Side) { hen(farm), fox(farm) }  enum Side { farm, wild }",
    )
    text = text.replace(
        "  start dealing", "  def side(p: Player) = if role[p] == fox then wild else farm\n  start dealing"
    )
    model = model_of(text, "den")
    dealt = guards.dealt_map(model)
    assert dealt is not None
    texts = [g.text for g in guards.guards(model, dealt)]
    assert len(texts) == len(set(texts))


def test_phases_in_a_row_beyond_the_limit_are_no_proof(monkeypatch: pytest.MonkeyPatch) -> None:
    """The interpreter gives up where the solver goes on: a game cannot be played again, so there is no verdict from it."""
    monkeypatch.setattr(reference, "MOST_SILENT_PHASES", 1)
    with pytest.raises(reference.Stuck):
        verdicts_of(DEN, game="den")


def test_what_was_not_looked_for_long_enough_is_never_said_not_to_happen() -> None:
    for found in exercises(den(), seconds=1e-6, deepest=1, games=0):
        assert found.status not in (EXERCISED, NEVER)


def test_two_rulebooks_are_not_the_same_for_lack_of_time() -> None:
    other = model_of(DEN.replace("place + 4", "place + 5"), "den")
    assert compare(den(), other, (), Clock.of(1e-6)).same is None
    assert compare(den(), other, (), Clock.of(30), deepest=0).same is not True


def test_the_page_lists_every_cap() -> None:
    page = PAGE.read_text(encoding="utf-8")
    for module, cap, *_ in CAPS:
        assert cap in page
        assert module.replace(".", "/") + ".py" in page
    named = set()
    for folder in ("proofs", "rules_dsl/smt"):
        for path in (PAGE.parents[1] / folder).glob("*.py"):
            found = re.findall(r"^([A-Z][A-Z_]*) = \(?\s*[0-9]", path.read_text("utf-8"), re.MULTILINE)
            named |= {(f"{folder}/{path.name}", cap) for cap in found}
    assert named
    for file, cap in named:
        assert file in page, file
        assert cap in page, (file, cap)
