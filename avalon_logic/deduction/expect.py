"""Checks a file of positions with expected answers: what differs, position by position.

A position gives players, a deck, a viewer with a role or none, options and observations with seats counted from 1, and
what should follow: the number of worlds, the certain facts and the possible roles. Positions that speak of rules no
rulebook at hand has are told apart, neither right nor wrong.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from avalon_logic.configuration import Configuration, describe_check, modules_for_roles
from avalon_logic.deduction.facts import Fact
from avalon_logic.deduction.inquiry import (
    Inquiry,
    note_choice,
    note_condition,
    note_sights,
    note_speech,
    open_inquiry,
    suppose,
)
from avalon_logic.deduction.seats import cards_in_deck
from avalon_logic.deduction.setting import Setting, lay, side_of_roles, team_size
from rules_dsl import UnknownName, Value
from rules_dsl import model as m
from rules_dsl.arrays.answers import count, tallies
from rules_dsl.types import BOOL, IntType

Json = Mapping[str, Any]

SIGHTS = {"evil": ("fellows", "thumbs"), "percival": ("magicians",)}  # the showings a kind of sign belongs to
TRUST = {"none": None, "if_good": "good_tells_the_truth", "full": "everyone_tells_the_truth"}
UNCOVERED = ("lancelot", "excalibur")


class NotCovered(Exception):
    """A position about rules that no rulebook at hand has."""


class BadPosition(ValueError):
    """A position no table could write down."""


@dataclass(frozen=True)
class Verdict:
    """What became of one position. `status` is "exact", "different", "answered", "not covered" or "bad".

    `found` is the answer in the form of an `expect` entry; a position without one is just answered.
    """

    id: str
    status: str
    differences: tuple[str, ...] = ()
    found: Json | None = None


def check_positions(positions: Sequence[Json]) -> list[Verdict]:
    """Every position of a file compared with what it expects."""
    if not isinstance(positions, list):
        raise BadPosition("a file of positions is a list")
    return [check_position(p, number) for number, p in enumerate(positions, 1)]


def check_position(position: Json, number: int = 0) -> Verdict:
    """One position compared with what it expects."""
    name = (
        str(position.get("id", f"position {number}"))
        if isinstance(position, Mapping)
        else f"position {number}"
    )
    try:
        found = answer(position)
        expected = _get(position, "expect", dict, {})
    except NotCovered as error:
        return Verdict(name, "not covered", (str(error),))
    except (BadPosition, UnknownName) as error:
        return Verdict(name, "bad", (str(error),))
    differences = tuple(_differences(expected, found))
    status = "different" if differences else "exact" if expected else "answered"
    return Verdict(name, status, differences, found)


def _differences(expected: Json, found: Json, path: str = "") -> list[str]:
    made: list[str] = []
    for key, wanted in expected.items():
        here = f"{path}{key}"
        actual = found.get(key)
        if isinstance(wanted, Mapping) and isinstance(actual, Mapping):
            made += _differences(wanted, actual, f"{here}.")
            made += [f"{here}.{k}: {actual[k]}, expected none" for k in actual if k not in wanted]
        elif isinstance(wanted, list) and isinstance(actual, list):
            if sorted(map(str, wanted)) != sorted(map(str, actual)):
                made.append(f"{here}: {actual}, expected {wanted}")
        elif wanted != actual:
            made.append(f"{here}: {actual}, expected {wanted}")
    return made


def answer(position: Json) -> dict[str, Any]:
    """What follows from a position, in the form of its `expect` entry."""
    inquiry, spelled = inquire(position)
    setting = inquiry.setting
    found = inquiry.worlds()
    total = count(found)
    certain: dict[str, Any] = {"evil": [], "good": [], "roles": {}}
    possible: dict[str, list[str]] = {}
    if total:
        sides = dict(zip(setting.roles, side_of_roles(setting), strict=True))
        for seat, entry in enumerate(tallies(found), 1):
            roles = sorted(spelled[setting.roles[v]] for v in entry)
            possible[str(seat)] = roles
            held = {sides[setting.roles[v]] for v in entry}
            if len(held) == 1:
                certain[held.pop()].append(seat)
            if len(roles) == 1:
                certain["roles"][str(seat)] = roles[0]
    return {"worlds": total, "as_of": _as_of(position), "certain": certain, "possible": possible}


def _as_of(position: Json) -> int:
    moments = [0]
    for item in position["observations"]:
        if item["type"] == "quest":
            moments.append(item["quest"])
        elif item["type"] in ("loyalty", "claim"):
            moments.append(item.get("after_quest") or 0)
    return max(moments)


# --- reading a position ---


def _get(data: Json, key: str, kind: type | tuple[type, ...], default: Any = ...) -> Any:
    if key not in data or data[key] is None:
        if default is ...:
            raise BadPosition(f"'{key}' is missing")
        return default
    if not isinstance(data[key], kind) or (kind is int and isinstance(data[key], bool)):
        raise BadPosition(f"'{key}' cannot be {data[key]!r}")
    return data[key]


def _seat(value: Any, players: int) -> int:
    if isinstance(value, str) and value.isdecimal():
        value = int(value)
    if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= players:
        raise BadPosition(f"there is no seat {value!r}")
    return value - 1


def inquire(position: Json) -> tuple[Inquiry, dict[str, str]]:
    """The inquiry a position stands for, and how it spells each role."""
    if not isinstance(position, Mapping):
        raise BadPosition("a position is an object")
    players = _get(position, "players", int)
    deck = _get(position, "deck", dict)
    options = _get(position, "options", dict, {})
    observations = _get(position, "observations", list, [])
    for item in observations:
        if not isinstance(item, Mapping) or not isinstance(item.get("type"), str):
            raise BadPosition(f"{item!r} is no observation")
    _covered(deck, options, observations)
    spelled = {_role_name(name): name for name in deck}
    cards: list[str] = []
    for name, number in deck.items():
        if not isinstance(number, int) or isinstance(number, bool) or number < 0:
            raise BadPosition(f"the deck cannot have {number!r} of {name}")
        cards += [_role_name(name)] * number
    if len(cards) != players:
        raise BadPosition(f"the deck has {len(cards)} cards for {players} players")
    setting = _setting(players, tuple(cards), options, observations)
    for role in setting.roles:
        spelled.setdefault(role, role.capitalize())
    inquiry = _seated(position, setting)
    taken: set[int] = set()
    inquiry = _sights(inquiry, observations, players)
    for item in observations:
        inquiry = _observe(inquiry, item, players, taken)
    return inquiry, spelled


def _role_name(name: Any) -> str:
    if not isinstance(name, str):
        raise BadPosition(f"{name!r} is no role")
    return name.casefold().replace(" ", "_")


def _covered(deck: Json, options: Json, observations: Sequence[Json]) -> None:
    for word in UNCOVERED:
        if any(word in str(role).casefold() for role in deck) or options.get(word):
            raise NotCovered(f"{word.capitalize()} is not covered by the rulebooks present")
    for item in observations:
        if item["type"] == "lancelot" or item.get("kind") == "lancelot":
            raise NotCovered("Lancelot is not covered by the rulebooks present")
        if item["type"] == "quest" and item.get("excalibur"):
            raise NotCovered("Excalibur is not covered by the rulebooks present")
    unknown = set(options) - {"merlin_sees_oberon", "blind_spies", *UNCOVERED}
    if unknown:
        raise NotCovered(f"option '{min(unknown)}' is not covered by the rulebooks present")


def _setting(players: int, cards: tuple[str, ...], options: Json, observations: Sequence[Json]) -> Setting:
    plain = set(cards) <= {"resistance", "spy"}
    modules: list[str] = []
    rulings: dict[str, str] = {}
    if options.get("blind_spies"):
        modules.append("blind_spies")
    if options.get("merlin_sees_oberon") is False and "oberon" in cards:
        rulings["oberon_thumb"] = "hidden_from_merlin"
    named = [_get(o, "rule", str) for o in observations if o["type"] == "assume"]
    told = {TRUST.get(o.get("trust", "none")) for o in observations if o["type"] == "claim"}
    for item in observations:
        if item["type"] == "claim" and item.get("trust", "none") not in TRUST:
            raise BadPosition(f"unknown trust {item.get('trust')!r}")
    configuration = Configuration(
        "resistance" if plain else "avalon", players, tuple(modules), cards, rulings
    )
    names = tuple(str(i) for i in range(1, players + 1))
    # trust is a matter of each single claim, so those assumptions are declared but not in force for all
    try:
        setting = lay(configuration, names, named)
        if told - {None}:
            setting = _with_claims(setting)
    except UnknownName:
        raise
    except ValueError as error:
        raise BadPosition(str(error)) from None
    wrong = [c for c in setting.settled.errors if "CORE-02" in c.origin.cites]
    if wrong:
        raise BadPosition("; ".join(describe_check(c) for c in wrong))
    return setting


def _with_claims(setting: Setting) -> Setting:
    c = setting.configuration
    modules = tuple(sorted({*c.modules, "assumptions"}))
    return lay(
        Configuration(c.game, c.players, modules, c.roles, c.rulings, c.paths),
        setting.names,
        setting.assumptions,
    )


def _seated(position: Json, setting: Setting) -> Inquiry:
    viewer = position.get("viewer")
    if viewer is None:
        return open_inquiry(setting)
    if not isinstance(viewer, Mapping):
        raise BadPosition("'viewer' is null or an object")
    seat = _seat(viewer.get("seat"), len(setting.names))
    role = _known_role(viewer.get("role"), setting)
    if cards_in_deck(setting).get(role, 0):
        return open_inquiry(setting, seat, role)
    nobody = replace(open_inquiry(setting), viewer=seat, known={seat: role})
    return note_condition(nobody, m.Literal(False, BOOL), f"{setting.names[seat]} holds {role}")


def _known_role(name: Any, setting: Setting) -> str:
    """A role of the game, or of a module of it that is not in play."""
    role = _role_name(name)
    if role not in setting.roles:
        try:
            modules_for_roles(setting.configuration.game, [role], setting.configuration.paths)
        except UnknownName:
            raise BadPosition(f"there is no role {name!r} in this game") from None
    return role


def _sights(inquiry: Inquiry, observations: Sequence[Json], players: int) -> Inquiry:
    told: dict[str, frozenset[int]] = {}
    conflict = False
    for item in observations:
        if item["type"] != "reveal":
            continue
        if inquiry.viewer is None:
            raise BadPosition("without a viewer nobody saw anything at the reveal")
        kind = _get(item, "kind", str)
        if kind not in SIGHTS:
            raise BadPosition(f"unknown kind of sight {kind!r}")
        seats = frozenset(_seat(s, players) for s in _get(item, "seats", list))
        conflict = conflict or told.get(kind, seats) != seats
        told[kind] = seats
    if inquiry.viewer is None:
        return inquiry
    for kind, names in SIGHTS.items():
        seats = told.get(kind, frozenset())
        shown = ", ".join(inquiry.setting.names[s] for s in sorted(seats)) or "nobody"
        inquiry = note_sights(inquiry, {names: seats}, f"saw as {kind}: {shown}")
    if conflict:
        inquiry = note_condition(inquiry, m.Literal(False, BOOL), "two different sights of one kind")
    return inquiry


def _observe(inquiry: Inquiry, item: Json, players: int, taken: set[int]) -> Inquiry:
    setting = inquiry.setting
    match item["type"]:
        case "quest":
            return _quest(inquiry, item, players, taken)
        case "loyalty":
            target, value = _seat(item.get("target"), players), _side(item, setting)
            return suppose(inquiry, Fact(target, value), f"saw that {setting.names[target]} is {value}")
        case "claim":
            by, about = _seat(item.get("by"), players), _seat(item.get("about"), players)
            value = _side(item, setting)
            spoken: dict[str, Value] = {"by": by, "about": about, "value": value}
            text = f"{setting.names[by]} says that {setting.names[about]} is {value}"
            return note_speech(inquiry, "says", spoken, TRUST[item.get("trust", "none")], text)
        case "role" | "not_role":
            seat, role = _seat(item.get("seat"), players), _known_role(item.get("role"), setting)
            fact = Fact(seat, role, item["type"] == "role")
            if role in setting.roles:
                return suppose(inquiry, fact)
            holds = m.Literal(not fact.holds, BOOL)  # nobody holds a card that is not in play
            return note_condition(inquiry, holds, fact.text(setting.names))
        case "vote" | "assume" | "reveal":
            return inquiry
        case other:
            raise NotCovered(f"observations of type '{other}' are not covered")


def _side(item: Json, setting: Setting) -> str:
    value = _get(item, "value", str).casefold()
    if value not in setting.sides:
        raise BadPosition(f"there is no side {item['value']!r}")
    return str(value)


def _quest(inquiry: Inquiry, item: Json, players: int, taken: set[int]) -> Inquiry:
    setting = inquiry.setting
    quest = _get(item, "quest", int)
    type_ = setting.model.tables["team_size"].keys[-1]
    assert isinstance(type_, IntType)
    if not type_.low <= quest <= type_.high:
        raise BadPosition(f"there is no quest {quest}")
    if quest in taken:
        raise BadPosition(f"quest {quest} is told twice")
    taken.add(quest)
    seats = [_seat(s, players) for s in _get(item, "team", list)]
    team = frozenset(seats)
    size = team_size(setting, quest)
    if len(team) != len(seats) or len(team) != size:
        raise BadPosition(f"the team of quest {quest} has {size} different members, not {item['team']}")
    fails = _get(item, "fails", int)
    cards: dict[int, Value] = {}
    for who, card in _get(item, "known_cards", dict, {}).items():
        seat = _seat(who, players)
        if seat not in team or not isinstance(card, str) or card.casefold() not in ("success", "fail"):
            raise BadPosition(f"no card {card!r} of seat {who} on quest {quest}")
        cards[seat] = card.casefold()
    members = ", ".join(setting.names[s] for s in sorted(team))
    text = f"quest {quest} with {members}: {fails} {'fail' if fails == 1 else 'fails'}"
    if cards:
        text += f" ({', '.join(f'{setting.names[s]} played {c}' for s, c in cards.items())})"
    return note_choice(inquiry, "card", cards, {"team": team}, text, {"fails": fails})
