"""All viewers of a game followed together find what each finds alone, on games as they were played and damaged ones."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from avalon_logic.deduction import games
from avalon_logic.deduction.course import setting_of
from avalon_logic.deduction.games import follow_each, follow_game
from avalon_logic.deduction.seats import whole_deal
from avalon_logic.deduction.together import follow_together
from avalon_logic.logs import import_game
from avalon_logic.records import Event, Record, RecordError
from tests.avalon_logic.site_logs import logged_game

RECORDS = Path(__file__).parents[3] / "shared" / "records"


def told(record: Record, follow: Any) -> Any:
    try:
        return follow(record).to_json()
    except RecordError as error:
        return str(error)


@pytest.mark.parametrize("players", range(5, 11))
def test_games_of_the_hand_written_engine_need_no_simple_way(players: int) -> None:
    for seed in range(2):
        game = logged_game(players, seed, lady=seed == 1, unvoted=seed == 1)
        record = import_game(game)
        setting = setting_of(record)
        deal = whole_deal(record, setting.model)
        assert deal is not None
        counts = follow_together(record, setting, deal)
        assert counts == [s.worlds for s in follow_each(record).sightings]


@pytest.mark.parametrize("name", ["train-games", "human-games", "lady-games"])
def test_recorded_games_are_judged_as_by_following_each_viewer_alone(name: str) -> None:
    path = RECORDS / f"{name}.jsonl"
    if not path.exists():
        pytest.skip(f"skipped: {path} is not here")
    lines = path.read_text().splitlines()
    for line in random.Random(name).sample(lines, 4):
        record = import_game(json.loads(line))
        assert told(record, follow_game) == told(record, follow_each), record.title


def test_damaged_games_are_judged_as_by_following_each_viewer_alone() -> None:
    """Fails, votes, cards, teams, holders of the Lady and winners are changed at random, and games cut off: most of
    it is then not legal."""
    kinds: set[bool] = set()
    for seed in range(20):
        dice = random.Random(seed)
        game = logged_game(5 + seed % 3, seed, lady=seed % 2 == 0)
        if seed % 4 == 3:
            del game["events"][dice.randrange(1, len(game["events"])) :]
        if seed % 5 == 4:
            game["winner"] = dice.choice(["good", "evil", None])
        event = dice.choice([e for e in game["events"] if e["t"] != "assassinate"])
        match event["t"]:
            case "propose":
                if dice.random() < 0.5:
                    event["team"] = dice.sample(game["players"], len(event["team"]))
                else:
                    event["votes"] = {p: dice.random() < 0.5 for p in game["players"]}
                    event["approved"] = None
            case "quest":
                if dice.random() < 0.5:
                    event["fails"] = dice.randrange(3)
                    event.pop("cards", None)
                else:
                    event["cards"] = {p: dice.random() < 0.5 for p in event["team"]}
            case _:
                event["saw"] = dice.choice(["good", "evil", None])
        record = import_game(game)
        found = told(record, follow_game)
        assert found == told(record, follow_each), seed
        kinds.add(isinstance(found, dict) and found["sound"])
    assert kinds == {True, False}


def test_accounts_of_the_reveal_and_claims_are_told_to_each(monkeypatch: pytest.MonkeyPatch) -> None:
    game = import_game(logged_game(7, 1))
    evil = [n for n, role in game.deal.items() if role in {"assassin", "morgana", "mordred", "minion"}]
    sees = {n: [o for o in evil if o != n] for n in evil if game.deal[n] != "oberon"}
    first, *rest = game.events
    says = Event("says", {"by": game.names[0], "about": game.names[1], "value": "evil"}, game.names[0])
    record = Record(
        game.configuration,
        game.names,
        (first, Event("reveal", {"saw": sees}), says, *rest),
        game.deal,
        game.winner,
    )
    simple = told(record, follow_each)
    monkeypatch.setattr(games, "follow_each", lambda record: pytest.fail("the simple way was taken"))
    assert told(record, follow_game) == simple
