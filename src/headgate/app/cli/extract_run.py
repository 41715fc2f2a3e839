"""A pass as `headgate extract` runs it: begin or resume, work, summarize."""

from collections.abc import Sequence
from typing import Any

import msgspec

from headgate.app.cli.exit_codes import Exit
from headgate.app.cli.job_work import JobWork, WorkRules
from headgate.app.cli.pass_progress import StreamLines, rows_seen
from headgate.app.cli.render.times import span
from headgate.app.cli.runtime import CliContext
from headgate.app.cli.supervise import Interrupts, command_here, same_command
from headgate.app.extract.opening import OpenedSource
from headgate.app.settings import Settings
from headgate.core.errors import UnknownJob
from headgate.core.job import Counts, Job
from headgate.core.mirror import PassMode, Proof
from headgate.core.status import JobState
from headgate.core.words import agreeing, counted
from headgate.engine.passes import BegunPass, Passes, PassOrder
from headgate.ports.mirrors import Checkpoint, Stream
from headgate.ports.store import Store

SHOWN_FAILURES = 3


class PassOptions(msgspec.Struct, frozen=True):
    max_stall_s: float = 3_600.0
    accept_unproven: bool = False
    as_json: bool = False


class PassEnd(msgspec.Struct, frozen=True):
    """A pass when the command ends."""

    job: Job
    counts: Counts
    checkpoints: Sequence[Checkpoint]
    streams: Sequence[Stream]

    @property
    def is_complete(self) -> bool:
        return all(each.completed_at is not None for each in self.checkpoints)

    @property
    def unproven(self) -> list[Checkpoint]:
        return [each for each in self.checkpoints if each.proof is Proof.UNPROVEN]

    def live(self, checkpoint: Checkpoint) -> int:
        return next(each.live for each in self.streams if each.id == checkpoint.stream_id)


class PassRun:
    """One command's work on a pass."""

    def __init__(
        self, cli: CliContext, settings: Settings, store: Store, options: PassOptions
    ) -> None:
        self._cli = cli
        self._store = store
        self._options = options
        rules = WorkRules(max_stall_s=options.max_stall_s, revisits=True, noun="page")
        self._work = JobWork(cli, settings, store, rules)
        self._before: Sequence[Checkpoint] = ()

    async def go(self, source: OpenedSource, order: PassOrder) -> Exit:
        """Begin or resume the pass, work on it, and return the exit code."""
        begun = await Passes(self._store, self._cli.clock).begin(source.for_pass, order)
        await self._print_begun(begun, source, order)
        job = await self._work.ready(begun.job)
        if job is None:
            return Exit.STOPPED
        self._before = await self._store.mirrors.checkpoints(job.id)
        async with self._work.progress(job, source.spec) as progress:
            lines = StreamLines(self._store.mirrors, job.id, self._cli.clock)
            progress.below(lines.read)
            with Interrupts(lambda count: self._work.interrupt(count, progress)):
                await self._work.run(job, progress)
        try:
            return await self._sum_up(await self._end(job.id))
        except UnknownJob:
            self._cli.screen.fail(f"pass {job.id} was deleted while it ran")
            return Exit.STOPPED

    async def _end(self, job_id: int) -> PassEnd:
        job = await self._store.reads.job(job_id)
        return PassEnd(
            job,
            await self._store.reads.counts(job_id),
            await self._store.mirrors.checkpoints(job_id),
            await self._store.mirrors.streams(job.mirror_id or 0),
        )

    async def _print_begun(self, begun: BegunPass, source: OpenedSource, order: PassOrder) -> None:
        screen, job = self._cli.screen, begun.job
        if begun.given_up is not None:
            screen.say(f"pass {begun.given_up} was given up: {begun.reason}")
        if begun.has_changed:
            screen.say("the description of the source has changed: every stream is listed in full")
        checkpoints = await self._store.mirrors.checkpoints(job.id)
        streams = counted(len(checkpoints), "stream")
        if not begun.is_resumed:
            screen.say(f"pass {job.id} of {source.mirror}: {streams}{_modes(checkpoints)}")
            self._warn_of_since(checkpoints, order)
            return
        done = sum(each.completed_at is not None for each in checkpoints)
        pages = sum(each.pages for each in checkpoints)
        kept = f"{done} of {streams} complete, {counted(pages, 'page')} fetched already"
        again = (
            f", {counted(begun.retried, 'failed page')} {agreeing(begun.retried, 'is', 'are')}"
            " tried again"
            if begun.retried
            else ""
        )
        screen.say(f"resuming pass {job.id} of {source.mirror}: {kept}{again}")

    def _warn_of_since(self, checkpoints: Sequence[Checkpoint], order: PassOrder) -> None:
        if order.wish.since is None:
            return
        for each in checkpoints:
            if each.mode is PassMode.FULL:
                self._cli.screen.warn(
                    f"{each.name} has no `incremental` in the source: --since does not apply to it,"
                    " and it is listed in full"
                )

    async def _sum_up(self, end: PassEnd) -> Exit:
        code = self._exit_code(end)
        if self._options.as_json:
            self._cli.screen.json(self._summary(end, code))
        else:
            print_streams(self._cli, end)
        await self._print_end(end, code)
        return code

    def _exit_code(self, end: PassEnd) -> Exit:
        if self._work.is_stopped or end.counts.open or end.job.state is JobState.CANCELLED:
            return Exit.STOPPED
        if not end.is_complete:
            return Exit.FAILED_ITEMS
        is_accepted = self._options.accept_unproven or not end.unproven
        return Exit.OK if is_accepted else Exit.FAILED_ITEMS

    def _done_now(self, end: PassEnd) -> tuple[int, int]:
        """The rows and the pages that this command has added to the pass."""
        rows = sum(map(rows_seen, end.checkpoints)) - sum(map(rows_seen, self._before))
        pages = sum(each.pages for each in end.checkpoints) - sum(
            each.pages for each in self._before
        )
        return rows, pages

    async def _print_end(self, end: PassEnd, code: Exit) -> None:
        screen, work, job = self._cli.screen, self._work.report, end.job
        rows = sum(map(rows_seen, end.checkpoints))
        how = "stopped" if code is Exit.STOPPED else "finished"
        screen.say(f"{how} pass {job.id}: {counted(rows, 'row')}, {_changes(end)}", "bold")
        if work.settled and work.drain_s:
            seen, pages = self._done_now(end)
            pace = f"{seen / work.drain_s:,.0f} rows/s, {pages / work.drain_s:,.1f} pages/s"
            screen.say(f"this run: {counted(seen, 'row')} in {span(work.drain_s)}, {pace}")
        for warning in work.warnings:
            screen.warn(warning)
        if job.state is JobState.CANCELLED:
            screen.say(f"pass {job.id} was cancelled; a new one begins with: {same_command()}")
        elif code is Exit.STOPPED:
            self._print_rest(end)
        else:
            await self._print_problems(end)

    def _print_rest(self, end: PassEnd) -> None:
        screen = self._cli.screen
        if self._work.halted:
            screen.fail(self._work.halted)
        elif self._work.report.stalled:
            screen.say(f"no page made progress for {span(self._options.max_stall_s)}")
        left = end.counts.open
        pages = f"at least {counted(left, 'page')} {agreeing(left, 'is', 'are')} left"
        screen.say(f"{pages}; what was fetched is kept")
        screen.say(f"continue with: {same_command()}")

    async def _print_problems(self, end: PassEnd) -> None:
        screen, job_id = self._cli.screen, end.job.id
        if end.counts.error:
            left = [each.name for each in end.checkpoints if each.completed_at is None]
            screen.fail(
                f"{counted(end.counts.error, 'page')} failed, so {', '.join(left)}"
                f" {agreeing(len(left), 'is', 'are')} not complete; nothing was deleted"
            )
            for group in (await self._store.reads.error_groups(job_id))[:SHOWN_FAILURES]:
                pages = counted(group.count, "page")
                screen.say(f"  {pages}: {group.reason}", "red")
            screen.say(f"see them: {command_here(f'items ls {job_id} --status ERROR')}")
            screen.say(f"fix the cause, then try them again: {same_command()}")
        for each in end.unproven:
            reason = (each.evidence or {}).get("reason", "no proof holds")
            screen.warn(f"{each.name} is unproven: {reason}; its rows are kept, none was deleted")

    def _summary(self, end: PassEnd, code: Exit) -> dict[str, Any]:
        worked = self._work.report
        seconds = worked.drain_s
        seen, pages = self._done_now(end)
        return {
            "pass_id": end.job.id,
            "state": end.job.state,
            "streams": [stream_json(each, end.live(each)) for each in end.checkpoints],
            "rows": seen,
            "pages": pages,
            "seconds": round(seconds, 6),
            "rows_per_s": round(seen / seconds, 3) if seconds else 0.0,
            "pages_per_s": round(pages / seconds, 3) if seconds else 0.0,
            "failed": end.counts.error,
            "left": end.counts.open,
            "warnings": list(worked.warnings),
            "exit": int(code),
        }


def print_streams(cli: CliContext, end: PassEnd) -> None:
    cli.screen.table(
        ("STREAM", "MODE", "#PAGES", "#ADDED", "#CHANGED", "#UNCHANGED", "#LIVE", "PROOF"),
        [
            (
                each.name,
                each.mode,
                each.pages,
                each.added,
                each.changed,
                each.unchanged,
                end.live(each) if each.completed_at is not None else None,
                each.proof or "not complete",
            )
            for each in end.checkpoints
        ],
    )


def stream_json(checkpoint: Checkpoint, live: int) -> dict[str, Any]:
    return {
        "stream": checkpoint.name,
        "mode": checkpoint.mode,
        "since": checkpoint.since,
        "pages": checkpoint.pages,
        "added": checkpoint.added,
        "changed": checkpoint.changed,
        "unchanged": checkpoint.unchanged,
        "repeated": checkpoint.repeated,
        "total": checkpoint.total,
        "live": live,
        "proof": checkpoint.proof,
        "evidence": checkpoint.evidence,
    }


def _modes(checkpoints: Sequence[Checkpoint]) -> str:
    partial = [each for each in checkpoints if each.mode is PassMode.INCREMENTAL]
    if not partial:
        return ", in full"
    if len(partial) == len(checkpoints):
        return ", what has changed"
    return f", {len(partial)} of them only what has changed"


def _changes(end: PassEnd) -> str:
    added = sum(each.added for each in end.checkpoints)
    changed = sum(each.changed for each in end.checkpoints)
    pages = sum(each.pages for each in end.checkpoints)
    return f"{added:,} added, {changed:,} changed, {counted(pages, 'page')}"
