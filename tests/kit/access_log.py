"""What a server saw of each request, read from its own log."""

import time
from collections import deque
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from tests.kit.service import WAIT_S, ServiceFailed

REFUSALS = frozenset({429, 503})
MARK = "seen"
"""Begins every line that is about a request: a log may hold other things."""


class Logged(NamedTuple):
    """One request as the server saw it, in UTC seconds."""

    ended_s: float
    took_s: float
    status: int
    path: str

    @property
    def arrived_s(self) -> float:
        """When its head had been read, to the millisecond."""
        return self.ended_s - self.took_s


def read_log(file: Path, at_least: int = 0) -> list[Logged]:
    """Every request until now. A line follows its answer, so name the expected number."""
    deadline = time.monotonic() + WAIT_S
    while len(lines := _lines(file)) < at_least:
        if time.monotonic() > deadline:
            raise ServiceFailed(f"{len(lines)} requests were logged, not {at_least}.")
        time.sleep(0.01)
    return [_logged(line) for line in lines]


def refused(log: Iterable[Logged]) -> list[Logged]:
    """The requests that were too many."""
    return [each for each in log if each.status in REFUSALS]


def peak_rate(log: Iterable[Logged], window_s: float = 1.0) -> float:
    """The most requests that arrived within any window, per second."""
    recent: deque[float] = deque()
    most = 0
    for arrived in sorted(each.arrived_s for each in log):
        recent.append(arrived)
        while recent[0] <= arrived - window_s:
            recent.popleft()
        most = max(most, len(recent))
    return most / window_s


def _lines(file: Path) -> list[str]:
    # The last line may be half written.
    whole = file.read_text().split("\n")[:-1] if file.exists() else []
    return [line for line in whole if line.startswith(f"{MARK} ")]


def _logged(line: str) -> Logged:
    _, ended, took, status, path = line.split(" ", 4)
    return Logged(float(ended), float(took), int(status), path)
