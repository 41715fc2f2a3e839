"""The client's address: `X-Forwarded-For` counts only where a trusted proxy sent it."""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network


@lru_cache(maxsize=16)
def networks_of(texts: tuple[str, ...]) -> tuple[Network, ...]:
    """Addresses and networks such as `10.0.0.0/8`; ValueError if a text is neither."""
    return tuple(ip_network(text.strip(), strict=False) for text in texts)


def is_trusted(peer: str, trusted: Iterable[Network]) -> bool:
    """Whether the other end of a connection is a trusted proxy."""
    address = _address(peer)
    return address is not None and _is_in(address, trusted)


def client_address(peer: str, forwarded: Sequence[str], trusted: Sequence[Network]) -> str:
    """The address of the client.

    Each proxy appends the address of its own client at the right. So the list is read from the
    right while the address before is a trusted proxy; entries that a client wrote itself are
    further left and are never reached.
    """
    hops = [hop.strip() for line in forwarded for hop in line.split(",")]
    found = _address(peer)
    if found is None:
        return peer
    while hops and _is_in(found, trusted):
        address = _address(_without_port(hops.pop()))
        if address is None:
            break
        found = address
    return str(found)


def counted_as(address: str) -> str:
    """The key that logins from an address are counted under; for IPv6 the /64 of one client."""
    found = _address(address)
    if isinstance(found, IPv6Address):
        return str(ip_network((found, 64), strict=False))
    return address if found is None else str(found)


def _address(text: str) -> Address | None:
    try:
        address = ip_address(text.partition("%")[0])
    except ValueError:
        return None
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return mapped or address


def _is_in(address: Address, networks: Iterable[Network]) -> bool:
    return any(address in network for network in networks)


def _without_port(text: str) -> str:
    if text.startswith("["):
        return text[1:].partition("]")[0]
    return text.partition(":")[0] if text.count(":") == 1 else text
