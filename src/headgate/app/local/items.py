"""Items of a store."""

from headgate.app.service import ItemAccount, ItemWait, Replay, Replayed
from headgate.core.configured import Configured
from headgate.core.status import ItemStatus
from headgate.engine.job_gates import JobGates
from headgate.engine.limiting import wait_of
from headgate.engine.steering import Steering
from headgate.ports.clock import Clock
from headgate.ports.items import Decision, RequeueRequest
from headgate.ports.reads import ItemDetail, ItemQuery, JobQuery, Page
from headgate.ports.store import Store

DEAD = frozenset({ItemStatus.ERROR})


class LocalItems:
    """Implements ItemVerbs."""

    def __init__(self, store: Store, limits: Configured, clock: Clock) -> None:
        self._store = store
        self._limits = limits
        self._clock = clock

    async def page(self, query: ItemQuery) -> Page:
        """Items of a job, or UnknownJob; across jobs dead letters alone."""
        if query.job_id is not None:
            job = await self._store.reads.job(query.job_id)
            if query.handler not in {None, job.handler}:
                return Page([], None)
        return await self._store.reads.items(query)

    async def account(self, item_id: int) -> ItemAccount:
        """One item with everything, or UnknownItem."""
        reads = self._store.reads
        detail = await reads.item(item_id)
        attempts = await reads.attempts(item_id)
        gates = JobGates(self._store, self._limits, detail.row.job_id)
        wait = await wait_of(self._store, gates, detail, attempts, self._clock.now())
        return ItemAccount(detail, attempts, wait)

    async def why(self, item_id: int) -> ItemWait:
        """What an item waits for."""
        account = await self.account(item_id)
        return ItemWait(account.detail.row.status, account.wait)

    async def decide(self, decision: Decision) -> ItemDetail:
        """Carry out a person's decision; the item as it is then."""
        await self._store.items.decide(decision)
        await self._store.notifier.ring()
        return await self._store.reads.item(decision.item_id)

    async def replay(self, what: Replay, *, dry_run: bool) -> Replayed:
        """Bring dead letters back, or only count them."""
        steering = Steering(self._store)
        act = steering.would_reprocess if dry_run else steering.reprocess
        count = 0
        targets = await self._targets(what)
        for job_id, ids in targets:
            count += await act(
                RequeueRequest(
                    job_id=job_id,
                    statuses=DEAD,
                    error_class=what.error_class,
                    ids=ids,
                    reset_attempts=what.reset_attempts,
                )
            )
        return Replayed(count, [job_id for job_id, _ in targets])

    async def _targets(self, what: Replay) -> list[tuple[int, tuple[int, ...] | None]]:
        """The jobs to replay in, each with the items, or None for all of its dead letters."""
        reads = self._store.reads
        if what.job_id is not None:
            return [((await reads.job(what.job_id)).id, None)]
        if what.ids is None:
            return [(job_id, None) for job_id in await self._jobs_with_errors()]
        by_job: dict[int, list[int]] = {}
        for item_id in what.ids:
            row = (await reads.item(item_id)).row
            by_job.setdefault(row.job_id, []).append(item_id)
        return [(job_id, tuple(ids)) for job_id, ids in by_job.items()]

    async def _jobs_with_errors(self) -> list[int]:
        reads = self._store.reads
        found: list[int] = []
        after_id = 0
        while jobs := await reads.jobs(JobQuery(after_id=after_id, limit=500)):
            found += [job.id for job in jobs if (await reads.counts(job.id)).error]
            after_id = jobs[-1].id
        return found
