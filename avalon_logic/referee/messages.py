"""The words of a language: message files in, phrases out.

A message is found under its section and key; `key@game` goes before `key` for that game and those that extend it. What
a rulebook of the user's own has no message for is said in the rulebook's own words, and remembered as a fallback.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from importlib.resources import files
from typing import Any

from rules_dsl.source import SourceText

LANGUAGES = ("en", "fr", "es")


@lru_cache(maxsize=8)
def message_source(language: str) -> SourceText:
    """The text of a language's message file."""
    path = files("avalon_logic") / "referee" / "messages" / f"{language}.toml"
    return SourceText(path.read_text(encoding="utf-8"), f"messages/{language}.toml")


@lru_cache(maxsize=8)
def message_data(language: str) -> Mapping[str, Any]:
    return tomllib.loads(message_source(language))


class _Filling(dict[str, object]):
    """What stands in braces: nouns and values; a name with a capital gives the word with one."""

    def __missing__(self, key: str) -> object:
        if key[:1].isupper():
            return capital(str(self[key[0].lower() + key[1:]]))
        raise KeyError(key)


@dataclass(frozen=True, eq=False)
class Words:
    """A language for one game."""

    language: str
    family: tuple[str, ...] = ()
    fallbacks: list[str] = field(default_factory=list)
    used: set[tuple[str, ...]] = field(default_factory=set)

    # --- finding ---

    def find(self, *path: str) -> Any:
        """The message under a path, the nearest game's first; None if there is none."""
        here: Any = message_data(self.language)
        for part in path[:-1]:
            here = here.get(part, {})
        for key in (*(f"{path[-1]}@{game}" for game in reversed(self.family)), path[-1]):
            if key in here:
                self.used.add((*path[:-1], key))
                return here[key]
        return None

    def nouns(self) -> _Filling:
        section = message_data(self.language)["nouns"]
        return _Filling({key: self.find("nouns", key) for key in section if "@" not in key})

    def fill(self, template: str, **values: object) -> str:
        nouns = self.nouns()
        nouns.update(values)
        return template.format_map(nouns)

    # --- saying ---

    def say(self, *path: str, n: int | None = None, **values: object) -> str:
        """A message of the tables' own; the form for `n` where it has several."""
        found = self.find(*path)
        if found is None:
            raise KeyError(".".join(path))
        if isinstance(found, Mapping):
            assert n is not None, f"{'.'.join(path)} needs a number"
            found = found["one" if self.is_one(n) else "other"]
        return self.fill(found, n=n, **values)

    def is_one(self, n: int) -> bool:
        """Does the language say this number with the singular? (French also none.)"""
        return n == 1 or (n == 0 and not self.find("language", "none_is_plural"))

    def word(self, section: str, name: str) -> str:
        """The word for a name of the rulebook."""
        found = self.find(*section.split("."), name)
        if found is None:
            return self._own(name.replace("_", " "))
        return self.fill(found)

    def text(self, text: str) -> str:
        """A text of the rulebook in this language."""
        if self.language == "en" or not text:
            return text
        found = self.find("texts", text)
        return self._own(text) if found is None else self.fill(found)

    def _own(self, text: str) -> str:
        if text not in self.fallbacks:
            self.fallbacks.append(text)
        return text

    def listed(self, items: Sequence[str], last: str | None = None) -> str:
        """Items with commas and a last "and"."""
        if len(items) < 2:
            return "".join(items)
        ahead = self.say("language", "comma").join(items[:-1])
        joint = last or self.say("language", "and")
        if self.language == "es" and joint == " y " and _sounds_like_i(items[-1]):
            joint = " e "
        return ahead + joint + items[-1]

    def numbers(self, values: Sequence[int]) -> str:
        return self.listed([str(v) for v in values])

    # --- roles ---

    def role(self, name: str) -> str:
        return self.word("roles", name)

    def the_role(self, name: str) -> str:
        found = self.find("roles_the", name)
        return self.role(name) if found is None else self.fill(found)


def _sounds_like_i(word: str) -> bool:
    lower = word.lower()
    return lower.startswith(("i", "hi", "í")) and not lower.startswith("hie")


def capital(text: str) -> str:
    """The text with a capital first letter."""
    return text[:1].upper() + text[1:]
