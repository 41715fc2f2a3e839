"""A restart with a remembered limit: one that is right, and one that is four times too high."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from statistics import fmean

from benchmarks.pacing.catalogue import SEEDS, named
from benchmarks.pacing.figure import Bound, Figure
from benchmarks.pacing.plan import Plan, sliver
from benchmarks.pacing.report import Report
from benchmarks.pacing.rules import OURS, REFERENCE, Contender
from benchmarks.pacing.rules.ours import EPOCH_S, Ours
from benchmarks.pacing.rules.reference import Reference
from benchmarks.pacing.scenario import Scenario
from benchmarks.pacing.score import Score, by_contender
from benchmarks.pacing.simulation import simulate
from headgate.core.pacing.pace import Pace

TRUTH = 50.0
TRAINING_S, TRAINING_SEED = 300.0, 99
NIGHT_S = 36_000.0
PROVIDERS = ("tb50 b50 none", "tb50 b5 none", "fw 50/s none", "ban10 none", "ban10 RA")


def run(plan: Plan) -> Report:
    """A right memory must be worth its keep at once; a wrong one must not bring a ban."""
    right = restarted(plan, 1.0)
    wrong = restarted(plan, 4.0)
    start_s = {name: fmean(s.start_s for s in each) for name, each in right.items()}
    bans = {name: sum(s.bans for s in each) for name, each in wrong.items()}
    goodput = {name: 100 * fmean(s.goodput for s in each) for name, each in wrong.items()}
    return Report(
        name="warm",
        title="Warm start: 5 providers of 50/s, 5 seeds",
        figures=[
            Figure("right: 90 % after", start_s, Bound(1, 0, at_most=True), "s"),
            Figure("4x too high: bans", bans, Bound(0, 0, at_most=True)),
            Figure("4x too high: goodput", goodput, unit="%"),
        ],
        scores=[score for each in wrong.values() for score in each],
        notes=["The providers are shown with the memory that is four times too high."],
    )


def restarted(plan: Plan, scale: float) -> dict[str, list[Score]]:
    """Each rule that can remember, begun with the limit times `scale`."""
    scores: list[Score] = []
    for scenario in named(*PROVIDERS):
        yesterday = replace(
            scenario, seconds=TRAINING_S, changes=((0.0, scale),), workers=4 * scenario.workers
        )
        yesterday = sliver(yesterday) if plan.smoke else yesterday
        known = Contender(REFERENCE.name, partial(Reference.remembering, scale * TRUTH))
        kept = Contender(OURS.name, partial(next_morning, yesterday))
        scores += plan.run([scenario], SEEDS, [known, kept])
    return by_contender(scores)


def next_morning(yesterday: Scenario) -> Ours:
    """Begin with what was kept of another run; the night between has passed on the clock."""
    pace = Pace()
    simulate(yesterday, Ours(pace), TRAINING_SEED)
    return Ours(Pace.from_state(pace.remembered()), EPOCH_S + NIGHT_S)
