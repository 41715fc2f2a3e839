"""Many runs on all cores, with results that depend neither on their number nor on their order."""

from __future__ import annotations

import multiprocessing
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

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
    check_oracle(oracle.log, oracle.bans, heat.scenario.name)
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
    if jobs <= 1:
        return flatten(map(run_heat, heats))
    with multiprocessing.get_context("spawn").Pool(min(jobs, len(heats))) as pool:
        return flatten(pool.imap(run_heat, heats, chunksize=1))


def flatten(lists: Iterable[list[Score]]) -> list[Score]:
    return [each for scores in lists for each in scores]
