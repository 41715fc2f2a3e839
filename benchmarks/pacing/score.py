"""How well a rule did on one provider, and on many."""

from __future__ import annotations

import math
import statistics
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from benchmarks.pacing.scenario import Scenario
from benchmarks.pacing.simulation import Outcome

GOOD = 0.9
WINDOW_S = 5.0


@dataclass(frozen=True)
class Score:
    """One rule, one provider, one seed. Shares are of the oracle's answers and of what was sent."""

    provider: str
    contender: str
    seed: int
    goodput: float
    steady_goodput: float
    """Of the last two thirds of the run, the cold start left out."""
    refused: float
    refusals: int
    sent: int
    bans: int
    start_s: float
    """Until the first five seconds with nine tenths of the oracle's answers."""
    rise_s: float | None
    """The same, after the limit has come back."""
    latency_s: float

    @property
    def clean(self) -> bool:
        """Small numbers are forgiven: a cold start takes a few refusals wherever it ends."""
        few = self.refused <= 0.01 or self.refusals <= 10
        return self.goodput >= GOOD and few and not self.bans

    @property
    def strictly_clean(self) -> bool:
        """As the study counts, which forgives nothing."""
        return self.goodput >= GOOD and self.refused <= 0.01 and not self.bans


def compare(
    scenario: Scenario, contender: str, seed: int, outcome: Outcome, oracle: Outcome
) -> Score:
    """Compare a run with the oracle's on the same provider with the same luck."""
    log, best, end = outcome.log, oracle.log.answered, scenario.seconds
    steady = count(log.answered, end / 3, end) / max(1, count(best, end / 3, end))
    rises_at = scenario.changes[1][0] if len(scenario.changes) > 1 else None
    return Score(
        provider=scenario.name,
        contender=contender,
        seed=seed,
        goodput=len(log.answered) / max(1, len(best)),
        steady_goodput=steady,
        refused=len(log.refused) / max(1, len(log.sent)),
        refusals=len(log.refused),
        sent=len(log.sent),
        bans=outcome.bans,
        start_s=first_good(log.answered, best, 0.0, end),
        rise_s=None if rises_at is None else first_good(log.answered, best, rises_at, end),
        latency_s=statistics.median(log.latencies) if log.latencies else math.inf,
    )


def count(times: Sequence[float], start: float, end: float) -> int:
    """How many fall into this span; the times are in order."""
    return bisect_right(times, end) - bisect_left(times, start)


def first_good(times: Sequence[float], best: Sequence[float], start: float, end: float) -> float:
    """Seconds from `start` to the first window that is as good as nine tenths of the best."""
    at = start
    while at + WINDOW_S <= end:
        possible = count(best, at, at + WINDOW_S)
        if possible and count(times, at, at + WINDOW_S) >= GOOD * possible:
            return at - start
        at += 0.25
    return math.inf


def by_contender(scores: Iterable[Score]) -> dict[str, list[Score]]:
    """Each rule's scores, in order."""
    found: dict[str, list[Score]] = {}
    for each in scores:
        found.setdefault(each.contender, []).append(each)
    return found


@dataclass(frozen=True)
class Summary:
    """One rule on many providers, in percent; the tails leave a tenth of the providers out."""

    clean: int
    strictly_clean: int
    goodput: float
    goodput_low: float
    goodput_worst: float
    refused: float
    refused_high: float
    refused_worst: float
    bans: int


def summarise(scores: Sequence[Score]) -> Summary:
    """What the tables show of a draw."""
    goodput = sorted(100 * each.goodput for each in scores)
    refused = sorted(100 * each.refused for each in scores)
    tail = len(scores) // 10
    return Summary(
        clean=sum(each.clean for each in scores),
        strictly_clean=sum(each.strictly_clean for each in scores),
        goodput=statistics.median(goodput),
        goodput_low=goodput[tail],
        goodput_worst=goodput[0],
        refused=statistics.median(refused),
        refused_high=refused[-1 - tail],
        refused_worst=refused[-1],
        bans=sum(each.bans for each in scores),
    )
