"""An independent answer to "which deals are still possible?", by trying every deal and every hidden card.

Takes a position (players, deck, viewer, options, observations; seats count from 1) as plain JSON data and
gives the possible worlds, the certain facts and the possible roles. It shares nothing with the code it judges
and prefers being obvious to being fast.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from itertools import combinations, product
from typing import Any

Json = dict[str, Any]
World = tuple[str, ...]  # the role at seat s is world[s - 1]

GOOD = frozenset({"Merlin", "Percival", "Servant", "LancelotGood", "Resistance"})
EVIL = frozenset({"Assassin", "Minion", "Morgana", "Mordred", "Oberon", "LancelotEvil", "Spy"})
EVIL_COUNT = {5: 2, 6: 2, 7: 3, 8: 3, 9: 3, 10: 4}
TEAM_SIZE = {
    5: (2, 3, 2, 3, 3),
    6: (2, 3, 4, 3, 4),
    7: (2, 3, 3, 4, 4),
    8: (3, 4, 4, 5, 5),
    9: (3, 4, 4, 5, 5),
    10: (3, 4, 4, 5, 5),
}
KINDS = ("evil", "percival", "lancelot")
TYPES = frozenset({"reveal", "quest", "loyalty", "claim", "lancelot", "vote", "role", "not_role", "assume"})
FLIPPED = {"success": "fail", "fail": "success"}


@dataclass(frozen=True)
class Answer:
    """The worlds left, and what they have in common at quest `as_of` (keys are seats as text, as in JSON)."""

    worlds: list[World]
    as_of: int
    certain: Json
    possible: dict[str, list[str]]


def answer(position: Json) -> Answer:
    """Everything that follows from a position; with no world left nothing is certain and nothing possible."""
    check(position)
    worlds = [world for world in deals(position["deck"], position["players"]) if fits(world, position)]
    moment = as_of(position)
    certain: Json = {"evil": [], "good": [], "roles": {}}
    possible: dict[str, list[str]] = {}
    if worlds:
        changes = change_quests(position)
        for seat in range(1, position["players"] + 1):
            roles = sorted({world[seat - 1] for world in worlds})
            sides = {side(role, moment, changes) for role in roles}
            possible[str(seat)] = roles
            if len(sides) == 1:
                certain[sides.pop()].append(seat)
            if len(roles) == 1:
                certain["roles"][str(seat)] = roles[0]
    return Answer(worlds, moment, certain, possible)


def expectation(result: Answer) -> Json:
    """The same answer with the worlds counted: the `expect` entry of a position."""
    return {
        "worlds": len(result.worlds),
        "as_of": result.as_of,
        "certain": result.certain,
        "possible": result.possible,
    }


def deals(deck: dict[str, int], players: int) -> Iterator[World]:
    """Every distinct way to lay the cards out; equal cards are not told apart."""
    cards = list(deck.items())

    def lay(index: int, table: dict[int, str], free: tuple[int, ...]) -> Iterator[World]:
        if index == len(cards):
            yield tuple(table[seat] for seat in range(players))
            return
        role, count = cards[index]
        for chosen in combinations(free, count):
            rest = tuple(seat for seat in free if seat not in chosen)
            yield from lay(index + 1, table | dict.fromkeys(chosen, role), rest)

    return lay(0, {}, tuple(range(players)))


def fits(world: World, position: Json) -> bool:
    """Whether some legal hidden play of this deal yields every observation."""
    viewer, changes = position["viewer"], change_quests(position)
    if viewer is not None:
        if world[viewer["seat"] - 1] != viewer["role"]:
            return False
        seen = sights(world, viewer["seat"], position["options"])
        told = [(item["kind"], frozenset(item["seats"])) for item in of_type(position, "reveal")]
        if any(seen[kind] != seats for kind, seats in told):
            return False
        # A kind of sign without an entry was not seen at all.
        if any(seen[kind] for kind in set(KINDS) - {kind for kind, _ in told}):
            return False
    return schedule_is_legal(position) and all(
        item_fits(world, item, position, changes) for item in position["observations"]
    )


def item_fits(world: World, item: Json, position: Json, changes: frozenset[int]) -> bool:
    """Whether one observation can be true in this world."""
    match item["type"]:
        case "quest":
            return quest_fits(world, item, position, changes)
        case "loyalty":
            return bool(side(world[item["target"] - 1], item["after_quest"], changes) == item["value"])
        case "claim":
            speaker = side(world[item["by"] - 1], item["after_quest"], changes)
            believed = item["trust"] == "full" or (item["trust"] == "if_good" and speaker == "good")
            return (
                not believed or side(world[item["about"] - 1], item["after_quest"], changes) == item["value"]
            )
        case "role":
            return bool(world[item["seat"] - 1] == item["role"])
        case "not_role":
            return bool(world[item["seat"] - 1] != item["role"])
        case _:  # votes bind nobody; reveals, change cards and assumptions are read where they apply
            return True


def quest_fits(world: World, item: Json, position: Json, changes: frozenset[int]) -> bool:
    """Whether the members of a team can have played cards that give what was seen."""
    team, known, sword = item["team"], item.get("known_cards") or {}, item.get("excalibur") or {}
    target, saw = sword.get("target"), sword.get("saw")
    variant, assumed = position["options"].get("lancelot"), of_type(position, "assume")
    hands = [hand(world[seat - 1], item["quest"], changes, variant, bool(assumed)) for seat in team]
    for cards in product(*hands):
        played = dict(zip(team, cards, strict=True))
        if any(played[int(seat)] != card for seat, card in known.items()):
            continue
        if target is not None:
            if saw is not None and played[target] != saw:
                continue
            played[target] = FLIPPED[played[target]]
        if list(played.values()).count("fail") == item["fails"]:
            return True
    return False


def hand(
    role: str, quest: int, changes: frozenset[int], variant: str | None, evil_always_fails: bool
) -> list[str]:
    """The cards a member may play, before any sword."""
    if side(role, quest, changes) == "good":
        return ["success"]
    bound_lancelot = variant == "v2" and role in ("LancelotGood", "LancelotEvil")
    return ["fail"] if bound_lancelot or evil_always_fails else ["success", "fail"]


def side(role: str, quest: int, changes: frozenset[int]) -> str:
    """The allegiance in force at a quest: the Lancelots trade sides at every change so far."""
    swapped = role in ("LancelotGood", "LancelotEvil") and sum(change <= quest for change in changes) % 2 == 1
    return "good" if (role in GOOD) != swapped else "evil"


def sights(world: World, seat: int, options: Json) -> dict[str, frozenset[int]]:
    """What a seat saw with its eyes open before the first round: seats (never its own) by kind of sign."""
    variant, blind = options.get("lancelot", "base"), options.get("blind_spies", False)

    def seats(roles: Collection[str]) -> frozenset[int]:
        return frozenset(other for other, role in enumerate(world, 1) if role in roles and other != seat)

    seen: dict[str, frozenset[int]] = {kind: frozenset() for kind in KINDS}
    role = world[seat - 1]
    if role == "Merlin":
        hidden = {"Mordred"} if options.get("merlin_sees_oberon", True) else {"Mordred", "Oberon"}
        seen["evil"] = seats(EVIL - hidden)
    elif role == "Percival":
        seen["percival"] = seats({"Merlin", "Morgana"})
    elif role in EVIL - {"Oberon", "LancelotEvil"} and not blind:
        seen["evil"] = seats(EVIL - {"Oberon"})
        if (
            variant != "base"
        ):  # there the evil Lancelot keeps his eyes shut and shows a thumb, which gives him away
            seen["lancelot"] = seats({"LancelotEvil"})
    if variant == "base":
        if role == "LancelotEvil" and not blind:
            seen["evil"] = seats(EVIL - {"Oberon"})
        if role in ("LancelotGood", "LancelotEvil"):
            seen["lancelot"] = seats({"LancelotGood", "LancelotEvil"})
    return seen


def change_quests(position: Json) -> frozenset[int]:
    """The quests at whose start the Lancelots trade sides."""
    return frozenset(item["quest"] for item in of_type(position, "lancelot") if item["card"] == "change")


def schedule_is_legal(position: Json) -> bool:
    """Whether the change cards can lie as seen: two exist, drawn from quest 3 on or dealt over all five."""
    first = {"base": 6, "v1": 3, "v2": 1}[position["options"].get("lancelot", "base")]
    changes = change_quests(position)
    blank = {item["quest"] for item in of_type(position, "lancelot") if item["card"] == "none"}
    return len(changes) <= 2 and all(quest >= first for quest in changes) and not changes & blank


def as_of(position: Json) -> int:
    """The latest quest resolved, examined or spoken about, or whose card was drawn (not dealt in advance)."""
    moments = [0]
    for item in position["observations"]:
        if item["type"] == "quest" or (
            item["type"] == "lancelot" and position["options"].get("lancelot") == "v1"
        ):
            moments.append(item["quest"])
        elif item["type"] in ("loyalty", "claim"):
            moments.append(item["after_quest"])
    return max(moments)


def of_type(position: Json, kind: str) -> list[Json]:
    """The observations of one type."""
    return [item for item in position["observations"] if item["type"] == kind]


def check(position: Json) -> None:
    """Refuse data that no table could write down, as opposed to observations that cannot all be true."""
    players, deck, options = position["players"], position["deck"], position["options"]
    seats = range(1, players + 1)

    def require(holds: bool, complaint: str) -> None:
        if not holds:
            raise ValueError(complaint)

    require(players in EVIL_COUNT, f"{players} players")
    require(set(deck) <= GOOD | EVIL, f"unknown role in the deck {sorted(deck)}")
    require(sum(deck.values()) == players, "the deck does not fit the number of players")
    require(sum(deck.get(role, 0) for role in EVIL) == EVIL_COUNT[players], "wrong number of evil cards")
    require(
        set(options) <= {"lancelot", "merlin_sees_oberon", "blind_spies", "excalibur"}, f"options {options}"
    )
    require(options.get("lancelot", "base") in ("base", "v1", "v2"), f"options {options}")
    viewer = position["viewer"] or {"seat": 1, "role": "Merlin"}
    require(viewer["seat"] in seats and viewer["role"] in GOOD | EVIL, "no such viewer")
    quests = [item["quest"] for item in of_type(position, "quest")]
    require(len(quests) == len(set(quests)), "a quest is attempted once")
    for item in position["observations"]:
        require(item["type"] in TYPES, f"unknown observation {item}")
        named = [item[key] for key in ("target", "by", "about", "seat") if key in item] + item.get(
            "seats", []
        )
        require(all(seat in seats for seat in named), f"no such seat in {item}")
        require(item.get("value", "good") in ("good", "evil"), f"no such side in {item}")
        require(item.get("role", "Merlin") in GOOD | EVIL, f"no such role in {item}")
        require(item.get("after_quest", 0) in range(6), f"no such quest in {item}")
        if item["type"] == "reveal":
            require(position["viewer"] is not None and item["kind"] in KINDS, f"nobody could see {item}")
        elif item["type"] == "claim":
            require(item["trust"] in ("none", "if_good", "full"), f"unknown trust in {item}")
        elif item["type"] == "assume":
            require(item["rule"] == "evil_always_fails", f"unknown assumption in {item}")
        elif item["type"] == "lancelot":
            require(
                item["quest"] in range(1, 6) and item["card"] in ("change", "none"), f"no such card in {item}"
            )
        elif item["type"] == "quest":
            team, sword = item["team"], item.get("excalibur") or {}
            require(item["quest"] in range(1, 6), f"no such quest in {item}")
            require(set(team) <= set(seats) and len(set(team)) == len(team), f"no such team in {item}")
            require(len(team) == TEAM_SIZE[players][item["quest"] - 1], f"wrong team size in {item}")
            require(
                all(int(seat) in team for seat in item.get("known_cards") or {}), f"no such card in {item}"
            )
            if sword:
                others = [seat for seat in team if seat != sword["holder"]]
                require(bool(options.get("excalibur")), f"no sword in this game: {item}")
                require(
                    sword["holder"] in team and sword["holder"] != sword.get("leader"),
                    f"wrong holder in {item}",
                )
                require(sword.get("target") in [None, *others], f"wrong target in {item}")
                require(
                    sword.get("target") is not None or sword.get("saw") is None,
                    f"look without swap in {item}",
                )
