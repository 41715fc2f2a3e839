"""Stored bytes, named by their content: the same bytes have the same name and are stored once."""

from collections.abc import AsyncIterator, Sequence
from typing import Protocol


class Blob(Protocol):
    """Bytes open for reading; they stay readable even if another process removes them."""

    @property
    def size(self) -> int: ...

    def chunks(self) -> AsyncIterator[bytes]: ...

    def close(self) -> None:
        """Calling it twice is harmless."""
        ...


class BlobWriter(Protocol):
    """Bytes being written; readers do not see them before `commit`. OSError if the disk is full."""

    async def write(self, data: bytes) -> None: ...

    async def commit(self) -> str:
        """Store the bytes durably and return their name."""
        ...

    def abandon(self) -> None:
        """Drop what was written. Harmless after `commit`, and when called twice."""
        ...


class BlobStore(Protocol):
    """Keeps bytes of any size in little memory.

    A process that removes unreferenced blobs must own the whole store: a cache and the artifacts of
    downloads have separate stores.
    """

    async def create(self) -> BlobWriter:
        """Begin to write a blob; raise OSError if the disk is full."""
        ...

    async def open(self, name: str) -> Blob | None:
        """Open a blob for reading; return None if it does not exist."""
        ...

    async def remove(self, names: Sequence[str], before_us: int) -> int:
        """Remove blobs last committed before `before_us`; return their number.

        The time protects a blob that another process has just committed again under the same name.
        """
        ...

    def aged(self, before_us: int) -> AsyncIterator[Sequence[str]]:
        """The names of all blobs last committed before `before_us`, in batches."""
        ...

    async def tidy(self, before_us: int) -> int:
        """Remove unfinished writes not touched since `before_us`; return their number."""
        ...
