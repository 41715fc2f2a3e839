"""Shell completion of job numbers, statuses and error classes."""

import asyncio

import typer

from headgate.core.fault import FaultClass
from headgate.core.status import ItemStatus

Offer = list[tuple[str, str]]
"""Pairs of a completion and its description."""
NEWEST = 50


def job_numbers(ctx: typer.Context, incomplete: str) -> Offer:
    try:
        return asyncio.run(_jobs(ctx, incomplete))
    except Exception:  # noqa: BLE001  completion must not print errors into the shell
        return []


async def _jobs(ctx: typer.Context, incomplete: str) -> Offer:
    from headgate.app.cli.runtime import CliContext, Flags  # noqa: PLC0415  it imports this module's users

    given = {name: ctx.params.get(name) for name in ("config_file", "db", "server")}
    async with CliContext(Flags(**given, quiet=True)).service() as service:
        listed = await service.jobs.ls(0, NEWEST)
    jobs = [each.job for each in listed]
    return [
        (str(job.id), f"{job.name} ({job.state})")
        for job in jobs
        if str(job.id).startswith(incomplete)
    ]


def statuses(incomplete: str) -> list[str]:
    """Statuses, also after the comma of a list."""
    before, comma, last = incomplete.rpartition(",")
    taken = set(before.upper().split(","))
    return [
        f"{before}{comma}{status}"
        for status in ItemStatus
        if status.startswith(last.upper()) and status not in taken
    ]


def error_classes(incomplete: str) -> list[str]:
    return [each for each in FaultClass if each.startswith(incomplete.lower())]
