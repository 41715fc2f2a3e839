"""The configured limits of gates."""

from collections.abc import Mapping

import msgspec

from headgate.core.bounds import Count, Seconds
from headgate.core.gates.keys import gate_kind, gate_name, provider_in
from headgate.core.provider import ProviderPolicy, provider_of
from headgate.core.rate import Limit, parse_limits


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
        gates = self.gates
        match gate_kind(key):
            case "global":
                return ProviderPolicy(rate=gates.rate, concurrency=gates.concurrency)
            case "domain":
                return ProviderPolicy(concurrency=gates.concurrency_per_domain)
            case "through":
                named = self.providers.get(gate_name(key), UNKNOWN)
                return ProviderPolicy(concurrency=named.concurrency)
            case "host":
                owner = self.providers.get(provider_of(gate_name(key), self.providers), UNKNOWN)
                most = owner.concurrency_per_host or gates.concurrency_per_host
                return ProviderPolicy(concurrency=most)
            case _:
                return self.providers.get(provider_in(key), UNKNOWN)
