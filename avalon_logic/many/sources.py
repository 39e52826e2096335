"""One game after another, a line each, from files (plain or gzip), folders of them, or a pipe, however many there are.

What cannot be read is an answer of its own and ends nothing but itself: a broken archive loses its rest, a line that is
too long loses that line.
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, cast

LINES = (".jsonl", ".ndjson")  # one game a line
WHOLE = (".json", ".txt")  # one game a file, in a folder
LONGEST = 10_000_000  # bytes of one game; the longest real one has some 20,000


@dataclass(frozen=True)
class Source:
    """One game as it was found. `content` None: it could not be read, and `error` says why."""

    place: str
    content: bytes | None
    error: str = ""
    passed: int = 0  # bytes of all files up to here, as they are on the disk


def holds_many(name: str) -> bool:
    """Is this a file with a game on every line, or a folder?"""
    return Path(name).is_dir() or _plain(name).endswith(LINES)


def _plain(name: str) -> str:
    return name.removesuffix(".gz")


def files_of(name: str) -> list[Path]:
    """The files with games that a name stands for, in order."""
    path = Path(name)
    if not path.is_dir():
        return [path]
    found = (p for p in path.rglob("*") if _plain(p.name).endswith((*LINES, *WHOLE)) and p.is_file())
    return sorted(p for p in found if not any(part.startswith(".") for part in p.relative_to(path).parts))


def size_of(files: Iterable[Path]) -> int:
    """How many bytes the files have together, for showing how far one is."""
    return sum(path.stat().st_size for path in files if path.exists())


def games_in(files: Iterable[Path]) -> Iterator[Source]:
    """Every game of every file; raises `OSError` for a file that cannot be opened."""
    passed = 0
    for path in files:
        with path.open("rb") as raw:
            stream = cast(BinaryIO, gzip.GzipFile(fileobj=raw)) if path.suffix == ".gz" else raw
            try:
                if _plain(path.name).endswith(WHOLE):
                    yield Source(str(path), stream.read(), "", passed + raw.tell())
                else:
                    for source in lines_of(stream, str(path)):
                        yield Source(source.place, source.content, source.error, passed + raw.tell())
            except (OSError, EOFError, zlib.error) as error:
                yield Source(str(path), None, f"cannot be read on from here: {error}", passed + raw.tell())
            passed += raw.tell()


def lines_of(stream: BinaryIO | Iterable[bytes], name: str) -> Iterator[Source]:
    """Every line with something on it. The place is the file and the line's number."""
    for number, line in enumerate(_lines(stream), 1):
        place = f"{name}:{number}"
        if line is None:
            yield Source(place, None, f"this line has more than {LONGEST:,} bytes")
        elif line.removeprefix(b"\xef\xbb\xbf").strip():
            yield Source(place, line)


def _lines(stream: BinaryIO | Iterable[bytes]) -> Iterator[bytes | None]:
    """Lines one at a time; None for one that is too long to be held."""
    if not hasattr(stream, "readline"):
        yield from stream
        return
    while line := stream.readline(LONGEST + 1):
        if len(line) <= LONGEST:
            yield line
            continue
        while line and not line.endswith(b"\n"):
            line = stream.readline(LONGEST)
        yield None
