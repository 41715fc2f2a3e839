"""Rights to send that a process gets from the shared state: send slots and permits.

Send slots are times at which requests may be sent, on lines that several processes share.
With only a part of the rate for each, two processes would often send at the same moment, and a
provider that does not accept bursts refuses that at any rate. So there are as many lines as
processes, with the slots of one evenly between the slots of the others, and each process books its
next slots on the line that is free first. All requests together are spaced like the requests of one
process, and so are the requests of each process.

A permit is for one request while the gate is stopped, and until it has reopened safely.
"""

import math
from collections import deque
from collections.abc import Sequence
from typing import NamedTuple


class SlotLines(NamedTuple):
    rate: float
    """Slots a second, of all processes together."""
    part: float
    """Our part of the rate, from 0 to 1."""
    members: int
    lag: float = 0.0
    """Slots that we have had less than the others."""
    free_from: float = 0.0


class SendSlots:
    """The slots booked by this process. A missed slot may be used a little later."""

    WORTH_S = 0.5
    """Seconds of its part of the rate that a process books at a time."""
    LEAD_S = 0.25
    """A process books again when its last slot is at most this many seconds away."""
    STEP_S = 0.01
    """Seconds until the first slot booked, since the ledger needs time to answer."""
    MOST = 1_000.0
    """Requests a second above which nothing is booked: no clock wakes a process that exactly."""
    AHEAD_S = 1.0
    """Seconds ahead that slots are booked, since the rate may change; the next slot may be later.
    """
    LATE_S = 0.2
    """Seconds for which a missed slot may still be used."""

    def __init__(self) -> None:
        self._moments: deque[float] = deque()
        self._offered: list[float] = []

    def next(self, now: float) -> float:
        """The first slot that is not too old; infinite if there is none."""
        while self._moments and self._moments[0] < now - self.LATE_S:
            self._moments.popleft()
        return self._moments[0] if self._moments else math.inf

    def use(self) -> None:
        if self._moments:
            self._moments.popleft()

    def are_short(self, now: float) -> bool:
        return not self._moments or self._moments[-1] < now + self.LEAD_S

    def book(self, lines: Sequence[float], now: float, standing: SlotLines) -> list[float]:
        """Propose slots; return for each line its first unreserved slot after that."""
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
        """The lines as they are, or new ones behind them if the number of processes changed."""
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
        return len(self._offered)

    def accept(self) -> None:
        self._moments = deque(sorted([*self._moments, *self._offered]))
        self._offered = []

    def clear(self) -> None:
        """The gate has stopped: drop all slots."""
        self._moments.clear()
        self._offered = []


class Permits:
    def __init__(self) -> None:
        self.granted = 0
        """Permits not used yet."""
        self.are_needed = False
        """A request could be sent with a permit."""
        self._offered = 0

    def use(self) -> bool:
        """Use a permit, if there is one."""
        if not self.granted:
            return False
        self.granted -= 1
        return True

    def propose(self) -> None:
        """The present proposal contains a permit for us."""
        self._offered = 1

    def accept(self) -> None:
        self.granted += self._offered
        self._offered = 0
        self.are_needed = False

    def reject(self) -> None:
        self._offered = 0
