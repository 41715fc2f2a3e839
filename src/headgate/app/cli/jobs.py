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
from headgate.app.cli.shapes import ago, event_shape, job_shape, moment
from headgate.app.cli.slowed import configured
from headgate.app.masking import shown_config
from headgate.core.job import Counts, Job
from headgate.core.status import UNFINISHED, ItemStatus, JobState
from headgate.engine.job_gates import JobGates
from headgate.engine.limiting import limiting, read_if_there
from headgate.engine.steering import Steering
from headgate.engine.why import Wait
from headgate.ports.items import RequeueRequest
from headgate.ports.reads import EventQuery, EventRow, JobQuery, ReadStore

app = noun("jobs", "List, inspect and steer jobs.")

RETRIED = frozenset({ItemStatus.ERROR, ItemStatus.NOT_FOUND})
SHOWN_EVENTS = 10


@command(app, "ls", ["headgate jobs ls", "headgate jobs ls --json | jq '.jobs[].id'"])
async def ls(
    desk: Desk,
    limit: Limit = 20,
    after: Annotated[
        int, typer.Option("--after", metavar="JOB", help="Only jobs older than this one.")
    ] = 0,
    as_json: Json = False,
) -> None:
    """List jobs, newest first."""
    async with desk.store() as store:
        jobs = await store.reads.jobs(JobQuery(after_id=after, limit=limit))
        counts = [await store.reads.counts(job.id) for job in jobs]
    more = jobs[-1].id if len(jobs) == limit else None
    if as_json:
        shapes = [job_shape(*pair) for pair in zip(jobs, counts, strict=True)]
        desk.screen.json({"jobs": shapes, "next": more})
        return
    if not jobs:
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
                job.name or f"{job.handler} {job.source}",
            )
            for job, count in zip(jobs, counts, strict=True)
        ],
    )
    if more:
        desk.screen.say(f"older jobs: headgate jobs ls --after {more}")


@command(app, "show", ["headgate jobs show 3", "headgate jobs show 3 --json | jq .counts"])
async def show(desk: Desk, job_id: JobId, as_json: Json = False) -> None:
    """Show a job: where it stands, what failed, what happened, and what would help."""
    settings = desk.load().settings
    async with desk.store(settings) as store:
        job = await store.reads.job(job_id)
        counts = await store.reads.counts(job_id)
        failures = await store.reads.error_groups(job_id)
        events = await last_events(store.reads, job_id)
        limit = None
        if counts.open and job.state in UNFINISHED:
            reading = await read_if_there(JobGates(store, configured(settings), job_id))
            limit = limiting(reading) if reading else None
    if as_json:
        desk.screen.json(
            {
                **job_shape(job, counts),
                "limited_by": wait_shape(limit),
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
    _show_facts(desk, job, counts, limit)
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


@command(app, "pause", ["headgate jobs pause 3"])
async def pause(desk: Desk, job_id: JobId) -> None:
    """Stop new work on a job, on every worker, until it is resumed."""
    async with desk.store() as store:
        job = await Steering(store).pause(job_id)
    desk.screen.say(f"job {job.id} is {job.state}; go on with: headgate jobs resume {job.id}")


@command(app, "resume", ["headgate jobs resume 3"])
async def resume(desk: Desk, job_id: JobId) -> None:
    """Let a paused job go on."""
    async with desk.store() as store:
        job = await Steering(store).resume(job_id)
    desk.screen.say(f"job {job.id} is {job.state}")
    if job.state is JobState.INGESTING:
        desk.screen.say("its source is not read to the end: run the same `headgate run` again")


@command(app, "cancel", ["headgate jobs cancel 3 --dry-run", "headgate jobs cancel 3 --yes"])
async def cancel(desk: Desk, job_id: JobId, dry_run: DryRun = False, yes: Yes = False) -> None:
    """End a job: what is finished stays, everything else becomes CANCELLED."""
    async with desk.store() as store:
        job = await store.reads.job(job_id)
        left = (await store.reads.counts(job_id)).open
        if dry_run:
            desk.screen.say(f"would cancel job {job_id} ({job.state}) and its {left:,} open items")
            return
        if job.state in UNFINISHED:
            confirm(f"Cancel job {job_id} and its {left:,} open items?", yes=yes)
        job = await Steering(store).cancel(job_id)
    desk.screen.say(f"job {job.id} is {job.state}; {left:,} items were open")


@command(
    app,
    "reprocess",
    [
        "headgate jobs reprocess 3",
        "headgate jobs reprocess 3 --status ERROR --error-class timeout --reset-attempts",
        "headgate jobs reprocess 3 --ids 17,23 --status DONE",
    ],
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
    async with desk.store() as store:
        job = await store.reads.job(job_id)
        steering = Steering(store)
        moved = await (steering.would_reprocess if dry_run else steering.reprocess)(request)
    if as_json:
        desk.screen.json({"job_id": job_id, "requeued": 0 if dry_run else moved, "found": moved})
        return
    desk.screen.line(f"{'would bring back' if dry_run else 'brought back'} {moved:,} items")
    if moved and not dry_run:
        desk.screen.say(f"work on them: {run_command(job)}")


export.register(app, "headgate jobs export")


@command(app, "priority", ["headgate jobs priority 3 5"])
async def priority(
    desk: Desk,
    job_id: JobId,
    value: Annotated[int, typer.Argument(metavar="N", min=-10, max=10, help="-10 to 10.")],
) -> None:
    """Change a job's share among its owner's jobs: each step doubles it."""
    async with desk.store() as store:
        await Steering(store).set_priority(job_id, value)
    desk.screen.say(f"job {job_id} has priority {value}")


@command(app, "rm", ["headgate jobs rm 3 --dry-run", "headgate jobs rm 3 --yes"])
async def rm(desk: Desk, job_id: JobId, dry_run: DryRun = False, yes: Yes = False) -> None:
    """Delete a job with its items and history; a running job is cancelled first."""
    async with desk.store() as store:
        job = await store.reads.job(job_id)
        total = (await store.reads.counts(job_id)).total
        if dry_run:
            desk.screen.say(f"would delete job {job_id} ({job.state}) and its {total:,} items")
            return
        confirm(f"Delete job {job_id} and its {total:,} items, with all results?", yes=yes)
        await Steering(store).remove(job_id)
    desk.screen.say(f"job {job_id} is gone, with its {total:,} items")


async def last_events(reads: ReadStore, job_id: int) -> list[EventRow]:
    """The newest events of a job, oldest first."""
    query = EventQuery(job_id, newest_first=True, limit=SHOWN_EVENTS)
    return (await reads.events(query))[::-1]


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
            "source": "fed over time" if job.open else job.source,
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
