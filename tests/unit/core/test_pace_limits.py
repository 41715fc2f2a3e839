"""A pace against whole providers: what it finds out about them, and what that costs."""

import math
from collections.abc import Callable
from functools import partial

import pytest

from headgate.core.pacing.state import Cause
from tests.kit.limit_models import Bucket, Client, FixedWindow, SlidingWindow, Takes

LIMITS = [
    pytest.param(partial(Bucket, 20, 20), 20, id="20/s"),
    pytest.param(partial(Bucket, 20, 2), 20, id="20/s without a burst"),
    pytest.param(partial(FixedWindow, 20, 1), 20, id="20 in each second"),
    pytest.param(partial(SlidingWindow, 20, 1), 20, id="20 in any second"),
    pytest.param(partial(FixedWindow, 100, 10), 10, id="100 in each 10 s"),
    pytest.param(partial(FixedWindow, 600, 60), 10, id="600 in each minute"),
    pytest.param(partial(SlidingWindow, 600, 60), 10, id="600 in any minute"),
]


@pytest.mark.parametrize("latency", [0.001, 0.1])
@pytest.mark.parametrize(("limit", "rate"), LIMITS)
def test_most_of_a_limit_is_used_and_little_is_refused(
    limit: Callable[[], Takes], rate: float, latency: float
):
    client = Client(limit(), latency=latency)
    client.work(300)
    taken, refused = client.work(300)
    assert taken > 0.85 * 300 * rate
    assert refused < 0.01 * taken + 5


def test_a_quota_of_a_minute_is_known_after_two_of_them():
    client = Client(FixedWindow(300, 60))
    client.work(200)
    window = client.pace.state.window
    assert window is not None
    assert window.seconds == 60.0
    assert window.count == pytest.approx(300, rel=0.1)


def test_any_minute_is_told_from_each_minute():
    client = Client(SlidingWindow(600, 60))
    client.work(900)
    assert client.pace.learned == pytest.approx(10, rel=0.1)


def test_a_stated_wait_teaches_how_long_a_window_is():
    window = FixedWindow(300, 60)
    client = Client(window, told=lambda now: {"retry-after": f"{math.ceil(window.left_s(now))}"})
    client.work(300)
    assert client.pace.learned == pytest.approx(5, rel=0.1)


def test_a_wait_that_was_stated_wrong_is_not_taken_for_an_empty_window():
    window = FixedWindow(300, 60)
    client = Client(window, told=lambda now: {"retry-after": f"{window.left_s(now):.0f}"})
    client.work(300)
    assert client.pace.learned is not None
    assert client.pace.learned > 2


def test_a_limit_that_falls_is_followed_and_its_return_found():
    bucket = Bucket(40, 20)
    client = Client(bucket)
    client.work(200)
    bucket.rate = 10
    client.work(30)
    fallen = client.work(60)
    assert 0.8 * 600 < fallen.taken <= 10 * 60 + 20
    bucket.rate = 40
    client.work(40)
    back = client.work(60)
    assert back.taken > 0.85 * 40 * 60


def test_a_limit_that_rises_for_good_is_found():
    bucket = Bucket(10, 10)
    client = Client(bucket)
    client.work(120)
    bucket.rate = 60
    client.work(120)
    assert client.work(60).taken > 0.9 * 60 * 60


def test_a_ban_is_not_taken_for_a_window():
    bucket = Bucket(20, 20)
    client = Client(bucket)
    client.work(120)
    bucket.rate = 0.0
    client.work(30)
    bucket.rate = 20.0
    client.work(120)
    assert client.work(60).taken > 0.6 * 20 * 60


def in_flight_cap(most: int, latency: float) -> Takes:
    """As many at a time as the way takes; each is gone after its latency."""
    under_way: list[float] = []

    def takes(now: float) -> bool:
        under_way[:] = [until for until in under_way if until > now + 1e-9]
        if len(under_way) >= most:
            return False
        under_way.append(now + latency)
        return True

    return takes


def test_a_cap_on_what_is_in_flight_is_kept():
    client = Client(in_flight_cap(6, 0.2), latency=0.2)
    client.work(120)
    taken, refused = client.work(120)
    assert taken > 0.85 * 30 * 120
    assert refused < 25


def test_lasting_bare_503s_are_not_taken_for_a_window():
    client = Client(Bucket(20, 20))
    client.work(30)
    for _ in range(5):
        at = max(client.pace.gate(client.now, 0), client.now)
        client.pace.on_send(at, 1)
        client.now = at + 0.5
        client.pace.on_reply(client.now, at, 1, 503, {}, 0.5)
    client.work(60)
    assert client.pace.state.window is None
    assert client.work(60).taken > 0.7 * 20 * 60


def test_causes_have_words_for_people():
    assert all(cause.words.startswith(f"{cause.value}: ") for cause in Cause)
