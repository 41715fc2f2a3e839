"""The keys of gates in the ledger, and the names that users give them."""

import difflib
from collections.abc import Collection, Mapping, Sequence

from headgate.core.errors import UsageError
from headgate.core.provider import ProviderPolicy, provider_of
from headgate.core.url import BadUrl, host_key

GLOBAL = "global:all"
SHOWN = 12
"""Number of known names listed in the message for an unknown one."""


def gate_kind(key: str) -> str:
    """`provider`, `credential`, `through`, `domain`, `host` or `global`."""
    return key.partition(":")[0]


def gate_name(key: str) -> str:
    """The key without its kind, as users write it."""
    return "global" if key == GLOBAL else key.partition(":")[2] or key


def provider_in(key: str) -> str:
    """The provider that a gate belongs to; empty for a host without a provider."""
    return gate_name(key).partition("/")[0] if gate_kind(key) in {"provider", "credential"} else ""


def own_name(gate: str) -> str:
    """The provider or host of the gate that an item waits for; `gate` may be a key."""
    is_key = gate.startswith(("provider:", "credential:", "host:", "domain:"))
    return (provider_in(gate) or gate_name(gate)) if is_key else gate


def keys_of_provider(name: str, policy: ProviderPolicy) -> list[str]:
    """The gates that learn for a provider: one for each of its credentials, or its own."""
    return [f"credential:{name}/{each}" for each in policy.credentials] or [f"provider:{name}"]


def find_gates(
    name: str, known: Sequence[str], providers: Mapping[str, ProviderPolicy]
) -> list[str]:
    """The keys that a user means by a provider, a credential, a host or a full key.

    `known` are the keys that the ledger holds. A gate that is not in the ledger yet can be meant
    too, if its provider is declared or the name is a host.
    """
    name = name.strip()
    if name in {GLOBAL, gate_name(GLOBAL)}:
        return [GLOBAL]
    if name in known:
        return [name]
    found = [key for key in known if name and name in {gate_name(key), provider_in(key)}]
    if name in providers:
        found = list(dict.fromkeys([*found, *keys_of_provider(name, providers[name])]))
    found = found or _by_host(name, known, providers) or _by_key(name, providers)
    if not found:
        raise UsageError(_unknown(name, known, providers))
    return found


def _by_key(name: str, providers: Mapping[str, ProviderPolicy]) -> list[str]:
    """A full key, or `PROVIDER/CREDENTIAL`, of a gate that is not in the ledger yet."""
    declared = [key for each, policy in providers.items() for key in keys_of_provider(each, policy)]
    return [key for key in declared if name in {key, gate_name(key)}]


def _by_host(name: str, known: Sequence[str], providers: Mapping[str, ProviderPolicy]) -> list[str]:
    kind, _, rest = name.partition(":")
    text = rest if kind in {"host", "domain"} and rest else name
    try:
        host = host_key(text)
    except BadUrl:
        return []
    if "/" in text or not ("." in host or ":" in host or host == "localhost"):
        return []  # a single word is a misspelt provider, not a host
    there = [key for key in known if key in {f"host:{host}", f"domain:{host}"}]
    if kind in {"host", "domain"}:
        return there or [f"{kind}:{host}"]
    owner = provider_of(host, providers)
    return there or (keys_of_provider(owner, providers[owner]) if owner else [f"host:{host}"])


def _unknown(name: str, known: Sequence[str], providers: Collection[str]) -> str:
    names = list(dict.fromkeys([*map(gate_name, known), *providers]))
    close = difflib.get_close_matches(name, names, n=1)
    hint = f"; did you mean {close[0]!r}?" if close else "."
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    listed = f" Known: {', '.join(names[:SHOWN])}{more}." if names else ""
    return (
        f"no provider or host is known as {name!r}{hint}{listed}"
        f" Declare it as [providers.{name}] in headgate.toml, or name a host: api.example.org"
    )
