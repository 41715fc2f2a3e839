"""robots.txt by RFC 9309: what a host lets programs fetch, asked before anything else is."""

import asyncio
from collections.abc import Awaitable, Callable

from protego import Protego

from headgate.core.call import Call, CallKind, kept_url
from headgate.core.ending import AttemptOver
from headgate.core.fault import Fault, FaultClass
from headgate.core.outcome import Skipped
from headgate.core.url import BadUrl
from headgate.net.breaker import OnBroken
from headgate.net.failure import Refused, WireFailure
from headgate.net.gated import Record
from headgate.net.redirects import TooManyRedirects
from headgate.net.response import BadStatus, StreamedResponse
from headgate.net.routes import Place
from headgate.net.spacing import Spacings
from headgate.ports.clock import Clock
from headgate.ports.wire import WireRequest

Fetch = Callable[[str], Awaitable[StreamedResponse]]
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


class Rules:
    """What is known of one robots.txt."""

    LIFE_S = 86_400.0
    """For so long it is not asked for again."""
    FIRST_WAIT_S = 60.0
    """For so long a server is left alone that fails; twice as long each time."""
    LONGEST_WAIT_S = 3_600.0

    def __init__(self) -> None:
        self.asking = asyncio.Lock()
        self.parsed: Protego | None = None
        """None while nothing is known. What is known outlives a server that fails later on."""
        self.trouble = NO_TROUBLE
        """Why it could not be read the last time."""
        self.until_s = 0.0
        """When it is to be asked for again."""
        self._failures = 0

    def learn(self, text: str, now: float) -> None:
        """This is what it says."""
        self.parsed = Protego.parse(text)
        self.trouble = NO_TROUBLE
        self.until_s = now + self.LIFE_S
        self._failures = 0

    def miss(self, trouble: Fault, now: float) -> None:
        """The server cannot say."""
        wait_s = min(self.FIRST_WAIT_S * 2.0**self._failures, self.LONGEST_WAIT_S)
        self._failures += wait_s < self.LONGEST_WAIT_S
        self.hold(trouble, now, wait_s)

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

    def __init__(self, clock: Clock, spacings: Spacings, on_broken: OnBroken) -> None:
        self._clock = clock
        self._spacings = spacings
        self._on_broken = on_broken
        self._rules: dict[tuple[str, bool], Rules] = {}

    async def check(self, request: WireRequest, place: Place, fetch: Fetch, record: Record) -> None:
        """Return if the request may be sent; RobotsBarred or RobotsUnknown if not."""
        rules = self._of(place.text, guarded=request.guarded)
        if rules.until_s <= self._clock.monotonic():
            async with rules.asking:
                if rules.until_s <= self._clock.monotonic():  # nobody was faster
                    await self._ask(rules, place, fetch)
        if rules.parsed is None:
            wait_s = max(rules.until_s - self._clock.monotonic(), 0.0)
            raise RobotsUnknown(place.host, rules.trouble, wait_s)
        us = product_token(request)
        if not rules.parsed.can_fetch(request.url, us):
            barred = RobotsBarred(place.host)
            record(self._call(request, place, str(barred)))
            raise barred
        self._spacings.ask(place, rules.parsed.crawl_delay(us))

    async def _ask(self, rules: Rules, place: Place, fetch: Fetch) -> None:
        clock, on_broken = self._clock, self._on_broken
        try:
            text = await self._read(place.text + FILE, fetch)
        except (BadStatus, Refused, WireFailure) as failing:
            rules.miss(fault_of(failing), clock.monotonic())
            if rules.parsed is None:
                on_broken(place.host, rules.until_s - clock.monotonic())
        except AttemptOver as over:
            # A gate or a breaker of our own did not let us ask.
            rules.hold(fault_of(over), clock.monotonic())
            raise
        else:
            if rules.trouble is not NO_TROUBLE:
                on_broken(place.host, None)
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

    async def _beginning(self, response: StreamedResponse) -> str:
        body = b""
        async for chunk in response.aiter_bytes():
            body += chunk
            if len(body) > self.BYTES:
                # Half a line could mean anything.
                body = body[: self.BYTES].rpartition(b"\n")[0]
                break
        return body.decode("utf-8-sig", errors="replace")

    def _of(self, where: str, *, guarded: bool) -> Rules:
        # Those who may not go everywhere must not hear what others have found inside.
        found = self._rules.get((where, guarded))
        if found is None:
            if len(self._rules) >= self.MOST:
                del self._rules[next(iter(self._rules))]
            found = self._rules[where, guarded] = Rules()
        return found

    def _call(self, request: WireRequest, place: Place, cause: str) -> Call:
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


def fault_of(error: AttemptOver) -> Fault:
    """Why it could not be read."""
    ending = error.ending
    return ending if isinstance(ending, Fault) else Fault(FaultClass.TRANSIENT, str(error))
