"""`ctx.http`: the client of one attempt, with cache, gates, retries, redirects and recording."""

from collections.abc import Awaitable, Callable, Coroutine
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar, Unpack

import msgspec

from headgate.core.errors import UsageError
from headgate.core.provider import credential_refusal
from headgate.core.url import normalize_rest
from headgate.net.cache import CacheReply, CallerBody
from headgate.net.cached import FROM_CACHE, fetch_cached
from headgate.net.credentials import CredentialWithheld
from headgate.net.failure import HostBenched, Repeats, RequestRefused, WireFailure
from headgate.net.gated import GatedExchange, Record, RequestContext
from headgate.net.request import (
    FOR_RULES,
    REDIRECT_STATUSES,
    RedirectHop,
    RequestOptions,
    TooManyRedirects,
    next_hop,
    read_request,
)
from headgate.net.response import BodyTooLarge, OpenResponse, ReadResponse, ResponseHead
from headgate.net.routes import Target
from headgate.ports.gate import Cost, Permit, Turn
from headgate.ports.http import Options
from headgate.ports.wire import Headers, WireRequest

if TYPE_CHECKING:
    from headgate.net.stack import HttpStack

Taken = TypeVar("Taken", bound=ResponseHead)
Pending = Coroutine[Any, Any, ReadResponse]
"""The coroutine of `request` itself: a wrapping coroutine would cost every request."""


class Streaming:
    """For `async with`: a response whose body is read piece by piece and then closed."""

    __slots__ = ("_asked", "_response")
    _response: OpenResponse

    def __init__(self, asked: Coroutine[Any, Any, OpenResponse]) -> None:
        self._asked = asked

    async def __aenter__(self) -> OpenResponse:
        self._response = await self._asked
        return self._response

    async def __aexit__(self, *_: object) -> None:
        await self._response.aclose()


class HttpClient:
    __slots__ = ("_context", "_guarded", "_permit", "_provider", "_stack")

    def __init__(
        self, stack: "HttpStack", turn: Turn, provider: str, record: Record, *, guarded: bool
    ) -> None:
        self._stack = stack
        self._provider = provider
        self._guarded = guarded
        self._context = RequestContext(turn, record)
        self._permit: Permit | None = None

    async def request(self, method: str, url: str, **options: Unpack[Options]) -> ReadResponse:
        """Send one request; `ports.http.Options` documents the options."""
        outgoing, request_options = read_request(method.upper(), url, options)
        if request_options.caller_body is not None:
            raise UsageError("kept_in works only with streams: use ctx.http.stream()")
        limit = request_options.max_bytes
        take = self._whole if limit is None else partial(self._whole, limit=limit)
        return await self._follow(outgoing, request_options, take)

    def get(self, url: str, **options: Unpack[Options]) -> Pending:
        return self.request("GET", url, **options)

    def head(self, url: str, **options: Unpack[Options]) -> Pending:
        return self.request("HEAD", url, **options)

    def post(self, url: str, **options: Unpack[Options]) -> Pending:
        return self.request("POST", url, **options)

    def put(self, url: str, **options: Unpack[Options]) -> Pending:
        return self.request("PUT", url, **options)

    def patch(self, url: str, **options: Unpack[Options]) -> Pending:
        return self.request("PATCH", url, **options)

    def delete(self, url: str, **options: Unpack[Options]) -> Pending:
        return self.request("DELETE", url, **options)

    def stream(self, method: str, url: str, **options: Unpack[Options]) -> "Streaming":
        """Send, and read the body piece by piece; the permit is held until the block ends."""
        outgoing, request_options = read_request(method.upper(), url, options)
        return Streaming(self._follow(outgoing, request_options, self._in_pieces))

    def spend(self, cost: Cost) -> None:
        """Report the true cost of the last request, for which only an estimate was reserved."""
        if self._permit is not None:
            self._permit.spend(cost)

    async def _robots(self, url: str) -> OpenResponse:
        """Fetch a robots.txt: exempt from robots rules, sent without credentials."""
        return await self._follow(RedirectHop("GET", url, bare=True), FOR_RULES, self._in_pieces)

    async def _follow(
        self,
        outgoing: RedirectHop,
        request_options: RequestOptions,
        take: Callable[[CacheReply, str], Awaitable[Taken]],
    ) -> Taken:
        """Send, and follow redirects; each permit is released before the next request."""
        stack = self._stack
        redirects = (
            stack.policy.redirects
            if request_options.redirects is None
            else request_options.redirects
        )
        for _ in range(redirects + 1):
            place, rest = stack.routes.find(outgoing.url, self._provider)
            request = self._addressed(
                outgoing, request_options, place, place.text + normalize_rest(rest)
            )
            if place.policy.robots and request_options is not FOR_RULES:
                await stack.robots.check(request, place, self._robots, self._context)
            for_user = self._context.turn.for_user
            bare = outgoing.bare or (for_user and self._is_withheld(request, place))
            context = self._context_of(request_options, bare=bare)
            answer = await self._repeat(request, place, context, request_options.caller_body, take)
            if answer.status_code not in REDIRECT_STATUSES or not request_options.follow:
                return answer
            location = answer.headers.get("location")
            if not location:
                return answer
            await answer.aclose()
            self.spend(dict.fromkeys(request_options.cost, 0.0))
            outgoing = next_hop(outgoing, request.url, answer.status_code, location)
            if outgoing.bare:
                stack.deps.credentials.check_redirect(place.provider, outgoing.url)
        raise TooManyRedirects(outgoing.url, redirects)

    async def _repeat(
        self,
        request: WireRequest,
        place: Target,
        context: RequestContext,
        caller_body: CallerBody | None,
        take: Callable[[CacheReply, str], Awaitable[Taken]],
    ) -> Taken:
        """Send, and repeat what failed while the retry budget lasts."""
        stack = self._stack
        clock = stack.deps.clock
        repeats: Repeats | None = None
        repeated = False
        while True:
            exchange = GatedExchange(stack.deps, place, context)
            try:
                reply = await self._reply(request, exchange, caller_body)
                answer = await take(reply, request.url)
                if repeated:
                    place.breaker.repeated(clock.monotonic(), helped=answer.status_code < 500)
                if answer.status_code < 400:
                    return answer
            except HostBenched:
                continue
            except (RequestRefused, WireFailure) as trouble:
                repeats = repeats or self._repeats(request, exchange)
                wait_s = repeats.after(trouble, clock.monotonic())
                if wait_s is None or place.is_down:
                    raise
                context = self._noted(context, trouble)
            else:
                repeats = repeats or self._repeats(request, exchange)
                now = clock.monotonic()
                wait_s = repeats.after_status(answer.status_code, now)
                if wait_s is None or place.is_down or not place.breaker.worth_repeating(now):
                    return answer
                repeated = True
                await answer.aclose()
                context = self._noted(context)
            await clock.sleep(wait_s)

    def _noted(
        self, context: RequestContext, trouble: RequestRefused | WireFailure | None = None
    ) -> RequestContext:
        """The context of a failed item: another failure is weak evidence against the host."""
        if context.turn.again or isinstance(trouble, RequestRefused):
            return context
        turn = msgspec.structs.replace(context.turn, again=True)
        self._context = msgspec.structs.replace(self._context, turn=turn)
        return msgspec.structs.replace(context, turn=turn)

    async def _reply(
        self, request: WireRequest, exchange: GatedExchange, caller_body: CallerBody | None
    ) -> CacheReply:
        cache = self._stack.cache
        reply: CacheReply
        if cache is None or not exchange.place.policy.cache.enabled:
            reply = await exchange.send(request)
        else:
            reply = await fetch_cached(cache, request, exchange, caller_body)
        self._permit = exchange.permit  # none if the cache has answered: that costs nothing
        return reply

    def _repeats(self, request: WireRequest, exchange: GatedExchange) -> Repeats:
        return Repeats(request.method, exchange.place.policy, exchange.sent_s, self._stack.rng)

    async def _whole(self, reply: CacheReply, url: str, limit: int | None = None) -> ReadResponse:
        """Read the whole body; BodyTooLarge if it exceeds the limit."""
        most = self._stack.policy.body_bytes
        limit = most if limit is None else min(limit, most)
        try:
            body = await reply.read(limit)
        except BaseException:
            await reply.close()
            raise
        if body is None:
            await reply.close()
            raise BodyTooLarge(url, limit)
        from_cache = reply.kind in FROM_CACHE
        return ReadResponse(reply.status, reply.headers, url, body, from_cache=from_cache)

    @staticmethod
    async def _in_pieces(reply: CacheReply, url: str) -> OpenResponse:
        return OpenResponse(reply, url)

    def _is_withheld(self, request: WireRequest, place: Target) -> bool:
        """Whether a user's request goes without the credential, because users may not use it.

        CredentialWithheld if the request names the provider: it would fail there without the
        credential.
        """
        if not place.policy.credentials:
            return False
        path = request.url.removeprefix(place.text).partition("?")[0]
        why = credential_refusal(place.policy, request.method, path)
        if why and self._provider == place.provider and place.policy.needs_credential:
            raise CredentialWithheld(place.provider, why)
        return bool(why)

    def _context_of(self, request_options: RequestOptions, *, bare: bool) -> RequestContext:
        if not (bare or request_options.light or request_options.cost or request_options.through):
            return self._context
        return msgspec.structs.replace(
            self._context,
            cost=request_options.cost,
            light=request_options.light,
            bare=bare,
            through=request_options.through,
        )

    def _addressed(
        self, outgoing: RedirectHop, request_options: RequestOptions, place: Target, url: str
    ) -> WireRequest:
        patience = place.patience
        if request_options.timeout_s is not None:
            patience = msgspec.structs.replace(patience, total_s=request_options.timeout_s)
        headers: Headers = place.headers
        if outgoing.headers:
            given = {name for name, _ in outgoing.headers}
            ours = [header for header in place.headers if header[0] not in given]
            headers = [*ours, *outgoing.headers]
        return WireRequest(outgoing.method, url, headers, outgoing.body, patience, self._guarded)
