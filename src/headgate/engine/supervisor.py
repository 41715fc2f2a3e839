"""The parent of worker processes: it starts them, sends their heartbeats, and cleans up after them.

The supervisor never runs a handler, so a handler cannot starve the heartbeat, the time limits or
the sweeper.
"""

import secrets
from collections.abc import Mapping, Sequence
from contextlib import suppress
from random import Random

import msgspec

from headgate.core.errors import StoreFull, StoreUnreachable, UnknownJob, WorkerFailed
from headgate.core.item import ClaimedItem
from headgate.core.settlement import Settlement
from headgate.core.status import JobState
from headgate.engine.board import FlightBoard
from headgate.engine.error_count import ErrorCount
from headgate.engine.policy import Policies
from headgate.engine.process import is_stopped, resident_mb, this_host
from headgate.engine.sweeper import Sweeper
from headgate.engine.worker_handle import WorkerHandle, crash_texts
from headgate.ports.clock import Clock
from headgate.ports.items import SettleRequest
from headgate.ports.jobs import SessionReport, WorkDemand
from headgate.ports.launcher import Launcher, WorkerOrder
from headgate.ports.observer import Observer
from headgate.ports.store import Store


class Work(msgspec.Struct, frozen=True):
    """The work to supervise. `drain` ends when the jobs have no open item left."""

    jobs: tuple[int, ...] | None = None
    drain: bool = False
    max_stall_s: float | None = None
    budget_s: float | None = None
    command: str = ""
    ids: tuple[int, ...] | None = None
    """If set, only these items, which belong to the one job in `jobs`."""
    errors: ErrorCount | None = None
    """Ends the run when too many rows have failed."""


class RunReport(msgspec.Struct, frozen=True):
    """The result of a run. `settled` counts items that this run finished."""

    settled: int = 0
    drain_s: float = 0.0
    stalled: bool = False
    interrupted: bool = False
    crashes: int = 0
    warnings: tuple[str, ...] = ()
    """Faults of the handlers, in words for their authors."""


class ProgressListener(msgspec.Struct, frozen=True):
    """Progress figures that show whether a run is stalled or has only just begun."""

    settled: int = 0
    ready: bool = False
    """True once a worker was ready."""
    claimed: bool = False
    """True once a worker got an item."""


class Supervisor:
    """Keeps worker processes running until the work is done or a stop is requested."""

    TICK_S = 0.05
    PATIENCE_S = 5.0
    """Seconds that a worker has to hand back its items before it is killed."""
    FALSE_STARTS = 3
    START_S = 60.0
    """Seconds that processes may take to start before a run without them counts as stalled."""

    def __init__(
        self,
        store: Store,
        launcher: Launcher,
        clock: Clock,
        observer: Observer,
        policies: Policies,
        rng: Random | None = None,
    ) -> None:
        self._store = store
        self._launcher = launcher
        self._clock = clock
        self._observer = observer
        self._policies = policies
        self._rng = rng or Random()  # noqa: S311  jitter, not a secret
        self._session = f"{this_host()}-{secrets.token_hex(6)}"
        self._sweeper = Sweeper(store, clock, observer, self._session, policies.retention)
        self._children: list[WorkerHandle] = []
        self._settled = 0
        self._first_claim_s: float | None = None
        self._last_commit_s = 0.0
        self._crashes = 0
        self._warnings: dict[str, None] = {}
        self._drained = 0
        self._false_starts = 0
        self._stops = 0
        self._stopping_since_s: float | None = None
        self._hurried = False
        self._beat_s = float("-inf")
        self._polled_s = float("-inf")
        self._progress = ProgressListener()
        self._progressed_s = clock.monotonic()
        self.rounds = 0
        """Completed ticks."""

    def stop(self) -> None:
        """Once: let running items finish. Twice: hand them back at once."""
        self._stops += 1

    @property
    def running(self) -> int:
        return sum(len(child.board.running()) for child in self._children)

    async def run(self, work: Work) -> RunReport:
        """Supervise until the work is done, stalled, out of time, or stopped."""
        await self._record(work, ended=False)
        began_s = self._clock.monotonic()
        self._progress, self._progressed_s = ProgressListener(), began_s
        stalled = False
        try:
            while True:
                await self._tick(work)
                self.rounds += 1
                stalled = stalled or self._is_stalled(work)
                over = (
                    work.budget_s is not None and self._clock.monotonic() - began_s > work.budget_s
                )
                if stalled or over:
                    self._stops = max(self._stops, 1)
                self._pass_on_stops()
                if not self._children and (self._stopping_since_s is not None):
                    break
                await self._clock.sleep(self.TICK_S)
        finally:
            await self._end_all()
        await self._record(work, ended=True)
        return RunReport(
            settled=self._settled,
            drain_s=self._drain_s(),
            stalled=stalled,
            interrupted=self._stops > 0 and not stalled,
            crashes=self._crashes,
            warnings=tuple(self._warnings),
        )

    async def _tick(self, work: Work) -> None:
        """Read reports, reap workers, enforce limits, send heartbeats, sweep, start workers."""
        for child in self._children:
            child.listen()
        await self._reap_dead(work)
        if work.errors is not None and work.errors.reached:
            self._begin_stop()
        self._enforce_limits()
        await self._send_heartbeats()
        await self._sweeper.due(frozenset(child.order.worker for child in self._children))
        if self._stopping_since_s is None and self._is_poll_due():
            await self._start_workers(work)

    def _is_poll_due(self) -> bool:
        now_s = self._clock.monotonic()
        if now_s - self._polled_s < self._policies.worker.poll_s / 2:
            return False
        self._polled_s = now_s
        return True

    async def _start_workers(self, work: Work) -> None:
        """Start missing workers, finish done jobs, and stop if nothing is left to do."""
        demand = await self._demand(work)
        for job_id in demand.finishable:
            await self._store.jobs.finish_job(job_id)
        if work.drain and not demand.open_items and not await self._more_to_come(work):
            self._begin_stop()
            return
        self._add_lane(work)
        self._start_alone(work, demand)

    async def _demand(self, work: Work) -> WorkDemand:
        if work.ids is not None and work.jobs:
            return await self._store.rows.demand_for(work.jobs[0], work.ids)
        return await self._store.jobs.demand(work.jobs, None)

    async def _more_to_come(self, work: Work) -> bool:
        """True if a job is still being read, or is paused and will resume by itself."""
        for job_id in work.jobs or ():
            with suppress(UnknownJob):  # a user may delete it meanwhile
                job = await self._store.reads.job(job_id)
                if job.state is JobState.INGESTING or job.resume_at is not None:
                    return True
        return False

    def _add_lane(self, work: Work) -> None:
        policy = self._policies.worker
        other_lanes = sum(not (child.order.alone or child.stopping) for child in self._children)
        share = max(policy.concurrency // policy.processes, 1)
        for _ in range(policy.processes - other_lanes - self._drained):
            self._launch(work, share, alone=False)

    def _start_alone(self, work: Work, demand: WorkDemand) -> None:
        alone = sum(child.order.alone for child in self._children)
        if demand.suspects and alone < self._policies.worker.alone_processes:
            self._launch(work, 1, alone=True)

    def _launch(self, work: Work, concurrency: int, *, alone: bool) -> None:
        worker = f"{self._session}-{secrets.token_hex(3)}"
        used = frozenset(child.errors_slot for child in self._children)
        order = WorkerOrder(
            worker,
            self._session,
            work.jobs,
            concurrency,
            alone,
            work.budget_s,
            work.ids,
            work.errors.share(used) if work.errors else None,
        )
        board = FlightBoard.create()
        process = self._launcher.launch(order, board.fd)
        self._children.append(WorkerHandle(order, process, board))
        self._observer.changed("worker_started", worker=worker, pid=process.pid, alone=alone)

    def _enforce_limits(self) -> None:
        policy = self._policies.worker
        now_s = self._clock.monotonic()
        for child in self._children:
            overdue = child.overdue(now_s, policy.grace_s)
            limit_mb = child.memory_limit_mb(policy)
            if overdue:
                child.kill_for_time(overdue, now_s, policy.grace_s)
            elif resident_mb(child.process.pid) > limit_mb:
                child.kill_for_memory(limit_mb)

    async def _send_heartbeats(self) -> None:
        """Send a heartbeat for every child that is alive and not frozen."""
        now_s = self._clock.monotonic()
        if now_s - self._beat_s < self._policies.worker.heartbeat_s:
            return
        self._beat_s = now_s
        living = {
            child.order.worker: child
            for child in self._children
            if child.ready and not is_stopped(child.process.pid)
        }
        if not living:
            return
        ttl_s = max(child.board.tally().ttl_s for child in living.values())
        ttl_s = max(ttl_s, self._policies.claim.lock_floor_s)
        claims = {name: child.board.tally().claim_size for name, child in living.items()}
        for lost in await self._store.jobs.beat(claims, ttl_s):
            self._observer.changed("worker_lost", worker=lost)
            living[lost].kill_as_lost()
        await self._drain(living)

    async def _drain(self, living: Mapping[str, WorkerHandle]) -> None:
        """Stop the workers that were asked to drain; they are not replaced."""
        for worker in await self._store.jobs.draining(list(living)):
            child = living[worker]
            if not child.stopping:
                self._drained += not child.order.alone
                child.stop()

    async def _reap_dead(self, work: Work) -> None:
        for child in list(self._children):
            code = child.process.poll()
            if code is not None:
                child.listen()
                self._children.remove(child)
                await self._reap(child, code, work.errors)

    async def _reap(self, child: WorkerHandle, code: int, errors: ErrorCount | None) -> None:
        """Settle running items, return the rest, and raise errors that would repeat."""
        self._add_tally(child)
        flights = child.board.running()
        worked = bool(flights) or child.board.tally().settled > 0
        if flights:
            held = {item.id: item for item in await self._store.items.leases_of(child.order.worker)}
            now_s = self._clock.monotonic()
            settlements = child.settle_running(code, held, self._policies.retry, self._rng, now_s)
            if settlements:
                await self._store.items.settle_many(SettleRequest(child.order.worker, settlements))
                if errors is not None:
                    for settlement in settlements:
                        errors.add(settlement)
                await self._record_crash(settlements, held, child.cause_of_end(code))
        reason = "finished" if code == 0 else child.cause_of_end(code)
        await self._store.jobs.retire(child.order.worker, reason)
        child.process.close()
        child.board.close()
        self._observer.changed("worker_ended", worker=child.order.worker, reason=reason)
        self._raise_fatal(child, code, worked=worked)

    async def _record_crash(
        self, settlements: Sequence[Settlement], held: Mapping[int, ClaimedItem], cause: str
    ) -> None:
        """Record an event for each job whose rows were running: an attempt shows one row only."""
        for job_id, text in crash_texts(settlements, held, cause):
            await self._store.jobs.record_event("worker_crashed", text, job_id)
            self._observer.changed("worker_crashed", job=job_id, reason=text)

    def _raise_fatal(self, child: WorkerHandle, code: int, *, worked: bool) -> None:
        for kind in (StoreFull, StoreUnreachable):
            if child.error_kind == kind.__name__:
                raise kind(child.error)
        if code != 0 and not child.stuck:
            self._crashes += 1
        # A child that did nothing and reported a fatal error will fail in the same way again.
        reported = child.error is not None or child.crashed
        futile = not worked and (reported or not child.ready)
        if code == 0 or not futile:
            self._false_starts = 0
            return
        self._false_starts += 1
        if self._false_starts >= self.FALSE_STARTS:
            cause = child.error or child.cause_of_end(code)
            raise WorkerFailed(f"worker processes end before they get anything done: {cause}")

    def _add_tally(self, child: WorkerHandle) -> None:
        tally = child.board.tally()
        self._warnings |= dict.fromkeys(child.warnings)
        self._settled += tally.settled
        if tally.first_claim_s:
            first = self._first_claim_s
            self._first_claim_s = min(first or tally.first_claim_s, tally.first_claim_s)
        self._last_commit_s = max(self._last_commit_s, tally.last_commit_s)

    def _drain_s(self) -> float:
        if self._first_claim_s is None:
            return 0.0
        return max(self._last_commit_s - self._first_claim_s, 0.0)

    def _is_stalled(self, work: Work) -> bool:
        """True if ready workers have finished nothing for too long."""
        now_s = self._clock.monotonic()
        tallies = [child.board.tally() for child in self._children]
        settled = self._settled + sum(tally.settled for tally in tallies)
        before = self._progress
        ready = before.ready or any(child.ready for child in self._children)
        claimed = before.claimed or any(tally.first_claim_s for tally in tallies)
        after = ProgressListener(settled, ready=ready, claimed=claimed)
        if after != before:
            self._progress, self._progressed_s = after, now_s
        if work.max_stall_s is None:
            return False
        patience_s = work.max_stall_s if ready else max(work.max_stall_s, self.START_S)
        return now_s - self._progressed_s > patience_s

    def _begin_stop(self) -> None:
        if self._stopping_since_s is None:
            self._stopping_since_s = self._clock.monotonic()
            for child in self._children:
                child.stop()

    def _pass_on_stops(self) -> None:
        if self._stops:
            self._begin_stop()
        if self._stopping_since_s is None:
            return
        stopping_s = self._clock.monotonic() - self._stopping_since_s
        shutdown_s = self._policies.worker.shutdown_s
        if not self._hurried and (self._stops > 1 or stopping_s > shutdown_s):
            self._hurried = True
            self._stopping_since_s = self._clock.monotonic()
            for child in self._children:
                child.stop(now=True)
        elif self._hurried and stopping_s > self.PATIENCE_S:
            for child in self._children:
                child.kill_as_lost()

    async def _end_all(self) -> None:
        """Leave no process behind, whatever happens."""
        for child in self._children:
            child.process.kill()
        self._children.clear()

    async def _record(self, work: Work, *, ended: bool) -> None:
        job_id = work.jobs[0] if work.jobs and len(work.jobs) == 1 else None
        await self._store.jobs.record_session(
            SessionReport(
                id=self._session,
                job_id=job_id,
                command=work.command,
                worker_count=self._policies.worker.processes,
                settled=self._settled,
                drain_s=self._drain_s(),
                ended=ended,
            ),
        )
