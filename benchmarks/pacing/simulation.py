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


def simulate(scenario: Scenario, rule: Rule, seed: int) -> Outcome:
    """Run a scenario; the same seed gives the same result."""
    events = Events()
    provider = Provider(scenario, seed, events)
    dispatcher = Dispatcher(events, provider, rule, seed, scenario.demand)
    for time, scale in scenario.changes:
        events.at(time, dispatcher.change_limit, scale)
    dispatcher.start(scenario.workers)
    events.run(scenario.seconds)
    return Outcome(dispatcher.log, provider.bans)
