"""`headgate workers`: the worker processes of a store."""

from typing import Annotated

import typer

from headgate.app.cli.options import Json
from headgate.app.cli.render.jobs import worker_json
from headgate.app.cli.render.times import ago
from headgate.app.cli.runtime import CliContext, command, noun

app = noun("workers", "List the worker processes of this store.")


@command(app, "ls", ["headgate workers ls", "headgate workers ls --all --json"], far=True)
async def ls(
    cli: CliContext,
    everybody: Annotated[bool, typer.Option("--all", help="Also list stopped workers.")] = False,
    as_json: Json = False,
) -> None:
    """List workers, newest first."""
    async with cli.service() as service:
        workers = await service.workers(everybody=everybody)
    if as_json:
        cli.screen.json({"workers": [worker_json(worker) for worker in workers]})
        return
    if not workers:
        cli.screen.say("No worker is running. Start one with `headgate worker`.")
        return
    now = cli.clock.now()
    cli.screen.table(
        ("WORKER", "HOST", "PID", "#LEASES", "STARTED", "LAST SEEN", "STOPPED"),
        [
            (
                worker.id,
                worker.host,
                str(worker.pid),
                worker.running,
                ago(worker.registered_at, now),
                ago(worker.beat_at, now),
                ago(worker.stopped_at, now),
            )
            for worker in workers
        ],
    )
