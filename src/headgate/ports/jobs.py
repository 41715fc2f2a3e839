"""Jobs, workers and duties: their changes, and queries for the rows and the situation of a job."""

from collections.abc import Mapping, Sequence
from typing import Protocol

import msgspec

from headgate.core.fair_turns import Contender, Waiting
from headgate.core.job import Binding, Counts, Job, NewJob
from headgate.core.status import ItemStatus, JobMove
from headgate.core.waiting import Situation
from headgate.core.worker import WorkerInfo
from headgate.ports.reads import AttemptRow, ExportRow, ItemRow


class SessionReport(msgspec.Struct, frozen=True):
    id: str
    job_id: int | None
    command: str
    worker_count: int
    settled: int = 0
    drain_s: float = 0.0
    ended: bool = False


class WorkDemand(msgspec.Struct, frozen=True):
    """Jobs that may be claimed from now, and when the next delayed item falls due.

    `open_items`: the jobs in question have at least one open item, due or not.
    """

    contenders: Sequence[Contender]
    suspects: Sequence[Contender]
    open_items: bool
    next_due_in_s: float | None
    finishable: Sequence[int] = ()
    """Jobs whose source is complete and that have no open item: `finish_job` makes them DONE."""


class WaitingSource(Waiting, frozen=True):
    source: str


class JobStore(Protocol):
    """Control verbs. Every state change writes an event in the same transaction."""

    async def create_job(self, new: NewJob) -> Job:
        """Make a job in INGESTING (an open one in QUEUED).

        With `once`, a job that was made under that key before is returned instead, or KeyReused
        raised if the digest differs. With `newest`, a job over the same source that was made
        meanwhile is returned instead: see NewJob. CapReached if its owner has as many unfinished
        jobs, or open items, as `caps` allows. All of it in one transaction.
        """
        ...

    async def move_job(
        self, job_id: int, move: JobMove, reason: str = "", resume_in_s: float | None = None
    ) -> Job:
        """Change the state, or raise IllegalMove that names the present state.

        With `resume_in_s`, a pause ends after that time: see `rested`.
        """
        ...

    async def reopen_ingest(self, job_id: int, fingerprint: str) -> Job:
        """Begin a new reading of the job's source from its start."""
        ...

    async def complete_ingest(self, job_id: int, columns: tuple[str, ...]) -> Job:
        """Mark the source as fully read; INGESTING becomes QUEUED, PAUSED stays."""
        ...

    async def similar_jobs(self, owner: str, fingerprint: str, ending: str) -> list[Job]:
        """Jobs of commands with the same content, or a source that ends in `ending`; newest 100."""
        ...

    async def rebind_job(self, job_id: int, binding: Binding) -> Job:
        """Give a job another handler, source, config and options; its rows do not change."""
        ...

    async def rebind_items(self, job_id: int, after_id: int = 0, limit: int = 5_000) -> int:
        """Write the job's handler into its items, in bounded steps.

        Returns the last id of the step, to continue after; 0 when none is left.
        """
        ...

    async def drop_unseen(self, job_id: int, limit: int = 5_000) -> int:
        """Remove bad rows that are not in the present reading of the source, in bounded steps.

        They were corrected in the source or removed from it. 0 when none is left.
        """
        ...

    async def close_queue(self, job_id: int) -> Job:
        """An open job accepts no more items and may become DONE."""
        ...

    async def set_priority(self, job_id: int, priority: int) -> Job:
        """Change a job's share among its owner's jobs."""
        ...

    async def finish_job(self, job_id: int) -> bool:
        """Make a job DONE if, and only if, it has no open item and accepts no more."""
        ...

    async def discard_items(self, job_id: int, limit: int = 5_000) -> int:
        """Remove the items of a FAILED job in bounded steps; 0 when none is left."""
        ...

    async def delete_job(self, job_id: int, limit: int = 5_000) -> int:
        """Remove a cancelled or finished job in bounded steps; 0 when it is gone."""
        ...

    async def demand(
        self, jobs: Sequence[int] | None, handlers: Sequence[str] | None
    ) -> WorkDemand:
        """The work that can be claimed; None means every job, or every handler."""
        ...

    async def sources_to_read(self, per_user: int) -> list[WaitingSource]:
        """The oldest INGESTING jobs that the server reads: up to `per_user` of each owner."""
        ...

    async def rested(self) -> list[int]:
        """Paused jobs whose `resume_at` has passed."""
        ...

    async def half_cancelled(self) -> list[int]:
        """Cancelled jobs with open items: the process that cancelled them was interrupted."""
        ...

    async def register(self, worker: WorkerInfo) -> None: ...

    async def beat(self, workers: Mapping[str, int], ttl_s: float) -> list[str]:
        """Record a heartbeat and the claim size of each worker; return workers declared dead."""
        ...

    async def ask_drain(self, worker: str) -> bool:
        """Ask a worker to finish its running items and end; False if it is not alive."""
        ...

    async def draining(self, workers: Sequence[str]) -> list[str]: ...

    async def retire(self, worker: str, reason: str) -> int:
        """Declare a worker gone and return its leased items to PENDING, without suspicion."""
        ...

    async def elect(self, duty: str, holder: str, ttl_s: float) -> bool:
        """Take or keep a duty that one process at a time should do."""
        ...

    async def record_session(self, session: SessionReport) -> None: ...

    async def record_event(self, kind: str, message: str, job_id: int | None = None) -> None:
        """Append an operator action, or a decision that no attempt row records."""
        ...

    async def retain(self, older_than_us: int, limit: int = 5_000) -> int:
        """Delete events, sessions and stopped workers older than that many microseconds."""
        ...


class FailingRow(msgspec.Struct, frozen=True):
    """A row whose last attempt failed: it waits for a retry, or has ended as ERROR."""

    id: int
    status: ItemStatus
    error_class: str
    reason: str
    trace: str | None
    """Where in the user's code it failed: `core.trace.Trace` as JSON."""


class RowReads(Protocol):
    """Each answer is bounded, and read through an index."""

    async def by_key(
        self, key: str, job_id: int | None = None, owner: str | None = None
    ) -> list[ItemRow]:
        """The items with this key, items of the newest jobs first; at most 100."""
        ...

    async def decision(self, item_id: int) -> str | None:
        """The last decision of a user about an item, in words; None: there is none."""
        ...

    async def newest_change(self, job_id: int) -> int:
        """When the last of the job's pending or failed rows was changed, on the store's clock."""
        ...

    async def failing(self, job_id: int, since_at: int, limit: int = 1_000) -> list[FailingRow]:
        """Rows that failed after `since_at`: up to `limit` that wait, and as many in ERROR.

        Rows that were refused or put off are not included.
        """
        ...

    async def first(self, job_id: int, count: int) -> list[int]:
        """In input order."""
        ...

    async def at_places(self, job_id: int, places: Sequence[int]) -> list[int]:
        """The ids of the rows at these places in input order; the first place is 1."""
        ...

    async def counts_of(self, job_id: int, ids: Sequence[int]) -> Counts: ...

    async def demand_for(self, job_id: int, ids: Sequence[int]) -> WorkDemand: ...


class SituationStore(Protocol):
    """Queries that cost the same for a million rows as for ten."""

    async def of(self, job_id: int) -> Situation: ...

    async def handler_s(self, job_id: int) -> float | None:
        """Mean seconds in the handler of the last rows of a job; None: no row was done."""
        ...


class ItemHistory(msgspec.Struct, frozen=True):
    """A row as it is now, and every attempt at it, oldest first."""

    row: ExportRow
    attempts: Sequence[AttemptRow] = ()


class HistoryStore(Protocol):
    """Whole jobs, a page at a time.

    While a job is being worked on, an attempt may have ended just after its row was read.
    """

    async def page(self, job_id: int, after_id: int, limit: int) -> list[ItemHistory]:
        """The next items in input order; an empty list is the end."""
        ...

    async def by_key(self, job_id: int, keys: Sequence[str]) -> list[ExportRow]:
        """The rows of a job with one of these keys, in any order."""
        ...
