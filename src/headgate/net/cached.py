"""The client's cache layer: a reply from the cache costs no request and no token."""

from collections.abc import AsyncIterator

from headgate.core.call import Call, CallKind, url_for_record
from headgate.net.cache import CacheReply, CallerBody, HttpCache, Unkept
from headgate.net.gated import GatedExchange
from headgate.ports.wire import WireRequest

NO_SERVER_ASKED = frozenset({CallKind.CACHED, CallKind.SHARED})
FROM_CACHE = NO_SERVER_ASKED | {CallKind.REVALIDATED}


class CachedReply(Unkept):
    """A reply for which no server was asked; its call is recorded when the body has ended."""

    __slots__ = (
        "_at_us",
        "_bytes",
        "_ended",
        "_exchange",
        "_reply",
        "_request",
        "headers",
        "kept",
        "status",
    )

    def __init__(
        self, reply: CacheReply, exchange: GatedExchange, request: WireRequest, at_us: int
    ) -> None:
        self._reply = reply
        self._exchange = exchange
        self._request = request
        self._at_us = at_us
        self._bytes = 0
        self._ended = False
        self.status = reply.status
        self.headers = reply.headers
        self.kept = reply.kept

    @property
    def kind(self) -> CallKind:
        return self._reply.kind

    async def chunks(self) -> AsyncIterator[bytes]:
        async for chunk in self._reply.chunks():
            self._bytes += len(chunk)
            yield chunk
        self._end()

    async def read(self, limit: int) -> bytes | None:
        body = await self._reply.read(limit)
        if body is not None:
            self._bytes = len(body)
            self._end()
        return body

    async def close(self) -> None:
        self._end()
        await self._reply.close()

    def _end(self) -> None:
        if self._ended:
            return
        self._ended = True
        place, now = self._exchange.place, self._exchange.now_us()
        self._exchange.context.record(
            Call(
                self._at_us,
                self._request.method,
                place.provider,
                place.host,
                self.status,
                self.kind,
                self._bytes,
                (now - self._at_us) / 1_000,
                0.0,
                url=url_for_record(self._request.url),
            )
        )


async def fetch_cached(
    cache: HttpCache,
    request: WireRequest,
    exchange: GatedExchange,
    caller_body: CallerBody | None = None,
) -> CacheReply:
    at_us = exchange.now_us()
    reply = await cache.fetch(
        request,
        exchange.send,
        partition=exchange.partition(guarded=request.guarded),
        policy=exchange.place.policy.cache,
        caller_body=caller_body,
        waits=exchange.context.turn.waits,
    )
    if reply.kind in NO_SERVER_ASKED:
        return CachedReply(reply, exchange, request, at_us)
    return reply
