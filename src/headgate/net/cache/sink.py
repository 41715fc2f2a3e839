"""Where a body goes while its reader gets it: into memory at first, into a blob if it is large."""

from typing import NamedTuple

from headgate.ports.blobs import BlobStore, BlobWriter

INLINE_BYTES = 32 * 1024
"""Up to this size a body lies in the index itself, where one read finds it with its head."""


class KeptBody(NamedTuple):
    """A body that is complete."""

    size: int
    body: bytes | None
    blob: str | None


class BodySink:
    """Takes a body in. What raises here is an OSError of the place where it should go."""

    def __init__(self, blobs: BlobStore, max_bytes: int) -> None:
        self._blobs = blobs
        self._max_bytes = max_bytes
        self._pieces: list[bytes] = []
        self._writer: BlobWriter | None = None
        self.size = 0

    async def add(self, piece: bytes) -> bool:
        """Append; False if it is more than may be kept."""
        self.size += len(piece)
        if self.size > self._max_bytes:
            return False
        if self._writer is not None:
            await self._writer.write(piece)
            return True
        self._pieces.append(piece)
        if self.size > INLINE_BYTES:
            await self._move()
        return True

    async def finish(self) -> KeptBody:
        """The body is complete."""
        if self._writer is None:
            return KeptBody(self.size, b"".join(self._pieces), None)
        return KeptBody(self.size, None, await self._writer.commit())

    def abandon(self) -> None:
        """It is of no use any more."""
        self._pieces.clear()
        if self._writer is not None:
            self._writer.abandon()

    async def _move(self) -> None:
        self._writer = await self._blobs.create()
        pieces, self._pieces = self._pieces, []
        for piece in pieces:
            await self._writer.write(piece)
