"""The operations that commands use, independent of whether a store or a server runs them.

Commands use only this interface. `app/local` implements it on a store, `app/remote` over HTTP;
both return the values of a store, so that they are shown alike.
"""

from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Protocol

import msgspec

from headgate.core.gates.wait import Wait
from headgate.core.job import Counts, Job
from headgate.core.status import ItemStatus
from headgate.core.worker import WorkerRow
from headgate.engine.export import ExportReport
from headgate.engine.export_check import ExportCheckReport
from headgate.engine.gate_control import GateReading
from headgate.engine.job_control import Replay, Replayed
from headgate.engine.queues import QueueRow, QueueWriteReport
from headgate.ports.items import RequeueRequest, ReviewDecision
from headgate.ports.reads import (
    AttemptRow,
    ErrorGroup,
    EventRow,
    ItemDetail,
    ItemQuery,
    ItemRow,
    Page,
)
from headgate.transfer.sources import WriteOptions

SHOWN_EVENTS = 10


class JobWithCounts(msgspec.Struct, frozen=True):
    job: Job
    counts: Counts


class JobDetails(msgspec.Struct, frozen=True):
    """A job with its progress, failures and newest events."""

    job: Job
    counts: Counts
    limit: Wait | None
    """The wait that limits its speed."""
    at_work: bool
    """True if a command, worker or server runs it or reads its file."""
    failures: Sequence[ErrorGroup]
    events: Sequence[EventRow]
    """The newest events, oldest first."""
    handler_problem: str = ""
    """Reason why its handler cannot be loaded; always empty from a server."""


class ItemHistoryView(msgspec.Struct, frozen=True):
    detail: ItemDetail
    attempts: Sequence[AttemptRow]
    wait: Wait | None
    decision: str | None = None
    """The last decision of a reviewer, with its reason."""


class ItemWait(msgspec.Struct, frozen=True):
    """The wait of an item, or how it ended."""

    status: ItemStatus
    wait: Wait | None
    """None if the item is finished."""
    ended: str = ""
    """How it ended; empty if the item is open."""
    todo: str = ""
    """Advice on what to do."""


class QueueWrite(msgspec.Struct, frozen=True):
    """The queue that gets rows, its handler, and its key columns."""

    queue: str
    handler: str | None = None
    key: tuple[str, ...] = ()


class QueueWritten(msgspec.Struct, frozen=True):
    job_id: int
    report: QueueWriteReport


class JobVerbs(Protocol):
    async def ls(self, after: int, limit: int) -> list[JobWithCounts]:
        """Jobs older than `after` (0: all), newest first."""
        ...

    async def get(self, job_id: int) -> JobWithCounts:
        """One job; raises UnknownJob."""
        ...

    async def account(self, job_id: int) -> JobDetails:
        """One job with its limits, failures and events."""
        ...

    async def pause(self, job_id: int) -> Job: ...

    async def resume(self, job_id: int) -> Job: ...

    async def cancel(self, job_id: int) -> Job: ...

    async def set_priority(self, job_id: int, priority: int) -> Job: ...

    async def remove(self, job_id: int) -> None:
        """Delete a job with everything that belongs to it."""
        ...

    async def reprocess(self, request: RequeueRequest, *, dry_run: bool) -> int:
        """Requeue finished items, or only count them.

        Items that reached their last attempt stay, unless attempts are reset or items are named.
        """
        ...


class ItemVerbs(Protocol):
    async def page(self, query: ItemQuery) -> Page:
        """Items of a job, or UnknownJob; across jobs, only dead letters."""
        ...

    async def by_key(self, key: str, job_id: int | None) -> Sequence[ItemRow]:
        """The items with this key, newest jobs first."""
        ...

    async def account(self, item_id: int) -> ItemHistoryView:
        """One item with its history and wait; raises UnknownItem."""
        ...

    async def why(self, item_id: int) -> ItemWait: ...

    async def decide(self, decision: ReviewDecision) -> ItemDetail:
        """Apply a reviewer's decision; return the changed item."""
        ...

    async def replay(self, what: Replay, *, dry_run: bool) -> Replayed:
        """Requeue dead letters, or only count them."""
        ...


class QueueVerbs(Protocol):
    async def ls(self) -> list[JobWithCounts]:
        """Every open queue, oldest first."""
        ...

    async def get(self, name: str) -> JobWithCounts:
        """One queue; raises UnknownJob."""
        ...

    async def feed(
        self, queue_write: QueueWrite, rows: AsyncIterator[QueueRow | None]
    ) -> QueueWritten:
        """Add rows to a queue; None among them means that no more are available yet."""
        ...

    async def close(self, name: str) -> Job:
        """Accept no more items."""
        ...


class GateReads(Protocol):
    """Read gates, by the names that people use."""

    async def ls(self, *, everything: bool) -> GateReading:
        """Gates that were used or declared; with `everything`, also the built-in ones."""
        ...

    async def show(self, name: str) -> GateReading:
        """The gates that a name stands for."""
        ...


class GateVerbs(GateReads, Protocol):
    """Read and control gates."""

    async def set_rate(self, name: str, rate: str, for_s: float | None) -> GateReading:
        """Override the learned rate."""
        ...

    async def pause(self, name: str, for_s: float | None) -> GateReading: ...

    async def resume(self, name: str) -> tuple[list[str], GateReading]:
        """Undo the operator's changes; return the keys that had any."""
        ...

    async def learned(self, name: str) -> list[str]:
        """The keys with a stored state."""
        ...

    async def forget(self, keys: Sequence[str]) -> list[str]:
        """Drop the stored state of these keys; return the keys that had one."""
        ...


class ExportVerbs(Protocol):
    """A job's rows in files."""

    async def write(self, job_id: int, out: Path, options: WriteOptions) -> ExportReport:
        """Write all rows; the file appears when it is complete, with its record beside it."""
        ...

    async def check(self, job_id: int, file: Path, stated: str | None) -> ExportCheckReport:
        """Compare a file with the stored rows."""
        ...


class Service(Protocol):
    """All operations."""

    @property
    def jobs(self) -> JobVerbs: ...

    @property
    def items(self) -> ItemVerbs: ...

    @property
    def queues(self) -> QueueVerbs: ...

    @property
    def gates(self) -> GateVerbs: ...

    @property
    def exports(self) -> ExportVerbs: ...

    async def is_at_work(self, job_ids: Sequence[int]) -> bool:
        """True if each of these jobs has a worker, so that the command need not start one."""
        ...

    async def workers(self, *, everybody: bool) -> list[WorkerRow]:
        """Running workers, or all; newest first."""
        ...
