"""What the rules say about tables, written down by hand from the clause catalogue and without our model.

RULES.md section T (numbers), B.3 (who sees whom), N.2 (reveal script), N.4 to N.9.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, combinations

COUNTS = (5, 6, 7, 8, 9, 10)
GOOD = {5: 3, 6: 4, 7: 4, 8: 5, 9: 6, 10: 6}
EVIL = {5: 2, 6: 2, 7: 3, 8: 3, 9: 3, 10: 4}
SIZES = {
    5: (2, 3, 2, 3, 3),
    6: (2, 3, 4, 3, 4),
    7: (2, 3, 3, 4, 4),
    8: (3, 4, 4, 5, 5),
    9: (3, 4, 4, 5, 5),
    10: (3, 4, 4, 5, 5),
}
NEEDED = {n: (1, 1, 1, 2 if n >= 7 else 1, 1) for n in COUNTS}
APPROVALS = {5: 3, 6: 4, 7: 4, 8: 5, 9: 5, 10: 6}
BLOCKING = {5: 3, 6: 3, 7: 4, 8: 4, 9: 5, 10: 5}
HELP_NEEDED = {5: 1, 6: 1, 7: 1, 8: 1, 9: 2, 10: 1}
AVALON_DEALS = {5: 60, 6: 120, 7: 420, 8: 840, 9: 1512, 10: 5040}
RESISTANCE_DEALS = {5: 10, 6: 15, 7: 35, 8: 56, 9: 84, 10: 210}

OPTIONAL = ("percival", "mordred", "morgana", "oberon")
EVIL_ROLES = ("assassin", "minion", "mordred", "morgana", "oberon")


def role_sets() -> Iterator[tuple[int, tuple[str, ...]]]:
    """Every number of players with every legal choice of special roles beside Merlin and the Assassin (N.9)."""
    for n in COUNTS:
        for chosen in chain.from_iterable(combinations(OPTIONAL, k) for k in range(len(OPTIONAL) + 1)):
            evil = sum(r in EVIL_ROLES for r in chosen)
            if evil > EVIL[n] - 1:
                continue
            if n == 5 and "percival" in chosen and not {"mordred", "morgana"} & set(chosen):
                continue
            yield n, ("merlin", "assassin", *chosen)


def deck(n: int, specials: tuple[str, ...]) -> dict[str, int]:
    """The cards dealt: the special roles, the rest plain."""
    evil = [r for r in specials if r in EVIL_ROLES]
    cards = dict.fromkeys(specials, 1)
    cards["servant"] = GOOD[n] - (len(specials) - len(evil))
    cards["minion"] = EVIL[n] - len(evil)
    return {role: count for role, count in cards.items() if count}


def sees(looker: str, other: str, *, blind: bool = False, oberon_raises: bool = True) -> str:
    """B.3: E seen as evil, M as Merlin or Morgana, nothing else."""
    company = {"assassin", "minion", "morgana", "mordred"}
    if looker in company and other in company and not blind:
        return "E"
    if looker == "merlin" and other in {"assassin", "minion", "morgana"}:
        return "E"
    if looker == "merlin" and other == "oberon" and oberon_raises:
        return "E"
    if looker == "percival" and other in {"merlin", "morgana"}:
        return "M"
    return ""


def script(
    cards: dict[str, int], *, blind: bool = False, oberon_raises: bool = True
) -> list[tuple[str, frozenset[str]]]:
    """N.2: the keys of the lines with the roles called, for exactly these cards."""
    evil = frozenset(r for r in cards if r in EVIL_ROLES)
    lines: list[tuple[str, frozenset[str]]] = [("close_all", frozenset())]
    if not blind:
        lookers = evil - {"oberon"}
        lines += [("evil_open", lookers), ("evil_close", lookers)]
    if "merlin" in cards:
        thumbs = evil - {"mordred"} - (frozenset() if oberon_raises else {"oberon"})
        lines += [("check", frozenset()), ("evil_thumb", thumbs), ("merlin_open", frozenset({"merlin"}))]
        lines += [("evil_fist", thumbs), ("merlin_close", frozenset({"merlin"}))]
    if "percival" in cards:
        thumbs = frozenset(r for r in ("merlin", "morgana") if r in cards)
        lines += [("check", frozenset()), ("perc_thumb", thumbs), ("perc_open", frozenset({"percival"}))]
        lines += [("perc_fist", thumbs), ("perc_close", frozenset({"percival"}))]
    if "merlin" in cards:
        lines.append(("check", frozenset()))
    return [*lines, ("open_all", frozenset())]
