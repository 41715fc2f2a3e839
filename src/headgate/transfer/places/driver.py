"""The operations that each protocol implements; the rest is common to all."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from typing import NamedTuple, Protocol

from headgate.ports.source import FoundFile

BLOCK = 256 * 1024
"""Bytes of a file that are in memory at a time."""


class KeptCopy(NamedTuple):
    version: str
    size: int


NOTHING = KeptCopy("", 0)


class Opening(NamedTuple):
    found: FoundFile
    offset: int
    """Offset of the first piece: the size of the kept copy, or 0."""
    pieces: Iterator[bytes]
    version_now: Callable[[], str] | None = None
    """Gets the version after the last piece; None if the place ensures a single version."""


class Driver(Protocol):
    """Client of one protocol, used for one request. Failures are OSErrors or BadSource."""

    def find(self, url: str) -> FoundFile:
        """The file's present version."""
        ...

    def files(self, url: str) -> Iterable[FoundFile]:
        """The files of a folder, in any order."""
        ...

    def open(self, url: str, kept: KeptCopy) -> AbstractContextManager[Opening]:
        """Begin to read, after the kept copy if it has the same version."""
        ...


def start_of(found: FoundFile, kept: KeptCopy) -> int:
    """Offset where reading begins; the file's size if the copy is complete."""
    same = kept.version and kept.version == found.version
    return kept.size if same and kept.size <= (found.size or 0) else 0
