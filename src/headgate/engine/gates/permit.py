"""A request that was let out."""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from headgate.engine.gates.path import GatePath
from headgate.ports.gate import Cost, Feedback

NO_ANSWER = 0
"""The status of a request that was lost."""


class Departure(NamedTuple):
    """When and how a request went out."""

    sent_s: float
    in_flight: int
    waited_s: float
    cause: str
    reserved: Cost
    """What it takes of the learner's budget, as far as is known."""
    transfer: bool


class GrantedPermit:
    """Carries what comes back to the gates that it passed."""

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
        """The name of the credential to send."""
        return self._gate_path.credential

    @property
    def waited_s(self) -> float:
        """How long it stood before the gates."""
        return self._departure.waited_s

    @property
    def cause(self) -> str:
        """What it waited for."""
        return self._departure.cause

    def recalled(self) -> bool:
        """Whether the learner has closed since."""
        return self._gate_path.learner.limiter.closed_until > self._now()

    def answered(self, status: int, headers: Mapping[str, str], latency_s: float) -> Feedback:
        """Tell the gate that learns; a refusal may close it for everyone."""
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
        """No answer is no signal, but nobody need wait for it any longer."""
        self.answered(NO_ANSWER, {}, self._now() - self._departure.sent_s)

    def withdraw(self) -> None:
        """Give everything back."""
        budget = self._gate_path.learner.budget
        if budget is not None:
            self._reserved = budget.give_back(self._reserved)
        self.failed()
        self.release()

    def bench(self, reason: str) -> bool:
        """Use the credential no more; whether the pool has another."""
        self._gate_path.learner.benched = reason
        return any(not gate_path.learner.benched for gate_path in self._pool)

    def spend(self, cost: Cost) -> None:
        """Replace the estimate by the actual cost."""
        budget = self._gate_path.learner.budget
        if budget is not None:
            self._reserved = budget.settle(self._reserved, cost)
            self._freed(self._gate_path.learner)

    def release(self) -> None:
        """Let the next one in."""
        if self._held:
            self._held = False
            for gate in self._gate_path.gates:
                gate.in_flight -= 1
            self._freed(*self._gate_path.gates)
