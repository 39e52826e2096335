"""What seats know, decided by playing every game there is on the reference interpreter; and small games to try it on.

`true_everywhere` takes a model and a claim with `knows` in it and tells whether it holds in every state in which a game can
rest, for every value of the parameters. It shares nothing with the prover but the model.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product
from random import Random

from rules_dsl import model as m
from rules_dsl import reference
from rules_dsl.evaluate import Environment, evaluate, holds, ranges
from rules_dsl.model import Value
from rules_dsl.play import Move, Observation, State, Step, Stuck
from rules_dsl.settle import settle
from rules_dsl.values import all_values

Seen = tuple[Observation, ...]


class TooMany(Exception):
    """More games than are worth trying."""


def tables(model: m.Model) -> Iterator[m.Model]:
    """The model with every combination of parameters its checks accept."""
    names = list(model.params)
    domains = [all_values(model.params[name].type, model.players.count) for name in names]
    for values in product(*domains):
        settled = settle(model, dict(zip(names, values, strict=True)))
        if not [c for c in settled.findings if c.severity == "error"]:
            yield settled.model


def moves(model: m.Model, state: State) -> Iterator[Move]:
    awaited = reference.pending(model, state)
    assert awaited is not None
    options = [[(seat, v) for v in reference.options(model, state, seat)] for seat in awaited.seats]
    if awaited.choice.chooser.kind == "one":
        yield from ((entry,) for entries in options for entry in entries)
    else:
        yield from product(*options)


def seen_by(step: Step, seat: int) -> Seen:
    """What a seat sees of a step; who else does may be a secret."""
    return tuple(replace(o, to=None) for o in step.observations if o.seen_by(seat))


@dataclass(frozen=True)
class History:
    """A way a game can have gone: where it stands, and what each seat has seen."""

    state: State
    seen: tuple[Seen, ...]


def histories(model: m.Model, most: int) -> set[History]:
    """Every way a game can go, at every place where somebody is to choose or it is over."""
    seats = range(model.players.count)
    first = reference.start(model)
    found: set[History] = set()
    queue = [History(first.state, tuple(seen_by(first, seat) for seat in seats))]
    while queue:
        here = queue.pop()
        if here in found:
            continue
        found.add(here)
        if len(found) > most:
            raise TooMany
        if here.state.over:
            continue
        for move in moves(model, here.state):
            try:
                step = reference.step(model, here.state, move)
            except Stuck:
                continue
            seen = tuple((*old, *seen_by(step, seat)) for seat, old in enumerate(here.seen))
            queue.append(History(step.state, seen))
    return found


class Knowers:
    """All the ways a game can go, by what each seat has seen of them."""

    def __init__(self, model: m.Model, most: int = 6000) -> None:
        self.model = model
        self.histories = histories(model, most)
        self.alike: dict[tuple[int, Seen], list[History]] = defaultdict(list)
        for history in self.histories:
            for seat, seen in enumerate(history.seen):
                self.alike[seat, seen].append(history)

    def true(self, claim: m.Expr, history: History, bound: dict[str, Value] | None = None) -> bool:
        env = reference.environment(self.model, history.state)
        return self._true(claim, history, env.bind(**(bound or {})))

    def _true(self, expr: m.Expr, history: History, env: Environment) -> bool:
        match expr:
            case m.Knows(player, fact):
                seat = evaluate(player, env)
                assert isinstance(seat, int)
                twins = self.alike[seat, history.seen[seat]]
                return all(self.true(fact, twin, dict(env.bound)) for twin in twins)
            case m.Apply("not", (inner,), _):
                return not self._true(inner, history, env)
            case m.Apply("and", parts, _):
                return all(self._true(x, history, env) for x in parts)
            case m.Apply("or", parts, _):
                return any(self._true(x, history, env) for x in parts)
            case m.Apply("implies", (a, b), _):
                return not self._true(a, history, env) or self._true(b, history, env)
            case m.Quantify("all", over, condition, _, _):
                assert condition is not None
                return all(self._true(condition, history, e) for e in ranges(env, over))
            case m.Quantify("exists", over, condition, _, _):
                assert condition is not None
                return any(self._true(condition, history, e) for e in ranges(env, over))
            case _:
                return holds(expr, env)


def true_everywhere(model: m.Model, claim: m.Expr, most: int = 6000) -> bool:
    """Does the claim hold wherever a game can rest?"""
    for table in tables(model):
        knowers = Knowers(table, most)
        if not all(knowers.true(claim, history) for history in knowers.histories):
            return False
    return True


# --- small games, made to mislead ---

CLAIMS = {
    "all_know": "all(p in Player | knows(p, bit))",
    "end_known": "over implies all(p in Player | knows(p, bit) or knows(p, not bit))",
    "first_knows": "over implies all(p in Player | p == first implies (bit implies knows(p, bit)))",
    "nobody_knows": "all(p in Player | not knows(p, bit))",
    "nobody_certain": "all(p in Player | not knows(p, bit) and not knows(p, not bit))",
    "others_ignorant": "all(p in Player | p != first implies not knows(p, bit))",
    "cards_secret": "all(p in Player, q in Player | p != q implies not knows(p, card[q] == fox))",
    "cards_secret_at_first": "at(b) implies all(p in Player, q in Player | p != q implies not knows(p, card[q] == hen))",
    "own_card_known": "at(b) or at(c) or over implies all(p in Player | card[p] == fox implies knows(p, card[p] == fox))",
    "odd_known": "odd implies all(p in Player | knows(p, odd))",
}


def random_game(rng: Random) -> str:
    """A game of a few phases in which what a seat sees hangs on hidden things in every way the language has."""
    pick = rng.choice
    tests = ["bit", "odd", "not bit", "card[first] == fox", "bit and odd", "loud == yes", "turns >= 1"]

    def test() -> str:
        return pick(tests)

    def statement() -> str:
        whom = pick(["true", "p == first", "p != first", "card[p] == fox", "card[p] == hen"])
        value = pick(["bit", "odd", "true", "bit and odd", "card[first] == fox"])
        what = pick(["show", "publish", "set", "two", "order"])
        sign = pick(["sign", "sound"])
        show = f"show {sign} to p in Player where {whom}: {value}"
        if what == "show":
            return f"if {test()} {{ {show} }} else {{ {pick([show, 'odd := not odd'])} }}"
        if what == "publish":
            return (
                f"if {test()} {{ publish news = {value} }} else {{ publish news = {pick([value, 'bit'])} }}"
            )
        if what == "set":
            return pick(["odd := not odd", "odd := bit", f"if {test()} {{ odd := {value} }}"])
        if what == "two":
            return f"{show}\n    publish news = {value}"
        other = f"show sound to p in Player where {whom}: true"
        sign = f"show sign to p in Player where {whom}: true"
        return f"if {test()} {{ {sign} {other} }} else {{ {other} {sign} }}"

    def choice(name: str) -> str:
        when = pick(["", "", f" when {test()}"])
        audience = pick(["public", "secret", "shown to { first }"])
        who = pick(["chance chooses", "first chooses", "each p in Player chooses", "one p in foxes chooses"])
        if who.startswith("chance"):
            return f"chance chooses {name}: Bool {audience}{when}"
        return f"{who} {name}: Bool {audience}{when}"

    def phase(name: str, nexts: list[str]) -> str:
        choices = "\n    ".join(choice(f"{name}{i}") for i in range(pick([1, 1, 2, 2, 3])))
        body = "\n    ".join(statement() for _ in range(pick([0, 1, 1, 2])))
        going = pick(
            [f"next {pick(nexts)}", f"if {test()} {{ next {pick(nexts)} }} else {{ next {pick(nexts)} }}"]
        )
        return f"""  phase {name} {{
    {choices}
    turns := min(turns + 1, 3)
    {body}
    if turns >= {pick([2, 3])} {{ next finish }}
    {going}
  }}
"""

    weight = pick(["", "", " weighing (if card[first] == fox then 1 else 0)"])
    declared = pick([False, True])
    silent = "\n    ".join(statement() for _ in range(pick([0, 1])))
    return f"""game misleading {{
  players 2..{pick([2, 2, 3])}
  enum Card {{ hen fox }}
  result 0..1
  ruling loud "loud?" {{ yes "yes" no "no" }} default no
  hidden bit: Bool
  hidden odd: Bool = false
  public first: Player
  public turns: 0..3 = 0
  {"hidden card: Player -> Card = fox" if declared else ""}
  param deck: Card -> 0..3 = map(c in Card: if c == fox then 1 else players - 1)
  def foxes = {{ p in Player | card[p] == fox }}
  start deal
  phase deal {{
    chance deals card{"" if declared else ": Player -> Card"} from deck{weight}{"" if declared else pick([" own", " own", " secret"])}
    next toss
  }}
  phase toss {{ chance chooses bit  if {test()} {{ next quiet }} else {{ next {pick(["a", "b", "c"])} }} }}
  phase quiet {{ {silent}
    next {pick(["a", "b"])} }}
{phase("a", ["b", "c", "a", "quiet"])}{phase("b", ["c", "b", "a"])}{phase("c", ["a", "b", "c"])}  phase finish {{ win {pick(["0", "1", "if bit then 0 else 1"])} }}
{chr(10).join(f'  invariant {n} "{n}": {c} expect unknown' for n, c in CLAIMS.items())}
}}
"""
