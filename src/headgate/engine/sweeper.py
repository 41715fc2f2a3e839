"""Cleans up after dead workers: leases, worker rows; and deletes old records."""

from contextlib import suppress

from headgate.core.errors import UsageError
from headgate.core.status import JobMove
from headgate.core.worker import WorkerRow
from headgate.engine.policy import RetentionPolicy
from headgate.engine.process import ProcessName, is_gone
from headgate.ports.clock import Clock
from headgate.ports.items import HeldLease
from headgate.ports.observer import Observer
from headgate.ports.store import Store

DAY_US = 86_400 * 1_000_000


class Sweeper:
    """A loop in every supervisor; the store elects one, and it is not a job itself.

    A worker's life is judged by its heartbeat counter against our own monotonic clock, so a jump of
    a wall clock on any machine does not retire a worker.
    """

    INTERVAL_S = 1.0
    DUTY = "sweeper"
    CONFIRM_S = 0.5
    """Seconds between two sightings of a dead process, so that its own supervisor can report first.
    """

    RETAIN_S = 3_600.0
    """Seconds between searches for old records."""

    def __init__(
        self,
        store: Store,
        clock: Clock,
        observer: Observer,
        holder: str,
        retention: RetentionPolicy | None = None,
    ) -> None:
        self._store = store
        self._clock = clock
        self._observer = observer
        self._holder = holder
        self._beats: dict[str, tuple[int, float]] = {}
        self._gone: dict[str, float] = {}
        self._overdue: dict[tuple[int, int], float] = {}
        self._swept_s = float("-inf")
        self._retained_s = float("-inf")
        self._retention = retention or RetentionPolicy()

    async def run_once(self, own: frozenset[str]) -> int:
        """One round; `own` are this supervisor's workers. Returns the items given back."""
        workers = [row for row in await self._store.reads.workers() if row.id not in own]
        self._forget_all_but({row.id for row in workers})
        silent = [(row, why) for row in workers if (why := self._silence_of(row)) is not None]
        # A supervisor on the same machine can see that a process is dead, so this needs no
        # election. A restarted command need not wait until the duty of the killed one expires.
        returned = await self._retire(
            [(row, "its process is gone") for row in workers if self._surely_gone(row)]
        )
        if not await self._store.jobs.elect(self.DUTY, self._holder, 5 * self.INTERVAL_S):
            return returned
        await self._forget_old()
        await self._finish_cancellations()
        await self._resume_rested()
        return returned + await self._retire(silent) + await self._end_overdue()

    async def due(self, own: frozenset[str]) -> int:
        now_s = self._clock.monotonic()
        if now_s - self._swept_s < self.INTERVAL_S / (2 if self._gone else 1):
            return 0
        self._swept_s = now_s
        return await self.run_once(own)

    async def _retire(self, dead: list[tuple[WorkerRow, str]]) -> int:
        returned = 0
        for row, why in dead:
            returned += await self._store.jobs.retire(row.id, why)
            self._observer.changed("worker_retired", worker=row.id, reason=why)
        return returned

    async def _forget_old(self) -> None:
        """Delete old records, one bounded step per round until none is left."""
        now_s = self._clock.monotonic()
        if now_s - self._retained_s < self.RETAIN_S:
            return
        if not await self._store.jobs.retain(int(self._retention.days * DAY_US)):
            self._retained_s = now_s

    def _forget_all_but(self, present: set[str]) -> None:
        self._gone = {worker: since for worker, since in self._gone.items() if worker in present}
        self._beats = {worker: seen for worker, seen in self._beats.items() if worker in present}

    def _surely_gone(self, row: WorkerRow) -> bool:
        if not is_gone(ProcessName(row.host, row.boot_id, row.pid, row.started_ticks)):
            return False
        now_s = self._clock.monotonic()
        return now_s - self._gone.setdefault(row.id, now_s) >= self.CONFIRM_S

    def _silence_of(self, row: WorkerRow) -> str | None:
        now_s = self._clock.monotonic()
        beat, since_s = self._beats.get(row.id, (-1, now_s))
        if beat != row.beat:
            self._beats[row.id] = (row.beat, now_s)
            return None
        silent_s = now_s - since_s
        return f"no heartbeat for {silent_s:.0f} s" if silent_s > row.ttl_s else None

    async def _finish_cancellations(self) -> None:
        """Cancel the items that an interrupted cancellation has left open."""
        for job_id in await self._store.jobs.half_cancelled():
            while await self._store.items.cancel_items(job_id):
                pass
            self._observer.changed("cancellation_finished", job=job_id)

    async def _resume_rested(self) -> None:
        """End pauses that had a time limit, such as for a spent budget."""
        for job_id in await self._store.jobs.rested():
            with suppress(UsageError):  # another process was faster
                await self._store.jobs.move_job(job_id, JobMove.RESUME, "the pause is over")
                await self._store.notifier.ring()

    async def _end_overdue(self) -> int:
        """Return leases that stay overdue for a full lease time on our own clock."""
        now_s = self._clock.monotonic()
        found = await self._store.items.overdue(1_000)
        keys = {(lease.item_id, lease.epoch): lease for lease in found}
        self._overdue = {key: self._overdue.get(key, now_s) for key in keys}
        returned = 0
        for key, lease in keys.items():
            if now_s - self._overdue[key] > lease.lease_s:
                held = [HeldLease(lease.item_id, lease.epoch)]
                returned += await self._store.items.release(lease.worker, held)
                self._observer.changed("lease_overdue", item=lease.item_id, worker=lease.worker)
        return returned
