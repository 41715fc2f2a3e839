"""`headgate dlq`: dead letters, which are the items in ERROR of all jobs."""

from typing import Annotated

import msgspec
import typer

from headgate.app.cli.items import Verbose, page_json, show_item, show_page
from headgate.app.cli.options import (
    After,
    DryRun,
    ErrorClass,
    ItemName,
    Json,
    Limit,
    ResetAttempts,
    Yes,
    confirm,
    error_class_in,
    item_id_of,
)
from headgate.app.cli.render.tables import requeued_in_words
from headgate.app.cli.runtime import CliContext, command, noun
from headgate.core.errors import UsageError
from headgate.core.paging import SortOrder
from headgate.core.status import ItemStatus
from headgate.core.words import counted
from headgate.engine.job_control import ReplaySelection
from headgate.ports.reads import ItemQuery

app = noun("dlq", "Dead letters: inspect and replay items that ended in ERROR, in all jobs.")

DEAD = frozenset({ItemStatus.ERROR})
OfJob = Annotated[
    int | None,
    typer.Option("--job", metavar="JOB", help="Only items of this job; ITEM is then a key in it."),
]


@command(app, "ls", ["headgate dlq ls", "headgate dlq ls --error-class poison --json"], far=True)
async def ls(
    cli: CliContext,
    *,
    job: OfJob = None,
    handler: Annotated[
        str | None, typer.Option("--handler", metavar="H", help="Only items of this handler.")
    ] = None,
    error_class: ErrorClass = None,
    after: After = None,
    limit: Limit = 50,
    as_json: Json = False,
) -> None:
    """List dead letters, oldest first; with `--job`, in input order."""
    query = ItemQuery(
        job_id=job,
        statuses=DEAD,
        handler=handler,
        error_class=error_class_in(error_class),
        order=SortOrder.UPDATED if job is None else SortOrder.INPUT,
        with_result=True,
        after=after,
        limit=limit,
        tail=True,
    )
    async with cli.service() as service:
        page = await service.items.page(query)
    if as_json:
        cli.screen.json(page_json(page))
        return
    show_page(cli, page, "no dead letters")


@command(app, "show", ["headgate dlq show 17", "headgate dlq show P-007 --job 3"], far=True)
async def show(
    cli: CliContext,
    *,
    item: ItemName,
    job: OfJob = None,
    verbose: Verbose = False,
    as_json: Json = False,
) -> None:
    """Show a dead letter with its input and all attempts."""
    async with cli.service() as service:
        item_id = await item_id_of(service.items, item, job)
        whole = await service.items.account(item_id)
    if whole.status is not ItemStatus.ERROR:
        raise UsageError(
            f"item {item_id} is {whole.status}, not ERROR; see: headgate items show {item_id}"
        )
    show_item(cli, whole, verbose=verbose, as_json=as_json)


@command(
    app,
    "replay",
    [
        "headgate dlq replay 17 23",
        "headgate dlq replay P-007 --job 3",
        "headgate dlq replay --job 3 --error-class timeout",
        "headgate dlq replay --all --dry-run",
    ],
    far=True,
)
async def replay(
    cli: CliContext,
    *,
    items: Annotated[
        list[str] | None,
        typer.Argument(metavar="[ITEM]...", help="The numbers or keys of the items to replay."),
    ] = None,
    job: OfJob = None,
    error_class: ErrorClass = None,
    everything: Annotated[
        bool, typer.Option("--all", help="Replay the dead letters of all jobs.")
    ] = False,
    reset_attempts: ResetAttempts = False,
    dry_run: DryRun = False,
    yes: Yes = False,
    as_json: Json = False,
) -> None:
    """Set dead letters back to PENDING, so that they run again."""
    if everything == bool(items or job is not None):
        raise UsageError("say what to replay: item numbers or keys, --job JOB, or --all")
    what = ReplaySelection(
        job_id=None if items else job,
        error_class=error_class_in(error_class),
        reset_attempts=reset_attempts,
    )
    async with cli.service() as service:
        if items:
            ids = [await item_id_of(service.items, each, job) for each in items]
            what = msgspec.structs.replace(what, ids=tuple(ids))
        found = await service.items.replay(what, dry_run=True)
        moved, is_at_work = 0, await service.is_at_work([int(job_id) for job_id in found.job_ids])
        if not dry_run and found.count:
            if everything:
                confirm(f"Replay {counted(found.count, 'dead letter')} of all jobs?", yes=yes)
            moved = (await service.items.replay(what, dry_run=False)).count
    if as_json:
        cli.screen.json({"found": found.count, "requeued": moved})
        return
    cli.screen.line(requeued_in_words(found.count if dry_run else moved, dry_run=dry_run))
    if moved and not is_at_work:
        jobs = ",".join(found.job_ids)
        cli.screen.say(f"work on them: headgate worker --jobs {jobs} --drain")
