"""Runs the open items of a job with workers of this command, until it ends or is stopped."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from functools import partial

import msgspec

from headgate.app.cli.progress import Progress, limit_finder
from headgate.app.cli.run_checks import FAILURES_S, FailingRows
from headgate.app.cli.run_result import combined_report
from headgate.app.cli.runtime import CliContext
from headgate.app.cli.supervise import build_supervisor, same_command, stopping
from headgate.app.cli.trial import Trial
from headgate.app.settings import Settings
from headgate.core.errors import StoreError, UnknownJob
from headgate.core.failing import ErrorLimit
from headgate.core.gates.config import GateLimits
from headgate.core.job import Counts, Job
from headgate.core.status import JobState
from headgate.engine.error_count import ErrorCount
from headgate.engine.gate_control import JobGates
from headgate.engine.job_control import JobControl, is_halted
from headgate.engine.supervisor import RunReport, Supervisor, Work
from headgate.ports.handler import HandlerSpec
from headgate.ports.store import Store

HALT_CHECK_S = 1.0
"""Seconds between two checks whether the job was halted."""


class WorkRules(msgspec.Struct, frozen=True):
    """When the work on a job ends, and how its items are called."""

    max_errors: ErrorLimit | None = None
    max_stall_s: float = 3_600.0
    revisits: bool = False
    """The same command retries failed items without being told to."""
    noun: str = "row"


class JobWork:
    def __init__(
        self,
        cli: CliContext,
        settings: Settings,
        store: Store,
        rules: WorkRules,
        trial: Trial | None = None,
    ) -> None:
        self._cli = cli
        self._settings = settings
        self._store = store
        self._rules = rules
        self._trial = trial or Trial(store.rows)
        self._supervisor: Supervisor | None = None
        self.report = RunReport()
        self.is_stopped = False
        self.halted = ""
        """Why the job was halted; empty if it was not."""
        self.failing: FailingRows | None = None
        self.on_counts: Callable[[Counts], Awaitable[None]] | None = None
        """Called with the counters about once a second."""

    async def ready(self, job: Job) -> Job | None:
        """The job, resumed if it was halted; None if it is paused, and the user is told so."""
        if is_halted(job):
            self._cli.screen.say(f"job {job.id} was stopped: {job.pause_reason}")
            job = await JobControl(self._store).resume(job.id)
        if job.state is JobState.PAUSED and job.resume_at is None:
            self._cli.screen.fail(f"job {job.id} is paused: headgate jobs resume {job.id}")
            return None
        return job

    def progress(self, job: Job, spec: HandlerSpec | None) -> Progress:
        gates, reads = self._gates_of(job, spec), self._store.reads
        find = limit_finder(self._store, gates, job.id, self._trial.counts)
        return Progress(self._cli.screen, self._cli.clock, reads, job.id, find)

    def interrupt(self, count: int, progress: Progress) -> None:
        """The first interrupt lets running items finish; the second one requeues them."""
        self.is_stopped = True
        running = self._supervisor.running if self._supervisor else 0
        progress.note(stopping(count, running))
        if self._supervisor is not None:
            self._supervisor.stop()

    async def run(self, job: Job, progress: Progress, *, is_reading: bool = False) -> None:
        """Work until no item is open; `is_reading`: items are still being added."""
        counts = await self._store.reads.counts(job.id)
        chosen = await self._trial.choose(job.id, counts.total)
        if self.is_stopped or not (counts.open or is_reading):
            await self._store.jobs.finish_job(job.id)
            return
        progress.working()
        self._supervisor = build_supervisor(self._cli, self._settings, self._store)
        rules = self._rules
        rows = counts.total if chosen is None else len(chosen)
        errors = ErrorCount.create(rules.max_errors, rows) if rules.max_errors else None
        work = Work((job.id,), True, rules.max_stall_s, None, same_command(), chosen, errors)
        self.failing = FailingRows(
            self._store.rows, job.id, errors, revisits=rules.revisits, noun=rules.noun
        )
        await self.failing.begin(await self._trial.counts(job.id) or counts, rows)
        if chosen is not None:
            progress.only(partial(self._store.rows.counts_of, job.id, chosen))
        report = await self._supervised(job.id, self._supervisor, work, progress)
        await self._store.jobs.finish_job(job.id)
        await self._check_halt(job.id)
        await self._check_failures(job.id, progress)
        self._supervisor = None
        self.report = combined_report(self.report, report)
        too_soon = report.stalled or report.interrupted or self.halted or self.failing.too_many
        self.is_stopped = self.is_stopped or bool(too_soon)

    def _gates_of(self, job: Job, spec: HandlerSpec | None) -> JobGates:
        limits = self._settings.gate_limits
        provider = (spec and spec.provider) or ""
        if provider and spec and spec.limits and provider not in limits.providers:
            limits = GateLimits({**limits.providers, provider: spec.limits}, limits.gates)
        return JobGates(self._store, limits, job.id, provider)

    async def _supervised(
        self, job_id: int, supervisor: Supervisor, work: Work, progress: Progress
    ) -> RunReport:
        beside = [
            asyncio.create_task(self._stop_when_halted(job_id, supervisor)),
            asyncio.create_task(self._watch_failures(job_id, progress)),
        ]
        try:
            return await supervisor.run(work)
        finally:  # they must not read from a store that is closed
            for task in beside:
                task.cancel()
            await asyncio.gather(*beside, return_exceptions=True)

    async def _stop_when_halted(self, job_id: int, supervisor: Supervisor) -> None:
        """Stop the workers of a halted job: it cannot continue until its cause is fixed."""
        while not self.halted:
            await self._cli.clock.sleep(HALT_CHECK_S)
            await self._check_halt(job_id)
        supervisor.stop()

    async def _watch_failures(self, job_id: int, progress: Progress) -> None:
        """Show failures as they happen."""
        while True:
            await self._cli.clock.sleep(FAILURES_S)
            await self._check_failures(job_id, progress)

    async def _check_failures(self, job_id: int, progress: Progress) -> None:
        with contextlib.suppress(StoreError, UnknownJob):
            counts = await self._store.reads.counts(job_id)
            if failing := self.failing:
                await failing.check(await self._trial.counts(job_id) or counts)
                progress.failing(failing.remark, failing.kind, failing.hint)
            if self.on_counts is not None:
                await self.on_counts(counts)

    async def _check_halt(self, job_id: int) -> None:
        with contextlib.suppress(StoreError, UnknownJob):
            job = await self._store.reads.job(job_id)
            self.halted = (job.pause_reason or "") if is_halted(job) else ""
