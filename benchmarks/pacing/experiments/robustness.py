"""What the study left out: lies, other tenants, pauses, unequal costs, slow and near servers."""

from __future__ import annotations

from functools import partial

from benchmarks.pacing.catalogue import (
    ANY_SECOND,
    BUCKET,
    EACH_MINUTE,
    EACH_SECOND,
    HALF_BURST,
    SMALL_BURST,
    TWENTY_AT_ONCE,
)
from benchmarks.pacing.costs import Costly
from benchmarks.pacing.figure import Figure
from benchmarks.pacing.limits import FixedWindow, InFlight, Limit, SlidingWindow, TokenBucket
from benchmarks.pacing.manners import FIELDS, RETRY_AFTER, Fields, Legacy
from benchmarks.pacing.plan import Plan
from benchmarks.pacing.report import Report
from benchmarks.pacing.rules import FIELD
from benchmarks.pacing.scenario import LATENCY, Demand, Latency, Scenario
from benchmarks.pacing.score import by_contender
from benchmarks.pacing.tenant import Shared

SEEDS = (1, 2, 3)
LONG_S = 600.0
TOO_HIGH, TOO_LOW = Fields(exaggeration=4), Fields(exaggeration=0.25)
NO_WINDOW, NO_RESET = Legacy(with_reset=True), Legacy(with_reset=False)
NEAR = partial(Scenario, seconds=120.0, latency=Latency(0.0012), wire=0.01)
PAUSES = Demand(works_s=10, rests_s=20)


def two_thirds_of_a_bucket() -> Limit:
    """50/s, of which a third is gone."""
    return Shared(HALF_BURST(), 1 / 3)


def two_thirds_of_a_minute() -> Limit:
    """600/min, of which a third is gone."""
    return Shared(EACH_MINUTE(), 1 / 3)


def unequal_costs() -> Limit:
    """100 tokens a second for requests of two tokens, on average."""
    return Costly(TokenBucket(100, 50))


SCENARIOS = (
    Scenario("headers 4x too high, tb50 b25", HALF_BURST, TOO_HIGH),
    Scenario("headers 4x too high, tb50 ban10", HALF_BURST, TOO_HIGH, ban_after=10),
    Scenario("headers 4x too high, fw 600/min", EACH_MINUTE, TOO_HIGH, seconds=LONG_S),
    Scenario("headers 4x too low, tb50 b25", HALF_BURST, TOO_LOW),
    Scenario("headers 4x too low, fw 600/min", EACH_MINUTE, TOO_LOW, seconds=LONG_S),
    Scenario("X-RateLimit with reset, tb50 b50", BUCKET, NO_WINDOW),
    Scenario("X-RateLimit with reset, sw 50/s", ANY_SECOND, NO_WINDOW),
    Scenario("X-RateLimit with reset, fw 600/min", EACH_MINUTE, NO_WINDOW, seconds=LONG_S),
    Scenario("X-RateLimit bare, tb50 b50", BUCKET, NO_RESET),
    Scenario("X-RateLimit bare, fw 600/min", EACH_MINUTE, NO_RESET, seconds=LONG_S),
    Scenario("tenant takes a third, tb50 none", two_thirds_of_a_bucket),
    Scenario("tenant takes a third, tb50 RA", two_thirds_of_a_bucket, RETRY_AFTER),
    Scenario("tenant takes a third, tb50 hdr", two_thirds_of_a_bucket, FIELDS),
    Scenario("tenant takes a third, tb50 ban10", two_thirds_of_a_bucket, ban_after=10),
    Scenario("tenant takes a third, fw 600/min", two_thirds_of_a_minute, seconds=LONG_S),
    Scenario("10 s of work, 20 s of pause, tb50", HALF_BURST, seconds=LONG_S, demand=PAUSES),
    Scenario("same, RA ban10", HALF_BURST, RETRY_AFTER, LONG_S, ban_after=10, demand=PAUSES),
    Scenario("same, fw 600/min RA", EACH_MINUTE, RETRY_AFTER, LONG_S, demand=PAUSES),
    Scenario("costs 1, 1, 1, 5 of tb100 b50 none", unequal_costs),
    Scenario("costs 1, 1, 1, 5 of tb100 b50 RA", unequal_costs, RETRY_AFTER),
    Scenario("server 6x slower, tb50 b25", HALF_BURST, workers=64, latency=Latency(0.735)),
    Scenario("latency with a long tail, tb50", HALF_BURST, workers=64, latency=Latency(0.1, 1.2)),
    NEAR("1 ms away, tb50 b50", BUCKET),
    NEAR("1 ms away, tb50 b5", SMALL_BURST),
    NEAR("1 ms away, tb200 b20 ban10", partial(TokenBucket, 200, 20), ban_after=10),
    NEAR("1 ms away, tb500 b100", partial(TokenBucket, 500, 100)),
    NEAR("1 ms away, fw 50/s", EACH_SECOND),
    NEAR("1 ms away, sw 50/s", ANY_SECOND),
    NEAR("1 ms away, fw 300/10s", partial(FixedWindow, 300, 10)),
    NEAR("1 ms away, sw 200/10s", partial(SlidingWindow, 200, 10)),
    NEAR("1 ms away, 20 at once", TWENTY_AT_ONCE, workers=64, latency=LATENCY),
    NEAR("1 ms away, 8 at once", partial(InFlight, 8, 0.2), latency=Latency(0.2, 0.01)),
)


def run(plan: Plan) -> Report:
    """Reported apart; there is no bound on them but common sense."""
    scores = plan.run(SCENARIOS, SEEDS, FIELD)
    rules = by_contender(scores)
    runs = max(map(len, rules.values()))
    clean = {name: sum(each.clean for each in of_rule) for name, of_rule in rules.items()}
    bans = {name: sum(each.bans for each in of_rule) for name, of_rule in rules.items()}
    return Report(
        name="robustness",
        title="Robustness: what the study left out, mean of 3 seeds",
        figures=[Figure(f"clean of {runs} runs", clean), Figure("bans", bans)],
        scores=scores,
        notes=["A client that believes headers that are too low gets what they say: 25 %."],
    )
