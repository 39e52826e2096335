"""Small rulebooks made at random: well typed, using every type, operation, chooser and statement of the language.

`random_rulebook(rng)` gives the text. Expressions are made by type, so almost everything that is made can be checked
and played; numbers are cut to the range of the variable they are given to, as a rulebook must do.
"""

from __future__ import annotations

from random import Random

COLORS = ("red", "green", "blue")


class Maker:
    """Makes expressions of a wanted type; `names` are the names bound at this place, by type."""

    def __init__(self, rng: Random) -> None:
        self.rng = rng
        self.names: dict[str, list[str]] = {
            "bool": ["flag"],
            "int": ["num", "rounds"],
            "color": ["hue"],
            "player": ["who"],
            "players": ["group"],
            "colors": ["hues"],
            "bag": ["bag"],
            "stack": ["pile"],
            "maybe": ["guest"],
        }
        self.bound = 0

    def make(self, type_: str, depth: int) -> str:
        if depth <= 0 or self.rng.random() < 0.12:
            return self.leaf(type_)
        ways = getattr(self, f"_{type_}")(depth - 1)
        return str(self.rng.choice(ways)())

    def leaf(self, type_: str) -> str:
        literals = {
            "bool": ["true", "false"],
            "int": ["0", "1", "2", "4"],
            "color": list(COLORS),
            "players": ["{ q in Player | true }"],
            "colors": ["{ red, blue }"],
        }
        return self.rng.choice([*self.names[type_] * 2, *literals.get(type_, [])])

    def within(self, names: dict[str, str], type_: str, depth: int) -> str:
        """An expression in which more names are bound."""
        for name, kind in names.items():
            self.names[kind] = [*self.names[kind], name, name]
        made = self.make(type_, depth)
        for name, kind in names.items():
            self.names[kind] = [x for x in self.names[kind] if x != name]
        return made

    def binder(self, kind: str, over: str, condition: str, depth: int) -> tuple[str, str]:
        """`x in S | c`, and the name bound."""
        self.bound += 1
        name = f"v{self.bound}"
        return name, f"{name} in {over} | {self.within({name: kind}, condition, depth)}"

    def choice_of(self, type_: str, depth: int) -> str:
        return (
            f"(if {self.make('bool', depth)} then {self.make(type_, depth)} else {self.make(type_, depth)})"
        )

    def _bool(self, d: int) -> list:  # type: ignore[type-arg]
        make = self.make
        pair = lambda kind, op: f"({make(kind, d)} {op} {make(kind, d)})"  # noqa: E731
        return [
            lambda: f"(not {make('bool', d)})",
            lambda: pair("bool", self.rng.choice(["and", "or", "implies", "iff"])),
            lambda: pair("int", self.rng.choice(["==", "!=", "<", "<=", ">", ">="])),
            lambda: pair("color", self.rng.choice(["==", "!="])),
            lambda: pair("player", self.rng.choice(["==", "!=", "<", ">="])),
            lambda: pair("players", self.rng.choice(["==", "!="])),
            lambda: pair("maybe", self.rng.choice(["==", "!="])),
            lambda: f"({make('player', d)} in {make('players', d)})",
            lambda: f"({make('color', d)} in {make('colors', d)})",
            lambda: f"subset({make('players', d)}, {make('players', d)})",
            lambda: f"subset({make('colors', d)}, {make('colors', d)})",
            lambda: f"({make('maybe', d)} is {self.rng.choice(['none', 'not none'])})",
            lambda: f"(top({make('stack', d)}) is none)",
            lambda: f"exists({self.binder('player', make('players', d), 'bool', d)[1]})",
            lambda: f"all({self.binder('color', 'Color', 'bool', d)[1]})",
            lambda: f"likes({make('player', d)}, {make('color', d)})",
            lambda: self.choice_of("bool", d),
        ]

    def _int(self, d: int) -> list:  # type: ignore[type-arg]
        make = self.make

        def total() -> str:
            self.bound += 1
            name = f"v{self.bound}"
            condition = self.within({name: "player"}, "bool", d)
            return f"sum({name} in Player | {condition}: {self.cut(self.within({name: 'player'}, 'int', d), -3, 3)})"

        return [
            lambda: f"({self.cut(make('int', d), -9, 9)} + {self.cut(make('int', d), -9, 9)})",
            lambda: f"({self.cut(make('int', d), -9, 9)} - {self.cut(make('int', d), -9, 9)})",
            lambda: f"({self.cut(make('int', d), -5, 5)} * {self.cut(make('int', d), -4, 4)})",
            lambda: f"({make('int', d)} div {self.rng.choice([1, 2, 3])})",
            lambda: f"({make('int', d)} mod {self.rng.choice([1, 2, 3])})",
            lambda: f"(-{make('int', d)})",
            lambda: f"{self.rng.choice(['min', 'max'])}({make('int', d)}, {make('int', d)})",
            lambda: f"marks[{make('player', d)}]",
            lambda: f"worth[{make('color', d)}]",
            lambda: f"{make('color', d)}.weight" if d <= 0 else f"hue_of({make('player', d)}).weight",
            lambda: f"{make('bag', d)}[{make('color', d)}]" if d <= 0 else f"size({make('bag', d)})",
            lambda: f"size({make('stack', d)})",
            lambda: f"size({make('players', d)})",
            lambda: f"size({make('colors', d)})",
            lambda: f"count({self.binder('player', make('players', d), 'bool', d)[1]})",
            total,
            lambda: self.choice_of("int", d),
        ]

    def _color(self, d: int) -> list:  # type: ignore[type-arg]
        return [
            lambda: f"hold[{self.make('player', d)}]",
            lambda: f"hue_of({self.make('player', d)})",
            lambda: f"(top({self.make('stack', d)}) otherwise {self.make('color', d)})",
            lambda: self.choice_of("color", d),
        ]

    def _player(self, d: int) -> list:  # type: ignore[type-arg]
        return [
            lambda: f"left({self.make('player', d)})",
            lambda: f"right({self.make('player', d)})",
            lambda: f"({self.make('maybe', d)} otherwise {self.make('player', d)})",
            lambda: self.choice_of("player", d),
        ]

    def _maybe(self, d: int) -> list:  # type: ignore[type-arg]
        return [
            lambda: f"(if {self.make('bool', d)} then none else {self.make('player', d)})",
            lambda: self.choice_of("maybe", d),
        ]

    def _set(self, type_: str, kind: str, over: str, d: int) -> list:  # type: ignore[type-arg]
        make = self.make
        op = self.rng.choice(["union", "inter", "minus"])
        return [
            lambda: f"({make(type_, d)} {op} {make(type_, d)})",
            lambda: f"{{ {make(kind, d)}, {make(kind, d)} }}",
            lambda: f"{{ {self.binder(kind, over, 'bool', d)[1]} }}",
            lambda: self.choice_of(type_, d),
        ]

    def _players(self, d: int) -> list:  # type: ignore[type-arg]
        return self._set("players", "player", "Player", d)

    def _colors(self, d: int) -> list:  # type: ignore[type-arg]
        return self._set("colors", "color", "Color", d)

    def _bag(self, d: int) -> list:  # type: ignore[type-arg]
        return [
            lambda: (
                f"{self.rng.choice(['insert', 'remove'])}({self.make('bag', d)}, {self.make('color', d)})"
            ),
            lambda: self.choice_of("bag", d),
        ]

    def _stack(self, d: int) -> list:  # type: ignore[type-arg]
        return [
            lambda: f"push({self.make('stack', d)}, {self.make('color', d)})",
            lambda: f"pop({self.make('stack', d)})",
            lambda: self.choice_of("stack", d),
        ]

    def cut(self, number: str, low: int, high: int) -> str:
        return f"max({low}, min({high}, {number}))"

    # --- statements ---

    def assignment(self, depth: int) -> str:
        kind = self.rng.choice(
            ["flag", "num", "hue", "who", "guest", "group", "hues", "bag", "pile", "mark", "marks"]
        )
        of = {"flag": "bool", "hue": "color", "who": "player", "guest": "maybe", "group": "players"}
        of |= {"hues": "colors", "bag": "bag", "pile": "stack"}
        if kind == "num":
            return f"num := {self.cut(self.make('int', depth), -2, 3)}"
        if kind == "mark":
            return f"marks[{self.make('player', depth - 1)}] := {self.cut(self.make('int', depth), 0, 3)}"
        if kind == "marks":
            self.bound += 1
            name = f"v{self.bound}"
            value = self.cut(self.within({name: "player"}, "int", depth), 0, 3)
            return f"marks := map({name} in Player: {value})"
        return f"{kind} := {self.make(of[kind], depth)}"

    def statements(self, depth: int) -> str:
        made = []
        for _ in range(self.rng.randint(1, 3)):
            if self.rng.random() < 0.3:
                other = f" else {{ {self.assignment(depth)} }}" if self.rng.random() < 0.5 else ""
                made.append(f"if {self.make('bool', depth)} {{ {self.assignment(depth)} }}{other}")
            else:
                made.append(self.assignment(depth))
        return "\n    ".join(made)


def random_rulebook(rng: Random, depth: int = 3, all_choose: bool = False) -> str:
    """The text of a game of three rounds for two or three players.

    `all_choose`: in simultaneous choices everybody chooses. Otherwise who does may hang on something hidden, and then
    a record in which somebody's choice is missing does not say whether it was not made or not written down.
    """
    maker = Maker(rng)
    likes = maker.within({"p": "player", "c": "color"}, "bool", 1).replace("likes(", "at_ease(")
    free = maker.within({"x": "color"}, "bool", depth)
    secret = rng.choice(["public", "secret", "shown to { who }"])
    each_over = "Player" if all_choose else rng.choice(["Player", maker.make("players", 2)])
    allowed = maker.within({"p": "player", "y": "bool"}, "bool", 2)
    maker.names["bool"].append("y[who]")
    body = maker.statements(depth)
    shown = maker.within({"p": "player"}, "color", 2)
    to_whom = maker.within({"p": "player"}, "bool", 2)
    number = maker.cut(maker.make("int", depth), -3, 9)
    second = maker.statements(depth)
    optional = rng.random() < 0.5
    verb = "may choose" if optional else "chooses"
    return f"""game made {{
  players 2..3
  enum Color (weight: 0..3 = 1) {{ red  green(weight = 3)  blue(weight = 0) }}
  result Color
  table worth[Color] {{ red: 1 green: -2 blue: 3 }}
  public flag: Bool
  public num: -2..3 = 0
  public rounds: 0..3 = 0
  public hue: Color
  public who: Player
  public guest: Player?
  public group: Set<Player> = {{}}
  public hues: Set<Color> = {{ green }}
  public bag: Bag<Color, 2>
  public pile: Stack<Color, 2>
  public marks: Player -> 0..3 = 0
  param purse: Color -> 0..3 = map(c in Color: if c == red then players - 1 else if c == green then 1 else 0)
  def at_ease(p: Player, c: Color) = hold[p] == c
  def likes(p: Player, c: Color) = {likes}
  def hue_of(p: Player) = hold[p]
  start deal
  phase deal {{ chance deals hold: Player -> Color from purse own  next turn }}
  phase turn {{
    who {verb} x: Color {secret}
      require x == red or {free} "not this one"
    each p in {each_over} chooses y: Bool {rng.choice(["public", "secret"])}
      require not y or {allowed} "not now"
    {body}
    show glimpse to p in Player where {to_whom}: {shown}
    publish tally = {number}
    rounds := min(rounds + 1, 3)
    {second}
    if rounds == 3 {{ win {maker.make("color", depth)} }}
    next turn
  }}
}}
"""
