"""What limits a job's speed, and what a single item waits for, for those who watch."""

import asyncio
from collections.abc import Sequence

from headgate.core.errors import HeadgateError
from headgate.core.job import Job
from headgate.core.status import FINISHED
from headgate.engine.gate_reading import GateReading
from headgate.engine.job_gates import JobGates
from headgate.engine.why import ItemFacts, Wait, at_gate, binding, why_item
from headgate.ports.reads import AttemptRow, ItemDetail, ItemRow
from headgate.ports.store import Store

PATIENCE_S = 2.0


def limiting(reading: GateReading) -> Wait | None:
    """The wait at the gate that decides a job's speed, if there is one."""
    held = binding(reading.views)
    return at_gate(held) if held else None


async def read_if_there(gates: JobGates) -> GateReading | None:
    """The gates of a job; None where the ledger does not answer in time."""
    try:
        async with asyncio.timeout(PATIENCE_S):
            return await gates.read()
    except (HeadgateError, TimeoutError):
        return None  # whoever works with it will say what is wrong


async def wait_of(
    store: Store,
    gates: JobGates,
    detail: ItemDetail,
    attempts: Sequence[AttemptRow],
    now_us: int,
) -> Wait | None:
    """What an item waits for, if it is not finished."""
    if detail.row.status in FINISHED:
        return None
    reading = await read_if_there(gates)
    facts = ItemFacts(
        detail.row,
        job=await store.reads.job(detail.row.job_id),
        gates=reading.views if reading else (),
        workers=await _alive(store),
        now_us=now_us,
        last=attempts[-1] if attempts else None,
    )
    return why_item(facts)


async def waits_of(
    store: Store, job: Job, reading: GateReading | None, rows: Sequence[ItemRow], now_us: int
) -> list[Wait | None]:
    """What each of many items of a job waits for, as far as its row tells."""
    gates = reading.views if reading else ()
    workers = await _alive(store)
    return [why_item(ItemFacts(row, job, gates, workers, now_us)) for row in rows]


async def _alive(store: Store) -> frozenset[str]:
    return frozenset(worker.id for worker in await store.reads.workers())
