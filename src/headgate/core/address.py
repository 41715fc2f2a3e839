"""Which network addresses a URL from data may lead to: only addresses of the public internet.

The ranges are from the IANA special-purpose registries for IPv4 and IPv6. A request to them would
stay inside this machine or this network, or would reach no host.
"""

from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
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


def refusal_of(text: str) -> str | None:
    """Why a guarded request may not go to this address; None if it may."""
    try:
        # A zone (`fe80::1%eth0`) names a network interface of this machine, not another address.
        address = ip_address(text.partition("%")[0])
    except ValueError:
        return "not an address"
    return _refusal(address)


def _refusal(address: Address) -> str | None:
    if isinstance(address, IPv6Address):
        inside = _inside(address)
        if inside is not None:
            return _refusal(inside)
        return next((kind for network, kind in _IPV6 if address in network), None)
    return next((kind for network, kind in _IPV4 if address in network), None)


def _inside(address: IPv6Address) -> IPv4Address | None:
    """The IPv4 address that an IPv6 address stands for, if it does."""
    if address in _NAT64:
        return IPv4Address(int(address) & 0xFFFF_FFFF)
    return address.ipv4_mapped
