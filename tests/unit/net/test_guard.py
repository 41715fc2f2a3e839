"""Where a URL from data may lead is decided when the connection is made."""

import socket
from collections.abc import Callable

import pytest

from headgate.core.address import refusal_of
from headgate.core.call import CallKind
from headgate.core.fault import Fault, FaultClass
from headgate.net import guard
from headgate.net.failure import AddressRefused
from headgate.net.guard import GuardedResolver, guarded_socket
from headgate.net.policy import NetPolicy
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


def test_a_socket_is_made_for_a_public_address_alone():
    address = (socket.AF_INET, socket.SOCK_STREAM, 6, "", ("93.184.215.14", 80))
    guarded_socket(address).close()
    with pytest.raises(AddressRefused):
        guarded_socket((socket.AF_INET, socket.SOCK_STREAM, 6, "", ("10.0.0.1", 80)))


async def test_every_redirect_is_judged_again(provider: Provider, monkeypatch: pytest.MonkeyPatch):
    def all_but_our_server(address: str) -> str | None:
        return None if address == "127.0.0.1" else refusal_of(address)

    monkeypatch.setattr(guard, "refusal_of", all_but_our_server)
    provider.script = always(redirect("http://169.254.169.254/latest/meta-data/"))
    async with bench() as cli:
        await refused(cli, provider.url())
    assert len(provider.seen) == 1


async def test_a_connection_that_nobody_checked_is_not_used_for_a_guarded_request(
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
