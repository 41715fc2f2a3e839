"""Which gates stand on a request's way, made when they are first needed."""

from collections.abc import Callable, Mapping

from headgate.core.ceiling import Ceilings
from headgate.core.provider import ProviderPolicy
from headgate.engine.gates.gate import Gate, Limiter
from headgate.engine.gates.way import Way
from headgate.ports.gate import Route

NewLimiter = Callable[[Ceilings], Limiter]


class Ways:
    """Gates by key: `provider:NAME`, `credential:NAME/CREDENTIAL`, `host:HOST`.

    One gate on each way learns: that of the credential, else of the provider, else of the host.
    The others are there only if something is configured for them.
    """

    def __init__(
        self,
        providers: Mapping[str, ProviderPolicy],
        learner: NewLimiter,
        ceiling: NewLimiter,
        longest_wait_s: float = 3_600.0,
        on_new: Callable[[Gate], None] = lambda _: None,
    ) -> None:
        self._providers = providers
        self._longest_wait_s = longest_wait_s
        self._on_new = on_new
        self._learner = learner
        self._ceiling = ceiling
        self.gates: dict[str, Gate] = {}

    def to(self, route: Route) -> list[Way]:
        """All ways to a host: several where the provider has a pool of credentials."""
        policy = self._providers.get(route.provider)
        if policy is None or not route.provider:
            nothing = Ceilings(longest_wait_s=self._longest_wait_s)
            gate = self._gate(f"host:{route.host}", nothing, self._learner)
            return [Way((gate,), gate, None)]
        shared = self._per_host(route, policy)
        whole = Ceilings(
            limits=policy.limits,
            burst=policy.burst or 1,
            concurrency=policy.concurrency,
            refusals=policy.refusals,
            longest_wait_s=self._longest_wait_s,
        )
        if not policy.credentials:
            gate = self._gate(f"provider:{route.provider}", whole, self._learner)
            return [Way((gate, *shared), gate, None)]
        return [
            self._by_credential(route.provider, name, whole, shared) for name in policy.credentials
        ]

    def _by_credential(self, provider: str, name: str, whole: Ceilings, shared: list[Gate]) -> Way:
        """A provider's limits are told for each of its credentials."""
        gate = self._gate(f"credential:{provider}/{name}", whole, self._learner)
        return Way((gate, *shared), gate, name)

    def _per_host(self, route: Route, policy: ProviderPolicy) -> list[Gate]:
        if policy.concurrency_per_host is None:
            return []
        ceilings = Ceilings(concurrency=policy.concurrency_per_host)
        return [self._gate(f"host:{route.host}", ceilings, self._ceiling)]

    def _gate(self, key: str, ceilings: Ceilings, make: NewLimiter) -> Gate:
        gate = self.gates.get(key)
        if gate is None:
            gate = self.gates[key] = Gate(key, make(ceilings))
            self._on_new(gate)
        return gate
