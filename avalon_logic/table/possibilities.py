"""What everybody can be, as a table that fits its window: columns of roles go before anything of the rest is cut."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.cells import cell_len, set_cell_size

from avalon_logic.deduction.display import percent
from avalon_logic.deduction.seats import cards_in_deck

if TYPE_CHECKING:
    from rich.console import RenderableType

    from avalon_logic.deduction import Result

LONGEST_NAME = 14
SHORTEST_NAME = 6
SHORTEST_HEAD = 3
WIDEST_SHARE = 5  # as in 33.3%


@dataclass(frozen=True)
class Possibilities:
    """A row for each player: the share of the smaller side, then of each card. `dropped` are cards without a column."""

    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    dropped: tuple[str, ...] = ()


def possibilities(result: Result, width: int) -> Possibilities:
    """The table in so many columns; a dot where a card is ruled out."""
    few = result.setting.sides[-1]
    cards = {role: number for role, number in cards_in_deck(result.setting).items() if number}
    names = _names(result, width - 1 - max(cell_len(few), WIDEST_SHARE))
    left = width - max(map(cell_len, ("player", *names)))
    kept, heads = _columns(cards, left - 1 - max(cell_len(few), WIDEST_SHARE))
    rows = tuple(
        (
            name,
            percent(player.sides.get(few, 0)),
            *(percent(player.roles[role]) if role in player.roles else "." for role in kept),
        )
        for name, player in zip(names, result.players, strict=True)
    )
    dropped = tuple(role for role in cards if role not in kept)
    return Possibilities(("player", few, *heads), rows, dropped)


def drawn(table: Possibilities) -> RenderableType:
    """The table for a terminal."""
    from rich.table import Table
    from rich.text import Text

    grid = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0))
    grid.add_column(table.heads[0], no_wrap=True)
    for head in table.heads[1:]:
        grid.add_column(head, justify="right", no_wrap=True)
    for name, share, *cells in table.rows:
        style = "green" if share == "0%" else "red" if share == "100%" else ""
        grid.add_row(Text(name), Text(share, style=style), *cells)
    return grid


def _names(result: Result, room: int) -> list[str]:
    """The players' names, cut where they are longer than there is room for, so that they stay apart."""
    names = list(result.record.names)
    longest = max(SHORTEST_NAME, min(LONGEST_NAME, room))
    short = [_cut(name, longest) for name in names]
    for seat, name in enumerate(short):
        if short.count(name) > 1:  # the same beginning: the number of the seat tells them apart
            mark = str(seat + 1)
            short[seat] = set_cell_size(names[seat], longest - len(mark)).rstrip() + mark
    return short


def _cut(name: str, most: int) -> str:
    return name if cell_len(name) <= most else set_cell_size(name, most - 1).rstrip() + "."


def _columns(cards: dict[str, int], room: int) -> tuple[list[str], list[str]]:
    """The cards that get a column, and how the columns are called: in full, else cut short, else fewer of them."""
    kept = list(cards)
    while kept:
        for heads in (kept, _short(kept)):
            if sum(1 + max(cell_len(h), WIDEST_SHARE) for h in heads) <= room:
                return kept, heads
        most = max(cards[role] for role in kept)  # of which there are many says least about anybody
        kept.remove(next(role for role in reversed(kept) if cards[role] == most))
    return [], []


def _short(words: list[str]) -> list[str]:
    """The shortest beginnings that stay apart, at least as long as a share is wide."""
    for length in range(SHORTEST_HEAD, 1 + max(map(len, words))):
        if len({w[:length] for w in words}) == len(words):
            return [w[: max(length, WIDEST_SHARE)] for w in words]
    return words
