"""A URL from data leads to the public internet or nowhere."""

from ipaddress import IPv4Address, IPv6Address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.core.address import (
    address_refusal,
    client_address,
    is_trusted,
    login_address,
    parse_networks,
)


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
    assert address_refusal(address) == kind


@pytest.mark.parametrize(
    "address", ["1.1.1.1", "93.184.215.14", "172.32.0.1", "100.128.0.1", "2606:4700::1111"]
)
def test_public_addresses_pass(address: str):
    assert address_refusal(address) is None


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
    assert address_refusal(address) == kind


def test_what_is_not_an_address_is_refused():
    assert address_refusal("localhost") == "not an address"


@given(st.ip_addresses())
def test_an_address_that_python_calls_private_or_multicast_is_refused(
    address: IPv4Address | IPv6Address,
):
    if address.is_loopback or address.is_private or address.is_multicast or address.is_link_local:
        assert address_refusal(str(address)) is not None


PROXIES = parse_networks(("127.0.0.0/8", "::1", "10.1.0.0/16"))


@pytest.mark.parametrize(
    ("peer", "forwarded", "client"),
    [
        ("203.0.113.9", [], "203.0.113.9"),
        ("203.0.113.9", ["192.0.2.1"], "203.0.113.9"),  # it is not a proxy of ours
        ("127.0.0.1", [], "127.0.0.1"),
        ("127.0.0.1", ["192.0.2.1"], "192.0.2.1"),
        ("::1", ["192.0.2.1"], "192.0.2.1"),
        ("::ffff:127.0.0.1", ["192.0.2.1"], "192.0.2.1"),
        ("127.0.0.1", ["6.6.6.6, 192.0.2.1"], "192.0.2.1"),  # the client wrote 6.6.6.6
        ("127.0.0.1", ["6.6.6.6", "192.0.2.1"], "192.0.2.1"),
        ("127.0.0.1", ["6.6.6.6, 192.0.2.1, 10.1.2.3"], "192.0.2.1"),  # two proxies of ours
        ("127.0.0.1", ["10.1.2.3, 10.1.2.4"], "10.1.2.3"),
        ("127.0.0.1", ["127.0.0.1, 192.0.2.1"], "192.0.2.1"),
        ("127.0.0.1", ["192.0.2.1:5123"], "192.0.2.1"),
        ("127.0.0.1", ["[2001:db8::1]:443"], "2001:db8::1"),
        ("127.0.0.1", ["2001:db8::1"], "2001:db8::1"),
        ("127.0.0.1", ["192.0.2.1, unknown"], "127.0.0.1"),
        ("127.0.0.1", ["", " , "], "127.0.0.1"),
        ("", ["192.0.2.1"], ""),
    ],
)
def test_only_a_trusted_proxy_names_the_client(peer: str, forwarded: list[str], client: str):
    assert client_address(peer, forwarded, PROXIES) == client


def test_without_trusted_proxies_the_header_means_nothing():
    assert client_address("127.0.0.1", ["192.0.2.1"], ()) == "127.0.0.1"
    assert not is_trusted("127.0.0.1", ())


@pytest.mark.parametrize("text", ["nothing", "10.0.0.0/33", ""])
def test_what_is_neither_an_address_nor_a_network_is_refused(text: str):
    with pytest.raises(ValueError, match="does not appear"):
        parse_networks((text,))


def test_all_addresses_of_one_client_count_as_one():
    assert login_address("2001:db8::1") == login_address("2001:db8::ffff:2") == "2001:db8::/64"
    assert login_address("2001:db8:0:1::1") != login_address("2001:db8::1")
    assert login_address("::ffff:192.0.2.1") == login_address("192.0.2.1") == "192.0.2.1"
