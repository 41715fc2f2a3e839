"""`headgate serve`: the API, the web UI and workers on one port."""

from pathlib import Path
from typing import Annotated

import typer

from headgate.app.cli.exit_codes import Exit
from headgate.app.cli.options import Json
from headgate.app.cli.runtime import CliContext, command
from headgate.app.cli.supervise import Interrupts
from headgate.app.cli.worker import Concurrency, ItemTimeout, Processes, worker_flags
from headgate.app.settings import Flag
from headgate.app.streams import go_on_without_readers

Host = Annotated[
    str | None,
    typer.Option("--host", metavar="ADDRESS", help="The address to listen on; default: loopback."),
]
Port = Annotated[
    int | None,
    typer.Option(
        "--port",
        metavar="N",
        min=0,
        max=65_535,
        help="The port to listen on; 0: any free port.",
    ),
]
Handlers = Annotated[
    list[str] | None,
    typer.Option(
        "--handlers",
        metavar="FILE_OR_MODULE",
        help="Handlers that jobs may use; may be repeated.",
    ),
]


async def serve(
    cli: CliContext,
    *,
    host: Host = None,
    port: Port = None,
    handlers: Handlers = None,
    concurrency: Concurrency = None,
    processes: Processes = None,
    item_timeout: ItemTimeout = None,
    as_json: Json = False,
) -> Exit:
    """Serve the API and the web UI, and work on all jobs of the store."""
    # Imported here: no other command needs a web server.
    from headgate.app.api.server import ApiServer, OpenedServer  # noqa: PLC0415

    go_on_without_readers()
    base = cli.load().settings
    added = [_absolute(each) for each in handlers or ()]
    settings = cli.load(
        *worker_flags(concurrency, processes, item_timeout),
        Flag("server.host", "--host", host),
        Flag("server.port", "--port", port),
        Flag("handlers", "--handlers", [*base.handlers, *added] if added else None),
    ).settings

    def opened(where: OpenedServer) -> None:
        if as_json:
            cli.screen.json({"url": where.url, "token": where.token})
            return
        cli.screen.say(f"Headgate is at {where.url}", "bold")
        cli.screen.say(f"log in once with: {where.link}")
        cli.screen.say("stop with Ctrl-C; running items finish first")

    async with cli.store(settings, create=True) as store:
        server = ApiServer(store, settings, cli.clock)

        def hit(count: int) -> None:
            server.stop()
            cli.screen.say(
                "stopping…" if count == 1 else "stopping the running items; they run again later…"
            )

        with Interrupts(hit):
            await server.run(opened)
    return Exit.OK


def _absolute(reference: str) -> str:
    """A file's absolute path, because workers may run in another folder."""
    is_file = reference.endswith((".py", ".toml")) or "/" in reference
    return str(Path(reference).resolve()) if is_file else reference


def register(app: typer.Typer) -> None:
    examples = [
        "headgate serve",
        "headgate serve --handlers lookup.py --port 8080",
        "headgate serve --port 0 --json",
    ]
    command(app, "serve", examples)(serve)
