"""Finds changes that would make a batch faster, each tried in its own simulation."""

from collections.abc import Iterator

import msgspec

from headgate.engine.plan.forecast import BindingLimit, Estimate, Forecast, estimate
from headgate.engine.plan.workload import Workload

WORTH = 0.95
"""A change that saves less than 5 % of the time is not reported."""


LIMITS = frozenset(
    {
        BindingLimit.RATE,
        BindingLimit.CAP,
        BindingLimit.BUDGET,
        BindingLimit.CEILING,
        BindingLimit.CONCURRENCY,
    }
)
"""Limits that apply to each credential separately."""


class Advice(msgspec.Struct, frozen=True):
    change: str
    seconds: float
    instead_of: float


def advise(
    forecast: Forecast, now_s: float, *, pooled: bool, published: bool = False
) -> list[Advice]:
    """Changes that help, the best first.

    `pooled`: the provider gives out credentials. `published`: the configured limits are the ones
    that the provider publishes, so no advice exceeds them.
    """
    before = forecast.likely.seconds
    tried = [
        (change, estimate(workload, now_s))
        for change, workload in _changes(forecast, pooled=pooled, published=published)
    ]
    found = [Advice(change, each.seconds, before) for change, each in tried if _helps(each, before)]
    return sorted(found, key=lambda advice: advice.seconds)


def _helps(tried: Estimate, before: float) -> bool:
    return tried.seconds < WORTH * before


def _changes(
    forecast: Forecast, *, pooled: bool, published: bool
) -> Iterator[tuple[str, Workload]]:
    """The workload with one part of the binding limit changed, and the change in words."""
    workload, replace = forecast.workload, msgspec.structs.replace
    more = workload.credentials + 1
    words = "a second credential" if more == 2 else f"{more} credentials"
    if pooled and forecast.likely.binding in LIMITS:
        yield words, replace(workload, credentials=more)
    match forecast.likely.binding:
        case BindingLimit.LANES:
            yield f"--concurrency {2 * workload.lanes}", replace(workload, lanes=2 * workload.lanes)
        case BindingLimit.CEILING if workload.assumed.limits and not published:
            without = replace(workload.ceilings, limits=())
            yield "no configured rate", replace(workload, ceilings=without)
        case BindingLimit.CONCURRENCY if not published:
            most = 2 * (workload.ceilings.concurrency or 1)
            wider = replace(workload.ceilings, concurrency=most)
            yield f"concurrency = {most} for the provider", replace(workload, ceilings=wider)
