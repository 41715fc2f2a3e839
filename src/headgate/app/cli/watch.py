"""`headgate watch`: make jobs from new files in configured places."""

import asyncio
from typing import Annotated

import typer

from headgate.app.cli.exit_codes import Exit
from headgate.app.cli.options import Json
from headgate.app.cli.runtime import CliContext, command
from headgate.app.cli.supervise import Interrupts
from headgate.app.scanner import Scan, Scanner
from headgate.app.settings import Flag
from headgate.app.streams import go_on_without_readers
from headgate.core.errors import UsageError


async def watch(
    cli: CliContext,
    *,
    places: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[HANDLER=PLACE]...",
            help="The places to watch; default: the setting server.watch.",
        ),
    ] = None,
    once: Annotated[bool, typer.Option("--once", help="Check once and exit.")] = False,
    every: Annotated[
        float | None, typer.Option("--every", metavar="S", help="Seconds between two checks.")
    ] = None,
    as_json: Json = False,
) -> Exit:
    """Watch places for new files, and create one job for each file."""
    go_on_without_readers()
    settings = cli.load(
        Flag("server.watch", "HANDLER=PLACE", places or None),
        Flag("server.watch_s", "--every", every),
    ).settings
    if not settings.server.watch:
        raise UsageError("name a place to watch: `headgate watch price.lookup=folder:in`")
    stopping = asyncio.Event()
    async with cli.store(settings, create=True) as store:
        scanner = Scanner(store, settings, cli.clock)
        with Interrupts(lambda _: stopping.set()):
            while True:
                _print_scan(cli, await scanner.scan(), as_json=as_json)
                if once:
                    break
                rest = asyncio.ensure_future(cli.clock.sleep(settings.server.watch_s))
                stop = asyncio.ensure_future(stopping.wait())
                await asyncio.wait([rest, stop], return_when=asyncio.FIRST_COMPLETED)
                rest.cancel()
                stop.cancel()
                if stopping.is_set():
                    break
    return Exit.OK


def _print_scan(cli: CliContext, scan: Scan, *, as_json: bool) -> None:
    if as_json:
        cli.screen.json(
            {
                "jobs": [{"source": source, "job_id": job_id} for source, job_id in scan.made],
                "known": scan.known,
                "problems": scan.problems,
            }
        )
        return
    for source, job_id in scan.made:
        cli.screen.say(f"job {job_id}: {source}")
    for problem in scan.problems:
        cli.screen.warn(problem)


def register(app: typer.Typer) -> None:
    examples = [
        "headgate watch price.lookup=folder:in",
        "headgate watch 'price.lookup=folder:in/*.csv' --every 30",
    ]
    command(app, "watch", examples)(watch)
