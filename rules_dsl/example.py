"""A tiny game, for the examples in the docstrings of this package: who holds the gold coin?"""

from __future__ import annotations

from rules_dsl.check import build_model
from rules_dsl.compose import compose, library
from rules_dsl.grammar import parse
from rules_dsl.model import Model
from rules_dsl.settle import settle

TEXT = """
game coins {
  players 3..4
  enum Coin { copper, gold }
  result Player
  param purse: Coin -> 0..4 = map(c in Coin: if c == gold then 1 else players - 1)
  speech claims(by: Player, coin: Coin)
  start toss
  phase toss {
    chance deals coin: Player -> Coin from purse own
    next draw_lots
  }
  phase draw_lots {
    chance chooses seer: Player public
    next hint
  }
  phase hint {
    each p in Player where p != seer chooses nod: Bool public
    next guess
  }
  phase guess {
    seer chooses rich: Player public
      require rich != seer "the seer names somebody else"
    if coin[rich] == gold { win seer }
    draw
  }
}
"""


def example_model(players: int = 3) -> Model:
    """The game for so many players."""
    opened = build_model(compose(library([parse(TEXT, "coins.rules")]), "coins"))
    return settle(opened, {"players": players}).model
