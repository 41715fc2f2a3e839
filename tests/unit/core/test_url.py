"""URLs of the same place have the same normal form."""

from urllib.parse import unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.core.fault import Fault, FaultClass
from headgate.core.url import (
    BadUrl,
    UrlOrigin,
    host_key,
    normalize,
    normalize_rest,
    parse_origin,
    registrable_domain,
    short_url,
)


@pytest.mark.parametrize(
    ("written", "normal"),
    [
        ("https://Example.COM", "https://example.com/"),
        ("HTTPS://example.com:443/a", "https://example.com/a"),
        ("http://example.com:80/a", "http://example.com/a"),
        ("http://example.com:443/a", "http://example.com:443/a"),
        ("http://example.com:/a", "http://example.com/a"),
        ("http://example.com./a", "http://example.com/a"),
        ("  http://example.com/a \n", "http://example.com/a"),
        ("http://example.com/a#part", "http://example.com/a"),
        ("http://example.com?q=1", "http://example.com/?q=1"),
        ("http://example.com/a b?", "http://example.com/a%20b?"),
        ("http://example.com/\ud800", "http://example.com/%3F"),
        ("http://example.com/a b/ü", "http://example.com/a%20b/%C3%BC"),
        ("http://example.com/a%2fb", "http://example.com/a%2Fb"),
        ("http://example.com/100%", "http://example.com/100%25"),
        ("http://example.com/?q=a b&r=ü", "http://example.com/?q=a%20b&r=%C3%BC"),
        ("http://example.com/?to=http://x/y?z", "http://example.com/?to=http://x/y?z"),
        ("http://example.com/a/./b/../c", "http://example.com/a/c"),
        ("http://example.com/a/..", "http://example.com/"),
        ("http://example.com/a/b/.", "http://example.com/a/b/"),
        ("http://example.com/../../a", "http://example.com/a"),
        ("http://example.com//evil.org/./a", "http://example.com//evil.org/a"),
        ("http://example.com/.well-known/a", "http://example.com/.well-known/a"),
        ("http://example.com\\evil", "http://example.com/%5Cevil"),
        ("http://bücher.example/", "http://xn--bcher-kva.example/"),
        ("http://BÜCHER.example/", "http://xn--bcher-kva.example/"),
        ("http://[2001:DB8:0:0::1]:8080/", "http://[2001:db8::1]:8080/"),
        ("http://under_score.example/", "http://under_score.example/"),
    ],
)
def test_a_url_has_one_form(written: str, normal: str):
    assert normalize(written) == normal


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1",
        "2130706433",
        "0x7f000001",
        "0x7f.1",
        "0177.0.0.1",
        "127.1",
        "127.0.0.1.",
        "0X7F.0.1",
    ],
)
def test_an_address_in_any_notation_is_that_address(host: str):
    assert normalize(f"http://{host}/") == "http://127.0.0.1/"
    assert parse_origin(f"http://{host}").is_address


@pytest.mark.parametrize(
    ("url", "problem"),
    [
        ("", "must begin with http"),
        ("example.com/a", "must begin with http"),
        ("ftp://example.com/", "must begin with http"),
        ("file:///etc/passwd", "must begin with http"),
        ("http://", "names no host"),
        ("http:///a", "names no host"),
        ("http://user:secret@example.com/", "may not carry a user"),
        ("http://a b/", "is not a host name"),
        ("http://-a.example/", "is not a host name"),
        ("http://a..b/", "is not a host name"),
        ("http://" + "a" * 64 + ".example/", "is not a host name"),
        ("http://" + "a." * 130 + "example/", "is not a host name"),
        ("http://\u2665\ufe0e.\u0301/", "is not a host name"),
        ("http://example.com:0/", "is not a port"),
        ("http://example.com:65536/", "is not a port"),
        ("http://example.com:http/", "is not a port"),
        ("http://[::1/", "is no"),
        ("http://[::g]/", "is not an IPv6 address"),
        ("http://256.1.1.1/", "is not an IPv4 address"),
        ("http://1.2.3.4.5/", "is not an IPv4 address"),
        ("http://a.1/", "is not an IPv4 address"),
        ("http://1.2.3.08/", "is not an IPv4 address"),
        ("http://4294967296/", "is not an IPv4 address"),
    ],
)
def test_an_invalid_url_is_a_permanent_fault(url: str, problem: str):
    with pytest.raises(BadUrl, match=problem) as caught:
        normalize(url)
    assert isinstance(caught.value.ending, Fault)
    assert caught.value.ending.kind is FaultClass.PERMANENT


def test_no_message_contains_a_password():
    with pytest.raises(BadUrl) as caught:
        normalize("http://user:secret@example.com/?key=secret")
    assert "secret" not in str(caught.value)
    assert short_url("https://me:secret@host/a?key=secret") == "https://host/a"
    assert len(short_url("https://host/" + "a" * 1000)) == 200


@given(st.text(max_size=60))
def test_a_normal_form_is_its_own_normal_form(rest: str):
    once = normalize_rest(rest)
    assert once.startswith("/")
    assert once.isascii()
    assert once.isprintable()
    assert normalize_rest(once) == once


@given(st.text(alphabet=st.characters(blacklist_characters="#?%", blacklist_categories=["Cs"])))
def test_quoting_changes_nothing_that_a_server_would_read(path: str):
    if "/." not in f"/{path}":
        assert unquote(normalize_rest(f"/{path}")) == f"/{path}"


@pytest.mark.parametrize(
    ("origin", "key"),
    [
        (UrlOrigin("https", "example.com", 443), "example.com"),
        (UrlOrigin("http", "example.com", 8080), "example.com:8080"),
        (UrlOrigin("http", "::1", 80, is_address=True), "[::1]"),
        (UrlOrigin("https", "::1", 80, is_address=True), "[::1]:80"),
    ],
)
def test_a_host_is_named_without_its_default_port(origin: UrlOrigin, key: str):
    assert origin.key == key


def test_a_host_may_be_written_in_several_forms():
    assert host_key(" API.Example.org ") == "api.example.org"
    assert host_key("api.example.org:8443") == "api.example.org:8443"


class Suffixes:
    def privatesuffix(self, domain: str) -> str | None:
        return None if domain == "co.uk" else ".".join(domain.split(".")[-3:])


def test_hosts_are_grouped_by_registrable_domain():
    def domain(url: str) -> str:
        return registrable_domain(parse_origin(url), Suffixes())

    assert domain("https://a.b.example.co.uk") == "example.co.uk"
    assert domain("https://co.uk") == "co.uk"
    assert domain("https://10.1.2.3") == "10.1.2.3"
