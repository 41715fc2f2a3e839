"""The read side: pages and counts for people, exports and checks. Keyset pages only."""

from collections.abc import Sequence
from typing import Protocol

import msgspec

from headgate.core.job import Counts, Job
from headgate.core.paging import SortOrder, filter_hash
from headgate.core.status import ItemStatus, JobState
from headgate.core.worker import WorkerRow


class ItemRow(msgspec.Struct, frozen=True):
    """An item for lists: light, never the whole input."""

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
    """As JSON text, where it was asked for."""
    owner: str = ""
    handler: str = ""
    gate: str = ""
    """The gate that it waits for, if it has one of its own."""


class ItemDetail(msgspec.Struct, frozen=True):
    """An item with everything; JSON columns as text."""

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
    """One execution of an item, written when it ended."""

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
    """What it asked of the network: a JSON array of `core.call.Call`."""
    trace: str | None = None
    """Where in the user's code it failed: `core.trace.Trace` as JSON, for one item's history."""


class CallsPage(msgspec.Struct, frozen=True):
    """The calls of some items, as JSON arrays of `core.call.Call`, one for each attempt."""

    texts: Sequence[str]
    next_after_id: int | None
    """Where the next page starts; None: there is none."""


class EventRow(msgspec.Struct, frozen=True):
    """One line of the record of decisions."""

    id: int
    at: int
    job_id: int | None
    item_id: int | None
    kind: str
    message: str


class EventQuery(msgspec.Struct, frozen=True):
    """Which events; filters are joined by AND."""

    job_id: int | None = None
    owner: str | None = None
    """Only events of jobs of theirs."""
    after_id: int = 0
    """Beyond this id in the order asked for (0: from its beginning)."""
    newest_first: bool = False
    limit: int = 100


class ExportRow(msgspec.Struct, frozen=True):
    """A row on its way out."""

    id: int
    key: str
    status: ItemStatus
    input: str
    result: str | None
    error_class: str | None
    error: str | None


class JobQuery(msgspec.Struct, frozen=True):
    """Which jobs, newest first; filters are joined by AND."""

    owner: str | None = None
    states: frozenset[JobState] = frozenset()
    handler: str | None = None
    text: str | None = None
    """In the name or the file's name, in any case."""
    read_by_server: bool = False
    """Only jobs whose source the server reads."""
    after_id: int = 0
    """The last id of the page before (0: from the top)."""
    limit: int = 100
    configs: bool = True
    """Whether `config`, `reading` and `options` are wanted. They may be large, so lists leave them
    out: they are empty then."""


class ErrorGroup(msgspec.Struct, frozen=True):
    """Failures of one kind."""

    error_class: str
    signature: str
    """What they all say; what they quote is in it while there are few different quotations."""
    count: int
    item_id: int
    """One of them,"""
    reason: str
    """and what it says."""


class ItemQuery(msgspec.Struct, frozen=True):
    """Which items, in which order. `job_id` None asks across jobs (order UPDATED only)."""

    job_id: int | None
    statuses: frozenset[ItemStatus] = frozenset()
    owner: str | None = None
    handler: str | None = None
    error_class: str | None = None
    signature: str | None = None
    """Only failures of this kind, as a group of failures names it: see `core.signature`."""
    text: str | None = None
    """In the key or the summary, in any case (beyond ASCII: as it is, lower, upper or title case).
    A page of few that match may be short, or empty, and have a `next` all the same: one call looks
    at a bounded number of rows."""
    changed_from: int | None = None
    changed_to: int | None = None
    """Last changed at or after, and before; in order UPDATED only."""
    with_result: bool = False
    order: SortOrder = SortOrder.INPUT
    after: str | None = None
    limit: int = 100
    tail: bool = False
    """In order UPDATED, pages end two seconds before now, so that whoever reads on misses no commit
    that is still under way. With `tail` they go up to now, for people who look once."""

    def filter_name(self) -> str:
        """What a cursor carries, so that it is of use for the same filter only."""
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


class Page(msgspec.Struct, frozen=True):
    """Some rows and the cursor for the next ones; None means that there are no more now."""

    items: Sequence[ItemRow]
    next: str | None


class DutyRow(msgspec.Struct, frozen=True):
    """What only one process at a time should do, who does it, and until when that holds."""

    name: str
    holder: str
    until_at: int


class StoreStatus(msgspec.Struct, frozen=True):
    """What `db status` says."""

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
    """Something that `db check` found, in words, and whether `--repair` mends it."""

    problem: str
    repairable: bool
    repaired: bool = False


class ReadStore(Protocol):
    """Questions. None of them waits for a writer."""

    async def job(self, job_id: int, owner: str | None = None) -> Job:
        """One job (of that owner), or UnknownJob."""
        ...

    async def jobs(self, query: JobQuery) -> list[Job]:
        """Jobs, newest first."""
        ...

    async def find_jobs(self, owner: str, handler: str, source: str) -> list[Job]:
        """Jobs of one handler over one source, newest first."""
        ...

    async def counts(self, job_id: int) -> Counts:
        """The maintained counters of a job."""
        ...

    async def items(self, query: ItemQuery) -> Page:
        """A page of items."""
        ...

    async def item(self, item_id: int, owner: str | None = None) -> ItemDetail:
        """One item (of that owner), or UnknownItem."""
        ...

    async def attempts(self, item_id: int) -> list[AttemptRow]:
        """An item's history, oldest first."""
        ...

    async def calls(self, job_id: int, after_id: int, limit: int) -> CallsPage:
        """What the attempts of up to `limit` items asked of the network, in input order."""
        ...

    async def events(self, query: EventQuery) -> list[EventRow]:
        """The record of decisions, oldest first (or newest first)."""
        ...

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
        """Workers, newest first."""
        ...

    async def status(self) -> StoreStatus:
        """Size, schema and location."""
        ...

    async def check(self, *, repair: bool) -> list[CheckFinding]:
        """Compare the store with its own laws; optionally mend counters."""
        ...
