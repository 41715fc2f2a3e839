"""A request through gates and wire; gates, breaker and record learn the result."""

from collections.abc import AsyncIterator, Callable
from functools import partial

import msgspec

from headgate.core.call import Call, CallKind, url_for_record
from headgate.core.gates.breaker import BreakerState
from headgate.net.breaker import BreakerOpen, Breakers, HostGone
from headgate.net.cache import Unkept
from headgate.net.crawl_delay import CrawlDelay, CrawlDelays
from headgate.net.credentials import Credentials, with_parameter
from headgate.net.failure import HostBenched, RequestRecalled, RequestRefused, WireFailure
from headgate.net.fields import folded
from headgate.net.routes import Target
from headgate.net.token_use import TokenStep, TokenUse
from headgate.net.tokens import LoginTokens
from headgate.ports.clock import Clock
from headgate.ports.gate import Cost, Feedback, Gates, Permit, Route, Turn
from headgate.ports.wire import Headers, ServerReply, Wire, WireRequest

Record = Callable[[Call], None]
CONDITIONS = frozenset({"if-none-match", "if-modified-since"})


class NetDeps(msgspec.Struct, frozen=True):
    gates: Gates
    breakers: Breakers
    wire: Wire
    credentials: Credentials
    tokens: LoginTokens
    crawl_delays: CrawlDelays
    clock: Clock


class RequestContext(msgspec.Struct, frozen=True):
    turn: Turn
    record: Record
    cost: Cost = {}
    light: bool = False
    bare: bool = False
    """Send no credential: a redirect left its host, or users may not use it."""
    through: str = ""
    """The provider that named the URL; its cap on transfers holds too."""


class GatedExchange(Unkept):
    """A request and then its reply. The permit is held until the body has ended.

    The cache may send it more than once, each time after the last reply has ended, or not at all.
    """

    __slots__ = (
        "_at_us",
        "_bytes",
        "_deps",
        "_ended",
        "_held_s",
        "_held_why",
        "_number",
        "_reply",
        "_token_use",
        "_url",
        "_verb",
        "context",
        "headers",
        "kind",
        "permit",
        "place",
        "sent_s",
        "status",
    )
    _reply: ServerReply
    kind: CallKind
    _verb: str
    _url: str
    _at_us: int
    _number: int

    def __init__(self, deps: NetDeps, place: Target, context: RequestContext) -> None:
        self._deps = deps
        self.context = context
        self._ended = True
        self._bytes = 0
        self._held_s = 0.0
        self._held_why = ""
        self.place = place
        logs_in = place.logs_in and not context.bare
        self._token_use = TokenUse(deps.tokens, place.provider, context) if logs_in else None
        self.permit: Permit | None = None
        """The permit of the last time the request was sent."""
        self.sent_s = 0.0
        self.status = 0
        self.headers: Headers = ()

    async def send(self, request: WireRequest) -> "GatedExchange":
        """Wait for the gates, send, and report the reply to them. Raises RequestRefused."""
        deps, context, place = self._deps, self.context, self.place
        clock = deps.clock
        self._verb = request.method
        self._url = request.url
        if place.breaker.state is not BreakerState.CLOSED:
            self._check()
        route = place.light if context.light else place.route
        if context.through and context.through != place.provider:
            route = msgspec.structs.replace(route, through=context.through)
        token_use = self._token_use
        enter = partial(self._enter, route)
        if token_use is not None:
            self.sent_s = clock.monotonic()  # a login may fail before the request is sent
            enter = partial(token_use.enter, enter)
        permit = await enter()
        while not await self._sent(request, permit):
            permit = await enter()
        reply = self._reply
        now = clock.monotonic()
        self.status = status = reply.status
        self.headers = reply.headers
        feedback = permit.answered(status, folded(reply.headers), now - self.sent_s)
        if token_use is not None and not feedback.refused:
            step = token_use.next_step(permit, status)
            if step is not TokenStep.STOP:
                return await self._send_again(request, token_use, step)
        if feedback.refused or status >= 300:
            await self._judge(request, permit, feedback)
        elif place.breaker.alert or not place.breaker.answered:
            self._answered_well()
        return self

    async def _send_again(
        self, request: WireRequest, token_use: TokenUse, step: TokenStep
    ) -> "GatedExchange":
        """Send with another token; the server did not act on the request, whatever its method."""
        self._answered_well()
        await self.close()
        if step is TokenStep.RENEW and self.permit is not None:
            await token_use.renew(self.permit, refused=True)
        return await self.send(request)

    async def _enter(self, route: Route) -> Permit:
        deps, context, place = self._deps, self.context, self.place
        spacing = deps.crawl_delays.of(place) if place.policy.robots else None
        if spacing is not None:
            self.permit = await self._enter_spaced(spacing, route)
        else:
            self.permit = await deps.gates.enter(
                route, context.turn, context.cost, place.policy.patience_s
            )
        return self.permit

    async def _sent(self, request: WireRequest, permit: Permit) -> bool:
        """Send; False if the gate closed before the request was sent."""
        deps, place = self._deps, self.place
        self._begin()
        try:
            self._number = deps.breakers.admit(place.host, place.breaker, self.context.turn)
            if place.contact is not None or permit.credential is not None:
                request = self._with_identity(request, permit)
            place.breaker.in_flight += 1
            try:
                token_use = self._token_use
                recalled = partial(token_use.is_recalled, permit) if token_use else permit.recalled
                self._reply = await deps.wire.send(request, recalled)
            finally:
                place.breaker.in_flight -= 1
        except RequestRecalled:
            self._ended = True
            place.breaker.abandoned(self._number)
            permit.withdraw()
            return False
        except BaseException as error:
            permit.failed()
            self._fail(error)
            raise
        return True

    async def _enter_spaced(self, spacing: CrawlDelay, route: Route) -> Permit:
        context, patience_s = self.context, self.place.policy.patience_s
        context.turn.waits.begin()
        try:
            async with spacing.turn(patience_s) as self._held_s:
                self._held_why = spacing.cause
                return await self._deps.gates.enter(route, context.turn, context.cost, patience_s)
        finally:
            context.turn.waits.end()

    def now_us(self) -> int:
        """UTC microseconds."""
        return self._deps.clock.now()

    def partition(self, *, guarded: bool) -> str:
        """Return the cache partition; replies are shared only within a partition."""
        context, place = self.context, self.place
        pool = place.provider if place.policy.credentials and not context.bare else ""
        return f"{context.turn.owner}\n{pool}\n{'guarded' * guarded}"

    async def chunks(self) -> AsyncIterator[bytes]:
        """The body as it arrives; its end releases the permit."""
        try:
            async for chunk in self._reply.chunks():
                self._bytes += len(chunk)
                yield chunk
        except WireFailure as failure:
            self._fail(failure)
            raise
        self._end()

    async def read(self, limit: int) -> bytes | None:
        try:
            body = await self._reply.read(limit)
        except WireFailure as failure:
            self._fail(failure)
            raise
        if body is not None:
            self._bytes += len(body)
            self._end()
        return body

    async def close(self) -> None:
        self._end()
        await self._reply.close()

    def _check(self) -> None:
        """Ask the breaker before the gates too, so that no token is spent on a dead host."""
        deps, place = self._deps, self.place
        try:
            deps.breakers.check(place.host, place.breaker, self.context.turn)
        except (BreakerOpen, HostGone) as stopped:
            now, kind, cause = deps.clock.now(), CallKind.FAILED, str(stopped)
            call = Call(now, self._verb, place.provider, place.host, 0, kind, 0, 0.0, 0.0, cause)
            self.context.record(msgspec.structs.replace(call, url=url_for_record(self._url)))
            raise

    def _with_identity(self, request: WireRequest, permit: Permit) -> WireRequest:
        """The request with the contact and the credential, which only the provider may see."""
        place = self.place
        url, headers = request.url, request.headers
        if place.contact is not None and f"{place.contact[0]}=" not in url:
            url = with_parameter(url, *place.contact)
        if permit.credential is not None and self._carries(permit):
            credential = self._deps.credentials.of(place.provider, permit.credential)
            if self._token_use is not None:
                self._token_use.begin(permit)
            if credential is not None:
                url, headers = credential.put_on(url, headers)
        return msgspec.structs.replace(request, url=url, headers=headers)

    def _carries(self, permit: Permit) -> bool:
        return permit.credential is not None and self.place.declared and not self.context.bare

    async def _judge(self, request: WireRequest, permit: Permit, feedback: Feedback) -> None:
        """Report a response that is not a plain success, and raise if it ends the attempt."""
        place, status = self.place, self.status
        if status >= 500 and not feedback.refused:
            self._deps.breakers.answered_badly(
                place.host, place.breaker, self._number, self.context.turn, status
            )
        else:
            self._answered_well()
        if feedback.refused:
            self.kind = CallKind.REFUSED
            await self.close()
            raise RequestRefused(feedback.gate or place.host, status, feedback.retry_in_s)
        if status == 304 and not CONDITIONS.isdisjoint(name for name, _ in request.headers):
            self.kind = CallKind.REVALIDATED
        elif (
            status in {401, 403}
            and self._carries(permit)
            and permit.bench(f"{place.host} answered {status}")
        ):
            # Another credential is left to try. Without one, the response is returned as it is.
            await self.close()
            raise HostBenched(place.host, status)

    def _answered_well(self) -> None:
        breakers, place = self._deps.breakers, self.place
        if not place.breaker.answered:
            breakers.answers(place.host, place.breaker)
        breakers.succeeded(place.host, place.breaker, self._number)

    def _begin(self) -> None:
        clock = self._deps.clock
        self._number = -1
        self.kind = CallKind.FETCHED
        self._bytes = 0
        self._ended = False
        self._at_us = clock.now()
        self.sent_s = clock.monotonic()

    def _fail(self, error: BaseException) -> None:
        self.kind = CallKind.FAILED
        if isinstance(error, WireFailure):
            place = self.place
            self._deps.breakers.unanswered(
                place.host, place.breaker, self._number, self.context.turn, error
            )
        else:
            # A cancellation, or a stop by our own rules, is not evidence about the host.
            self.place.breaker.abandoned(self._number)
        self._end(str(error) or type(error).__name__)

    def _end(self, cause: str = "") -> None:
        permit = self.permit
        if self._ended or permit is None:
            return
        self._ended = True
        place = self.place
        if place.counts_bytes:
            permit.spend({"bytes": float(self._bytes)})
        permit.release()
        self.context.record(
            Call(
                self._at_us,
                self._verb,
                place.provider,
                place.host,
                self.status,
                self.kind,
                self._bytes,
                (self._deps.clock.monotonic() - self.sent_s) * 1_000,
                (permit.waited_s + self._held_s) * 1_000,
                cause or (self._held_why if self._held_s > permit.waited_s else permit.cause),
                url_for_record(self._url),
            )
        )
