"""Checks the file for inconsistencies."""

from headgate.core.words import counted
from headgate.ports.reads import CheckFinding
from headgate.stores.messages import orphans
from headgate.stores.sqlite.connection import SqliteDatabase, Transaction
from headgate.stores.sqlite.items import return_leases
from headgate.stores.sqlite.records import add_counts, add_event


async def check(database: SqliteDatabase, *, repair: bool) -> list[CheckFinding]:
    """Every inconsistency, in words; with `repair`, the repairable ones are repaired."""

    def work(tx: Transaction) -> list[CheckFinding]:
        return [
            *_damaged(tx),
            *_wrong_counts(tx, repair=repair),
            *_lost_leases(tx, repair=repair),
            *_finished_with_open(tx),
            *_orphans(tx),
            *_short_histories(tx),
        ]

    return await (database.write(work) if repair else database.read(work))


def _damaged(tx: Transaction) -> list[CheckFinding]:
    return [
        CheckFinding(f"the file is damaged: {row[0]}", repairable=False)
        for row in tx.rows("integrity")
        if row[0] != "ok"
    ]


def _wrong_counts(tx: Transaction, *, repair: bool) -> list[CheckFinding]:
    findings = []
    for job_id, status, kept, there in tx.rows("wrong_counts"):
        if repair:
            add_counts(tx, [(job_id, status, there - kept)])
        findings.append(
            CheckFinding(
                f"job {job_id} counts {counted(kept, 'item')} in {status}, but there are {there}",
                repairable=True,
                repaired=repair,
            ),
        )
    return findings


def _lost_leases(tx: Transaction, *, repair: bool) -> list[CheckFinding]:
    findings = []
    for worker, n in tx.rows("lost_leases"):
        if repair:
            return_leases(tx, worker)
            add_event(
                tx, "rescued", f"{counted(n, 'item')} of {worker} returned by `db check --repair`"
            )
        findings.append(
            CheckFinding(
                f"{counted(n, 'lease')} of {worker}, which is gone",
                repairable=True,
                repaired=repair,
            ),
        )
    return findings


def _finished_with_open(tx: Transaction) -> list[CheckFinding]:
    return [
        CheckFinding(f"job {job_id} is {state} with {counted(n, 'open item')}", repairable=False)
        for job_id, state, n in tx.rows("finished_with_open")
    ]


def _orphans(tx: Transaction) -> list[CheckFinding]:
    return orphans(tx.rows("orphans")[0])


def _short_histories(tx: Transaction) -> list[CheckFinding]:
    return [
        CheckFinding(
            f"item {item_id} counts {counted(attempts, 'attempt')}, more than its history has",
            repairable=False,
        )
        for item_id, attempts in tx.rows("short_histories")
    ]
