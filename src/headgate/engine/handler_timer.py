"""The time that counts against the limit of a handler.

The timer stops while at least one request of the handler waits at a gate or the process does work
that is not the handler's, and starts only when a plain function gets its thread. The board shows
the supervisor how much more time the handler has because of that.
"""

from collections.abc import Sequence

from headgate.core.gates.wait import GateTime
from headgate.engine.board import FlightBoard
from headgate.ports.clock import Clock

PAUSED_S = 60.0
"""Seconds that other work of the process may take before the supervisor ends the process."""


class HandlerTimer:
    """Times one execution. Its requests call `begin` and `end` when they wait at a gate."""

    __slots__ = (
        "_board",
        "_clock",
        "_gates",
        "_longest_s",
        "_slots",
        "_thread",
        "limit_s",
        "started_s",
    )

    def __init__(
        self, clock: Clock, board: FlightBoard, limit_s: float, longest_wait_s: float
    ) -> None:
        """`longest_wait_s` bounds the time at gates that does not count."""
        self._clock = clock
        self._board = board
        self._longest_s = longest_wait_s
        # Each execution gets a timer, so the parts that most handlers never need are made on
        # demand.
        self._gates: GateTime | None = None
        self._thread: _ThreadWait | None = None
        self._slots: Sequence[int] = ()
        self.limit_s = limit_s
        self.started_s = clock.monotonic()

    def start(self, slots: Sequence[int]) -> None:
        self._slots = slots

    def stop(self) -> None:
        """The handler has ended. Requests that it left behind change nothing any more."""
        self._slots = ()

    def begin(self) -> None:
        now_s = self._clock.monotonic()
        if self._gates is None:
            self._gates = GateTime()
        self._gates.begin(now_s)
        # Earlier than that, `is_over` writes it long before the limit matters; most waits need no
        # write.
        if 2.0 * (now_s - self.started_s) > self.limit_s:
            self._show(self.waited_s(now_s) + self.limit_s)

    def pause(self) -> None:
        """The process does other work now, which may block the event loop; `end` ends it."""
        self.begin()
        # `is_over` cannot write it while the loop is blocked.
        self._show(self.waited_s(self._clock.monotonic()) + PAUSED_S)

    def end(self) -> None:
        """The request goes on. `is_over` corrects what the board shows."""
        if self._gates is not None:
            self._gates.end(self._clock.monotonic())

    def await_thread(self) -> None:
        """The handler is a plain function, which waits for a thread."""
        now_s = self._clock.monotonic()
        # The other half of a pack has waited before.
        earlier_s = self._thread.total_s(now_s) if self._thread else 0.0
        self._thread = _ThreadWait(now_s, earlier_s)

    def has_thread(self) -> None:
        """The handler begins. Its thread calls this."""
        if self._thread is not None:
            self._thread.ended_s = self._clock.monotonic()

    def waited_s(self, now_s: float) -> float:
        """Seconds that do not count: at gates, and before the handler had a thread."""
        waited_s = self._gates.total_s(now_s) if self._gates else 0.0
        if self._thread:
            waited_s += self._thread.total_s(now_s)
        return min(waited_s, self._longest_s)

    def ran_s(self, now_s: float) -> float:
        """Seconds that count."""
        return now_s - self.started_s - self.waited_s(now_s)

    def is_over(self, now_s: float) -> bool:
        if now_s - self.started_s <= self.limit_s:
            return False
        waited_s = self.waited_s(now_s)
        self._show(waited_s + (self.limit_s if self._is_waiting else 0.0))
        return now_s - self.started_s - waited_s > self.limit_s

    @property
    def _is_waiting(self) -> bool:
        for_thread = self._thread is not None and self._thread.ended_s is None
        return for_thread or (self._gates is not None and self._gates.is_waiting)

    def _show(self, excused_s: float) -> None:
        """Show the supervisor the time that the handler has beside its limit.

        During a wait that is once more its limit, written again at each tick. A blocked loop writes
        nothing, so a handler that blocks it is ended after that time.
        """
        for slot in self._slots:
            self._board.extend_limit(slot, excused_s)


class _ThreadWait:
    """Seconds until a plain function got a thread."""

    __slots__ = ("_began_s", "_earlier_s", "ended_s")

    def __init__(self, began_s: float, earlier_s: float) -> None:
        self._began_s = began_s
        self._earlier_s = earlier_s
        self.ended_s: float | None = None

    def total_s(self, now_s: float) -> float:
        return self._earlier_s + (self.ended_s or now_s) - self._began_s
