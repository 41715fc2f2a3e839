"""`headgate dlq`: dead letters, which are the items in ERROR, across jobs."""

from typing import Annotated

import typer

from headgate.app.cli.desk import Desk, command, noun
from headgate.app.cli.items import page_shape, show_item, show_page
from headgate.app.cli.options import (
    After,
    DryRun,
    ErrorClass,
    ItemId,
    Json,
    Limit,
    ResetAttempts,
    Yes,
    confirm,
)
from headgate.core.errors import UsageError
from headgate.core.paging import Order
from headgate.core.status import ItemStatus
from headgate.engine.steering import Steering
from headgate.ports.items import RequeueRequest
from headgate.ports.reads import ItemQuery, JobQuery, ReadStore

app = noun("dlq", "Dead letters: inspect and replay what ended in ERROR, across jobs.")

DEAD = frozenset({ItemStatus.ERROR})
OfJob = Annotated[int | None, typer.Option("--job", metavar="JOB", help="Only of this job.")]


@command(app, "ls", ["headgate dlq ls", "headgate dlq ls --error-class poison --json"])
async def ls(
    desk: Desk,
    *,
    job: OfJob = None,
    handler: Annotated[
        str | None, typer.Option("--handler", metavar="H", help="Only of this handler.")
    ] = None,
    error_class: ErrorClass = None,
    after: After = None,
    limit: Limit = 50,
    as_json: Json = False,
) -> None:
    """List dead letters, the longest dead first; those of one job in input order."""
    query = ItemQuery(
        job_id=job,
        statuses=DEAD,
        handler=handler,
        error_class=error_class,
        order=Order.UPDATED if job is None else Order.INPUT,
        after=after,
        limit=limit,
        tail=True,
    )
    async with desk.store() as store:
        page = await store.reads.items(query)
    if as_json:
        desk.screen.json(page_shape(page))
        return
    show_page(desk, page, "no dead letters")


@command(app, "show", ["headgate dlq show 17"])
async def show(desk: Desk, item_id: ItemId, as_json: Json = False) -> None:
    """Show a dead letter with its input and every attempt."""
    async with desk.store() as store:
        row = (await store.reads.item(item_id)).row
        if row.status is not ItemStatus.ERROR:
            raise UsageError(
                f"item {item_id} is {row.status}, not dead; see: headgate items show {item_id}"
            )
        await show_item(desk, store, item_id, as_json=as_json)


@command(
    app,
    "replay",
    [
        "headgate dlq replay 17 23",
        "headgate dlq replay --job 3 --error-class timeout",
        "headgate dlq replay --all --dry-run",
    ],
)
async def replay(
    desk: Desk,
    *,
    item_ids: Annotated[
        list[int] | None, typer.Argument(metavar="[ITEM]...", help="The items to replay.")
    ] = None,
    job: OfJob = None,
    error_class: ErrorClass = None,
    everything: Annotated[bool, typer.Option("--all", help="Those of every job.")] = False,
    reset_attempts: ResetAttempts = False,
    dry_run: DryRun = False,
    yes: Yes = False,
    as_json: Json = False,
) -> None:
    """Bring dead letters back to PENDING and print how many."""
    if sum((bool(item_ids), job is not None, everything)) != 1:
        raise UsageError("say what to replay: item numbers, --job JOB, or --all")
    async with desk.store() as store:
        requests = [
            RequeueRequest(
                job_id=job_id,
                statuses=DEAD,
                error_class=error_class,
                ids=ids,
                reset_attempts=reset_attempts,
            )
            for job_id, ids in await _targets(store.reads, item_ids or [], job)
        ]
        steering = Steering(store)
        found = sum([await steering.would_reprocess(request) for request in requests])
        moved = 0
        if not dry_run and found:
            if everything:
                confirm(f"Replay {found:,} dead letters of {len(requests)} jobs?", yes=yes)
            moved = sum([await steering.reprocess(request) for request in requests])
    if as_json:
        desk.screen.json({"found": found, "requeued": moved})
        return
    desk.screen.line(f"would bring back {found:,}" if dry_run else f"brought back {moved:,}")
    if moved:
        jobs = ",".join(str(request.job_id) for request in requests)
        desk.screen.say(f"work on them: headgate worker --jobs {jobs} --drain")


async def _targets(
    reads: ReadStore,
    item_ids: list[int],
    job: int | None,
) -> list[tuple[int, tuple[int, ...] | None]]:
    """The jobs to replay in, each with the items, or None for all of its dead letters."""
    if job is not None:
        await reads.job(job)
        return [(job, None)]
    if not item_ids:
        return [(job_id, None) for job_id in await _jobs_with_errors(reads)]
    by_job: dict[int, list[int]] = {}
    for item_id in item_ids:
        row = (await reads.item(item_id)).row
        by_job.setdefault(row.job_id, []).append(item_id)
    return [(job_id, tuple(ids)) for job_id, ids in by_job.items()]


async def _jobs_with_errors(reads: ReadStore) -> list[int]:
    found: list[int] = []
    after_id = 0
    while jobs := await reads.jobs(JobQuery(after_id=after_id, limit=500)):
        found += [job.id for job in jobs if (await reads.counts(job.id)).error]
        after_id = jobs[-1].id
    return found
