"""`ctx.http`: cached, paced, capped, retried, recorded."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, TypeVar, Unpack

import msgspec

from headgate.core.url import normalize_rest, split_origin
from headgate.net.exchange import Record
from headgate.net.failure import Benched, Refused, WireFailure
from headgate.net.gated import Errand, Passage
from headgate.net.redirects import STATUSES, Outgoing, TooManyRedirects, next_hop
from headgate.net.response import BodyTooLarge, Head, Response, StreamedResponse
from headgate.net.retry import Repeats
from headgate.net.routes import Place
from headgate.net.wishes import Wishes, read
from headgate.ports.gate import Cost, Permit, Turn
from headgate.ports.http import Options
from headgate.ports.wire import Headers, WireReply, WireRequest

if TYPE_CHECKING:
    from headgate.net.stack import HttpStack

Taken = TypeVar("Taken", bound=Head)


class HttpClient:
    """The client of one attempt."""

    __slots__ = ("_errand", "_guarded", "_permit", "_provider", "_stack")

    def __init__(
        self, stack: "HttpStack", turn: Turn, provider: str, record: Record, *, guarded: bool
    ) -> None:
        self._stack = stack
        self._provider = provider
        self._guarded = guarded
        self._errand = Errand(turn, record)
        self._permit: Permit | None = None

    async def request(self, method: str, url: str, **options: Unpack[Options]) -> Response:
        """Send one request; for the options see `ports.http.Options`."""
        outgoing, wishes = read(method.upper(), url, options)
        return await self._follow(outgoing, wishes, self._whole)

    async def get(self, url: str, **options: Unpack[Options]) -> Response:
        """Fetch."""
        return await self.request("GET", url, **options)

    async def head(self, url: str, **options: Unpack[Options]) -> Response:
        """Ask for the headers alone."""
        return await self.request("HEAD", url, **options)

    async def post(self, url: str, **options: Unpack[Options]) -> Response:
        """Send."""
        return await self.request("POST", url, **options)

    async def put(self, url: str, **options: Unpack[Options]) -> Response:
        """Store."""
        return await self.request("PUT", url, **options)

    async def patch(self, url: str, **options: Unpack[Options]) -> Response:
        """Change."""
        return await self.request("PATCH", url, **options)

    async def delete(self, url: str, **options: Unpack[Options]) -> Response:
        """Remove."""
        return await self.request("DELETE", url, **options)

    @asynccontextmanager
    async def stream(
        self, method: str, url: str, **options: Unpack[Options]
    ) -> AsyncIterator[StreamedResponse]:
        """Send, and read the body piece by piece; its place at the gates is held meanwhile."""
        outgoing, wishes = read(method.upper(), url, options)
        response = await self._follow(outgoing, wishes, self._in_pieces)
        try:
            yield response
        finally:
            await response.aclose()

    def spend(self, cost: Cost) -> None:
        """What the last request really cost, where only an estimate was reserved."""
        if self._permit is not None:
            self._permit.spend(cost)

    async def _follow(
        self,
        outgoing: Outgoing,
        wishes: Wishes,
        take: Callable[[WireReply, str], Awaitable[Taken]],
    ) -> Taken:
        """Send, and send again wherever a redirect leads; its gates are free before the next."""
        stack = self._stack
        for _ in range(stack.policy.redirects + 1):
            where, rest = split_origin(outgoing.url)
            place = stack.routes.place(where, self._provider)
            request = self._addressed(outgoing, wishes, place, place.text + normalize_rest(rest))
            answer = await self._repeat(request, place, self._errand_of(outgoing, wishes), take)
            if answer.status_code not in STATUSES or not wishes.follow:
                return answer
            location = answer.headers.get("location")
            onward = next_hop(outgoing, request.url, answer.status_code, location)
            if onward is None:
                return answer
            await answer.aclose()
            if onward.bare:
                stack.crossing.credentials.check_redirect(place.provider, onward.url)
            outgoing = onward
        raise TooManyRedirects(outgoing.url, stack.policy.redirects)

    async def _repeat(
        self,
        request: WireRequest,
        place: Place,
        errand: Errand,
        take: Callable[[WireReply, str], Awaitable[Taken]],
    ) -> Taken:
        """Send, and send again what failed, as far as the small budget for that goes."""
        stack = self._stack
        clock = stack.crossing.clock
        repeats = Repeats(request.method, place.policy, clock.monotonic(), stack.rng)
        while True:
            try:
                answer = await take(await self._send(request, place, errand), request.url)
            except Benched:
                continue
            except (Refused, WireFailure) as trouble:
                wait_s = repeats.after(trouble, clock.monotonic())
                if wait_s is None:
                    raise
            else:
                wait_s = repeats.after_status(answer.status_code, clock.monotonic())
                if wait_s is None:
                    return answer
                await answer.aclose()
            if wait_s > 0.0:
                await clock.sleep(wait_s)

    async def _send(self, request: WireRequest, place: Place, errand: Errand) -> WireReply:
        passage = Passage(self._stack.crossing, place, errand)
        try:
            return await self._stack.answer(request, passage)
        finally:
            self._permit = passage.permit or self._permit

    async def _whole(self, reply: WireReply, url: str) -> Response:
        """The answer with its body, if that is not too large."""
        limit = self._stack.policy.body_bytes
        parts: list[bytes] = []
        size = 0
        try:
            async for chunk in reply.chunks():
                size += len(chunk)
                if size > limit:
                    raise BodyTooLarge(url, limit)
                parts.append(chunk)
        finally:
            await reply.close()
        body = parts[0] if len(parts) == 1 else b"".join(parts)
        return Response(reply.status, reply.headers, url, body)

    @staticmethod
    async def _in_pieces(reply: WireReply, url: str) -> StreamedResponse:
        return StreamedResponse(reply, url)

    def _errand_of(self, outgoing: Outgoing, wishes: Wishes) -> Errand:
        if not (outgoing.bare or wishes.light or wishes.cost):
            return self._errand
        return msgspec.structs.replace(
            self._errand, cost=wishes.cost, light=wishes.light, bare=outgoing.bare
        )

    def _addressed(self, outgoing: Outgoing, wishes: Wishes, place: Place, url: str) -> WireRequest:
        patience = place.patience
        if wishes.timeout_s is not None:
            patience = msgspec.structs.replace(patience, total_s=wishes.timeout_s)
        headers: Headers = place.headers
        if outgoing.headers:
            given = {name for name, _ in outgoing.headers}
            ours = [header for header in place.headers if header[0] not in given]
            headers = [*ours, *outgoing.headers]
        return WireRequest(outgoing.method, url, headers, outgoing.body, patience, self._guarded)
