"""Through the gates to the wire: a request's way out."""

import msgspec

from headgate.core.breaker import Breaker
from headgate.core.call import Call, CallKind
from headgate.net.breaker import BreakerOpen
from headgate.net.credentials import with_parameter
from headgate.net.exchange import Crossing, Exchange, Record
from headgate.net.failure import Benched, Refused
from headgate.net.routes import Place
from headgate.ports.gate import Cost, Permit, Turn
from headgate.ports.wire import WireReply, WireRequest


class Errand(msgspec.Struct, frozen=True):
    """On whose behalf a request is sent, at what cost, and who writes it down."""

    turn: Turn
    record: Record
    cost: Cost = {}
    light: bool = False
    bare: bool = False
    """Without a credential: a redirect has led away from the host that it is meant for."""


class Passage:
    """One request's way out. The cache may send it more than once, or not at all."""

    __slots__ = ("_crossing", "_errand", "permit", "place")

    def __init__(self, crossing: Crossing, place: Place, errand: Errand) -> None:
        self._crossing = crossing
        self._errand = errand
        self.place = place
        self.permit: Permit | None = None
        """That of the last time it was sent."""

    async def send(self, request: WireRequest) -> WireReply:
        """Wait for the gates, send, tell them what came back; Refused if that was a refusal."""
        crossing, errand, place = self._crossing, self._errand, self.place
        breaker = crossing.breakers.of(place.host)
        self._check(breaker, request.method)
        route = place.light if errand.light else place.route
        permit = await crossing.gates.enter(
            route, errand.turn, errand.cost, place.policy.patience_s
        )
        self.permit = permit
        exchange = Exchange(crossing, place, errand.record, permit, breaker, request)
        try:
            await exchange.send(self._dressed(request, permit))
        except BaseException as error:
            exchange.lost(error)
            raise
        await self._judge(exchange, permit)
        return exchange

    def _check(self, breaker: Breaker, verb: str) -> None:
        """Ask the breaker before the gates too, so that no token is lost on a dead host."""
        crossing, place = self._crossing, self.place
        try:
            crossing.breakers.check(place.host, breaker)
        except BreakerOpen as stopped:
            at_us, failed = crossing.clock.now(), CallKind.FAILED
            cause = str(stopped)
            self._errand.record(
                Call(at_us, verb, place.provider, place.host, 0, failed, 0, 0.0, 0.0, cause)
            )
            raise

    async def _judge(self, exchange: "Exchange", permit: Permit) -> None:
        if exchange.refused:
            await exchange.close()
            raise Refused(
                self.place.provider or self.place.host, exchange.status, exchange.retry_in_s
            )
        if (
            exchange.status in {401, 403}
            and self._carries(permit)
            and permit.bench(f"status {exchange.status}")
        ):
            await exchange.close()
            raise Benched(self.place.host, exchange.status)

    def _carries(self, permit: Permit) -> bool:
        return permit.credential is not None and self.place.declared and not self._errand.bare

    def _dressed(self, request: WireRequest, permit: Permit) -> WireRequest:
        """The request with what only the provider may see: our contact and a credential."""
        place = self.place
        if place.contact is None and permit.credential is None:
            return request
        url, headers = request.url, request.headers
        if place.contact is not None and f"{place.contact[0]}=" not in url:
            url = with_parameter(url, *place.contact)
        if permit.credential is not None and self._carries(permit):
            credential = self._crossing.credentials.of(place.provider, permit.credential)
            url, headers = credential.put_on(url, headers)
        return msgspec.structs.replace(request, url=url, headers=headers)
