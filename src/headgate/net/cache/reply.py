"""What the cache gives back."""

from collections.abc import AsyncIterator, Callable
from typing import Protocol

from headgate.core.call import CallKind
from headgate.net.cache.entry import Entry
from headgate.ports.blobs import Blob
from headgate.ports.wire import Headers, WireReply


class CacheReply(WireReply, Protocol):
    """A reply that says where it comes from."""

    @property
    def kind(self) -> CallKind:
        """How it was come by."""
        ...

    @property
    def body(self) -> bytes | None:
        """The whole body, where it is at hand; else it is read with `chunks`."""
        ...


class HeldReply:
    """From the cache, with its body in memory."""

    __slots__ = ("body", "headers", "kind", "status")

    def __init__(self, entry: Entry, kind: CallKind, now: int) -> None:
        self.status = entry.status
        self.headers = aged_headers(entry, now)
        self.kind = kind
        self.body = entry.body

    async def chunks(self) -> AsyncIterator[bytes]:
        """The body."""
        if self.body:
            yield self.body

    async def close(self) -> None:
        """Nothing is held."""


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

    def close(self) -> None:
        """Let go of it."""
        self._blob.close()


class StoredReply:
    """From the cache, with its body in a blob."""

    __slots__ = ("_body", "headers", "kind", "status")
    body = None

    def __init__(self, entry: Entry, kind: CallKind, now: int, body: StoredBody) -> None:
        self.status = entry.status
        self.headers = aged_headers(entry, now)
        self.kind = kind
        self._body = body

    def chunks(self) -> AsyncIterator[bytes]:
        """The body."""
        return self._body.chunks()

    async def close(self) -> None:
        """Close the blob."""
        self._body.close()


class PassedReply:
    """From the server, and nothing is kept of it."""

    __slots__ = ("_reply", "headers", "status")
    kind = CallKind.FETCHED
    body = None

    def __init__(self, reply: WireReply) -> None:
        self._reply = reply
        self.status = reply.status
        self.headers = reply.headers

    def chunks(self) -> AsyncIterator[bytes]:
        """The body as it arrives."""
        return self._reply.chunks()

    async def close(self) -> None:
        """Close the server's reply."""
        await self._reply.close()


def aged_headers(entry: Entry, now: int) -> Headers:
    """The headers of a kept answer, with its age as HTTP demands it."""
    age_s = max(0, now - entry.freshness.born_at) // 1_000_000
    return (*entry.headers, ("age", str(age_s)))
