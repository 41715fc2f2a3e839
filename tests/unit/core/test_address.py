"""A URL from data leads to the public internet or nowhere."""

from ipaddress import IPv4Address, IPv6Address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.core.address import refusal_of


@pytest.mark.parametrize(
    ("address", "kind"),
    [
        ("127.0.0.1", "loopback"),
        ("127.255.255.254", "loopback"),
        ("0.0.0.0", "unspecified"),
        ("10.1.2.3", "private"),
        ("172.16.0.1", "private"),
        ("172.31.255.255", "private"),
        ("192.168.1.1", "private"),
        ("100.64.0.1", "shared by a carrier"),
        ("100.100.100.200", "shared by a carrier"),
        ("169.254.169.254", "link-local"),
        ("168.63.129.16", "a cloud's metadata service"),
        ("192.0.0.192", "reserved"),
        ("224.0.0.251", "multicast"),
        ("255.255.255.255", "reserved"),
        ("::", "unspecified"),
        ("::1", "loopback"),
        ("::7f00:1", "reserved"),
        ("fe80::1%eth0", "link-local"),
        ("fd00:ec2::254", "private"),
        ("fec0::1", "private"),
        ("ff02::1", "multicast"),
        ("2001:db8::1", "reserved for examples"),
        ("2002:7f00:1::", "reserved"),
        ("64:ff9b:1::a00:1", "private"),
    ],
)
def test_special_addresses_are_refused_by_name(address: str, kind: str):
    assert refusal_of(address) == kind


@pytest.mark.parametrize(
    "address", ["1.1.1.1", "93.184.215.14", "172.32.0.1", "100.128.0.1", "2606:4700::1111"]
)
def test_public_addresses_pass(address: str):
    assert refusal_of(address) is None


@pytest.mark.parametrize(
    ("address", "kind"),
    [
        ("::ffff:127.0.0.1", "loopback"),
        ("::ffff:10.0.0.1", "private"),
        ("::ffff:1.1.1.1", None),
        ("64:ff9b::7f00:1", "loopback"),
        ("64:ff9b::a9fe:a9fe", "link-local"),
        ("64:ff9b::101:101", None),
    ],
)
def test_an_address_within_an_address_is_what_counts(address: str, kind: str | None):
    assert refusal_of(address) == kind


def test_what_is_no_address_is_refused():
    assert refusal_of("localhost") == "not an address"


@given(st.ip_addresses())
def test_what_python_calls_private_or_multicast_is_never_let_through(
    address: IPv4Address | IPv6Address,
):
    if address.is_loopback or address.is_private or address.is_multicast or address.is_link_local:
        assert refusal_of(str(address)) is not None
