"""Starting a process that wires everything: a worker, or one that runs a suspect alone."""

from typing import Protocol

import msgspec


class WorkerOrder(msgspec.Struct, frozen=True):
    """What a worker process is told when it starts."""

    worker: str
    session: str
    jobs: tuple[int, ...] | None
    concurrency: int
    alone: bool = False
    budget_s: float | None = None
    ids: tuple[int, ...] | None = None
    """Only these items, which are of the one job in `jobs`."""


class WorkerReport(msgspec.Struct, frozen=True):
    """What a worker process tells its supervisor."""

    ready: bool = False
    stuck: bool = False
    error: str | None = None
    """Why it cannot go on, in words."""
    error_kind: str | None = None
    """The class of that error, by name."""
    warning: str | None = None
    """What is wrong with a handler, in words for the people who wrote it."""
    crash: str | None = None
    """What a handler did to the process, which ends of it; the rows in flight are suspects."""


class WorkerProcess(Protocol):
    """A worker process that was started."""

    pid: int

    def poll(self) -> int | None:
        """Its exit code, or None while it lives."""
        ...

    def reports(self) -> list[WorkerReport]:
        """What it has said since the last call; never waits."""
        ...

    def stop(self, *, now: bool) -> None:
        """Ask it to end: after its running items, or handing them back."""
        ...

    def kill(self) -> None:
        """End it at once."""
        ...

    def close(self) -> None:
        """Forget a process that has ended."""
        ...


class Launcher(Protocol):
    """Starts worker processes, each with the shared memory of its board."""

    def launch(self, order: WorkerOrder, board_fd: int) -> WorkerProcess:
        """Start one; it inherits `board_fd`."""
        ...
