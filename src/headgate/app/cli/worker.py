"""`headgate worker`: a process that works on the jobs of a store."""

from typing import Annotated

import typer

from headgate.app.cli.exit_codes import Exit
from headgate.app.cli.handler_check import loadable
from headgate.app.cli.runtime import CliContext, command
from headgate.app.cli.supervise import build_supervisor, same_command, stopping, supervise
from headgate.app.cli.worker_progress import WorkerProgress
from headgate.app.settings import Flag
from headgate.app.streams import go_on_without_readers
from headgate.core.errors import UsageError
from headgate.core.words import counted
from headgate.engine.supervisor import RunReport, Work

WORK = "How to work"
Concurrency = Annotated[
    int | None,
    typer.Option(
        "--concurrency",
        metavar="N",
        min=1,
        help="Items that run at the same time, in all processes together.",
        rich_help_panel=WORK,
    ),
]
Processes = Annotated[
    int | None,
    typer.Option(
        "--processes",
        metavar="N",
        min=1,
        help="Worker processes; more for CPU-bound handlers.",
        rich_help_panel=WORK,
    ),
]
ItemTimeout = Annotated[
    float | None,
    typer.Option(
        "--item-timeout",
        metavar="S",
        help="Seconds that the handler may take for one item.",
        rich_help_panel=WORK,
    ),
]


def worker_flags(
    concurrency: int | None,
    processes: int | None,
    item_timeout: float | None,
) -> tuple[Flag, ...]:
    """The options of `run`, `worker` and `serve` as settings."""
    return (
        Flag("worker.concurrency", "--concurrency", concurrency),
        Flag("worker.processes", "--processes", processes),
        Flag("worker.item_timeout_s", "--item-timeout", item_timeout),
    )


async def worker(
    cli: CliContext,
    *,
    jobs: Annotated[
        str | None,
        typer.Option(
            "--jobs", metavar="N[,N]", help="Only these jobs; default: all jobs, also new ones."
        ),
    ] = None,
    drain: Annotated[bool, typer.Option("--drain", help="End when no items are left.")] = False,
    max_stall: Annotated[
        float | None,
        typer.Option(
            "--max-stall", metavar="S", help="With --drain: end after S seconds without progress."
        ),
    ] = None,
    concurrency: Concurrency = None,
    processes: Processes = None,
    item_timeout: ItemTimeout = None,
) -> Exit:
    """Work on all jobs of the store until stopped."""
    go_on_without_readers()
    chosen = _jobs_in(jobs)
    settings = cli.load(*worker_flags(concurrency, processes, item_timeout)).settings
    async with cli.store(settings, create=True) as store:
        chosen = await loadable(cli, settings, store, chosen, drain=drain)
        supervisor = build_supervisor(cli, settings, store)
        cli.screen.say(f"working on {'all jobs' if chosen is None else f'jobs {jobs}'}")
        work = Work(chosen, drain=drain, max_stall_s=max_stall, command=same_command())
        async with WorkerProgress(cli.screen, cli.clock, store, settings.gate_limits, chosen):
            report = await supervise(
                supervisor, work, lambda count: cli.screen.say(stopping(count, supervisor.running))
            )
    return ended(cli, report, drain=drain)


def ended(cli: CliContext, report: RunReport, *, drain: bool) -> Exit:
    """Print what a worker did. Without `drain`, being stopped is not a failure."""
    cli.screen.say(f"settled {counted(report.settled, 'item')} in {report.drain_s:,.1f} s")
    if report.stalled:
        cli.screen.say(f"no item made progress; go on with: {same_command()}")
    return Exit.STOPPED if report.stalled or (drain and report.interrupted) else Exit.OK


def _jobs_in(text: str | None) -> tuple[int, ...] | None:
    if text is None:
        return None
    try:
        return tuple(int(part) for part in text.split(","))
    except ValueError as error:
        raise UsageError(f"--jobs {text!r}: write job numbers, as in --jobs 3,4") from error


def register(app: typer.Typer) -> None:
    examples = ["headgate worker", "headgate worker --jobs 3 --drain", "headgate worker -q &"]
    command(app, "worker", examples)(worker)
