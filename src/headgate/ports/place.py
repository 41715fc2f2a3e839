"""Places where files lie: a folder, a bucket, a server.

Files are copied to this machine before they are read: formats must be able to seek, reading goes
on at a stored position after a crash, and what was hashed must be what is read. Calls block, as
the libraries beneath them do; they belong into threads.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol

import msgspec

from headgate.core.redact_values import without_secrets

Progress = Callable[[int, int | None], object]
"""Hears how many bytes are here and how many there will be, if known; raises to stop it."""


class FoundFile(msgspec.Struct, frozen=True):
    """A file in its place."""

    url: str
    """Where it is, with the password that opens it; `shown` is what may be told."""
    name: str
    """Its own name without folders, fit for a local file."""
    size: int | None = None
    version: str = ""
    """Another one for other content; empty where the place cannot tell."""
    modified_at: int | None = None
    """UTC microseconds, by the clock of the place."""
    whole: bool = False
    """The place shows a file only when all of it is there."""

    @property
    def shown(self) -> str:
        """The URL without its secrets."""
        return without_secrets(self.url)

    @property
    def identity(self) -> str:
        """The same for the same content in the same place, whatever the password is."""
        return f"{self.shown} {self.version}"

    def __repr__(self) -> str:
        return f"Found({self.shown!r}, size={self.size}, version={self.version!r})"


class CopiedFile(msgspec.Struct, frozen=True):
    """A file that was copied."""

    found: FoundFile
    """As it was when it was copied."""
    path: Path
    size: int
    resumed_at: int
    """How many bytes were there already, from an earlier try."""


class Place(Protocol):
    """Hands out files. BadSource says what is wrong, SourceUnreachable that it may pass."""

    def stat(self, url: str) -> FoundFile:
        """The file as it is now."""
        ...

    def files(self, url: str) -> Sequence[FoundFile]:
        """The files of one folder, by name, without those of folders inside it."""
        ...

    def fetch(
        self,
        url: str,
        target: Path,
        *,
        limit_bytes: int | None = None,
        on_progress: Progress | None = None,
    ) -> CopiedFile:
        """Copy the file to `target`, which appears when it is complete.

        What a broken try has copied lies beside the target, and the next try goes on there if
        the place can do so and the file is the same. `limit_bytes` lowers the limit in the
        settings of the place.
        """
        ...

    def discard(self, target: Path) -> None:
        """Remove what broken tries have left beside the target."""
        ...
