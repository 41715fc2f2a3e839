"""How a job stood over time, in a room that does not grow."""

from collections.abc import Sequence

import msgspec

from headgate.core.gates.view import GateView
from headgate.core.job import Counts


class GatePoint(msgspec.Struct, frozen=True):
    """What a gate let through at a moment, and how it answered."""

    name: str
    now_per_s: float | None
    latency_s: float | None
    refused_share: float
    in_flight: int


class Reading(msgspec.Struct, frozen=True):
    """How a job stood at a moment."""

    at_us: int
    counts: Counts
    gates: Sequence[GatePoint] = ()


class Track:
    """Readings of one job: the longer it runs, the further they lie apart."""

    KEPT = 240

    def __init__(self) -> None:
        self._kept: list[Reading] = []
        self._last: Reading | None = None
        self._seen = 0
        self._step = 1

    def add(self, reading: Reading) -> None:
        """Take in how it stands now."""
        if self._seen % self._step == 0:
            self._kept.append(reading)
        self._seen += 1
        self._last = reading
        if len(self._kept) >= self.KEPT:
            self._kept = self._kept[::2]
            self._step *= 2

    @property
    def readings(self) -> list[Reading]:
        """What was kept, oldest first; the last one is always among them."""
        is_last_kept = not self._kept or self._kept[-1] is self._last
        return self._kept if is_last_kept or self._last is None else [*self._kept, self._last]


MOST_GATES = 4
"""Gates of a reading: those that answered most."""


def points_of(views: Sequence[GateView]) -> list[GatePoint]:
    """What is kept of gates."""
    busiest = sorted(views, key=lambda view: view.replies, reverse=True)[:MOST_GATES]
    return [
        GatePoint(view.name, view.now_per_s, view.latency_s, view.refused_share, view.in_flight)
        for view in busiest
        if view.replies
    ]
