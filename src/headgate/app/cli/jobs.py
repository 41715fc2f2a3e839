"""`headgate jobs`: batches, seen and steered."""

from typing import Annotated

import msgspec
import typer

from headgate.app.cli import export
from headgate.app.cli.desk import Desk, command, noun
from headgate.app.cli.gate_shapes import wait_in_words, wait_shape
from headgate.app.cli.options import (
    DryRun,
    ErrorClass,
    JobId,
    Json,
    Limit,
    ResetAttempts,
    Statuses,
    Yes,
    confirm,
    ids_in,
    statuses_in,
)
from headgate.app.cli.shapes import ago, event_shape, job_shape
from headgate.app.masking import shown_config, shown_source
from headgate.core.job import Counts, Job
from headgate.core.moment import moment
from headgate.core.status import UNFINISHED, ItemStatus, JobState
from headgate.engine.why import Wait
from headgate.ports.items import RequeueRequest

app = noun("jobs", "List, inspect and steer jobs.")

RETRIED = frozenset({ItemStatus.ERROR, ItemStatus.NOT_FOUND})


@command(app, "ls", ["headgate jobs ls", "headgate jobs ls --json | jq '.jobs[].id'"], far=True)
async def ls(
    desk: Desk,
    limit: Limit = 20,
    after: Annotated[
        int, typer.Option("--after", metavar="JOB", help="Only jobs older than this one.")
    ] = 0,
    as_json: Json = False,
) -> None:
    """List jobs, newest first."""
    async with desk.service() as service:
        stands = await service.jobs.ls(after, limit)
    more = stands[-1].job.id if len(stands) == limit else None
    if as_json:
        shapes = [job_shape(stand.job, stand.counts) for stand in stands]
        desk.screen.json({"jobs": shapes, "next": more})
        return
    if not stands:
        desk.screen.say("no jobs yet: `headgate run HANDLER FILE` makes one")
        return
    now = desk.clock.now()
    desk.screen.table(
        ("#JOB", "STATE", "#TOTAL", "#DONE", "#NOT FOUND", "#ERROR", "#LEFT", "CREATED", "NAME"),
        [
            (
                job.id,
                job.state,
                count.total,
                count.done,
                count.not_found,
                count.error,
                count.open,
                ago(job.created_at, now),
                job.name or f"{job.handler} {shown_source(job.source)}",
            )
            for job, count in ((stand.job, stand.counts) for stand in stands)
        ],
    )
    if more:
        desk.screen.say(f"older jobs: headgate jobs ls --after {more}")


@command(
    app, "show", ["headgate jobs show 3", "headgate jobs show 3 --json | jq .counts"], far=True
)
async def show(desk: Desk, job_id: JobId, as_json: Json = False) -> None:
    """Show a job: where it stands, what failed, what happened, and what would help."""
    async with desk.service() as service:
        account = await service.jobs.account(job_id)
    job, counts, failures, events = (
        account.job,
        account.counts,
        account.failures,
        account.events,
    )
    if as_json:
        desk.screen.json(
            {
                **job_shape(job, counts),
                "limited_by": wait_shape(account.limit),
                "failures": [
                    {
                        "error_class": group.error_class,
                        "signature": group.signature,
                        "example": group.reason,
                        "count": group.count,
                    }
                    for group in failures
                ],
                "events": [event_shape(event) for event in events],
                "next": [text for text, _ in next_steps(job, counts)],
            }
        )
        return
    _show_facts(desk, job, counts, account.limit)
    if failures:
        desk.screen.line("\nFailures", "bold")
        rows = [(group.error_class, group.count, group.reason) for group in failures]
        desk.screen.table(("CLASS", "#ITEMS", "FOR EXAMPLE"), rows)
    if events:
        desk.screen.line("\nLast events", "bold")
        rows_of_events = [(moment(event.at), event.kind, event.message) for event in events]
        desk.screen.table(("AT", "KIND", "WHAT"), rows_of_events)
    if steps := next_steps(job, counts):
        desk.screen.line("\nWhat would help", "bold")
        for text, why in steps:
            desk.screen.line(f"  {text}")
            desk.screen.line(f"      {why}", "dim")


@command(app, "pause", ["headgate jobs pause 3"], far=True)
async def pause(desk: Desk, job_id: JobId) -> None:
    """Stop new work on a job, on every worker, until it is resumed."""
    async with desk.service() as service:
        job = await service.jobs.pause(job_id)
    desk.screen.say(f"job {job.id} is {job.state}; go on with: headgate jobs resume {job.id}")


@command(app, "resume", ["headgate jobs resume 3"], far=True)
async def resume(desk: Desk, job_id: JobId) -> None:
    """Let a paused job go on."""
    async with desk.service() as service:
        job = await service.jobs.resume(job_id)
    desk.screen.say(f"job {job.id} is {job.state}")
    if job.state is JobState.INGESTING:
        desk.screen.say("its source is not read to the end: run the same `headgate run` again")


@command(
    app, "cancel", ["headgate jobs cancel 3 --dry-run", "headgate jobs cancel 3 --yes"], far=True
)
async def cancel(desk: Desk, job_id: JobId, dry_run: DryRun = False, yes: Yes = False) -> None:
    """End a job: what is finished stays, everything else becomes CANCELLED."""
    async with desk.service() as service:
        stand = await service.jobs.get(job_id)
        job, left = stand.job, stand.counts.open
        if dry_run:
            desk.screen.say(f"would cancel job {job_id} ({job.state}) and its {left:,} open items")
            return
        if job.state in UNFINISHED:
            confirm(f"Cancel job {job_id} and its {left:,} open items?", yes=yes)
        job = await service.jobs.cancel(job_id)
    desk.screen.say(f"job {job.id} is {job.state}; {left:,} items were open")


@command(
    app,
    "reprocess",
    [
        "headgate jobs reprocess 3",
        "headgate jobs reprocess 3 --status ERROR --error-class timeout --reset-attempts",
        "headgate jobs reprocess 3 --ids 17,23 --status DONE",
    ],
    far=True,
)
async def reprocess(
    desk: Desk,
    *,
    job_id: JobId,
    status: Statuses = None,
    error_class: ErrorClass = None,
    ids: Annotated[
        str | None, typer.Option("--ids", metavar="N[,N]", help="Only these items.")
    ] = None,
    reset_attempts: ResetAttempts = False,
    dry_run: DryRun = False,
    as_json: Json = False,
) -> None:
    """Bring finished items back to PENDING: by default those in ERROR and NOT_FOUND."""
    request = RequeueRequest(
        job_id=job_id,
        statuses=statuses_in(status, finished=True) or RETRIED,
        error_class=error_class,
        ids=ids_in(ids),
        reset_attempts=reset_attempts,
    )
    async with desk.service() as service:
        job = (await service.jobs.get(job_id)).job
        moved = await service.jobs.reprocess(request, dry_run=dry_run)
    if as_json:
        desk.screen.json({"job_id": job_id, "requeued": 0 if dry_run else moved, "found": moved})
        return
    desk.screen.line(f"{'would bring back' if dry_run else 'brought back'} {moved:,} items")
    if moved and not dry_run and not service.has_workers:
        desk.screen.say(f"work on them: {run_command(job)}")


export.register(app, "headgate jobs export")


@command(app, "priority", ["headgate jobs priority 3 5"], far=True)
async def priority(
    desk: Desk,
    job_id: JobId,
    value: Annotated[int, typer.Argument(metavar="N", min=-10, max=10, help="-10 to 10.")],
) -> None:
    """Change a job's share among its owner's jobs: each step doubles it."""
    async with desk.service() as service:
        await service.jobs.set_priority(job_id, value)
    desk.screen.say(f"job {job_id} has priority {value}")


@command(app, "rm", ["headgate jobs rm 3 --dry-run", "headgate jobs rm 3 --yes"], far=True)
async def rm(desk: Desk, job_id: JobId, dry_run: DryRun = False, yes: Yes = False) -> None:
    """Delete a job with its items and history; a running job is cancelled first."""
    async with desk.service() as service:
        stand = await service.jobs.get(job_id)
        job, total = stand.job, stand.counts.total
        if dry_run:
            desk.screen.say(f"would delete job {job_id} ({job.state}) and its {total:,} items")
            return
        confirm(f"Delete job {job_id} and its {total:,} items, with all results?", yes=yes)
        await service.jobs.remove(job_id)
    desk.screen.say(f"job {job_id} is gone, with its {total:,} items")


def run_command(job: Job) -> str:
    """The command that works on a job."""
    if job.open:
        return f"headgate queue run --queue {job.name}"
    return f"headgate worker --jobs {job.id} --drain"


def next_steps(job: Job, counts: Counts) -> list[tuple[str, str]]:
    """Commands that would help now, each with its reason."""
    steps: list[tuple[str, str]] = []
    if job.state is JobState.PAUSED:
        steps.append((f"headgate jobs resume {job.id}", "it is paused"))
    elif job.state is JobState.INGESTING:
        steps.append(("the same `headgate run` again", "its source is not read to the end"))
    elif counts.open and job.state in UNFINISHED:
        steps.append((run_command(job), f"work on the {counts.open:,} items that are left"))
    if counts.error:
        steps.append(
            (f"headgate items ls {job.id} --status ERROR", f"see the {counts.error:,} failures"),
        )
        steps.append(
            (f"headgate jobs reprocess {job.id} --status ERROR", "try the failures again"),
        )
    if counts.review:
        steps.append(
            (f"headgate items ls {job.id} --status REVIEW", f"{counts.review:,} need a decision"),
        )
    return steps


def _show_facts(desk: Desk, job: Job, counts: Counts, limit: Wait | None) -> None:
    now = desk.clock.now()
    desk.screen.line(f"Job {job.id}: {job.state}", "bold")
    config = shown_config(job.config)
    share = f"{counts.finished / counts.total:.0%} of " if counts.total else ""
    desk.screen.facts(
        {
            "name": job.name,
            "owner": job.owner,
            "handler": job.handler,
            "source": "fed over time" if job.open else shown_source(job.source),
            "key": ", ".join(job.key_columns) or "position in the source",
            "config": msgspec.json.encode(config).decode() if config else None,
            "priority": str(job.priority),
            "created": f"{moment(job.created_at)} ({ago(job.created_at, now)})",
            "started": moment(job.started_at),
            "finished": moment(job.finished_at),
            "last error": job.last_error,
            "progress": f"{share}{counts.total:,} items",
            "limited by": wait_in_words(limit, now) if limit else None,
        }
    )
    desk.screen.line("\nItems", "bold")
    desk.screen.table(
        tuple(f"#{status.replace('_', ' ')}" for status in ItemStatus),
        [tuple(int(getattr(counts, status.lower())) for status in ItemStatus)],
    )
