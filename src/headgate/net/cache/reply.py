"""What the cache gives back."""

from collections.abc import AsyncIterator, Callable
from typing import Protocol

from headgate.core.call import CallKind
from headgate.net.cache.entry import CacheEntry
from headgate.ports.blobs import Blob
from headgate.ports.wire import Headers, ServerReply


class CacheReply(ServerReply, Protocol):
    """A reply that says where it comes from."""

    @property
    def kind(self) -> CallKind:
        """How it was come by."""
        ...

    @property
    def kept(self) -> str:
        """The note of a caller who keeps the body himself; there is none in the reply then."""
        ...

    async def keep(self, note: str) -> None:
        """The caller has the body safe: remember the head, and this note of where it is."""
        ...


class Unkept:
    """A reply with its body, of which the caller keeps nothing."""

    __slots__ = ()
    kept = ""

    async def keep(self, note: str) -> None:
        """Do nothing: such an answer may not be kept, or nobody said that he would."""


class HeldReply(Unkept):
    """From the cache, with its body in memory."""

    __slots__ = ("_body", "headers", "kind", "status")

    def __init__(self, entry: CacheEntry, kind: CallKind, now: int, body: bytes) -> None:
        self.status = entry.status
        self.headers = aged_headers(entry, now)
        self.kind = kind
        self._body = body

    async def chunks(self) -> AsyncIterator[bytes]:
        """The body."""
        if self._body:
            yield self._body

    async def read(self, limit: int) -> bytes | None:
        """The whole body; None if it is larger than `limit`."""
        return self._body if len(self._body) <= limit else None

    async def close(self) -> None:
        """Nothing is held."""


class NotedReply(HeldReply):
    """From the cache; the body is where the note says."""

    __slots__ = ("kept",)

    def __init__(self, entry: CacheEntry, kind: CallKind, now: int) -> None:
        super().__init__(entry, kind, now, b"")
        self.kept = (entry.body or b"").decode()


class StoredBody:
    """An open blob; `lost` hears of it if the disk cannot give its bytes back."""

    __slots__ = ("_blob", "_lost")

    def __init__(self, blob: Blob, lost: Callable[[OSError], None]) -> None:
        self._blob = blob
        self._lost = lost

    async def chunks(self) -> AsyncIterator[bytes]:
        """All of it, piece by piece."""
        try:
            async for chunk in self._blob.chunks():
                yield chunk
        except OSError as error:
            self._lost(error)
            raise
        finally:
            self._blob.close()

    async def read(self, limit: int) -> bytes | None:
        """All of it at once; None if it is larger than `limit`."""
        if self._blob.size > limit:
            return None
        return b"".join([chunk async for chunk in self.chunks()])

    def close(self) -> None:
        """Let go of it."""
        self._blob.close()


class StoredReply(Unkept):
    """From the cache, with its body in a blob."""

    __slots__ = ("_body", "headers", "kind", "status")

    def __init__(self, entry: CacheEntry, kind: CallKind, now: int, body: StoredBody) -> None:
        self.status = entry.status
        self.headers = aged_headers(entry, now)
        self.kind = kind
        self._body = body

    def chunks(self) -> AsyncIterator[bytes]:
        """The body."""
        return self._body.chunks()

    async def read(self, limit: int) -> bytes | None:
        """The whole body; None if it is larger than `limit`."""
        return await self._body.read(limit)

    async def close(self) -> None:
        """Close the blob."""
        self._body.close()


class PassedReply(Unkept):
    """From the server, and nothing is kept of it."""

    __slots__ = ("_reply", "headers", "status")
    kind = CallKind.FETCHED

    def __init__(self, reply: ServerReply) -> None:
        self._reply = reply
        self.status = reply.status
        self.headers = reply.headers

    def chunks(self) -> AsyncIterator[bytes]:
        """The body as it arrives."""
        return self._reply.chunks()

    async def read(self, limit: int) -> bytes | None:
        """The whole body; None if it is larger than `limit`."""
        return await self._reply.read(limit)

    async def close(self) -> None:
        """Close the server's reply."""
        await self._reply.close()


def aged_headers(entry: CacheEntry, now: int) -> Headers:
    """The headers of a kept answer, with its age as HTTP demands it."""
    age_s = max(0, now - entry.freshness.born_at) // 1_000_000
    return (*entry.headers, ("age", str(age_s)))
