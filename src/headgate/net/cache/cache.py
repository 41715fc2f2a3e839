"""The outermost layer of the client: a cached reply costs no request and no token."""

import asyncio
from pathlib import Path
from types import TracebackType
from typing import Self

from headgate.core.call import CallKind
from headgate.core.provider import CachePolicy
from headgate.net.cache.coalescing import FetchOutcome, SharedFetches
from headgate.net.cache.entry import CacheEntry
from headgate.net.cache.fetch import CacheFetch, Send
from headgate.net.cache.file import CacheFile
from headgate.net.cache.freshness import MICROSECONDS, has_validator, is_fresh_for
from headgate.net.cache.reply import (
    CacheReply,
    HeldReply,
    NotedReply,
    PassedReply,
    StoredBody,
    StoredReply,
)
from headgate.net.cache.request import (
    SAFE,
    CacheRequest,
    CallerBody,
    cache_request,
    for_the_whole,
    plain_url,
)
from headgate.net.cache.store import CacheStore, Warn
from headgate.net.cache.store_reply import Keeper
from headgate.net.fields import folded
from headgate.ports.blobs import BlobStore
from headgate.ports.clock import Clock
from headgate.ports.gate import UNHEARD, Waits
from headgate.ports.wire import WireRequest

DEFAULT_BYTES = 10_000_000_000


class HttpCache:
    """A private cache after RFC 9111, in a folder that several processes may share.

    The folder and the blob store belong to the cache alone: unreferenced blobs are removed. The
    cache opens with the first request, unless it is entered before.
    """

    SWEEP_S = 3_600.0

    def __init__(
        self,
        folder: Path,
        blobs: BlobStore,
        clock: Clock,
        *,
        warn: Warn,
        max_bytes: int = DEFAULT_BYTES,
    ) -> None:
        self._clock = clock
        self._warn = warn
        self._cache_store = CacheStore(
            CacheFile(folder / "cache.db", max_bytes), blobs, clock, self._warn
        )
        self._shared_fetches = SharedFetches(clock)
        self._blobs = blobs
        self._keeper = Keeper(
            self._cache_store, self._shared_fetches, blobs, clock, largest=max_bytes // 4
        )
        self._opening = asyncio.Lock()
        self._sweeper: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        """Open the folder; if that fails, continue without a store."""
        async with self._opening:
            if self._sweeper is None:
                await self._cache_store.open()
                self._sweeper = asyncio.create_task(self._sweep_forever())
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Write pending entries, and close."""
        if self._sweeper is not None:
            self._sweeper.cancel()
            await asyncio.wait([self._sweeper])
            await self._cache_store.close()

    async def fetch(
        self,
        request: WireRequest,
        send: Send,
        *,
        partition: str,
        policy: CachePolicy,
        caller_body: CallerBody | None = None,
        waits: Waits = UNHEARD,
    ) -> CacheReply:
        """Reply from the cache, by `send`, or with what another caller is just fetching.

        Replies are shared within a partition only: name the owner in it, and the credential.
        `cache-control: no-cache` on the request asks the server even if the cache could reply. With
        `caller_body` the caller keeps the body; see `CacheReply.keep`.
        """
        if self._sweeper is None:
            waits.begin()
            try:
                await self.__aenter__()
            finally:
                waits.end()
        if request.method not in SAFE:
            return await self._change(request, send)
        asked = request if caller_body is None else for_the_whole(request)
        demand = cache_request(asked, partition, caller_body) if policy.enabled else None
        if demand is None:
            return PassedReply(await send(request))
        if caller_body is not None and (caller_body.refetch or asked is not request):
            return await self._lead(demand, None, lambda _: send(request), policy, leads=False)
        kind, alone = CallKind.CACHED, "no-cache" in demand.directives
        while True:
            entry = self._cache_store.find(demand)
            if entry is not None:
                now = self._clock.now()
                if is_fresh_for(demand.directives, entry.freshness, now):
                    reply = await self._served(demand, entry, kind, now)
                    if reply is not None:
                        return reply
                    entry = None
            alone = alone or self._shared_fetches.is_unshareable(demand.key)
            leader = None if alone else self._shared_fetches.leader(demand.key)
            if leader is None:
                return await self._lead(demand, entry, send, policy, leads=not alone)
            kind = CallKind.SHARED
            waits.begin()  # the caller that fetches may wait at a gate
            try:
                alone = await leader.wait(self._clock) is FetchOutcome.ALONE
            finally:
                waits.end()

    async def flush(self) -> None:
        await self._cache_store.flush()

    async def sweep(self) -> int:
        return await self._cache_store.sweep(self._clock.now(), round(self.SWEEP_S * MICROSECONDS))

    async def _change(self, request: WireRequest, send: Send) -> CacheReply:
        """Send an unsafe request and drop the entries of its URL."""
        url = plain_url(request.url)
        try:
            reply = await send(request)
        except BaseException:
            # The server may have received it all the same.
            self._outdate(url)
            raise
        if reply.status < 400 and self._outdate(url):
            await self._cache_store.flush()
        return PassedReply(reply)

    def _outdate(self, url: str) -> bool:
        self._shared_fetches.outdate(url)
        return self._cache_store.forget(url)

    async def _served(
        self, demand: CacheRequest, entry: CacheEntry, kind: CallKind, now: int
    ) -> CacheReply | None:
        """Return a stored reply; None if its body is lost."""
        if entry.body is not None:
            self._cache_store.use(entry, now)
            return in_memory(demand, entry, kind, now)
        body = await self._opened(entry)
        if body is None:
            return None
        self._cache_store.use(entry, now)
        return StoredReply(entry, kind, now, body)

    async def _lead(
        self,
        demand: CacheRequest,
        stale: CacheEntry | None,
        send: Send,
        policy: CachePolicy,
        *,
        leads: bool,
    ) -> CacheReply:
        shared_fetch = self._shared_fetches.begin(demand.key, demand.url, leads=leads)
        cache_fetch = CacheFetch(demand, policy, send, shared_fetch, self._keeper)
        try:
            if stale is None or not has_validator(folded(stale.headers)):
                return await cache_fetch.fetch()
            return await self._revalidate(cache_fetch, stale)
        except BaseException:
            self._shared_fetches.end(shared_fetch, FetchOutcome.FAILED)
            raise

    async def _revalidate(self, cache_fetch: CacheFetch, stale: CacheEntry) -> CacheReply:
        """Ask whether the entry still holds, with its body open: it must not vanish meanwhile."""
        body = None
        if stale.body is None:
            body = await self._opened(stale)
            if body is None:
                return await cache_fetch.fetch()
        answer: CacheReply | CacheEntry | None = None
        try:
            answer = await cache_fetch.revalidate(stale)
        finally:
            if body is not None and not isinstance(answer, CacheEntry):
                body.close()
        if not isinstance(answer, CacheEntry):
            return answer
        now = self._clock.now()
        if body is None:
            return in_memory(cache_fetch.demand, answer, CallKind.REVALIDATED, now)
        return StoredReply(answer, CallKind.REVALIDATED, now, body)

    async def _opened(self, entry: CacheEntry) -> StoredBody | None:
        """Open the blob of an entry; discard the entry if the blob is missing or damaged."""

        def lost(error: OSError | None) -> None:
            self._warn("a body of the HTTP cache is lost", blob=entry.blob, error=str(error))
            self._cache_store.discard(entry)

        try:
            blob = await self._blobs.open(entry.blob or "")
        except OSError as error:
            lost(error)
            return None
        if blob is not None and blob.size == entry.size:
            return StoredBody(blob, lost)
        if blob is not None:
            blob.close()
        lost(None)
        return None

    async def _sweep_forever(self) -> None:
        while True:
            await self.sweep()
            await self._clock.sleep(self.SWEEP_S)


def in_memory(demand: CacheRequest, entry: CacheEntry, kind: CallKind, now: int) -> CacheReply:
    """Return a reply that needs no blob: the body is in the entry, or the caller has it."""
    if demand.caller_body is not None:
        return NotedReply(entry, kind, now)
    return HeldReply(entry, kind, now, entry.body or b"")
