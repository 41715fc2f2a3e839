"""Worker processes that exist only in the eyes of their supervisor."""

import os
from collections.abc import Callable

from headgate.engine.board import FlightBoard
from headgate.ports.launcher import WorkerOrder, WorkerReport


class FakeProcess:
    """Does what a test tells it to; its pid is our own, which is certainly alive."""

    def __init__(self, board: FlightBoard | None = None) -> None:
        self.pid = os.getpid()
        self.board = board
        self.code: int | None = None
        self.stops: list[bool] = []
        self.closed = False
        self._unheard: list[WorkerReport] = []

    def say(self, report: WorkerReport) -> None:
        """Speak to the supervisor."""
        self._unheard.append(report)

    def poll(self) -> int | None:
        """Its exit code, or None while it lives."""
        return self.code

    def reports(self) -> list[WorkerReport]:
        """What it has said since the last call."""
        heard, self._unheard = self._unheard, []
        return heard

    def stop(self, *, now: bool) -> None:
        """Remember that it was told to stop."""
        self.stops.append(now)

    def kill(self) -> None:
        """End it at once."""
        if self.code is None:
            self.code = -9

    def close(self) -> None:
        """Forget it."""
        self.closed = True


class FakeLauncher:
    """Starts fake processes, each of which is shown to `script` when it begins."""

    def __init__(self, script: Callable[[WorkerOrder, FakeProcess], None]) -> None:
        self._script = script
        self.orders: list[WorkerOrder] = []
        self.processes: list[FakeProcess] = []

    def launch(self, order: WorkerOrder, board_fd: int) -> FakeProcess:
        """Start one, on a view of its own of the board."""
        process = FakeProcess(FlightBoard(os.dup(board_fd)))
        self.orders.append(order)
        self.processes.append(process)
        self._script(order, process)
        return process
