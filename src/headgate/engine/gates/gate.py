"""One gate as this process sees it: the limit it keeps, and what it has in flight there."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Protocol

from headgate.core.pace_state import Cause, Reading

if TYPE_CHECKING:
    from headgate.engine.gates.lineup import Lineup


class Limiter(Protocol):
    """What decides when the next request may go; moments are on the ledger's clock."""

    def gate(self, now: float, in_flight: int) -> float:
        """The earliest moment; now: at once; infinite: after some reply."""
        ...

    def on_send(self, now: float, in_flight: int) -> None:
        """A request goes out."""
        ...

    def on_reply(
        self,
        now: float,
        sent_at: float,
        in_flight: int,
        status: int,
        headers: Mapping[str, str],
        latency: float,
    ) -> Reading:
        """A reply came; status 0: none will."""
        ...

    def why(self, now: float) -> Cause:
        """What holds the next request back."""
        ...

    def rate(self, now: float) -> float:
        """Requests a second at present."""
        ...

    @property
    def closed_until(self) -> float:
        """When it opens again; in the past if it is open."""
        ...


class Gate:
    """A node of the tree."""

    __slots__ = ("benched", "in_flight", "key", "limiter", "lineups", "used_s")

    def __init__(self, key: str, limiter: Limiter) -> None:
        self.key = key
        self.limiter = limiter
        self.in_flight = 0
        self.benched = ""
        """Why its credential is not to be used; empty while that is fine."""
        self.lineups: set[Lineup] = set()
        """Those that pass through here and have somebody waiting."""
        self.used_s = 0.0
        """When it was last passed, on the ledger's clock."""

    @property
    def name(self) -> str:
        """The provider, domain or host alone."""
        return self.key.partition(":")[2].partition("/")[0]

    def opens_at(self, now_s: float) -> float:
        """The earliest moment that the next request may pass; infinite: after some reply."""
        return self.limiter.gate(now_s, self.in_flight)

    def passed(self, now_s: float, *, transfer: bool) -> None:
        """A request goes out."""
        self.in_flight += transfer
        self.used_s = now_s
        self.limiter.on_send(now_s, self.in_flight)
