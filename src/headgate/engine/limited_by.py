"""Reads the facts about a job, and finds what limits its speed and what its rows wait for."""

import asyncio
from collections.abc import Sequence

import msgspec

from headgate.core.errors import HeadgateError
from headgate.core.gates.wait import MICROSECONDS, Wait, WaitKind
from headgate.core.job import Counts, Job
from headgate.core.status import FINISHED
from headgate.core.waiting import Situation, among, why_job
from headgate.engine.eta import HoldPeriod
from headgate.engine.gate_control import GateReading, JobGates
from headgate.engine.why import ItemFacts, why_item
from headgate.ports.reads import AttemptRow, ItemDetail, ItemRow
from headgate.ports.store import Store

PATIENCE_S = 2.0
"""Seconds that the ledger may take to answer."""


async def read_if_there(gates: JobGates) -> GateReading | None:
    """The gates of a job; None if the ledger does not answer in time."""
    try:
        async with asyncio.timeout(PATIENCE_S):
            return await gates.read()
    except (HeadgateError, TimeoutError):
        return None  # the workers need the ledger and report the fault


UNTIMED = frozenset({WaitKind.PAUSED, WaitKind.READING, WaitKind.WORKER, WaitKind.BREAKER})
"""Waits whose end is not known: a person, a file or a host decides it."""


class LimitedBy(msgspec.Struct, frozen=True):
    """The limit that decides the speed of a job, and the facts behind it."""

    wait: Wait | None = None
    """None if the job has ended, or nothing is left to do."""
    at: Situation | None = None
    reading: GateReading | None = None

    @property
    def is_untimed(self) -> bool:
        """True if the remaining time cannot be estimated."""
        return self.wait is not None and self.wait.kind in UNTIMED

    @property
    def held(self) -> HoldPeriod | None:
        """The wait, if it ends at a known time."""
        wait, at = self.wait, self.at
        if wait is None or at is None or wait.until_us is None or self.is_untimed:
            return None
        views = self.reading.views if self.reading else ()
        rates = [view.learned_per_s for view in views if view.key == wait.gate]
        left_s = max(wait.until_us - at.now_us, 0) / MICROSECONDS
        return HoldPeriod(left_s, rates[0] if rates else None)


async def limit_of(store: Store, gates: JobGates, job_id: int) -> LimitedBy:
    job = await store.reads.job(job_id)
    reading = await read_if_there(gates)
    return limiting(job, await store.situations.of(job_id), reading)


async def limit_of_run(
    store: Store, gates: JobGates, job_id: int, chosen: Counts | None = None
) -> LimitedBy:
    """The same for a command with its own workers, which may run only the `chosen` rows."""
    job = await store.reads.job(job_id)
    reading = await read_if_there(gates)
    at = await store.situations.of(job_id)
    at = at if chosen is None else among(chosen, at)
    return limiting(job, msgspec.structs.replace(at, starts_workers=True), reading)


def limiting(job: Job, at: Situation, reading: GateReading | None) -> LimitedBy:
    """The same, from facts that were read already."""
    return LimitedBy(why_job(job, at, reading.views if reading else ()), at, reading)


async def wait_of(
    store: Store,
    gates: JobGates,
    detail: ItemDetail,
    attempts: Sequence[AttemptRow],
) -> Wait | None:
    """What an item waits for; None if it is finished."""
    if detail.row.status in FINISHED:
        return None
    reading = await read_if_there(gates)
    facts = ItemFacts(
        detail.row,
        job=await store.reads.job(detail.row.job_id),
        at=await store.situations.of(detail.row.job_id),
        gates=reading.views if reading else (),
        workers=await _alive(store),
        last=attempts[-1] if attempts else None,
    )
    return why_item(facts)


async def waits_of(
    store: Store, job: Job, at: Situation, reading: GateReading | None, rows: Sequence[ItemRow]
) -> list[Wait | None]:
    """What each item of a job waits for, as far as its row shows."""
    gates = reading.views if reading else ()
    workers = await _alive(store)
    return [why_item(ItemFacts(row, job, at, gates, workers)) for row in rows]


async def _alive(store: Store) -> frozenset[str]:
    return frozenset(worker.id for worker in await store.reads.workers())
