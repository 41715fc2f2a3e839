"""The operations that commands use, independent of whether a store or a server runs them.

Commands use only this interface. `app/local` implements it on a store, `app/remote` over HTTP;
both return the values of `headgate.schema`, so that they are shown alike.
"""

from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import msgspec

from headgate.engine.export import ExportReport
from headgate.engine.export_check import ExportCheckReport
from headgate.engine.job_control import ReplaySelection
from headgate.engine.queues import QueueRow
from headgate.ports.items import RequeueRequest, ReviewDecision
from headgate.ports.reads import ItemQuery
from headgate.schema.events import EventView
from headgate.schema.gates import GateList
from headgate.schema.items import ItemView, ItemWhole, Replayed, Why
from headgate.schema.jobs import ErrorGroupView, FedView, JobResponse, WaitView
from headgate.schema.mirrors import (
    DifferenceView,
    FieldView,
    Forgotten,
    MirrorDetail,
    MirrorView,
    PassReport,
    PassView,
    RowChangeView,
    RowDetail,
    RowView,
)
from headgate.schema.system import WorkerView
from headgate.schema.values import Page
from headgate.transfer.sources import WriteOptions

SHOWN_EVENTS = 10


class JobOverview(msgspec.Struct, frozen=True, kw_only=True):
    job: JobResponse
    limit: WaitView | None
    at_work: bool
    """True if a command, worker or server runs it or reads its file."""
    failures: Sequence[ErrorGroupView]
    events: Sequence[EventView]
    """The newest events, oldest first."""
    handler_problem: str = ""
    """Reason why its handler cannot be loaded; always empty from a server."""
    options: Mapping[str, Any] | None = None
    """Options that decide the result; None: unknown, as always from a server."""
    read_by_server: bool = False
    """True if a server reads the source; only from a store."""


class QueueWrite(msgspec.Struct, frozen=True):
    queue: str
    handler: str | None = None
    key: tuple[str, ...] = ()


class StreamPlace(NamedTuple):
    """A stream and the mirror that it belongs to."""

    mirror_id: int
    stream_id: int


class PassPair(NamedTuple):
    older: int
    newer: int


class PageOf(NamedTuple):
    """Which page of a list."""

    after: str | None = None
    """`next` of the page before."""
    limit: int = 500


FIRST_PAGE = PageOf()


class JobVerbs(Protocol):
    async def ls(self, after: int, limit: int) -> list[JobResponse]:
        """Jobs older than `after` (0: all), newest first."""
        ...

    async def get(self, job_id: int) -> JobResponse:
        """One job; raises UnknownJob."""
        ...

    async def account(self, job_id: int) -> JobOverview: ...

    async def pause(self, job_id: int) -> JobResponse: ...

    async def resume(self, job_id: int) -> JobResponse: ...

    async def cancel(self, job_id: int) -> JobResponse: ...

    async def set_priority(self, job_id: int, priority: int) -> JobResponse: ...

    async def remove(self, job_id: int) -> None: ...

    async def reprocess(self, request: RequeueRequest, *, dry_run: bool) -> int:
        """Requeue finished items, or only count them.

        Items that reached their last attempt stay, unless attempts are reset or items are named.
        """
        ...


class ItemVerbs(Protocol):
    async def page(self, query: ItemQuery) -> Page[ItemView]:
        """Items of a job, or UnknownJob; across jobs, only dead letters."""
        ...

    async def by_key(self, key: str, job_id: int | None) -> Sequence[ItemView]:
        """The items with this key, newest jobs first."""
        ...

    async def account(self, item_id: int) -> ItemWhole:
        """One item with its history and wait; raises UnknownItem."""
        ...

    async def why(self, item_id: int) -> Why: ...

    async def decide(self, decision: ReviewDecision) -> ItemWhole: ...

    async def replay(self, what: ReplaySelection, *, dry_run: bool) -> Replayed: ...


class QueueVerbs(Protocol):
    async def ls(self) -> list[JobResponse]:
        """Every open queue, oldest first."""
        ...

    async def get(self, name: str) -> JobResponse:
        """One queue; raises UnknownJob."""
        ...

    async def feed(self, queue_write: QueueWrite, rows: AsyncIterator[QueueRow | None]) -> FedView:
        """Add rows to a queue; None among them means that no more are available yet."""
        ...

    async def close(self, name: str) -> JobResponse: ...


class GateReads(Protocol):
    async def ls(self, *, everything: bool) -> GateList:
        """Gates that were used or declared; with `everything`, also the built-in ones."""
        ...

    async def show(self, name: str) -> GateList: ...


class GateVerbs(GateReads, Protocol):
    async def set_rate(self, name: str, rate: str, for_s: float | None) -> GateList: ...

    async def pause(self, name: str, for_s: float | None) -> GateList: ...

    async def resume(self, name: str) -> tuple[list[str], GateList]:
        """Undo the operator's changes; return the keys that had any."""
        ...

    async def learned(self, name: str) -> list[str]: ...

    async def forget(self, keys: Sequence[str]) -> list[str]:
        """Drop the stored state of these keys; return the keys that had one."""
        ...


class ExportVerbs(Protocol):
    async def write(self, job_id: int, out: Path, options: WriteOptions) -> ExportReport:
        """Write all rows; the file appears when it is complete, with its record beside it."""
        ...

    async def check(self, job_id: int, file: Path, stated: str | None) -> ExportCheckReport: ...


class MirrorVerbs(Protocol):
    async def ls(self) -> list[MirrorView]:
        """All mirrors, by name."""
        ...

    async def get(self, mirror_id: int) -> MirrorDetail:
        """One mirror with the description of its source; raises UnknownMirror."""
        ...

    async def passes(self, mirror_id: int, page: PageOf = FIRST_PAGE) -> Page[PassView]:
        """Passes of a mirror, newest first."""
        ...

    async def show(self, job_id: int) -> PassView:
        """One pass; UnknownJob if it is not one."""
        ...

    async def report(self, job_id: int) -> PassReport: ...

    async def rows(
        self, place: StreamPlace, page: PageOf = FIRST_PAGE, *, deleted: bool = False
    ) -> Page[RowView]:
        """Rows in the order in which they were first seen; with `deleted`, also deleted ones."""
        ...

    async def row(self, place: StreamPlace, row_id: str) -> RowDetail:
        """One row with its changes; raises UnknownMirror."""
        ...

    async def changes(self, place: StreamPlace, page: PageOf = FIRST_PAGE) -> Page[RowChangeView]:
        """The change log of a stream, oldest first."""
        ...

    async def fields(self, place: StreamPlace) -> list[FieldView]:
        """Fields in the order in which they were first seen."""
        ...

    async def differences(
        self, place: StreamPlace, between: PassPair, page: PageOf = FIRST_PAGE
    ) -> Page[DifferenceView]:
        """How rows differ between the ends of two passes; a page may be short before the last."""
        ...

    async def forget(self, mirror_id: int) -> Forgotten:
        """Remove a bounded part of a mirror; repeat it until it is done."""
        ...


class Service(Protocol):
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

    @property
    def mirrors(self) -> MirrorVerbs: ...

    async def is_at_work(self, job_ids: Sequence[int]) -> bool:
        """True if each of these jobs has a worker, so that the command need not start one."""
        ...

    async def workers(self, *, everybody: bool) -> list[WorkerView]:
        """Running workers, or all; newest first."""
        ...
