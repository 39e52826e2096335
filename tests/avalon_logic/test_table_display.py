"""What the table prints: the column of evil is never cut, the status line comes from the rulebook, nothing twice."""

from __future__ import annotations

import io
import re
from pathlib import Path

import pytest

from avalon_logic.cli import main
from avalon_logic.table import Game, enter
from avalon_logic.table.possibilities import possibilities
from avalon_logic.table.status import status

TEN = "players Ann Bob Cid Dan Eve Fay Gus Hal Ida Maximilian-Alexander"
DECK = "roles merlin percival assassin morgana mordred oberon"
FIVE = ["players Ann Bob Cid Dan Eve", "first_leader Ann", "propose Ann Bob", "vote + + + - -"]


def typed(lines: list[str]) -> Game:
    game = Game()
    for line in lines:
        game = enter(game, line)
    return game


def printed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], lines: list[str], columns: int = 80
) -> str:
    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.setattr("sys.stdin", io.StringIO("\n".join(lines) + "\n"))
    main(["table"])
    return capsys.readouterr().out


@pytest.mark.parametrize("columns", [20, 24, 30, 40, 60, 80, 120])
@pytest.mark.parametrize("lines", [[DECK, TEN], ["players Ann Bob Cid Dan Eve"]])
def test_the_column_of_evil_is_never_cut(
    columns: int, lines: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    out = printed(monkeypatch, capsys, lines, columns).splitlines()
    (head,) = (line for line in out if line.startswith("player "))
    rows = out[out.index(head) + 1 :][: 10 if DECK in lines else 5]
    assert head.split()[1] == "evil"
    assert all(re.match(r"\S+ +40%", row) for row in rows)
    assert all(len(line) <= columns for line in (head, *rows))
    assert len({len(re.match(r"\S+ +\S+", row).group()) for row in (head, *rows)}) == 1  # type: ignore[union-attr]


def test_roles_lose_their_columns_before_anything_is_cut_and_are_named() -> None:
    result = typed([DECK, TEN]).result
    assert result is not None
    roles = set(result.setting.roles) - {"minion"}  # not in this deck
    for columns in range(16, 121):
        table = possibilities(result, columns)
        shown = len(table.heads) - 2
        assert shown + len(table.dropped) == len(roles)
        assert all(len(row) == len(table.heads) for row in table.rows)
        assert table.rows[-1][1] == "40%"
        if columns >= 80:
            assert not table.dropped
    assert possibilities(result, 120).heads[2:] == tuple(r for r in result.setting.roles if r in roles)
    assert possibilities(result, 70).heads[2:5] == ("merli", "serva", "assas")
    assert possibilities(result, 60).dropped[0] == "servant"  # of which there are most


def test_names_too_long_for_their_column_stay_apart() -> None:
    result = typed(["players Maximilian-Alexander Maximilian-Albert Cid Dan Eve"]).result
    assert result is not None
    names = [row[0] for row in possibilities(result, 40).rows]
    assert len(set(names)) == 5 and max(map(len, names)) <= 14


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (FIVE[:1], "quest 1 | rejected 0 of 5 | score 0 won, 0 lost"),
        (FIVE[:2], "quest 1 | team of 2 | rejected 0 of 5 | score 0 won, 0 lost | leader Ann"),
        (FIVE[:3], "quest 1 | team Ann Bob | rejected 0 of 5 | score 0 won, 0 lost | leader Ann"),
        (
            [*FIVE[:3], "vote -----"],
            "quest 1 | team of 2 | rejected 1 of 5 | score 0 won, 0 lost | leader Bob",
        ),
        ([*FIVE, "tally 1"], "quest 2 | team of 3 | rejected 0 of 5 | score 0 won, 1 lost | leader Bob"),
        ([*FIVE[:3], "vote ?"], "quest 1 | score 0 won, 0 lost"),
        (
            ["with lady", FIVE[0], "first_leader Ann"],
            "quest 1 | team of 2 | rejected 0 of 5 | score 0 won, 0 lost | leader Ann | Lady Eve",
        ),
        (["with targeting", *FIVE[:2]], "rejected 0 of 5 | score 0 won, 0 lost | leader Ann"),
        (
            ["with targeting", *FIVE[:2], "propose 2 Ann Bob Cid"],
            "quest 2 | team Ann Bob Cid | rejected 0 of 5 | score 0 won, 0 lost | leader Ann",
        ),
        (
            [FIVE[0], "first_leader ?", "propose Ann Bob"],
            "quest 1 | team Ann Bob | rejected 0 of 5 | score 0 won, 0 lost",
        ),
    ],
)
def test_the_status_line_says_where_the_game_stands(lines: list[str], said: str) -> None:
    assert status(typed(lines)) == said


def rejected_five_times() -> list[str]:
    lines = FIVE[:2]
    for _ in range(5):
        lines = [*lines, "propose Ann Bob", "vote -----"]
    return lines


def test_the_status_line_of_a_finished_game_says_who_won_if_that_is_known() -> None:
    assert status(typed(rejected_five_times())) == "over: evil won | score 0 won, 0 lost"
    won = FIVE[:2]
    for team in ("Ann Bob", "Ann Bob Cid", "Ann Bob"):
        won = [*won, f"propose {team}", "vote +++++", "tally 0"]
    assert status(typed(won)) == "score 3 won, 0 lost"
    named = [*won, "naming Ann by Eve"]
    assert status(typed(named)) == "over; who won? (winner good or evil) | score 3 won, 0 lost"
    assert status(typed([*named, "winner good"])).startswith("over: good won")


def test_a_game_of_ones_own_is_told_by_its_public_variables(tmp_path: Path) -> None:
    book = tmp_path / "foxes.rules"
    book.write_text(FOXES)
    game = Game(paths=(book,))
    for line in ("game foxes", "players Ann Bob Cid", "ask +-+"):
        game = enter(game, line)
    assert status(game) == "turn 2"


FOXES = """
game foxes {
  players 2..3
  enum Side { good, evil }
  enum Role (side: Side) { hen(good) fox(evil) }
  result Side
  def side(p: Player) = role[p].side
  public turn: 1..3 = 1
  start deal
  phase deal {
    chance deals role: Player -> Role from map(r in Role: if r == fox then 1 else players - 1) own
    next ask
  }
  phase ask {
    each p in Player chooses guess: Bool public
    turn := min(turn + 1, 3)
    if turn == 3 { win good }
    next ask
  }
}
"""


def test_the_table_is_printed_again_only_when_it_changed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    tables = lambda lines: printed(monkeypatch, capsys, lines).count("player ")  # noqa: E731
    assert tables(FIVE[:1]) == 1
    assert tables(FIVE) == 1
    assert tables([*FIVE, "tally 0"]) == 1
    assert tables([*FIVE, "tally 1"]) == 2
    assert tables([*FIVE, "tally 1", "propose Bob Cid Dan", "undo"]) == 2
    assert tables([*FIVE, "tally 1", "undo"]) == 3
    assert tables([*FIVE, "table"]) == 2
    assert tables([*FIVE, "tally 1", "as Cid servant", "as nobody"]) == 4
    assert tables([*FIVE, "tally 1", "if Ann is good", "propose Bob Cid Dan"]) == 3


def test_none_ruled_out_is_said_of_this_line_and_of_lines_that_could(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = [*FIVE, "tally 1", "as Cid servant", "table", "title Friday", "propose Bob Cid Dan"]
    out = printed(monkeypatch, capsys, lines)
    said = [line.partition("possible")[2] for line in out.splitlines() if "are possible" in line]
    none = "; none ruled out by this line"
    assert said == ["", none, none, none, "; 18 ruled out by this line", "", "", "", none]
