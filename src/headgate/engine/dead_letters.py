"""Items brought back across jobs: some of them, those of a job, or all that somebody may see."""

from collections.abc import Sequence

import msgspec

from headgate.core.status import ItemStatus
from headgate.engine.steering import OPERATOR, Steering
from headgate.ports.items import RequeueRequest
from headgate.ports.reads import JobQuery
from headgate.ports.store import Store

DEAD = frozenset({ItemStatus.ERROR})
PAGE = 500
MOST_JOBS = 2_000
"""Jobs whose dead letters are counted, the newest."""


class Replay(msgspec.Struct, frozen=True):
    """Which items: some by number, those of a job, or (neither) all. Dead letters, if not told."""

    ids: tuple[int, ...] | None = None
    job_id: int | None = None
    handler: str | None = None
    """Only of jobs of this type, where they are not named."""
    but_ids: tuple[int, ...] = ()
    """All but these."""
    statuses: frozenset[ItemStatus] = DEAD
    error_class: str | None = None
    changed_from: int | None = None
    changed_to: int | None = None
    """Last changed at or after, and before."""
    reset_attempts: bool = False


class Replayed(msgspec.Struct, frozen=True):
    """How many items, and of which jobs."""

    count: int
    jobs: Sequence[int]


class DeadOfJob(msgspec.Struct, frozen=True):
    """How many dead letters a job has."""

    job_id: int
    name: str
    count: int


class DeadLetters:
    """Those of one owner; None: of all."""

    def __init__(self, store: Store, owner: str | None = None) -> None:
        self._store = store
        self._owner = owner

    async def replay(self, what: Replay, *, dry_run: bool, by: str = OPERATOR) -> Replayed:
        """Bring them back, or only count them."""
        steering = Steering(self._store)
        targets = await self._targets(what)
        count = 0
        for job_id, ids in targets:
            request = RequeueRequest(
                job_id=job_id,
                statuses=what.statuses,
                error_class=what.error_class,
                changed_from=what.changed_from,
                changed_to=what.changed_to,
                ids=ids,
                but_ids=what.but_ids,
                reset_attempts=what.reset_attempts,
            )
            if dry_run:
                count += await steering.would_reprocess(request)
            else:
                count += await steering.reprocess(request, by)
        return Replayed(count, [job_id for job_id, _ in targets])

    async def counted(
        self, handler: str | None = None, error_class: str | None = None
    ) -> tuple[list[DeadOfJob], bool]:
        """The jobs that have some, newest first; and whether no job was left out."""
        reads = self._store.reads
        query = JobQuery(owner=self._owner, handler=handler, limit=PAGE, configs=False)
        found: list[DeadOfJob] = []
        for _ in range(0, MOST_JOBS, PAGE):
            jobs = await reads.jobs(query)
            for job in jobs:
                count = (await reads.counts(job.id)).error
                if count and error_class is not None:
                    groups = await reads.error_groups(job.id)
                    count = sum(each.count for each in groups if each.error_class == error_class)
                if count:
                    found.append(DeadOfJob(job.id, job.name, count))
            if len(jobs) < PAGE:
                return found, True
            query = msgspec.structs.replace(query, after_id=jobs[-1].id)
        return found, False

    async def _targets(self, what: Replay) -> list[tuple[int, tuple[int, ...] | None]]:
        """The jobs to replay in, each with the items, or None for all that match."""
        reads = self._store.reads
        if what.job_id is not None:
            job = await reads.job(what.job_id, self._owner)
            return [(job.id, None)] if what.handler in {None, job.handler} else []
        if what.ids is None:
            return [(job_id, None) for job_id in await self._jobs_with(what)]
        by_job: dict[int, list[int]] = {}
        for item_id in what.ids:
            row = (await reads.item(item_id, self._owner)).row
            by_job.setdefault(row.job_id, []).append(item_id)
        return [(job_id, tuple(ids)) for job_id, ids in by_job.items()]

    async def _jobs_with(self, what: Replay) -> list[int]:
        """Jobs that have items in one of the statuses."""
        reads = self._store.reads
        query = JobQuery(owner=self._owner, handler=what.handler, limit=PAGE, configs=False)
        found: list[int] = []
        while jobs := await reads.jobs(query):
            for job in jobs:
                counts = await reads.counts(job.id)
                if any(getattr(counts, status.lower()) for status in what.statuses):
                    found.append(job.id)
            query = msgspec.structs.replace(query, after_id=jobs[-1].id)
        return found
