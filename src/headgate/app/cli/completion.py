"""What the shell offers for a word: job numbers, statuses and classes of failures."""

import asyncio

import typer

from headgate.core.fault import FaultClass
from headgate.core.status import ItemStatus

Offer = list[tuple[str, str]]
"""Words, each with what it stands for."""
NEWEST = 50


def job_numbers(ctx: typer.Context, incomplete: str) -> Offer:
    """The newest jobs that begin like this, with their names."""
    try:
        return asyncio.run(_jobs(ctx, incomplete))
    except Exception:  # noqa: BLE001  whatever is wrong, a shell must not be disturbed by it
        return []


async def _jobs(ctx: typer.Context, incomplete: str) -> Offer:
    from headgate.app.cli.runtime import CliContext, Flags  # noqa: PLC0415  it imports this module's users

    given = {name: ctx.params.get(name) for name in ("config_file", "db", "server")}
    async with CliContext(Flags(**given, quiet=True)).service() as service:
        stands = await service.jobs.ls(0, NEWEST)
    jobs = [stand.job for stand in stands]
    return [
        (str(job.id), f"{job.name} ({job.state})")
        for job in jobs
        if str(job.id).startswith(incomplete)
    ]


def statuses(incomplete: str) -> list[str]:
    """Statuses, also behind the comma of a list."""
    before, comma, last = incomplete.rpartition(",")
    taken = set(before.upper().split(","))
    return [
        f"{before}{comma}{status}"
        for status in ItemStatus
        if status.startswith(last.upper()) and status not in taken
    ]


def error_classes(incomplete: str) -> list[str]:
    """Classes of failures."""
    return [each for each in FaultClass if each.startswith(incomplete.lower())]
