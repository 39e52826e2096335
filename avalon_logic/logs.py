"""Bringing in other sites' logs: JSON lines, one game each, in the shape many Avalon sites export.

A game gives players in seating order, roles by player, optionally who was the assassin, and events of the kinds
propose, quest, lady and assassinate. Each becomes events of our record format; what the log says about house rules
(no vote on the fifth team, another role that names Merlin, no Merlin) becomes rulings, unless the user sets them.
What a log leaves out or gives as null is unknown. What it says besides (which quest, whether it succeeded, whether
the assassin hit) is held against the rules. Nothing is taken in silence: the record says which rulings were adopted
and why, and names what of the log nobody reads.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from avalon_logic.configuration import Configuration
from avalon_logic.log_entries import checked, describe_unread
from avalon_logic.records import Event, Record, RecordError

SIDES = ("good", "evil")
UNVOTED_AFTER = 4  # rejected teams, after which the next one goes where it goes without a vote


def is_log(data: Any) -> bool:
    """Does this look like a game of such a log, rather than one of our records?"""
    if not isinstance(data, dict) or not isinstance(data.get("players"), list):
        return False
    events = data.get("events")
    return isinstance(data.get("roles"), dict) and isinstance(events, list)


def read_lines(path: Path) -> Iterator[tuple[int, Any | RecordError]]:
    """The games of a JSON lines file with their line numbers; a line that cannot be read gives its error."""
    with path.open("rb") as stream:
        for number, line in enumerate(stream, 1):
            where = f"{path}:{number}"
            try:
                text = line.decode("utf-8-sig")
                if text.strip():
                    yield number, json.loads(text)
            except UnicodeDecodeError as error:
                yield number, RecordError(f"this is not UTF-8 text: {error.reason}", where)
            except json.JSONDecodeError as error:
                yield number, RecordError(error.msg, f"{where}:{error.colno}")
            except (RecursionError, ValueError):
                yield (
                    number,
                    RecordError("this JSON is nested too deep or has a number that is too long", where),
                )


def import_game(data: Any, rulings: Mapping[str, str] | None = None, where: str = "") -> Record:
    """One logged game as a record. `rulings` given by the user win over what the log suggests."""
    if not is_log(data):
        raise RecordError("a logged game has 'players', 'roles' by player, and 'events'", where)
    checked("game", data, where)
    names = tuple(data["players"])
    if len(set(names)) != len(names):
        raise RecordError(f"two players have the same name: {', '.join(names)}", where)
    roles = {name: role.lower() for name, role in data["roles"].items()}
    for name in (*names, *roles):
        if name not in roles:
            raise RecordError(f"no role is given for {name}", where)
        if name not in names:
            raise RecordError(f"there is a role for {name}, who is not at the table", where)
    deck = tuple(roles[n] for n in names)
    game = "resistance" if set(deck) <= {"resistance", "spy"} else data.get("game") or "avalon"
    given = dict(rulings or {})
    suggested = _suggested(data, roles, deck, where) if game != "resistance" else {}
    adopted = {name: (choice, why) for name, (choice, why) in suggested.items() if name not in given}
    configuration = Configuration(
        game,
        len(names),
        tuple(x.lower() for x in data.get("modules") or ()),
        deck,
        {**{name: choice for name, (choice, _) in adopted.items()}, **given},
    )
    reader = _Reader(configuration)
    events: list[Event] = []
    for number, entry in enumerate(data["events"], 1):
        place = f"{where}, event {number}" if where else f"event {number}"
        events += (replace(e, where=place, number=number) for e in reader.read(entry, place, number))
    winner = data.get("winner")
    return Record(
        configuration,
        names,
        tuple(events),
        roles,
        winner.lower() if winner else None,
        str(data.get("id", "")),
        {name: why for name, (_, why) in adopted.items()},
        (*describe_unread(data), *reader.aside),
    )


def _suggested(
    data: Mapping[str, Any], roles: Mapping[str, str], deck: tuple[str, ...], where: str
) -> dict[str, tuple[str, str]]:
    """The rulings a table must have agreed on for this to be its log, each with what shows it."""
    found: dict[str, tuple[str, str]] = {}
    killer, flagged = data.get("assassin"), data.get("assassin_flags")
    entries = [e for e in data["events"] if isinstance(e, dict)]
    for name in (killer, *(flagged or ())):
        if name is not None and name not in roles:
            raise RecordError(f"the assassin {name!r} is not at the table", where)
    if killer is not None and roles[killer] != "assassin":
        found["killer"] = (roles[killer], f"the log says that {killer} is the assassin")
    elif "assassin" not in deck and "merlin" in deck and flagged and len(flagged) > 1:
        found["merlin_without_killer"] = (
            "jointly",
            f"no assassin was dealt, and the log has {len(flagged)}: {', '.join(flagged)}",
        )
    if "merlin" not in deck:
        named = any(e.get("t") == "assassinate" for e in entries)
        how = "somebody was named" if named else "nobody was named"
        choice = "optional_naming" if named else "optional_no_naming"
        found["merlin_in_play"] = (choice, f"no Merlin was dealt, and {how}")
    if any(e.get("forced") is True for e in entries):
        found["fifth_team"] = ("no_vote", "a team went without a vote")
    return found


@dataclass
class _Reader:
    """Turns the entries of one log into events; remembers how many quests there have been."""

    configuration: Configuration
    begun: bool = False
    quests: int = 0
    rejected: int = 0
    aside: list[str] = field(default_factory=list)  # what was left aside, and why

    def read(self, entry: Any, where: str, number: int) -> list[Event]:
        if not isinstance(entry, dict):
            raise RecordError("an event is an object", where)
        kinds = {
            "propose": self._propose,
            "quest": self._quest,
            "lady": self._lady,
            "assassinate": self._assassinate,
        }
        convert = kinds.get(str(entry.get("t")))
        if convert is None:
            raise RecordError(f"unknown event type {entry.get('t')!r}; known: {', '.join(kinds)}", where)
        return convert(checked(entry["t"], entry, where), f"event {number}")

    @property
    def chooses_quest(self) -> bool:
        return "targeting" in self.configuration.modules or self.configuration.game == "avalon_2021"

    def _ruled(self, name: str, choice: str) -> bool:
        return self.configuration.rulings.get(name) == choice

    def _propose(self, entry: Mapping[str, Any], place: str) -> list[Event]:
        events: list[Event] = []
        leader, inferred = entry.get("leader"), bool(entry.get("leader_inferred"))
        if not self.begun and leader is not None:
            events.append(Event("first_leader", {"leader": leader}))
        self.begun = True
        values: dict[str, Any] = {}
        if leader is not None and not inferred:
            values["leader"] = leader
        attempt = entry.get("attempt")
        if attempt is not None and not self._ruled("vote_track", "keep"):
            values["rejections"] = self.rejected = attempt - 1
        values["target" if self.chooses_quest else "quest"] = entry.get("quest")
        team = entry.get("team")
        values["team"] = None if team is None else list(team)
        events.append(Event("propose", values, None if inferred else leader))
        approved, unvoted = entry.get("approved"), self._ruled("fifth_team", "no_vote")
        if entry.get("forced"):
            if not unvoted:
                # the log says that nobody voted where the ruling in force wants a vote
                events.append(Event("cards", {}))
            return events
        then = {True: "cards", False: "rejected"}.get(approved)  # type: ignore[arg-type]
        cast = {n: v for n, v in (entry.get("votes") or {}).items() if v is not None}
        if cast and unvoted and self.rejected == UNVOTED_AFTER:
            self.aside.append(f"{place}: the votes on a team that goes without a vote")
            cast = {}
        self.rejected += approved is False
        events.append(Event("vote", {"approve": cast} if cast else {}, None, then))
        return events

    def _quest(self, entry: Mapping[str, Any], place: str) -> list[Event]:
        self.quests += 1
        if not self._ruled("vote_track", "keep"):
            self.rejected = 0
        number = entry.get("quest", None if self.chooses_quest else self.quests)
        team, cards = entry.get("team"), entry.get("cards")
        values: dict[str, Any] = {"quest": number, "team": None if team is None else list(team)}
        events = [Event("cards", values)]
        shown = {n: "success" if ok else "fail" for n, ok in (cards or {}).items() if ok is not None}
        if shown:
            events.append(Event("cards", {"card": shown}))
        success = entry.get("success")
        after = {}
        if success is not None and number is not None:
            after = {"mark": {number: "won" if success else "lost"}}
        elif success is not None:
            self.aside.append(f"{place}: 'success' of a quest without a number")
        events.append(Event("tally", {"fails": entry.get("fails")}, after=after))
        return events

    def _lady(self, entry: Mapping[str, Any], place: str) -> list[Event]:
        values: dict[str, Any] = {"examined": entry.get("target")}
        if entry.get("saw") is not None:
            values["loyalty"] = entry["saw"]
        events = [Event("lady", values, entry.get("holder"))]
        claimed = entry.get("claim")
        if claimed is None:
            return events
        if claimed in SIDES and entry.get("holder") is not None and entry.get("target") is not None:
            events.append(Event("says", {"by": entry["holder"], "about": entry["target"], "value": claimed}))
        else:
            why = "of nobody in particular" if claimed in SIDES else f"'{claimed}', which is no side"
            self.aside.append(f"{place}: the claim {why}")
        return events

    def _assassinate(self, entry: Mapping[str, Any], place: str) -> list[Event]:
        hit = entry.get("hit")
        result = None if hit is None else "evil" if hit else "good"
        return [Event("naming", {"victim": entry.get("target")}, entry.get("by"), result=result)]
