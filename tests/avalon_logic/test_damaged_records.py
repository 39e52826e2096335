"""Whatever is fed to the replay, it answers with a verdict or an error that says where, never with a traceback."""

from __future__ import annotations

import contextlib
import io
import json
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import avalon_logic
from avalon_logic.cli import main
from tests.avalon_logic.site_logs import logged_game

EXAMPLES = Path(avalon_logic.__file__).parent / "examples"
TEXT = (EXAMPLES / "five_players.txt").read_text(encoding="utf-8")
JUNK = [None, True, -1, 0, 7, 10**30, 1.5, "", "p1", "nobody", "évil", [], ["p1"], {}, {"p1": None}, [[[]]]]


def answer(name: str, text: str, folder: Path) -> tuple[int, str, str]:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main(["replay", str(path)])
    assert code in (0, 1, 2, 3)
    if code == 2:
        assert err.getvalue().startswith(("avalon: ", "error")), err.getvalue()
        assert len(err.getvalue()) < 3000
    assert "Traceback" not in err.getvalue()
    assert [p.name for p in folder.iterdir()] == [name], "a replay writes nothing"
    return code, out.getvalue(), err.getvalue()


def damaged(value: Any, rng: Random) -> Any:
    """The same JSON with one part, somewhere, replaced, left out or doubled."""
    if not isinstance(value, dict | list) or not value or rng.random() < 0.15:
        return rng.choice(JUNK)
    if isinstance(value, list):
        at = rng.randrange(len(value))
        how = rng.randrange(4)
        if how == 0:
            return value[:at] + value[at + 1 :]
        if how == 1:
            return [*value[:at], value[at], *value[at:]]
        return [*value[:at], damaged(value[at], rng), *value[at + 1 :]]
    key = rng.choice(list(value))
    if rng.random() < 0.2:
        return {k: v for k, v in value.items() if k != key}
    if rng.random() < 0.05:
        return {**value, "surprise": rng.choice(JUNK)}
    return {**value, key: damaged(value[key], rng)}


@pytest.mark.parametrize("seed", range(8))
def test_damaged_logs_never_end_in_a_traceback(seed: int, tmp_path: Path) -> None:
    rng = Random(seed)
    codes = set()
    for number in range(40):
        game = logged_game(5 + number % 6, seed, lady=number % 3 == 0)
        for _ in range(rng.randint(1, 2)):
            game = damaged(game, rng)
        code, _, _ = answer("games.jsonl", json.dumps(game) + "\n", tmp_path)
        codes.add(code)
    assert 2 in codes
    assert codes - {2}, "some damage leaves a record that can be read"


@pytest.mark.parametrize("seed", range(8))
def test_damaged_records_never_end_in_a_traceback(seed: int, tmp_path: Path) -> None:
    rng = Random(seed)
    record = {
        "game": "avalon",
        "players": ["Ann", "Bob", "Cid", "Dan", "Eve"],
        "roles": ["merlin", "percival", "servant", "assassin", "morgana"],
        "rulings": {"fifth_team": "no_vote"},
        "modules": ["lady"],
        "deal": dict(
            zip(
                ["Ann", "Bob", "Cid", "Dan", "Eve"],
                ["merlin", "percival", "servant", "assassin", "morgana"],
                strict=True,
            )
        ),
        "events": [
            {"phase": "first_leader", "leader": "Ann"},
            {"phase": "propose", "team": ["Ann", "Bob"], "by": "Ann", "leader": "Ann", "quest": 1},
            {"phase": "vote", "approve": {"Ann": True, "Bob": True, "Cid": True, "Dan": False, "Eve": False}},
            {"phase": "cards", "card": {"Ann": "success"}},
            {"phase": "tally", "fails": 0},
            {"phase": "says", "by": "Ann", "about": "Dan", "value": "evil"},
        ],
        "winner": "evil",
    }
    for _ in range(60):
        answer("record.json", json.dumps(damaged(record, rng)), tmp_path)


LINES = TEXT.splitlines()


@settings(max_examples=150, deadline=None)
@given(
    at=st.integers(0, len(TEXT) - 1),
    length=st.integers(0, 40),
    put=st.one_of(st.text(max_size=12), st.sampled_from(LINES).map(lambda line: f"\n{line}\n")),
)
def test_a_damaged_text_record_gives_a_verdict_or_an_error(
    tmp_path_factory: pytest.TempPathFactory, at: int, length: int, put: str
) -> None:
    text = TEXT[:at] + put + TEXT[at + length :]
    answer("record.txt", text, tmp_path_factory.mktemp("record"))


def test_a_record_cut_short_anywhere_is_legal_so_far_or_says_where(tmp_path: Path) -> None:
    for end in range(len(TEXT)):
        code, out, err = answer("record.txt", TEXT[:end], tmp_path)
        assert code != 1 or "breaks" in out, TEXT[:end]
        if code == 2:
            assert any(
                word in err for word in ("line", "who plays", "nobody", "role", "players", "deal", "winner")
            ), err
