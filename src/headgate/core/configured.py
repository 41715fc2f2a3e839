"""What the settings say of a gate."""

from collections.abc import Mapping

import msgspec

from headgate.core.gate_key import kind_of, name_of, provider_in
from headgate.core.gate_policy import GatePolicy
from headgate.core.provider import ProviderPolicy, provider_of

UNKNOWN = ProviderPolicy()


class Configured(msgspec.Struct, frozen=True):
    """All settings that gates are made from."""

    providers: Mapping[str, ProviderPolicy]
    gates: GatePolicy = GatePolicy()

    def of(self, key: str) -> ProviderPolicy:
        """What holds at a gate, as if it were a provider by itself."""
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
