"""Calling roles: a set of roles in, the words with which they are addressed or spoken of, only naming roles in play.

A side that has a common name is called by it, with those left out named as exceptions and those who do not count among
them named besides.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from avalon_logic.referee.messages import Words
from avalon_logic.referee.plan import plan
from avalon_logic.referee.stage import Stage


@dataclass(frozen=True)
class Called:
    """Words for some roles; `many` says whether they are addressed in the plural."""

    text: str
    many: bool


def call(stage: Stage, words: Words, roles: Collection[str], exceptions: bool = True) -> Called:
    """How to call these roles out loud; with `exceptions` off those left out are not named again."""
    sides = {stage.sides[r] for r in roles}
    if len(sides) == 1:
        (side,) = sides
        group = words.find("groups", side)
        aside = plan().apart.get(side, frozenset())
        members = [r for r in stage.deck if stage.sides[r] == side]
        if group is not None and any(r not in aside for r in roles):
            text = words.fill(group)
            besides = [words.the_role(r) for r in members if r in aside and r in roles]
            if besides:  # joined so that they cannot be taken for part of the group's name
                text += words.say("language", "besides") + words.listed(besides)
            without = [words.the_role(r) for r in members if r not in roles]
            if without and exceptions:
                text += words.say("language", "but") + words.listed(without, words.say("language", "but_and"))
            return Called(text, True)
    named = [r for r in stage.deck if r in roles]
    return Called(words.listed([words.role(r) for r in named]), sum(stage.deck[r] for r in named) > 1)


def speak_of(stage: Stage, words: Words, roles: Collection[str]) -> str:
    """The same in the middle of a sentence."""
    named = [r for r in stage.deck if r in roles]
    sides = {stage.sides[r] for r in named}
    if len(named) > 1 and len(sides) == 1:
        found = words.find("groups", f"{next(iter(sides))}_the")
        if found is not None:
            return words.fill(found)
    return words.listed([words.the_role(r) for r in named])
