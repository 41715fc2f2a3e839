"""Moments at which requests may go, on time lines that several processes share.

With a part of the rate for each and no more, two processes would often send at the same moment,
which a provider without patience for bursts refuses at any rate. So there are as many lines as
processes, their moments evenly between each other's, and each process books its next moments on
the line that is free first. All requests together are spaced as those of one process, and those
of each process are as well.
"""

import math
from collections import deque
from collections.abc import Sequence
from typing import NamedTuple


class SlotLines(NamedTuple):
    """Where we stand among all that book."""

    rate: float
    """Moments a second, for all together."""
    part: float
    """What is ours of them, from nothing to one."""
    members: int
    lag: float = 0.0
    """How many we have had less than the others."""
    free_from: float = 0.0
    """No line begins earlier."""


class SendSlots:
    """The moments that are ours. One that was missed may be used a little later."""

    WORTH_S = 0.5
    """So much of its part of the rate a process books at a time."""
    LEAD_S = 0.25
    """It books again when the last of its moments is so near."""
    STEP_S = 0.01
    """Nothing is booked that would be over before the ledger has answered."""
    MOST = 1_000.0
    """Above so many a second nothing is booked: no clock wakes anybody that exactly."""
    AHEAD_S = 1.0
    """Nothing is booked further ahead, since the rate may change, unless it is somebody's next."""
    LATE_S = 0.2
    """For so long a moment may be used that nobody could use in time."""

    def __init__(self) -> None:
        self._moments: deque[float] = deque()
        self._offered: list[float] = []

    def next(self, now: float) -> float:
        """The first moment that is not too old; infinite if there is none."""
        while self._moments and self._moments[0] < now - self.LATE_S:
            self._moments.popleft()
        return self._moments[0] if self._moments else math.inf

    def use(self) -> None:
        """A request went out."""
        if self._moments:
            self._moments.popleft()

    def are_short(self, now: float) -> bool:
        """Whether it is time to book."""
        return not self._moments or self._moments[-1] < now + self.LEAD_S

    def book(self, lines: Sequence[float], now: float, standing: SlotLines) -> list[float]:
        """Propose moments; returns for each line the first that is nobody's then."""
        self._offered = []
        gap_s = standing.members / standing.rate
        free = self._lines(lines, now, standing, gap_s)
        if not self.are_short(now):
            return free
        latest = now + max(self.AHEAD_S, 2 * gap_s)
        wanted = self._wanted(standing)
        chunk = max(1, round(standing.rate * self.WORTH_S / standing.members))
        while wanted > 0:
            line = free.index(min(free))
            fitting = math.floor((latest - free[line]) / gap_s) + 1
            count = min(wanted, chunk, fitting)
            if count <= 0:
                break
            self._offered += [free[line] + place * gap_s for place in range(count)]
            free[line] += count * gap_s
            wanted -= count
        return free

    def _lines(
        self, lines: Sequence[float], now: float, standing: SlotLines, gap_s: float
    ) -> list[float]:
        """The lines as they are, or new ones behind them where somebody came or went."""
        earliest = now + self.STEP_S
        if len(lines) == standing.members:
            return [at + max(0, math.ceil((earliest - at) / gap_s)) * gap_s for at in lines]
        begin = max(earliest, standing.free_from, *lines)
        return [begin + place / standing.rate for place in range(standing.members)]

    def _wanted(self, standing: SlotLines) -> int:
        fair = standing.part * standing.rate * self.WORTH_S
        return max(1, round(fair + min(max(standing.lag, -fair / 2), fair / 2)))

    @property
    def offered(self) -> int:
        """How many the present proposal books."""
        return len(self._offered)

    def accept(self) -> None:
        """The proposal was kept."""
        self._moments = deque(sorted([*self._moments, *self._offered]))
        self._offered = []

    def clear(self) -> None:
        """The gate has stopped: no moment counts any longer."""
        self._moments.clear()
        self._offered = []
