"""Time limits for many waits at once.

A timer for each request and for each piece of a body is a good part of the cost of a small request.
So one timer checks all exchanges ten times a second, and a limit may act a tenth of a second late.
"""

import asyncio
from typing import Any

from headgate.ports.wire import WireTimeouts


class TimedWait:
    """The time limits of one exchange.

    A task that waits for the server sets `task` before and clears it after. In between the timer
    may cancel it, and `overdue` then returns the reason.
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

    def check(self, now: float) -> None:
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
        """After a cancellation, return the limit that passed; empty if another task cancelled."""
        task, self.task = self.task, None
        if not self._why or task is None or task.uncancel() > self._cancelling:
            return ""
        return self._why


class Timeouts:
    TICK_S = 0.1

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._tick: asyncio.TimerHandle | None = None
        self.waits: set[TimedWait] = set()
        self.time = loop.time

    def begin(self, patience: WireTimeouts) -> TimedWait:
        """Start the limits of an exchange; the caller must `end` it."""
        wait = TimedWait(patience, asyncio.current_task(self._loop), self.time())
        self.waits.add(wait)
        if self._tick is None:
            self._tick = self._loop.call_later(self.TICK_S, self._check)
        return wait

    def end(self, wait: TimedWait) -> None:
        """Stop checking. Ending twice is harmless."""
        self.waits.discard(wait)

    def _check(self) -> None:
        now = self.time()
        for wait in tuple(self.waits):
            wait.check(now)
        self._tick = self._loop.call_later(self.TICK_S, self._check) if self.waits else None
