"""An answer that is kept while its reader gets it."""

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


class Keeping:
    """Takes in one body; puts it on the shelf only when it is complete.

    Whatever goes wrong here is no concern of the reader.
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
        """One more piece."""
        self._shared_fetch.grow()
        if self._over:
            return
        try:
            if not await self._sink.add(piece):
                self._give_up(FetchOutcome.ALONE)
        except OSError as error:
            self._fail(error)

    async def finish(self) -> None:
        """The body has ended by itself: keep it, unless that was too early or is too late."""
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
        """Nobody reads on. Harmless when it is already over."""
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
    """Where complete answers go."""

    cache_store: CacheStore
    shared_fetches: SharedFetches
    blobs: BlobStore
    clock: Clock
    largest: int
    """No body larger than this, or it would drive out too much else."""

    async def keep(self, entry: CacheEntry, shared_fetch: SharedFetch) -> None:
        """Put an answer on the shelf and let those who waited for it go on."""
        self.cache_store.put(entry)
        is_fresh = self.clock.now() < entry.freshness.fresh_until
        self.shared_fetches.end(shared_fetch, FetchOutcome.KEPT if is_fresh else FetchOutcome.ALONE)
        await self.cache_store.wait_room()


class KeptReply(Unkept):
    """From the server; it is kept if it is read to its end."""

    __slots__ = ("_keeping", "_reply", "headers", "status")
    kind = CallKind.FETCHED

    def __init__(self, reply: ServerReply, keeping: Keeping) -> None:
        self._reply = reply
        self._keeping = keeping
        self.status = reply.status
        self.headers = reply.headers

    async def chunks(self) -> AsyncIterator[bytes]:
        """The body as it arrives."""
        try:
            async for chunk in self._reply.chunks():
                await self._keeping.add(chunk)
                yield chunk
            await self._keeping.finish()
        finally:
            self._keeping.abandon()

    async def read(self, limit: int) -> bytes | None:
        """The whole body; None if it is larger than `limit`."""
        try:
            body = await self._reply.read(limit)
            if body is not None:
                await self._keeping.add(body)
                await self._keeping.finish()
        finally:
            self._keeping.abandon()
        return body

    async def close(self) -> None:
        """Close the server's reply."""
        self._keeping.abandon()
        await self._reply.close()


class OfferedReply:
    """From the server; its head is remembered once the caller says that its body is safe."""

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
        """The body as it arrives."""
        async for chunk in self._reply.chunks():
            self._shared_fetch.grow()
            yield chunk
        self._whole = True

    async def read(self, limit: int) -> bytes | None:
        """The whole body; None if it is larger than `limit`."""
        body = await self._reply.read(limit)
        self._whole = body is not None
        return body

    async def keep(self, note: str) -> None:
        """Remember the head with this note, if the body was read to its end and not closed yet."""
        shared_fetch, keeper = self._shared_fetch, self._keeper
        if not self._whole or shared_fetch.landed:
            return
        if shared_fetch.outdated:
            keeper.shared_fetches.end(shared_fetch, FetchOutcome.ALONE)
            return
        body = note.encode()
        entry = msgspec.structs.replace(self._entry, size=len(body), body=body)
        await keeper.keep(entry, shared_fetch)

    async def close(self) -> None:
        """Close the server's reply. Whoever waits for a note that never came goes on."""
        self._keeper.shared_fetches.end(self._shared_fetch, FetchOutcome.FAILED)
        await self._reply.close()
