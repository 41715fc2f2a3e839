"""The output folder of downloads: a file appears in it complete, under a name, and stays."""

from collections.abc import AsyncIterator, Callable, Mapping
from typing import Protocol

import msgspec

from headgate.core.errors import HeadgateError


class ArtifactTrouble(HeadgateError):
    """A file could not be stored in the output folder."""


class FileTrouble(ArtifactTrouble):
    """This file cannot be stored under any name; other files can."""


class FolderTrouble(ArtifactTrouble):
    """No file can be stored at present: repair the folder and run the same command again."""


class FolderFull(FolderTrouble):
    """The disk of the folder is full, or a quota is used up."""


class FolderReadOnly(FolderTrouble):
    """The folder may not be written to."""


class FolderGone(FolderTrouble):
    """The folder does not exist any more."""


class FileOrigin(msgspec.Struct, frozen=True):
    url: str
    etag: str = ""
    last_modified: str = ""

    @property
    def validator(self) -> str:
        """The value for `If-Range`; empty if the rest must not be appended to the earlier bytes."""
        return self.last_modified if self.etag.startswith("W/") or not self.etag else self.etag

    def continues(self, earlier: "FileOrigin") -> bool:
        same = self.url == earlier.url and self.validator == earlier.validator
        return same and self.validator != ""


class KeptPart(msgspec.Struct, frozen=True):
    origin: FileOrigin
    size: int
    """The offset of the first missing byte."""


class StoredArtifact(msgspec.Struct, frozen=True):
    path: str
    """The path relative to the folder."""
    size: int
    sha256: str
    known: bool
    """The same bytes were stored before, under this name or another."""


Digests = Mapping[str, str]
"""In hex, by the name of the algorithm."""


class Draft(Protocol):
    """A file being written; readers of the folder do not see it before `finish`."""

    @property
    def kept(self) -> KeptPart | None:
        """The part that an earlier try left, if it can be continued."""
        ...

    def start(self, origin: FileOrigin) -> None:
        """Begin with the first byte and drop an earlier part."""
        ...

    def resume(self) -> AsyncIterator[bytes]:
        """Continue the earlier part; its bytes are returned, to be checked."""
        ...

    async def write(self, data: bytes) -> None:
        """Append bytes; raise ArtifactTrouble if they cannot be stored."""
        ...

    async def finish(self, name: str, accept: Callable[[Digests], None]) -> StoredArtifact:
        """Put the file into the folder; it is durable when this returns.

        `accept` is called with its digests, in a thread, and raises if the file is unfit. The name
        is a suggestion: it gets a suffix if other content has the name already.
        """
        ...

    async def leave(self) -> None:
        """Stop here, so that a later try can continue."""
        ...

    def abandon(self) -> None:
        """Remove what was written. Harmless after `finish`, and when called twice."""
        ...


class Tidied(msgspec.Struct, frozen=True):
    leftovers: int
    """Files that were begun and will not be continued."""
    unnamed: int
    """Stored contents without a name in the folder."""


class Artifacts(Protocol):
    """The output folder of a download job; several processes may use it at the same time."""

    async def begin(self, item: str, algorithms: tuple[str, ...] = ()) -> Draft:
        """Begin a file for an item; sha256 is always computed, other digests by name."""
        ...

    async def has(self, path: str, size: int) -> bool:
        """Whether the stored path still has a file of that size."""
        ...

    async def tidy(self, before_us: int) -> Tidied:
        """Remove unusable leftovers, and all last written before then; skip files in use."""
        ...

    async def close(self) -> None:
        """Wait for files that are being finished, and end the threads."""
        ...
