"""The fields of another site's log: which there are, and of which type. A value of another type is refused by its place.

What a log has besides is read by nobody; `describe_unread` names it.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

from avalon_logic.records import RecordError

Check = Callable[[Any], bool]


def _text(data: Any) -> bool:
    return isinstance(data, str)


def _number(data: Any) -> bool:
    return isinstance(data, int) and not isinstance(data, bool)


def _truth(data: Any) -> bool:
    return isinstance(data, bool)


def _texts(data: Any) -> bool:
    return isinstance(data, list) and all(isinstance(x, str) for x in data)


def _truths(data: Any) -> bool:
    return isinstance(data, dict) and all(x is None or isinstance(x, bool) for x in data.values())


def _by_player(data: Any) -> bool:
    return isinstance(data, dict) and all(isinstance(x, str) for x in data.values())


KINDS: Mapping[str, tuple[Check, str]] = {
    "name": (_text, "a string"),
    "number": (_number, "a whole number"),
    "truth": (_truth, "true or false"),
    "names": (_texts, "a list of names"),
    "truths": (_truths, "true or false for each player"),
    "roles": (_by_player, "a role for each player"),
    "any": (lambda data: True, "anything"),
    "list": (lambda data: isinstance(data, list), "a list"),
}

# Every field that is read, by the kind of thing it stands in; each may be missing or null.
FIELDS: Mapping[str, Mapping[str, str]] = {
    "game": {
        "id": "any",
        "game": "name",
        "players": "names",
        "roles": "roles",
        "assassin": "name",
        "assassin_flags": "names",
        "modules": "names",
        "events": "list",
        "winner": "name",
    },
    "propose": {
        "quest": "number",
        "attempt": "number",
        "leader": "name",
        "leader_inferred": "truth",
        "team": "names",
        "votes": "truths",
        "approved": "truth",
        "forced": "truth",
    },
    "quest": {"quest": "number", "team": "names", "fails": "number", "success": "truth", "cards": "truths"},
    "lady": {"holder": "name", "target": "name", "saw": "name", "claim": "name"},
    "assassinate": {"by": "name", "target": "name", "hit": "truth"},
}


def checked(kind: str, entry: Mapping[str, Any], where: str) -> Mapping[str, Any]:
    """The entry of a log, every field of which has the type it must have; raises `RecordError` with its place."""
    what = "game" if kind == "game" else f"{kind} event"
    for name, wanted in FIELDS[kind].items():
        data = entry.get(name)
        check, words = KINDS[wanted]
        if data is not None and not check(data):
            shown = json.dumps(data)
            shown = shown if len(shown) <= 60 else f"{shown[:57]}..."
            raise RecordError(f"the {what} cannot be read: '{name}' is {words}, not {shown}", where)
    return entry


def describe_unread(data: Mapping[str, Any]) -> tuple[str, ...]:
    """What a log says and nobody reads: the names of the fields, with how often they come where that is in events."""
    found = [repr(name) for name in data if name not in FIELDS["game"]]
    counted: Counter[tuple[str, str]] = Counter()
    for entry in data["events"]:
        if isinstance(entry, dict):
            kind = str(entry.get("t"))
            known = FIELDS.get(kind, {})
            counted.update((kind, name) for name in entry if name != "t" and name not in known)
    return (*found, *(f"'{name}' of {kind} events ({n})" for (kind, name), n in counted.items()))
