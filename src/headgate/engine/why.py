"""Explains what limits a job, why one of its rows waits, and how a row ended.

`why_item` decides from facts that were read; `core.waiting` does the same for jobs.
"""

import asyncio
from collections.abc import Collection, Sequence
from typing import NamedTuple

import msgspec

from headgate.core.errors import HeadgateError
from headgate.core.fault import FaultClass
from headgate.core.gates.keys import own_name, provider_in
from headgate.core.gates.view import GateView
from headgate.core.gates.wait import (
    AT_GATES,
    MICROSECONDS,
    Wait,
    WaitKind,
    at_gate,
    at_host,
    at_stop,
    is_stopped,
    limiting_gate,
)
from headgate.core.job import Counts, Job
from headgate.core.status import FINISHED, ItemStatus, JobState
from headgate.core.waiting import (
    Situation,
    and_no_worker,
    in_progress,
    kind_of_deferral,
    paused,
    reading,
    situation_of_chosen,
    why_job,
)
from headgate.engine.eta import HoldPeriod
from headgate.engine.gate_control import GateReading, JobGates
from headgate.ports.reads import AttemptRow, ItemDetail, ItemRow
from headgate.ports.store import Store


class ItemFacts(msgspec.Struct, frozen=True):
    row: ItemRow
    job: Job
    at: Situation
    gates: Sequence[GateView]
    """The gates that the job's requests pass."""
    workers: Collection[str]
    """The workers that are alive."""
    last: AttemptRow | None = None
    """The attempt that ended last, if it is known."""


def why_item(facts: ItemFacts) -> Wait | None:
    """What an item waits for; None if it is finished."""
    match facts.row.status:
        case ItemStatus.PROCESSING:
            return _running(facts)
        case ItemStatus.PENDING:
            return _wait_of_job(facts) or _due(facts) or _wait_of_gates(facts)
        case _:
            return None


def _wait_of_job(facts: ItemFacts) -> Wait | None:
    job = facts.job
    if job.state is JobState.PAUSED:
        return paused(job)
    if job.state is JobState.INGESTING and not job.eager:
        return reading(job, facts.at.counts, facts.at.now_us)
    return None


def _due(facts: ItemFacts) -> Wait | None:
    row = facts.row
    if row.due_at <= facts.at.now_us:
        return None
    if stop := _stop(facts):
        return msgspec.structs.replace(stop, until_us=max(stop.until_us or 0, row.due_at))
    kind = kind_of_deferral(row.error_class, row.gate)
    reason = (facts.last and facts.last.reason) or row.last_error or ""
    match kind:
        case WaitKind.DEFERRED:
            why = "the handler asked to try later"
        case WaitKind.RETRY:
            tries = "once" if row.attempts == 1 else f"{row.attempts} times"
            why = f"it failed {tries}" if row.attempts else "it was postponed"
        case _:
            why, reason = f"its request had to wait for {own_name(row.gate)}", ""
    because = f": {reason}" if reason else ""
    wait = Wait(kind, f"{why}{because}", row.due_at, row.gate, "next try", row.last_error or "")
    return wait if facts.at.workers or facts.workers else and_no_worker(wait)


def _stop(facts: ItemFacts) -> Wait | None:
    """The gate or host that sent the item back, if it still lets nothing through."""
    own = facts.row.gate
    if facts.row.error_class != FaultClass.THROTTLED or not own:
        return None
    for gate in facts.gates:
        if own in gate.down:
            return at_host(own, gate.down[own], gate)
    closed = [gate for gate in _gates_of_item(facts) if gate.closed and _is_named(gate, own)]
    return at_gate(closed[0]) if closed else None


def _wait_of_gates(facts: ItemFacts) -> Wait:
    gates, flowing = _gates_of_item(facts), facts.at.flowing
    stopped = [gate for gate in gates if is_stopped(gate, flowing=flowing)]
    if stopped and len(stopped) == len(gates):
        held = limiting_gate(stopped, flowing=flowing)
        return at_stop(held or stopped[0])
    of_job = why_job(facts.job, facts.at, gates)
    if of_job is None or of_job.kind in {WaitKind.RUNNING, WaitKind.DEFERRED, WaitKind.RETRY}:
        if facts.row.crashes:
            why = "it was running when its process crashed; it runs alone next"
            return Wait(WaitKind.TURN, why)
        busy = facts.at.counts.processing
        others = f"{in_progress(busy)}; " if busy else "nothing blocks it; "
        return Wait(WaitKind.TURN, f"{others}it waits for its turn")
    if of_job.kind in AT_GATES:
        return msgspec.structs.replace(of_job, why=f"its turn at {of_job.why}")
    return of_job


def _running(facts: ItemFacts) -> Wait:
    worker = facts.row.locked_by or ""
    if worker not in facts.workers:
        return Wait(WaitKind.WORKER, f"its worker {worker} is gone; another worker will take it")
    mine = [gate for gate in _gates_of_item(facts) if worker in gate.members]
    held = limiting_gate(mine, flowing=facts.at.flowing)
    if held is None:
        return Wait(WaitKind.RUNNING, "it is being worked on")
    wait = at_stop(held) if is_stopped(held, flowing=facts.at.flowing) else at_gate(held)
    words = wait.why if wait.kind is WaitKind.BREAKER else f"requests wait for {wait.why}"
    return msgspec.structs.replace(wait, why=f"it is being worked on; {words}")


def _gates_of_item(facts: ItemFacts) -> list[GateView]:
    """The item's own gate, otherwise all gates of its job."""
    own = facts.row.gate
    mine = [gate for gate in facts.gates if _is_named(gate, own)]
    behind = [gate for gate in facts.gates if own in gate.down]
    return (mine or behind if own else []) or list(facts.gates)


def _is_named(gate: GateView, own: str) -> bool:
    return own in {gate.key, gate.name, provider_in(gate.key)}


class Ending(NamedTuple):
    why: str
    todo: str = ""


def ending_of(row: ItemRow) -> Ending | None:
    """How an item ended; None if it is open."""
    reason = f": {row.last_error}" if row.last_error else ""
    match row.status:
        case ItemStatus.ERROR:
            return _failed(row)
        case ItemStatus.NOT_FOUND:
            return Ending(row.last_error or "the service has nothing for it")
        case ItemStatus.SKIPPED:
            return Ending(f"it was skipped{reason}")
        case ItemStatus.REVIEW:
            todo = f"see its candidates: headgate items show {row.id}"
            return Ending(f"it waits for a person to decide{reason}", todo)
        case ItemStatus.CANCELLED:
            todo = f"run it again: headgate jobs reprocess {row.job_id} --status CANCELLED"
            return Ending("its job was cancelled", todo)
        case ItemStatus.DONE:
            return Ending("it is finished")
        case _:
            return None


def _failed(row: ItemRow) -> Ending:
    tries = f" after {row.attempts} attempts" if row.attempts > 1 else ""
    kind = row.error_class or "error"
    why = f"it failed{tries} ({kind}): {row.last_error or 'no reason was given'}"
    again = f"headgate dlq replay {row.id}"
    match kind:
        case FaultClass.BAD_ROW:
            todo = "correct the row in the file, then run the same command with --key or --new"
        case FaultClass.TRANSIENT | FaultClass.TIMEOUT | FaultClass.STALLED:
            todo = f"try it again: {again}"
        case FaultClass.POISON | FaultClass.INVALID_RESULT:
            todo = f"correct the handler, then try it again: {again}"
        case _:
            todo = f"correct the row or the handler, then try it again: {again}"
    return Ending(why, todo)


PATIENCE_S = 2.0
"""Seconds that the ledger may take to answer."""


async def read_gates_or_none(gates: JobGates) -> GateReading | None:
    """The gates of a job; None if the ledger does not answer in time."""
    try:
        async with asyncio.timeout(PATIENCE_S):
            return await gates.read()
    except (HeadgateError, TimeoutError):
        return None  # the workers need the ledger and report the fault


UNTIMED = frozenset({WaitKind.PAUSED, WaitKind.READING, WaitKind.WORKER, WaitKind.BREAKER})
"""Waits whose end is not known: a person, a file or a host decides it."""


class LimitedBy(msgspec.Struct, frozen=True):
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


async def limit_of_job(store: Store, gates: JobGates, job_id: int) -> LimitedBy:
    job = await store.reads.job(job_id)
    reading = await read_gates_or_none(gates)
    return limit_from_facts(job, await store.situations.of(job_id), reading)


async def limit_of_run(
    store: Store, gates: JobGates, job_id: int, chosen: Counts | None = None
) -> LimitedBy:
    """The limit of a job that this command's own workers run, or of its `chosen` rows."""
    job = await store.reads.job(job_id)
    reading = await read_gates_or_none(gates)
    at = await store.situations.of(job_id)
    at = at if chosen is None else situation_of_chosen(chosen, at)
    return limit_from_facts(job, msgspec.structs.replace(at, starts_workers=True), reading)


def limit_from_facts(job: Job, at: Situation, reading: GateReading | None) -> LimitedBy:
    return LimitedBy(why_job(job, at, reading.views if reading else ()), at, reading)


async def wait_of_item(
    store: Store,
    gates: JobGates,
    detail: ItemDetail,
    attempts: Sequence[AttemptRow],
) -> Wait | None:
    if detail.row.status in FINISHED:
        return None
    reading = await read_gates_or_none(gates)
    facts = ItemFacts(
        detail.row,
        job=await store.reads.job(detail.row.job_id),
        at=await store.situations.of(detail.row.job_id),
        gates=reading.views if reading else (),
        workers=await _alive(store),
        last=attempts[-1] if attempts else None,
    )
    return why_item(facts)


async def waits_of_items(
    store: Store, job: Job, at: Situation, reading: GateReading | None, rows: Sequence[ItemRow]
) -> list[Wait | None]:
    """What each item of a job waits for, as far as its row shows."""
    gates = reading.views if reading else ()
    workers = await _alive(store)
    return [why_item(ItemFacts(row, job, at, gates, workers)) for row in rows]


async def _alive(store: Store) -> frozenset[str]:
    return frozenset(worker.id for worker in await store.reads.workers())
