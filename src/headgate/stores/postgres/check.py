"""Checks the database for inconsistencies."""

from headgate.core.words import counted
from headgate.ports.reads import CheckFinding
from headgate.stores.messages import orphans
from headgate.stores.postgres.connection import PostgresDatabase, PostgresSession
from headgate.stores.postgres.items import return_leases
from headgate.stores.postgres.records import add_counts, add_event


async def check(database: PostgresDatabase, *, repair: bool) -> list[CheckFinding]:
    """Every inconsistency, in words; with `repair`, the repairable ones are repaired."""

    async def work(session: PostgresSession) -> list[CheckFinding]:
        # Leases first: all code that changes items and counters uses this order.
        return [
            *await _lost_leases(session, repair=repair),
            *await _wrong_counts(session, repair=repair),
            *await _finished_with_open(session),
            *await _orphans(session),
            *await _short_histories(session),
        ]

    return await (database.write(work) if repair else database.single(work))


async def _wrong_counts(session: PostgresSession, *, repair: bool) -> list[CheckFinding]:
    if repair:
        await session.change("lock_counts")
    findings = []
    for job_id, status, kept, there in await session.rows("wrong_counts"):
        if repair:
            await add_counts(session, [(job_id, status, there - kept)])
        findings.append(
            CheckFinding(
                f"job {job_id} counts {counted(kept, 'item')} in {status}, but there are {there}",
                repairable=True,
                repaired=repair,
            ),
        )
    return findings


async def _lost_leases(session: PostgresSession, *, repair: bool) -> list[CheckFinding]:
    findings = []
    for worker, n in await session.rows("lost_leases"):
        if repair:
            await return_leases(session, worker)
            message = f"{counted(n, 'item')} of {worker} returned by `db check --repair`"
            await add_event(session, "rescued", message)
        findings.append(
            CheckFinding(
                f"{counted(n, 'lease')} of {worker}, which is gone",
                repairable=True,
                repaired=repair,
            ),
        )
    return findings


async def _finished_with_open(session: PostgresSession) -> list[CheckFinding]:
    return [
        CheckFinding(f"job {job_id} is {state} with {counted(n, 'open item')}", repairable=False)
        for job_id, state, n in await session.rows("finished_with_open")
    ]


async def _orphans(session: PostgresSession) -> list[CheckFinding]:
    *counts, keys = await session.row("orphans")
    findings = orphans(counts)
    if keys:
        findings.append(
            CheckFinding(f"{keys} keys and items do not belong together", repairable=False)
        )
    return findings


async def _short_histories(session: PostgresSession) -> list[CheckFinding]:
    return [
        CheckFinding(
            f"item {item_id} counts {counted(attempts, 'attempt')}, more than its history has",
            repairable=False,
        )
        for item_id, attempts in await session.rows("short_histories")
    ]
