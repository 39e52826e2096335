"""Games small enough to try every move of every table: made at random, with deals that rules or weights limit, rulings,
phases that come round again, and choices nobody may be there to make.

`random_game_text(rng)` gives a rulebook with claims of every kind; `everything(model)` plays all of its games on the
reference interpreter and gives what is true of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import product
from random import Random

from rules_dsl import Model, Value, reference, settle
from rules_dsl import model as m
from rules_dsl.evaluate import Environment, holds
from rules_dsl.play import State, Stuck
from rules_dsl.types import BoolType, EnumType
from tests.differential.knowledge import legal_moves

MOST_STATES = 6_000


class TooLarge(Exception):
    """More states than are worth trying."""


def random_game_text(rng: Random) -> str:
    """A rulebook of one small game with claims."""
    pick = rng.choice

    def truth(depth: int = 2) -> str:
        if depth and rng.random() < 0.5:
            a, b = truth(depth - 1), truth(depth - 1)
            return pick([f"({a} and {b})", f"({a} or {b})", f"(not {a})", f"({a} implies {b})"])
        return pick(
            [
                "flag",
                f"num == {rng.randint(0, 3)}",
                f"num >= {rng.randint(0, 3)}",
                "who == first",
                "who in group",
                "guest is none",
                "size(group) == players",
                "hand[who] == ace",
                f"count(p in Player | hand[p] == ace) >= {rng.randint(0, 2)}",
                "house == strict",
                f"players == {rng.randint(2, 3)}",
            ]
        )

    def change() -> str:
        return pick(
            [
                f"flag := {truth(1)}",
                "num := min(num + 1, 3)",
                f"num := {rng.randint(0, 3)}",
                "num := if flag then 0 else num",
                "who := left(who)",
                "guest := if flag then none else who",
                f"group := {{ p in Player | {pick(['p != who', 'hand[p] == ace', 'p == first or flag'])} }}",
            ]
        )

    def statements(ending: str) -> str:
        parts = [change() for _ in range(rng.randint(0, 2))]
        if rng.random() < 0.5:
            parts.append(f"if {truth(1)} {{ {change()} }}")
        if rng.random() < 0.5:
            parts.append(f"if {truth(1)} {{ {pick(['win who', 'win who', 'next alpha', 'next gamma'])} }}")
        return "  ".join([*parts, ending])

    def choice(name: str) -> str:
        when = f" when {truth(1)}" if rng.random() < 0.3 else ""
        rule = f'\n      require {pick([name, f"not {name}", truth(1)])} or {truth(1)} "a rule"'
        rule = rule if rng.random() < 0.5 else ""
        return pick(
            [
                f"who chooses {name}: Bool public{when}{rule}",
                f"chance chooses {name}: Bool{when_weight(name)} public{when}",
                f"each p in group chooses {name}: Bool secret{when}",
                f"one p in Player where {pick(['hand[p] == ace', 'p in group', 'p != who'])} "
                f"chooses {name}: Bool secret{when}",
                f"who may choose {name}: Bool public{when}{rule}",
            ]
        )

    def when_weight(name: str) -> str:
        return f" weighing (if {name} or {truth(1)} then 1 else 0)" if rng.random() < 0.5 else ""

    def phase(name: str, following: str) -> str:
        choices = "\n    ".join(choice(f"{name}_{i}") for i in range(pick([0, 1, 1, 2])))
        when = f" when {truth(1)}" if name == "beta" and rng.random() < 0.3 else ""
        placed = f"phase {name}{when}" if not when else f"phase {name}"
        return f"{placed} {{\n    {choices}\n    {statements(following)}\n  }}"

    weight = pick(
        [
            "",
            "",
            f" weighing (if hand[first] == ace or {truth(1).replace('hand[who]', 'hand[first]')} then 1 else 0)",
        ]
    )
    rule = pick(["", "", '\n      require hand[first] == ace or players == 2 "the first holds an ace"',
                 f'\n      require {truth(1)} "a rule of the deal"'])  # fmt: skip
    start = pick(["dealing", "dealing", "alpha"])
    again = "dealing" if start == "alpha" else pick(["dealing", "alpha", "alpha"])
    steady = rng.random() < 0.6  # then rounds are counted, and every game that is not stuck ends
    counted = "num := min(num + 1, 3)" if steady else change()
    return f"""game small {{
  players 2..3
  enum Card {{ ace, king }}
  result Player
  ruling house "How strict is the house?" {{ lax "not at all"  strict "very" }} default lax
  param aces: 0..2 = 1
  param deck: Card -> 0..3 = map(c in Card: if c == ace then aces else players - 1)
  setup error unless {pick(["aces <= 1", "aces <= players", "aces == 1 or house == strict", "aces + 1 == players"])} "cards"
  public flag: Bool = house == strict
  public num: 0..3 = 0
  public who: Player
  public first: Player
  public guest: Player? = none
  public group: Set<Player> = {pick(["{}", "{ p in Player | true }"])}
  start {start}
  phase dealing {{
    chance deals hand: Player -> Card from deck{weight} own{rule}
    next alpha
  }}
  {phase("alpha", "next beta")}
  {phase("beta", pick(["next gamma", "if num >= 2 { win who }  next gamma"]))}
  phase gamma {{ chance chooses stop: Bool public  if stop or num == 3 {{ win who }}  {counted}  next {again} }}
  invariant claim_a "a": {truth(3)} expect proved
  invariant claim_b "b": {pick(["at(gamma)", "over", "at(alpha)"])} implies {truth(2)} expect proved
  reachable claim_c "c": {truth(2)} and {pick(["over", "at(gamma)", truth(1)])} expect proved
  progress goes_on "p" expect proved
  terminates ends "t" expect proved
  terminates soon "t" within {rng.randint(1, 6)} expect proved
}}
"""


@dataclass
class Everything:
    """What is true of all games: the states in which somebody chooses or the game is over, by how soon they come."""

    states: list[tuple[Environment, int]] = field(default_factory=list)
    stuck: int | None = None  # after so many events, the soonest
    endless: bool = False
    longest: int = 0  # events, where no game is endless
    tables: int = 0

    def soonest(self, value: m.Expr, wanted: bool) -> int | None:
        """After how many events the value is first so; None if never."""
        found = [events for env, events in self.states if holds(value, env) == wanted]
        return min(found, default=None)


def everything(model: Model) -> Everything:
    """All games of all tables."""
    found = Everything()
    for given in _parameters(model):
        settled = settle(model, given)
        if not settled.errors:
            found.tables += 1
            _play(model, settled.model, settled.params, found)
    return found


def _parameters(model: Model) -> Iterator[dict[str, Value]]:
    """Every table: each parameter that can be set by itself at each of its values, decks among them."""
    open_: dict[str, list[Value]] = {}
    for name, param in model.params.items():
        if name == m.PLAYERS:
            open_[name] = list(range(model.fewest, model.most + 1))
        elif isinstance(param.type, EnumType):
            open_[name] = list(param.type.members)
        elif isinstance(param.type, BoolType):
            open_[name] = [False, True]
        elif name == "aces":
            open_[name] = [0, 1, 2]
        else:
            open_[name] = list(product(range(4), repeat=2))
    for values in product(*open_.values()):
        yield dict(zip(open_, values, strict=True))


def _play(model: Model, table: Model, params: object, found: Everything) -> None:
    depths: dict[State, int] = {}
    edges: dict[State, list[State]] = {}
    try:
        level = [reference.start(table).state]
    except Stuck:
        found.stuck = 0
        return
    depths[level[0]] = 0
    events = 0
    while level:
        following: dict[State, None] = {}
        for state in level:
            edges[state] = []
            if state.over:
                continue
            moves = legal_moves(table, state)
            if not moves:
                _note_stuck(found, events)
            for move in moves:
                try:
                    after = reference.step(table, state, move).state
                except Stuck:
                    _note_stuck(found, events + 1)
                    continue
                edges[state].append(after)
                if after not in depths:
                    following[after] = None
                    depths[after] = events + 1
        if len(depths) > MOST_STATES:
            raise TooLarge
        events += 1
        level = list(following)
    for state, soon in depths.items():
        variables = dict(zip(model.variables, state.values, strict=True))
        env = Environment(
            model, table.players.count, params, variables, phase=state.phase, over=state.over, result=state.result  # type: ignore[arg-type]
        )  # fmt: skip
        found.states.append((env, soon))
    longest = _longest(edges)
    found.endless = found.endless or longest is None
    found.longest = max(found.longest, longest or 0)


def _note_stuck(found: Everything, events: int) -> None:
    found.stuck = events if found.stuck is None else min(found.stuck, events)


def _longest(edges: dict[State, list[State]]) -> int | None:
    """The longest way through the states, None if they lead round in a circle."""
    waiting = {state: len(set(after)) for state, after in edges.items()}
    before: dict[State, set[State]] = {state: set() for state in edges}
    for state, after in edges.items():
        for other in after:
            before[other].add(state)
    done, length = [s for s, many in waiting.items() if not many], dict.fromkeys(edges, 0)
    for state in done:
        for other in before[state]:
            length[other] = max(length[other], length[state] + 1)
            waiting[other] -= 1
            if not waiting[other]:
                done.append(other)
    return max(length.values()) if len(done) == len(edges) else None
