"""An independent answer to "which deals explain this record?", by playing it by hand for every deal.

Takes a record as plain data (the JSON form of docs/records.md) and a viewer, and gives the deals for which some legal
game shows that viewer what the record says he saw. It knows the book, not the project: nothing is imported from it.
What nobody wrote down is tried in every way. It prefers being obvious to being fast.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Any

Json = dict[str, Any]
Deal = tuple[str, ...]

EVIL = frozenset({"assassin", "minion", "morgana", "mordred", "oberon", "spy"})
EVIL_COUNT = {5: 2, 6: 2, 7: 3, 8: 3, 9: 3, 10: 4}
TEAM_SIZE = {
    5: (2, 3, 2, 3, 3),
    6: (2, 3, 4, 3, 4),
    7: (2, 3, 3, 4, 4),
    8: (3, 4, 4, 5, 5),
    9: (3, 4, 4, 5, 5),
    10: (3, 4, 4, 5, 5),
}


@dataclass(frozen=True)
class State:
    """Where a game stands; `waiting` is what must be done next, "over" when it has ended."""

    waiting: str = "propose"
    leader: int = 0
    rejections: int = 0
    successes: int = 0
    failures: int = 0
    done: frozenset[int] = frozenset()
    quest: int = 1
    round_quest: int = 0
    team: frozenset[int] = frozenset()
    holder: int = -1
    past: frozenset[int] = frozenset()
    examined: int = -1
    own_card: str = ""  # the viewer's card of this quest, if it is known
    winner: str | None = None


@dataclass(frozen=True)
class Table:
    """The players, the deck, the modules and the readings of the book in force."""

    names: tuple[str, ...]
    deck: Mapping[str, int]
    modules: frozenset[str] = frozenset()
    rulings: Mapping[str, str] = field(default_factory=dict)

    @property
    def players(self) -> int:
        return len(self.names)

    def ruling(self, name: str, default: str) -> str:
        return self.rulings.get(name, default)


def table_of(record: Json) -> Table:
    """The table a record speaks of; its roles must be the whole deck."""
    deck: dict[str, int] = {}
    for role in record["roles"]:
        deck[role] = deck.get(role, 0) + 1
    return Table(
        tuple(record["players"]), deck, frozenset(record.get("modules", ())), record.get("rulings", {})
    )


def deals(table: Table) -> Iterator[Deal]:
    """Every distinct way to lay the cards out."""
    cards = list(table.deck.items())

    def lay(index: int, laid: dict[int, str], free: tuple[int, ...]) -> Iterator[Deal]:
        if index == len(cards):
            yield tuple(laid[seat] for seat in range(table.players))
            return
        role, number = cards[index]
        for chosen in combinations(free, number):
            rest = tuple(seat for seat in free if seat not in chosen)
            yield from lay(index + 1, laid | dict.fromkeys(chosen, role), rest)

    return lay(0, {}, tuple(range(table.players)))


def possible_deals(record: Json, viewer: str | None) -> list[Deal]:
    """The deals that explain what the viewer (None: a spectator) saw. A viewer's own card must be in the record."""
    table = table_of(record)
    me = None if viewer is None else table.names.index(viewer)
    for ending in ENDINGS:
        found = [deal for deal in deals(table) if explains(table, deal, record, me, ending)]
        if found:
            break
    return found


# How the last event is read, the first that any deal explains: nobody broke a duty with it, or somebody did and that
# ended the game. Who won comes first: after a duty that can end the game it is taken to say that it was broken.
ENDINGS = ("breach", "dutiful", "open")


def explains(table: Table, deal: Deal, record: Json, me: int | None, ending: str = "dutiful") -> bool:
    """Could this deal, with some legal play, have given what the viewer saw?"""
    if me is not None:
        if deal[me] != record["deal"][table.names[me]]:
            return False
        for event in record["events"]:
            saw = event.get("saw", {}).get(table.names[me]) if event["phase"] == "reveal" else None
            if saw is not None and {table.names.index(n) for n in saw} != sights(table, deal, me):
                return False
    return bool(play(table, deal, record, me, ending))


def sights(table: Table, deal: Deal, seat: int) -> set[int]:
    """Whom a seat saw at the reveal, whatever the sign."""
    plain_only = table.ruling("called_minions", "all_evil") == "plain_only"

    def called(role: str) -> bool:
        return role in EVIL and (not plain_only or role in ("minion", "spy"))

    def looks(role: str) -> bool:
        return called(role) and role != "oberon" and "blind_spies" not in table.modules

    def shows_thumb(role: str) -> bool:
        hidden = role == "oberon" and table.ruling("oberon_thumb", "raised") == "hidden_from_merlin"
        return called(role) and role != "mordred" and not hidden

    role = deal[seat]
    found: set[int] = set()
    if looks(role):
        found |= {s for s, r in enumerate(deal) if looks(r) and s != seat}
    if role == "merlin":
        found |= {s for s, r in enumerate(deal) if shows_thumb(r)}
    if role == "percival":
        found |= {s for s, r in enumerate(deal) if r in ("merlin", "morgana")}
    return found


def play(table: Table, deal: Deal, record: Json, me: int | None, ending: str = "dutiful") -> set[State]:
    """Every state the game can be in after the record."""
    seats = range(table.players)
    states = {_new_round(table, State(leader=s, holder=(s - 1) % table.players)) for s in seats}
    events = [e for e in record["events"] if e["phase"] not in ("says", "reveal")]
    winner = record.get("winner")
    for event in events[:-1]:
        states = {s for state in states if not state.winner for s in step(table, deal, state, event, me)}
    for event in events[-1:]:
        open_ = ending != "dutiful" or winner is not None
        states = {
            s for state in states if not state.winner for s in step(table, deal, state, event, me, open_)
        }
        if ending == "breach":
            if winner is None or event["phase"] != "lady":
                return set()
            return {s for s in states if s.winner == winner}
    if winner is not None and events:
        # the game ended so, or the record breaks off before its end; cards that were due were played in any case
        later = [
            after
            for s in states
            for after in (_cards(table, deal, s, me, None) if s.waiting == "cards" else (s,))
        ]
        states = {s for s in later if s.winner in (None, winner)}
    return states


def step(
    table: Table, deal: Deal, state: State, event: Json, me: int | None, ended: bool = False
) -> Iterator[State]:
    """The states after one event that was written down, unwritten secrets before it included."""
    by = None if event.get("by") is None else table.names.index(event["by"])
    match event["phase"]:
        case "first_leader":
            if event.get("leader") in (None, table.names[state.leader]):
                yield state
        case "propose":
            for s in _await(table, deal, state, "propose", me):
                yield from _propose(table, s, event, by)
        case "vote":
            if state.waiting == "vote":
                yield from _vote(table, state, event)
        case "cards":
            if state.waiting == "cards":
                card = None if me is None else event.get("card", {}).get(table.names[me])
                known = replace(state, own_card=card or "")
                if any(True for _ in _cards(table, deal, known, me, None)):
                    yield known
        case "tally" if event.get("fails") is None:
            if state.waiting == "cards":
                yield state
        case "tally":
            if state.waiting == "cards":
                yield from _cards(table, deal, state, me, event["fails"])
        case "lady":
            for s in _await(table, deal, state, "lady", me):
                yield from _lady(table, deal, s, event, by, me, ended)
        case "naming":
            for s in _await(table, deal, state, "naming", me):
                yield from _naming(table, deal, s, event, by)


def _await(table: Table, deal: Deal, state: State, waiting: str, me: int | None) -> Iterator[State]:
    """The state, or those after a quest nobody wrote the result of."""
    if state.waiting == waiting:
        yield state
    elif state.waiting == "cards":
        for after in _cards(table, deal, state, me, None):
            if after.waiting == waiting:
                yield after


def _new_round(table: Table, state: State) -> State:
    kept = state.rejections if table.ruling("vote_track", "reset") == "keep" else 0
    due = min(state.successes + state.failures + 1, 5)
    return replace(state, waiting="propose", rejections=kept, quest=due, round_quest=0, own_card="")


def _propose(table: Table, state: State, event: Json, by: int | None) -> Iterator[State]:
    if by is not None and by != state.leader:
        return
    team = frozenset(table.names.index(n) for n in event["team"])
    quest = state.quest
    if "targeting" in table.modules:
        quest = event["target"]
        gate = quest == 5 and state.successes < 2 and table.ruling("fifth_gate", "two_successes") != "no_gate"
        again = quest in state.done and table.ruling("repeat_quest", "once") == "once"
        fixed = table.ruling("after_rejection", "choose_again") == "same_quest"
        if gate or again or (fixed and state.round_quest not in (0, quest)):
            return
    if len(team) != TEAM_SIZE[table.players][quest - 1]:
        return
    unvoted = table.ruling("fifth_team", "vote") == "no_vote" and state.rejections == 4
    yield replace(
        state, waiting="cards" if unvoted else "vote", team=team, quest=quest, round_quest=quest, own_card=""
    )


def _vote(table: Table, state: State, event: Json) -> Iterator[State]:
    votes = [event.get("approve", {}).get(n) for n in table.names]
    least = sum(v is True for v in votes)
    most = sum(v is not False for v in votes)
    if 2 * most > table.players:
        yield replace(state, waiting="cards")
    if 2 * least <= table.players:
        rejections = min(state.rejections + 1, 5)
        if rejections == 5:
            yield replace(state, waiting="over", winner="evil", rejections=5)
        else:
            leader = (state.leader + 1) % table.players
            yield replace(state, waiting="propose", rejections=rejections, leader=leader)


def _cards(table: Table, deal: Deal, state: State, me: int | None, fails: int | None) -> Iterator[State]:
    """All results the team's cards can have; with `fails` None the result itself was not seen."""
    evil = {s for s in state.team if deal[s] in EVIL}
    sure, open_ = 0, len(evil)
    if state.own_card:
        if me not in state.team or (state.own_card == "fail" and me not in evil):
            return
        if me in evil:
            open_ -= 1
            sure = int(state.own_card == "fail")
    for shown in range(sure, sure + open_ + 1):
        if fails is None or fails == shown:
            yield _resolved(table, state, shown)


def _resolved(table: Table, state: State, fails: int) -> State:
    resolved = state.successes + state.failures
    fourth = state.quest == 4 if table.ruling("fourth_quest", "space") == "space" else resolved == 3
    failed = fails >= (2 if table.players >= 7 and fourth else 1)
    after = replace(
        state,
        successes=state.successes + (not failed),
        failures=state.failures + failed,
        done=state.done | {state.quest},
    )
    return _lady_or_on(table, after)


def _lady_or_on(table: Table, state: State) -> State:
    decided = 3 in (state.successes, state.failures)
    if "lady" in table.modules:
        by_order = table.ruling("lady_after", "by_order") == "by_order"
        just = state.successes + state.failures if by_order else state.quest
        used_first = table.ruling("lady_at_end", "not_used") == "used_first"
        if 2 <= just <= 4 and len(state.past) < 3 and (used_first or not decided):
            return replace(state, waiting="lady")
    return _on(table, state)


def _on(table: Table, state: State) -> State:
    if state.failures == 3:
        return replace(state, waiting="over", winner="evil")
    if state.successes == 3:
        named = "merlin" in table.deck or table.ruling("merlin_in_play", "always") == "optional_naming"
        if "resistance" in table.deck or not named:
            return replace(state, waiting="over", winner="good")
        return replace(state, waiting="naming")
    return _new_round(table, replace(state, leader=(state.leader + 1) % table.players))


def _lady(
    table: Table, deal: Deal, state: State, event: Json, by: int | None, me: int | None, ended: bool
) -> Iterator[State]:
    target = table.names.index(event["examined"])
    if by not in (None, state.holder) or target == state.holder or target in state.past:
        return
    side = "evil" if deal[target] in EVIL else "good"
    shown = event.get("loyalty") if me == state.holder else None
    if shown in (None, side):
        yield _on(table, replace(state, past=state.past | {state.holder}, holder=target))
    if ended and shown != side:
        loser = "good" if side == "evil" else "evil"
        winner = loser if table.ruling("wrong_card", "side_loses") == "side_loses" else "nobody"
        yield replace(state, waiting="over", winner=winner)


def _naming(table: Table, deal: Deal, state: State, event: Json, by: int | None) -> Iterator[State]:
    victim = table.names.index(event["victim"])
    killer = table.ruling("killer", "assassin")
    namers = {s for s, r in enumerate(deal) if (r == killer if table.deck.get(killer) else r in EVIL)} - {
        victim
    }
    if by is not None:
        namers &= {by}
    domain = table.ruling("naming_domain", "any_other")
    if domain == "good_only" and deal[victim] in EVIL:
        return
    if domain == "not_known_evil":
        namers = {p for p in namers if not knows_evil(table, deal, p, victim)}
    if namers:
        yield replace(state, waiting="over", winner="evil" if deal[victim] == "merlin" else "good")


def knows_evil(table: Table, deal: Deal, seat: int, other: int) -> bool:
    """Did this evil seat see the other with open eyes?"""
    return deal[other] in EVIL and deal[seat] in EVIL and other in sights(table, deal, seat)
