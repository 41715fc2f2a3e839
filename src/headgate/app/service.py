"""What people ask of Headgate, whoever answers: the store at hand, or a server far away.

Commands know these verbs alone. `app/local` carries them out on a store, `app/remote` asks a
server for them; both answer with the values that a store keeps, so that they are shown alike.
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
    """A job with its counters."""

    job: Job
    counts: Counts


class JobDetails(msgspec.Struct, frozen=True):
    """A job with all that is known of its progress."""

    job: Job
    counts: Counts
    limit: Wait | None
    """What decides its speed."""
    at_work: bool
    """A command, worker or server works on it or reads its file."""
    failures: Sequence[ErrorGroup]
    events: Sequence[EventRow]
    """The newest, oldest first."""
    handler_problem: str = ""
    """Why its handler cannot be loaded; empty if it can, or if a server knows."""


class ItemHistoryView(msgspec.Struct, frozen=True):
    """An item with its history and what it waits for."""

    detail: ItemDetail
    attempts: Sequence[AttemptRow]
    wait: Wait | None
    decision: str | None = None
    """What a person decided about it the last time, and why."""


class ItemWait(msgspec.Struct, frozen=True):
    """What an item waits for, or how it ended."""

    status: ItemStatus
    wait: Wait | None
    """None: it is finished."""
    ended: str = ""
    """How it ended; empty: it is open."""
    todo: str = ""
    """What can be done about it."""


class QueueWrite(msgspec.Struct, frozen=True):
    """Which queue gets rows, and how it knows them apart."""

    queue: str
    handler: str | None = None
    key: tuple[str, ...] = ()


class QueueWritten(msgspec.Struct, frozen=True):
    """What became of the rows."""

    job_id: int
    report: QueueWriteReport


class JobVerbs(Protocol):
    """Batches."""

    async def ls(self, after: int, limit: int) -> list[JobWithCounts]:
        """Jobs older than `after` (0: all), newest first."""
        ...

    async def get(self, job_id: int) -> JobWithCounts:
        """One job, or UnknownJob."""
        ...

    async def account(self, job_id: int) -> JobDetails:
        """One job with everything."""
        ...

    async def pause(self, job_id: int) -> Job:
        """Stop new work on it."""
        ...

    async def resume(self, job_id: int) -> Job:
        """Let it go on."""
        ...

    async def cancel(self, job_id: int) -> Job:
        """End it."""
        ...

    async def set_priority(self, job_id: int, priority: int) -> Job:
        """Change its share."""
        ...

    async def remove(self, job_id: int) -> None:
        """Delete it with everything that belongs to it."""
        ...

    async def reprocess(self, request: RequeueRequest, *, dry_run: bool) -> int:
        """Bring finished items back, or only count them.

        Items that reached their last attempt stay, unless attempts are reset or they are named.
        """
        ...


class ItemVerbs(Protocol):
    """Single rows."""

    async def page(self, query: ItemQuery) -> Page:
        """Items of a job, or UnknownJob; across jobs dead letters alone."""
        ...

    async def by_key(self, key: str, job_id: int | None) -> Sequence[ItemRow]:
        """The items that have this key, those of the newest jobs first."""
        ...

    async def account(self, item_id: int) -> ItemHistoryView:
        """One item with everything, or UnknownItem."""
        ...

    async def why(self, item_id: int) -> ItemWait:
        """What an item waits for."""
        ...

    async def decide(self, decision: ReviewDecision) -> ItemDetail:
        """Carry out a person's decision; the item as it is then."""
        ...

    async def replay(self, what: Replay, *, dry_run: bool) -> Replayed:
        """Bring dead letters back, or only count them."""
        ...


class QueueVerbs(Protocol):
    """Open queues, by name."""

    async def ls(self) -> list[JobWithCounts]:
        """Every queue that is not closed, oldest first."""
        ...

    async def get(self, name: str) -> JobWithCounts:
        """One queue, or UnknownJob."""
        ...

    async def feed(
        self, queue_write: QueueWrite, rows: AsyncIterator[QueueRow | None]
    ) -> QueueWritten:
        """Put rows in; None among them means that nothing more has come yet."""
        ...

    async def close(self, name: str) -> Job:
        """Take no more items."""
        ...


class GateReads(Protocol):
    """Gates that are looked at, by the names that people give them."""

    async def ls(self, *, everything: bool) -> GateReading:
        """Those that were used or declared; `everything`: also what is shipped."""
        ...

    async def show(self, name: str) -> GateReading:
        """Those that a name means."""
        ...


class GateVerbs(GateReads, Protocol):
    """The same, and steered."""

    async def set_rate(self, name: str, rate: str, for_s: float | None) -> GateReading:
        """Overrule what was learned."""
        ...

    async def pause(self, name: str, for_s: float | None) -> GateReading:
        """Send nothing more."""
        ...

    async def resume(self, name: str) -> tuple[list[str], GateReading]:
        """Take back what was said; the keys where there was anything."""
        ...

    async def learned(self, name: str) -> list[str]:
        """The keys of which anything is known."""
        ...

    async def forget(self, keys: Sequence[str]) -> list[str]:
        """Drop what is known of these keys; those where there was anything."""
        ...


class ExportVerbs(Protocol):
    """A job's rows in files."""

    async def write(self, job_id: int, out: Path, options: WriteOptions) -> ExportReport:
        """Write all rows; the file appears when it is complete, with its record beside it."""
        ...

    async def check(self, job_id: int, file: Path, stated: str | None) -> ExportCheckReport:
        """Compare a file with the rows."""
        ...


class Service(Protocol):
    """All of it."""

    @property
    def jobs(self) -> JobVerbs:
        """Batches."""
        ...

    @property
    def items(self) -> ItemVerbs:
        """Single rows."""
        ...

    @property
    def queues(self) -> QueueVerbs:
        """Open queues."""
        ...

    @property
    def gates(self) -> GateVerbs:
        """Limits of outside services."""
        ...

    @property
    def exports(self) -> ExportVerbs:
        """Files."""
        ...

    async def is_at_work(self, job_ids: Sequence[int]) -> bool:
        """Whether a worker is there for each of these jobs, so that none need be started."""
        ...

    async def workers(self, *, everybody: bool) -> list[WorkerRow]:
        """Who is at work, newest first."""
        ...
