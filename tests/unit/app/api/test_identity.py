"""Who asks, from where, and what they may."""

import pytest
from starlette.requests import Request

from headgate.app.api.identity import Principal, is_loopback
from headgate.core.user import Role


def request_from(address: str | None, *headers: tuple[bytes, bytes]) -> Request:
    client = (address, 1) if address is not None else None
    return Request({"type": "http", "client": client, "headers": headers})


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
def test_what_came_by_way_of_a_proxy_is_not_from_here(name: bytes):
    assert not is_loopback(request_from("127.0.0.1", (name, b"203.0.113.9")))


def test_roles_hold_one_another():
    viewer, user, admin = (Principal("x", role, "t") for role in ("viewer", "user", "admin"))  # type: ignore[arg-type]
    assert [who.may(Role.VIEWER) for who in (viewer, user, admin)] == [True, True, True]
    assert [who.may(Role.USER) for who in (viewer, user, admin)] == [False, True, True]
    assert [who.may(Role.ADMIN) for who in (viewer, user, admin)] == [False, False, True]


def test_only_admins_see_everybody():
    assert Principal("ann", Role.USER, "t").sees == "ann"
    assert Principal("ann", Role.VIEWER, "t").sees == "ann"
    assert Principal("ann", Role.ADMIN, "t").sees is None
