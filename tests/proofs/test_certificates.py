"""Certificates: a second solver agrees with every proof, and notices when a certificate is not what it should be."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from proofs import certificates
from proofs.certificates import (
    CONTENTS,
    MissingSolver,
    check_folder,
    exit_code,
    main,
    summary,
    write_certificates,
)
from proofs.evidence import Evidence, Ranks, Twins
from proofs.lemmas import Lemma
from proofs.verdicts import Verdict
from rules_dsl.model import Variable
from rules_dsl.smt import Place
from rules_dsl.types import IntType
from tests.proofs.house import verdicts_of


@pytest.fixture(scope="module")
def verdicts() -> list[Verdict]:
    return verdicts_of()


@pytest.fixture
def folder(verdicts: list[Verdict], tmp_path: Path) -> Path:
    write_certificates(verdicts, tmp_path)
    return tmp_path


def rewrite(folder: Path, name: str, change: Callable[[str], str]) -> None:
    """Changes a file and its entry in the list of contents: only the solvers can notice."""
    path = folder / "countdown" / name
    new = change(path.read_text(encoding="utf-8"))
    assert new != path.read_text(encoding="utf-8")
    path.write_text(new, encoding="utf-8")
    contents = json.loads((folder / "countdown" / CONTENTS).read_text(encoding="utf-8"))
    contents["files"][name] = certificates._digest(new)
    (folder / "countdown" / CONTENTS).write_text(json.dumps(contents), encoding="utf-8")


def test_both_solvers_agree_on_every_obligation(folder: Path) -> None:
    checked = check_folder(folder, seconds=30)
    assert exit_code(checked) == 0
    assert all(dict(c.answers) == {"z3": "unsat", "cvc5": "unsat"} for c in checked)
    names = {c.file for c in checked}
    assert {"initiation.smt2", "consecution-take-0.smt2", "safety-somebody_must_take.smt2"} <= names


def test_the_report_says_of_each_property_whether_it_is_certified(folder: Path) -> None:
    lines = summary(folder, check_folder(folder, seconds=30))
    assert lines["countdown", "somebody_must_take"].startswith("certified: z3 and cvc5 agree on")
    assert (
        lines["countdown", "four_moves"]
        == "not certified: a game shows it, which the interpreter has replayed"
    )


def test_the_files_are_the_same_each_time(verdicts: list[Verdict], tmp_path: Path) -> None:
    for name in ("one", "two"):
        write_certificates(verdicts_of() if name == "two" else verdicts, tmp_path / name)
    one, two = ((tmp_path / name / "countdown" / CONTENTS).read_text() for name in ("one", "two"))
    assert json.loads(one)["files"] == json.loads(two)["files"]


def test_a_file_that_was_changed_is_noticed(folder: Path) -> None:
    path = folder / "countdown" / "initiation.smt2"
    path.write_text("(set-logic QF_BV)(assert false)(check-sat)", encoding="utf-8")
    checked = check_folder(folder, seconds=30)
    assert exit_code(checked) == 1
    assert [str(c) for c in checked if not c.stands] == [
        "countdown/initiation.smt2: file says changed since it was written"
    ]


def test_a_file_that_is_missing_is_noticed(folder: Path) -> None:
    (folder / "countdown" / "initiation.smt2").unlink()
    assert exit_code(check_folder(folder, seconds=30)) == 1


def test_a_lemma_taken_out_of_a_step_is_noticed_by_the_solvers(folder: Path) -> None:
    def without_the_claims(text: str) -> str:
        parts = text.split("\n; ")
        return "\n; ".join(p for p in parts if not p.startswith("claim "))

    rewrite(folder, "safety-somebody_must_take.smt2", without_the_claims)
    checked = [c for c in check_folder(folder, seconds=30) if not c.stands]
    assert [(c.file, dict(c.answers)) for c in checked] == [
        ("safety-somebody_must_take.smt2", {"z3": "sat", "cvc5": "sat"})
    ]


def test_two_solvers_that_disagree_are_a_failure(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(certificates, "ask_cvc5", lambda text, seconds: "sat")
    checked = check_folder(folder, seconds=30)
    assert exit_code(checked) == 1
    lines = summary(folder, checked)
    assert lines["countdown", "somebody_must_take"].startswith(
        "certificate FAILED: countdown/initiation.smt2"
    )
    assert "z3 says unsat, cvc5 says sat" in lines["countdown", "somebody_must_take"]


def test_a_solver_out_of_time_is_undecided_and_never_a_pass(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(certificates, "ask_cvc5", lambda text, seconds: "unknown")
    assert exit_code(check_folder(folder, seconds=30)) == 3


def test_a_claim_that_does_not_hold_cannot_be_certified(verdicts: list[Verdict], tmp_path: Path) -> None:
    real = next(v for v in verdicts if v.name == "somebody_must_take")
    assert real.evidence is not None
    hollow = Evidence(real.evidence.system, (), real.evidence.bad)
    write_certificates([replace(real, evidence=hollow)], tmp_path)
    assert exit_code(check_folder(tmp_path, seconds=30)) == 1


def test_a_proof_by_unrolling_is_certified_too(verdicts: list[Verdict], tmp_path: Path) -> None:
    real = next(v for v in verdicts if v.name == "somebody_must_take")
    assert real.evidence is not None
    for events, expected in ((6, 0), (5, 1)):  # games of six moves exist, so five are not all there is
        unrolled = Evidence(real.evidence.system, (), real.evidence.bad, events)
        place = tmp_path / str(events)
        write_certificates([replace(real, evidence=unrolled)], place)
        assert exit_code(check_folder(place, seconds=30)) == expected


def test_a_family_of_which_nothing_was_proved_has_nothing_to_check(
    verdicts: list[Verdict], tmp_path: Path
) -> None:
    shown = [v for v in verdicts if v.game is not None]
    write_certificates(shown, tmp_path)
    assert check_folder(tmp_path, seconds=30) == []
    assert len(summary(tmp_path, [])) == len(shown) > 0


def test_a_ranking_is_certified_and_a_wrong_one_is_not(verdicts: list[Verdict], tmp_path: Path) -> None:
    real = next(v for v in verdicts if v.name == "it_ends")
    proof = next(v for v in verdicts if v.name == "somebody_must_take").evidence
    assert proof is not None
    take, left = Place("take", 0), Variable("left_over", IntType(0, 6))
    for name, numbers, expected in (
        ("right", {(take, (k,)): k for k in range(1, 7)}, 0),
        ("flat", {(take, (k,)): 1 for k in range(1, 7)}, 1),
        ("with a gap", {(take, (k,)): k for k in range(1, 7) if k != 4}, 1),
    ):
        ranks = Ranks((Lemma("left_over", left),), numbers)
        evidence = Evidence(proof.system, proof.claims, False, ranks=ranks)
        write_certificates([replace(real, evidence=evidence)], tmp_path / name)
        assert exit_code(check_folder(tmp_path / name, seconds=30)) == expected


SECRET = """
game secret "Everybody writes a colour down; then they are counted" {
  players 2..3
  enum Colour { red, black }
  result Colour
  start write
  phase write { each p in Player chooses paper: Colour secret  next show_hands }
  phase show_hands { each p in Player chooses raised: Bool public  win red }
  invariant own_paper_known "everybody knows what he wrote himself":
    at(show_hands) implies all(p in Player | paper[p] == red implies knows(p, paper[p] == red)) expect proved
}
"""


def test_what_somebody_knows_is_certified_over_two_games(tmp_path: Path) -> None:
    (verdict,) = verdicts_of(SECRET, game="secret")
    assert verdict.as_expected
    write_certificates([verdict], tmp_path)
    checked = check_folder(tmp_path, seconds=30)
    assert exit_code(checked) == 0
    assert {"pair-initiation.smt2", "pair-consecution-write-0.smt2", "pair-safety-own_paper_known.smt2"} <= {
        c.file for c in checked
    }
    assert verdict.evidence is not None
    assert verdict.evidence.shared is not None
    verdict.evidence.shared.alive.clear()
    write_certificates([verdict], tmp_path / "hollow")
    assert exit_code(check_folder(tmp_path / "hollow", seconds=30)) == 1


HIDDEN = """
game hidden {
  players 3..4
  enum Colour { red, black }
  result Colour
  param deck: Colour -> 0..4 = map(c in Colour: if c == red then 1 else players - 1)
  setup error unless deck[red] >= 1 and deck[red] + deck[black] == players "one card each"
  public turns: 0..2 = 0
  start deal
  phase deal { chance deals card: Player -> Colour from deck own  next turn }
  phase turn {
    chance chooses shown: Player public
    publish colour = card[shown]
    turns := min(turns + 1, 2)
    if turns == 2 { win colour }
    next turn
  }
  invariant hidden_at_first "before the first turn nobody can place the red card":
    at(turn) and turns == 0 implies all(p in Player, q in Player | p != q and deck[red] == 1 and card[p] == black
      implies possible(p, card[q] == red)) expect proved
  silent tossing "whose turn it is tells nothing": turn to p in Player where deck[black] == 0 expect proved
  symmetric turning "turns show the same wherever people sit": turn expect proved
}
"""


def secrets() -> list[Verdict]:
    return [v for v in verdicts_of(HIDDEN, game="hidden") if v.evidence is not None]


def test_secrets_and_symmetries_are_certified(tmp_path: Path) -> None:
    found = secrets()
    assert {v.name: v.outcome for v in found} == dict.fromkeys(
        ("hidden_at_first", "tossing", "turning"), "proved"
    )
    write_certificates(found, tmp_path)
    checked = check_folder(tmp_path, seconds=30)
    assert all(dict(c.answers) == {"z3": "unsat", "cvc5": "unsat"} for c in checked)
    names = " ".join(c.file for c in checked)
    assert "twin-initiation" in names
    assert "twin-stages" in names
    assert "twin-step" in names
    assert "twin-deal" in names
    assert "safety-turning" in names


def test_a_twin_that_does_not_look_the_same_cannot_be_certified(tmp_path: Path) -> None:
    """The exchange is said to work later as well, when a card may have been shown."""
    verdict = next(v for v in secrets() if v.name == "hidden_at_first")
    assert verdict.evidence is not None
    assert verdict.evidence.twins is not None
    prover, (swap, *_) = verdict.evidence.twins.prover, verdict.evidence.twins.swaps
    longer = frozenset((place, marks) for place in prover.system.places for marks in ((True,), (False,)))
    wrong = Twins(prover, (replace(swap, stages=longer),))
    write_certificates([replace(verdict, evidence=replace(verdict.evidence, twins=wrong))], tmp_path)
    failed = [c for c in check_folder(tmp_path, seconds=30) if not c.stands]
    assert failed
    assert all(c.file.startswith("twin-step") and "turn" in c.file for c in failed)
    assert all(dict(c.answers) == {"z3": "sat", "cvc5": "sat"} for c in failed)


def test_without_the_second_solver_the_message_says_what_to_install(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def missing() -> None:
        raise MissingSolver("pip install 'avalon-logic[certify]'")

    monkeypatch.setattr(certificates, "require_cvc5", missing)
    assert main([str(folder)]) == 2
    assert "pip install 'avalon-logic[certify]'" in capsys.readouterr().err


def test_the_command_checks_a_folder_again(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(folder), "--json"]) == 0
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert all(line["stands"] and line["cvc5"] == "unsat" for line in lines)
    assert main([str(folder / "nowhere")]) == 2


def contents_of(folder: Path, change: Callable[[dict[str, Any]], object]) -> None:
    """Changes the list of contents."""
    path = folder / "countdown" / CONTENTS
    contents = json.loads(path.read_text(encoding="utf-8"))
    change(contents)
    path.write_text(json.dumps(contents), encoding="utf-8")


@pytest.mark.parametrize(
    "left_out",
    [
        "initiation",
        "consecution-take-0",
        "safety-somebody_must_take",
        "rank-it_ends-take-0",
        "safety-it_ends",
        "safety-never_stuck",
    ],
)
def test_a_certificate_that_lacks_an_obligation_is_refused(folder: Path, left_out: str) -> None:
    """The file is taken out of every list, so that all that is listed stands."""

    def forget(contents: dict[str, Any]) -> None:
        del contents["files"][f"{left_out}.smt2"]
        for entry in contents["properties"].values():
            entry["files"] = [f for f in entry["files"] if f != f"{left_out}.smt2"]

    contents_of(folder, forget)
    checked = check_folder(folder, seconds=30)
    assert exit_code(checked) == 1
    assert all("does not cover" in c.problem for c in checked if not c.stands)
    assert any(
        line.startswith("certificate FAILED: no file covers") for line in summary(folder, checked).values()
    )


def test_a_property_whose_files_are_not_listed_is_refused(folder: Path) -> None:
    contents_of(folder, lambda c: c["files"].clear())
    assert exit_code(check_folder(folder, seconds=30)) == 1
    assert main([str(folder)]) == 1


def test_a_property_said_to_be_proved_without_any_proof_is_refused(folder: Path) -> None:
    contents_of(folder, lambda c: c["properties"]["somebody_must_take"].update(method="", files=[], note=""))
    assert exit_code(check_folder(folder, seconds=30)) == 1


@pytest.mark.parametrize(
    "text", ["", "[]", '{"family": "countdown", "files": {}, "properties": {}, "places": []}']
)
def test_a_list_of_contents_that_says_nothing_is_refused(folder: Path, text: str) -> None:
    (folder / "countdown" / CONTENTS).write_text(text, encoding="utf-8")
    assert exit_code(check_folder(folder, seconds=30)) == 1
    assert main([str(folder)]) == 1


def test_two_obligations_of_one_name_are_not_written_as_one(
    verdicts: list[Verdict], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(certificates, "slug", lambda name: "same")
    with pytest.raises(ValueError, match="two different obligations"):
        write_certificates(verdicts, tmp_path)


def test_a_solver_that_got_little_of_a_busy_machine_is_asked_again() -> None:
    asked: list[float] = []

    def starved(_text: str, seconds: float) -> str:
        asked.append(seconds)
        return "unsat" if seconds > 100 else "unknown"

    assert certificates._patiently(starved, "", 20) == "unsat"
    assert asked == [20, 60, 180]
    asked.clear()
    assert certificates._patiently(starved, "", 5) == "unknown"
    assert asked[-1] == 50
