"""Ask a cache for many URLs, as many handlers at once would."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from pathlib import Path

from headgate.app.telemetry import logger
from headgate.core.provider import CachePolicy
from headgate.engine.clock import SystemClock
from headgate.net.cache import HttpCache
from headgate.net.wire import AiohttpWire
from headgate.ports.wire import ServerReply, WireRequest
from headgate.transfer.blobs import LocalBlobs

CALLERS = 64
LIMIT = 64 * 1024 * 1024
HEADERS = (
    ("user-agent", "headgate-benchmark (mailto:nobody@example.org)"),
    ("accept", "*/*"),
    ("accept-encoding", "gzip, deflate"),
)
POLICY = CachePolicy()


class Asker:
    """A cache over a wire, which counts the requests that go out."""

    def __init__(self, cache: HttpCache, wire: AiohttpWire) -> None:
        self.cache = cache
        self.requests = 0
        self._wire = wire

    async def ask(self, urls: Iterable[str]) -> tuple[Counter[str], float]:
        """The sources of the answers, and the seconds that it took."""
        left = iter(urls)
        kinds: Counter[str] = Counter()
        started = time.perf_counter()
        await asyncio.gather(*(self._caller(left, kinds) for _ in range(CALLERS)))
        return kinds, time.perf_counter() - started

    async def _caller(self, urls: Iterable[str], kinds: Counter[str]) -> None:
        for url in urls:
            request = WireRequest("GET", url, HEADERS)
            reply = await self.cache.fetch(request, self.send, partition="ann", policy=POLICY)
            assert await reply.read(LIMIT)
            await reply.close()
            kinds[reply.kind] += 1

    async def send(self, request: WireRequest) -> ServerReply:
        self.requests += 1
        return await self._wire.send(request)


@asynccontextmanager
async def opened(folder: Path) -> AsyncIterator[Asker]:
    """A cache on a folder, as a process finds it that has just started."""
    clock, wire = SystemClock(), AiohttpWire()
    blobs = LocalBlobs(folder / "blobs", clock, durable=False)
    async with HttpCache(folder, blobs, clock, warn=logger().warning) as cache:
        yield Asker(cache, wire)
    await blobs.close()
    await wire.close()
