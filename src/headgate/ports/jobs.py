"""Jobs, workers and duties: everything that changes rarely."""

from collections.abc import Mapping, Sequence
from typing import Protocol

import msgspec

from headgate.core.fair_turns import Contender
from headgate.core.job import Binding, Job, NewJob
from headgate.core.slots import Waiting
from headgate.core.status import JobMove
from headgate.core.worker import WorkerInfo


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
