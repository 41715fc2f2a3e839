"""`headgate worker`: a process that works on the jobs of a store whose handlers can be loaded."""

import os
from typing import Annotated

import typer

from headgate.app.cli.exit_codes import Exit
from headgate.app.cli.runtime import CliContext, command
from headgate.app.cli.supervise import build_supervisor, same_command, stopping, supervise
from headgate.app.cli.worker_progress import WorkerProgress
from headgate.app.handler_finder import HandlerFinder, unloadable_text
from headgate.app.settings import Flag, Settings
from headgate.app.streams import go_on_without_readers
from headgate.core.errors import UnknownHandler, UsageError
from headgate.core.job import Job
from headgate.core.status import UNFINISHED
from headgate.core.words import counted
from headgate.engine.supervisor import RunReport, Work
from headgate.ports.handler import HandlerSpec
from headgate.ports.reads import JobQuery
from headgate.ports.store import Store

PAGE = 500


def require_loadable(settings: Settings, job: Job) -> HandlerSpec:
    """The handler of a job. An UnknownHandler error says what to do."""
    try:
        return HandlerFinder(settings, os.environ)(job.handler)
    except UnknownHandler as error:
        raise UnknownHandler(unloadable_text(job, str(error))) from error


async def loadable_jobs(
    cli: CliContext,
    settings: Settings,
    store: Store,
    chosen: tuple[int, ...] | None,
    *,
    drain: bool,
) -> tuple[int, ...] | None:
    """The jobs to work on; None means all jobs, also future ones.

    Warns of jobs whose handler cannot be loaded. With `drain` these jobs are left out, because
    the command would never end. UnknownHandler if all chosen jobs fail to load.
    """
    if chosen is None:
        jobs = await _unfinished(store)
    else:
        jobs = [await store.reads.job(job_id) for job_id in chosen]
    able, problems = [], []
    for job in jobs:
        try:
            require_loadable(settings, job)
        except UnknownHandler as error:
            problems.append(error)
        else:
            able.append(job.id)
    if problems and chosen is not None and not able:
        raise problems[0]
    for problem in problems:
        cli.screen.warn(str(problem))
    if not problems:
        return chosen
    return tuple(able) if drain or chosen is not None else None


async def _unfinished(store: Store) -> list[Job]:
    found: list[Job] = []
    after_id = 0
    while page := await store.reads.jobs(
        JobQuery(states=UNFINISHED, after_id=after_id, limit=PAGE, configs=False)
    ):
        found += page
        after_id = page[-1].id
    return found


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
        chosen = await loadable_jobs(cli, settings, store, chosen, drain=drain)
        supervisor = build_supervisor(cli, settings, store)
        cli.screen.say(f"working on {'all jobs' if chosen is None else f'jobs {jobs}'}")
        work = Work(chosen, drain=drain, max_stall_s=max_stall, command=same_command())
        async with WorkerProgress(cli.screen, cli.clock, store, settings.gate_limits, chosen):
            report = await supervise(
                supervisor, work, lambda count: cli.screen.say(stopping(count, supervisor.running))
            )
    return print_end(cli, report, drain=drain)


def print_end(cli: CliContext, report: RunReport, *, drain: bool) -> Exit:
    """Print what a worker did. Without `drain`, being stopped is not a failure."""
    cli.screen.say(f"finished {counted(report.settled, 'item')} in {report.drain_s:,.1f} s")
    if report.stalled:
        cli.screen.say(f"no item made progress; continue with: {same_command()}")
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
