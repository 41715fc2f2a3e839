"""The principal of a request: user, address and role."""

from typing import Any

import pytest
from starlette.requests import Request

from headgate.app.api.identity import Principal, client_of, is_https, is_loopback
from headgate.app.server_policy import ServerPolicy
from headgate.app.settings import Settings
from headgate.core.user import Role


def request_from(address: str | None, *headers: tuple[bytes, bytes]) -> Request:
    client = (address, 1) if address is not None else None
    return Request(
        {"type": "http", "scheme": "http", "path": "/", "client": client, "headers": headers}
    )


@pytest.mark.parametrize(
    ("address", "near"),
    [
        ("127.0.0.1", True),
        ("127.8.8.8", True),
        ("::1", True),
        ("10.0.0.1", False),
        ("127.evil", False),
        ("::ffff:10.0.0.1", False),
        ("::ffff:127.0.0.1", True),
        (None, False),
    ],
)
def test_loopback_is_this_machine(address: str | None, *, near: bool):
    assert is_loopback(request_from(address)) is near


@pytest.mark.parametrize("name", [b"x-forwarded-for", b"forwarded", b"x-real-ip"])
def test_a_request_through_a_proxy_does_not_count_as_local(name: bytes):
    assert not is_loopback(request_from("127.0.0.1", (name, b"203.0.113.9")))


class PartialState:
    """Settings are all that is asked of it here."""

    def __init__(self, **server: Any) -> None:
        self.settings = Settings(server=ServerPolicy(**server))


@pytest.mark.parametrize(
    ("peer", "told", "server", "secure"),
    [
        ("127.0.0.1", b"https", {}, True),
        ("127.0.0.1", b"http, https", {}, True),
        ("127.0.0.1", b"https, http", {}, False),
        ("127.0.0.1", b"https", {"trusted_proxies": ()}, False),
        ("10.0.0.5", b"https", {}, False),
        ("10.0.0.5", b"https", {"trusted_proxies": ("10.0.0.0/24",)}, True),
        ("10.0.0.5", b"http", {"https": True}, True),
    ],
)
def test_only_a_trusted_proxy_says_https(peer: str, told: bytes, server: Any, *, secure: bool):
    request = request_from(peer, (b"host", b"x"), (b"x-forwarded-proto", told))
    app_state: Any = PartialState(**server)
    assert is_https(request, app_state) is secure


def test_the_client_is_named_by_a_trusted_proxy_alone():
    request = request_from("10.0.0.5", (b"x-forwarded-for", b"203.0.113.9"))
    known: Any = PartialState(trusted_proxies=("10.0.0.5",))
    unknown: Any = PartialState()
    assert client_of(request, known) == "203.0.113.9"
    assert client_of(request, unknown) == "10.0.0.5"


def test_a_proxy_that_is_not_an_address_is_refused():
    with pytest.raises(ValueError, match="trusted_proxies"):
        ServerPolicy(trusted_proxies=("nginx",))


def test_each_role_includes_the_weaker_ones():
    viewer, user, admin = (Principal("x", role, "t") for role in ("viewer", "user", "admin"))  # type: ignore[arg-type]
    assert [who.may(Role.VIEWER) for who in (viewer, user, admin)] == [True, True, True]
    assert [who.may(Role.USER) for who in (viewer, user, admin)] == [False, True, True]
    assert [who.may(Role.ADMIN) for who in (viewer, user, admin)] == [False, False, True]


def test_only_admins_see_all_users():
    assert Principal("ann", Role.USER, "t").sees == "ann"
    assert Principal("ann", Role.VIEWER, "t").sees == "ann"
    assert Principal("ann", Role.ADMIN, "t").sees is None
