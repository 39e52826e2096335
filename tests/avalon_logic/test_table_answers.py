"""At the table people answer the prompt: with names cut short, votes as they come, a number; slips are caught."""

from __future__ import annotations

import io
import random
from pathlib import Path

import pytest

from avalon_logic.cli import main
from avalon_logic.deduction import deduce, read
from avalon_logic.table import Game, NotTaken, enter, text_of, what_comes_next
from avalon_logic.table.answers import needs_event_first, spelled
from avalon_logic.table.awaited import awaited, passed_over
from avalon_logic.table.completion import completions
from avalon_logic.table.names import matching, player

NAMES = ("William", "Zoé", "Jörg", "Ann", "Anna")
START = [f"players {' '.join(NAMES)}", "first_leader William"]
VOTING = [*START, "propose William Zoé"]


def typed(lines: list[str]) -> Game:
    game = Game()
    for line in lines:
        game = enter(game, line)
    return game


def say(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], lines: list[str], *words: str
) -> tuple[int, str]:
    """What is said back to lines from a pipe, and the exit code."""
    monkeypatch.setattr("sys.stdin", io.StringIO("\n".join(lines) + "\n"))
    code = main(["table", *words])
    return code, capsys.readouterr().out


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        ("William", "William"),
        ("wILLIAM", "William"),
        ("w", "William"),
        ("zoe", "Zoé"),
        ("ZOÉ", "Zoé"),
        ("jo", "Jörg"),
        ("ann", "Ann"),
        ("anna", "Anna"),
    ],
)
def test_a_name_is_known_by_its_beginning_in_any_case_without_accents(word: str, meant: str) -> None:
    assert player(word, NAMES) == meant


@pytest.mark.parametrize(
    ("word", "said"),
    [("an", "could be Ann or Anna"), ("x", "nobody is called 'x'"), ("Wiliam", "did you mean 'William'")],
)
def test_a_name_that_is_not_clear_is_refused(word: str, said: str) -> None:
    with pytest.raises(NotTaken, match=said):
        player(word, NAMES)


def test_a_name_that_is_exactly_meant_goes_before_those_it_could_begin() -> None:
    assert matching("Zoe", ("Zoé", "Zoe", "Zoella")) == ("Zoe",)
    assert matching("zo", ("Zoé", "Zoe")) == ("Zoé", "Zoe")
    assert matching("strasse", ("Straße",)) == ("Straße",)
    assert matching("Soren", ("Søren", "Ida")) == ("Søren",)


@pytest.mark.parametrize(
    ("lines", "answer", "line"),
    [
        ([], "ann bob cid dan eve", "players ann bob cid dan eve"),
        (START[:1], "jo", "first_leader Jörg"),
        (START, "w zo", "propose William Zoé"),
        (START, "w, zo", "propose William Zoé"),
        (START, "PROP w zo", "propose William Zoé"),
        (START, "Propose w zo by wil", "propose William Zoé by William"),
        (START, "propose William Zoé", "propose William Zoé"),
        (START, "says ann w Ev", "says Ann William evil"),
        (START, "deal ann=Mer zoe=serv", "deal Ann=merlin Zoé=servant"),
        (VOTING, "++-++", "vote ++-++"),
        (VOTING, "++−–?", "vote ++--?"),
        (VOTING, "yynyY", "vote ++-++"),
        (VOTING, "y y n yes no", "vote + + - + -"),
        (VOTING, "+ + - + -", "vote + + - + -"),
        (VOTING, "w zoe anna", "vote ++--+"),
        (VOTING, "vote jo", "vote --+--"),
        (VOTING, "all", "vote +++++"),
        (VOTING, "nobody", "vote -----"),
        (VOTING, "+w -zo", "vote +William -Zoé"),
        (VOTING, "?", "vote ?"),
        ([*VOTING, "vote ?"], "1", "tally 1"),
        ([*VOTING, "vote ?"], "w ann", "propose William Ann"),
        ([*VOTING, "vote +++++"], "cards w=fail", "cards William=fail"),
        ([*VOTING, "vote +++++"], "1  # Ann laughs", "tally 1  # Ann laughs"),
    ],
)
def test_the_answer_to_the_prompt_is_a_line_of_the_record(lines: list[str], answer: str, line: str) -> None:
    game = typed(lines)
    assert spelled(game, answer) == line
    enter(game, spelled(game, answer))


@pytest.mark.parametrize(
    ("lines", "answer", "said"),
    [
        ([], "playrs Ann Bob Cid Dan Eve", "did you mean 'players'"),
        ([], "propose Ann Bob Cid Dan", "who plays"),
        ([], "tally 1", "who plays"),
        (START, "propsoe w zo", "did you mean 'propose'"),
        (START, "w an", "'an' could be Ann or Anna"),
        (START, "w x", "nobody is called 'x'"),
        (VOTING, "++-+", "4 votes for 5 players"),
        (VOTING, "yyny", "4 votes for 5 players"),
        (VOTING, "n", "1 vote for 5 players"),
        (VOTING, "y n y", "3 votes for 5 players"),
        (VOTING, "w x", "nobody is called 'x'"),
        (VOTING, "w zo William", "William is named twice"),
        ([*VOTING, "vote +++++"], "two", "no event of this game"),
        ([*VOTING, "vote +++++"], "all", "fails: 'all' is not a number"),
        (START, "x" * 10_000, "is no name"),
    ],
)
def test_an_answer_that_is_not_clear_is_refused(lines: list[str], answer: str, said: str) -> None:
    with pytest.raises(NotTaken, match=said):
        spelled(typed(lines), answer)


def test_a_name_that_is_a_word_of_the_table_is_pointed_out(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    game = typed(["players Log Vote Ann Deal Eve"])
    assert needs_event_first(game, ["log", "undo"]) == ("Log", "Vote", "Deal")
    lines = ["players Log Vote Ann Dan Eve", "first_leader Log", "propose log vote", "vote log"]
    code, out = say(monkeypatch, capsys, lines)
    assert code == 0
    assert "'Log' is a word of the table too" in out
    assert "taken as: propose Log Vote" in out and "taken as: vote +----" in out


def test_an_answer_can_be_of_those_only_who_choose(tmp_path: Path) -> None:
    book = tmp_path / "duel.rules"
    book.write_text(DUEL)
    game = Game(paths=(book,))
    for line in ("game duel", "players Ann Bob Cid Dan", "pick Bob Dan"):
        game = enter(game, line)
    assert what_comes_next(game) == "ask"
    assert spelled(game, "+-") == "ask ?+?-"
    assert spelled(game, "dan") == "ask ?-?+"
    assert spelled(game, "all") == "ask ?+?+"
    enter(game, spelled(game, "dan"))


DUEL = """
game duel {
  players 4..4
  enum Side { good, evil }
  enum Role (side: Side) { hen(good) fox(evil) }
  result Side
  def side(p: Player) = role[p].side
  start deal
  phase deal {
    chance deals role: Player -> Role from map(r in Role: if r == fox then 1 else 3) own
    next pick
  }
  phase pick { one p in Player chooses pair: Set<Player> public  require size(pair) == 2  next ask }
  phase ask { each p in pair chooses yes: Bool public  next pick }
}
"""


def test_a_game_is_typed_with_bare_answers_and_kept_as_an_ordinary_record(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "friday.txt"
    answers = [
        " ".join(NAMES),
        "w",
        "w zo",
        "++-++",
        "1",
        "zo jo ann",
        "yynyy",
        "0",
        "as zoe SERV",
        "why w is EVIL",
    ]
    code, out = say(monkeypatch, capsys, answers, str(path))
    assert code == 0
    lines = path.read_text().splitlines()
    assert lines[2:8] == [
        "propose William Zoé",
        "vote ++-++",
        "tally 1",
        "propose Zoé Jörg Ann",
        "vote ++-++",
        "tally 0",
    ]
    assert lines[-1] == "#: as Zoé servant"
    assert "William is evil. Suppose William were good" in out
    assert deduce(path, "Zoé", role="servant").chance("William is evil") == 1


@pytest.mark.parametrize("seed", range(8))
def test_a_whole_game_in_its_shortest_words_is_the_same_record(seed: int) -> None:
    chance = random.Random(seed)
    modules = chance.choice([[], ["lady"], ["targeting"], ["lady", "targeting"]])
    names = ["Ann", "Bob", "Cid", "Dan", "Eve", "Fay", "Gus"]
    game = typed([*([f"with {' '.join(modules)}"] if modules else []), f"players {' '.join(names)}"])
    for _ in range(40):
        due = awaited(game)
        if not due:
            break
        team = " ".join(chance.sample(names, chance.choice([2, 3, 4])))
        whole = {
            "first_leader": "Cid",
            "propose": f"{chance.randint(1, 5)} {team}" if "targeting" in modules else team,
            "vote": " ".join(chance.sample(names, chance.choice([2, 4, 5, 6]))),
            "tally": str(chance.choice([0, 0, 1, 2])),
            "lady": chance.choice(names),
            "naming": f"{chance.choice(names)} by {chance.choice(names)}",
        }[due[0].phase]
        short = " ".join(
            w if w == "by" else chance.choice([w, w.lower(), w[0], w[0].lower()]) for w in whole.split()
        )
        if due[0].phase == "vote":
            approving = whole.split()
            line = "vote " + " ".join("+" if n in approving else "-" for n in names)
        else:
            line = f"{due[0].phase} {whole}"
        try:
            long = enter(game, line)
        except NotTaken:
            continue  # a wrong size, or a number no deal allows
        before, game = game, enter(game, spelled(game, short))
        assert passed_over(before, game) is None
        assert game.record is not None and long.record is not None
        assert game.record.events == long.record.events
    assert game.record is not None and len(game.record.events) > 5
    assert read(text_of(game)).events == game.record.events


def test_the_viewer_of_the_command_line_is_named_as_at_the_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "friday.txt"
    path.write_text("\n".join(START) + "\n")
    code, out = say(
        monkeypatch, capsys, ["log"], str(path), "--as", "zoe", "--role", "MERL", "--saw", "jo", "w"
    )
    assert code == 0 and "Zoé (merlin): 2 of 60 deals" in out
    assert "#: as Zoé merlin saw William Jörg" in out or "#: as Zoé merlin saw Jörg William" in out


# --- what was forgotten ---


def test_a_skipped_tally_is_asked_for_and_the_line_waits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "game.txt"
    forgetful = [
        *VOTING,
        "vote ++-++",
        "propose Zoé Jörg Ann",
        "zo jo ann",
        "tally 1",
        "propose Zoé Jörg Ann",
    ]
    code, out = say(monkeypatch, capsys, forgetful, str(path))
    assert code == 1
    assert (
        out.count("not taken yet: 'tally' comes first and is missing; fails? (0, 1, 2; ? if nobody noted it)")
        == 2
    )
    assert path.read_text().splitlines()[3:] == ["vote ++-++", "tally 1", "propose Zoé Jörg Ann"]


def test_what_nobody_noted_is_written_as_such_and_not_asked_for_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "game.txt"
    lines = [START[0], "?", "w zo", "?", "tally ?", "zo jo ann", "all", "0"]
    code, out = say(monkeypatch, capsys, lines, str(path))
    assert code == 0 and "not taken" not in out
    assert deduce(path).count == 60
    code, out = say(monkeypatch, capsys, ["table"], str(path))
    assert code == 0 and "missing" not in out


@pytest.mark.parametrize(
    ("lines", "line", "asked"),
    [
        (START[:1], "propose William Zoé", "'first_leader' comes first and is missing; leader? (a name"),
        (START[:1], "w zo", "'first_leader' comes first and is missing; leader? (a name"),
        (START, "vote ++-++", "'propose' comes first and is missing; team? (names"),
        (START, "++-++", "'propose' comes first and is missing; team? (names"),
        (VOTING, "tally 1", "'vote' comes first and is missing; approve? (+ or - for everybody"),
        (VOTING, "propose Zoé Jörg", "'vote' comes first and is missing; approve? (+ or - for everybody"),
    ],
)
def test_whatever_was_forgotten_is_asked_for(
    lines: list[str],
    line: str,
    asked: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    code, out = say(monkeypatch, capsys, [*lines, line])
    assert code == 1 and asked in out


def test_a_proposal_that_can_only_be_of_the_next_quest_tells_a_tally_is_missing() -> None:
    game = typed([*VOTING, "vote ?"])
    assert what_comes_next(game) == "propose by Zoé or tally"
    assert passed_over(game, enter(game, "propose Zoé Jörg")) is None  # the team may have been rejected
    assert passed_over(game, enter(game, "propose Zoé Jörg Ann")) == "tally"  # three go on the second quest


def test_talk_and_private_lines_pass_nothing_over() -> None:
    game = typed([*VOTING, "vote ++-++"])
    for line in ("says Ann William evil", "cards William=success"):
        after = enter(game, line)
        assert passed_over(game, after) is None
        assert what_comes_next(after) == "tally"


def test_a_tally_missing_in_a_game_taken_up_again_is_pointed_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "game.txt"
    path.write_text("\n".join([*VOTING, "vote ++-++", "propose Zoé Jörg Ann"]) + "\n")
    code, out = say(monkeypatch, capsys, [], str(path))
    assert code == 0 and "'tally' is missing before line 5; what it showed does not count" in out


def test_a_team_the_rules_refuse_is_refused_not_taken_for_a_vote(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out = say(monkeypatch, capsys, [*START, "w zo jo"])
    assert code == 1 and "wrong size" in out and "missing" not in out


def test_an_unseen_choice_is_not_waited_for() -> None:
    lady = [
        "with lady",
        "players Ann Bob Cid Dan Eve Fay Gus",
        "first_leader Ann",
        "propose Ann Bob",
        "vote ?",
    ]
    lady += ["tally 0", "propose Ann Bob Cid", "vote ?", "tally 0", "lady Ann by Gus"]
    game = typed(lady)
    assert what_comes_next(game) == "propose by Cid"
    assert passed_over(game, enter(game, "propose Ann Bob Cid")) is None


def test_the_held_line_is_taken_by_an_empty_one_at_a_terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from prompt_toolkit.application import create_app_session
    from prompt_toolkit.input import create_pipe_input
    from prompt_toolkit.output import DummyOutput

    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    path = tmp_path / "game.txt"
    keys = [*VOTING, "all", "", "zo jo ann", "", "1", "", "undo", "", "zo jo anna"]
    with create_pipe_input() as pipe, create_app_session(input=pipe, output=DummyOutput()):
        pipe.send_text("\r".join(keys) + "\r\x04")
        assert main(["table", str(path)]) == 0
    assert path.read_text().splitlines()[3:] == ["vote +++++", "tally 1", "propose Zoé Jörg Anna"]


def test_tab_goes_on_with_a_bare_answer_in_any_case() -> None:
    game = typed(START)
    assert completions(game, "wi", ["why"]) == ["William", "winner", "with"]
    assert completions(game, "zo", []) == ["Zoé"]
    assert completions(game, "William jo", []) == ["Jörg"]
    assert completions(game, "w ", []) == ["Ann", "Anna", "Jörg", "Zoé", "by"]
    assert completions(typed(VOTING), "William AN", []) == ["Ann", "Anna"]
    assert completions(typed(START[:1]), "an", []) == ["Ann", "Anna"]


def test_the_file_holds_what_was_meant() -> None:
    game = typed(START)
    game = enter(game, spelled(game, "w zo"))
    assert text_of(game).splitlines()[-1] == "propose William Zoé"
