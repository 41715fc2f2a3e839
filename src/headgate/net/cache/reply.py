"""Replies of the cache: from memory, from a blob, or passed on from the server."""

from collections.abc import AsyncIterator, Callable
from typing import Protocol

from headgate.core.call import CallKind
from headgate.net.cache.entry import CacheEntry
from headgate.ports.blobs import Blob
from headgate.ports.wire import Headers, ServerReply


class CacheReply(ServerReply, Protocol):
    """A server reply with its source, and with the note of a caller that keeps the body."""

    @property
    def kind(self) -> CallKind: ...

    @property
    def kept(self) -> str:
        """The caller's note, if the caller keeps the body; the reply then has no body."""
        ...

    async def keep(self, note: str) -> None:
        """Remember the head with the caller's note; the caller's copy of the body is safe."""
        ...


class Unkept:
    __slots__ = ()
    kept = ""

    async def keep(self, note: str) -> None:
        """Do nothing: the reply may not be stored, or the request did not name `kept_in`."""


class HeldReply(Unkept):
    """From the cache, with its body in memory."""

    __slots__ = ("_body", "headers", "kind", "status")

    def __init__(self, entry: CacheEntry, kind: CallKind, now: int, body: bytes) -> None:
        self.status = entry.status
        self.headers = aged_headers(entry, now)
        self.kind = kind
        self._body = body

    async def chunks(self) -> AsyncIterator[bytes]:
        if self._body:
            yield self._body

    async def read(self, limit: int) -> bytes | None:
        return self._body if len(self._body) <= limit else None

    async def close(self) -> None:
        """Do nothing: no file or connection is open."""


class NotedReply(HeldReply):
    """From the cache; the caller has the body."""

    __slots__ = ("kept",)

    def __init__(self, entry: CacheEntry, kind: CallKind, now: int) -> None:
        super().__init__(entry, kind, now, b"")
        self.kept = (entry.body or b"").decode()


class StoredBody:
    """An open blob; `lost` is called if its bytes cannot be read."""

    __slots__ = ("_blob", "_lost")

    def __init__(self, blob: Blob, lost: Callable[[OSError], None]) -> None:
        self._blob = blob
        self._lost = lost

    async def chunks(self) -> AsyncIterator[bytes]:
        try:
            async for chunk in self._blob.chunks():
                yield chunk
        except OSError as error:
            self._lost(error)
            raise
        finally:
            self._blob.close()

    async def read(self, limit: int) -> bytes | None:
        if self._blob.size > limit:
            return None
        return b"".join([chunk async for chunk in self.chunks()])

    def close(self) -> None:
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
        return self._body.chunks()

    async def read(self, limit: int) -> bytes | None:
        return await self._body.read(limit)

    async def close(self) -> None:
        self._body.close()


class PassedReply(Unkept):
    """From the server, not stored."""

    __slots__ = ("_reply", "headers", "status")
    kind = CallKind.FETCHED

    def __init__(self, reply: ServerReply) -> None:
        self._reply = reply
        self.status = reply.status
        self.headers = reply.headers

    def chunks(self) -> AsyncIterator[bytes]:
        return self._reply.chunks()

    async def read(self, limit: int) -> bytes | None:
        return await self._reply.read(limit)

    async def close(self) -> None:
        await self._reply.close()


def aged_headers(entry: CacheEntry, now: int) -> Headers:
    """The headers of an entry with the Age header that HTTP requires."""
    age_s = max(0, now - entry.freshness.born_at) // 1_000_000
    return (*entry.headers, ("age", str(age_s)))
