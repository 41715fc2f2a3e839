"""`headgate queue`: a job that takes items over time."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from typing import Annotated, Any

import msgspec
import typer

from headgate.app.cli.exit_codes import Exit
from headgate.app.cli.inputs import stdin_lines
from headgate.app.cli.options import (
    DryRun,
    ErrorClass,
    Json,
    ResetAttempts,
    Yes,
    confirm,
    error_class_in,
)
from headgate.app.cli.render.jobs import job_json, plain
from headgate.app.cli.render.tables import requeued_in_words, status_column
from headgate.app.cli.runtime import CliContext, command, noun
from headgate.app.cli.supervise import build_supervisor, same_command, stopping, supervise
from headgate.app.cli.worker import (
    Concurrency,
    ItemTimeout,
    Processes,
    print_end,
    require_loadable,
    worker_flags,
)
from headgate.app.cli.worker_progress import WorkerProgress
from headgate.app.service import QueueWrite
from headgate.app.streams import go_on_without_readers
from headgate.core.errors import UsageError
from headgate.core.status import ItemStatus
from headgate.core.words import agreeing, counted
from headgate.engine.queues import QueueRow, Queues
from headgate.engine.supervisor import Work
from headgate.ports.items import RequeueRequest
from headgate.transfer.sources import ReadOptions, open_source

app = noun("queue", "Add items to a queue over time, and run them.")

Name = Annotated[str, typer.Option("--queue", metavar="NAME", help="The name of the queue.")]
Handler = Annotated[
    str | None,
    typer.Option(
        "--handler", metavar="H", help="The handler of the queue; needed only the first time."
    ),
]
Key = Annotated[
    str | None,
    typer.Option(
        "--key",
        metavar="FIELD[,FIELD]",
        help="The fields that identify an item; default: its whole content.",
    ),
]
LINE_LIMIT = 4 * 1024 * 1024


@command(
    app,
    "enqueue",
    [
        'headgate queue enqueue \'{"sku": "A-1"}\' --handler lookup.py:price',
        'headgate queue enqueue \'{"sku": "A-2"}\'',
    ],
    far=True,
)
async def enqueue(
    cli: CliContext,
    *,
    item: Annotated[str, typer.Argument(metavar="JSON", help="One item as a JSON object.")],
    handler: Handler = None,
    queue: Name = "default",
    key: Key = None,
    as_json: Json = False,
) -> None:
    """Add one item to a queue; an item that is already there is not added again."""
    values = _object(item)

    async def one() -> AsyncIterator[QueueRow | None]:
        yield QueueRow(1, values)

    await _add_rows(cli, one(), handler=handler, queue=queue, key=key, as_json=as_json)


@command(
    app,
    "import",
    [
        "headgate queue import new.jsonl --handler lookup.py:price",
        "producer | headgate queue import - --queue nightly",
    ],
    far=True,
)
async def import_(
    cli: CliContext,
    *,
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="JSON Lines or CSV; - reads standard input.")
    ],
    handler: Handler = None,
    queue: Name = "default",
    key: Key = None,
    as_json: Json = False,
) -> None:
    """Add the rows of a file to a queue; rows that are already there are not added again."""
    rows = _standard_input() if file == "-" else _file_rows(file)
    await _add_rows(cli, rows, handler=handler, queue=queue, key=key, as_json=as_json)


@command(app, "run", ["headgate queue run", "headgate queue run --queue nightly --drain"])
async def run(
    cli: CliContext,
    *,
    queue: Name = "default",
    drain: Annotated[bool, typer.Option("--drain", help="End when the queue is empty.")] = False,
    max_stall: Annotated[
        float,
        typer.Option(
            "--max-stall", metavar="S", help="With --drain: end after S seconds without progress."
        ),
    ] = 3_600.0,
    concurrency: Concurrency = None,
    processes: Processes = None,
    item_timeout: ItemTimeout = None,
) -> Exit:
    """Run the items of a queue until stopped, or with `--drain` until it is empty."""
    go_on_without_readers()
    settings = cli.load(*worker_flags(concurrency, processes, item_timeout)).settings
    async with cli.store(settings) as store:
        job = await Queues(store).get(queue)
        require_loadable(settings, job).configured(job.config)
        supervisor = build_supervisor(cli, settings, store)
        cli.screen.say(f"working on queue {queue} (job {job.id})")
        stall = max_stall if drain else None
        async with WorkerProgress(cli.screen, cli.clock, store, settings.gate_limits, (job.id,)):
            report = await supervise(
                supervisor,
                Work((job.id,), drain=drain, max_stall_s=stall, command=same_command()),
                lambda count: cli.screen.say(stopping(count, supervisor.running)),
            )
    return print_end(cli, report, drain=drain)


@command(app, "stats", ["headgate queue stats", "headgate queue stats --json"], far=True)
async def stats(
    cli: CliContext,
    queue: Annotated[
        str | None, typer.Option("--queue", metavar="NAME", help="Only this queue.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Count the items of every open queue by status."""
    async with cli.service() as service:
        queues = service.queues
        listed = await queues.ls() if queue is None else [await queues.get(queue)]
    if as_json:
        shapes = [job_json(job) for job in listed]
        cli.screen.json({"queues": shapes})
        return
    if not listed:
        cli.screen.say("no queue is open")
        return
    cli.screen.table(
        ("QUEUE", "JOB", "STATE", *map(status_column, ItemStatus)),
        [
            (
                job.name,
                job.id,
                job.state,
                *map(job.counts.of, ItemStatus),
            )
            for job in listed
        ],
    )


@command(
    app, "retry-failed", ["headgate queue retry-failed", "headgate queue retry-failed -h"], far=True
)
async def retry_failed(
    cli: CliContext,
    *,
    queue: Name = "default",
    error_class: ErrorClass = None,
    reset_attempts: ResetAttempts = False,
    dry_run: DryRun = False,
    as_json: Json = False,
) -> None:
    """Set a queue's items in ERROR back to PENDING, so that they run again."""
    kind = error_class_in(error_class)
    async with cli.service() as service:
        job_id = int((await service.queues.get(queue)).id)
        request = RequeueRequest(
            job_id=job_id,
            statuses=frozenset({ItemStatus.ERROR}),
            error_class=kind,
            reset_attempts=reset_attempts,
        )
        moved = await service.jobs.reprocess(request, dry_run=dry_run)
    if as_json:
        cli.screen.json({"job_id": job_id, "found": moved, "requeued": 0 if dry_run else moved})
    else:
        cli.screen.line(requeued_in_words(moved, dry_run=dry_run))


@command(app, "pause", ["headgate queue pause --queue nightly"], far=True)
async def pause(cli: CliContext, queue: Name = "default") -> None:
    """Pause a queue; it still takes items."""
    async with cli.service() as service:
        job = await service.jobs.pause(int((await service.queues.get(queue)).id))
    cli.screen.say(f"queue {queue} is {job.state}")


@command(app, "resume", ["headgate queue resume --queue nightly"], far=True)
async def resume(cli: CliContext, queue: Name = "default") -> None:
    """Resume a paused queue."""
    async with cli.service() as service:
        job = await service.jobs.resume(int((await service.queues.get(queue)).id))
    cli.screen.say(f"queue {queue} is {job.state}")


@command(app, "close", ["headgate queue close --queue nightly --yes"], far=True)
async def close(
    cli: CliContext, queue: Name = "default", dry_run: DryRun = False, yes: Yes = False
) -> None:
    """Close a queue: it takes no more items, and its job is DONE once it is empty."""
    async with cli.service() as service:
        job = await service.queues.get(queue)
        left = job.counts.open
        if dry_run:
            cli.screen.say(
                f"would close queue {queue} (job {job.id}) with {counted(left, 'item')} left"
            )
            return
        confirm(f"Close queue {queue} permanently? {counted(left, 'item')} left to run.", yes=yes)
        job = await service.queues.close(queue)
    cli.screen.say(f"queue {queue} takes no more items; job {job.id} has {left:,} left to run")


async def _add_rows(
    cli: CliContext,
    rows: AsyncIterator[QueueRow | None],
    *,
    handler: str | None,
    queue: str,
    key: str | None,
    as_json: bool,
) -> None:
    columns = tuple(name.strip() for name in key.split(",")) if key else ()
    async with cli.service(create=handler is not None) as service:
        fed = await service.queues.feed(QueueWrite(queue, handler, columns), rows)
        is_at_work = await service.is_at_work((int(fed.job_id),))
    if as_json:
        cli.screen.json({"queue": queue, **plain(fed)})
        return
    known = (
        f", {fed.known:,} {agreeing(fed.known, 'was', 'were')} already there" if fed.known else ""
    )
    cli.screen.line(f"added {counted(fed.added, 'item')} to queue {queue}{known}")
    for problem in fed.problems:
        cli.screen.warn(problem)
    if fed.bad:
        see = f"headgate items ls {fed.job_id} --error-class bad_row"
        cli.screen.say(f"{counted(fed.bad, 'bad row')}: {see}")
    if not is_at_work:
        cli.screen.say(f"work on them: headgate queue run --queue {queue} --drain")


def _object(text: str | bytes) -> Mapping[str, Any]:
    try:
        return msgspec.json.decode(text, type=dict[str, Any])
    except msgspec.MsgspecError as error:
        raise UsageError(f"not a JSON object: {error}") from error


async def _file_rows(file: str) -> AsyncIterator[QueueRow | None]:
    reader = open_source(file, ReadOptions()).open()
    try:
        while (batch := await asyncio.to_thread(reader.take, 1_000, LINE_LIMIT)).values:
            for index, values in enumerate(batch.values):
                yield QueueRow(batch.lines[index], values, batch.problems.get(index))
    finally:
        reader.close()


async def _standard_input() -> AsyncIterator[QueueRow | None]:
    number = 0
    async for line in stdin_lines():
        if line is None:
            yield None
            continue
        number += 1
        if line.strip():
            try:
                yield QueueRow(number, _object(line))
            except UsageError as error:
                text = line[:LINE_LIMIT].decode(errors="replace")
                yield QueueRow(number, {"_raw": text}, str(error))
