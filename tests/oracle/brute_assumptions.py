"""An independent answer to "how likely is each deal?" under assumptions about play, by trying everything hidden.

Takes a game as plain data (players, deck, events; seats count from 0) and the names of assumptions; gives the weight
of every deal that is still possible. Every assumption is written down here a second time, as a Python function. Shares
nothing with the code it judges and prefers being obvious to being fast.

What no likelihood speaks of only rules deals out: it is enough that some hidden play fits. A hidden play that a
likelihood does speak of is summed over. An unknown team counts as each team that fits, alike.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations, product

from .brute_worlds import EVIL, TEAM_SIZE, World, deals

NEED_TWO_FROM = 7


@dataclass(frozen=True)
class Attempt:
    """One proposal: who led, whom he took (None: not noted), the votes noted, and the quest's fails if it went."""

    leader: int
    team: frozenset[int] | None
    votes: dict[int, bool]
    approved: bool | None  # None: the record ends before that is known
    fails: int | None = None
    cards: dict[int, str] = field(default_factory=dict)
    claims: tuple[tuple[int, int, str], ...] = ()  # said afterwards: by, about, side
    named: tuple[int, int] | None = None  # who named whom in the end
    result: str | None = None  # who won, if that ended the game
    resolved: int = 0  # quests decided before
    quest: int = 1


@dataclass(frozen=True)
class Scene:
    """What an assumption may look at."""

    world: World
    attempt: Attempt
    team: frozenset[int]

    def evil(self, seat: int) -> bool:
        return self.world[seat] in EVIL

    def evil_aboard(self) -> int:
        return sum(self.evil(s) for s in self.team)

    def thumbs(self, seats: frozenset[int]) -> bool:
        """Does Merlin see somebody of these as evil?"""
        return any(self.evil(s) and self.world[s] != "Mordred" for s in seats)


Likelihood = Callable[[Scene, int, object], float]  # scene, who, what was chosen


def truth(condition: Callable[[Scene, int, object], bool]) -> Likelihood:
    return lambda scene, who, value: 1.0 if condition(scene, who, value) else 0.0


# choice -> assumption -> likelihood; those in HARD have only 0 and 1
CARDS: dict[str, Likelihood] = {
    "evil_always_fails": truth(lambda s, p, v: not s.evil(p) or v == "fail"),
    "lone_evil_fails": truth(lambda s, p, v: not (s.evil(p) and s.evil_aboard() == 1) or v == "fail"),
    "evil_hides_first": truth(lambda s, p, v: s.attempt.resolved > 0 or v == "success"),
    "evil_fails_half_the_time": lambda s, p, v: 0.5 if s.evil(p) else float(v == "success"),
    "evil_usually_fails": lambda s, p, v: (
        (0.8 if v == "fail" else 0.2) if s.evil(p) else float(v == "success")
    ),
}
VOTES: dict[str, Likelihood] = {
    "evil_approves_evil": truth(lambda s, p, v: not (s.evil(p) and s.evil_aboard() > 0) or bool(v)),
    "good_rejects_without_self": truth(lambda s, p, v: s.evil(p) or p in s.team or not v),
    "merlin_never_approves_seen_evil": truth(
        lambda s, p, v: not (s.world[p] == "Merlin" and s.thumbs(s.team)) or not v
    ),
    "evil_votes_for_evil": lambda s, p, v: (0.7 if (s.evil_aboard() > 0) == v else 0.3) if s.evil(p) else 0.5,
    "merlin_avoids_seen_evil": lambda s, p, v: (
        (0.2 if v else 0.8) if s.world[p] == "Merlin" and s.thumbs(s.team) else 0.5
    ),
}
TEAMS: dict[str, Likelihood] = {
    "good_leader_goes_along": truth(lambda s, p, v: s.evil(p) or p in s.team),
    "evil_leader_takes_evil": truth(lambda s, p, v: not s.evil(p) or s.evil_aboard() > 0),
    "merlin_never_takes_seen_evil": truth(lambda s, p, v: s.world[p] != "Merlin" or not s.thumbs(s.team)),
}


def _claim(name: str, world: World, by: int, about: int, value: str) -> float:
    evil, true = world[by] in EVIL, (world[about] in EVIL) == (value == "evil")
    match name:
        case "good_tells_the_truth":
            return float(evil or true)
        case "everyone_tells_the_truth":
            return float(true)
        case "evil_covers_evil":
            return float(not (evil and world[about] in EVIL) or value == "good")
        case "good_mostly_truthful":
            return 0.5 if evil else 0.9 if true else 0.1
    return 1.0


HARD = frozenset(
    {
        "evil_always_fails",
        "lone_evil_fails",
        "evil_hides_first",
        "evil_approves_evil",
        "good_rejects_without_self",
        "merlin_never_approves_seen_evil",
        "good_leader_goes_along",
        "evil_leader_takes_evil",
        "merlin_never_takes_seen_evil",
        "good_tells_the_truth",
        "everyone_tells_the_truth",
        "evil_covers_evil",
        "assassin_never_names_known_evil",
    }
)
WEIGHTED = frozenset(
    {
        "evil_fails_half_the_time",
        "evil_usually_fails",
        "evil_votes_for_evil",
        "merlin_avoids_seen_evil",
        "good_mostly_truthful",
    }
)


def posterior(
    players: int, deck: dict[str, int], attempts: Sequence[Attempt], assumed: Sequence[str]
) -> dict[World, float]:
    """Every possible deal with its probability."""
    weights = {
        world: weight for world in deals(deck, players) if (weight := _weight(world, attempts, assumed)) > 0
    }
    if not WEIGHTED & set(assumed):
        weights = dict.fromkeys(weights, 1.0)
    total = sum(weights.values())
    return {world: weight / total for world, weight in weights.items()}


def _weight(world: World, attempts: Sequence[Attempt], assumed: Sequence[str]) -> float:
    weight = 1.0
    for attempt in attempts:
        weight *= _attempt(world, attempt, assumed)
        if not weight:
            return 0.0
    return weight


def _attempt(world: World, attempt: Attempt, assumed: Sequence[str]) -> float:
    size = TEAM_SIZE[len(world)][attempt.quest - 1]
    every = (
        [frozenset(t) for t in combinations(range(len(world)), size)]
        if attempt.team is None
        else [attempt.team]
    )
    fitting = [
        team
        for team in every
        if all(TEAMS[a](Scene(world, attempt, team), attempt.leader, team) for a in assumed if a in TEAMS)
    ]
    if not fitting:
        return 0.0
    total = sum(_team(Scene(world, attempt, team), assumed) for team in fitting) / len(fitting)
    for by, about, value in attempt.claims:
        for name in assumed:
            total *= _claim(name, world, by, about, value)
    if attempt.named is not None:
        found = world[attempt.named[1]] == "Merlin"
        total *= float(naming_fits(world, attempt.named, assumed) and found == (attempt.result == "evil"))
    return total


def naming_fits(world: World, named: tuple[int, int], assumed: Sequence[str]) -> bool:
    """Can this seat have named that one?"""
    by, victim = named
    if world[by] != "Assassin" or by == victim:
        return False
    fellow = world[victim] in EVIL - {"Oberon"}
    return not (fellow and "assassin_never_names_known_evil" in assumed)


def _team(scene: Scene, assumed: Sequence[str]) -> float:
    seats = range(len(scene.world))
    votes = _hidden(
        ([scene.attempt.votes[s]] if s in scene.attempt.votes else [True, False] for s in seats),
        lambda cast: scene.attempt.approved in (None, 2 * sum(map(bool, cast)) > len(scene.world)),
        [(VOTES[a], a in WEIGHTED) for a in assumed if a in VOTES],
        scene,
        list(seats),
    )
    if not scene.attempt.approved or scene.attempt.fails is None or not votes:
        return votes
    team = sorted(scene.team)
    hands = (
        [scene.attempt.cards[s]]
        if s in scene.attempt.cards
        else ["success", "fail"]
        if scene.evil(s)
        else ["success"]
        for s in team
    )
    cards = _hidden(
        hands,
        lambda played: (
            played.count("fail") == scene.attempt.fails
            and all(scene.evil(s) or c == "success" for s, c in zip(team, played, strict=True))
        ),
        [(CARDS[a], a in WEIGHTED) for a in assumed if a in CARDS],
        scene,
        team,
    )
    return votes * cards


def _hidden(
    options: Iterator[Sequence[object]],
    fits: Callable[[tuple[object, ...]], bool],
    likelihoods: Sequence[tuple[Likelihood, bool]],
    scene: Scene,
    seats: Sequence[int],
) -> float:
    """The likelihood of what was seen: summed over hidden choices if one is weighed, else whether one fits."""
    total = 0.0
    for chosen in product(*options):
        if not fits(chosen):
            continue
        weight = 1.0
        for likelihood, _ in likelihoods:
            for seat, value in zip(seats, chosen, strict=True):
                weight *= likelihood(scene, seat, value)
        total += weight
    if any(weighted for _, weighted in likelihoods):
        return total
    return 1.0 if total else 0.0
