"""Stored bytes, named by their content: the same bytes have the same name and lie there once."""

from collections.abc import AsyncIterator, Sequence
from typing import Protocol


class Blob(Protocol):
    """Bytes that are open for reading; they stay readable even if somebody removes them."""

    @property
    def size(self) -> int:
        """How many bytes there are."""
        ...

    def chunks(self) -> AsyncIterator[bytes]:
        """All of them, piece by piece."""
        ...

    def close(self) -> None:
        """Let go. Doing it twice is harmless."""
        ...


class BlobWriter(Protocol):
    """Bytes on their way in; nobody sees them before `commit`. OSError when they find no place."""

    async def write(self, data: bytes) -> None:
        """Append."""
        ...

    async def commit(self) -> str:
        """Keep them for good; the name to find them by."""
        ...

    def abandon(self) -> None:
        """Drop what was written. Harmless after `commit`, and when done twice."""
        ...


class BlobStore(Protocol):
    """Keeps bytes of any size in little memory.

    Whoever removes what nothing refers to must own the whole store: a cache and the artifacts of
    downloads lie in stores of their own.
    """

    async def create(self) -> BlobWriter:
        """Begin to write. OSError when there is no place."""
        ...

    async def open(self, name: str) -> Blob | None:
        """Open for reading; None if there is no such blob."""
        ...

    async def remove(self, names: Sequence[str], before_us: int) -> int:
        """Remove blobs that were last committed before then; how many were.

        The time keeps a blob that somebody has just committed again under the same name.
        """
        ...

    def aged(self, before_us: int) -> AsyncIterator[Sequence[str]]:
        """The names of all blobs that were last committed before then, some at a time."""
        ...

    async def tidy(self, before_us: int) -> int:
        """Remove what was begun, never finished and not touched since then; how much it was."""
        ...
