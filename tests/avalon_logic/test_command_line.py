"""The commands as a user meets them: good input, bad input, exit codes, and where messages go."""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path

import pytest

from avalon_logic.cli import COMMANDS, build_parser, main
from avalon_logic.cli.demo import STEPS

EXAMPLES = Path(str(files("avalon_logic"))) / "examples"


def run(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    try:
        code = main(words)
    except SystemExit as ended:
        code = int(ended.code or 0)
    out = capsys.readouterr()
    return code, out.out, out.err


def test_help_lists_every_command_with_an_example(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 0
    text = capsys.readouterr().out
    assert all(name in text for name in COMMANDS)
    for name in COMMANDS:
        code, out, _ = run(capsys, name, "--help")
        assert code == 0
        assert name == "demo" or f"avalon {name}" in out.split("examples:")[1]


def test_the_parser_builds_with_all_commands_at_once() -> None:
    assert build_parser().parse_args(["rulings"]).command == "rulings"


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "--version")
    assert (code, out.split()[0]) == (0, "avalon-logic")


def test_shipped_rulebooks_are_sound_in_every_composition(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "check", "--json")
    checked = json.loads(out)
    assert code == 0
    assert checked["problems"] == []
    assert any("lady" in c and "targeting" in c for c in checked["checked"])


def test_a_refused_table_names_its_clause_and_exits_1(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "check", "-n", "5", "--roles", "merlin", "percival", "assassin")
    assert code == 1
    assert "ROLE-10" in out


def test_a_bad_rulebook_is_shown_with_line_and_caret_and_exits_2(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    bad = tmp_path / "bad.rules"
    bad.write_text("game small {\n  players 2..3\n  public score: 5..1\n}\n")
    code, out, _ = run(capsys, "check", str(bad))
    assert code == 2
    assert f"{bad}:3:" in out
    assert "^" in out


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("module foo for avlon { public x: Nonsense }", "there is no game 'avlon'"),
        ("module foo for avalon excludes ladi { }", "there is no module 'ladi'"),
        ("abstract game bare { players 2..3 public x: Nonsense }", "nothing in it was checked"),
        (
            "abstract game bare { players 2..3 } module foo for bare { public x: Nonsense }",
            "module 'foo': nothing",
        ),
    ],
)
def test_a_rulebook_that_nobody_can_look_into_is_not_called_sound(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, text: str, message: str
) -> None:
    file = tmp_path / "mine.rules"
    file.write_text(text)
    code, out, _ = run(capsys, "check", str(file))
    assert code == 2
    assert message in out
    assert "are sound" not in out


def test_any_two_modules_that_go_together_are_checked_together(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file = tmp_path / "mine.rules"
    change = "extend tally { leader := left(leader) }"
    file.write_text(
        "module aa for resistance excludes cc { } "
        f"module bb for resistance excludes aa {{ {change} }} module cc for resistance {{ {change} }}"
    )
    code, out, _ = run(capsys, "check", str(file))
    assert code == 2
    assert "'bb' and 'cc' both change 'leader'" in out


def test_a_file_of_very_many_modules_is_refused_at_once(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file = tmp_path / "mine.rules"
    file.write_text("".join(f"module m{i} for core {{ }}\n" for i in range(1200)))
    code, out, _ = run(capsys, "check", str(file))
    assert code == 2
    assert "modules in all are too many" in out


def test_an_unknown_game_or_file_is_an_error_on_stderr(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    for words in (
        ["check", "--game", "chess"],
        ["replay", str(tmp_path / "none.txt")],
        ["rulings", "--game", "x"],
    ):
        code, out, err = run(capsys, *words)
        assert (code, out) == (2, "")
        assert err.startswith("avalon: ")


def test_rulings_mark_the_one_in_force(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "rulings", "--ruling", "fifth_team=no_vote", "--json")
    assert code == 0
    ruling = json.loads(out)["fifth_team"]
    assert (ruling["default"], ruling["in_force"]) == ("vote", "no_vote")
    assert ruling["cites"] == ["AMB-08"]
    code, _, err = run(capsys, "rulings", "--ruling", "fifth_team=perhaps")
    assert code == 2
    assert "one of: vote, no_vote" in err


def test_the_bundled_legal_game_replays(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "replay", str(EXAMPLES / "five_players.txt"))
    assert code == 0
    assert "winner: good" in out


def test_the_bundled_mistake_is_found_with_clause_and_alternative(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "replay", str(EXAMPLES / "house_rule.txt"))
    assert code == 1
    assert "line 9 breaks CORE-11" in out
    assert "legal: Thomas may choose" in out


def test_a_record_on_stdin_and_as_json(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    import io

    monkeypatch.setattr("sys.stdin", io.StringIO((EXAMPLES / "five_players.txt").read_text(encoding="utf-8")))
    code, out, _ = run(capsys, "replay", "-", "--json")
    verdict = json.loads(out)
    assert code == 0
    assert (verdict["legal"], verdict["winner"], verdict["winner_differs"]) == (True, "good", False)


def test_a_truncated_record_says_where(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    broken = tmp_path / "broken.json"
    broken.write_text('{"players": ["Ann", "Bob"],\n "events": [')
    code, _, err = run(capsys, "replay", str(broken))
    assert code == 2
    assert f"{broken}:2:" in err


def test_a_file_of_games_is_summarised(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    names = [f"p{i}" for i in range(1, 6)]
    roles = dict(zip(names, ["merlin", "servant", "servant", "assassin", "minion"], strict=True))

    def quest(n: int, leader: str, team: list[str], fails: int) -> list[dict[str, object]]:
        votes = dict.fromkeys(names, True)
        proposed = {
            "t": "propose",
            "quest": n,
            "leader": leader,
            "team": team,
            "votes": votes,
            "approved": True,
        }
        return [proposed, {"t": "quest", "quest": n, "team": team, "fails": fails}]

    lost = [
        *quest(1, "p1", ["p4", "p5"], 1),
        *quest(2, "p2", ["p1", "p4", "p5"], 1),
        *quest(3, "p3", ["p4", "p5"], 2),
    ]
    impossible = quest(1, "p1", ["p1", "p2"], 1)
    games = [
        {"id": "a", "players": names, "roles": roles, "events": lost, "winner": "evil"},
        {"id": "b", "players": names, "roles": roles, "events": lost, "winner": "good"},
        {"id": "c", "players": names, "roles": roles, "events": impossible, "winner": "evil"},
    ]
    log = tmp_path / "games.jsonl"
    log.write_text("".join(json.dumps(g) + "\n" for g in games))
    code, out, _ = run(capsys, "replay", str(log), "--json")
    a, b, c = (json.loads(line) for line in out.splitlines())
    assert code == 1
    assert (a["legal"], a["winner_differs"]) == (True, False)
    assert (b["legal"], b["winner_differs"]) == (True, True)
    assert [f["clause"] for f in c["findings"]] == ["CORE-22"]
    code, out, _ = run(capsys, "replay", str(log))
    assert "CORE-22: 1 (c)" in out
    assert "winners that differ: 1" in out


def test_simulation_repeats_with_the_same_seed(capsys: pytest.CaptureFixture[str]) -> None:
    first = run(capsys, "simulate", "--games", "3000", "--seed", "5", "--json")
    second = run(capsys, "simulate", "--games", "3000", "--seed", "5", "--json")
    assert first == second
    counts = json.loads(first[1])["results"]
    assert sum(counts.values()) == 3000
    # exact value under random play is 0.3326; five standard errors either side
    assert abs(counts["good"] / 3000 - 0.3326) < 5 * (0.3326 * 0.6674 / 3000) ** 0.5


def test_simulating_a_refused_table_is_bad_input(capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = run(capsys, "simulate", "-n", "5", "--roles", "merlin", "percival", "assassin")
    assert code == 2
    assert "ROLE-10" in err
    assert run(capsys, "simulate", "--games", "0")[0] == 2


def test_demo_runs_every_step(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, "demo")
    assert (code, err) == (0, "")
    assert out.count("$ avalon") == len(STEPS)


def test_positions_are_compared_with_what_they_expect(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    roles = ["Assassin", "Minion"], ["Merlin", "Servant"]
    position = {
        "id": "two fails from two",
        "players": 5,
        "deck": {"Merlin": 1, "Servant": 2, "Assassin": 1, "Minion": 1},
        "viewer": None,
        "options": {},
        "observations": [{"type": "quest", "quest": 1, "team": [1, 2], "fails": 2}],
        "expect": {
            "worlds": 6,
            "as_of": 1,
            "certain": {"evil": [1, 2], "good": [3, 4, 5], "roles": {}},
            "possible": {str(seat): roles[seat > 2] for seat in range(1, 6)},
        },
    }
    right, wrong, broken = tmp_path / "right.json", tmp_path / "wrong.json", tmp_path / "broken.json"
    right.write_text(json.dumps([position]))
    wrong.write_text(json.dumps([{**position, "expect": {**position["expect"], "worlds": 7}}]))  # type: ignore[dict-item]
    broken.write_text("[{")
    assert run(capsys, "deduce", "--expect", str(right))[0] == 0
    code, out, _ = run(capsys, "deduce", "--expect", str(wrong))
    assert code == 1
    assert "worlds" in out
    assert run(capsys, "deduce", "--expect", str(broken))[0] == 2
