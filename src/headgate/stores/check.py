"""Checks a database for inconsistencies."""

from headgate.core.words import counted
from headgate.ports.reads import CheckFinding
from headgate.stores.item_changes import return_leases
from headgate.stores.messages import orphans
from headgate.stores.transaction import Transaction


async def check(tx: Transaction, *, repair: bool) -> list[CheckFinding]:
    """Every inconsistency, in words; with `repair`, the repairable ones are repaired."""
    # Leases before counters: all code that changes items and counters uses this order.
    return [
        *await _damaged(tx),
        *await _lost_leases(tx, repair=repair),
        *await _wrong_counts(tx, repair=repair),
        *await _finished_with_open(tx),
        *await _orphans(tx),
        *await _short_histories(tx),
    ]


async def _damaged(tx: Transaction) -> list[CheckFinding]:
    return [
        CheckFinding(f"the file is damaged: {row[0]}", repairable=False)
        for row in await tx.rows("integrity")
        if row[0] != "ok"
    ]


async def _wrong_counts(tx: Transaction, *, repair: bool) -> list[CheckFinding]:
    if repair:
        await tx.lock("counts")
    findings = []
    for job_id, status, kept, there in await tx.rows("wrong_counts"):
        if repair:
            await tx.add_counts([(job_id, status, there - kept)])
        findings.append(
            CheckFinding(
                f"job {job_id} counts {counted(kept, 'item')} in {status}, but there are {there}",
                repairable=True,
                repaired=repair,
            ),
        )
    return findings


async def _lost_leases(tx: Transaction, *, repair: bool) -> list[CheckFinding]:
    findings = []
    for worker, n in await tx.rows("lost_leases"):
        if repair:
            await return_leases(tx, worker)
            message = f"{counted(n, 'item')} of {worker} returned by `db check --repair`"
            await tx.add_event("rescued", message)
        findings.append(
            CheckFinding(
                f"{counted(n, 'lease')} of {worker}, which is gone",
                repairable=True,
                repaired=repair,
            ),
        )
    return findings


async def _finished_with_open(tx: Transaction) -> list[CheckFinding]:
    return [
        CheckFinding(f"job {job_id} is {state} with {counted(n, 'open item')}", repairable=False)
        for job_id, state, n in await tx.rows("finished_with_open")
    ]


async def _orphans(tx: Transaction) -> list[CheckFinding]:
    [(*counts, keys)] = await tx.rows("orphans")
    findings = orphans(counts)
    if keys:
        findings.append(
            CheckFinding(f"{keys} keys and items do not belong together", repairable=False)
        )
    return findings


async def _short_histories(tx: Transaction) -> list[CheckFinding]:
    return [
        CheckFinding(
            f"item {item_id} counts {counted(attempts, 'attempt')}, more than its history has",
            repairable=False,
        )
        for item_id, attempts in await tx.rows("short_histories")
    ]
