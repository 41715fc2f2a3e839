"""One `headgate run` from beginning to end: take in, read, work, write out, sum up."""

import asyncio
import contextlib
from collections.abc import Mapping
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from headgate.app.cli.desk import Desk
from headgate.app.cli.exits import Exit
from headgate.app.cli.outlet import Outlet
from headgate.app.cli.progress import Progress
from headgate.app.cli.shapes import span, totals
from headgate.app.cli.slowed import configured, slowed_by
from headgate.app.cli.supervise import Interrupts, build_supervisor, same_command, stopping
from headgate.app.settings import Settings
from headgate.core.configured import Configured
from headgate.core.errors import StoreError, UnknownJob
from headgate.core.job import Counts, Job, NewJob
from headgate.core.status import ItemStatus, JobMove, JobState
from headgate.engine.ingest import Ingest, IngestPlan, IngestReport
from headgate.engine.intake import Admission, Entry, Intake
from headgate.engine.job_gates import JobGates
from headgate.engine.rows import OnBadRow
from headgate.engine.steering import Steering, is_halted
from headgate.engine.supervisor import RunReport, Supervisor, Work
from headgate.ports.handler import HandlerSpec
from headgate.ports.items import RequeueRequest
from headgate.ports.source import Source
from headgate.ports.store import Store

LOOK_S = 1.0
"""Between two looks at whether the job had to stop."""
VISITED = frozenset(
    {ItemStatus.DONE, ItemStatus.NOT_FOUND, ItemStatus.SKIPPED, ItemStatus.ERROR},
)
"""What a second visit goes to again."""


class FailOn(StrEnum):
    """What makes a finished run a failed one."""

    ERROR = "error"
    NOT_FOUND = "not-found"
    NONE = "none"


class BatchOptions(msgspec.Struct, frozen=True):
    """What the command line asked for."""

    file: Path
    source: str = ""
    """What the job knows the file by; else its path."""
    key_columns: tuple[str, ...] = ()
    new: bool = False
    retry_failed: bool = False
    revisit: bool = False
    """Once all rows are finished, go to all of them again; before that, to those that failed."""
    by_config: bool = False
    """The same file with another config is another job."""
    name: str = ""
    config: Mapping[str, Any] = {}
    priority: int = 0
    eager: bool = False
    on_bad_row: OnBadRow = OnBadRow.ITEM_ERROR
    fail_on: FailOn = FailOn.ERROR
    max_stall_s: float = 3_600.0
    as_json: bool = False


class BatchRun:
    """The steps of a run, and what to do when somebody interrupts one of them."""

    def __init__(self, desk: Desk, settings: Settings, store: Store, options: BatchOptions) -> None:
        self._desk = desk
        self._settings = settings
        self._store = store
        self._options = options
        self._steering = Steering(store)
        self._ingested = IngestReport()
        self._worked = RunReport()
        self._resumed = 0
        self._stopped = False
        self._halted = ""
        """Why the job had to stop."""
        self._reading: asyncio.Task[IngestReport] | None = None
        self._writing: asyncio.Task[str] | None = None
        self._written = ""
        self._supervisor: Supervisor | None = None

    async def go(self, spec: HandlerSpec, source: Source, outlet: Outlet | None) -> Exit:
        """Do all of it; the answer is the command's exit code."""
        admission = await self._admit(spec, source)
        job = admission.job
        if is_halted(job):
            self._desk.screen.say(f"job {job.id} had to stop: {job.pause_reason}")
            job = await self._steering.resume(job.id)
        if job.state is JobState.PAUSED and job.resume_at is None:
            self._desk.screen.fail(f"job {job.id} is paused: headgate jobs resume {job.id}")
            return Exit.STOPPED
        plan = IngestPlan(job.id, source, spec, self._options.on_bad_row)
        try:
            await self._revive(admission)
            await self._process(job, plan, outlet)
            state = (await self._store.reads.job(job.id)).state
        except UnknownJob:
            self._desk.screen.fail(f"job {job.id} was deleted while it ran")
            return Exit.STOPPED
        return await self._sum_up(job.id, state, outlet)

    async def _admit(self, spec: HandlerSpec, source: Source) -> Admission:
        options = self._options
        new = NewJob(
            handler=spec.reference,
            source=options.source or str(options.file.resolve()),
            name=options.name or f"{spec.name} {options.file.name}",
            key_columns=options.key_columns,
            config=options.config,
            priority=options.priority,
            eager=options.eager,
            fingerprint=await asyncio.to_thread(source.fingerprint),
        )
        return await Intake(self._store.jobs, self._store.reads).admit(
            new,
            fresh=options.new,
            keyed=spec.key_of is not None,
            by_config=options.by_config,
        )

    async def _revive(self, admission: Admission) -> None:
        """Bring back what should be tried again, and say what is left alone."""
        job = admission.job
        if job.state is JobState.FAILED and job.ingest_complete:
            await self._store.jobs.move_job(job.id, JobMove.REPROCESS, "run again")
        if self._options.retry_failed:
            await self._bring_back(job.id, frozenset({ItemStatus.ERROR}))
        elif self._options.revisit and admission.entry is not Entry.NEW:
            open_rows = (await self._store.reads.counts(job.id)).open
            await self._bring_back(job.id, frozenset({ItemStatus.ERROR}) if open_rows else VISITED)
        self._resumed = (await self._store.reads.counts(job.id)).finished
        if admission.entry is Entry.NEW:
            self._desk.screen.say(f"job {job.id}: {job.name}")
            return
        what = {
            Entry.RESUME: "resuming",
            Entry.ADD: "the file changed: adding its new rows to",
            Entry.REREAD: "reading the file again for",
        }[admission.entry]
        self._desk.screen.say(
            f"{what} job {job.id}: {self._resumed:,} finished rows are left alone"
        )

    async def _bring_back(self, job_id: int, statuses: frozenset[ItemStatus]) -> None:
        moved = await self._steering.reprocess(RequeueRequest(job_id, statuses))
        what = f"{moved:,} failed rows" if statuses != VISITED else f"all {moved:,} rows"
        if moved or self._options.retry_failed:
            self._desk.screen.say(f"trying {what} again")

    async def _process(self, job: Job, plan: IngestPlan, outlet: Outlet | None) -> None:
        reads = self._store.reads
        cause = partial(slowed_by, self._gates_of(job, plan.handler))
        async with Progress(self._desk.screen, self._desk.clock, reads, job.id, cause) as progress:
            with Interrupts(lambda count: self._hit(count, progress)):
                if self._options.eager:
                    async with asyncio.TaskGroup() as group:
                        group.create_task(self._ingest(job, plan, progress))
                        group.create_task(self._work(job, progress))
                else:
                    await self._ingest(job, plan, progress)
                await self._work(job, progress)
                # What has halted a job is most likely in the way of the outlet too.
                early = outlet is not None and outlet.early and not self._halted
                if outlet is not None and (early or not self._stopped):
                    await self._write(job, outlet, progress)

    def _gates_of(self, job: Job, spec: HandlerSpec | None) -> JobGates:
        limits = configured(self._settings)
        provider = (spec and spec.provider) or ""
        if provider and spec and spec.limits and provider not in limits.providers:
            limits = Configured({**limits.providers, provider: spec.limits}, limits.gates)
        return JobGates(self._store, limits, job.id, provider)

    def _hit(self, count: int, progress: Progress) -> None:
        """An interrupt: reading and writing stop at once, working stops in two steps."""
        self._stopped = True
        for task in (self._reading, self._writing):
            if task is not None:
                task.cancel()
        running = self._supervisor.running if self._supervisor else 0
        progress.note(stopping(count, running))
        if self._supervisor is not None:
            self._supervisor.stop()

    async def _ingest(self, job: Job, plan: IngestPlan, progress: Progress) -> None:
        if job.ingest_complete:
            return
        if not self._options.eager:
            progress.reading()
        ingest = Ingest(self._store, self._desk.clock, self._settings.ingest)
        self._reading = asyncio.create_task(ingest.run(plan))
        # Waited for, not awaited: an interrupt cancels the reading, never the run around it.
        await asyncio.wait([self._reading])
        progress.working()
        if not self._reading.cancelled():
            self._ingested = self._reading.result()
            self._tell_ingested()

    def _tell_ingested(self) -> None:
        report, screen = self._ingested, self._desk.screen
        known = f", {report.known:,} known already" if report.known else ""
        screen.say(f"read {report.rows:,} rows in {span(report.seconds)}{known}")
        if report.same:
            rows = "row" if report.same == 1 else "rows"
            screen.say(f"{report.same:,} duplicate {rows}, done with the first of each kind")
        for note in report.notes:
            screen.say(note)
        if report.changed:
            lines = ", ".join(str(line) for line in report.changed_lines)
            more = ", …" if report.changed > len(report.changed_lines) else ""
            screen.warn(
                f"{report.changed:,} rows changed since they were stored; the stored ones are "
                f"kept (lines {lines}{more}). `--new` takes the file as it is now"
            )
        for bad in report.bad_rows:
            screen.warn(str(bad))
        if report.bad:
            fate = "skipped" if self._options.on_bad_row is OnBadRow.SKIP else "kept as ERROR"
            screen.warn(f"{report.bad:,} bad rows, {fate}")
        if report.stopped:
            self._stopped = True
            screen.warn(f"stopped reading: {report.stopped}")

    async def _work(self, job: Job, progress: Progress) -> None:
        counts = await self._store.reads.counts(job.id)
        reading = self._reading is not None and not self._reading.done()
        if self._stopped or not (counts.open or reading):
            await self._store.jobs.finish_job(job.id)
            return
        progress.working()
        self._supervisor = build_supervisor(self._desk, self._settings, self._store)
        work = Work((job.id,), True, self._options.max_stall_s, None, same_command())
        halt = asyncio.create_task(self._stop_when_halted(job.id, self._supervisor))
        report = await self._supervisor.run(work)
        halt.cancel()
        await self._look_for_halt(job.id)
        self._supervisor = None
        self._worked = _together(self._worked, report)
        self._stopped = self._stopped or report.stalled or report.interrupted or bool(self._halted)

    async def _stop_when_halted(self, job_id: int, supervisor: Supervisor) -> None:
        """Nobody should wait for a job that goes on only when somebody has mended something."""
        while not self._halted:
            await self._desk.clock.sleep(LOOK_S)
            await self._look_for_halt(job_id)
        supervisor.stop()

    async def _look_for_halt(self, job_id: int) -> None:
        with contextlib.suppress(StoreError, UnknownJob):
            job = await self._store.reads.job(job_id)
            self._halted = (job.pause_reason or "") if is_halted(job) else ""

    async def _write(self, job: Job, outlet: Outlet, progress: Progress) -> None:
        progress.note(f"writing {outlet.name}", aloud=False)
        self._writing = asyncio.create_task(outlet.write(job.id))
        await asyncio.wait([self._writing])
        if not self._writing.cancelled():
            self._written = self._writing.result()

    async def _sum_up(self, job_id: int, state: JobState, outlet: Outlet | None) -> Exit:
        counts = await self._store.reads.counts(job_id)
        finished = not (self._stopped or counts.open or state is JobState.CANCELLED)
        code = exit_code(counts, self._options.fail_on, finished=finished)
        if self._options.as_json:
            self._desk.screen.json(self._summary(job_id, counts, code))
        screen = self._desk.screen
        if outlet is not None and self._written:
            screen.say(f"wrote {outlet.name} ({self._written})")
        screen.say(f"{'finished' if finished else 'stopped'}: {in_words(counts)}", "bold")
        worked = self._worked
        if worked.settled and worked.drain_s:
            pace = f"{worked.settled / worked.drain_s:,.0f}/s"
            screen.say(f"this command settled {worked.settled:,} in {span(worked.drain_s)}, {pace}")
        if state is JobState.CANCELLED:
            back = f"headgate jobs reprocess {job_id} --status CANCELLED"
            screen.say(f"job {job_id} was cancelled; bring it back with: {back}")
        elif not finished:
            self._tell_rest(job_id, counts, outlet)
        elif counts.error:
            await self._tell_errors(job_id, counts)
        return code

    def _tell_rest(self, job_id: int, counts: Counts, outlet: Outlet | None) -> None:
        screen = self._desk.screen
        if self._halted:
            screen.fail(self._halted)
        elif self._worked.stalled:
            screen.say(f"nothing could progress for {span(self._options.max_stall_s)}")
        unread = " and the file is not read to its end" if self._unread() else ""
        screen.say(f"{counts.open:,} rows of job {job_id} are left{unread}; nothing is lost")
        if outlet is not None and not (self._written or outlet.early):
            screen.say(f"{outlet.name} is written when all rows are finished")
        screen.say(f"go on with: {same_command()}")

    def _unread(self) -> bool:
        return self._reading is not None and self._reading.cancelled()

    async def _tell_errors(self, job_id: int, counts: Counts) -> None:
        screen = self._desk.screen
        request = RequeueRequest(job_id, frozenset({ItemStatus.ERROR}))
        again = await self._steering.would_reprocess(request)
        screen.say(f"see the failures: headgate items ls {job_id} --status ERROR")
        if again:
            flag = "" if self._options.revisit else " --retry-failed"
            screen.say(f"try {again:,} of them again: {same_command()}{flag}")
        if counts.error > again:
            remedy = "--new" if self._options.revisit else "--key or --new"
            screen.say(f"{counts.error - again:,} rows are bad: mend the file, then use {remedy}")

    def _summary(self, job_id: int, counts: Counts, code: Exit) -> dict[str, Any]:
        worked = self._worked
        return {
            "job_id": job_id,
            **totals(counts),
            "resumed": self._resumed,
            "ingest_seconds": round(self._ingested.seconds, 6),
            "drain_seconds": round(worked.drain_s, 6),
            "items_per_s": round(worked.settled / worked.drain_s, 3) if worked.drain_s else 0.0,
            "exit": int(code),
        }


def exit_code(counts: Counts, fail_on: FailOn, *, finished: bool) -> Exit:
    """What the shell is told about a run."""
    if not finished:
        return Exit.STOPPED
    failed = {
        FailOn.ERROR: counts.error,
        FailOn.NOT_FOUND: counts.error + counts.not_found,
        FailOn.NONE: 0,
    }[fail_on]
    return Exit.FAILED_ITEMS if failed else Exit.OK


def in_words(counts: Counts) -> str:
    """The totals of a job, without those that are nought."""
    parts = [
        (counts.done, "done"),
        (counts.not_found, "not found"),
        (counts.skipped, "skipped"),
        (counts.review, "to review"),
        (counts.error, "error" if counts.error == 1 else "errors"),
        (counts.cancelled, "cancelled"),
        (counts.open, "left"),
    ]
    named = ", ".join(f"{number:,} {name}" for number, name in parts if number)
    return f"{counts.total:,} rows: {named}" if named else "no rows"


def _together(first: RunReport, second: RunReport) -> RunReport:
    return RunReport(
        settled=first.settled + second.settled,
        drain_s=first.drain_s + second.drain_s,
        stalled=second.stalled,
        interrupted=second.interrupted,
        crashes=first.crashes + second.crashes,
    )
