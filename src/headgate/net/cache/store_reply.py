"""Replies that are stored while their reader reads them."""

from collections.abc import AsyncIterator
from typing import NamedTuple

import msgspec

from headgate.core.call import CallKind
from headgate.net.cache.coalescing import FetchOutcome, SharedFetch, SharedFetches
from headgate.net.cache.entry import CacheEntry
from headgate.net.cache.reply import Unkept
from headgate.net.cache.store import CacheStore
from headgate.ports.blobs import BlobStore, BlobWriter
from headgate.ports.clock import Clock
from headgate.ports.wire import ServerReply

INLINE_BYTES = 32 * 1024
"""Most bytes of a body in the index itself, where one read returns it with its head."""


class KeptBody(NamedTuple):
    size: int
    body: bytes | None
    blob: str | None


class BodySink:
    """Collects a body in memory or in a blob. Only OSError of the blob store is raised."""

    def __init__(self, blobs: BlobStore, max_bytes: int) -> None:
        self._blobs = blobs
        self._max_bytes = max_bytes
        self._pieces: list[bytes] = []
        self._writer: BlobWriter | None = None
        self.size = 0

    async def add(self, piece: bytes) -> bool:
        """Append; False if the body exceeds the limit."""
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
        if self._writer is None:
            return KeptBody(self.size, b"".join(self._pieces), None)
        return KeptBody(self.size, None, await self._writer.commit())

    def abandon(self) -> None:
        self._pieces.clear()
        if self._writer is not None:
            self._writer.abandon()

    async def _move(self) -> None:
        self._writer = await self._blobs.create()
        pieces, self._pieces = self._pieces, []
        for piece in pieces:
            await self._writer.write(piece)


class Keeping:
    """Collects one body, and stores the entry only when the body is complete.

    Errors here do not reach the reader.
    """

    def __init__(
        self,
        entry: CacheEntry,
        expected: int | None,
        sink: BodySink,
        shared_fetch: SharedFetch,
        keeper: "Keeper",
    ) -> None:
        self._entry = entry
        self._expected = expected
        self._sink = sink
        self._shared_fetch = shared_fetch
        self._keeper = keeper
        self._over = False

    async def add(self, piece: bytes) -> None:
        self._shared_fetch.grow()
        if self._over:
            return
        try:
            if not await self._sink.add(piece):
                self._give_up(FetchOutcome.ALONE)
        except OSError as error:
            self._fail(error)

    async def finish(self) -> None:
        """Store the body, unless it ended too early or its URL was changed meanwhile."""
        if self._over:
            return
        if self._expected is not None and self._expected != self._sink.size:
            self._give_up(FetchOutcome.FAILED)
            return
        try:
            kept = await self._sink.finish()
        except OSError as error:
            self._fail(error)
            return
        if self._shared_fetch.outdated:
            self._give_up(FetchOutcome.ALONE)
            return
        self._over = True
        size, body, blob = kept
        entry = msgspec.structs.replace(self._entry, size=size, body=body, blob=blob)
        await self._keeper.keep(entry, self._shared_fetch)

    def abandon(self) -> None:
        """Stop, because the reader has stopped. Harmless after the end."""
        self._give_up(FetchOutcome.FAILED)

    def _fail(self, error: OSError) -> None:
        self._keeper.cache_store.trouble(error)
        self._give_up(FetchOutcome.ALONE)

    def _give_up(self, outcome: FetchOutcome) -> None:
        if not self._over:
            self._over = True
            self._sink.abandon()
            self._keeper.shared_fetches.end(self._shared_fetch, outcome)


class Keeper(msgspec.Struct, frozen=True):
    cache_store: CacheStore
    shared_fetches: SharedFetches
    blobs: BlobStore
    clock: Clock
    largest: int
    """Most bytes of one body; a larger one would evict too many others."""

    async def keep(self, entry: CacheEntry, shared_fetch: SharedFetch) -> None:
        self.cache_store.put(entry)
        is_fresh = self.clock.now() < entry.freshness.fresh_until
        self.shared_fetches.end(shared_fetch, FetchOutcome.KEPT if is_fresh else FetchOutcome.ALONE)
        await self.cache_store.wait_room()


class KeptReply(Unkept):
    """From the server; stored if it is read to its end."""

    __slots__ = ("_keeping", "_reply", "headers", "status")
    kind = CallKind.FETCHED

    def __init__(self, reply: ServerReply, keeping: Keeping) -> None:
        self._reply = reply
        self._keeping = keeping
        self.status = reply.status
        self.headers = reply.headers

    async def chunks(self) -> AsyncIterator[bytes]:
        try:
            async for chunk in self._reply.chunks():
                await self._keeping.add(chunk)
                yield chunk
            await self._keeping.finish()
        finally:
            self._keeping.abandon()

    async def read(self, limit: int) -> bytes | None:
        try:
            body = await self._reply.read(limit)
            if body is not None:
                await self._keeping.add(body)
                await self._keeping.finish()
        finally:
            self._keeping.abandon()
        return body

    async def close(self) -> None:
        self._keeping.abandon()
        await self._reply.close()


class OfferedReply:
    """From the server; its head is stored once the caller has the body safe."""

    __slots__ = ("_entry", "_keeper", "_reply", "_shared_fetch", "_whole", "headers", "status")
    kind = CallKind.FETCHED
    kept = ""

    def __init__(
        self, reply: ServerReply, entry: CacheEntry, shared_fetch: SharedFetch, keeper: Keeper
    ) -> None:
        self._reply = reply
        self._entry = entry
        self._shared_fetch = shared_fetch
        self._keeper = keeper
        self._whole = False
        self.status = reply.status
        self.headers = reply.headers

    async def chunks(self) -> AsyncIterator[bytes]:
        async for chunk in self._reply.chunks():
            self._shared_fetch.grow()
            yield chunk
        self._whole = True

    async def read(self, limit: int) -> bytes | None:
        body = await self._reply.read(limit)
        self._whole = body is not None
        return body

    async def keep(self, note: str) -> None:
        """Store the head with this note, if the body was read to its end and is still open."""
        shared_fetch, keeper = self._shared_fetch, self._keeper
        if not self._whole or shared_fetch.finished:
            return
        if shared_fetch.outdated:
            keeper.shared_fetches.end(shared_fetch, FetchOutcome.ALONE)
            return
        body = note.encode()
        entry = msgspec.structs.replace(self._entry, size=len(body), body=body)
        await keeper.keep(entry, shared_fetch)

    async def close(self) -> None:
        """Close the server's reply and wake the waiting callers, as no note came."""
        self._keeper.shared_fetches.end(self._shared_fetch, FetchOutcome.FAILED)
        await self._reply.close()
