"""A second engine of The Resistance and Avalon, written by hand from the clause catalog and from nothing else.

It is the oracle the generated engine is compared with and the baseline of the speed benchmark, so it shares no
code with the project. It takes a deal (one role a seat, seats counted from 0), a first leader and the options in
force, and gives a `Game` whose methods are the moves of the book. A move that the rules forbid raises
`IllegalMove` with the clause it breaks and leaves the game as it was.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from math import comb
from random import Random
from typing import Any, Literal

Side = Literal["good", "evil"]
Card = Literal["success", "fail"]
Mark = Literal["open", "success", "failure"]
Phase = Literal["propose", "vote", "cards", "lady", "answer", "assassinate", "over"]

GOOD_ROLES = frozenset({"merlin", "percival", "servant", "resistance"})
EVIL_ROLES = frozenset({"assassin", "minion", "mordred", "morgana", "oberon", "spy"})

EVIL_COUNT = {5: 2, 6: 2, 7: 3, 8: 3, 9: 3, 10: 4}
TEAM_SIZE = {
    5: (2, 3, 2, 3, 3),
    6: (2, 3, 4, 3, 4),
    7: (2, 3, 3, 4, 4),
    8: (3, 4, 4, 5, 5),
    9: (3, 4, 4, 5, 5),
    10: (3, 4, 4, 5, 5),
}
QUESTS = (1, 2, 3, 4, 5)
QUESTS_TO_WIN = 3
REJECTIONS_TO_LOSE = 5
LADY_AFTER_QUESTS = (2, 3, 4)


class IllegalMove(Exception):
    """A move or a setup the rules refuse, with the clause that refuses it."""

    def __init__(self, clause: str, message: str) -> None:
        super().__init__(f"{clause}: {message}")
        self.clause = clause
        self.message = message


@dataclass(frozen=True)
class Sight:
    """What one seat saw at the reveal: the evil thumbs or eyes, and the thumbs shown to Percival."""

    evil: frozenset[int] = frozenset()
    percival: frozenset[int] = frozenset()


def side_of(role: str) -> Side:
    """The side printed on a card."""
    if role in GOOD_ROLES:
        return "good"
    if role in EVIL_ROLES:
        return "evil"
    raise IllegalMove("CORE-03", f"there is no card named {role!r}")


def fails_needed(players: int, quest: int) -> int:
    """How many Fail cards make this quest fail (T3)."""
    return 2 if quest == 4 and players >= 7 else 1


def reveal(roles: Sequence[str]) -> list[Sight]:
    """What each seat sees with the default readings: Merlin sees Oberon, every evil card but Oberon looks."""
    evil = {seat for seat, role in enumerate(roles) if side_of(role) == "evil"}
    open_eyed = {seat for seat in evil if roles[seat] != "oberon"}
    thumbs_for_merlin = {seat for seat in evil if roles[seat] != "mordred"}
    thumbs_for_percival = {seat for seat, role in enumerate(roles) if role in ("merlin", "morgana")}
    sights = []
    for seat, role in enumerate(roles):
        if role == "merlin":
            sights.append(Sight(evil=frozenset(thumbs_for_merlin)))
        elif role == "percival":
            sights.append(Sight(percival=frozenset(thumbs_for_percival)))
        elif seat in open_eyed:
            sights.append(Sight(evil=frozenset(open_eyed - {seat})))
        else:
            sights.append(Sight())
    return sights


@dataclass
class Game:
    """One game at the table: the options it is played with, everything that has happened, and the moves."""

    roles: tuple[str, ...]
    leader: int
    targeting: bool = False
    with_lady: bool = False
    keep_counting: bool = False  # AMB-07 (b): the rejections of earlier rounds still count
    fifth_without_vote: bool = False  # AMB-08 (b): the proposal that could lose the game is not voted on
    assassin: int | None = None  # who names Merlin, if it is not the holder of the Assassin card

    players: int = field(init=False)
    phase: Phase = field(init=False, default="propose")
    quest: int | None = field(init=False, default=None)
    team: tuple[int, ...] = field(init=False, default=())
    votes: tuple[bool, ...] = field(init=False, default=())
    fails: int | None = field(init=False, default=None)
    marks: list[Mark] = field(init=False)
    successes: int = field(init=False, default=0)
    failures: int = field(init=False, default=0)
    rejections: int = field(init=False, default=0)
    holder: int | None = field(init=False, default=None)
    past_holders: list[int] = field(init=False, default_factory=list)
    examined: int | None = field(init=False, default=None)
    winner: Side | None = field(init=False, default=None)
    log: list[dict[str, Any]] = field(init=False, default_factory=list)

    def __post_init__(self) -> None:
        self.roles = tuple(self.roles)
        self.players = len(self.roles)
        self.marks = ["open"] * len(QUESTS)
        self._check_setup()
        if self.assassin is None and "assassin" in self.roles:
            self.assassin = self.roles.index("assassin")
        if "merlin" in self.roles:
            if self.assassin is None:
                raise IllegalMove("AMB-12", "Merlin is in play and nobody may name him")
            if self.side(self.assassin) != "evil":
                raise IllegalMove("ROLE-02", f"seat {self.assassin} names Merlin but is not evil")
        if self.with_lady:
            self.holder = (self.leader - 1) % self.players
        if not self.targeting:
            self.quest = 1

    def _check_setup(self) -> None:
        if self.players not in EVIL_COUNT:
            raise IllegalMove("CORE-01", f"5 to 10 can play, not {self.players}")
        evil = sum(side_of(role) == "evil" for role in self.roles)
        if evil != EVIL_COUNT[self.players]:
            raise IllegalMove(
                "CORE-02", f"{self.players} players need {EVIL_COUNT[self.players]} evil cards, not {evil}"
            )
        if not self._is_seat(self.leader):
            raise IllegalMove("CORE-05", f"there is no seat {self.leader}")
        if self.assassin is not None and not self._is_seat(self.assassin):
            raise IllegalMove("CORE-33", f"there is no seat {self.assassin}")

    # What may be done now.

    def side(self, seat: int) -> Side:
        """The side of the card a seat holds."""
        return side_of(self.roles[seat])

    def resolved(self) -> int:
        """How many quests have been undertaken."""
        return self.successes + self.failures

    def team_size(self, quest: int) -> int:
        """How many players a quest needs (T2)."""
        return TEAM_SIZE[self.players][quest - 1]

    def legal_quests(self) -> list[int]:
        """The quests the leader may propose a team for."""
        if self.phase != "propose":
            return []
        if not self.targeting:
            return [self.resolved() + 1]
        return [quest for quest in QUESTS if self._quest_refusal(quest) is None]

    def legal_teams(self, quest: int) -> list[tuple[int, ...]]:
        """Every team the leader may propose for a quest."""
        if quest not in self.legal_quests():
            return []
        return list(combinations(range(self.players), self.team_size(quest)))

    def legal_votes(self) -> list[bool]:
        """What each seat may vote."""
        return [True, False] if self.phase == "vote" else []

    def legal_cards(self, seat: int) -> list[Card]:
        """The quest cards a seat may play face down."""
        if self.phase != "cards" or seat not in self.team:
            return []
        return ["success"] if self.side(seat) == "good" else ["success", "fail"]

    def legal_targets(self) -> list[int]:
        """The seats the holder of the Lady may examine."""
        if self.phase != "lady":
            return []
        return [s for s in range(self.players) if s != self.holder and s not in self.past_holders]

    def legal_answers(self) -> list[Side]:
        """The loyalty card the examined player has to pass; `answer` also takes the other and punishes it."""
        if self.phase != "answer" or self.examined is None:
            return []
        return [self.side(self.examined)]

    def legal_victims(self) -> list[int]:
        """The seats that may be named as Merlin."""
        if self.phase != "assassinate":
            return []
        return [seat for seat in range(self.players) if seat != self.assassin]

    # The moves.

    def propose(self, team: Iterable[int], quest: int | None = None) -> None:
        """The leader sends a team to the vote, and chooses the quest where targeting is in force."""
        self._require_phase("propose", "CORE-11")
        members = list(team)
        chosen = self._chosen_quest(quest)
        for seat in members:
            if not self._is_seat(seat):
                raise IllegalMove("CORE-11", f"there is no seat {seat}")
        if len(set(members)) != len(members):
            raise IllegalMove("CORE-13", "a player can be on a team only once")
        if len(members) != self.team_size(chosen):
            raise IllegalMove(
                "CORE-11", f"quest {chosen} needs {self.team_size(chosen)} players, not {len(members)}"
            )
        self.quest = chosen
        self.team = tuple(sorted(members))
        self.log.append({"event": "propose", "leader": self.leader, "quest": chosen, "team": self.team})
        unvoted = self.fifth_without_vote and self.rejections == REJECTIONS_TO_LOSE - 1
        self.phase = "cards" if unvoted else "vote"

    def vote(self, votes: Sequence[bool]) -> None:
        """Every seat votes at once, in seat order; a tie rejects."""
        self._require_phase("vote", "CORE-15")
        if len(votes) != self.players:
            raise IllegalMove("CORE-15", f"{self.players} players vote, not {len(votes)}")
        if not all(isinstance(ballot, bool) for ballot in votes):
            raise IllegalMove("CORE-15", "a vote is Approve or Reject")
        self.votes = tuple(votes)
        approved = 2 * sum(self.votes) > self.players
        self.log.append({"event": "vote", "votes": self.votes, "approved": approved})
        if approved:
            self.phase = "cards"
            return
        self.rejections += 1
        if self.rejections == REJECTIONS_TO_LOSE:
            self._finish("evil", "CORE-19")
        else:
            self._pass_leadership()

    def play_cards(self, cards: Mapping[int, Card]) -> None:
        """Every member plays a card; only the number of Fail cards goes into the log."""
        self._require_phase("cards", "CORE-21")
        if set(cards) != set(self.team):
            raise IllegalMove("CORE-21", f"team {self.team} plays cards, not {tuple(sorted(cards))}")
        for seat, card in cards.items():
            if card not in ("success", "fail"):
                raise IllegalMove("CORE-22", f"{card!r} is not a quest card")
            if card == "fail" and self.side(seat) == "good":
                raise IllegalMove("CORE-22", f"seat {seat} is good and must play Success")
        self._resolve_quest(sum(card == "fail" for card in cards.values()))

    def lady(self, target: int) -> None:
        """The holder of the Lady examines another player."""
        self._require_phase("lady", "LADY-02")
        if not self._is_seat(target):
            raise IllegalMove("LADY-03", f"there is no seat {target}")
        if target == self.holder:
            raise IllegalMove("LADY-03", "the holder cannot examine himself")
        if target in self.past_holders:
            raise IllegalMove("LADY-03", f"seat {target} has used the Lady")
        self.examined = target
        self.log.append({"event": "lady", "holder": self.holder, "target": target})
        self.phase = "answer"

    def answer(self, side: Side) -> None:
        """The examined player passes a loyalty card; the wrong one loses the game for his side."""
        self._require_phase("answer", "LADY-04")
        if side not in ("good", "evil"):
            raise IllegalMove("LADY-04", f"{side!r} is not a loyalty card")
        assert self.holder is not None and self.examined is not None
        true_side = self.side(self.examined)
        self.log.append({"event": "answer", "seat": self.examined})
        if side != true_side:
            self._finish("good" if true_side == "evil" else "evil", "LADY-05")
            return
        self.past_holders.append(self.holder)
        self.holder = self.examined
        self.examined = None
        self.phase = "propose"

    def assassinate(self, seat: int) -> None:
        """The assassin names the seat he takes for Merlin."""
        self._require_phase("assassinate", "CORE-33")
        if not self._is_seat(seat):
            raise IllegalMove("CORE-33", f"there is no seat {seat}")
        if seat == self.assassin:
            raise IllegalMove("CORE-33", "the assassin names another player")
        hit = self.roles[seat] == "merlin"
        self.log.append({"event": "assassinate", "by": self.assassin, "target": seat, "hit": hit})
        self._finish("evil" if hit else "good", "CORE-33")

    # What follows from the moves.

    def _is_seat(self, seat: int) -> bool:
        return 0 <= seat < self.players

    def _require_phase(self, phase: Phase, clause: str) -> None:
        if self.phase != phase:
            raise IllegalMove(clause, f"the game is in phase {self.phase!r}, not {phase!r}")

    def _quest_refusal(self, quest: int) -> tuple[str, str] | None:
        """Why targeting refuses a quest, or None if it is open."""
        if quest not in QUESTS:
            return "TGT-01", f"there is no quest {quest}"
        if self.marks[quest - 1] != "open":
            return "TGT-03", f"quest {quest} has been attempted"
        if quest == 5 and self.successes < 2:
            return "TGT-04", "quest 5 opens after two successful quests"
        return None

    def _chosen_quest(self, quest: int | None) -> int:
        if self.targeting:
            if quest is None:
                raise IllegalMove("TGT-01", "the leader chooses the quest")
            refusal = self._quest_refusal(quest)
            if refusal is not None:
                raise IllegalMove(*refusal)
            return quest
        due = self.resolved() + 1
        if quest is not None and quest != due:
            raise IllegalMove("CORE-14", f"quest {due} is next, not {quest}")
        return due

    def _pass_leadership(self) -> None:
        self.leader = (self.leader + 1) % self.players
        self.phase = "propose"
        self.team = ()
        self.quest = None if self.targeting else self.resolved() + 1

    def _resolve_quest(self, fails: int) -> None:
        assert self.quest is not None
        failed = fails >= fails_needed(self.players, self.quest)
        self.fails = fails
        self.marks[self.quest - 1] = "failure" if failed else "success"
        self.log.append(
            {"event": "quest", "quest": self.quest, "team": self.team, "fails": fails, "success": not failed}
        )
        if failed:
            self.failures += 1
        else:
            self.successes += 1
        if self.failures == QUESTS_TO_WIN:
            self._finish("evil", "CORE-29")
        elif self.successes == QUESTS_TO_WIN:
            if "merlin" in self.roles:
                self.phase = "assassinate"
            else:
                self._finish("good", "CORE-30")
        else:
            self._pass_leadership()
            if not self.keep_counting:
                self.rejections = 0
            if self.with_lady and self.resolved() in LADY_AFTER_QUESTS:
                self.phase = "lady"

    def _finish(self, winner: Side, clause: str) -> None:
        self.winner = winner
        self.phase = "over"
        self.log.append({"event": "over", "winner": winner, "clause": clause})


def deal(deck: Sequence[str], rng: Random) -> tuple[tuple[str, ...], int]:
    """Shuffle the cards to the seats and draw the first leader."""
    roles = list(deck)
    rng.shuffle(roles)
    return tuple(roles), rng.randrange(len(roles))


def avalon_deck(players: int) -> tuple[str, ...]:
    """Merlin, the Assassin and plain cards (CORE-03)."""
    evil = EVIL_COUNT[players]
    servants = ("servant",) * (players - evil - 1)
    return ("merlin", *servants, "assassin", *(("minion",) * (evil - 1)))


def resistance_deck(players: int) -> tuple[str, ...]:
    """Resistance members and spies."""
    evil = EVIL_COUNT[players]
    return ("resistance",) * (players - evil) + ("spy",) * evil


def play_random(game: Game, rng: Random) -> Game:
    """Play the game to its end, each choice uniform among the legal ones."""
    while game.phase != "over":
        play_random_move(game, rng)
    return game


def play_random_move(game: Game, rng: Random) -> None:
    """Play one move drawn uniformly from the legal ones of the current phase."""
    if game.phase == "propose":
        quests = game.legal_quests()
        # A quest weighs as much as it has teams, so every (quest, team) pair is equally likely.
        weights = [comb(game.players, game.team_size(quest)) for quest in quests]
        quest = rng.choices(quests, weights)[0]
        game.propose(rng.sample(range(game.players), game.team_size(quest)), quest)
    elif game.phase == "vote":
        options = game.legal_votes()
        game.vote([rng.choice(options) for _ in range(game.players)])
    elif game.phase == "cards":
        game.play_cards({seat: rng.choice(game.legal_cards(seat)) for seat in game.team})
    elif game.phase == "lady":
        game.lady(rng.choice(game.legal_targets()))
    elif game.phase == "answer":
        game.answer(rng.choice(game.legal_answers()))
    elif game.phase == "assassinate":
        game.assassinate(rng.choice(game.legal_victims()))
    else:
        raise IllegalMove("CORE-28", "the game is over")
