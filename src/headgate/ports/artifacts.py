"""The folder that downloads end up in: files appear in it whole, under a name, and for good."""

from collections.abc import AsyncIterator, Callable, Mapping
from typing import Protocol

import msgspec

from headgate.core.errors import HeadgateError


class ArtifactTrouble(HeadgateError):
    """A file could not be put into its folder."""


class FileTrouble(ArtifactTrouble):
    """This file cannot be kept, whatever its name; others can."""


class FolderTrouble(ArtifactTrouble):
    """No file can be kept at present: repair the folder and run the same command again."""


class FolderFull(FolderTrouble):
    """The disk of the folder is full, or a quota is used up."""


class FolderReadOnly(FolderTrouble):
    """The folder may not be written to."""


class FolderGone(FolderTrouble):
    """The folder is not there any more."""


class FileOrigin(msgspec.Struct, frozen=True):
    """Where bytes come from, and which version of it they are."""

    url: str
    etag: str = ""
    last_modified: str = ""

    @property
    def validator(self) -> str:
        """What `If-Range` is asked with; empty if the rest must not be added to what is there."""
        return self.last_modified if self.etag.startswith("W/") or not self.etag else self.etag

    def continues(self, earlier: "FileOrigin") -> bool:
        """Whether these bytes are of the same version as those that came earlier."""
        same = self.url == earlier.url and self.validator == earlier.validator
        return same and self.validator != ""


class KeptPart(msgspec.Struct, frozen=True):
    """What an earlier try has left of a file."""

    origin: FileOrigin
    size: int
    """Ask for the bytes from here on."""


class StoredArtifact(msgspec.Struct, frozen=True):
    """A file that is in the folder for good."""

    path: str
    """Relative to the folder."""
    size: int
    sha256: str
    known: bool
    """The same bytes were there before, under this name or another."""


Digests = Mapping[str, str]
"""In hex, by the name of the algorithm."""


class Draft(Protocol):
    """A file on its way in; nobody sees it before `finish`."""

    @property
    def kept(self) -> KeptPart | None:
        """What an earlier try has left, if it can be gone on with."""
        ...

    def start(self, origin: FileOrigin) -> None:
        """Begin with the first byte, whatever was left."""
        ...

    def resume(self) -> AsyncIterator[bytes]:
        """Go on where the earlier try stopped; its bytes come out once more, to be checked."""
        ...

    async def write(self, data: bytes) -> None:
        """Append. ArtifactTrouble when it finds no place."""
        ...

    async def finish(self, name: str, accept: Callable[[Digests], None]) -> StoredArtifact:
        """Put the file into the folder; it is there for good when this returns.

        `accept` is called with its digests, in a thread, and raises if the file is unfit. The
        name is a suggestion: it gets a mark if another content has it already.
        """
        ...

    async def leave(self) -> None:
        """Stop here, so that a later try can go on."""
        ...

    def abandon(self) -> None:
        """Remove what was written. Harmless after `finish`, and when done twice."""
        ...


class Tidied(msgspec.Struct, frozen=True):
    """What was cleared away."""

    leftovers: int
    """Files that were begun and will not be gone on with."""
    unnamed: int
    """Stored contents that no name in the folder leads to."""


class Artifacts(Protocol):
    """The output folder of a download job; several processes may use it at once."""

    async def begin(self, item: str, algorithms: tuple[str, ...] = ()) -> Draft:
        """Begin a file for an item; sha256 is always computed, others by their names."""
        ...

    async def has(self, path: str, size: int) -> bool:
        """Whether a file of that size is there still, under the path that it was stored at."""
        ...

    async def tidy(self, before_us: int) -> Tidied:
        """Clear away what nobody is writing: the unusable, and all last written before then."""
        ...

    async def close(self) -> None:
        """Wait for what is being finished, and end the threads."""
        ...
