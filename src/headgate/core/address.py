"""Network addresses: where a URL from data may lead, and the address of a client.

A URL from data may lead only to the public internet. The refused ranges are from the IANA
special-purpose registries for IPv4 and IPv6: a request to them would stay inside this machine or
this network, or would reach no host.

The address of a client is that of its connection; `X-Forwarded-For` counts only where a trusted
proxy sent it.
"""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Final

Address = IPv4Address | IPv6Address

_IPV4: Final = tuple(
    (IPv4Network(network), kind)
    for network, kind in (
        ("0.0.0.0/8", "unspecified"),
        ("10.0.0.0/8", "private"),
        ("100.64.0.0/10", "shared by a carrier"),
        ("127.0.0.0/8", "loopback"),
        ("168.63.129.16/32", "a cloud's metadata service"),
        ("169.254.0.0/16", "link-local"),
        ("172.16.0.0/12", "private"),
        ("192.0.0.0/24", "reserved"),
        ("192.0.2.0/24", "reserved for examples"),
        ("192.88.99.0/24", "reserved"),
        ("192.168.0.0/16", "private"),
        ("198.18.0.0/15", "reserved for measurements"),
        ("198.51.100.0/24", "reserved for examples"),
        ("203.0.113.0/24", "reserved for examples"),
        ("224.0.0.0/4", "multicast"),
        ("240.0.0.0/4", "reserved"),
    )
)
_IPV6: Final = tuple(
    (IPv6Network(network), kind)
    for network, kind in (
        ("::/128", "unspecified"),
        ("::1/128", "loopback"),
        ("::/96", "reserved"),
        ("64:ff9b:1::/48", "private"),
        ("100::/32", "reserved"),
        ("2001::/23", "reserved"),
        ("2001:db8::/32", "reserved for examples"),
        ("2002::/16", "reserved"),
        ("3fff::/20", "reserved for examples"),
        ("5f00::/16", "reserved"),
        ("fc00::/7", "private"),
        ("fe80::/10", "link-local"),
        ("fec0::/10", "private"),
        ("ff00::/8", "multicast"),
    )
)
_NAT64: Final = IPv6Network("64:ff9b::/96")


def address_refusal(text: str) -> str | None:
    """Why a guarded request may not go to this address; None if it may."""
    try:
        # A zone (`fe80::1%eth0`) names a network interface of this machine, not another address.
        address = ip_address(text.partition("%")[0])
    except ValueError:
        return "not an address"
    return _refusal(address)


def _refusal(address: Address) -> str | None:
    if isinstance(address, IPv6Address):
        inside = _embedded_ipv4(address)
        if inside is not None:
            return _refusal(inside)
        return next((kind for network, kind in _IPV6 if address in network), None)
    return next((kind for network, kind in _IPV4 if address in network), None)


def _embedded_ipv4(address: IPv6Address) -> IPv4Address | None:
    """The IPv4 address that an IPv6 address stands for, if it does."""
    if address in _NAT64:
        return IPv4Address(int(address) & 0xFFFF_FFFF)
    return address.ipv4_mapped


Network = IPv4Network | IPv6Network


# ---- clients behind proxies ---------------------------------------------------------------------


@lru_cache(maxsize=16)
def parse_networks(texts: tuple[str, ...]) -> tuple[Network, ...]:
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


def login_address(address: str) -> str:
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
