"""Requests to the server, for a new reply or to revalidate an entry."""

from collections.abc import Awaitable, Callable
from email.utils import formatdate

import msgspec

from headgate.core.call import CallKind
from headgate.core.provider import CachePolicy
from headgate.net.cache.coalescing import FetchOutcome, SharedFetch
from headgate.net.cache.entry import CacheEntry, packed
from headgate.net.cache.freshness import (
    MICROSECONDS,
    Fields,
    freshness_of,
    has_validator,
    number_of,
    vary_of,
)
from headgate.net.cache.reply import CacheReply, HeldReply, PassedReply
from headgate.net.cache.request import ABOUT_A_PART, CacheRequest, head_of_the_whole, variant_of
from headgate.net.cache.rules import (
    FetchAgain,
    StillValid,
    Storable,
    Verdict,
    conditional,
    judge_reply,
    judge_revalidation,
)
from headgate.net.cache.store_reply import BodySink, Keeper, Keeping, KeptReply, OfferedReply
from headgate.net.fields import folded
from headgate.ports.wire import Headers, ServerReply, WireRequest

Send = Callable[[WireRequest], Awaitable[ServerReply]]
"""The rest of the stack: gates, breaker, guard, wire."""


class CacheFetch(msgspec.Struct, frozen=True):
    demand: CacheRequest
    policy: CachePolicy
    send: Send
    shared_fetch: SharedFetch
    keeper: Keeper

    async def fetch(self) -> CacheReply:
        reply = await self.send(self.demand.request)
        now = self._now()
        status, headers = reply.status, reply.headers
        if status in ABOUT_A_PART:
            status, headers = head_of_the_whole(status, headers)
        verdict = judge_reply(self.demand.request, status, with_date(headers, now))
        return await self._take(reply, verdict, now)

    async def revalidate(self, stale: CacheEntry) -> CacheReply | CacheEntry:
        request = conditional(self.demand.request, stale)
        reply = await self.send(request)
        now = self._now()
        verdict = judge_revalidation(request, reply.status, with_date(reply.headers, now), stale)
        match verdict:
            case StillValid(headers):
                await finish(reply)
                return await self._freshen(stale, headers, now)
            case FetchAgain():
                await finish(reply)
                self.keeper.cache_store.discard(stale)
                return await self.fetch()
            case _:
                return await self._take(reply, verdict, now)

    def _now(self) -> int:
        self.shared_fetch.grow()
        return self.keeper.clock.now()

    async def _freshen(self, stale: CacheEntry, headers: Headers, now: int) -> CacheEntry:
        entry = msgspec.structs.replace(
            stale,
            head=packed(without_age(headers)),
            freshness=freshness_of(folded(headers), now, self.policy),
            used_at=now,
        )
        if self.shared_fetch.outdated:
            self.keeper.shared_fetches.end(self.shared_fetch, FetchOutcome.ALONE)
        else:
            await self.keeper.keep(entry, self.shared_fetch)
        return entry

    async def _take(self, reply: ServerReply, verdict: Verdict, now: int) -> CacheReply:
        entry = self._entry(reply, verdict.headers, now) if isinstance(verdict, Storable) else None
        if entry is None:
            outcome = FetchOutcome.FAILED if is_server_trouble(reply.status) else FetchOutcome.ALONE
            self.keeper.shared_fetches.end(self.shared_fetch, outcome)
            return PassedReply(reply)
        if self.demand.caller_body is not None:
            return await self._offer(reply, entry)
        sink = BodySink(self.keeper.blobs, self._limit)
        kept = KeptReply(
            reply, Keeping(entry, self._expected(reply), sink, self.shared_fetch, self.keeper)
        )
        if self.demand.request.method == "HEAD" or reply.status == 204:
            # The reply has no body for a reader to read to its end.
            await finish(kept)
            return HeldReply(entry, CallKind.FETCHED, now, b"")
        return kept

    async def _offer(self, reply: ServerReply, entry: CacheEntry) -> CacheReply:
        if not 200 <= reply.status < 300:
            # The caller does not keep the body of a redirect or an error: store the head now.
            await self.keeper.keep(msgspec.structs.replace(entry, body=b""), self.shared_fetch)
            return PassedReply(reply)
        return OfferedReply(reply, entry, self.shared_fetch, self.keeper)

    def _entry(self, reply: ServerReply, headers: Headers, now: int) -> CacheEntry | None:
        """Return the entry without its body; None if the reply is not worth storing."""
        fields = folded(headers)
        freshness = freshness_of(fields, now, self.policy)
        if freshness.fresh_until <= now and not has_validator(fields):
            return None
        vary = vary_of(fields)
        if vary is None or not vary.isascii() or not self._may_keep(fields):
            return None
        return CacheEntry(
            key=self.demand.key,
            variant=variant_of(vary, self.demand.request.headers),
            vary=vary,
            url=self.demand.url,
            status=200 if reply.status == 206 else reply.status,
            head=packed(without_age(headers)),
            freshness=freshness,
            used_at=now,
            size=0,
            body=None,
            blob=None,
        )

    def _may_keep(self, fields: Fields) -> bool:
        return (
            "no-store" not in self.demand.directives
            and not self.keeper.cache_store.rests
            and not self.shared_fetch.outdated
            and (
                self.demand.caller_body is not None
                or number_of(fields.get("content-length")) <= self._limit
            )
        )

    @property
    def _limit(self) -> int:
        return min(self.policy.max_bytes, self.keeper.largest)

    def _expected(self, reply: ServerReply) -> int | None:
        """Return the length of the body where it is known; encoded bodies have another size."""
        fields = folded(reply.headers)
        length = fields.get("content-length")
        if length is None or "content-encoding" in fields or self.demand.request.method == "HEAD":
            return None
        return number_of(length)


def is_server_trouble(status: int) -> bool:
    """Whether the server has no reply just now; then the waiting callers must not all ask."""
    return status in {408, 425, 429} or status >= 500


async def finish(reply: ServerReply) -> None:
    try:
        async for _ in reply.chunks():
            pass
    finally:
        await reply.close()


def with_date(headers: Headers, now: int) -> Headers:
    """Add the time of arrival as Date, if the server sent none."""
    if "date" in dict(headers):
        return headers
    return (*headers, ("date", formatdate(now // MICROSECONDS, usegmt=True)))


def without_age(headers: Headers) -> Headers:
    return tuple(each for each in headers if each[0] != "age")
