"""A game at the table grows line by line: every line is told once, the answer is that of the whole record, limits hold."""

from __future__ import annotations

import io
import random
from pathlib import Path

import pytest

from avalon_logic.cli import main
from avalon_logic.deduction import course, deduce
from avalon_logic.table import Game, NotTaken, enter, reopened, text_of
from avalon_logic.table.game import MOST_LINES, Viewpoint, look
from avalon_logic.typed_records import MOST_CHARACTERS

PLAYERS = "Ann Bob Cid Dan Eve Fay Gus"
PLAYERS_FIVE = "players Ann Bob Cid Dan Eve"
TALK = ["players Ann Bob Cid Dan Eve", "first_leader Ann"]


def heard_of(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What inquiries are told from now on."""
    heard: list[str] = []
    hear = course.hear

    def counted(inquiry, clumps, text, where=""):  # type: ignore[no-untyped-def]
        heard.append(text)
        return hear(inquiry, clumps, text, where)

    monkeypatch.setattr(course, "hear", counted)
    return heard


@pytest.mark.parametrize("view", [Viewpoint(), Viewpoint("Ann", "servant", None, ("evil_always_fails",))])
def test_a_line_is_told_once_however_long_the_game(view: Viewpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    game = Game(viewpoint=view)
    heard = heard_of(monkeypatch)
    for line in (*TALK, *["says Ann Bob evil", "says Bob Ann evil"] * 30):
        game = enter(game, line)
    assert game.result is not None and game.result.count
    assert len(heard) <= 2 * 61


def test_a_kept_game_is_told_once_when_it_is_taken_up_again(monkeypatch: pytest.MonkeyPatch) -> None:
    heard = heard_of(monkeypatch)
    lines = [*TALK, *["says Ann Bob evil"] * 60, "#: as Ann servant", "#: assume evil_always_fails"]
    last = reopened("\n".join(lines))[-1]
    assert last.viewpoint.assume == ("evil_always_fails",)
    assert len(heard) <= 4 * 61  # neutral, as a seat, and then under an assumption


def random_lines(chance: random.Random) -> list[str]:
    """A game as somebody may type it: rejected teams, talk, a Lady, headings and private lines in between."""
    names = PLAYERS.split()
    lines = ["with lady", "roles merlin percival assassin morgana", f"players {PLAYERS}", "first_leader Ann"]
    if chance.random() < 0.7:
        lines += ["reveal Ann=Dan+Eve", "reveal Bob=nobody"]
    sizes = [2, 3, 3, 4]
    for quest, size in enumerate(sizes):
        while chance.random() < 0.4:
            lines += [f"propose {' '.join(chance.sample(names, size))}", "vote + - - + - - -"]
        if chance.random() < 0.5:
            a, b = chance.sample(names, 2)
            lines.append(f"says {a} {b} {chance.choice(['good', 'evil'])}")
        team = chance.sample(names, size)
        lines += [f"propose {' '.join(team)}", chance.choice(["vote ++++--+", "vote ?"])]
        if chance.random() < 0.2:
            lines.append(f"cards {team[0]}=success")
        lines.append(f"tally {chance.choice([0, 0, 1, 1, 2])}")
        if quest >= 1:
            lines.append(f"lady {chance.choice(names)}")
        if chance.random() < 0.3:
            lines.append(chance.choice(["deal Ann=percival", "# a remark", "title Friday"]))
    return lines


@pytest.mark.parametrize("seed", range(4))
def test_after_every_line_the_answer_is_that_of_the_whole_record(seed: int) -> None:
    views = [
        Viewpoint(),
        Viewpoint("Ann", "percival", ("Dan", "Eve")),
        Viewpoint("Bob", "servant", None, ("evil_always_fails", "merlin_avoids_seen_evil")),
    ]
    for view in views:
        game = Game(viewpoint=view)
        taken = 0
        for line in random_lines(random.Random(seed)):
            try:
                game = enter(game, line)
            except NotTaken:
                continue
            if game.record is None or game.result is None:
                continue
            taken += 1
            whole = deduce(text_of(game).split("#:")[0])
            assert game.neutral is not None
            assert game.neutral.count == whole.count
            assert [p.roles for p in game.neutral.players] == [p.roles for p in whole.players]
            if not game.waiting:
                seen = deduce(game.record, view.seat, role=view.role, saw=view.saw, assume=view.assume)
                assert game.result.count == seen.count
                assert [t.text for t in game.result.steps] == [t.text for t in seen.steps]
                assert game.result.notes == seen.notes
        assert taken > 10


def test_a_seat_that_tells_late_whom_it_saw_is_answered_as_the_whole_record_is() -> None:
    lines = [*TALK, "deal Ann=merlin Bob=servant Cid=assassin Dan=minion Eve=servant", "says Eve Bob good"]
    game = look(typed(lines), Viewpoint("Ann", "merlin"))
    for line in ("reveal Ann=Cid+Dan", "propose Ann Bob", "vote ?", "tally 0"):
        game = enter(game, line)
        assert game.record is not None and game.result is not None
        whole = deduce(game.record, "Ann", role="merlin")
        assert (game.result.count, len(game.result.steps)) == (whole.count, len(whole.steps))


def typed(lines: list[str]) -> Game:
    game = Game()
    for line in lines:
        game = enter(game, line)
    return game


def test_a_game_at_the_table_is_no_longer_than_a_record_can_be() -> None:
    with pytest.raises(NotTaken, match=f"{MOST_CHARACTERS:,} characters at most"):
        enter(typed(TALK), "# " + "x" * MOST_CHARACTERS)
    with pytest.raises(NotTaken, match=f"{MOST_LINES:,} lines at most"):
        reopened("\n" * (MOST_LINES + 1))
    with pytest.raises(NotTaken, match="2,001 events; 2,000 is the most"):
        reopened("\n".join([*TALK, *["says Ann Bob evil"] * 2_000]))


def test_headings_of_a_kept_game_may_stand_in_any_order() -> None:
    deck = "roles merlin servant servant minion minion"  # nobody there who names Merlin, unless all evil do
    lines = [PLAYERS_FIVE, deck, "", "ruling merlin_without_killer = jointly", "first_leader Ann"]
    games = reopened("\n".join(lines))
    assert games[-1].lines == tuple(lines) and len(games) == 4
    with pytest.raises(NotTaken, match="line 2: Merlin is in play, but nobody"):
        reopened("\n".join([*lines[:3], lines[4]]))
    with pytest.raises(NotTaken, match="line 2: Merlin is in play, but nobody"):
        reopened("\n".join(lines[:3]))


@pytest.mark.parametrize("size", [MOST_CHARACTERS + 1, 4 * MOST_CHARACTERS + 4])
def test_a_file_longer_than_a_record_can_be_is_refused_unread(
    size: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "long.txt"
    path.write_text("players Ann Bob Cid Dan Eve\n#" + "x" * size)
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    assert main(["table", str(path)]) == 2
    assert "5,000,000 characters at most" in capsys.readouterr().err


def test_a_line_from_a_pipe_is_not_read_without_end(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("x" * (MOST_CHARACTERS + 2)))
    assert main(["table"]) == 2
    said = capsys.readouterr()
    assert "5,000,000 characters at most" in said.err and len(said.out) < 100
