"""The address of a URL from data is checked when the connection is opened."""

import socket
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.core.address import address_refusal
from headgate.core.call import CallKind
from headgate.core.fault import Fault, FaultClass
from headgate.net import connections
from headgate.net.connections import GuardedResolver, guarded_socket, head_of, split_url
from headgate.net.failure import AddressRefused
from headgate.net.policy import NetPolicy
from headgate.ports.wire import WireRequest
from tests.kit.answers import always, redirect
from tests.kit.http import Bench, bench
from tests.kit.provider import Provider

Resolve = Callable[..., object]


async def refused(cli: Bench, url: str) -> AddressRefused:
    with pytest.raises(AddressRefused) as caught:
        await cli.client(guarded=True).get(url)
    assert isinstance(caught.value.ending, Fault)
    assert caught.value.ending.kind is FaultClass.PERMANENT
    return caught.value


def resolving_to(monkeypatch: pytest.MonkeyPatch, *addresses: str) -> None:
    """Let every name have these addresses."""

    def getaddrinfo(*_: object, **__: object) -> list[object]:
        return [
            (
                socket.AF_INET6 if ":" in address else socket.AF_INET,
                socket.SOCK_STREAM,
                6,
                "",
                (address, 80, 0, 0) if ":" in address else (address, 80),
            )
            for address in addresses
        ]

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "localhost", "2130706433", "0x7f.1", "0177.0.0.1", "127.1", "0"]
)
async def test_no_way_of_writing_it_leads_to_ourselves(provider: Provider, host: str):
    async with bench() as cli:
        error = await refused(cli, provider.url(host=host))
    assert "address refused" in str(error)
    assert "net.allow_private" in str(error)
    assert provider.connections == 0


@pytest.mark.parametrize(
    "url",
    [
        "http://169.254.169.254/latest/meta-data/",
        "http://[::1]/",
        "http://[::ffff:127.0.0.1]/",
        "http://[64:ff9b::a9fe:a9fe]/",
        "http://[fd00:ec2::254]/",
        "http://0.0.0.0/",
        "http://10.0.0.1/",
        "http://224.0.0.1/",
    ],
)
async def test_special_addresses_are_not_connected_to(url: str):
    async with bench() as cli:
        await refused(cli, url)
        [call] = cli.calls
    assert (call.kind, call.status) == (CallKind.FAILED, 0)
    assert "address refused" in call.cause


async def test_a_name_is_judged_by_its_address_at_the_moment_of_connecting(
    provider: Provider, monkeypatch: pytest.MonkeyPatch
):
    """A name that was public a moment ago and now leads inside (DNS rebinding)."""
    resolving_to(monkeypatch, "127.0.0.1")
    async with bench() as cli:
        error = await refused(cli, provider.url(host="rebound.example"))
    assert "rebound.example is loopback" in str(error)
    assert "127.0.0.1" not in str(error)
    assert provider.connections == 0


async def test_a_name_keeps_its_public_addresses(monkeypatch: pytest.MonkeyPatch):
    resolving_to(monkeypatch, "10.0.0.1", "93.184.215.14", "fd00::1", "2606:4700::1111")
    resolver = GuardedResolver()
    found = await resolver.resolve("mixed.example", 80, socket.AF_UNSPEC)
    assert [one["host"] for one in found] == ["93.184.215.14", "2606:4700::1111"]
    await resolver.close()


def test_a_socket_is_opened_only_to_a_public_address():
    address = (socket.AF_INET, socket.SOCK_STREAM, 6, "", ("93.184.215.14", 80))
    guarded_socket(address).close()
    with pytest.raises(AddressRefused):
        guarded_socket((socket.AF_INET, socket.SOCK_STREAM, 6, "", ("10.0.0.1", 80)))


async def test_every_redirect_is_judged_again(provider: Provider, monkeypatch: pytest.MonkeyPatch):
    def all_but_our_server(address: str) -> str | None:
        return None if address == "127.0.0.1" else address_refusal(address)

    monkeypatch.setattr(connections, "address_refusal", all_but_our_server)
    provider.script = always(redirect("http://169.254.169.254/latest/meta-data/"))
    async with bench() as cli:
        await refused(cli, provider.url())
    assert len(provider.seen) == 1


async def test_an_unchecked_connection_is_not_used_for_a_guarded_request(
    provider: Provider,
):
    async with bench() as cli:
        await cli.client().get(provider.url())
        assert provider.connections == 1
        await refused(cli, provider.url())
    assert len(provider.seen) == 1


async def test_a_users_own_handler_is_not_guarded(provider: Provider):
    async with bench() as cli:
        answer = await cli.client().get(provider.url())
    assert answer.text == "hello"


async def test_a_setting_switches_the_guard_off(provider: Provider):
    async with bench(policy=NetPolicy(allow_private=True)) as cli:
        answer = await cli.client(guarded=True).get(provider.url())
    assert answer.text == "hello"


LINE = st.text(st.characters(blacklist_categories=["Cs"]), max_size=20)


def lines_of(request: WireRequest, target: str = "/") -> list[bytes]:
    head = head_of(request, "example.org", target)
    assert head.endswith(b"\r\n\r\n")
    return head[:-4].split(b"\r\n")


@pytest.mark.parametrize(
    ("url", "parts"),
    [
        ("https://example.org/a/b?c=/d", ("https://example.org", "/a/b?c=/d")),
        ("http://[::1]:8080/", ("http://[::1]:8080", "/")),
        ("http://a/b?c#d/e", ("http://a", "/b?c")),
        ("http://example.org", ("http://example.org", "/")),
    ],
)
def test_a_url_is_a_host_and_what_it_is_asked_for(url: str, parts: tuple[str, str]):
    assert split_url(url) == parts


def test_a_request_without_a_body_says_nothing_of_one():
    request = WireRequest("GET", "", (("accept", "*/*"), ("x-a", "ü")))
    assert lines_of(request, "/a?b") == [
        b"GET /a?b HTTP/1.1",
        b"host: example.org",
        b"accept: */*",
        "x-a: ü".encode(),
    ]


@pytest.mark.parametrize(
    ("method", "body", "length"),
    [("POST", b"body", b"4"), ("POST", None, b"0"), ("DELETE", None, b"0"), ("GET", b"b", b"1")],
)
def test_a_request_states_the_length_of_its_body(method: str, body: bytes | None, length: bytes):
    assert lines_of(WireRequest(method, "", (), body))[-1] == b"content-length: " + length


def test_length_headers_of_a_caller_are_replaced():
    headers = (("content-length", "2"), ("transfer-encoding", "chunked"), ("x-a", "1"))
    told = lines_of(WireRequest("POST", "", headers, b"body"))[2:]
    assert told == [b"x-a: 1", b"content-length: 4"]


def test_the_host_header_may_have_another_name():
    request = WireRequest("GET", "", (("x-a", "1"), ("host", "elsewhere")))
    assert lines_of(request)[1:] == [b"host: elsewhere", b"x-a: 1"]


@given(LINE, LINE, LINE)
def test_no_part_of_a_request_can_start_a_new_line(target: str, name: str, value: str):
    request = WireRequest("GET", "", ((f"x{name}", value),))
    if set(target + name + value) & set("\r\n\0"):
        with pytest.raises(ValueError, match="contains a line break"):
            head_of(request, "example.org", target)
    else:
        assert len(lines_of(request, target)) == 3
