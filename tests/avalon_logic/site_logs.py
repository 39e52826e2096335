"""Legal games in the shape other sites export, played at random on the hand-written engine.

`logged_game` gives one game as the JSON object a site would write; `game_with` looks for one in which something
happened. Tests break such games in one place and ask what the replay says.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

from tests.oracle.plain_engine import EVIL_COUNT, Game, deal, play_random_move

Log = dict[str, Any]


def deck_for(players: int) -> tuple[str, ...]:
    """Merlin, Percival, the Assassin and as many special evil roles as fit, plain cards for the rest."""
    evil = ("assassin", "morgana", "mordred", "oberon")[: EVIL_COUNT[players]]
    return ("merlin", "percival", *("servant",) * (players - len(evil) - 2), *evil)


def logged_game(
    players: int, seed: int, lady: bool = False, unvoted: bool = False, targeting: bool = False
) -> Log:
    """A legal random game as a site would log it."""
    rng = Random(seed)
    roles, leader = deal(deck_for(players), rng)
    game = Game(roles, leader, targeting, with_lady=lady, fifth_without_vote=unvoted)
    names = [f"p{seat + 1}" for seat in range(players)]
    events: list[Log] = []
    cards: dict[int, str] = {}
    while game.phase != "over":
        known = len(game.log)
        attempt = game.rejections + 1
        if game.phase == "cards":
            cards = {s: rng.choice(game.legal_cards(s)) for s in game.team}
            game.play_cards(cards)  # type: ignore[arg-type]
        elif game.phase == "propose":
            play_random_move(game, rng)
            if game.phase == "vote":
                # people approve more often than not, or most games would end by rejections
                game.vote([rng.random() < 0.6 for _ in names])
        elif game.phase == "assassinate":
            game.assassinate(rng.choice([s for s in game.legal_victims() if game.side(s) == "good"]))
        else:
            play_random_move(game, rng)
        for entry in game.log[known:]:
            _write(entry, events, names, attempt, cards)
    return {
        "id": f"g{players}-{seed}",
        "players": names,
        "roles": dict(zip(names, roles, strict=True)),
        "modules": ["lady"] * lady + ["targeting"] * targeting,
        "events": events,
        "winner": game.winner,
    }


def _write(entry: Log, events: list[Log], names: list[str], attempt: int, cards: dict[int, str]) -> None:
    match entry["event"]:
        case "propose":
            team = [names[s] for s in entry["team"]]
            made = {"t": "propose", "quest": entry["quest"], "attempt": attempt, "team": team}
            # until a vote says otherwise this is a team that goes without one
            rest = {"leader": names[entry["leader"]], "votes": None, "approved": True, "forced": True}
            events.append({**made, **rest})
        case "vote":
            votes = {names[s]: v for s, v in enumerate(entry["votes"])}
            del events[-1]["forced"]
            events[-1].update(votes=votes, approved=entry["approved"])
        case "quest":
            shown = {names[s]: c == "success" for s, c in cards.items()}
            team = [names[s] for s in entry["team"]]
            outcome = {"fails": entry["fails"], "success": entry["success"], "cards": shown}
            events.append({"t": "quest", "quest": entry["quest"], "team": team, **outcome})
        case "lady":
            looked = {"holder": names[entry["holder"]], "target": names[entry["target"]]}
            events.append({"t": "lady", **looked, "claim": "good"})
        case "assassinate":
            named = {"by": names[entry["by"]], "target": names[entry["target"]], "hit": entry["hit"]}
            events.append({"t": "assassinate", **named})


def game_with(wanted: Callable[[Log], bool], players: int = 5, **options: bool) -> Log:
    """The first random game in which something happened."""
    return next(g for seed in range(10_000) if wanted(g := logged_game(players, seed, **options)))


def events_of(game: Log, kind: str) -> list[Log]:
    return [e for e in game["events"] if e["t"] == kind]
