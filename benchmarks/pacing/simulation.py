"""One client against one provider, from the first request to the last second."""

from __future__ import annotations

from dataclasses import dataclass

from benchmarks.pacing.dispatcher import Dispatcher
from benchmarks.pacing.events import Events
from benchmarks.pacing.log import Log
from benchmarks.pacing.provider import Provider
from benchmarks.pacing.rules.rule import Rule
from benchmarks.pacing.scenario import Scenario


@dataclass(frozen=True)
class Outcome:
    """What a run leaves behind."""

    log: Log
    bans: int


class Simulation:
    """A scenario that is ready to run; others may plan events of their own before."""

    def __init__(self, scenario: Scenario, rule: Rule, seed: int) -> None:
        self.events = Events()
        self.provider = Provider(scenario, seed, self.events)
        self._dispatcher = Dispatcher(self.events, self.provider, rule, seed, scenario.demand)
        self._seconds = scenario.seconds
        for time, scale in scenario.changes:
            self.events.at(time, self._dispatcher.change_limit, scale)
        self._dispatcher.start(scenario.workers)

    def run(self) -> Outcome:
        """Let the time pass; the same seed gives the same result."""
        self.events.run(self._seconds)
        return Outcome(self._dispatcher.log, self.provider.bans)


def simulate(scenario: Scenario, rule: Rule, seed: int) -> Outcome:
    """Run a scenario once."""
    return Simulation(scenario, rule, seed).run()
