"""Names as people type them in a hurry: any case, accents or not, the beginning if it is clear whose it is."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from difflib import get_close_matches

from avalon_logic.table.game import NotTaken

# letters that do not come apart into a letter and its accent
_PLAIN = str.maketrans({"ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "æ": "ae", "œ": "oe", "ı": "i"})


def folded(word: str) -> str:
    """The word without capitals and accents."""
    apart = unicodedata.normalize("NFKD", word.casefold())
    return "".join(c for c in apart if not unicodedata.combining(c)).translate(_PLAIN)


def matching(word: str, names: Iterable[str]) -> tuple[str, ...]:
    """The names a word can stand for: those it is exactly, else but for capitals, accents, or its being cut short."""
    every = tuple(names)
    exactly = (
        lambda name: name == word,
        lambda name: name.casefold() == word.casefold(),
        lambda name: folded(name) == folded(word),
        lambda name: bool(folded(word)) and folded(name).startswith(folded(word)),
    )
    for same in exactly:
        found = tuple(name for name in every if same(name))
        if found:
            return found
    return ()


def player(word: str, names: Sequence[str]) -> str:
    """The player a word stands for; raises `NotTaken` if that is nobody, or not clear."""
    found = matching(word, names)
    if len(found) == 1:
        return found[0]
    if found:
        raise NotTaken(f"'{word}' could be {' or '.join(found)}; write more of the name")
    raise NotTaken(f"nobody is called '{word}'; at the table: {', '.join(names)}{meant(word, names)}")


def picked(word: str, members: Sequence[str]) -> str:
    """The member of a list that a word stands for; the word itself if that is not clear."""
    found = matching(word, members)
    return found[0] if len(found) == 1 else word


def meant(word: str, known: Iterable[str]) -> str:
    """A guess at what was mistyped, as the end of a sentence."""
    close = get_close_matches(word.lower(), [k.lower() for k in known], 1, 0.7)
    return "" if not close else f"; did you mean '{next(k for k in known if k.lower() == close[0])}'?"
