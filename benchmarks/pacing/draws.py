"""Providers drawn at random: rates, laws and behaviour that no rule was tuned for."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from random import Random
from typing import NamedTuple

from benchmarks.pacing.limits import FixedWindow, InFlight, Limit, SlidingWindow, TokenBucket
from benchmarks.pacing.manners import FIELDS, RETRY_AFTER, SILENT, Silent
from benchmarks.pacing.scenario import LATENCY, Scenario, Spikes

PROVIDERS = 40
SEED = 100
"""The first provider's own seed; the others count up."""
SECONDS = 600.0
WORKERS = 64

MANNERS = ("none", "none", "none", "RA", "RA", "hdr")
SPOKEN: dict[str, Silent] = {"none": SILENT, "RA": RETRY_AFTER, "hdr": FIELDS}
KINDS = ("tb", "tb", "tb", "fw1", "fw10", "fw60", "sw1", "sw60", "conc")
BANS = (None, None, None, 10, 20)
BURST_S = (0.1, 0.5, 1, 3)
CAN_CHANGE = {"tb", "fw1", "sw1"}


class Drawn(NamedTuple):
    """A limit and how the tables name it."""

    name: str
    limit: Callable[[], Limit]


def draw(seed: int, count: int = PROVIDERS) -> list[Scenario]:
    """The same seed draws the same providers."""
    rng = Random(seed)
    return [draw_one(rng) for _ in range(count)]


def draw_one(rng: Random) -> Scenario:
    """The order of the draws is part of the law: another order would be other providers."""
    manners = rng.choice(MANNERS)
    rate = math.exp(rng.uniform(math.log(1.5), math.log(250)))
    kind = rng.choice(KINDS)
    ban_after = rng.choice(BANS)
    drawn = draw_limit(kind, rate, rng)
    if kind == "conc" and manners == "hdr":  # no header has words for it
        manners = "none"
    falls = kind in CAN_CHANGE and rng.random() < 0.3
    spikes = rng.random() < 0.2
    moods = [
        f" ban{ban_after}" if ban_after else "",
        " drop" if falls else "",
        " 5xx" if spikes else "",
    ]
    return Scenario(
        name=f"{drawn.name} {manners}{''.join(moods)}",
        limit=drawn.limit,
        manners=SPOKEN[manners],
        seconds=SECONDS,
        workers=WORKERS,
        changes=((200, 0.25), (400, 1.0)) if falls else (),
        spikes=Spikes(40, 4, 0.4) if spikes else None,
        ban_after=ban_after,
    )


def draw_limit(kind: str, rate: float, rng: Random) -> Drawn:
    """A limit of this kind that allows about `rate` a second."""
    if kind == "tb":
        burst = max(2, round(rate * rng.choice(BURST_S)))
        return Drawn(f"tb {rate:.1f}/s b{burst}", partial(TokenBucket, rate, burst))
    if kind == "conc":
        most = rng.randint(4, 40)
        return Drawn(f"conc {most}", partial(InFlight, most, LATENCY.mean_s))
    seconds = int(kind[2:])
    count = max(2, round(rate * seconds))
    name = f"{kind[:2]} {count}/{seconds}s"
    if kind.startswith("fw"):
        return Drawn(name, partial(FixedWindow, count, seconds, rng.random()))
    return Drawn(name, partial(SlidingWindow, count, seconds))
