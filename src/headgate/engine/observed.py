"""Wraps a store so that each call is reported to the observer; stores carry no telemetry."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from types import TracebackType
from typing import Any, Self, TypeVar

from headgate.core.item import ClaimedItem, NewItem
from headgate.core.job import Binding, Job, NewJob
from headgate.core.status import JobMove
from headgate.core.worker import WorkerInfo
from headgate.ports.clock import Clock
from headgate.ports.items import (
    ClaimRequest,
    EnqueueReport,
    EnqueueRequest,
    HeldLease,
    ItemStore,
    OverdueLease,
    RecallRequest,
    RequeueRequest,
    ReusedResult,
    ReviewDecision,
    SettleReport,
    SettleRequest,
    SweptItems,
)
from headgate.ports.jobs import JobStore, SessionReport, WaitingSource, WorkDemand
from headgate.ports.limits import Exchange, LedgerEntry, LimitLedger, Proposal
from headgate.ports.observer import Observer
from headgate.ports.store import Store

Answer = TypeVar("Answer")


class CallTimer:
    def __init__(self, observer: Observer, clock: Clock) -> None:
        self.observer = observer
        self._clock = clock

    async def over(
        self,
        name: str,
        call: Awaitable[Answer],
        rows: Callable[[Answer], int] = lambda _: 0,
    ) -> Answer:
        """The answer of `call`, after reporting it under `name` with the rows it touched."""
        began = self._clock.monotonic()
        try:
            answer = await call
        except Exception as error:
            self.observer.verb(name, self._clock.monotonic() - began, 0, error)
            raise
        self.observer.verb(name, self._clock.monotonic() - began, rows(answer), None)
        return answer


class ObservedItems:
    def __init__(self, store: ItemStore, watch: CallTimer) -> None:
        self._store = store
        self._watch = watch

    def pack(self, items: Sequence[NewItem]) -> Any:
        """Not reported: packing needs no database."""
        return self._store.pack(items)

    async def enqueue_many(self, request: EnqueueRequest) -> EnqueueReport:
        call = self._store.enqueue_many(request)
        return await self._watch.over("enqueue_many", call, lambda report: report.inserted)

    async def claim(self, request: ClaimRequest) -> list[ClaimedItem]:
        return await self._watch.over("claim", self._store.claim(request), len)

    async def settle_many(self, request: SettleRequest) -> SettleReport:
        """Report the settlements written, and each lease that turned out to be lost."""
        sent = len(request.settlements)
        report = await self._watch.over(
            "settle_many",
            self._store.settle_many(request),
            lambda report: sent - len(report.refused),
        )
        for item_id in report.refused:
            self._watch.observer.changed("result refused", item=item_id, worker=request.worker)
        return report

    async def release(self, worker: str, held: Sequence[HeldLease]) -> int:
        return await self._watch.over("release", self._store.release(worker, held), int)

    async def extend(self, worker: str, held: Sequence[HeldLease], lease_s: float) -> int:
        return await self._watch.over("extend", self._store.extend(worker, held, lease_s), int)

    async def leases_of(self, worker: str) -> list[ClaimedItem]:
        return await self._watch.over("leases_of", self._store.leases_of(worker), len)

    async def overdue(self, limit: int) -> list[OverdueLease]:
        return await self._watch.over("overdue", self._store.overdue(limit), len)

    async def requeue(self, request: RequeueRequest) -> SweptItems:
        call = self._store.requeue(request)
        return await self._watch.over("requeue", call, lambda swept: swept.moved)

    async def would_requeue(self, request: RequeueRequest) -> SweptItems:
        call = self._store.would_requeue(request)
        return await self._watch.over("would_requeue", call, lambda swept: swept.moved)

    async def decide(self, decision: ReviewDecision) -> None:
        await self._watch.over("decide", self._store.decide(decision))
        self._watch.observer.changed(
            "item decided", item=decision.item_id, move=str(decision.move), by=decision.by
        )

    async def recall(self, request: RecallRequest) -> list[ReusedResult]:
        return await self._watch.over("recall", self._store.recall(request), len)

    async def cancel_items(self, job_id: int, limit: int = 5_000) -> int:
        return await self._watch.over("cancel_items", self._store.cancel_items(job_id, limit), int)


class ObservedJobs:
    def __init__(self, store: JobStore, watch: CallTimer) -> None:
        self._store = store
        self._watch = watch

    async def create_job(self, new: NewJob) -> Job:
        return self._news(await self._watch.over("create_job", self._store.create_job(new)))

    async def move_job(
        self, job_id: int, move: JobMove, reason: str = "", resume_in_s: float | None = None
    ) -> Job:
        call = self._store.move_job(job_id, move, reason, resume_in_s)
        return self._news(await self._watch.over("move_job", call))

    async def reopen_ingest(self, job_id: int, fingerprint: str) -> Job:
        call = self._store.reopen_ingest(job_id, fingerprint)
        return self._news(await self._watch.over("reopen_ingest", call))

    async def complete_ingest(self, job_id: int, columns: tuple[str, ...]) -> Job:
        call = self._store.complete_ingest(job_id, columns)
        return self._news(await self._watch.over("complete_ingest", call))

    async def similar_jobs(self, owner: str, fingerprint: str, ending: str) -> list[Job]:
        call = self._store.similar_jobs(owner, fingerprint, ending)
        return await self._watch.over("similar_jobs", call, len)

    async def rebind_job(self, job_id: int, binding: Binding) -> Job:
        return self._news(
            await self._watch.over("rebind_job", self._store.rebind_job(job_id, binding))
        )

    async def rebind_items(self, job_id: int, after_id: int = 0, limit: int = 5_000) -> int:
        call = self._store.rebind_items(job_id, after_id, limit)
        return await self._watch.over("rebind_items", call)

    async def drop_unseen(self, job_id: int, limit: int = 5_000) -> int:
        return await self._watch.over("drop_unseen", self._store.drop_unseen(job_id, limit), int)

    async def close_queue(self, job_id: int) -> Job:
        return self._news(await self._watch.over("close_queue", self._store.close_queue(job_id)))

    async def set_priority(self, job_id: int, priority: int) -> Job:
        return await self._watch.over("set_priority", self._store.set_priority(job_id, priority))

    async def finish_job(self, job_id: int) -> bool:
        finished = await self._watch.over("finish_job", self._store.finish_job(job_id), int)
        if finished:
            self._watch.observer.changed("job finished", job=job_id)
        return finished

    async def discard_items(self, job_id: int, limit: int = 5_000) -> int:
        call = self._store.discard_items(job_id, limit)
        return await self._watch.over("discard_items", call, int)

    async def delete_job(self, job_id: int, limit: int = 5_000) -> int:
        return await self._watch.over("delete_job", self._store.delete_job(job_id, limit), int)

    async def demand(
        self, jobs: Sequence[int] | None, handlers: Sequence[str] | None
    ) -> WorkDemand:
        call = self._store.demand(jobs, handlers)
        return await self._watch.over("demand", call, lambda demand: len(demand.contenders))

    async def sources_to_read(self, per_user: int) -> list[WaitingSource]:
        call = self._store.sources_to_read(per_user)
        return await self._watch.over("sources_to_read", call, len)

    async def rested(self) -> list[int]:
        return await self._watch.over("rested", self._store.rested(), len)

    async def half_cancelled(self) -> list[int]:
        return await self._watch.over("half_cancelled", self._store.half_cancelled(), len)

    async def register(self, worker: WorkerInfo) -> None:
        await self._watch.over("register", self._store.register(worker))
        self._watch.observer.changed("worker registered", worker=worker.id, pid=worker.pid)

    async def beat(self, workers: Mapping[str, int], ttl_s: float) -> list[str]:
        return await self._watch.over("beat", self._store.beat(workers, ttl_s), len)

    async def ask_drain(self, worker: str) -> bool:
        return await self._watch.over("ask_drain", self._store.ask_drain(worker))

    async def draining(self, workers: Sequence[str]) -> list[str]:
        return await self._watch.over("draining", self._store.draining(workers), len)

    async def retire(self, worker: str, reason: str) -> int:
        held = await self._watch.over("retire", self._store.retire(worker, reason), int)
        self._watch.observer.changed("worker retired", worker=worker, reason=reason, leases=held)
        return held

    async def elect(self, duty: str, holder: str, ttl_s: float) -> bool:
        return await self._watch.over("elect", self._store.elect(duty, holder, ttl_s), int)

    async def record_session(self, session: SessionReport) -> None:
        await self._watch.over("record_session", self._store.record_session(session))

    async def record_event(self, kind: str, message: str, job_id: int | None = None) -> None:
        await self._watch.over("record_event", self._store.record_event(kind, message, job_id))
        self._watch.observer.changed(kind, message=message, job=job_id)

    async def retain(self, older_than_us: int, limit: int = 5_000) -> int:
        return await self._watch.over("retain", self._store.retain(older_than_us, limit), int)

    def _news(self, job: Job) -> Job:
        self._watch.observer.changed("job state", job=job.id, state=str(job.state))
        return job


class ObservedLimits:
    """A LimitLedger that reports changes; reads and waits are not reported."""

    def __init__(self, ledger: LimitLedger, watch: CallTimer) -> None:
        self._ledger = ledger
        self._watch = watch

    async def exchange(self, proposals: Sequence[Proposal], keys: Sequence[str]) -> Exchange:
        call = self._ledger.exchange(proposals, keys)
        return await self._watch.over("exchange", call, lambda exchange: len(exchange.accepted))

    async def entries(self, prefix: str = "") -> Sequence[LedgerEntry]:
        return await self._ledger.entries(prefix)

    async def forget(self, key: str) -> bool:
        forgotten = await self._watch.over("forget", self._ledger.forget(key), int)
        if forgotten:
            self._watch.observer.changed("gate forgotten", gate=key)
        return forgotten

    async def wait_urgent(self, timeout_s: float) -> bool:
        return await self._ledger.wait_urgent(timeout_s)


class ObservedStore:
    """A Store whose calls are reported.

    Reads and notifications are not reported, because they are frequent and change nothing; users
    and exports are not, because they are rare.
    """

    def __init__(self, store: Store, observer: Observer, clock: Clock) -> None:
        self._store = store
        watch = CallTimer(observer, clock)
        self.items: ItemStore = ObservedItems(store.items, watch)
        self.jobs: JobStore = ObservedJobs(store.jobs, watch)
        self.limits: LimitLedger = ObservedLimits(store.limits, watch)
        self.reads = store.reads
        self.rows = store.rows
        self.history = store.history
        self.situations = store.situations
        self.access = store.access
        self.logins = store.logins
        self.exports = store.exports
        self.mirrors = store.mirrors
        self.notifier = store.notifier

    async def __aenter__(self) -> Self:
        await self._store.__aenter__()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self._store.__aexit__(kind, error, traceback)

    async def migrate(self) -> list[str]:
        return await self._store.migrate()

    async def backup(self, target: str) -> None:
        await self._store.backup(target)
