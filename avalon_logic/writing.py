"""Files written whole or not at all: a reader never meets half of one, and an interruption leaves nothing behind."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path


def write_whole(path: Path, content: str | bytes) -> None:
    """Writes one file; raises `OSError`, and then what was there before is there still."""
    write_all({path: content.encode("utf-8") if isinstance(content, str) else content})


def write_all(files: Mapping[Path, bytes]) -> None:
    """Writes files: each to a new one beside its place first, and when all are written they take their places."""
    places = {path: path.resolve() for path in files}  # of a link, what it points to
    plain = [path for path, place in places.items() if place.is_file() or not place.exists()]
    beside = {path: places[path].with_name(f".{path.name}.{os.getpid()}.new") for path in plain}
    at = Path()
    try:
        for at, content in files.items():
            beside.get(at, at).write_bytes(content)  # a device is written to, it cannot be replaced
        for at, new in beside.items():
            new.replace(places[at])
    except OSError as error:
        error.filename = str(at)  # a full disk does not say for which file it had no room
        raise
    finally:
        for new in beside.values():
            with suppress(OSError):
                new.unlink(missing_ok=True)
