"""One gate as this process sees it: its limit, and the requests in flight."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Protocol

from headgate.core.gates.budget import Cap
from headgate.core.gates.budget_share import BudgetShare
from headgate.core.gates.state import HostDown
from headgate.core.pacing.state import Cause, PaceReading
from headgate.ports.gate import Cost

if TYPE_CHECKING:
    from headgate.engine.gates.wait_queue import WaitQueue


class Limiter(Protocol):
    """Decides when the next request may be sent; times are on the ledger's clock."""

    def gate(self, now: float, in_flight: int) -> float:
        """The earliest time to send; now: at once; infinite: after some reply."""
        ...

    def on_send(self, now: float, in_flight: int) -> None: ...

    def on_reply(
        self,
        now: float,
        sent_at: float,
        in_flight: int,
        status: int,
        headers: Mapping[str, str],
        latency: float,
    ) -> PaceReading:
        """A reply arrived; status 0 means that none will."""
        ...

    def why(self, now: float) -> Cause: ...

    def rate(self, now: float) -> float:
        """Requests a second at present."""
        ...

    @property
    def closed_until(self) -> float:
        """When it opens again; in the past if it is open."""
        ...


class LocalGate:
    __slots__ = (
        "answered",
        "benched",
        "budget",
        "down",
        "in_flight",
        "key",
        "limiter",
        "used_s",
        "wait_queues",
    )

    def __init__(self, key: str, limiter: Limiter, budget: BudgetShare | None = None) -> None:
        self.key = key
        self.limiter = limiter
        self.budget = budget
        self.in_flight = 0
        self.down: dict[str, HostDown] = {}
        """Hosts behind it that do not answer, and when each is asked again."""
        self.answered: set[str] = set()
        """Hosts behind it that have ever answered this or another process."""
        self.benched = ""
        """The reason not to use its credential; empty if the credential works."""
        self.wait_queues: set[WaitQueue] = set()
        """The queues through this gate in which a request waits."""
        self.used_s = 0.0
        """When a request last passed, on the ledger's clock."""

    @property
    def name(self) -> str:
        return self.key.partition(":")[2].partition("/")[0]

    def opens_at(self, now_s: float, cost: Cost) -> float:
        opens_at = self.limiter.gate(now_s, self.in_flight)
        if self.budget is None:
            return opens_at
        return max(opens_at, self.budget.opens_at(now_s, cost))

    def why(self, now_s: float) -> str:
        spent = self._spent(now_s)
        if spent is None or spent[1] < self.limiter.closed_until:
            return self.limiter.why(now_s).words
        return f"{Cause.BUDGET.value}: {spent[0].words} are spent"

    def spent_until(self, now_s: float) -> float:
        """When the window of a spent hard cap ends; in the past if none is spent."""
        spent = self._spent(now_s)
        return spent[1] if spent and spent[0].hard else 0.0

    def closed_until(self, now_s: float) -> float:
        spent = self._spent(now_s)
        return max(self.limiter.closed_until, spent[1] if spent else 0.0)

    def _spent(self, now_s: float) -> tuple[Cap, float] | None:
        return None if self.budget is None else self.budget.spent_cap(now_s)

    def passed(self, now_s: float, *, transfer: bool) -> None:
        self.in_flight += transfer
        self.used_s = now_s
        self.limiter.on_send(now_s, self.in_flight)
