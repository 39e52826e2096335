"""What the commands write to. Output must not be able to command a terminal, fail on a letter, or get lost unnoticed.

`guarded()` puts such streams in the place of stdout and stderr while a command runs. Names, titles and file names come
from other people: control characters in them are shown as `\\u001b`, and so is a letter the output's encoding lacks,
which keeps JSON readable as JSON. What cannot be written at all raises `OutputLost`.
"""

from __future__ import annotations

import io
import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from typing import Any, TextIO

# all that a terminal may take as a command or that reorders a line; a new line and a tab are just text
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")


class OutputLost(Exception):
    """Something could not be written to stdout. `error` says why."""

    def __init__(self, error: OSError | ValueError) -> None:
        self.error = error
        super().__init__(str(error))

    @property
    def unread(self) -> bool:
        """Did whoever was reading stop, as `head` does?"""
        return isinstance(self.error, BrokenPipeError)


def visible(text: str) -> str:
    """The text with control characters spelt out."""
    return _CONTROL.sub(lambda found: _spelt(found.group()), text)


def _spelt(letters: str) -> str:
    """Letters as JSON spells them out."""
    codes = letters.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{codes[i]:02x}{codes[i + 1]:02x}" for i in range(0, len(codes), 2))


class Writer(io.TextIOBase):
    """A stream that takes every letter; for rich and progress lines, which command the terminal on purpose."""

    def __init__(self, inner: TextIO, *, needed: bool) -> None:
        self.inner = inner
        self.needed = (
            needed  # stdout: what gets lost there is a failure; of messages what can be told is told
        )

    def write(self, text: str) -> int:
        encoding = self.inner.encoding or "utf-8"
        try:
            text.encode(encoding)
        except UnicodeEncodeError:
            text = "".join(c if _encodable(c, encoding) else _spelt(c) for c in text)
        with self.telling():
            self.inner.write(text)
        return len(text)

    def flush(self) -> None:
        with self.telling():
            self.inner.flush()

    @contextmanager
    def telling(self) -> Iterator[None]:
        try:
            yield
        except (OSError, ValueError) as error:  # a closed file is a ValueError
            if self.needed:
                raise OutputLost(error) from None

    def fileno(self) -> int:
        return self.inner.fileno()

    def isatty(self) -> bool:
        return self.inner.isatty()

    @property
    def buffer(self) -> Any:
        return self.inner.buffer

    @property
    def encoding(self) -> str:  # type: ignore[override]
        return self.inner.encoding or "utf-8"

    @property
    def errors(self) -> str | None:  # type: ignore[override]
        return self.inner.errors

    def writable(self) -> bool:
        return True


class PlainWriter(Writer):
    """A stream of text in which nothing is a command to the terminal. `bare` is the same stream without that care."""

    def __init__(self, inner: TextIO, *, needed: bool) -> None:
        super().__init__(inner, needed=needed)
        self.bare = Writer(inner, needed=needed)

    def write(self, text: str) -> int:
        return super().write(visible(text))


def _encodable(letter: str, encoding: str) -> bool:
    try:
        letter.encode(encoding)
    except UnicodeEncodeError:
        return False
    return True


def bare(stream: TextIO) -> TextIO:
    """The stream for somebody who means the control characters he writes."""
    return stream.bare if isinstance(stream, PlainWriter) else stream  # type: ignore[return-value]


def write_bytes(stream: TextIO, content: bytes) -> None:
    """Writes what has an encoding of its own, or is no text, after all that was written before."""
    stream.flush()
    with stream.telling() if isinstance(stream, Writer) else nullcontext():
        stream.buffer.write(content)
        stream.buffer.flush()


@contextmanager
def guarded() -> Iterator[None]:
    """Guards stdout and stderr; everything is written when this ends, or `OutputLost` is raised."""
    before = sys.stdout, sys.stderr
    # a stream that was closed before we came is one nobody wants to hear from
    nowhere = open(os.devnull, "w", encoding="utf-8") if None in before else None  # noqa: SIM115
    out = PlainWriter(before[0] or nowhere, needed=True)  # type: ignore[arg-type]
    said = PlainWriter(before[1] or nowhere, needed=False)  # type: ignore[arg-type]
    sys.stdout, sys.stderr = out, said
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before
        try:
            said.flush()
            out.flush()
        finally:
            if nowhere is not None:
                nowhere.close()


def give_up_stdout() -> None:
    """After a failure: lets the interpreter close stdout without trying, and complaining, once more."""
    with suppress(OSError, ValueError, AttributeError):
        nothing = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nothing, sys.stdout.fileno())
        os.close(nothing)
