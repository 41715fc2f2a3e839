"""The permit of a request that was sent."""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from headgate.engine.gates.path import GatePath
from headgate.ports.gate import Cost, Feedback

NO_ANSWER = 0
"""The status of a request that was lost."""


class Departure(NamedTuple):
    """The circumstances under which a request was sent; times on the ledger's clock."""

    sent_s: float
    in_flight: int
    waited_s: float
    cause: str
    reserved: Cost
    """Its reservation in the learner's budget, as far as the cost is known."""
    transfer: bool


class GrantedPermit:
    """Reports what comes back to the gates that the request passed."""

    __slots__ = ("_departure", "_freed", "_gate_path", "_held", "_now", "_pool", "_reserved")

    def __init__(
        self,
        pool: Sequence[GatePath],
        gate_path: GatePath,
        departure: Departure,
        now: Callable[[], float],
        freed: Callable[..., None],
    ) -> None:
        self._pool = pool
        self._gate_path = gate_path
        self._departure = departure
        self._now = now
        self._freed = freed
        self._held = departure.transfer
        self._reserved = departure.reserved

    @property
    def credential(self) -> str | None:
        return self._gate_path.credential

    @property
    def waited_s(self) -> float:
        """Seconds that the request waited at gates."""
        return self._departure.waited_s

    @property
    def cause(self) -> str:
        return self._departure.cause

    def recalled(self) -> bool:
        """True if the learner has closed since the request was sent."""
        return self._gate_path.learner.limiter.closed_until > self._now()

    def answered(self, status: int, headers: Mapping[str, str], latency_s: float) -> Feedback:
        """Report to the gate that learns; a refusal may close it for every process."""
        sent = self._departure
        learner = self._gate_path.learner
        reading = learner.limiter.on_reply(
            self._now(), sent.sent_s, sent.in_flight, status, headers, latency_s
        )
        if reading.refused and learner.budget is not None:
            self._reserved = learner.budget.give_back(self._reserved)
        self._freed(learner)
        return Feedback(reading.refused, reading.retry_in_s, learner.name)

    def failed(self) -> None:
        """A lost request says nothing about the limit, but its place becomes free."""
        self.answered(NO_ANSWER, {}, self._now() - self._departure.sent_s)

    def withdraw(self) -> None:
        """Give the reservation and the place back."""
        budget = self._gate_path.learner.budget
        if budget is not None:
            self._reserved = budget.give_back(self._reserved)
        self.failed()
        self.release()

    def bench(self, reason: str) -> bool:
        """Stop using the credential; returns True if the pool has another."""
        self._gate_path.learner.benched = reason
        return any(not gate_path.learner.benched for gate_path in self._pool)

    def spend(self, cost: Cost) -> None:
        """Replace the estimate by the actual cost."""
        budget = self._gate_path.learner.budget
        if budget is not None:
            self._reserved = budget.settle(self._reserved, cost)
            self._freed(self._gate_path.learner)

    def release(self) -> None:
        """Free the place for the next request."""
        if self._held:
            self._held = False
            for gate in self._gate_path.gates:
                gate.in_flight -= 1
            self._freed(*self._gate_path.gates)
