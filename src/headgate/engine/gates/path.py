"""The gates that a request passes, and the permit that reports its reply to them."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from headgate.core.gates.budget import parse_caps
from headgate.core.gates.budget_share import BudgetShare
from headgate.core.gates.config import GatePolicy
from headgate.core.provider import ProviderPolicy
from headgate.core.rate import Ceilings
from headgate.engine.gates.gate import Limiter, LocalGate
from headgate.ports.gate import Cost, Feedback, Route


class GatePath:
    __slots__ = ("credential", "gates", "learner")

    def __init__(
        self, gates: Iterable[LocalGate], learner: LocalGate, credential: str | None
    ) -> None:
        self.gates = tuple(gates)
        self.learner = learner
        """The gate whose limit is learned from answers; the others are only configured."""
        self.credential = credential

    def opens_at(self, now_s: float, cost: Cost) -> tuple[float, LocalGate]:
        """When all gates let one request pass, and the gate that opens last."""
        slowest = self.gates[0]
        opens_at = slowest.opens_at(now_s, cost)
        for gate in self.gates[1:]:
            at_s = gate.opens_at(now_s, cost)
            if at_s > opens_at:
                opens_at, slowest = at_s, gate
        return opens_at, slowest

    def pass_all(self, now_s: float, *, transfer: bool) -> int:
        """Send a request; returns the transfers that the learner then has in flight."""
        for gate in self.gates:
            gate.passed(now_s, transfer=transfer)
        return self.learner.in_flight


NewLearner = Callable[[Ceilings, BudgetShare | None], Limiter]
NewCeiling = Callable[[Ceilings], Limiter]
UNKNOWN = ProviderPolicy()


class GatePaths:
    """Gates by key: `global:all`, `provider:NAME`, `credential:NAME/CREDENTIAL`, `host:HOST`...

    `through:NAME` caps requests to other hosts whose URLs this provider has named.

    One gate on each path learns: the credential's, else the provider's, else the host's. The others
    exist only if something is configured for them.
    """

    def __init__(
        self,
        providers: Mapping[str, ProviderPolicy],
        policy: GatePolicy,
        learner: NewLearner,
        ceiling: NewCeiling,
        on_new: Callable[[LocalGate], None] = lambda _: None,
    ) -> None:
        self._providers = providers
        self._policy = policy
        self._on_new = on_new
        self._learner = learner
        self._ceiling = ceiling
        self.gates: dict[str, LocalGate] = {}

    def to(self, route: Route) -> list[GatePath]:
        policy = self._providers.get(route.provider or route.manners, UNKNOWN)
        everywhere = self._everywhere(route, policy)
        if not route.provider:
            most = policy.concurrency_per_host or self._policy.concurrency_per_host
            gate = self._learns(f"host:{route.host}", policy, most)
            return [GatePath((*everywhere, gate), gate, None)]
        shared = (*everywhere, *self._per_host(route, policy))
        if not policy.credentials:
            gate = self._learns(f"provider:{route.provider}", policy, policy.concurrency)
            return [GatePath((*shared, gate), gate, None)]
        # A provider declares its limits for each of its credentials.
        pool = {
            name: self._learns(f"credential:{route.provider}/{name}", policy, policy.concurrency)
            for name in policy.credentials
        }
        return [GatePath((*shared, gate), gate, name) for name, gate in pool.items()]

    def _learns(self, key: str, policy: ProviderPolicy, concurrency: int | None) -> LocalGate:
        caps = parse_caps(policy.budget, policy.hard_caps)
        ceilings = Ceilings(
            limits=policy.limits,
            burst=policy.burst or 1,
            concurrency=concurrency,
            refusals=policy.refusals,
            longest_wait_s=self._policy.longest_wait_s,
        )
        allowance = BudgetShare(caps) if caps else None
        return self._gate(
            key, lambda: LocalGate(key, self._learner(ceilings, allowance), allowance)
        )

    def _everywhere(self, route: Route, own: ProviderPolicy) -> list[LocalGate]:
        """The gates for all requests, for requests through one provider, and for one domain."""
        policy = self._policy
        gates = []
        if policy.rate or policy.concurrency:
            limits = Ceilings(limits=policy.limits, concurrency=policy.concurrency)
            gates.append(self._keeps("global:all", limits))
        if most := self._providers.get(route.through, UNKNOWN).concurrency:
            gates.append(self._keeps(f"through:{route.through}", Ceilings(concurrency=most)))
        if most := own.concurrency_per_domain or policy.concurrency_per_domain:
            limits = Ceilings(concurrency=most)
            gates.append(self._keeps(f"domain:{route.domain}", limits))
        return gates

    def _per_host(self, route: Route, policy: ProviderPolicy) -> list[LocalGate]:
        most = policy.concurrency_per_host or self._policy.concurrency_per_host
        return [self._keeps(f"host:{route.host}", Ceilings(concurrency=most))] if most else []

    def _keeps(self, key: str, ceilings: Ceilings) -> LocalGate:
        return self._gate(key, lambda: LocalGate(key, self._ceiling(ceilings)))

    def _gate(self, key: str, make: Callable[[], LocalGate]) -> LocalGate:
        gate = self.gates.get(key)
        if gate is None:
            gate = self.gates[key] = make()
            self._on_new(gate)
        return gate


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
        return self._departure.waited_s

    @property
    def cause(self) -> str:
        return self._departure.cause

    def recalled(self) -> bool:
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
        budget = self._gate_path.learner.budget
        if budget is not None:
            self._reserved = budget.give_back(self._reserved)
        self.failed()
        self.release()

    def bench(self, reason: str) -> bool:
        self._gate_path.learner.benched = reason
        return any(not gate_path.learner.benched for gate_path in self._pool)

    def spend(self, cost: Cost) -> None:
        budget = self._gate_path.learner.budget
        if budget is not None:
            self._reserved = budget.settle(self._reserved, cost)
            self._freed(self._gate_path.learner)

    def release(self) -> None:
        if self._held:
            self._held = False
            for gate in self._gate_path.gates:
                gate.in_flight -= 1
            self._freed(*self._gate_path.gates)
