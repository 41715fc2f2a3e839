"""Guessing passwords takes time."""

from headgate.app.api.login_limit import LoginLimit
from headgate.testing import FakeClock


async def test_failures_make_wait_until_the_first_is_forgotten():
    clock = FakeClock()
    limit = LoginLimit(clock, tries=3)
    for _ in range(3):
        assert limit.wait_s("name:ann", "address:1") == 0.0
        limit.failed("name:ann", "address:1")
        await clock.advance(10)
    assert limit.wait_s("name:ann") == LoginLimit.WINDOW_S - 30
    assert limit.wait_s("name:bob", "address:1") > 0
    assert limit.wait_s("name:bob", "address:2") == 0.0
    await clock.advance(LoginLimit.WINDOW_S - 30)
    assert limit.wait_s("name:ann", "address:1") == 0.0


def test_no_crowd_of_names_fills_the_memory():
    limit = LoginLimit(FakeClock(), tries=1)
    for number in range(LoginLimit.KEPT + 5):
        limit.failed(f"name:{number}")
    assert len(limit._failures) == LoginLimit.KEPT
    assert limit.wait_s("name:0") == 0.0
    assert limit.wait_s(f"name:{LoginLimit.KEPT}") > 0
