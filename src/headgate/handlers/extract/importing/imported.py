"""What an import gives: the source, the streams that it leaves out, and what differs."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from headgate.core.errors import UsageError

MOST_BYTES = 20_000_000


class NotConvertible(Exception):
    """Something that a source cannot say; the text names it."""


class LeftOut(msgspec.Struct, frozen=True):
    """A stream that is not in the source, and why."""

    stream: str
    reason: str


class ImportedSource(msgspec.Struct, frozen=True):
    tree: Mapping[str, Any]
    """The words of a source; empty if no stream could be converted."""
    left_out: tuple[LeftOut, ...] = ()
    notes: tuple[str, ...] = ()
    """Where the source does something else than the original, and what to set before a pass."""


class Notes:
    """Collects notes, each once."""

    def __init__(self) -> None:
        self._found: dict[str, None] = {}

    def add(self, text: str) -> None:
        self._found.setdefault(text)

    def all(self) -> tuple[str, ...]:
        return tuple(self._found)


def read_bytes(path: Path) -> bytes:
    """The contents of a file; UsageError if it cannot be read or is too large."""
    try:
        with path.open("rb") as file:
            content = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise UsageError(f"{path}: the file cannot be read: {error.strerror}") from None
    if len(content) > MOST_BYTES:
        raise UsageError(f"{path}: the file has more than {MOST_BYTES:,} bytes")
    return content
