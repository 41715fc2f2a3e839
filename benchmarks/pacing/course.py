"""The course of one run, second by second: what was allowed, dared, answered and refused."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path

from benchmarks.pacing.events import Events
from benchmarks.pacing.log import Log
from benchmarks.pacing.provider import Provider
from benchmarks.pacing.rules.rule import Rule
from benchmarks.pacing.scenario import Scenario
from benchmarks.pacing.score import count
from benchmarks.pacing.simulation import Simulation

STEP_S = 1.0
LOOKS = 20
"""The rule is looked at so many times in a step, so that short closings are seen."""


@dataclass(frozen=True)
class Step:
    """One second. Rates are requests a second; `rate` is empty for a rule that has none."""

    time_s: float
    limit: float | None
    rate: float | None
    sent: float
    answered: float
    refused: int
    closed: float
    """The share of the step for which the rule let nothing out."""


class Watch:
    """Looks at a rule while it runs."""

    def __init__(self, events: Events, provider: Provider, rule: Rule, seconds: float) -> None:
        self.limits: list[float | None] = []
        self.rates: list[float | None] = []
        self.closed: list[bool] = []
        self._events = events
        self._provider = provider
        self._rule = rule
        for number in range(int(seconds / STEP_S) * LOOKS):
            events.at(number * STEP_S / LOOKS, self._look)

    def _look(self) -> None:
        limit = self._provider.limit
        self.limits.append(limit.rate() if limit else None)
        self.rates.append(self._rule.rate(self._events.now))
        self.closed.append(self._rule.closed(self._events.now))


def follow(scenario: Scenario, rule: Rule, seed: int) -> list[Step]:
    """Run a scenario and keep its course."""
    simulation = Simulation(scenario, rule, seed)
    watch = Watch(simulation.events, simulation.provider, rule, scenario.seconds)
    outcome = simulation.run()
    return [step(number, outcome.log, watch) for number in range(int(scenario.seconds / STEP_S))]


def step(number: int, log: Log, watch: Watch) -> Step:
    start = number * STEP_S
    end = start + STEP_S - 1e-9
    looks = slice(number * LOOKS, (number + 1) * LOOKS)
    return Step(
        time_s=start,
        limit=watch.limits[looks][-1],
        rate=watch.rates[looks][-1],
        sent=count(log.sent, start, end) / STEP_S,
        answered=count(log.answered, start, end) / STEP_S,
        refused=count(log.refused, start, end),
        closed=sum(watch.closed[looks]) / LOOKS,
    )


def write_csv(path: Path, steps: Sequence[Step]) -> None:
    """One row a second."""
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, [field.name for field in fields(Step)])
        writer.writeheader()
        writer.writerows(map(asdict, steps))
