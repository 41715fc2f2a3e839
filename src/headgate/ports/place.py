"""Places of files: a folder, a bucket, a server.

Files are copied to this machine before they are read: formats must be able to seek, reading
continues at a stored position after a crash, and the hashed bytes must be the bytes read. Calls
block, as the libraries beneath them do; call them in threads.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol

import msgspec

from headgate.core.redact_values import without_secrets

Progress = Callable[[int, int | None], object]
"""Gets the bytes copied and the total, if known; raises to stop the copy."""


class FoundFile(msgspec.Struct, frozen=True):
    url: str
    """The URL with its password; show `shown` instead."""
    name: str
    """Its name without folders, valid for a local file."""
    size: int | None = None
    version: str = ""
    """Differs for different content; empty where the place cannot tell."""
    modified_at: int | None = None
    """UTC microseconds, by the clock of the place."""
    whole: bool = False
    """The place shows a file only when it is complete."""

    @property
    def shown(self) -> str:
        return without_secrets(self.url)

    @property
    def identity(self) -> str:
        """The same for the same content in the same place, with any password."""
        return f"{self.shown} {self.version}"

    def __repr__(self) -> str:
        return f"Found({self.shown!r}, size={self.size}, version={self.version!r})"


class CopiedFile(msgspec.Struct, frozen=True):
    found: FoundFile
    """As it was when it was copied."""
    path: Path
    size: int
    resumed_at: int
    """Number of bytes that an earlier try had copied."""


class Place(Protocol):
    """Provides files. BadSource: the source is wrong. SourceUnreachable: a later try may work."""

    def stat(self, url: str) -> FoundFile: ...

    def files(self, url: str) -> Sequence[FoundFile]:
        """The files of one folder, by name, without subfolders."""
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

        A partial copy stays beside the target, and the next try continues it if the place supports
        that and the file is the same. `limit_bytes` lowers the limit in the settings of the place.
        """
        ...

    def discard(self, target: Path) -> None:
        """Remove partial copies beside the target."""
        ...
