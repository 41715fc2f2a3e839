"""Laws of a pace that hold for any answers of the provider."""

import math

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from headgate.core.pacing.pace import Pace
from headgate.core.pacing.state import PaceState
from headgate.core.rate import Ceilings, Limit

START = 1_800_000_000.0
LIMITS = (Limit(7.0, 1.0), Limit(60.0, 20.0))

HEADERS = st.dictionaries(
    st.sampled_from(
        [
            "retry-after",
            "ratelimit",
            "ratelimit-policy",
            "x-ratelimit-remaining",
            "x-ratelimit-reset",
        ]
    ),
    st.one_of(
        st.sampled_from(["0", "1", "5", "-3", "1e9", "x", '"a";q=1000;w=1', '"a";r=0;t=4', "inf"]),
        st.text(max_size=8),
    ),
    max_size=3,
)
STATUSES = st.sampled_from([200, 200, 200, 200, 429, 503, 500, 404, 0])
REPLIES = st.lists(
    st.tuples(
        STATUSES, HEADERS, st.floats(0.001, 3.0), st.sampled_from([0.0, 0.0, 0.0, 0.5, 30.0])
    ),
    min_size=1,
    max_size=150,
)
Reply = tuple[int, dict[str, str], float, float]


def drive(pace: Pace, replies: list[Reply], now: float = START) -> list[float]:
    """Up to four in flight; when each was sent."""
    sent: list[float] = []
    mean_in_flight: list[tuple[float, float, int, Reply]] = []
    for reply in replies:
        now += reply[3]
        at = pace.gate(now, len(mean_in_flight))
        while mean_in_flight and (
            math.isinf(at) or len(mean_in_flight) > 3 or mean_in_flight[0][0] <= at
        ):
            back, left, crowd, (status, headers, latency, _) = mean_in_flight.pop(0)
            now = max(now, back)
            pace.on_reply(now, left, crowd, status, headers, latency)
            at = pace.gate(now, len(mean_in_flight))
        assert math.isfinite(at)
        now = max(now, at)
        pace.on_send(now, len(mean_in_flight) + 1)
        sent.append(now)
        mean_in_flight.append((now + reply[2], now, len(mean_in_flight) + 1, reply))
        mean_in_flight.sort(key=lambda flight: flight[0])
    return sent


@given(REPLIES)
@settings(max_examples=80, deadline=None)
def test_it_never_sends_faster_than_configured(replies: list[Reply]):
    sent = drive(Pace(Ceilings(limits=LIMITS), start=1000.0), replies)
    for limit in LIMITS:
        for at in sent:
            within = sum(at <= other < at + limit.seconds - 1e-6 for other in sent)
            assert within <= limit.count


@given(REPLIES, REPLIES)
@settings(max_examples=80, deadline=None)
def test_a_restored_pace_continues_exactly_where_the_old_one_stopped(
    before: list[Reply], after: list[Reply]
):
    pace = Pace()
    now = drive(pace, before)[-1] + 5
    written = msgspec.json.encode(pace.remembered())
    heir = Pace.from_state(msgspec.json.decode(written, type=PaceState))
    assert drive(heir, after, now) == drive(pace, after, now)
    assert heir.remembered() == pace.remembered()


@given(REPLIES)
@settings(max_examples=80, deadline=None)
def test_it_never_waits_longer_than_the_longest_allowed_wait(replies: list[Reply]):
    pace = Pace(Ceilings(longest_wait_s=120.0))
    now = drive(pace, replies)[-1] + 4
    for _ in range(3):
        pace.gate(now, 0)
    assert pace.gate(now, 0) - now <= 300
    assert 0 < pace.state.rate.value < 1e9
