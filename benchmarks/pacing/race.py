"""Rules against each other on the same providers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks.pacing.cores import spread
from benchmarks.pacing.rules import ORACLE, Contender
from benchmarks.pacing.rules.oracle import check_oracle
from benchmarks.pacing.scenario import Scenario
from benchmarks.pacing.score import Score, compare
from benchmarks.pacing.simulation import simulate


@dataclass(frozen=True)
class Heat:
    """Some rules, one after the other, on the same provider with the same luck."""

    scenario: Scenario
    seed: int
    contenders: tuple[Contender, ...]


def run_heat(heat: Heat) -> list[Score]:
    """The oracle first: it is what the others are measured by."""
    oracle = simulate(heat.scenario, ORACLE.make(), heat.seed)
    changed_at = [at for at, _ in heat.scenario.changes]
    check_oracle(oracle.log, oracle.bans, heat.scenario.name, changed_at)
    return [
        compare(
            heat.scenario,
            contender.name,
            heat.seed,
            simulate(heat.scenario, contender.make(), heat.seed),
            oracle,
        )
        for contender in heat.contenders
    ]


def run_heats(heats: Sequence[Heat], jobs: int) -> list[Score]:
    """All scores, in the order of the heats."""
    return [score for scores in spread(run_heat, heats, jobs) for score in scores]
