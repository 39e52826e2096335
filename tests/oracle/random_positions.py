"""Random positions, in the form the brute force reads, to compare two ways of deducing on.

Takes a random number generator and gives positions: a deal is sampled, played by the rules and partly written
down, so most positions are consistent; some are spoiled on purpose afterwards.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from math import factorial
from random import Random

from .brute_worlds import (
    EVIL_COUNT,
    FLIPPED,
    KINDS,
    TEAM_SIZE,
    Json,
    World,
    change_quests,
    hand,
    side,
    sights,
)


def random_position(
    rng: Random,
    modules: Collection[str] = (),
    players: Sequence[int] = (5, 6, 7, 8, 9, 10),
    most_deals: int = 151_200,
) -> Json:
    """A position after some honest play or, one time in six, with something in it changed afterwards."""
    position, _ = random_play(rng, modules, players, most_deals)
    return spoiled(position, rng) if rng.random() < 1 / 6 else position


def random_play(
    rng: Random,
    modules: Collection[str] = (),
    players: Sequence[int] = (5, 6, 7, 8, 9, 10),
    most_deals: int = 151_200,
) -> tuple[Json, World]:
    """A position and the deal it was really played with.

    `modules` opens "lancelot", "excalibur" and "plots" (cards of others seen, loyalty seen at any time);
    without them only the other characters, The Resistance and the Lady occur. Decks with more than
    `most_deals` deals are passed over.
    """
    if most_deals < 210:
        raise ValueError("ten players have at least 210 deals, so a lower limit might never be met")
    count = rng.choice(list(players))
    deck, options = random_deck(rng, count, modules)
    while deal_count(deck) > most_deals:
        deck, options = random_deck(rng, count, modules)
    pile = [role for role, copies in deck.items() for _ in range(copies)]
    rng.shuffle(pile)
    world = tuple(pile)
    seat = rng.choice([None, *range(1, count + 1)]) if rng.random() < 0.8 else None
    position: Json = {
        "id": f"random-{rng.getrandbits(32):08x}",
        "players": count,
        "deck": deck,
        "options": options,
        "viewer": None if seat is None else {"seat": seat, "role": world[seat - 1]},
        "observations": [],
        "note": "made at random",
    }
    notes: list[Json] = position["observations"]
    if seat is not None:
        seen = sights(world, seat, options)
        notes += [
            {"type": "reveal", "kind": kind, "seats": sorted(seen[kind])} for kind in KINDS if seen[kind]
        ]
    strict = rng.random() < 0.15
    if strict:
        notes.append({"type": "assume", "rule": "evil_always_fails"})
    played, wins, losses = play_quests(rng, world, position, strict, modules)
    changes = change_quests(position)
    if seat is not None:
        others = [other for other in range(1, count + 1) if other != seat]
        # The Lady comes after quests 2 to 4 of an undecided game, and only once to one seat.
        undecided = played - (3 in (wins, losses))
        moments = [quest for quest in range(2, 5) if quest <= undecided] if "Merlin" in deck else []
        looks = [rng.choice(moments)] if moments and rng.random() < 0.4 else []
        if "plots" in modules:
            looks += [rng.randint(0, played) for _ in range(rng.randint(0, 2))]
        for moment in looks:
            target = rng.choice(others)
            notes.append(
                {
                    "type": "loyalty",
                    "target": target,
                    "value": side(world[target - 1], moment, changes),
                    "after_quest": moment,
                }
            )
    for _ in range(rng.choice([0, 0, 0, 1, 1, 2, 3])):
        notes.append(random_claim(rng, world, rng.randint(0, played), changes))
    if "Assassin" in deck and wins == 3 and rng.random() < 0.5:
        assassin = world.index("Assassin") + 1
        named = rng.choice([other for other in range(1, count + 1) if other != assassin])
        notes.append({"type": "role", "seat": assassin, "role": "Assassin"})
        notes.append(
            {"type": "role" if world[named - 1] == "Merlin" else "not_role", "seat": named, "role": "Merlin"}
        )
    elif rng.random() < 0.1:
        named, role = rng.randint(1, count), rng.choice(list(deck))
        notes.append(
            {"type": "role" if world[named - 1] == role else "not_role", "seat": named, "role": role}
        )
    return position, world


def random_deck(rng: Random, players: int, modules: Collection[str]) -> tuple[dict[str, int], Json]:
    """A legal role set with its options."""
    evil = EVIL_COUNT[players]
    lancelots = "lancelot" in modules and rng.random() < 0.7
    if not lancelots and rng.random() < 0.2:
        return (
            {"Resistance": players - evil, "Spy": evil},
            {"blind_spies": True} if rng.random() < 0.3 else {},
        )
    room = evil - 1 - lancelots
    specials = rng.sample(["Morgana", "Mordred", "Oberon"], rng.randint(0, min(room, 3)))
    percival = rng.random() < 0.5 and (players > 5 or bool({"Morgana", "Mordred"} & set(specials)))
    good = ["Merlin"] + ["Percival"] * percival + ["LancelotGood"] * lancelots
    bad = ["Assassin", *specials] + ["LancelotEvil"] * lancelots
    deck = dict.fromkeys(good, 1) | {"Servant": players - evil - len(good)}
    deck |= dict.fromkeys(bad, 1) | {"Minion": evil - len(bad)}
    options: Json = {"lancelot": rng.choice(["base", "v1", "v2"])} if lancelots else {}
    if "Oberon" in specials and rng.random() < 0.3:
        options["merlin_sees_oberon"] = False
    if "excalibur" in modules and rng.random() < 0.7:
        options["excalibur"] = True
    return ({role: copies for role, copies in deck.items() if copies}, options)


def deal_count(deck: dict[str, int]) -> int:
    """How many distinct deals a deck has."""
    count = factorial(sum(deck.values()))
    for copies in deck.values():
        count //= factorial(copies)
    return count


def play_quests(
    rng: Random, world: World, position: Json, strict: bool, modules: Collection[str]
) -> tuple[int, int, int]:
    """Play quests in order, noting most of them; gives how many were played, won and lost."""
    players, options, notes = position["players"], position["options"], position["observations"]
    variant = options.get("lancelot")
    cards = ["change"] * 2 + ["none"] * (5 if variant == "v2" else 3)
    rng.shuffle(cards)
    if variant == "v2":
        notes += [
            {"type": "lancelot", "quest": quest, "card": card}
            for quest, card in enumerate(cards[:5], 1)
            if card == "change" or rng.random() < 0.3
        ]
    played, wins, losses = 0, 0, 0
    for quest in range(1, rng.randint(0, 5) + 1):
        if variant == "v1" and quest >= 3:
            notes.append({"type": "lancelot", "quest": quest, "card": cards.pop()})
        team = sorted(rng.sample(range(1, players + 1), TEAM_SIZE[players][quest - 1]))
        changes = change_quests(position)
        original = {seat: rng.choice(hand(world[seat - 1], quest, changes, variant, strict)) for seat in team}
        item = random_result(rng, quest, original, position, modules)
        if rng.random() < 0.1:
            notes.append(
                {
                    "type": "vote",
                    "quest": quest,
                    "team": team,
                    "approve": sorted(rng.sample(range(1, players + 1), players // 2 + 1)),
                }
            )
        if rng.random() < 0.85:
            notes.append(item)
        failed = item["fails"] >= (2 if quest == 4 and players >= 7 else 1)
        played, wins, losses = quest, wins + (not failed), losses + failed
        if 3 in (wins, losses):
            break
    return played, wins, losses


def random_result(
    rng: Random, quest: int, original: dict[int, str], position: Json, modules: Collection[str]
) -> Json:
    """What is seen of one quest, given the cards first played."""
    team, final = list(original), dict(original)
    me = position["viewer"]["seat"] if position["viewer"] else None
    item: Json = {"type": "quest", "quest": quest, "team": team}
    known = {seat for seat in team if seat == me and rng.random() < 0.8}
    if "plots" in modules and rng.random() < 0.3:
        known |= {rng.choice(team)}
    if known:
        item["known_cards"] = {str(seat): original[seat] for seat in sorted(known)}
    if position["options"].get("excalibur"):
        holder = rng.choice(team)
        leader = rng.choice([seat for seat in range(1, position["players"] + 1) if seat != holder])
        target = rng.choice([seat for seat in team if seat != holder]) if rng.random() < 0.6 else None
        item["excalibur"] = {"leader": leader, "holder": holder, "target": target}
        if target is not None:
            final[target] = FLIPPED[original[target]]
            if holder == me:
                item["excalibur"]["saw"] = original[target]
    item["fails"] = list(final.values()).count("fail")
    return item


def random_claim(rng: Random, world: World, moment: int, changes: frozenset[int]) -> Json:
    """Something one player says of another's side, true wherever its trust demands it."""
    by, about = rng.sample(range(1, len(world) + 1), 2)
    trust, truth = rng.choice(["none", "if_good", "if_good", "full"]), side(world[about - 1], moment, changes)
    bound = trust == "full" or (trust == "if_good" and side(world[by - 1], moment, changes) == "good")
    return {
        "type": "claim",
        "by": by,
        "about": about,
        "value": truth if bound else rng.choice(["good", "evil"]),
        "trust": trust,
        "after_quest": moment,
    }


def spoiled(position: Json, rng: Random) -> Json:
    """The same position with one observation altered, often beyond what any deal allows."""
    notes = [dict(item) for item in position["observations"]]
    open_to_change = [item for item in notes if item["type"] in ("quest", "loyalty", "claim", "reveal")]
    if not open_to_change:
        return position
    item = rng.choice(open_to_change)
    if item["type"] == "quest":
        item["fails"] = rng.choice(
            [fails for fails in range(len(item["team"]) + 1) if fails != item["fails"]]
        )
        # Another result may end the game here: strike out what could then not have happened any more.
        notes = [other for other in notes if not comes_after(other, item["quest"], position["options"])]
    elif item["type"] == "reveal":
        item["seats"] = sorted(rng.sample(range(1, position["players"] + 1), len(item["seats"])))
    else:
        item["value"] = "good" if item["value"] == "evil" else "evil"
    return position | {"observations": notes}


def comes_after(item: Json, quest: int, options: Json) -> bool:
    """Whether an observation needs the game to go on after a quest (change cards dealt in advance do not)."""
    if item["type"] == "lancelot" and options["lancelot"] == "v2":
        return False
    if item["type"] == "loyalty":
        return bool(item["after_quest"] >= quest)
    moment: int = item["after_quest"] if item["type"] == "claim" else item.get("quest", 0)
    return moment > quest
