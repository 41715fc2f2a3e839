"""Guessing takes time."""

from headgate.app.api.login_limit import LoginLimit
from headgate.testing import FakeClock


def test_so_many_failures_then_a_rest():
    clock = FakeClock()
    limit = LoginLimit(clock, tries=3)
    for _ in range(3):
        assert limit.wait_s("name:ann", "address:1") == 0
        limit.failed("name:ann", "address:1")
    assert limit.wait_s("name:ann") == LoginLimit.WINDOW_S
    assert limit.wait_s("name:bob", "address:1") == LoginLimit.WINDOW_S
    assert limit.wait_s("name:bob", "address:2") == 0


async def test_the_rest_ends():
    clock = FakeClock()
    limit = LoginLimit(clock, tries=1)
    limit.failed("name:ann")
    await clock.advance(LoginLimit.WINDOW_S - 1)
    assert limit.wait_s("name:ann") == 1
    await clock.advance(1)
    assert limit.wait_s("name:ann") == 0


def test_only_so_many_names_are_remembered():
    limit = LoginLimit(FakeClock(), tries=1)
    for number in range(LoginLimit.KEPT + 10):
        limit.failed(f"name:{number}")
    assert limit.wait_s("name:0") == 0
    assert limit.wait_s(f"name:{LoginLimit.KEPT + 9}") > 0
