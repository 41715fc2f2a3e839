"""The configured limits of gates, and a limiter that keeps only these."""

import math
from collections.abc import Mapping

import msgspec

from headgate.core.bounds import Count, Seconds
from headgate.core.gates.keys import kind_of, name_of, provider_in
from headgate.core.pacing.pace import UNLIMITED, Pace
from headgate.core.pacing.state import Cause, PaceReading
from headgate.core.provider import ProviderPolicy, provider_of
from headgate.core.rate import Ceilings, Limit, parse_limits


class GatePolicy(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    ledger: str = ""
    """Where gates are shared: `redis://HOST/0`; unset: in the store."""
    rate: str = ""
    """The most requests to all hosts together: `50/s`."""
    concurrency: Count | None = None
    """The most transfers at a time with all hosts together."""
    concurrency_per_domain: Count | None = None
    """The most transfers at a time with the hosts of one registrable domain."""
    concurrency_per_host: Count | None = None
    """The most transfers at a time with one host, unless its provider says otherwise."""
    longest_wait_s: Seconds = 3_600.0
    """Longest `Retry-After` that is obeyed."""

    def __post_init__(self) -> None:
        parse_limits(self.rate)
        if self.ledger and not self.ledger.startswith(("redis://", "rediss://", "unix://")):
            raise ValueError("`ledger` is the URL of a Redis server, such as redis://localhost/0")

    @property
    def limits(self) -> tuple[Limit, ...]:
        return parse_limits(self.rate)


UNKNOWN = ProviderPolicy()


class GateLimits(msgspec.Struct, frozen=True):
    providers: Mapping[str, ProviderPolicy]
    gates: GatePolicy = GatePolicy()

    def of(self, key: str) -> ProviderPolicy:
        """The limits of a gate, in the form of a provider's settings."""
        gates = self.gates
        match kind_of(key):
            case "global":
                return ProviderPolicy(rate=gates.rate, concurrency=gates.concurrency)
            case "domain":
                return ProviderPolicy(concurrency=gates.concurrency_per_domain)
            case "through":
                named = self.providers.get(name_of(key), UNKNOWN)
                return ProviderPolicy(concurrency=named.concurrency)
            case "host":
                owner = self.providers.get(provider_of(name_of(key), self.providers), UNKNOWN)
                most = owner.concurrency_per_host or gates.concurrency_per_host
                return ProviderPolicy(concurrency=most)
            case _:
                return self.providers.get(provider_in(key), UNKNOWN)


ANY = 1e9
"""Requests a second; more than any process sends."""
EVER = 1e12


class ConfiguredLimiter(Pace):
    """Keeps the ceilings of a gate and learns nothing from answers, such as a cap on each host."""

    def __init__(self, limits: Ceilings = UNLIMITED, *, start: float = ANY) -> None:
        super().__init__(limits, start=start)
        self.state.rate.set(start, EVER, 1.0, 1.0)

    def _held(self, now: float, in_flight: int) -> tuple[float, Cause]:
        limits = self.limits
        if limits.concurrency is not None and in_flight >= limits.concurrency:
            return math.inf, Cause.CONCURRENCY
        opens_at = limits.opens_at(self.state.ceiling_due)
        return (opens_at, Cause.CEILING) if opens_at > now else (now, Cause.OPEN)

    def on_send(self, now: float, in_flight: int) -> None:
        state = self.state
        self._in_flight = in_flight
        state.bound, state.sent_at = Cause.OPEN, now
        state.ceiling_due = self.limits.spend(state.ceiling_due, now)

    def on_reply(
        self,
        now: float,  # noqa: ARG002 (as every pace)
        sent_at: float,  # noqa: ARG002
        in_flight: int,  # noqa: ARG002
        status: int,  # noqa: ARG002
        headers: Mapping[str, str],  # noqa: ARG002
        latency: float,  # noqa: ARG002
    ) -> PaceReading:
        return PaceReading(refused=False)
