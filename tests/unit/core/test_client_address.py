"""A client cannot choose the address that it is counted under."""

import pytest

from headgate.core.client_address import client_address, counted_as, is_trusted, networks_of

PROXIES = networks_of(("127.0.0.0/8", "::1", "10.1.0.0/16"))


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
        networks_of((text,))


def test_all_addresses_of_one_client_count_as_one():
    assert counted_as("2001:db8::1") == counted_as("2001:db8::ffff:2") == "2001:db8::/64"
    assert counted_as("2001:db8:0:1::1") != counted_as("2001:db8::1")
    assert counted_as("::ffff:192.0.2.1") == counted_as("192.0.2.1") == "192.0.2.1"
