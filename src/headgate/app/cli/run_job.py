"""The steps of `headgate run`: find the job, read, run, write, summarize."""

import asyncio
from typing import Any

from headgate.app.cli.exit_codes import Exit, known_error
from headgate.app.cli.job_choice import (
    admit,
    forget_unread,
    print_match,
    print_read,
    require_encoding,
)
from headgate.app.cli.job_work import JobWork, WorkRules
from headgate.app.cli.progress import Progress, rate_text
from headgate.app.cli.render.times import span
from headgate.app.cli.run_checks import EmptyColumns
from headgate.app.cli.run_options import RunJobOptions
from headgate.app.cli.run_result import RunOutput, exit_code, summary_text, totals
from headgate.app.cli.runtime import CliContext
from headgate.app.cli.supervise import (
    Interrupts,
    command_here,
    same_command,
)
from headgate.app.cli.trial import Trial
from headgate.app.settings import Settings
from headgate.core.errors import BadSource, UnknownJob
from headgate.core.job import Counts, Job
from headgate.core.status import ItemStatus, JobMove, JobState
from headgate.core.words import agreeing, counted
from headgate.engine.ingest import Ingest, IngestPlan, IngestReport
from headgate.engine.job_control import JobControl
from headgate.engine.job_matching import MatchedJob, MatchKind
from headgate.ports.handler import HandlerSpec
from headgate.ports.items import RequeueRequest
from headgate.ports.source import Source
from headgate.ports.store import Store
from headgate.transfer.sources import bytes_in

VISITED = frozenset(
    {ItemStatus.DONE, ItemStatus.NOT_FOUND, ItemStatus.SKIPPED, ItemStatus.ERROR},
)
"""Statuses of the items that a repeated download runs again."""


class RunJob:
    def __init__(
        self,
        cli: CliContext,
        settings: Settings,
        store: Store,
        options: RunJobOptions,
        trial: Trial | None = None,
    ) -> None:
        self._cli = cli
        self._settings = settings
        self._store = store
        self._options = options
        self._trial = trial or Trial(store.rows)
        self._control = JobControl(store)
        rules = WorkRules(options.max_errors, options.max_stall_s, revisits=options.revisit)
        self._work = JobWork(cli, settings, store, rules, self._trial)
        self._work.on_counts = self._warn_of_empty
        self._ingested = IngestReport()
        self._resumed = 0
        self._empty: EmptyColumns | None = None
        self._reading: asyncio.Task[IngestReport] | None = None
        self._writing: asyncio.Task[str] | None = None
        self._written = ""

    async def go(
        self,
        spec: HandlerSpec,
        source: Source,
        output: RunOutput | None,
        matched: MatchedJob | None = None,
    ) -> Exit:
        """Run all steps and return the exit code. `matched` is the job, if already known."""
        matched = matched or await admit(self._store, self._settings, self._options, spec, source)
        job = matched.job
        ready = await self._work.ready(job)
        if ready is None:
            return Exit.STOPPED
        job = ready
        self._empty = EmptyColumns(self._store.reads, job.id, spec.paths)
        size = bytes_in(self._options.file)
        plan = IngestPlan(job.id, source, spec, self._options.on_bad_row, file_bytes=size)
        try:
            await require_encoding(self._store, self._settings, self._options, matched)
            await self._revive(matched)
            await self._process(job, plan, output)
            state = (await self._store.reads.job(job.id)).state
            # A deletion cancels first: the command may end before the job is gone.
            if state is JobState.CANCELLED and await self._control.cancelled_to_delete(job.id):
                return self._deleted(job.id)
            return await self._sum_up(job.id, state, output)
        except (BadSource, UnknownJob, ExceptionGroup) as error:
            known = known_error(error)
            if isinstance(known, UnknownJob):
                return self._deleted(job.id)
            if matched.entry is MatchKind.NEW and isinstance(known, BadSource):
                await forget_unread(self._cli.screen, self._store, job.id)
            raise

    def _deleted(self, job_id: int) -> Exit:
        self._cli.screen.fail(f"job {job_id} was deleted while it ran")
        return Exit.STOPPED

    async def _revive(self, matched: MatchedJob) -> None:
        """Requeue the items that should run again, and print how many are kept."""
        job = matched.job
        if job.state is JobState.FAILED and job.ingest_complete:
            await self._store.jobs.move_job(job.id, JobMove.REPROCESS, "run again")
        if self._options.retry_failed:
            await self._bring_back(job.id, frozenset({ItemStatus.ERROR}))
        elif self._options.revisit and matched.entry is not MatchKind.NEW:
            open_rows = (await self._store.reads.counts(job.id)).open
            await self._bring_back(job.id, frozenset({ItemStatus.ERROR}) if open_rows else VISITED)
        self._resumed = (await self._store.reads.counts(job.id)).finished
        if self._options.priority not in (0, job.priority):
            await self._control.set_priority(job.id, self._options.priority)
        print_match(self._cli.screen, matched, self._resumed)

    async def _bring_back(self, job_id: int, statuses: frozenset[ItemStatus]) -> None:
        moved = await self._control.reprocess(RequeueRequest(job_id, statuses))
        what = (
            counted(moved, "failed row") if statuses != VISITED else f"all {counted(moved, 'row')}"
        )
        if moved:
            self._cli.screen.say(f"running {what} again")
        elif self._options.retry_failed:
            self._cli.screen.say("no row has failed, so none is run again")

    async def _process(self, job: Job, plan: IngestPlan, output: RunOutput | None) -> None:
        async with self._work.progress(job, plan.handler) as progress:
            with Interrupts(lambda count: self._hit(count, progress)):
                if self._options.eager and not self._trial.wanted:
                    async with asyncio.TaskGroup() as group:
                        group.create_task(self._ingest(job, plan, progress))
                        group.create_task(self._run_items(job, progress))
                else:
                    await self._ingest(job, plan, progress)
                await self._run_items(job, progress)
                # What halted the job, such as a full disk, would most likely stop the output too.
                early = output is not None and output.early and not self._work.halted
                if output is not None and (early or not self._work.is_stopped):
                    await self._write(job, output, progress)

    async def _run_items(self, job: Job, progress: Progress) -> None:
        is_reading = self._reading is not None and not self._reading.done()
        await self._work.run(job, progress, is_reading=is_reading)

    def _hit(self, count: int, progress: Progress) -> None:
        """Handle an interrupt: reading and writing stop immediately, workers in two steps."""
        for task in (self._reading, self._writing):
            if task is not None:
                task.cancel()
        self._work.interrupt(count, progress)

    async def _ingest(self, job: Job, plan: IngestPlan, progress: Progress) -> None:
        if job.ingest_complete:
            return
        if not self._options.eager:
            progress.reading()
        ingest = Ingest(self._store, self._cli.clock, self._settings.ingest)
        self._reading = asyncio.create_task(ingest.run(plan))
        # `wait`, not `await`: an interrupt cancels the reading but not this task.
        await asyncio.wait([self._reading])
        progress.working()
        if not self._reading.cancelled():
            self._ingested = self._reading.result()
            self._print_ingested()

    def _print_ingested(self) -> None:
        report, screen = self._ingested, self._cli.screen
        print_read(screen, report, self._options.on_bad_row)
        if report.stopped:
            self._work.is_stopped = True
            screen.warn(f"stopped reading: {report.stopped}")

    async def _warn_of_empty(self, counts: Counts, *, at_end: bool = False) -> None:
        for warning in await self._empty.check(counts.done, at_end=at_end) if self._empty else ():
            self._cli.screen.warn(warning)

    async def _write(self, job: Job, output: RunOutput, progress: Progress) -> None:
        progress.note(f"writing {output.name}", aloud=False)
        self._writing = asyncio.create_task(output.write(job.id))
        await asyncio.wait([self._writing])
        if not self._writing.cancelled():
            self._written = self._writing.result()

    async def _sum_up(self, job_id: int, state: JobState, output: RunOutput | None) -> Exit:
        counts = await self._store.reads.counts(job_id)
        chosen = await self._trial.counts(job_id) or counts
        finished = not (self._work.is_stopped or chosen.open or state is JobState.CANCELLED)
        code = exit_code(chosen, self._options.fail_on, finished=finished)
        if self._options.as_json:
            self._cli.screen.json(self._summary(job_id, counts, code))
        screen = self._cli.screen
        if output is not None and self._written:
            screen.say(f"wrote {output.name} ({self._written})")
            for note in output.notes:
                screen.warn(note)
        screen.say(summary_text(chosen, finished=finished), "bold")
        await self._warn_of_empty(counts, at_end=True)
        worked = self._work.report
        if worked.settled and worked.drain_s:
            pace = rate_text(worked.settled / worked.drain_s)
            rows = counted(worked.settled, "row")
            screen.say(f"this run: {rows} in {span(worked.drain_s)}, {pace}")
        for warning in worked.warnings:
            screen.warn(warning)
        if state is JobState.CANCELLED:
            back = command_here(f"jobs reprocess {job_id} --status CANCELLED")
            screen.say(f"job {job_id} was cancelled; run it again with: {back}")
        elif not finished:
            self._print_rest(job_id, counts, output)
        elif chosen.error:
            await self._print_errors(job_id, counts)
        for line in self._trial.rows_left_lines(counts, chosen) if finished else ():
            screen.say(line)
        return code

    def _print_rest(self, job_id: int, counts: Counts, output: RunOutput | None) -> None:
        screen, work = self._cli.screen, self._work
        if work.halted:
            screen.fail(work.halted)
        elif work.failing is not None and work.failing.too_many:
            screen.fail(work.failing.too_many)
        elif work.report.stalled:
            screen.say(f"no row made progress for {span(self._options.max_stall_s)}")
        is_unread = self._reading is not None and self._reading.cancelled()
        unread = " and the file was not read to its end" if is_unread else ""
        left = f"{counted(counts.open, 'row')} of job {job_id} {agreeing(counts.open, 'is', 'are')}"
        screen.say(f"{left} left{unread}; nothing is lost")
        if output is not None and not (self._written or output.early):
            screen.say(f"{output.name} is written when all rows are finished")
        screen.say(self._resume_hint(counts))

    def _resume_hint(self, counts: Counts) -> str:
        failing = self._work.failing
        if failing is None or not (failing.too_many or failing.hint):
            return f"continue with: {same_command()}"
        flag = " --retry-failed" if counts.error and not self._options.revisit else ""
        what = "fix the handler" if failing.raised else "fix the cause"
        return f"{what}, then continue with: {same_command()}{flag}"

    async def _print_errors(self, job_id: int, counts: Counts) -> None:
        screen = self._cli.screen
        request = RequeueRequest(job_id, frozenset({ItemStatus.ERROR}))
        again = await self._control.would_reprocess(request)
        screen.say(f"see the failures: {command_here(f'items ls {job_id} --status ERROR')}")
        if again:
            flag = "" if self._options.revisit else " --retry-failed"
            which = "it" if again == counts.error == 1 else "them"
            some = which if again == counts.error else f"{again:,} of them"
            screen.say(f"run {some} again: {same_command()}{flag}")
        if counts.error > again:
            bad = counts.error - again
            rows = f"{counted(bad, 'row')} {agreeing(bad, 'is', 'are')} bad"
            screen.say(f"{rows}: fix the file, then {self._after_fixed_file()}")

    def _after_fixed_file(self) -> str:
        if self._options.key_columns:
            return "run the same command"
        return "use --new" if self._options.revisit else "use --key or --new"

    def _summary(self, job_id: int, counts: Counts, code: Exit) -> dict[str, Any]:
        worked = self._work.report
        return {
            "job_id": job_id,
            **totals(counts),
            **({} if self._trial.ids is None else {"chosen": len(self._trial.ids)}),
            "resumed": self._resumed,
            "ingest_seconds": round(self._ingested.seconds, 6),
            "drain_seconds": round(worked.drain_s, 6),
            "warnings": list(worked.warnings),
            "items_per_s": round(worked.settled / worked.drain_s, 3) if worked.drain_s else 0.0,
            "exit": int(code),
        }
