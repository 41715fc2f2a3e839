"""robots.txt by RFC 9309: what a host lets programs fetch, asked before anything else is."""

import asyncio
from collections.abc import Awaitable, Callable

from protego import Protego

from headgate.core.call import Call, CallKind, kept_url
from headgate.core.fault import AttemptOver, Fault, FaultClass
from headgate.core.gates.breaker import BreakerPolicy
from headgate.core.outcome import Skipped
from headgate.core.url import BadUrl
from headgate.net.crawl_delay import CrawlDelays
from headgate.net.failure import RequestRefused, WireFailure
from headgate.net.gated import RequestContext
from headgate.net.redirects import TooManyRedirects
from headgate.net.response import BadStatus, OpenResponse
from headgate.net.routes import Target
from headgate.ports.clock import Clock
from headgate.ports.gate import Hosts, HostTrouble, NoHosts
from headgate.ports.wire import WireRequest

Fetch = Callable[[str], Awaitable[OpenResponse]]
"""Asks for a robots.txt on behalf of whoever needs it: gates, guard, cache, record and all."""
FILE = "/robots.txt"
NO_TROUBLE = Fault(FaultClass.TRANSIENT, "")


class RobotsBarred(AttemptOver):
    """The host does not want programs like us there, so nothing was sent."""

    code = "robots"

    def __init__(self, host: str) -> None:
        super().__init__(Skipped(f"robots.txt of {host} does not allow this path"))


class RobotsUnknown(AttemptOver):
    """Nobody can say what the host allows, so it is left alone; that costs no attempt."""

    def __init__(self, host: str, trouble: Fault, wait_s: float) -> None:
        reason = f"robots.txt of {host} is asked for again in {wait_s:.1f} s: {trouble.reason}"
        super().__init__(Fault(FaultClass.THROTTLED, reason, wait_s, trouble.gate or host))


class RobotsNever(AttemptOver):
    """The host has kept its robots.txt back for so long that its rows no longer wait for it."""

    code = "robots-never"

    def __init__(self, host: str, trouble: Fault) -> None:
        reason = f"robots.txt of {host} cannot be read, so nothing was asked: {trouble.reason}"
        super().__init__(Fault(FaultClass.STALLED, reason, gate=host))


class RobotsUnreached(AttemptOver):
    """No connection could be made to ask for it; the request itself would fare no better."""

    def __init__(self, host: str, trouble: Fault) -> None:
        reason = f"robots.txt of {host} cannot be read: {trouble.reason}"
        super().__init__(Fault(trouble.kind, reason, trouble.retry_after_s, host))


class RobotsRules:
    """What is known of one robots.txt."""

    LIFE_S = 86_400.0
    """For so long it is not asked for again."""
    FIRST_WAIT_S = 60.0
    """For so long a server is left alone that fails; twice as long each time."""
    LONGEST_WAIT_S = 3_600.0
    UNREACHED_S = 5.0
    """For so long all rows share one try that got no connection."""

    def __init__(self) -> None:
        self.asking = asyncio.Lock()
        self.parsed: Protego | None = None
        """None while nothing is known. What is known outlives a server that fails later on."""
        self.trouble = NO_TROUBLE
        """Why it could not be read the last time."""
        self.until_s = 0.0
        """When it is to be asked for again."""
        self.since_s: float | None = None
        """Since when the server cannot say."""
        self.unreached = False
        """The last try got no connection."""
        self._failures = 0

    def learn(self, text: str, now: float) -> None:
        """This is what it says."""
        self.parsed = Protego.parse(text)
        self.trouble = NO_TROUBLE
        self.unreached = False
        self.until_s = now + self.LIFE_S
        self._failures = 0
        self.since_s = None

    def miss(self, trouble: Fault, now: float, patience_s: float = LIFE_S) -> None:
        """The server cannot say; rows wait for it no longer than `patience_s` in all."""
        wait_s = min(self.FIRST_WAIT_S * 2.0**self._failures, self.LONGEST_WAIT_S)
        self._failures += wait_s < self.LONGEST_WAIT_S
        self.since_s = now if self.since_s is None else self.since_s
        self.unreached = False
        left_s = self.since_s + patience_s - now
        self.hold(trouble, now, min(wait_s, left_s) if left_s > 0.0 else wait_s)

    def not_reached(self, trouble: Fault, now: float) -> None:
        """There was no connection: whoever needs it meanwhile shares this failure."""
        self.unreached = True
        self.hold(trouble, now, self.UNREACHED_S)

    def hold(self, trouble: Fault, now: float, least_s: float = 0.0) -> None:
        """It is not asked for until then: those who wait for it must not all ask again."""
        self.trouble = trouble
        self.until_s = now + max(trouble.retry_after_s or 0.0, least_s)


class Robots:
    """The rules of all places that this process has asked for them."""

    MOST = 5_000
    """Places whose rules are remembered; whoever was asked first makes room."""
    BYTES = 500_000
    """No more of a robots.txt is read."""

    def __init__(
        self,
        clock: Clock,
        spacings: CrawlDelays,
        policy: BreakerPolicy,
        hosts: Hosts | None = None,
    ) -> None:
        self._clock = clock
        self._spacings = spacings
        self._policy = policy
        self._hosts = hosts or NoHosts()
        self._rules: dict[tuple[str, bool], RobotsRules] = {}

    async def check(
        self, request: WireRequest, place: Target, fetch: Fetch, context: RequestContext
    ) -> None:
        """Return if the request may be sent; RobotsBarred, RobotsUnknown and the like if not."""
        rules = self._of(place.text, guarded=request.guarded)
        if rules.until_s <= self._clock.monotonic():
            waits = context.turn.waits
            waits.begin()  # for another request that asks, which may itself wait at a gate
            try:
                await rules.asking.acquire()
            finally:
                waits.end()
            try:
                if rules.until_s <= self._clock.monotonic():  # nobody was faster
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
        self._spacings.ask(place, rules.parsed.crawl_delay(us))

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
                trouble = HostTrouble(rules.until_s - now, why(failing))
                self._hosts.is_down(place.host, trouble, job_id)
        except AttemptOver as over:
            # A gate or a breaker of our own did not let us ask.
            rules.unreached = False
            rules.hold(fault_of(over), clock.monotonic())
            raise
        else:
            if rules.since_s is not None:
                self._hosts.is_up(place.host)
            rules.learn(text, clock.monotonic())

    async def _read(self, url: str, fetch: Fetch) -> str:
        """Its text, which is empty where there is none; BadStatus if the server fails."""
        try:
            response = await fetch(url)
        except (TooManyRedirects, BadUrl):
            return ""  # it leads nowhere
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
        # Those who may not go everywhere must not hear what others have found inside.
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
            url=kept_url(request.url),
        )


def product_token(request: WireRequest) -> str:
    """The name under which a host may have rules for us: that before the version."""
    introduction = next(text for name, text in request.headers if name == "user-agent")
    return introduction.partition("/")[0].partition(" ")[0]


def why(error: BadStatus | RequestRefused | WireFailure) -> str:
    """Why it could not be read, without the place."""
    if isinstance(error, WireFailure):
        return error.why
    status = error.status if isinstance(error, RequestRefused) else error.response.status_code
    return f"answered {status} for robots.txt"


def fault_of(error: AttemptOver) -> Fault:
    """Why it could not be read."""
    ending = error.ending
    return ending if isinstance(ending, Fault) else Fault(FaultClass.TRANSIENT, str(error))
