"""Which job a source belongs to: a new one, one that goes on, or one that takes new rows."""

from collections.abc import Sequence
from enum import StrEnum

import msgspec

from headgate.core.errors import SourceChanged, UsageError
from headgate.core.job import Job, NewJob
from headgate.core.status import JobState
from headgate.ports.jobs import JobStore
from headgate.ports.reads import ReadStore


class Entry(StrEnum):
    """How a source comes in."""

    NEW = "new"
    RESUME = "resume"
    """The same bytes as before: go on, wherever it stopped."""
    ADD = "add"
    """Other bytes under the same key columns: read all of it, add the keys that are new."""
    REREAD = "reread"
    """The same bytes, but the reading of them was broken off for good: begin it again."""


class Admission(msgspec.Struct, frozen=True):
    """The job to ingest into, and how it came to be."""

    job: Job
    entry: Entry


def choose_entry(
    new: NewJob, existing: Sequence[Job], *, keyed: bool = False
) -> tuple[Entry, Job | None]:
    """What to do about `new`, given the jobs of its owner, handler and source, newest first.

    A job is named by owner, handler, source and key columns; of several, the newest counts.
    `keyed`: its handler tells rows apart by what they ask for.
    """
    same = [job for job in existing if job.key_columns == new.key_columns and not job.open]
    if not same:
        return Entry.NEW, None
    job = same[0]
    if job.state is JobState.CANCELLED:
        raise UsageError(
            f"job {job.id} over this source was cancelled; bring it back with `headgate jobs"
            f" reprocess {job.id} --status CANCELLED`, or start afresh with `--new`",
        )
    if job.fingerprint != new.fingerprint:
        if not (new.key_columns or keyed):
            raise SourceChanged(_changed(job))
        return Entry.ADD, job
    if job.ingest_complete or job.state in {JobState.INGESTING, JobState.PAUSED}:
        return Entry.RESUME, job
    return Entry.REREAD, job


def _changed(job: Job) -> str:
    return (
        f"{job.source} is not the file that job {job.id} was made from, and its rows are known"
        " only by their position, so old and new ones cannot be told apart."
        " Start a new job over it with `--new`; or name the columns that tell rows apart with"
        " `--key COL[,COL]`: such a job takes up new rows whenever its source changes"
    )


class Intake:
    """Finds or makes the job for a source."""

    def __init__(self, jobs: JobStore, reads: ReadStore) -> None:
        self._jobs = jobs
        self._reads = reads

    async def admit(
        self, new: NewJob, *, fresh: bool = False, keyed: bool = False, by_config: bool = False
    ) -> Admission:
        """The job to go on with; `new.fingerprint` names the content as it is now.

        `fresh` makes a new job whatever there is, `by_config` if there is none of this config.
        SourceChanged if the source is another than before, and neither key columns nor its
        handler (`keyed`) tell its rows apart.
        """
        existing = [] if fresh else await self._reads.find_jobs(new.owner, new.handler, new.source)
        if by_config:
            existing = [job for job in existing if job.config == new.config]
        entry, job = choose_entry(new, existing, keyed=keyed)
        if job is None:
            job = await self._jobs.create_job(new)
        elif entry is not Entry.RESUME:
            job = await self._jobs.reopen_ingest(job.id, new.fingerprint)
        return Admission(job, entry)
