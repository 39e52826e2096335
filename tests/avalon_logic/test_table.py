"""The helper at the table: lines in, possibilities out; nothing illegal is taken and nothing taken is lost."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from avalon_logic.cli import main
from avalon_logic.deduction import deduce
from avalon_logic.table import Game, NotTaken, enter, reopened, text_of, what_comes_next
from avalon_logic.table.completion import completions

START = ["players Ann Bob Cid Dan Eve", "first_leader Ann", "propose Ann Bob", "vote + + + - -"]


def typed(lines: list[str]) -> Game:
    game = Game()
    for line in lines:
        game = enter(game, line)
    return game


def talk(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], lines: list[str], *words: str
) -> tuple[int, str]:
    """What is said back, and the exit code."""
    monkeypatch.setattr("sys.stdin", io.StringIO("\n".join(lines) + "\n"))
    code = main(["table", *words])
    return code, capsys.readouterr().out


def test_the_possibilities_stand_after_every_line() -> None:
    game = typed([*START, "tally 2"])
    assert game.result is not None and game.result.count == 6
    assert [str(c) for c in game.result.certain][:2] == ["Ann is evil", "Bob is evil"]
    assert what_comes_next(game) == "propose by Bob"


@pytest.mark.parametrize(
    ("line", "clause", "legal"),
    [
        ("propose Ann Bob Cid", "CORE-15", "may choose for approve"),
        ("tally 1", "CORE-15", "may choose for approve"),
        ("vote + +", "2 votes for 5 players", ""),
        ("propose Ann Zed", "nobody is called 'Zed'", ""),
        ("propsoe Ann Bob", "no event of this game", ""),
        ("naming Ann by Bob", "CORE-31", ""),
        ("says Ann Bob grey", "not one of: good, evil", ""),
        ("roles merlin percival assassin", "ROLE-10", ""),
        ("with dragons", "dragons", ""),
        ("ruling fifth_team = sing", "fifth_team", ""),
    ],
)
def test_a_line_the_rules_do_not_allow_is_refused_and_nothing_changes(
    line: str, clause: str, legal: str
) -> None:
    game = typed(START[:3])
    before = text_of(game)
    with pytest.raises(NotTaken) as refused:
        enter(game, line)
    assert clause in refused.value.message
    assert legal in refused.value.legal
    assert text_of(game) == before


def test_a_number_of_fails_no_deal_allows_is_refused_with_those_that_are_possible() -> None:
    with pytest.raises(NotTaken, match="CORE-23") as refused:
        enter(typed(START), "tally 3")
    assert refused.value.legal == "tally 0 or 1 or 2"


def test_a_wrong_team_is_refused_with_teams_that_are_legal() -> None:
    with pytest.raises(NotTaken, match="CORE-11") as refused:
        enter(typed(START[:2]), "propose Ann Bob Cid")
    assert refused.value.legal.startswith("Ann may choose for team: Ann Bob; Ann Cid")


def test_what_is_kept_is_a_record_that_gives_the_same_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "friday.txt"
    code, _ = talk(
        monkeypatch, capsys, [*START, "tally 1", "as Ann servant", "assume evil_always_fails"], str(path)
    )
    assert code == 0
    assert deduce(path).count == 42
    again = reopened(path.read_text())[-1]
    assert again.viewpoint.seat == "Ann" and again.viewpoint.assume == ("evil_always_fails",)
    assert again.result is not None
    assert again.result.count == deduce(path, "Ann", role="servant", assume=["evil_always_fails"]).count
    code, out = talk(monkeypatch, capsys, ["undo", "tally 0", "propose Ann Cid Dan"], str(path))
    assert code == 0 and f"{path}: 5 lines" in out
    assert path.read_text().splitlines()[4:6] == ["tally 0", "propose Ann Cid Dan"]
    assert path.read_text().endswith("#: as Ann servant\n#: assume evil_always_fails\n")


def test_a_game_is_resumed_through_the_eyes_it_was_left_with(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "game.txt"
    lines = [START[0], "roles merlin percival assassin morgana", *START[1:], "as Cid percival saw Ann Bob"]
    assert talk(monkeypatch, capsys, lines, str(path))[0] == 0
    code, out = talk(monkeypatch, capsys, ["tally 1", "undo"], str(path))
    assert code == 0 and out.count("Cid (percival): 4 of 120 deals are possible") == 3
    code, out = talk(
        monkeypatch, capsys, [], str(path), "--as", "Ann", "--role", "merlin", "--saw", "Bob", "Dan"
    )
    assert code == 0 and "Ann (merlin): 4 of 120" in out
    assert talk(monkeypatch, capsys, [], str(path), "--role", "merlin")[0] == 2
    assert talk(monkeypatch, capsys, [], str(path), "--as", "Zed", "--role", "merlin")[0] == 2


def test_remarks_in_a_file_stay_where_they_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "game.txt"
    lines = ["# our game on Friday", *START[:2], "", "propose Ann Bob  # Dan protests", START[3]]
    path.write_text("\n".join(lines) + "\n")
    assert talk(monkeypatch, capsys, ["tally 1", "undo", "tally 0"], str(path))[0] == 0
    assert path.read_text().splitlines() == [*lines, "tally 0"]
    assert deduce(path).count == 60


def test_a_json_record_is_not_overwritten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "game.json"
    path.write_text('{"players": ["Ann", "Bob", "Cid", "Dan", "Eve"]}')
    assert talk(monkeypatch, capsys, ["first_leader Ann"], str(path))[0] == 2
    assert path.read_text().startswith("{")


def test_undo_and_redo_go_back_and_forth_and_the_file_follows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "game.txt"
    code, out = talk(
        monkeypatch, capsys, [*START, "tally 2", "undo", "undo", "redo", "tally 1", "log"], str(path)
    )
    assert code == 0
    assert path.read_text().splitlines() == [*START, "tally 1"]
    assert out.count("Neutral observer: 42 of 60") == 1
    code, out = talk(monkeypatch, capsys, ["redo"], str(path))
    assert code == 1 and "nothing to take again" in out


def test_every_line_is_on_disk_before_the_next_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "game.txt"

    def lines() -> Iterator[str]:
        for number, line in enumerate(START):
            yield line + "\n"
            assert len(path.read_text().splitlines()) == number + 1
        raise KeyboardInterrupt

    class Stdin:
        def __init__(self) -> None:
            self.lines = lines()

        def isatty(self) -> bool:
            return False

        def readline(self, most: int = -1) -> str:
            return next(self.lines)

    monkeypatch.setattr("sys.stdin", Stdin())
    assert main(["table", str(path)]) == 3
    assert path.read_text().splitlines() == START
    assert [p.name for p in tmp_path.iterdir()] == ["game.txt"]


def test_questions_are_answered_and_change_nothing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = [*START, "tally 1", "if Ann is good", "why Bob is evil", "as Ann servant", "why Bob is evil"]
    code, out = talk(
        monkeypatch, capsys, [*lines, "advice", "list 2", "assumptions", "help", "log", "quit", "tally 9"]
    )
    assert code == 0
    assert "Neutral observer, if Ann is good: 18 of 60 deals are possible" in out
    assert "Bob is evil: not certain" in out
    assert "2. quest 1 with Ann, Bob: 1 fail (line 5)" in out and "CORE-22" in out
    assert "Teams for quest 2, as Ann can know" in out
    assert "... 10 more" in out
    assert "evil_always_fails: every evil player on a team plays fail" in out
    assert "#: as Ann servant" in out
    assert "tally 9" not in out


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("if Zed is good", "nobody is called 'Zed'"),
        ("if Ann", "'Ann' is no fact"),
        ("why", "write a fact"),
        ("as Zed servant", "nobody is called 'Zed'"),
        ("as Ann dragon", "there is no role 'dragon'"),
        ("as Ann", "which card does Ann hold"),
        ("assume evil_always_sings", "there is no assumption 'evil_always_sings'"),
        ("list many", "write: list"),
        ("save", "save where?"),
        ("save /nowhere/at/all.txt", "there is no folder"),
    ],
)
def test_a_question_nobody_can_answer_is_refused(
    line: str, said: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out = talk(monkeypatch, capsys, [*START, line, "log"])
    assert code == 1
    assert f"not taken: {said}" in out
    assert out.rstrip().endswith("\n".join(START))


def test_an_assumption_that_leaves_no_deal_is_shown_not_hidden(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = [*START, "tally 1", "assume evil_hides_first", "why", "assume nothing"]
    code, out = talk(monkeypatch, capsys, lines)
    assert code == 0
    assert "no deal is possible" in out
    assert "no evil player fails the first quest" in out
    assert out.count("42 of 60") == 2


def test_a_file_that_is_no_legal_game_is_refused_and_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "bad.txt"
    path.write_text("players Ann Bob Cid Dan Eve\npropose Ann\n")
    monkeypatch.setattr("sys.stdin", io.StringIO("first_leader Ann\n"))
    assert main(["table", str(path)]) == 2
    assert "line 2" in capsys.readouterr().err
    assert path.read_text() == "players Ann Bob Cid Dan Eve\npropose Ann\n"


def test_what_is_no_text_is_refused_before_it_is_echoed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for odd in ("\udcff\udc81 x", "a\0b"):
        code, out = talk(monkeypatch, capsys, [START[0], odd, START[1]])
        assert code == 2
        assert odd not in out and START[1] not in out


def test_why_at_the_table_is_an_argument_and_an_impossible_if_blames_no_rule(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ["tally 1", "as Ann servant", "why Bob is evil", "if Ann is evil"]
    code, out = talk(monkeypatch, capsys, [*START, *asked])
    assert code == 0
    assert "Suppose Bob were good (6 evil groups are possible):" in out
    assert "if Ann is evil: no deal is possible" in out
    assert "by the rules alone it is possible" not in out


def test_an_existing_file_is_never_overwritten_by_save(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    other = tmp_path / "other.txt"
    other.write_text("precious")
    code, out = talk(
        monkeypatch, capsys, [*START, f"save {other}", f"save {tmp_path / 'new.txt'}", "tally 1"]
    )
    assert code == 1 and "exists already" in out
    assert other.read_text() == "precious"
    assert (tmp_path / "new.txt").read_text().splitlines() == [*START, "tally 1"]


def test_tab_offers_events_names_cards_and_facts() -> None:
    game = typed(START)
    commands = ["undo", "why", "if", "as", "assume"]
    assert "tally" in completions(game, "", commands)
    assert completions(game, "pro", commands) == ["propose"]
    assert completions(game, "propose Ann ", commands) == ["Bob", "Cid", "Dan", "Eve", "by"]
    assert completions(game, "propose Ann B", commands) == ["Bob"]
    assert completions(game, "why D", commands) == ["Dan"]
    assert completions(game, "why Dan ", commands) == ["is"]
    assert "merlin" in completions(game, "why Dan is not ", commands)
    assert completions(game, "assume evil_always", commands) == ["evil_always_fails"]
    assert completions(game, "says Ann Bob ", commands) == ["evil", "good"]
    assert completions(game, "as Ann merlin saw B", commands) == ["Bob"]
    assert "Ann=success" in completions(game, "cards ", commands)
    assert completions(Game(), "pl", commands) == ["players"]


def test_lines_typed_at_a_terminal_are_taken_and_a_dropped_line_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from prompt_toolkit.application import create_app_session
    from prompt_toolkit.input import create_pipe_input
    from prompt_toolkit.output import DummyOutput

    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    path = tmp_path / "game.txt"
    with create_pipe_input() as keys, create_app_session(input=keys, output=DummyOutput()):
        keys.send_text("players Ann Bob Cid Dan Eve\rfirst_leader Dan\rnonsense\x03propose Dan Eve\r\x04")
        assert main(["table", str(path)]) == 0
    assert path.read_text().splitlines() == [START[0], "first_leader Dan", "propose Dan Eve"]


def test_a_game_with_modules_is_typed_to_its_end() -> None:
    game = typed(
        [
            "with lady",
            "players Ann Bob Cid Dan Eve Fay Gus",
            "first_leader Ann",
            "propose Ann Bob",
            "vote ?",
            "tally 0",
            "propose Ann Bob Cid",
            "vote ?",
            "tally 0",
            "lady Ann by Gus",
            "propose Ann Bob Cid",
            "vote ?",
            "tally 0",
        ]
    )
    assert what_comes_next(game) == "naming"
    over = enter(game, "naming Bob by Eve")
    assert over.result is not None and over.result.player("Eve").roles == {"assassin": 1}
    assert json.loads(json.dumps(over.result.to_json()))["worlds"] == over.result.count
