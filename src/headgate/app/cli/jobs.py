"""`headgate jobs`: list, inspect and control jobs."""

from collections.abc import Mapping
from typing import Annotated, Any

import typer

from headgate.app.cli import export
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
    error_class_in,
    ids_in,
    statuses_in,
)
from headgate.app.cli.render.jobs import event_json, job_json, json_text, listed_json, wait_json
from headgate.app.cli.render.tables import requeued_in_words, status_column
from headgate.app.cli.render.times import ago, local_time, wait_in_words
from headgate.app.cli.runtime import CliContext, command, noun
from headgate.app.handler_finder import rebind_command
from headgate.app.service import JobOverview
from headgate.core.identity import BAD_ROWS
from headgate.core.job import Job
from headgate.core.status import (
    FINISHED,
    ITEM_DISPLAY,
    RETRIED,
    UNFINISHED,
    ItemStatus,
    JobState,
)
from headgate.core.words import agreeing, counted
from headgate.engine.rows import OnBadRow
from headgate.handlers.registry import DOWNLOAD
from headgate.ports.items import RequeueRequest
from headgate.schema.jobs import JobResponse

app = noun("jobs", "List, inspect and control jobs.")


@command(app, "ls", ["headgate jobs ls", "headgate jobs ls --json | jq '.jobs[].id'"], far=True)
async def ls(
    cli: CliContext,
    limit: Limit = 20,
    after: Annotated[
        int, typer.Option("--after", metavar="JOB", help="Only jobs older than this one.")
    ] = 0,
    as_json: Json = False,
) -> None:
    """List jobs, newest first."""
    async with cli.service() as service:
        listed = await service.jobs.ls(after, limit)
    more = int(listed[-1].id) if len(listed) == limit else None
    if as_json:
        shapes = [listed_json(job) for job in listed]
        cli.screen.json({"jobs": shapes, "next": more})
        return
    if not listed:
        cli.screen.say("no jobs yet: `headgate run HANDLER FILE` creates one")
        return
    now = cli.clock.now()
    counted_statuses = [
        status
        for status in ItemStatus
        if status in FINISHED
        and (ITEM_DISPLAY[status].always_counted or any(each.counts.of(status) for each in listed))
    ]
    cli.screen.table(
        (
            "#JOB",
            "STATE",
            "#TOTAL",
            *map(status_column, counted_statuses),
            "#LEFT",
            "CREATED",
            "NAME",
        ),
        [
            (
                int(job.id),
                job.state,
                job.counts.total,
                *map(job.counts.of, counted_statuses),
                job.counts.open,
                ago(job.created_at, now),
                job.name or f"{job.handler} {job.source}",
            )
            for job in listed
        ],
    )
    if more:
        cli.screen.say(f"older jobs: headgate jobs ls --after {more}")


@command(
    app, "show", ["headgate jobs show 3", "headgate jobs show 3 --json | jq .counts"], far=True
)
async def show(cli: CliContext, job_id: JobId, as_json: Json = False) -> None:
    """Show a job: its progress, failures and events, and what to do next."""
    async with cli.service() as service:
        overview = await service.jobs.account(job_id)
    failures, events = overview.failures, overview.events
    steps = next_steps(overview)
    if as_json:
        cli.screen.json(
            {
                **job_json(overview.job),
                "limited_by": wait_json(overview.limit),
                "failures": [
                    {
                        "error_class": group.error_class,
                        "signature": group.signature,
                        "example": group.example.reason,
                        "count": group.count,
                    }
                    for group in failures
                ],
                "events": [event_json(event) for event in events],
                "next": [text for text, _ in steps],
            }
        )
        return
    _print_facts(cli, overview)
    if failures:
        cli.screen.line("\nFailures", "bold")
        rows = [(group.error_class, group.count, group.example.reason) for group in failures]
        cli.screen.table(("CLASS", "#ITEMS", "FOR EXAMPLE"), rows)
    if events:
        cli.screen.line("\nLast events", "bold")
        rows_of_events = [(local_time(event.at), event.kind, event.message) for event in events]
        cli.screen.table(("AT", "KIND", "WHAT"), rows_of_events)
    if steps:
        cli.screen.line("\nWhat would help", "bold")
        for text, why in steps:
            cli.screen.line(f"  {text}")
            cli.screen.line(f"      {why}", "dim")


@command(
    app,
    "rebind",
    ["headgate jobs rebind 3 src/lookup.py:price", "headgate jobs rebind 3 mypkg.enrich:person"],
)
async def rebind(
    cli: CliContext,
    job_id: JobId,
    handler: Annotated[
        str, typer.Argument(metavar="HANDLER", help="As for `headgate run`: file.py:function, …")
    ],
) -> None:
    """Give a job another handler; its unfinished rows run with it."""
    settings = cli.load().settings
    # Imported here: the other commands of this group do not read files.
    from headgate.app.cli.job_choice import binding_of, bound_to  # noqa: PLC0415
    from headgate.engine.job_matching import JobMatching  # noqa: PLC0415
    from headgate.handlers.registry import resolve  # noqa: PLC0415

    async with cli.store(settings) as store:
        job = await store.reads.job(job_id)
        spec = resolve(handler, settings.handlers).configured(job.config)
        matching = JobMatching(store.jobs, store.reads)
        bound = await matching.rebind(job, binding_of(bound_to(job, spec)))
        await store.notifier.ring()
    cli.screen.say(f"job {job_id} now uses {bound.handler}; finished rows keep their results")
    cli.screen.say(f"continue with: {run_command(bound)}")


@command(app, "pause", ["headgate jobs pause 3"], far=True)
async def pause(cli: CliContext, job_id: JobId) -> None:
    """Stop new work on a job, on all workers, until it is resumed."""
    async with cli.service() as service:
        job = await service.jobs.pause(job_id)
    cli.screen.say(f"job {job.id} is {job.state}; continue with: headgate jobs resume {job.id}")


@command(app, "resume", ["headgate jobs resume 3"], far=True)
async def resume(cli: CliContext, job_id: JobId) -> None:
    """Resume a paused job."""
    async with cli.service() as service:
        job = await service.jobs.resume(job_id)
    cli.screen.say(f"job {job.id} is {job.state}")
    if job.state is JobState.INGESTING:
        cli.screen.say(
            f"its source was not read to the end; continue with: headgate run --job {job.id}"
        )


@command(
    app, "cancel", ["headgate jobs cancel 3 --dry-run", "headgate jobs cancel 3 --yes"], far=True
)
async def cancel(cli: CliContext, job_id: JobId, dry_run: DryRun = False, yes: Yes = False) -> None:
    """Cancel a job: finished items keep their results, all others become CANCELLED."""
    async with cli.service() as service:
        job = await service.jobs.get(job_id)
        left = job.counts.open
        if dry_run:
            cli.screen.say(
                f"would cancel job {job_id} ({job.state}) and its {counted(left, 'open item')}"
            )
            return
        if job.state in UNFINISHED:
            confirm(f"Cancel job {job_id} and its {counted(left, 'open item')}?", yes=yes)
        job = await service.jobs.cancel(job_id)
    cli.screen.say(
        f"job {job.id} is {job.state}; {counted(left, 'item')} {agreeing(left, 'was', 'were')} open"
    )


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
    cli: CliContext,
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
    """Set finished items back to PENDING; by default the items in ERROR and NOT_FOUND."""
    request = RequeueRequest(
        job_id=job_id,
        statuses=statuses_in(status, finished=True) or RETRIED,
        error_class=error_class_in(error_class),
        ids=ids_in(ids),
        reset_attempts=reset_attempts,
    )
    async with cli.service() as service:
        job = await service.jobs.get(job_id)
        moved = await service.jobs.reprocess(request, dry_run=dry_run)
        is_at_work = await service.is_at_work((job_id,))
    if as_json:
        cli.screen.json({"job_id": job_id, "requeued": 0 if dry_run else moved, "found": moved})
        return
    cli.screen.line(requeued_in_words(moved, dry_run=dry_run))
    if moved and not dry_run and not is_at_work:
        cli.screen.say(f"work on them: {run_command(job)}")


export.register(app, "headgate jobs export")


@command(app, "priority", ["headgate jobs priority 3 5"], far=True)
async def priority(
    cli: CliContext,
    job_id: JobId,
    value: Annotated[
        int, typer.Argument(metavar="N", min=-10, max=10, help="From -10 to 10; a new job has 0.")
    ],
) -> None:
    """Change a job's share among its owner's jobs; each step doubles the share."""
    async with cli.service() as service:
        await service.jobs.set_priority(job_id, value)
    cli.screen.say(f"job {job_id} has priority {value}")


@command(app, "rm", ["headgate jobs rm 3 --dry-run", "headgate jobs rm 3 --yes"], far=True)
async def rm(cli: CliContext, job_id: JobId, dry_run: DryRun = False, yes: Yes = False) -> None:
    """Delete a job with its items and history; a running job is cancelled first."""
    async with cli.service() as service:
        job = await service.jobs.get(job_id)
        total = job.counts.total
        if dry_run:
            cli.screen.say(
                f"would delete job {job_id} ({job.state}) and its {counted(total, 'item')}"
            )
            return
        confirm(f"Delete job {job_id} and its {counted(total, 'item')}, with all results?", yes=yes)
        await service.jobs.remove(job_id)
    cli.screen.say(f"job {job_id} and its {counted(total, 'item')} were deleted")


def run_command(job: Job | JobResponse) -> str:
    if job.open:
        return f"headgate queue run --queue {job.name}"
    return f"headgate worker --jobs {job.id} --drain"


def next_steps(overview: JobOverview) -> list[tuple[str, str]]:
    """Commands to run next, each with its reason."""
    job, counts = overview.job, overview.job.counts
    steps: list[tuple[str, str]] = []
    if overview.handler_problem:
        steps.append((rebind_command(job.id), "its handler cannot be loaded; name its new place"))
    elif job.state is JobState.PAUSED:
        steps.append((f"headgate jobs resume {job.id}", "it is paused"))
    elif overview.at_work:
        pass
    elif job.state is JobState.INGESTING:
        by_us = f"headgate run --job {job.id}"
        again = "the server continues" if overview.read_by_server else by_us
        steps.append((again, "its source was not read to the end"))
    elif counts.open and job.state in UNFINISHED:
        steps.append((run_command(job), f"run the rest: {counted(counts.open, 'item')}"))
    if counts.error:
        steps.append(
            (
                f"headgate items ls {job.id} --status ERROR",
                f"see the {counted(counts.error, 'failure')}",
            ),
        )
        steps.append(
            (f"headgate jobs reprocess {job.id} --status ERROR", "run the failures again"),
        )
    if counts.review:
        steps.append(
            (
                f"headgate items ls {job.id} --status REVIEW",
                f"{counts.review:,} {agreeing(counts.review, 'needs', 'need')} a decision",
            ),
        )
    return steps


def key_text(job: JobResponse) -> str:
    if job.key_columns:
        return ", ".join(job.key_columns)
    if job.handler == DOWNLOAD:
        return "what a row asks for"
    return "the whole content of an item" if job.open else "position in the source"


def options_text(options: Mapping[str, Any] | None) -> str | None:
    """The options of a job that change its results and differ from the defaults."""
    usual = {BAD_ROWS: OnBadRow.ITEM_ERROR}
    stated = [
        f"{name.replace('_', '-')} {value}"
        for name, value in (options or {}).items()
        if usual.get(name) != value
    ]
    return ", ".join(stated) or None


def _print_facts(cli: CliContext, overview: JobOverview) -> None:
    job, counts, limit = overview.job, overview.job.counts, overview.limit
    now = cli.clock.now()
    cli.screen.line(f"Job {job.id}: {job.state}", "bold")
    share = f"{counts.finished / counts.total:.0%} of " if counts.total else ""
    cli.screen.facts(
        {
            "name": job.name,
            "owner": job.owner,
            "handler": job.handler,
            "source": "items added over time" if job.open else job.source,
            "key": key_text(job),
            "config": json_text(job.config or None),
            "options": options_text(overview.options),
            "priority": str(job.priority),
            "created": f"{local_time(job.created_at)} ({ago(job.created_at, now)})",
            "started": local_time(job.started_at),
            "finished": local_time(job.finished_at),
            "last error": job.last_error,
            "progress": f"{share}{counted(counts.total, 'item')}",
            "limited by": wait_in_words(limit, now) if limit else None,
        }
    )
    cli.screen.line("\nItems", "bold")
    cli.screen.table(
        tuple(map(status_column, ItemStatus)),
        [tuple(map(counts.of, ItemStatus))],
    )
