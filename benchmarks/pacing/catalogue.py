"""The 25 providers on which rules were designed: what is measured here is in-sample."""

from __future__ import annotations

from functools import partial

from benchmarks.pacing.limits import Both, FixedWindow, InFlight, Limit, SlidingWindow, TokenBucket
from benchmarks.pacing.manners import FIELDS, RETRY_AFTER
from benchmarks.pacing.scenario import LATENCY, Scenario, Spikes

SEEDS = (1, 2, 3, 4, 5)
LONG_S = 900.0

BUCKET = partial(TokenBucket, 50, 50)
SMALL_BURST = partial(TokenBucket, 50, 5)
HALF_BURST = partial(TokenBucket, 50, 25)
EACH_SECOND = partial(FixedWindow, 50, 1)
EACH_MINUTE = partial(FixedWindow, 600, 60)
ANY_SECOND = partial(SlidingWindow, 50, 1)
ANY_MINUTE = partial(SlidingWindow, 600, 60)
TWENTY_AT_ONCE = partial(InFlight, 20, LATENCY.mean_s)
FALLS = partial(Scenario, limit=HALF_BURST, seconds=400.0, changes=((120, 0.25), (240, 1.0)))


def second_and_minute() -> Limit:
    """10/s and 100/min at once."""
    return Both(TokenBucket(10, 10), FixedWindow(100, 60))


IN_SAMPLE = (
    Scenario("tb50 b50 none", BUCKET),
    Scenario("tb50 b50 RA", BUCKET, RETRY_AFTER),
    Scenario("tb50 b50 hdr", BUCKET, FIELDS),
    Scenario("tb50 b5 none", SMALL_BURST),
    Scenario("tb50 b5 RA", SMALL_BURST, RETRY_AFTER),
    Scenario("tb150 b30 none", partial(TokenBucket, 150, 30)),
    Scenario("tb2 b2 none", partial(TokenBucket, 2, 2), seconds=LONG_S),
    Scenario("fw 50/s none", EACH_SECOND),
    Scenario("fw 600/min none", EACH_MINUTE, seconds=LONG_S),
    Scenario("fw 600/min RA", EACH_MINUTE, RETRY_AFTER, seconds=LONG_S),
    Scenario("fw 600/min hdr", EACH_MINUTE, FIELDS, seconds=LONG_S),
    Scenario("sw 50/s none", ANY_SECOND),
    Scenario("sw 600/min none", ANY_MINUTE, seconds=LONG_S),
    Scenario("sw 600/min RA", ANY_MINUTE, RETRY_AFTER, seconds=LONG_S),
    Scenario("10/s+100/min RA", second_and_minute, RETRY_AFTER, seconds=LONG_S),
    Scenario("conc20 none", TWENTY_AT_ONCE),
    Scenario("conc20 503 RA", TWENTY_AT_ONCE, RETRY_AFTER, refusal_status=503),
    FALLS("drop/4 none"),
    FALLS("drop/4 RA", manners=RETRY_AFTER),
    FALLS("drop/4 hdr", manners=FIELDS),
    Scenario("5xx spikes none", HALF_BURST, spikes=Spikes(30, 3, 0.5)),
    Scenario("ban10 none", HALF_BURST, ban_after=10),
    Scenario("ban10 RA", HALF_BURST, RETRY_AFTER, ban_after=10),
    FALLS("ban5 drop none", ban_after=5),
    Scenario("queue10 (no 429)", None, seconds=200.0, slots=10),
)


def named(*names: str) -> list[Scenario]:
    """Scenarios by name, in the order asked for."""
    by_name = {scenario.name: scenario for scenario in IN_SAMPLE}
    return [by_name[name] for name in names]
