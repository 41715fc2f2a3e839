"""A restart with a remembered limit: one that is right, and one that is four times too high."""

from __future__ import annotations

from functools import partial
from statistics import fmean

from benchmarks.pacing.catalogue import SEEDS, named
from benchmarks.pacing.figure import Bound, Figure
from benchmarks.pacing.plan import Plan
from benchmarks.pacing.report import Report
from benchmarks.pacing.rules import REMEMBERING, Contender
from benchmarks.pacing.score import Score, by_contender

TRUTH = 50.0
PROVIDERS = ("tb50 b50 none", "tb50 b5 none", "fw 50/s none", "ban10 none", "ban10 RA")


def run(plan: Plan) -> Report:
    """A right memory must be worth its keep at once; a wrong one must not bring a ban."""
    right = remembered(plan, TRUTH)
    wrong = remembered(plan, 4 * TRUTH)
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


def remembered(plan: Plan, rate: float) -> dict[str, list[Score]]:
    """Each rule that can remember, begun with this rate."""
    contenders = [Contender(name, partial(make, rate)) for name, make in REMEMBERING.items()]
    return by_contender(plan.run(named(*PROVIDERS), SEEDS, contenders))
