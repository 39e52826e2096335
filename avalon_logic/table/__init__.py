"""The helper at the table: a game typed in line by line, and what follows from it after each line."""

from avalon_logic.table.awaited import what_comes_next
from avalon_logic.table.game import Game, NotTaken, enter, look, reopened, text_of

__all__ = ["Game", "NotTaken", "enter", "look", "reopened", "text_of", "what_comes_next"]
