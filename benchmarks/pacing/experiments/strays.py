"""Refusals that no limit explains: what they cost beyond the waits that they ask for.

Each run is compared with the same run without them. The bound is 1.3 times that run's time, plus
the time that the refusals asked for. It holds for up to three refusals in 2,000 requests. Where
one request in 200 is refused, the refusals cannot be told from a limit that is a little too high:
what that costs is shown without a bound.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from statistics import fmean

from benchmarks.pacing.cores import spread
from benchmarks.pacing.figure import Bound, Figure
from benchmarks.pacing.limits import TokenBucket
from benchmarks.pacing.log import Log
from benchmarks.pacing.plan import Plan
from benchmarks.pacing.report import Report
from benchmarks.pacing.rules import BOTOCORE, OURS, Contender
from benchmarks.pacing.scenario import Demand, Latency, Scenario, Strays
from benchmarks.pacing.simulation import simulate

SEEDS = tuple(range(1, 11))
ROWS = 2_000
WAITS = ("", "1", "31", "60")
COUNTS = (1, 3)
SHARE, HIGH_SHARE = 0.0008, 0.005
LIMITED_ROWS = 60_000
LONGEST_S = 6_000.0
COST = Bound(1.3, 1.1, at_most=True)
WORK, MUCH = Demand(items=ROWS), Demand(items=LIMITED_ROWS)
CONTENDERS = (BOTOCORE, OURS)
NEAR = {"latency": Latency(0.004), "wire": 0.05, "workers": 8}
"""A server in the next room: hardly anything is on its way when a refusal is heard of."""


@dataclass(frozen=True)
class Task:
    """One run with strays, and the same run without."""

    scenario: Scenario
    seed: int
    contender: Contender


@dataclass(frozen=True)
class Cost:
    """What strays cost: the time beyond the asked waits, as a multiple of the undisturbed time."""

    provider: str
    contender: str
    seed: int
    times: float
    asked_s: float


def name_of(strays: Strays) -> str:
    amount = f"{100 * strays.share:g} %" if strays.share else f"{strays.count} of {strays.among}"
    return f"{amount}, {f'Retry-After {strays.retry_after}' if strays.retry_after else 'bare'}"


def unlimited() -> list[Scenario]:
    """Servers without any limit, far and near."""
    kinds = [Strays(ROWS, count, retry_after=wait) for count in COUNTS for wait in WAITS]
    kinds += [Strays(20 * ROWS, share=HIGH_SHARE, retry_after=wait) for wait in ("", "1")]
    return [
        Scenario(f"{place}: {name_of(each)}", None, demand=WORK, strays=each, **more)
        for each in kinds
        for place, more in (("far", {}), ("near", NEAR))
    ]


def limited() -> list[Scenario]:
    """Servers that have a limit as well."""
    bucket = partial(TokenBucket, 300, 60)
    kinds = [Strays(10 * LIMITED_ROWS, share=SHARE, retry_after=wait) for wait in ("", "1", "2")]
    return [
        Scenario(f"300/s: {name_of(each)}", bucket, demand=MUCH, workers=96, strays=each)
        for each in kinds
    ]


def measure(task: Task) -> Cost:
    """Run both."""
    scenario = replace(task.scenario, seconds=LONGEST_S)
    plain = simulate(replace(scenario, strays=None), task.contender.make(), task.seed).log
    disturbed = simulate(scenario, task.contender.make(), task.seed).log
    asked_s = asked(scenario, task.seed, len(disturbed.sent))
    times = (ended_at(disturbed, scenario) - asked_s) / ended_at(plain, scenario)
    return Cost(scenario.name, task.contender.name, task.seed, times, asked_s)


def asked(scenario: Scenario, seed: int, sent: int) -> float:
    """How long the strays among the requests that were sent asked to wait."""
    strays = scenario.strays
    if strays is None or not strays.retry_after:
        return 0.0
    return float(strays.retry_after) * sum(place < sent for place in strays.places(seed))


def ended_at(log: Log, scenario: Scenario) -> float:
    """When all items were answered; the longest time if they never were."""
    return log.answered[-1] if len(log.answered) >= scenario.demand.items else LONGEST_S


def run(plan: Plan) -> Report:
    """The mean over the seeds is judged, and the worst is shown."""
    cases, seeds = [*unlimited(), *limited()], SEEDS
    if plan.smoke:
        cases, seeds = cases[:2], SEEDS[:1]
    tasks = [
        Task(scenario, seed, contender)
        for scenario in cases
        for seed in seeds
        for contender in CONTENDERS
    ]
    costs = spread(measure, tasks, plan.jobs)
    return Report(
        name="strays",
        title=f"Stray refusals: time beyond the asked waits, {len(seeds)} seeds",
        figures=[figure for scenario in cases for figure in figures_of(scenario, costs)],
    )


def figures_of(scenario: Scenario, costs: Sequence[Cost]) -> list[Figure]:
    provider, strays = scenario.name, scenario.strays
    bound = None if strays is not None and strays.share >= HIGH_SHARE else COST
    times: dict[str, list[float]] = {}
    for each in costs:
        if each.provider == provider:
            times.setdefault(each.contender, []).append(each.times)
    return [
        Figure(provider, {name: fmean(each) for name, each in times.items()}, bound, "x"),
        Figure(f"{provider}, worst", {name: max(each) for name, each in times.items()}, unit="x"),
    ]
