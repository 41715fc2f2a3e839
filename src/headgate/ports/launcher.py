"""Start a worker process, or a process that runs a suspect alone."""

from typing import Protocol

import msgspec

from headgate.core.failing import ErrorLimit


class ErrorCounting(msgspec.Struct, frozen=True):
    """What a worker needs to count failed rows together with the other processes of a run."""

    fd: int
    """Shared memory, which the worker inherits under the same number."""
    slot: int
    """Its part of that memory."""
    limit: ErrorLimit
    rows: int
    """Rows to run."""


class WorkerOrder(msgspec.Struct, frozen=True):
    worker: str
    session: str
    jobs: tuple[int, ...] | None
    concurrency: int
    alone: bool = False
    budget_s: float | None = None
    ids: tuple[int, ...] | None = None
    """Only these items, all of the one job in `jobs`."""
    errors: ErrorCounting | None = None
    """The limit on failed rows; None: there is none."""


class WorkerReport(msgspec.Struct, frozen=True):
    ready: bool = False
    stuck: bool = False
    error: str | None = None
    """Why it cannot continue, in words."""
    error_kind: str | None = None
    warning: str | None = None
    """A problem of a handler, in words for its author."""
    crash: str | None = None
    """What the handler did that ends the process; the rows in flight become suspects."""


class WorkerProcess(Protocol):
    pid: int

    def poll(self) -> int | None:
        """Its exit code, or None while it runs."""
        ...

    def reports(self) -> list[WorkerReport]:
        """Its messages since the last call; never waits."""
        ...

    def stop(self, *, now: bool) -> None:
        """Ask it to end: after its running items, or (`now`) handing them back."""
        ...

    def kill(self) -> None: ...

    def close(self) -> None:
        """Release the resources of a process that has ended."""
        ...


class Launcher(Protocol):
    """Starts worker processes, each with the shared memory of its flight board."""

    def launch(self, order: WorkerOrder, board_fd: int) -> WorkerProcess:
        """Start a process; it inherits `board_fd`."""
        ...
