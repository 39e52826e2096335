"""Random records in plain data, played by the book and then partly forgotten, to compare ways of deducing on.

Most are consistent, since a real deal was played; some are spoiled on purpose. Private things of all seats are in the
record: the viewer's own count, everybody else's must not matter. Of the deal only the viewer's card is.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import factorial
from random import Random
from typing import Any

from .brute_records import EVIL, EVIL_COUNT, TEAM_SIZE, Deal, Json, State, Table, play, sights, step, table_of

NAMES = ("Ann", "Bob", "Cid", "Dan", "Eve", "Fay", "Gus", "Hal", "Ida", "Jim")
RULINGS: dict[str, tuple[str, ...]] = {
    "fourth_quest": ("space", "attempt"),
    "vote_track": ("reset", "keep"),
    "fifth_team": ("vote", "no_vote"),
}
AVALON_RULINGS: dict[str, tuple[str, ...]] = {
    "called_minions": ("all_evil", "plain_only"),
    "naming_domain": ("any_other", "not_known_evil", "good_only"),
}
MODULE_RULINGS: dict[str, dict[str, tuple[str, ...]]] = {
    "lady": {
        "lady_at_end": ("not_used", "used_first"),
        "lady_after": ("by_order", "by_space"),
        "wrong_card": ("side_loses", "offender_loses", "nobody_wins"),
    },
    "targeting": {
        "fifth_gate": ("two_successes", "no_gate"),
        "repeat_quest": ("once", "again"),
        "after_rejection": ("choose_again", "same_quest"),
    },
    "oberon": {"oberon_thumb": ("raised", "hidden_from_merlin")},
}


def random_record(
    rng: Random, players: Sequence[int], most_deals: int, spoiled: float = 0.2
) -> tuple[Json, str | None, Deal]:
    """A record, whose eyes to read it with (None: a spectator's), and the deal it was really played with."""
    while True:
        record = _table(rng, rng.choice(list(players)))
        deals = factorial(len(record["players"]))
        for number in table_of(record).deck.values():
            deals //= factorial(number)
        if deals <= most_deals:
            break
    table = table_of(record)
    cards = list(record["roles"])
    rng.shuffle(cards)
    deal = tuple(cards)
    viewer = rng.choice([None, *range(table.players)])
    record["events"] = []
    _reveal(rng, table, deal, record)
    _play(rng, table, deal, record)
    if rng.random() < spoiled:
        _spoil(rng, table, record)
    record["deal"] = {} if viewer is None else {table.names[viewer]: deal[viewer]}
    return record, None if viewer is None else table.names[viewer], deal


def _table(rng: Random, players: int) -> Json:
    evil = EVIL_COUNT[players]
    modules: list[str] = []
    if rng.random() < 0.2:
        game, deck = "resistance", ["resistance"] * (players - evil) + ["spy"] * evil
    else:
        game = "avalon"
        good = ["merlin"] * (rng.random() < 0.9) + ["percival"] * (rng.random() < 0.5)
        bad = [r for r in ("assassin", "morgana", "mordred", "oberon") if rng.random() < 0.6][:evil]
        deck = good + ["servant"] * (players - evil - len(good)) + bad + ["minion"] * (evil - len(bad))
        if rng.random() < 0.4:
            modules.append("lady")
    if rng.random() < 0.3:
        modules.append("targeting")
    if rng.random() < 0.15:
        modules.append("blind_spies")
    rulings = _rulings(rng, game, modules, deck)
    return {
        "game": game,
        "players": list(NAMES[:players]),
        "modules": modules,
        "roles": deck,
        "rulings": rulings,
    }


def _rulings(rng: Random, game: str, modules: list[str], deck: list[str]) -> dict[str, str]:
    offered = dict(RULINGS)
    for name, choices in MODULE_RULINGS.items():
        if name in modules or name in deck:
            offered |= choices
    found: dict[str, str] = {}
    if game == "avalon":
        offered |= AVALON_RULINGS
        if "merlin" not in deck:
            found["merlin_in_play"] = rng.choice(["optional_no_naming", "optional_naming"])
        bad = sorted(set(deck) & EVIL)
        if "assassin" not in deck or rng.random() < 0.2:
            found["killer"] = rng.choice(bad)
        if rng.random() < 0.1:
            found["killer"] = rng.choice(["assassin", *bad])
        found["merlin_without_killer"] = "jointly"
    for name, alternatives in offered.items():
        if rng.random() < 0.25:
            found[name] = rng.choice(alternatives)
    return found


def _reveal(rng: Random, table: Table, deal: Deal, record: Json) -> None:
    """Whom everybody saw (a seat's own account); now and then some left no account."""
    told = {
        n: [table.names[s] for s in sorted(sights(table, deal, seat))]
        for seat, n in enumerate(table.names)
        if rng.random() < 0.9
    }
    record["events"].append({"phase": "reveal", "saw": told})


def _play(rng: Random, table: Table, deal: Deal, record: Json) -> None:
    """Plays on until the game ends or interest fades, and writes down what somebody noted."""
    events: list[Json] = record["events"]
    leader = rng.randrange(table.players)
    first = {"phase": "first_leader", "leader": table.names[leader]}
    events.insert(0, first)
    whole: list[Json] = [first]
    length = rng.choice((6, 12, 20, 40, 80))
    while True:
        (state,) = play(table, deal, {**record, "events": whole}, None)
        if state.waiting == "over" or len(whole) > length:
            break
        moves = _moves(rng, table, deal, state)
        if moves[0]["phase"] == "lady" and rng.random() < 0.15:
            events.append(_wrong_card(table, moves[0], record))
            return
        for event in moves:
            whole.append(event)
            noted = _noted(rng, event)
            if noted is not None:
                events.append(noted)
    if rng.random() < 0.2:
        del events[0]
    if state.winner is not None and rng.random() < 0.7:
        record["winner"] = state.winner
        if rng.random() < 0.15:  # a log that was cut off but names its winner
            del events[rng.randrange(1, len(events) + 1) :]


def _wrong_card(table: Table, lady: Json, record: Json) -> Json:
    """The Lady's holder is passed a wrong card: that ends the game."""
    side = lady["loyalty"]
    record["winner"] = "nobody"
    if table.ruling("wrong_card", "side_loses") == "side_loses":
        record["winner"] = "good" if side == "evil" else "evil"
    return {**lady, "loyalty": "good" if side == "evil" else "evil"}


def _moves(rng: Random, table: Table, deal: Deal, state: State) -> list[Json]:
    names = table.names
    match state.waiting:
        case "propose":
            return [_proposal(rng, table, deal, state)]
        case "vote":
            approving = rng.random() < 0.75
            return [{"phase": "vote", "approve": {n: (rng.random() < 0.8) == approving for n in names}}]
        case "cards":
            cards = {
                names[s]: rng.choice(("success", "fail")) if deal[s] in EVIL else "success"
                for s in sorted(state.team)
            }
            fails = list(cards.values()).count("fail")
            return [{"phase": "cards", "card": cards}, {"phase": "tally", "fails": fails}]
        case "lady":
            legal = [s for s in range(table.players) if s != state.holder and s not in state.past]
            target = rng.choice(legal)
            side = "evil" if deal[target] in EVIL else "good"
            lady = {
                "phase": "lady",
                "examined": names[target],
                "loyalty": side,
                "by": names[state.holder],
            }
            said = {"by": names[state.holder], "about": names[target], "value": rng.choice(("good", "evil"))}
            return [lady, {"phase": "says", **said}] if rng.random() < 0.5 else [lady]
        case _:
            return [_naming(rng, table, deal, state)]


def _proposal(rng: Random, table: Table, deal: Deal, state: State) -> Json:
    names = table.names
    while True:
        event: Json = {"phase": "propose", "by": names[state.leader]}
        quest = state.quest
        if "targeting" in table.modules:
            quest = rng.randint(1, 5)
            event["target"] = quest
        size = TEAM_SIZE[table.players][quest - 1]
        event["team"] = [names[s] for s in sorted(rng.sample(range(table.players), size))]
        if any(True for _ in step(table, deal, state, event, None)):
            return event


def _naming(rng: Random, table: Table, deal: Deal, state: State) -> Json:
    names = table.names
    while True:
        event = {"phase": "naming", "victim": rng.choice(names), "by": rng.choice(names)}
        if any(True for _ in step(table, deal, state, event, None)):
            return event


def _noted(rng: Random, event: Json) -> Json | None:
    """An event as somebody wrote it down: parts are missing now and then."""
    noted: dict[str, Any] = dict(event)
    if noted["phase"] in ("propose", "lady", "naming") and rng.random() < 0.2:
        del noted["by"]
    if noted["phase"] == "vote" and rng.random() < 0.3:
        kept = {n: v for n, v in noted["approve"].items() if rng.random() < 0.5}
        noted["approve"] = kept
    if noted["phase"] == "cards":
        noted["card"] = {n: c for n, c in noted["card"].items() if rng.random() < 0.8}
        return noted if rng.random() < 0.6 and noted["card"] else None
    if noted["phase"] == "tally" and rng.random() < 0.1:
        return None
    if noted["phase"] == "lady" and rng.random() < 0.2:
        del noted["loyalty"]
    return noted


def _spoil(rng: Random, table: Table, record: Json) -> None:
    """Changes one thing, often beyond what any deal allows."""
    open_to_change = [e for e in record["events"] if e["phase"] in ("tally", "cards", "lady", "reveal")]
    if not open_to_change:
        return
    event = rng.choice(open_to_change)
    match event["phase"]:
        case "tally":
            event["fails"] = rng.randint(0, 3)
            del record["events"][record["events"].index(event) + 1 :]
            record.pop("winner", None)
        case "cards":
            who = rng.choice(sorted(event["card"]))
            event["card"][who] = "fail" if event["card"][who] == "success" else "success"
        case "lady":
            event["loyalty"] = rng.choice(("good", "evil"))
        case "reveal" if event["saw"]:
            who = rng.choice(sorted(event["saw"]))
            others = [n for n in table.names if n != who]
            event["saw"][who] = rng.sample(others, rng.randint(0, 3))
