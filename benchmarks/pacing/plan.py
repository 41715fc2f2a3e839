"""How much is run: everything, or a sliver of it to see that it runs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from benchmarks.pacing.race import Heat, run_heats
from benchmarks.pacing.rules import Contender
from benchmarks.pacing.scenario import Scenario
from benchmarks.pacing.score import Score

SLIVER = 0.05


@dataclass(frozen=True)
class Plan:
    """What the command line asked for, as far as every experiment needs it."""

    jobs: int
    smoke: bool = False

    def run(
        self,
        scenarios: Sequence[Scenario],
        seeds: Iterable[int],
        contenders: Sequence[Contender],
    ) -> list[Score]:
        """Every contender on every scenario with every seed."""
        if self.smoke:
            scenarios, seeds = [sliver(each) for each in scenarios[:3]], list(seeds)[:1]
        pairs = [(scenario, seed) for scenario in scenarios for seed in seeds]
        return self.run_pairs(pairs, contenders)

    def run_draw(
        self, scenarios: Sequence[Scenario], first_seed: int, contenders: Sequence[Contender]
    ) -> list[Score]:
        """Every contender on a draw, in which each provider has a seed of its own."""
        if self.smoke:
            scenarios = [sliver(each) for each in scenarios[:3]]
        return self.run_pairs(
            [(scenario, first_seed + i) for i, scenario in enumerate(scenarios)], contenders
        )

    def run_pairs(
        self, pairs: Sequence[tuple[Scenario, int]], contenders: Sequence[Contender]
    ) -> list[Score]:
        heats = [Heat(scenario, seed, tuple(contenders)) for scenario, seed in pairs]
        return run_heats(heats, self.jobs)


def sliver(scenario: Scenario) -> Scenario:
    """The same in a twentieth of the time."""
    return replace(
        scenario,
        seconds=SLIVER * scenario.seconds,
        changes=tuple((SLIVER * time, scale) for time, scale in scenario.changes),
    )
