"""Explains why one row waits or how it ended, from stored facts; `core.waiting` explains jobs."""

from collections.abc import Collection, Sequence
from typing import NamedTuple

import msgspec

from headgate.core.fault import FaultClass
from headgate.core.gates.keys import own_name, provider_in
from headgate.core.gates.view import GateView
from headgate.core.gates.wait import (
    AT_GATES,
    Wait,
    WaitKind,
    at_gate,
    at_host,
    at_stop,
    holding,
    is_stopped,
)
from headgate.core.job import Job
from headgate.core.status import ItemStatus, JobState
from headgate.core.waiting import (
    Situation,
    and_no_worker,
    in_progress,
    kind_of_deferral,
    paused,
    reading,
    why_job,
)
from headgate.ports.reads import AttemptRow, ItemRow


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
            return _of_job(facts) or _due(facts) or _of_surroundings(facts)
        case _:
            return None


def _of_job(facts: ItemFacts) -> Wait | None:
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
            why, reason = f"{own_name(row.gate)} sent it back", ""
    because = f": {reason}" if reason else ""
    wait = Wait(kind, f"{why}{because}", row.due_at, row.gate, "tried again", row.last_error or "")
    return wait if facts.at.workers or facts.workers else and_no_worker(wait)


def _stop(facts: ItemFacts) -> Wait | None:
    """The gate or host that sent the item back, if it still lets nothing through."""
    own = facts.row.gate
    if facts.row.error_class != FaultClass.THROTTLED or not own:
        return None
    for gate in facts.gates:
        if own in gate.down:
            return at_host(own, gate.down[own], gate)
    closed = [gate for gate in _own(facts) if gate.closed and _is_of(gate, own)]
    return at_gate(closed[0]) if closed else None


def _of_surroundings(facts: ItemFacts) -> Wait:
    gates, flowing = _own(facts), facts.at.flowing
    stopped = [gate for gate in gates if is_stopped(gate, flowing=flowing)]
    if stopped and len(stopped) == len(gates):
        held = holding(stopped, flowing=flowing)
        return at_stop(held or stopped[0])
    of_job = why_job(facts.job, facts.at, gates)
    if of_job is None or of_job.kind in {WaitKind.RUNNING, WaitKind.DEFERRED, WaitKind.RETRY}:
        if facts.row.crashes:
            why = "it was running when its process crashed; it runs alone next"
            return Wait(WaitKind.TURN, why)
        busy = facts.at.counts.processing
        others = f"{in_progress(busy)}; " if busy else "nothing blocks it; "
        return Wait(WaitKind.TURN, f"{others}its turn will come")
    if of_job.kind in AT_GATES:
        return msgspec.structs.replace(of_job, why=f"its turn at {of_job.why}")
    return of_job


def _running(facts: ItemFacts) -> Wait:
    worker = facts.row.locked_by or ""
    if worker not in facts.workers:
        return Wait(WaitKind.WORKER, f"its worker {worker} is gone; another worker will take it")
    mine = [gate for gate in _own(facts) if worker in gate.members]
    held = holding(mine, flowing=facts.at.flowing)
    if held is None:
        return Wait(WaitKind.RUNNING, "it is being worked on")
    wait = at_stop(held) if is_stopped(held, flowing=facts.at.flowing) else at_gate(held)
    words = wait.why if wait.kind is WaitKind.BREAKER else f"requests wait for {wait.why}"
    return msgspec.structs.replace(wait, why=f"it is being worked on; {words}")


def _own(facts: ItemFacts) -> list[GateView]:
    """The item's own gate, otherwise all gates of its job."""
    own = facts.row.gate
    mine = [gate for gate in facts.gates if _is_of(gate, own)]
    behind = [gate for gate in facts.gates if own in gate.down]
    return (mine or behind if own else []) or list(facts.gates)


def _is_of(gate: GateView, own: str) -> bool:
    return own in {gate.key, gate.name, provider_in(gate.key)}


class Ending(NamedTuple):
    """How an item ended, and a suggestion what to do."""

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
            todo = f"bring it back: headgate jobs reprocess {row.job_id} --status CANCELLED"
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
