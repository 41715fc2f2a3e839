"""robots.txt by RFC 9309, fetched before the first request to a host."""

import asyncio
from collections.abc import Awaitable, Callable

from protego import Protego

from headgate.core.call import Call, CallKind, url_for_record
from headgate.core.fault import AttemptOver, Fault, FaultClass
from headgate.core.gates.breaker import BreakerPolicy
from headgate.core.outcome import Skipped
from headgate.core.url import BadUrl
from headgate.net.crawl_delay import CrawlDelays
from headgate.net.failure import RequestRefused, WireFailure
from headgate.net.gated import RequestContext
from headgate.net.request import TooManyRedirects
from headgate.net.response import BadStatus, OpenResponse
from headgate.net.routes import Target
from headgate.ports.clock import Clock
from headgate.ports.gate import Hosts, HostTrouble, NoHosts
from headgate.ports.wire import WireRequest

Fetch = Callable[[str], Awaitable[OpenResponse]]
"""Fetches a robots.txt through the item's own gates, guard, cache and record."""
FILE = "/robots.txt"
NO_TROUBLE = Fault(FaultClass.TRANSIENT, "")


class RobotsBarred(AttemptOver):
    """The host does not allow this path to programs, so no request was sent."""

    code = "robots"

    def __init__(self, host: str) -> None:
        super().__init__(Skipped(f"robots.txt of {host} does not allow this path"))


class RobotsUnknown(AttemptOver):
    """The rules of the host are unknown, so no request is sent; this costs no attempt."""

    def __init__(self, host: str, trouble: Fault, wait_s: float) -> None:
        reason = f"robots.txt of {host} is fetched again in {wait_s:.1f} s: {trouble.reason}"
        super().__init__(Fault(FaultClass.THROTTLED, reason, wait_s, trouble.gate or host))


class RobotsNever(AttemptOver):
    """The robots.txt has been unreadable for longer than items may wait."""

    code = "robots-never"

    def __init__(self, host: str, trouble: Fault) -> None:
        reason = f"robots.txt of {host} cannot be read, so no request was sent: {trouble.reason}"
        super().__init__(Fault(FaultClass.STALLED, reason, gate=host))


class RobotsUnreached(AttemptOver):
    """No connection could be made to fetch it; the request itself would fail in the same way."""

    def __init__(self, host: str, trouble: Fault) -> None:
        reason = f"robots.txt of {host} cannot be read: {trouble.reason}"
        super().__init__(Fault(trouble.kind, reason, trouble.retry_after_s, host))


class RobotsRules:
    LIFE_S = 86_400.0
    """Seconds until the file is fetched again."""
    FIRST_WAIT_S = 60.0
    """Seconds to wait after a server error; doubles with each failure."""
    LONGEST_WAIT_S = 3_600.0
    UNREACHED_S = 5.0
    """Seconds for which all items share the result of a failed connection."""

    def __init__(self) -> None:
        self.asking = asyncio.Lock()
        self.parsed: Protego | None = None
        """None until the file is first read. A later server error does not reset it."""
        self.trouble = NO_TROUBLE
        self.until_s = 0.0
        """Monotonic time at which the file is due to be fetched."""
        self.since_s: float | None = None
        """Monotonic time of the first server error in a row."""
        self.unreached = False
        """Whether the last try got no connection."""
        self._failures = 0

    def learn(self, text: str, now: float) -> None:
        self.parsed = Protego.parse(text)
        self.trouble = NO_TROUBLE
        self.unreached = False
        self.until_s = now + self.LIFE_S
        self._failures = 0
        self.since_s = None

    def miss(self, trouble: Fault, now: float, patience_s: float = LIFE_S) -> None:
        """Note a server error; items wait for the file for `patience_s` in all."""
        wait_s = min(self.FIRST_WAIT_S * 2.0**self._failures, self.LONGEST_WAIT_S)
        self._failures += wait_s < self.LONGEST_WAIT_S
        self.since_s = now if self.since_s is None else self.since_s
        self.unreached = False
        left_s = self.since_s + patience_s - now
        self.hold(trouble, now, min(wait_s, left_s) if left_s > 0.0 else wait_s)

    def not_reached(self, trouble: Fault, now: float) -> None:
        """Note a failed connection, which all items share for UNREACHED_S."""
        self.unreached = True
        self.hold(trouble, now, self.UNREACHED_S)

    def hold(self, trouble: Fault, now: float, least_s: float = 0.0) -> None:
        """Do not fetch until then: the waiting items must not all ask again."""
        self.trouble = trouble
        self.until_s = now + max(trouble.retry_after_s or 0.0, least_s)


class Robots:
    MOST = 5_000
    """Most hosts whose rules are remembered; beyond it the oldest is dropped."""
    BYTES = 500_000
    """Most bytes that are read of a robots.txt."""

    def __init__(
        self,
        clock: Clock,
        crawl_delays: CrawlDelays,
        policy: BreakerPolicy,
        hosts: Hosts | None = None,
    ) -> None:
        self._clock = clock
        self._crawl_delays = crawl_delays
        self._policy = policy
        self._hosts = hosts or NoHosts()
        self._rules: dict[tuple[str, bool], RobotsRules] = {}

    async def check(
        self, request: WireRequest, place: Target, fetch: Fetch, context: RequestContext
    ) -> None:
        """Return if the request may be sent; otherwise raise RobotsBarred or RobotsUnknown."""
        rules = self._of(place.text, guarded=request.guarded)
        if rules.until_s <= self._clock.monotonic():
            waits = context.turn.waits
            waits.begin()  # another request fetches the file, and may itself wait at a gate
            try:
                await rules.asking.acquire()
            finally:
                waits.end()
            try:
                if rules.until_s <= self._clock.monotonic():  # no other request was faster
                    await self._ask(rules, place, fetch, context.turn.job_id)
            finally:
                rules.asking.release()
        if rules.parsed is None:
            raise self._unknown(rules, place)
        us = product_token(request)
        if not rules.parsed.can_fetch(request.url, us):
            barred = RobotsBarred(place.host)
            context.record(self._call(request, place, str(barred)))
            raise barred
        self._crawl_delays.set_delay(place, rules.parsed.crawl_delay(us))

    def _unknown(self, rules: RobotsRules, place: Target) -> AttemptOver:
        now = self._clock.monotonic()
        if rules.unreached:
            return RobotsUnreached(place.host, rules.trouble)
        if rules.since_s is not None and now - rules.since_s >= self._patience_s(place):
            return RobotsNever(place.host, rules.trouble)
        return RobotsUnknown(place.host, rules.trouble, max(rules.until_s - now, 0.0))

    def _patience_s(self, place: Target) -> float:
        policy = self._policy
        return policy.give_up_s if place.breaker.answered else policy.give_up_unknown_s

    async def _ask(self, rules: RobotsRules, place: Target, fetch: Fetch, job_id: int) -> None:
        clock = self._clock
        try:
            text = await self._read(place.text + FILE, fetch)
        except (BadStatus, RequestRefused, WireFailure) as failing:
            now = clock.monotonic()
            if isinstance(failing, WireFailure) and not failing.sent and rules.parsed is None:
                rules.not_reached(fault_of(failing), now)
                return
            rules.miss(fault_of(failing), now, self._patience_s(place))
            if rules.parsed is None:
                trouble = HostTrouble(rules.until_s - now, unreached_reason(failing))
                self._hosts.is_down(place.host, trouble, job_id)
        except AttemptOver as over:
            # One of our own gates or breakers refused the request.
            rules.unreached = False
            rules.hold(fault_of(over), clock.monotonic())
            raise
        else:
            if rules.since_s is not None:
                self._hosts.is_up(place.host)
            rules.learn(text, clock.monotonic())

    async def _read(self, url: str, fetch: Fetch) -> str:
        """Return its text, empty if there is none; BadStatus for a server error."""
        try:
            response = await fetch(url)
        except (TooManyRedirects, BadUrl):
            return ""  # the redirects do not end, or the target is not a URL
        try:
            if response.status_code >= 500:
                raise BadStatus(response)
            return await self._beginning(response) if response.is_success else ""
        finally:
            await response.aclose()

    async def _beginning(self, response: OpenResponse) -> str:
        body = b""
        async for chunk in response.aiter_bytes():
            body += chunk
            if len(body) > self.BYTES:
                # Half a line could mean anything.
                body = body[: self.BYTES].rpartition(b"\n")[0]
                break
        return body.decode("utf-8-sig", errors="replace")

    def _of(self, where: str, *, guarded: bool) -> RobotsRules:
        # Guarded requests must not learn what unguarded ones found in a private network.
        found = self._rules.get((where, guarded))
        if found is None:
            if len(self._rules) >= self.MOST:
                del self._rules[next(iter(self._rules))]
            found = self._rules[where, guarded] = RobotsRules()
        return found

    def _call(self, request: WireRequest, place: Target, cause: str) -> Call:
        now, kind = self._clock.now(), CallKind.BARRED
        return Call(
            now,
            request.method,
            place.provider,
            place.host,
            status=0,
            kind=kind,
            bytes=0,
            ran_ms=0.0,
            waited_ms=0.0,
            cause=cause,
            url=url_for_record(request.url),
        )


def product_token(request: WireRequest) -> str:
    introduction = next(text for name, text in request.headers if name == "user-agent")
    return introduction.partition("/")[0].partition(" ")[0]


def unreached_reason(error: BadStatus | RequestRefused | WireFailure) -> str:
    if isinstance(error, WireFailure):
        return error.why
    status = error.status if isinstance(error, RequestRefused) else error.response.status_code
    return f"answered {status} for robots.txt"


def fault_of(error: AttemptOver) -> Fault:
    ending = error.ending
    return ending if isinstance(ending, Fault) else Fault(FaultClass.TRANSIENT, str(error))
