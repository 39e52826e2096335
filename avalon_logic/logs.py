"""Bringing in other sites' logs: JSON lines, one game each, in the shape many Avalon sites export.

A game gives players in seating order, roles by player, optionally who was the assassin, and events of the kinds
propose, quest, lady and assassinate. Each becomes events of our record format; what the log says about house rules
(no vote on the fifth team, another role that names Merlin, no Merlin) becomes rulings, unless the user sets them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from avalon_logic.configuration import Configuration
from avalon_logic.records import Event, Record, RecordError


def is_log(data: Any) -> bool:
    """Does this look like a game of such a log, rather than one of our records?"""
    if not isinstance(data, dict) or not isinstance(data.get("players"), list):
        return False
    events = data.get("events")
    return isinstance(data.get("roles"), dict) and isinstance(events, list)


def read_lines(path: Path) -> Iterator[tuple[int, Any]]:
    """The games of a JSON lines file with their line numbers; raises `RecordError` at the first bad line."""
    with path.open(encoding="utf-8-sig") as stream:
        for number, line in enumerate(stream, 1):
            if not line.strip():
                continue
            try:
                yield number, json.loads(line)
            except json.JSONDecodeError as error:
                raise RecordError(error.msg, f"{path}:{number}:{error.colno}") from None
            except RecursionError:
                raise RecordError("this JSON is nested too deep", f"{path}:{number}") from None


def import_game(data: Any, rulings: Mapping[str, str] | None = None, where: str = "") -> Record:
    """One logged game as a record. `rulings` given by the user win over what the log suggests."""
    if not is_log(data):
        raise RecordError("a logged game has 'players', 'roles' by player, and 'events'", where)
    names = tuple(str(p) for p in data["players"])
    roles = {str(k): str(v).lower() for k, v in data["roles"].items()}
    missing = [n for n in names if n not in roles]
    if missing:
        raise RecordError(f"no role is given for {missing[0]}", where)
    deck = tuple(roles[n] for n in names)
    game = "resistance" if set(deck) <= {"resistance", "spy"} else str(data.get("game", "avalon"))
    chosen = {**(_suggested(data, roles, deck) if game != "resistance" else {}), **(rulings or {})}
    modules = data.get("modules", [])
    if not isinstance(modules, list):
        raise RecordError("'modules' is a list", where)
    configuration = Configuration(game, len(names), tuple(str(x).lower() for x in modules), deck, chosen)
    events: list[Event] = []
    for number, entry in enumerate(data["events"], 1):
        place = f"{where}, event {number}" if where else f"event {number}"
        if not isinstance(entry, dict):
            raise RecordError("an event is an object", place)
        convert = _CONVERT.get(str(entry.get("t")))
        if convert is None:
            raise RecordError(f"unknown event type {entry.get('t')!r}; known: {', '.join(_CONVERT)}", place)
        try:
            events += convert(entry, configuration, bool(events), place)
        except (KeyError, TypeError, AttributeError) as error:
            raise RecordError(f"the {entry.get('t')} event cannot be read: {error!r}", place) from None
    winner = data.get("winner")
    return Record(
        configuration,
        names,
        tuple(events),
        roles,
        str(winner) if winner is not None else None,
        str(data.get("id", "")),
    )


def _suggested(data: Mapping[str, Any], roles: Mapping[str, str], deck: tuple[str, ...]) -> dict[str, str]:
    found: dict[str, str] = {}
    killer = data.get("assassin")
    if isinstance(killer, str) and killer in roles and roles[killer] != "assassin":
        found["killer"] = roles[killer]
    elif "assassin" not in deck and "merlin" in deck:
        found["merlin_without_killer"] = "jointly"
    if "merlin" not in deck:
        found["merlin_in_play"] = "optional_no_naming"
    if any(isinstance(e, dict) and e.get("forced") for e in data["events"]):
        found["fifth_team"] = "no_vote"
    return found


def _propose(entry: Mapping[str, Any], c: Configuration, begun: bool, where: str) -> list[Event]:
    events: list[Event] = []
    leader = entry.get("leader")
    if not begun and leader is not None:
        events.append(Event("first_leader", {"leader": leader}, where=where))
    inferred = bool(entry.get("leader_inferred"))
    values: dict[str, Any] = {"team": list(entry["team"])}
    if "targeting" in c.modules or c.game == "avalon_2021":
        values["target"] = entry.get("quest")
    events.append(Event("propose", values, None if inferred else leader, where=where))
    votes, approved = entry.get("votes"), entry.get("approved")
    then = {True: "cards", False: "rejected"}.get(approved)  # type: ignore[arg-type]
    if entry.get("forced"):
        if c.rulings.get("fifth_team") != "no_vote":
            # the log says that nobody voted where the ruling in force wants a vote
            events.append(Event("cards", {}, where=where))
        return events
    values = {"approve": dict(votes)} if isinstance(votes, dict) else {}
    events.append(Event("vote", values, None, then, where))
    return events


def _quest(entry: Mapping[str, Any], c: Configuration, begun: bool, where: str) -> list[Event]:
    events: list[Event] = []
    cards = entry.get("cards")
    if isinstance(cards, dict):
        shown = {n: None if ok is None else "success" if ok else "fail" for n, ok in cards.items()}
        events.append(Event("cards", {"card": shown}, where=where))
    values: dict[str, Any] = {"fails": entry.get("fails")}
    events.append(Event("tally", values, where=where))
    return events


def _lady(entry: Mapping[str, Any], c: Configuration, begun: bool, where: str) -> list[Event]:
    values: dict[str, Any] = {"examined": entry["target"]}
    if entry.get("saw") is not None:
        values["loyalty"] = entry["saw"]
    events = [Event("lady", values, entry.get("holder"), where=where)]
    if entry.get("claim") in ("good", "evil"):
        said = {"by": entry["holder"], "about": entry["target"], "value": entry["claim"]}
        events.append(Event("says", said, where=where))
    return events


def _assassinate(entry: Mapping[str, Any], c: Configuration, begun: bool, where: str) -> list[Event]:
    return [Event("naming", {"victim": entry.get("target")}, entry.get("by"), where=where)]


_CONVERT = {"propose": _propose, "quest": _quest, "lady": _lady, "assassinate": _assassinate}
