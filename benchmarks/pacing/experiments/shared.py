"""Four processes on one limit: each for itself, and ours as they share it through a store."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from statistics import fmean

from benchmarks.pacing.catalogue import named
from benchmarks.pacing.cores import spread
from benchmarks.pacing.events import Events
from benchmarks.pacing.figure import Bound, Figure
from benchmarks.pacing.fleet import FleetOutcome, FleetRules, sail
from benchmarks.pacing.ledger import VirtualLedger
from benchmarks.pacing.plan import Plan, sliver
from benchmarks.pacing.report import Report
from benchmarks.pacing.rules import BOTOCORE, OURS, REFERENCE
from benchmarks.pacing.rules.ours import EPOCH_S
from benchmarks.pacing.rules.rule import Rule
from benchmarks.pacing.rules.sharing import Sharing
from benchmarks.pacing.scenario import Scenario

PROCESSES = 4
SEEDS = (1, 2, 3)
BUCKETS = ("tb50 b50 none", "tb50 b5 none", "ban10 none")
WINDOWS = ("fw 600/min RA",)


@dataclass(frozen=True)
class Voyage:
    """One fleet, one provider, one seed."""

    fleet_name: str
    fleet: FleetRules
    scenario: Scenario
    seed: int


def each_alone(make: Callable[[], Rule], _: Events, processes: int) -> Sequence[Rule]:
    """None knows of the others."""
    return [make() for _ in range(processes)]


def by_ledger(events: Events, processes: int) -> Sequence[Rule]:
    """All meet in one store, 5 ms away."""
    ledger = VirtualLedger(events, EPOCH_S)
    return [Sharing(f"process {number}", ledger) for number in range(processes)]


FLEETS: Mapping[str, FleetRules] = {
    "botocore alone": partial(each_alone, BOTOCORE.make),
    "reference alone": partial(each_alone, REFERENCE.make),
    "ours alone": partial(each_alone, OURS.make),
    OURS.name: by_ledger,
}
VALUES: Mapping[str, Callable[[FleetOutcome], float]] = {
    "goodput": lambda outcome: 100 * outcome.goodput,
    "refused": lambda outcome: 100 * outcome.refused,
    "least / most served": lambda outcome: outcome.fairness,
    "bans": lambda outcome: outcome.bans,
}
UNITS = {"goodput": "%", "refused": "%"}
BOUNDS = {
    "goodput": Bound(95, 98),
    "refused": Bound(0.3, 0.2, at_most=True),
    "least / most served": Bound(0.95, 0.98),
}


def run(plan: Plan) -> Report:
    """Means of the seeds for each provider, and the worst of the buckets against the bounds."""
    scenarios = [replace(each, seconds=300.0, workers=16) for each in named(*BUCKETS, *WINDOWS)]
    seeds = SEEDS[:1] if plan.smoke else SEEDS
    scenarios = [sliver(each) for each in scenarios] if plan.smoke else scenarios
    voyages = [
        Voyage(name, fleet, scenario, seed)
        for scenario in scenarios
        for name, fleet in FLEETS.items()
        for seed in seeds
    ]
    outcomes = list(zip(voyages, spread(sailed, voyages, plan.jobs), strict=True))
    details = [
        Figure(f"{scenario.name}: {value}", means(outcomes, scenario, value), unit=unit_of(value))
        for scenario in scenarios
        for value in VALUES
    ]
    return Report(
        name="shared",
        title="Four processes on one limit, 5 ms from their store, mean of 3 seeds",
        figures=[*details, *map(partial(worst, details), BOUNDS)],
        notes=["Goodput is a share of what the limit lets through, bursts not counted."],
    )


def sailed(voyage: Voyage) -> FleetOutcome:
    return sail(voyage.scenario, voyage.fleet, PROCESSES, voyage.seed)


def means(
    outcomes: Sequence[tuple[Voyage, FleetOutcome]], scenario: Scenario, value: str
) -> dict[str, float]:
    return {
        fleet: fmean(
            VALUES[value](outcome)
            for voyage, outcome in outcomes
            if voyage.fleet_name == fleet and voyage.scenario is scenario
        )
        for fleet in FLEETS
    }


def worst(details: Sequence[Figure], value: str) -> Figure:
    """The figure that the bound holds for."""
    bound = BOUNDS[value]
    pick = max if bound.at_most else min
    of_value = [each for each in details if each.title in {f"{name}: {value}" for name in BUCKETS}]
    values = {fleet: pick(each.values[fleet] for each in of_value) for fleet in FLEETS}
    return Figure(f"worst bucket: {value}", values, bound, unit_of(value))


def unit_of(value: str) -> str:
    return UNITS.get(value, "")
