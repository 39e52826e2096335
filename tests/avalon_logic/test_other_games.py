"""Every command on games that are not of the Resistance family: an answer, or a sentence and exit code 2; never a
traceback. The games are those of docs/language.md and small ones that lack what the commands look for."""

from __future__ import annotations

import io
import re
from dataclasses import dataclass
from pathlib import Path

import pytest

from avalon_logic.cli import main
from avalon_logic.simulation import ENGINES

PAGE = Path(__file__).parents[2] / "docs" / "language.md"
HEN_HOUSES = [
    text
    for text in re.findall(
        r"^```rules\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL
    )
    if "game henhouse" in text
]

NO_SIDE = """
game crown "The Crown" {
  players 3..4
  enum Role { king, pawn }
  result Player
  param deck: Role -> 0..4 = map(r in Role: if r == king then 1 else players - 1)
  start deal
  phase deal { chance deals role: Player -> Role from deck own  next claim }
  phase claim { one p in Player chooses heir: Player public  win heir }
}
"""
NO_CARDS = """
game dice "Dice" {
  players 2..4
  enum Side { us, them }
  result Side
  public total: 0..20 = 0
  start throw
  phase throw {
    chance chooses die: 1..6 public
    total := min(total + die, 20)
    if total >= 20 { win us }
    next go_on
  }
  phase go_on {
    each p in Player chooses stop: Bool public
    if count(p in Player | stop[p]) == players { win them }
    next throw
  }
}
"""
SHAPED_ODDLY = """
game odd "Odd" {
  players 2..4
  enum Role { a, b }
  enum Side { us, them }
  result Side
  def side = us
  def quest(p: Player) = p
  start pick
  phase pick { each p in Player chooses role: Role own  win side }
}
"""
NOTHING_ALLOWED = """
game walled "Walled in" {
  players 2..3
  enum Side { us, them }
  result Side
  start pick
  phase pick {
    each p in Player chooses number: 1..3 public
      require number > 3 "the number is too small"
    win us
  }
}
"""
NOBODY_LEFT = """
game leaving "Everybody leaves" {
  players 2..3
  enum Side { us, them }
  result Side
  public gone: Set<Player> = {}
  start leave
  phase leave {
    one p in Player where not p in gone chooses number: 1..3 public
    gone := gone union { number_by }
    next leave
  }
}
"""
ENDLESS = """
game endless "Endless" {
  players 2..3
  enum Side { us, them }
  result Side
  start pick
  phase pick { each p in Player chooses number: 1..3 public  next pick }
}
"""
TOO_FEW_CARDS = """
game short "Too few cards" {
  players 3..4
  enum Role { king, pawn }
  enum Side { us, them }
  result Side
  public copies: 0..4 = 1
  start deal
  phase deal { chance deals role: Player -> Role from map(r in Role: copies) own  win us }
}
"""


@dataclass(frozen=True)
class Small:
    """A small game: its rulebook, its name, players that fit it."""

    text: str
    game: str
    players: int = 4


GAMES = {
    **{f"henhouse{i}": Small(text, "henhouse") for i, text in enumerate(HEN_HOUSES)},
    "crown": Small(NO_SIDE, "crown", 3),
    "dice": Small(NO_CARDS, "dice", 2),
    "odd": Small(SHAPED_ODDLY, "odd", 2),
    "walled": Small(NOTHING_ALLOWED, "walled", 2),
    "leaving": Small(NOBODY_LEFT, "leaving", 3),
    "short": Small(TOO_FEW_CARDS, "short", 3),
}
OF_A_TABLE: list[list[str]] = [
    ["check"],
    ["check", "--roles", "fox", "hen"],
    ["check", "--roles", "fox", "hen", "hen", "hen"],
    ["check", "--roles", "a", "b"],
    ["rulings"],
    ["rulings", "--json"],
    ["simulate", "--games", "20"],
    ["simulate", "--games", "20", "--engine", "arrays"],
    ["simulate", "--games", "20", "--json", "--roles", "fox", "hen"],
    ["tables"],
    ["tables", "--card", "--lang", "fr"],
    ["tables", "--json"],
    ["tables", "--only", "REF-13"],
    ["reveal"],
    ["reveal", "--json"],
]
OF_A_RECORD: list[list[str]] = [
    ["replay"],
    ["replay", "--json"],
    ["deduce"],
    ["deduce", "--json"],
    ["deduce", "--list"],
    ["deduce", "--as", "Ann"],
    ["deduce", "--as", "Ann", "--role", "hen", "--saw", "Bob"],
    ["deduce", "--why", "Ann is fox"],
    ["deduce", "--why", "Ann is evil"],
    ["advise"],
    ["advise", "--as", "Ann", "--role", "fox"],
    ["advise", "--for", "assassin", "--json"],
    ["table"],
]


def _written(folder: Path, small: Small) -> tuple[str, str]:
    rules, record = folder / "small.rules", folder / "game.txt"
    rules.write_text(small.text)
    names = ["Ann", "Bob", "Cid", "Dan"][: small.players]
    record.write_text(f"game {small.game}\nplayers {' '.join(names)}\n")
    return str(rules), str(record)


@pytest.mark.parametrize("name", GAMES)
def test_every_command_answers_or_says_why_not(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    small = GAMES[name]
    rules, record = _written(tmp_path, small)
    table = ["--rules", rules, "--game", small.game, "-n", str(small.players)]
    commands = [[*words, *table] for words in OF_A_TABLE]
    commands += [[words[0], record, *words[1:], "--rules", rules] for words in OF_A_RECORD]
    commands.append(["tables", "--only", "REF-16", "--record", record, "--rules", rules])
    for command in commands:
        monkeypatch.setattr("sys.stdin", io.StringIO(""))
        code = main(command)  # an exception of any kind fails here
        printed = capsys.readouterr()
        assert code in (0, 1, 2), command
        if code == 2:
            assert printed.err.startswith(("avalon: ", "error[")), (command, printed.err)
            assert len(printed.err.splitlines()[0]) > 30, (command, printed.err)
        assert code == 0 or printed.err or printed.out, command


@pytest.mark.parametrize(("name", "lacks"), [("dice", "no deal of 'role"), ("crown", "no definition 'side")])
def test_deduction_says_what_a_game_without_cards_or_sides_lacks(
    name: str, lacks: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rules, record = _written(tmp_path, GAMES[name])
    for command in ("deduce", "advise", "table"):
        assert main([command, record, "--rules", rules]) == 2
        assert lacks in capsys.readouterr().err


def test_what_can_be_deduced_about_the_henhouse_still_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rules, record = _written(tmp_path, GAMES["henhouse1"])
    assert main(["deduce", record, "--rules", rules, "--list"]) == 0
    assert "Ann fox, Bob hen, Cid hen, Dan hen" in capsys.readouterr().out
    assert main(["advise", record, "--rules", rules]) == 2
    assert "no teams go on quests in henhouse" in capsys.readouterr().err


def test_the_open_points_of_a_game_need_no_number_of_players(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ruling = 'ruling throws "How many dice?" { single "one" pair "two" } default single\n  start throw'
    rules, _ = _written(tmp_path, Small(NO_CARDS.replace("start throw", ruling), "dice", 2))
    assert main(["rulings", "--rules", rules, "--game", "dice"]) == 0
    assert "How many dice?" in capsys.readouterr().out
    assert main(["rulings", "--rules", rules, "--game", "dice", "-n", "9"]) == 2
    assert "dice is for 2 to 4 players, not 9\n" in capsys.readouterr().err


def test_a_deck_is_named_whole_where_no_role_is_called_plain(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rules, _ = _written(tmp_path, GAMES["henhouse1"])
    table = ["check", "--rules", rules, "--game", "henhouse", "-n", "4", "--roles"]
    assert main([*table, "fox", "hen", "hen", "hen"]) == 0
    assert main([*table, "fox", "fox", "hen", "hen"]) == 1
    capsys.readouterr()
    assert main([*table, "fox"]) == 2
    assert "name all 4 cards" in capsys.readouterr().err


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("text", "game", "says"),
    [
        (NOTHING_ALLOWED, "walled", "phase 'pick': seats 0, 1 must choose 'number', and nothing is allowed"),
        (NOBODY_LEFT, "leaving", "after phase 'leave' nobody chooses anything any more"),
        (TOO_FEW_CARDS, "short", "phase 'deal': chance must choose 'role', and nothing is allowed"),
    ],
)
def test_a_game_that_gets_stuck_is_a_finding_that_says_where(
    engine: str, text: str, game: str, says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    players = 2 if game == "walled" else 3
    rules, _ = _written(tmp_path, Small(text, game, players))
    table = ["--rules", rules, "--game", game, "-n", str(players)]
    assert main(["simulate", *table, "--games", "20", "--engine", engine]) == 1
    printed = capsys.readouterr()
    assert says in printed.err
    assert not printed.out


def test_games_that_never_end_are_not_played_for_ever(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rules, _ = _written(tmp_path, Small(ENDLESS, "endless", 2))
    assert main(["simulate", "--rules", rules, "--game", "endless", "-n", "2", "--games", "3"]) == 1
    assert "has not ended after" in capsys.readouterr().err


INSPECTOR = """
module inspector "Inspector" for avalon {
  extend enum Role { inspector(good) }
  extend reveal { show neighbour to p in Player where role[p] == inspector: side(left(p)) }
}
"""


def _inspector(folder: Path) -> list[str]:
    rules = folder / "inspector.rules"
    rules.write_text(INSPECTOR)
    return ["--rules", str(rules), "-n", "5", "--roles", "merlin", "assassin", "inspector"]


@pytest.mark.parametrize(
    ("language", "said"),
    [
        ("en", "The referee shows inspector in secret: neighbour."),
        ("fr", "L'arbitre montre en secret à inspector : neighbour."),
        ("es", "El árbitro muestra en secreto a inspector: neighbour."),
    ],
)
def test_a_side_that_is_shown_stands_beside_the_tables_of_who_sees_whom(
    language: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = [*_inspector(tmp_path), "--lang", language]
    assert main(["tables", *table, "--only", "REF-04", "REF-05"]) == 0
    assert capsys.readouterr().out.count(said) == 2
    assert main(["reveal", *table]) == 0
    assert said in capsys.readouterr().out
    assert main(["tables", *table, "--card"]) == 0
    assert said in capsys.readouterr().out


def test_a_script_is_the_same_with_a_role_that_is_shown_a_side(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["reveal", *_inspector(tmp_path), "--json"]) == 0
    with_inspector = capsys.readouterr().out
    assert main(["reveal", "-n", "5", "--roles", "merlin", "assassin", "--json"]) == 0
    assert capsys.readouterr().out == with_inspector
