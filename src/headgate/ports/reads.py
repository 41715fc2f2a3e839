"""The read side: pages and counts for users, exports and checks. Keyset pages only."""

from collections.abc import Sequence
from typing import Protocol

import msgspec

from headgate.core.job import Counts, Job
from headgate.core.paging import SortOrder, filter_hash
from headgate.core.status import ItemStatus, JobState
from headgate.core.worker import WorkerRow


class ItemRow(msgspec.Struct, frozen=True):
    """An item for lists, without its whole input."""

    id: int
    job_id: int
    key: str
    line: int
    status: ItemStatus
    summary: str
    attempts: int
    crashes: int
    error_class: str | None
    last_error: str | None
    due_at: int
    locked_by: str | None
    updated_at: int
    result: str | None = None
    """As JSON text, if it was requested."""
    owner: str = ""
    handler: str = ""
    gate: str = ""
    """The gate that it waits for, if it has one of its own."""


class ItemDetail(msgspec.Struct, frozen=True):
    """An item with all fields; JSON columns as text."""

    row: ItemRow
    epoch: int
    strategy: int
    failures: int
    suspect: bool
    input: str
    normalized: str | None
    result: str | None
    leased_at: int | None
    deadline_at: int | None


class AttemptRow(msgspec.Struct, frozen=True):
    """An execution of an item, written when it ended."""

    number: int
    epoch: int
    worker: str
    strategy: int
    outcome: str
    error_class: str | None
    reason: str | None
    leased_at: int
    waited_us: int
    ran_us: int
    ended_at: int
    calls: str | None = None
    """Its network calls: a JSON array of `core.call.Call`."""
    trace: str | None = None
    """Where in the user's code it failed: `core.trace.Trace` as JSON, only in one item's
    history."""


class CallsPage(msgspec.Struct, frozen=True):
    """The calls of some items, as JSON arrays of `core.call.Call`, one for each attempt."""

    texts: Sequence[str]
    next_after_id: int | None
    """Where the next page starts; None: there is none."""


class EventRow(msgspec.Struct, frozen=True):
    id: int
    at: int
    job_id: int | None
    item_id: int | None
    kind: str
    message: str


class EventQuery(msgspec.Struct, frozen=True):
    """Selects events; filters are joined by AND."""

    job_id: int | None = None
    owner: str | None = None
    """Only events of this owner's jobs."""
    after_id: int = 0
    """Beyond this id in the requested order (0: from the beginning)."""
    newest_first: bool = False
    limit: int = 100


class ExportRow(msgspec.Struct, frozen=True):
    id: int
    key: str
    status: ItemStatus
    input: str
    result: str | None
    error_class: str | None
    error: str | None


class JobQuery(msgspec.Struct, frozen=True):
    """Selects jobs, newest first; filters are joined by AND."""

    owner: str | None = None
    states: frozenset[JobState] = frozenset()
    handler: str | None = None
    text: str | None = None
    """Part of the job's name or the file's name, in any case."""
    read_by_server: bool = False
    after_id: int = 0
    """The last id of the page before (0: from the top)."""
    limit: int = 100
    configs: bool = True
    """Include `config`, `reading` and `options`. They may be large, so lists leave them empty."""


class ErrorGroup(msgspec.Struct, frozen=True):
    error_class: str
    signature: str
    """The text that they share; it includes quoted values while there are few different ones."""
    count: int
    item_id: int
    """An example of the group."""
    reason: str
    """The reason of that example."""


class ItemQuery(msgspec.Struct, frozen=True):
    """Selects items and their order. `job_id` None asks across jobs (order UPDATED only)."""

    job_id: int | None
    statuses: frozenset[ItemStatus] = frozenset()
    owner: str | None = None
    handler: str | None = None
    error_class: str | None = None
    signature: str | None = None
    """Only failures with this signature: see `core.signature`."""
    text: str | None = None
    """Part of the key or the summary, in any case (beyond ASCII: as it is, lower, upper or title
    case). One call reads a bounded number of rows, so a page may be short, or empty, and still have
    a `next`."""
    changed_from: int | None = None
    changed_to: int | None = None
    """Last changed at or after `changed_from`, and before `changed_to`; in order UPDATED only."""
    with_result: bool = False
    order: SortOrder = SortOrder.INPUT
    after: str | None = None
    limit: int = 100
    tail: bool = False
    """In order UPDATED, pages end two seconds before now, so that a reader of all pages misses no
    commit that is still under way. With `tail` they reach up to now, for a single look."""

    def filter_name(self) -> str:
        """A digest of the filter: a cursor works only with the filter that it was made for."""
        return filter_hash(
            self.job_id,
            sorted(self.statuses),
            self.owner,
            self.handler,
            self.error_class,
            self.signature,
            self.text,
            self.changed_from,
            self.changed_to,
        )


class ItemRows(msgspec.Struct, frozen=True):
    """Some rows and the cursor for the next ones; None means that there are no more now."""

    items: Sequence[ItemRow]
    next: str | None


class DutyRow(msgspec.Struct, frozen=True):
    name: str
    holder: str
    until_at: int


class StoreStatus(msgspec.Struct, frozen=True):
    kind: str
    location: str
    version: str
    schema: int
    latest_schema: int
    size_bytes: int
    jobs: int
    items: int
    counts: Counts
    """The items of all jobs."""
    duties: Sequence[DutyRow]


class CheckFinding(msgspec.Struct, frozen=True):
    problem: str
    repairable: bool
    repaired: bool = False


class ReadStore(Protocol):
    """Queries. None of them waits for a writer."""

    async def job(self, job_id: int, owner: str | None = None) -> Job:
        """Raises UnknownJob, also if the job has another owner."""
        ...

    async def jobs(self, query: JobQuery) -> list[Job]: ...

    async def find_jobs(self, owner: str, handler: str, source: str) -> list[Job]:
        """Jobs, the newest first."""
        ...

    async def counts(self, job_id: int) -> Counts: ...

    async def items(self, query: ItemQuery) -> ItemRows: ...

    async def item(self, item_id: int, owner: str | None = None) -> ItemDetail:
        """Raises UnknownItem, also if the item has another owner."""
        ...

    async def attempts(self, item_id: int) -> list[AttemptRow]:
        """Attempts, the oldest first."""
        ...

    async def calls(self, job_id: int, after_id: int, limit: int) -> CallsPage:
        """The network calls of up to `limit` items, in input order."""
        ...

    async def events(self, query: EventQuery) -> list[EventRow]: ...

    async def export_rows(self, job_id: int, after_id: int, limit: int) -> list[ExportRow]:
        """Rows in input order, from the stored results."""
        ...

    async def result_columns(self, job_id: int) -> list[str]:
        """The names that the job's results use, in order of first appearance."""
        ...

    async def error_groups(self, job_id: int, limit: int = 1_000) -> list[ErrorGroup]:
        """Failures of a job by kind, the most frequent kinds first."""
        ...

    async def workers(self, *, alive_only: bool = True) -> list[WorkerRow]:
        """Workers, the newest first."""
        ...

    async def status(self) -> StoreStatus: ...

    async def check(self, *, repair: bool) -> list[CheckFinding]:
        """Check the store's invariants; with `repair`, correct the counters."""
        ...
