"""Several processes of one user, each with workers of its own, on one provider's limit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from benchmarks.pacing.dispatcher import Dispatcher
from benchmarks.pacing.events import Events
from benchmarks.pacing.log import Log
from benchmarks.pacing.provider import Provider
from benchmarks.pacing.rules.rule import Rule
from benchmarks.pacing.scenario import Scenario

FleetRules = Callable[[Events, int], Sequence[Rule]]
"""Makes one rule for each process; they may share something that lives in the same time."""


@dataclass(frozen=True)
class FleetOutcome:
    """What a run leaves behind: a log for each process."""

    logs: Sequence[Log]
    bans: int
    possible: float
    """Requests that the limit lets through in this time."""

    @property
    def goodput(self) -> float:
        """Answers, as a share of what the limit lets through."""
        return sum(len(log.answered) for log in self.logs) / self.possible

    @property
    def refused(self) -> float:
        """Refusals, as a share of what was sent."""
        sent = sum(len(log.sent) for log in self.logs)
        return sum(len(log.refused) for log in self.logs) / max(1, sent)

    @property
    def fairness(self) -> float:
        """The least served process, as a share of the most served."""
        served = [len(log.answered) for log in self.logs]
        return min(served) / max(1, *served)


def sail(scenario: Scenario, fleet: FleetRules, processes: int, seed: int) -> FleetOutcome:
    """Run all processes on one provider and one clock."""
    events = Events()
    provider = Provider(scenario, seed, events)
    assert provider.limit is not None
    dispatchers = [
        Dispatcher(events, provider, rule, 10 * seed + number, scenario.demand)
        for number, rule in enumerate(fleet(events, processes))
    ]
    for dispatcher in dispatchers:
        dispatcher.start(scenario.workers)
    events.run(scenario.seconds)
    possible = provider.limit.rate() * scenario.seconds
    return FleetOutcome([each.log for each in dispatchers], provider.bans, possible)
