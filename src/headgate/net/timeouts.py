"""Time limits for many waits at once.

A timer for each request and for each piece of a body is a good part of what a small request
costs. So everything under way is looked through ten times a second instead, and a limit may be
kept a tenth of a second late.
"""

import asyncio
from typing import Any

from headgate.ports.wire import WireTimeouts


class TimedWait:
    """The time limits of one exchange.

    Whoever waits for the server sets `task` before and clears it after; in between it may be
    cancelled by the watch, and `overdue` then says why.
    """

    __slots__ = ("_cancelling", "_patience", "_why", "began_s", "since_s", "task")

    def __init__(
        self, patience: WireTimeouts, task: "asyncio.Task[Any] | None", now: float
    ) -> None:
        self._patience = patience
        self._why = ""
        self._cancelling = 0
        self.task = task
        self.began_s = now
        # A head may take as long as a connection and a silence together.
        self.since_s = now + patience.connect_s

    def look(self, now: float) -> None:
        """Wake whoever waits for the server if that has taken too long."""
        task, patience = self.task, self._patience
        if task is None or self._why:
            return
        if patience.total_s is not None and now - self.began_s > patience.total_s:
            self._why = f"took longer than {patience.total_s:g} s"
        elif now - self.since_s > patience.read_s:
            self._why = f"was silent for {patience.read_s:g} s"
        else:
            return
        self._cancelling = task.cancelling()
        task.cancel()

    def overdue(self) -> str:
        """After a cancellation: which limit it was; nothing if somebody else has cancelled."""
        task, self.task = self.task, None
        if not self._why or task is None or task.uncancel() > self._cancelling:
            return ""
        return self._why


class Timeouts:
    """Looks through the exchanges that are under way, as long as there are any."""

    TICK_S = 0.1

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._tick: asyncio.TimerHandle | None = None
        self.waits: set[TimedWait] = set()
        self.time = loop.time

    def begin(self, patience: WireTimeouts) -> TimedWait:
        """Watch over an exchange that begins now; `end` it."""
        wait = TimedWait(patience, asyncio.current_task(self._loop), self.time())
        self.waits.add(wait)
        if self._tick is None:
            self._tick = self._loop.call_later(self.TICK_S, self._look)
        return wait

    def end(self, wait: TimedWait) -> None:
        """Watch over it no more. Doing it twice is harmless."""
        self.waits.discard(wait)

    def _look(self) -> None:
        now = self.time()
        for wait in tuple(self.waits):
            wait.look(now)
        self._tick = self._loop.call_later(self.TICK_S, self._look) if self.waits else None
