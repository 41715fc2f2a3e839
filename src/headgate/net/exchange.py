"""A request that was let out, and its reply: what gates, breaker and record learn of it."""

from collections.abc import AsyncIterator, Callable

import msgspec

from headgate.core.breaker import Breaker
from headgate.core.call import Call, CallKind
from headgate.net.breaker import Breakers
from headgate.net.credentials import Credentials
from headgate.net.failure import WireFailure
from headgate.net.fields import folded
from headgate.net.routes import Place
from headgate.ports.clock import Clock
from headgate.ports.gate import Gates, Permit
from headgate.ports.wire import Headers, Wire, WireReply, WireRequest

Record = Callable[[Call], None]
CONDITIONS = frozenset({"if-none-match", "if-modified-since"})


class Crossing(msgspec.Struct, frozen=True):
    """What all requests of a process pass through."""

    gates: Gates
    breakers: Breakers
    wire: Wire
    credentials: Credentials
    clock: Clock


class Exchange:
    """A request that was let out, and its reply. The permit is held until the body has ended."""

    __slots__ = (
        "_at_us",
        "_breaker",
        "_bytes",
        "_crossing",
        "_ended",
        "_kind",
        "_number",
        "_permit",
        "_place",
        "_record",
        "_reply",
        "_sent_s",
        "_verb",
        "headers",
        "refused",
        "retry_in_s",
        "status",
    )

    def __init__(
        self,
        crossing: Crossing,
        place: Place,
        record: Record,
        permit: Permit,
        breaker: Breaker,
        request: WireRequest,
    ) -> None:
        self._crossing = crossing
        self._place = place
        self._record = record
        self._permit = permit
        self._breaker = breaker
        self._verb = request.method
        self._number = -1
        self._at_us = crossing.clock.now()
        self._sent_s = crossing.clock.monotonic()
        self._bytes = 0
        self._kind = CallKind.FETCHED
        self._ended = False
        self._reply: WireReply | None = None
        self.status = 0
        self.headers: Headers = ()
        self.refused = False
        self.retry_in_s = 0.0

    async def send(self, request: WireRequest) -> None:
        """Return when the head is there and the gates have heard of it."""
        crossing = self._crossing
        self._number = crossing.breakers.admit(self._place.host, self._breaker)
        self._sent_s = crossing.clock.monotonic()
        reply = self._reply = await crossing.wire.send(request)
        now = crossing.clock.monotonic()
        self.status, self.headers = reply.status, reply.headers
        feedback = self._permit.answered(self.status, folded(self.headers), now - self._sent_s)
        self.refused, self.retry_in_s = feedback.refused, feedback.retry_in_s
        if feedback.refused:
            self._kind = CallKind.REFUSED
        elif self.status == 304 and not CONDITIONS.isdisjoint(name for name, _ in request.headers):
            self._kind = CallKind.REVALIDATED
        if self.status >= 500 and not feedback.refused:
            crossing.breakers.failed(self._breaker, self._number)
        else:
            self._breaker.succeeded(self._number, now)

    def lost(self, error: BaseException) -> None:
        """There is no reply, for one reason or another."""
        self._permit.failed()
        if isinstance(error, WireFailure):
            self._crossing.breakers.failed(self._breaker, self._number)
        else:
            self._breaker.abandoned(self._number)
        self._fail(error)

    async def chunks(self) -> AsyncIterator[bytes]:
        """The body; the permit is given back when it ends, one way or the other."""
        if self._reply is None:
            return
        try:
            async for chunk in self._reply.chunks():
                self._bytes += len(chunk)
                yield chunk
        except WireFailure as failure:
            self._crossing.breakers.failed(self._breaker, self._number)
            self._fail(failure)
            raise
        self._end()

    async def close(self) -> None:
        """Give the permit and the connection back; doing it twice is harmless."""
        self._end()
        if self._reply is not None:
            await self._reply.close()

    def _fail(self, error: BaseException) -> None:
        self._kind = CallKind.FAILED
        self._end(str(error) or type(error).__name__)

    def _end(self, cause: str | None = None) -> None:
        if self._ended:
            return
        self._ended = True
        permit, place = self._permit, self._place
        permit.release()
        ran_s = self._crossing.clock.monotonic() - self._sent_s
        self._record(
            Call(
                self._at_us,
                self._verb,
                place.provider,
                place.host,
                self.status,
                self._kind,
                self._bytes,
                ran_s * 1_000,
                permit.waited_s * 1_000,
                permit.cause if cause is None else cause,
            )
        )
