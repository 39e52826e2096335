"""Answers kept in a file, one JSON line each, so that a run that was interrupted goes on where it stopped.

An answer belongs to a game and to what was asked of it: both are in its `asked`. A last line cut off half-way is taken
away. A game that could not be decided is tried again.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from hashlib import sha256
from io import FileIO
from pathlib import Path
from typing import Any

from avalon_logic.many.pool import UNDECIDED
from avalon_logic.many.sources import Source


class NoJournal(Exception):
    """The file is there, and holds something else than answers."""


def asked(source: Source, question: str) -> str:
    """A game and what is asked of it, in a few letters."""
    content = source.content or b""
    return sha256(
        b"\0".join((question.encode(), source.place.encode("utf-8", "replace"), content))
    ).hexdigest()[:24]


def json_line(data: Any) -> str:
    """One line of JSON in letters that can be written."""
    text = json.dumps(data, ensure_ascii=False)
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:  # half a letter, as JSON can have
        return json.dumps(data)
    return text


class Journal:
    """A file of answers being written. `answers` gives those it has, from the disk."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.done: set[str] = set()
        self._stream: FileIO | None = None

    def open(self) -> None:
        """Reads which games are answered; raises `OSError` or `NoJournal`."""
        end = 0
        if self.path.is_file():
            with self.path.open("rb") as stream:
                for line in stream:
                    if not line.endswith(b"\n"):
                        break
                    answer = _parsed(line)
                    if answer is None:
                        raise NoJournal(f"{self.path} is not a file of answers; name another one with --out")
                    if answer.get("status") != UNDECIDED:
                        self.done.add(str(answer["asked"]))
                    end += len(line)
        self._stream = self.path.open("ab", buffering=0)
        if self.path.is_file():
            self._stream.truncate(end)

    def add(self, answer: Mapping[str, Any]) -> None:
        assert self._stream is not None
        self._stream.write(json_line(answer).encode("utf-8") + b"\n")

    def answers(self) -> Iterator[dict[str, Any]]:
        """The answers the file had before, but those tried again."""
        if self.path.is_file():
            with self.path.open("rb") as stream:
                for line in stream:
                    answer = _parsed(line)
                    if answer is not None and answer.get("status") != UNDECIDED:
                        yield answer

    def close(self) -> None:
        if self._stream is not None:
            self._stream.close()


def _parsed(line: bytes) -> dict[str, Any] | None:
    try:
        data = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return data if isinstance(data, dict) and "asked" in data else None
