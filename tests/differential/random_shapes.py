"""Small rulebooks made at random, of the shapes that make records hard to read.

Phases that nobody chooses in and that lead back to themselves, choices that are passed over (also for a reason nobody
sees), the same value published or shown several times, secret choices beside published values, choices that can be
declined, maps keyed by numbers, bags and piles. Every visit of a phase counts, so every game ends.
"""

from __future__ import annotations

from random import Random

SECRET = ("hold[who] == cat", "hold[first] == cat", "hold[who] == hold[first]")
OPEN = ("visits mod 2 == 0", "visits < 3", "last", "size(group) > 1", "level[1]")
VALUES = {
    "said": "(visits mod 3)",
    "beast": "hold[who]",
    "group_seen": "{ q in Player | hold[q] == cat }",
    "levels": "map(k in Slot: if k == 1 then last else hold[first] == cat)",
    "purse": "if last then insert(purse_now, cat) else purse_now",
    "heap": "if visits mod 2 == 0 then push(heap_now, hold[who]) else heap_now",
    "guest": "if hold[who] == cat then first else none",
}
TYPES = {
    "group_seen": ": Set<Player>",
    "levels": ": Slot -> Bool",
    "purse": ": Bag<Beast, 2>",
    "heap": ": Stack<Beast, 2>",
    "guest": ": Player?",
}


def random_shapes(rng: Random) -> str:
    """The text of a game for two or three players."""
    phases = [f"p{i}" for i in range(rng.randint(2, 4))]
    published = rng.sample(sorted(VALUES), rng.randint(1, 3))
    bodies = "\n".join(_phase(rng, i, phases, published) for i in range(len(phases)))
    return f"""game shapes {{
  players 2..3
  enum Beast {{ cat  dog  owl }}
  type Slot = 1..2
  result Beast
  param deck: Beast -> 0..3 = map(b in Beast: if b == cat then 1 else if b == dog then players - 1 else 0)
  public visits: 0..6 = 0
  public who: Player
  public first: Player
  public last: Bool = false
  public group: Set<Player> = {{}}
  public level: Slot -> Bool = false
  public purse_now: Bag<Beast, 2>
  public heap_now: Stack<Beast, 2>
  start deal
  phase deal {{ chance deals hold: Player -> Beast from deck own  next {phases[0]} }}
{bodies}
}}
"""


def _phase(rng: Random, place: int, phases: list[str], published: list[str]) -> str:
    name, last = phases[place], place == len(phases) - 1
    lines = [f"  phase {name} {{"]
    choices = rng.choice([1, 1, 2] if last else [0, 0, 1, 1, 2])
    for number in range(choices):
        lines += _choice(rng, f"{name}c{number}")
    lines.append("    visits := min(visits + 1, 6)")
    if choices and rng.random() < 0.5:
        lines.append("    who := left(who)")
    for _ in range(rng.randint(0, 2)):
        lines.append(_telling(rng, published))
    if rng.random() < 0.4:
        lines.append(rng.choice(["last := not last", "level[1] := last", "first := right(first)"]))
        lines.append(_telling(rng, published))
    lines.append("    if visits == 6 { win hold[first] }")
    condition = rng.choice([*OPEN, *SECRET])
    other = rng.choice([name, *phases] if choices else phases[place + 1 :])
    lines.append(f"    if {condition} {{ next {other} }}")
    lines.append(f"    next {phases[(place + 1) % len(phases)]}")
    lines.append("  }")
    return "\n".join(lines)


def _choice(rng: Random, name: str) -> list[str]:
    audience = rng.choice(["public", "public", "secret", "shown to { first }"])
    condition = rng.choice([*OPEN, *SECRET])
    when = f" when {condition}" if rng.random() < 0.4 else ""
    verb = rng.choice(["chooses", "may choose"])
    kind = rng.choice(["who", "each", "one", "chance", "number"])
    match kind:
        case "who":
            return [f"    who {verb} {name}: Beast {audience}{when}"]
        case "each":
            return [f"    each p in Player {verb} {name}: Bool {rng.choice(['public', 'secret'])}{when}"]
        case "one":
            return [f"    one p in Player {verb} {name}: Player {audience}{when}"]
        case "chance":
            return [f"    chance chooses {name}: 1..2 public{when}"]
        case _:
            return [f"    who {verb} {name}: Slot -> Bool {audience}{when}"]


def _telling(rng: Random, published: list[str]) -> str:
    what = rng.choice(published)
    told = f"publish {what}{TYPES.get(what, '')} = {VALUES[what]}"
    if rng.random() < 0.3:
        told = (
            f"show glimpse to p in Player where {rng.choice(['p != who', 'hold[p] == cat'])}: hold[left(p)]"
        )
    if rng.random() < 0.4:
        told = f"if {rng.choice([*OPEN, *SECRET])} {{ {told} }}"
    return f"    {told}"
