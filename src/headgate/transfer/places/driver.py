"""What each protocol must be able to do; the rest is the same for all."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from typing import NamedTuple, Protocol

from headgate.ports.place import FoundFile

BLOCK = 256 * 1024
"""How much of a file is in memory at once."""


class KeptCopy(NamedTuple):
    """What an earlier try has copied."""

    version: str
    size: int


NOTHING = KeptCopy("", 0)


class Opening(NamedTuple):
    """A file that is being read."""

    found: FoundFile
    offset: int
    """Where the pieces begin: at the end of what is kept, or at 0."""
    pieces: Iterator[bytes]
    version_now: Callable[[], str] | None = None
    """Asks again after the last piece; None where the place sees to it that all are of one."""


class Driver(Protocol):
    """Speaks one protocol, for one errand. Failures are OSErrors or BadSource."""

    def find(self, url: str) -> FoundFile:
        """The file as it is now."""
        ...

    def files(self, url: str) -> Iterable[FoundFile]:
        """The files of a folder, in any order."""
        ...

    def open(self, url: str, kept: KeptCopy) -> AbstractContextManager[Opening]:
        """Begin to read, after what is kept if that is of the same version."""
        ...


def start_of(found: FoundFile, kept: KeptCopy) -> int:
    """Where reading begins; at the size if all of it is there already."""
    same = kept.version and kept.version == found.version
    return kept.size if same and kept.size <= (found.size or 0) else 0
