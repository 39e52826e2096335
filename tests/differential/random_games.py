"""Games made at random out of what rulebooks are put together from: several phases that lead to each other and round
in cycles, modules that override, extend and place phases, tables keyed by seats and by the number of players, weights
on deals, first values that hang on a ruling, what is shown and published in branches, choices that hidden facts decide
upon, and names that other languages would trip over.

`random_game(rng)` gives the text: a game `made` for two or three players and its modules, in the order in which they
may be put in. Every loop counts, so every game ends.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from tests.differential.random_rulebooks import Maker

_AWKWARD_WORDS = """
self cls env scene state model values bound name seat move phase_ class lambda import global
nonlocal del pass return yield try raise assert async await None True False print len id hash type_
int set dict object exec eval compile np z3 e _ __ __init__ __class__ v_by y_by hold_by min max left
size top over_ winner_ this each_ case match k a0 s0 x1 result_ step start_ chance_ observe
"""
AWKWARD = _AWKWARD_WORDS.split()
BUILT_IN = ("min", "max", "left", "size", "top")
_PLAIN_WORDS = """
flag num hue who group hues bag pile guest marks hold mood laps worth grid yard quota likes hue_of x
y word luck tally echo glimpse peep turn talk still skip close p c q v1 v2 v3 v4 v5 inn0 inn1 mod0
mod1 red green blue Color
"""
PLAIN = _PLAIN_WORDS.split()


@dataclass(frozen=True)
class RandomGame:
    """The text, and the names of its modules in order; those of `closed` cannot be left open."""

    text: str
    modules: tuple[str, ...]
    closed: frozenset[str]


class GameMaker(Maker):
    """Also reads tables keyed by seats and by the number of players, and a number that may be missing."""

    def __init__(self, rng: Random) -> None:
        super().__init__(rng)
        self.names["bool"] += ["mood", "(extra == yes)", "(bid is none)"]
        self.names["int"] += ["laps", "quota[players]", "(bid otherwise 0)"]

    def _int(self, d: int) -> list:  # type: ignore[type-arg]
        return [
            *super()._int(d),
            lambda: f"grid[{self.make('color', d)}, {self.make('player', d)}]",
            lambda: f"yard[{self.make('bool', d)}, {self.make('player', d)}]",
        ]

    def news(self, depth: int) -> str:
        """Something shown or published."""
        if self.rng.random() < 0.5:
            shown = self.within({"p": "player"}, "color", depth)
            to_whom = self.within({"p": "player"}, "bool", depth)
            name = self.rng.choice(["glimpse", "peep"])
            return f"show {name} to p in {self.make('players', 1)} where {to_whom}: {shown}"
        return f"publish {self.rng.choice(['tally', 'echo'])}: -3..9 = {self.cut(self.make('int', depth), -3, 9)}"

    def something(self, depth: int) -> str:
        """A statement that does not end the phase."""
        kind = self.rng.random()
        if kind < 0.25:
            return self.news(depth)
        if kind < 0.5:
            made = [self.something(depth - 1) if depth > 0 else self.assignment(1) for _ in range(2)]
            other = f" else {{ {made[1]} }}" if self.rng.random() < 0.6 else ""
            return f"if {self.make('bool', depth)} {{ {made[0]} }}{other}"
        return self.assignment(depth)

    def several(self, depth: int, most: int = 3) -> str:
        return "\n    ".join(self.something(depth) for _ in range(self.rng.randint(1, most)))

    def when(self) -> str:
        return f" when {self.make('bool', 1)}" if self.rng.random() < 0.4 else ""

    def audience(self) -> str:
        return self.rng.choice(["public", "secret", "shown to { who }", "shown to group"])

    def seats(self) -> str:
        return self.rng.choice(["Player", self.make("players", 1), "group"])


def random_game(rng: Random, depth: int = 2) -> RandomGame:
    """A game and its modules."""
    maker = GameMaker(rng)
    names = ["turn", "talk", "still", "skip", "close"]
    kept = [n for n in names[1:-1] if rng.random() < 0.7]
    route = ["turn", *kept, "close"]
    phases = [_phase(maker, name, route[i + 1 :], depth) for i, name in enumerate(route)]
    made = _modules(maker, route, depth)
    weight = rng.choice(
        [
            "",
            "weighing (if hold[who] == red then {n} else 2)",
            "weighing 1 + count(q in Player | hold[q] == blue)",
        ]
    )
    weight = weight.format(n=rng.randint(0, 3))
    likes = maker.within({"p": "player", "c": "color"}, "bool", 1).replace("likes(", "at_ease(")
    columns = lambda low, high: " ".join(str(rng.randint(low, high)) for _ in range(3))  # noqa: E731
    text = f"""game made {{
  players 2..3
  enum Color (weight: 0..3 = 1) {{ red  green(weight = 3)  blue(weight = 0) }}
  result Color
  ruling extra "is there more?" {{ yes "yes"  no "no" }} default {rng.choice(["yes", "no"])}
  table worth[Color] {{ red: 1 green: -2 blue: 3 }}
  table quota[players] {{ 2: {rng.randint(0, 3)} 3: {rng.randint(0, 3)} }}
  table grid[Color, Player] {{ red: {columns(-1, 2)} green: {columns(0, 3)} blue: {columns(-2, 0)} }}
  table yard[Bool, Player] {{ true: {columns(-1, 2)} false: {columns(0, 3)} }}
  public flag: Bool = extra == yes
  {rng.choice(["public", "hidden"])} mood: Bool
  public num: -2..3 = if extra == yes then 2 else quota[players]
  public rounds: 0..3 = 0
  public laps: 0..3 = 0
  public hue: Color = if extra == no then blue else green
  public who: Player
  public guest: Player?
  public bid: 1..4? = if extra == yes then 3 else none
  public group: Set<Player> = {rng.choice(["{}", "{ q in Player | true }"])}
  public hues: Set<Color> = {{ green }}
  public bag: Bag<Color, 2>
  public pile: Stack<Color, 2>
  public marks: Player -> 0..3 = if extra == yes then 1 else 0
  param purse: Color -> 0..3 = map(c in Color: if c == red then players - 1 else if c == green then 1 else 0)
  def at_ease(p: Player, c: Color) = hold[p] == c
  def likes(p: Player, c: Color) = {likes}
  def hue_of(p: Player) = hold[p]
  start deal
  phase deal {{
    chance deals hold: Player -> Color from purse {weight} own
    chance chooses mood
    next turn
  }}
{"".join(phases)}}}
{"".join(made.values())}"""
    closed = frozenset(
        n for n, t in made.items() if "override phase" in t or "override ruling" in t or "override table" in t
    )
    return _renamed(rng, RandomGame(text, tuple(made), closed))


def _way_on(maker: GameMaker, following: Sequence[str], depth: int) -> str:
    """To the next phase, or to one of those after it."""
    if len(following) > 1 and maker.rng.random() < 0.4:
        return f"if {maker.make('bool', depth)} {{ next {maker.rng.choice(following)} }}\n    next {following[0]}"
    return f"next {following[0]}"


def _phase(maker: GameMaker, name: str, following: Sequence[str], depth: int) -> str:
    match name:
        case "turn":
            return _body(name, _asked(maker, depth), maker.several(depth), _way_on(maker, following, 1))
        case "talk":
            return _body(name, _spoken(maker), maker.several(depth), _way_on(maker, following, 1))
        case "skip":
            return _round_and_round(maker, following)
        case "close":
            return _close(maker, depth)
        case _:
            return _body(name, [], maker.several(depth), _way_on(maker, following, 1))


def _asked(maker: GameMaker, depth: int) -> list[str]:
    """Two choices in one order or the other, of which something hidden may decide which one is made."""
    rng = maker.rng
    free = maker.within({"x": "color"}, "bool", depth)
    allowed = maker.within({"p": "player", "y": "bool"}, "bool", 1)
    choices = [
        f"who {rng.choice(['may choose', 'chooses'])} x: Color {maker.audience()}{maker.when()}\n"
        f'      require x == red or {free} "not this one"',
        f"each p in {maker.seats()} chooses y: Bool {maker.audience()}{maker.when()}\n"
        f'      require not y or {allowed} "not now"',
    ]
    rng.shuffle(choices)
    maker.names["bool"].append("y[who]")
    return choices


def _spoken(maker: GameMaker) -> list[str]:
    """One of a group speaks for all, and chance has its say."""
    rng = maker.rng
    fair = maker.within({"p": "player", "word": "bool"}, "bool", 1)
    choices = [
        f"one p in {maker.seats()} chooses word: Bool {maker.audience()}{maker.when()}\n"
        f'      ought word or {fair} "better say so"',
        f"chance chooses luck: Color weighing luck.weight + 1 {rng.choice(['public', 'secret'])}{maker.when()}",
    ]
    rng.shuffle(choices)
    maker.names["player"].append("word_by")
    maker.names["color"].append("luck")
    maker.names["bool"].append("word")
    return choices


def _round_and_round(maker: GameMaker, following: Sequence[str]) -> str:
    """Who is out is passed over: a phase that leads to itself, often without anybody choosing."""
    who_is_in = "{ q in group | q == who and laps < 3 }"
    choice = f"one p in {who_is_in} chooses pass_on: Bool {maker.audience()}{maker.when()}"
    walk = ["laps := min(laps + 1, 3)", "who := left(who)"]
    if maker.rng.random() < 0.4:
        walk.append(maker.news(1))
    if maker.rng.random() < 0.5:
        walk.append(f"if {maker.make('bool', 1)} {{ {maker.something(1)} }}")
    walk += ["if laps < 3 { next skip }", "laps := 0"]
    return _body("skip", [choice], "\n    ".join(walk), f"next {following[0]}")


def _close(maker: GameMaker, depth: int) -> str:
    rng = maker.rng
    statements = ["rounds := min(rounds + 1, 3)"]
    if rng.random() < 0.3:
        statements.append(f"if rounds > 1 and {maker.make('bool', 1)} {{ draw }}")
    statements.append(maker.several(depth, 2))
    statements.append(f"if rounds >= {rng.randint(2, 3)} {{ win {maker.make('color', depth)} }}")
    return _body("close", [], "\n    ".join(statements), "next turn")


def _body(name: str, choices: Sequence[str], statements: str, way_on: str) -> str:
    lines = "\n    ".join([*choices, statements, way_on])
    return f"  phase {name} {{\n    {lines}\n  }}\n"


def _modules(maker: GameMaker, route: Sequence[str], depth: int) -> dict[str, str]:
    rng = maker.rng
    made: dict[str, str] = {}
    for number in range(rng.randint(1, 3)):
        name = f"mod{number}"
        after = f" after {', '.join(made)}" if made else ""
        own = f"ink{number}"
        items = [f"public {own}: 0..3 = {rng.randint(0, 3)}"]
        maker.names["int"].append(own)
        kinds = rng.sample(
            ["extension", "choice", "requirement", "definition", "place", "phase", "ruling"],
            rng.randint(1, 3),
        )
        for kind in kinds:
            items += _item(maker, kind, number, route, depth)
        maker.names["int"].remove(own)
        body = "\n  ".join(items)
        made[name] = f"module {name} for made{after} {{\n  {body}\n}}\n"
    return made


def _item(maker: GameMaker, kind: str, number: int, route: Sequence[str], depth: int) -> list[str]:
    rng = maker.rng
    where, first = rng.choice(route), rng.choice(["", " first"])
    own = f"ink{number} := {maker.cut(maker.make('int', depth), 0, 3)}"
    match kind:
        case "extension":
            return [f"extend {where}{first} {{ {maker.something(depth)} {own} }}"]
        case "choice":
            choice = f"{maker.make('player', 1)} chooses plus{number}: Color {maker.audience()}{maker.when()}"
            return [f"extend turn{first} {{ {choice}\n    hue := plus{number} {own} }}"]
        case "requirement":
            return [
                f'extend turn {{ on x require x != green or {maker.within({"x": "color"}, "bool", 1)} "no green" }}'
            ]
        case "definition":
            value = maker.within({"p": "player", "c": "color"}, "bool", 1).replace("likes(", "base(")
            return [f"override def likes(p: Player, c: Color) = {value}"]
        case "place":
            place = rng.choice([f"before {where}", "after deal"])
            choices = [f"left(who) chooses bet{number}: 0..2 {maker.audience()}{maker.when()}"]
            body = _body(
                f"inn{number} {place}{maker.when()}",
                choices if rng.random() < 0.7 else [],
                maker.several(1, 2),
                "continue",
            )
            return [body]
        case "phase":
            if where in ("skip", "close", "turn"):
                return []
            index = list(route).index(where)
            return [_phase(maker, where, route[index + 1 :], 1).replace("phase", "override phase", 1)]
        case _:
            return [f'override ruling extra {{ yes "yes" no "no" }} default {rng.choice(["yes", "no"])}']


def _renamed(rng: Random, made: RandomGame) -> RandomGame:
    """Some names exchanged for awkward ones."""
    changed = dict(zip(rng.sample(PLAIN, rng.randint(0, 8)), rng.sample(AWKWARD, 8), strict=False))
    for name in ("likes", "hue_of"):  # a definition would stand in the way of what is built in
        if changed.get(name) in BUILT_IN:
            del changed[name]
    if not changed:
        return made
    pattern = re.compile(rf"\b({'|'.join(changed)})(_by)?\b")

    def new(text: str) -> str:
        return pattern.sub(lambda found: changed[found[1]] + (found[2] or ""), text)

    return RandomGame(new(made.text), tuple(map(new, made.modules)), frozenset(map(new, made.closed)))
