"""What holds at every gate, whoever the provider is."""

import msgspec

from headgate.core.bounds import Count, Seconds
from headgate.core.rate import Limit, parse_limits


class GatePolicy(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Settings of the gates."""

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
    """No `Retry-After` is believed beyond this."""

    def __post_init__(self) -> None:
        parse_limits(self.rate)
        if self.ledger and not self.ledger.startswith(("redis://", "rediss://", "unix://")):
            raise ValueError("`ledger` is the URL of a Redis server, such as redis://localhost/0")

    @property
    def limits(self) -> tuple[Limit, ...]:
        """The limits on requests to all hosts together."""
        return parse_limits(self.rate)
