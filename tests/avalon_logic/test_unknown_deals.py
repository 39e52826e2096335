"""Records in which nobody wrote down the cards: the verdict is that of trying every deal, and comes quickly."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest

from avalon_logic import following
from avalon_logic.configuration import Configuration
from avalon_logic.logs import import_game
from avalon_logic.records import Event, Record
from avalon_logic.replay import Replay, replay
from tests.avalon_logic.site_logs import Log, logged_game

PUBLIC = {"first_leader", "propose", "vote", "tally", "lady", "naming", "says"}


def public_record(game: Log) -> Record:
    """What a table could have written down: no cards, and of each event only what everybody saw and chose."""
    record = import_game(game)
    events = []
    for event in record.events:
        if event.phase not in PUBLIC:
            continue
        told = {
            k: v for k, v in event.values.items() if k not in ("quest", "rejections", "leader", "loyalty")
        }
        told = told if event.phase != "first_leader" else dict(event.values)
        events.append(Event(event.phase, told, event.by, event.then, f"event {len(events) + 1}"))
    return replace(record, deal={}, events=tuple(events))


def both_ways(record: Record, monkeypatch: pytest.MonkeyPatch) -> tuple[Replay, Replay]:
    monkeypatch.setattr(following, "MOST_DEALS", 100_000)
    tried = replay(record)
    monkeypatch.setattr(following, "MOST_DEALS", 0)
    return tried, replay(record)


def said(found: Replay) -> tuple[object, ...]:
    faults = [(f.event, f.clauses[:1]) for f in found.findings]
    return faults, found.over, found.result, found.winner_differs, found.awaits


@pytest.mark.parametrize("players", [5, 6])
def test_legal_games_are_judged_as_by_trying_every_deal(
    players: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    for seed in range(10):
        record = public_record(logged_game(players, seed, lady=seed % 2 == 0))
        record = replace(
            record, events=record.events[: Random(seed).randint(1, len(record.events))], winner=None
        )
        tried, fitted = both_ways(record, monkeypatch)
        assert tried.legal
        assert said(fitted) == said(tried)


def spoiled(record: Record, rng: Random) -> Record:
    """The record with one thing changed so that it may well be illegal."""
    events = list(record.events)
    at = rng.randrange(1, len(events))
    event = events[at]
    values = dict(event.values)
    if event.phase == "tally":
        values["fails"] = rng.randint(0, 3)
    elif event.phase == "propose":
        values["team"] = rng.sample(record.names, rng.randint(1, 4))
    elif event.phase == "vote":
        values["approve"] = {n: rng.random() < 0.5 for n in record.names}
    elif event.phase == "lady":
        values["examined"] = rng.choice(record.names)
    by = rng.choice(record.names) if event.phase in ("propose", "lady", "naming") else None
    events[at] = replace(event, values=values, by=by)
    return replace(record, events=tuple(events))


@pytest.mark.parametrize("players", [5, 6])
def test_spoiled_games_are_judged_as_by_trying_every_deal(
    players: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    illegal = 0
    for seed in range(60 // players):
        rng = Random(seed)
        record = spoiled(public_record(logged_game(players, seed, lady=seed % 2 == 0)), rng)
        tried, fitted = both_ways(replace(record, winner=None), monkeypatch)
        assert said(fitted)[:1] == said(tried)[:1], (seed, tried, fitted)
        illegal += not tried.legal
    assert illegal >= 3


def test_the_cards_that_are_known_count(monkeypatch: pytest.MonkeyPatch) -> None:
    names = tuple("ABCDEFGHIJ")
    roles = ("merlin", "percival", "assassin", "morgana", "mordred", "oberon")
    events = (
        Event("first_leader", {"leader": "A"}),
        Event("propose", {"team": ["A", "B", "C"]}),
        Event("vote", {"approve": dict.fromkeys(names, True)}),
        Event("tally", {"fails": 2}),
    )
    record = Record(Configuration("avalon", 10, (), roles), names, events)
    assert replay(record).legal
    known = replace(record, deal={"A": "merlin", "B": "servant"})
    (finding,) = replay(known).findings
    assert (finding.event, finding.clauses) == (4, ("CORE-22",))


def test_a_naming_without_known_cards_has_no_certain_winner() -> None:
    names = tuple("ABCDEFG")
    game = []
    for number, team in enumerate(["AB", "ABC", "ABC"]):
        game += [
            Event("propose", {"team": list(team)}),
            Event("vote", {"approve": dict.fromkeys(names, True)}),
            Event("tally", {"fails": 0}),
        ]
        assert number < 3
    events = (Event("first_leader", {"leader": "A"}), *game, Event("naming", {"victim": "A"}, "B"))
    roles = ("merlin", "percival", "assassin", "morgana")
    found = replay(Record(Configuration("avalon", 7, (), roles), names, events, winner="good"))
    assert (found.legal, found.over, found.result, found.winner_differs) == (True, True, None, False)
