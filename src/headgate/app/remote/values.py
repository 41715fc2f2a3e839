"""Convert a server's replies to the values that a store returns."""

from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec

from headgate import client as far
from headgate.app.service import JobWithCounts
from headgate.client.items import Attempt, Call
from headgate.client.system import Worker
from headgate.core.call import Call as StoredCall
from headgate.core.call import CallKind
from headgate.core.gates.wait import Wait, WaitKind
from headgate.core.job import Counts, Job
from headgate.core.trace import Trace
from headgate.core.worker import WorkerRow
from headgate.ports.reads import AttemptRow, ErrorGroup, EventRow, ItemDetail, ItemRow

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def stored(at: datetime) -> int:
    """UTC microseconds."""
    return (at - _EPOCH) // _MICROSECOND


def stored_or_none(at: datetime | None) -> int | None:
    """UTC microseconds; None without a time."""
    return None if at is None else stored(at)


def stored_or_zero(at: datetime | None) -> int:
    """UTC microseconds; 0 without a time."""
    return 0 if at is None else stored(at)


def ledger_s(at: datetime | None) -> float | None:
    """UTC seconds, the unit of gates."""
    return None if at is None else stored(at) / 1_000_000


KINDS = frozenset(WaitKind)
"""Known kinds; a server of another version may send others."""


def with_counts_of(job: far.Job) -> JobWithCounts:
    return JobWithCounts(job_of(job), counts_of(job.counts))


def job_of(job: far.Job) -> Job:
    """A job, without the fields that only the server uses."""
    same = (
        "name",
        "owner",
        "handler",
        "source",
        "key_columns",
        "priority",
        "state",
        "open",
        "eager",
        "fingerprint",
        "columns",
        "ingest_complete",
        "last_error",
        "pause_reason",
        "file",
        "client",
        "ingest",
    )
    return Job(
        id=int(job.id),
        config=job.config or {},
        ingest_run=0,
        ingest_position="",
        created_at=stored_or_zero(job.created_at),
        updated_at=stored_or_zero(job.updated_at),
        started_at=stored_or_none(job.started_at),
        finished_at=stored_or_none(job.finished_at),
        resume_at=stored_or_none(job.resume_at),
        **{name: getattr(job, name) for name in same},
    )


def counts_of(counts: far.Counts) -> Counts:
    return Counts(**{name: getattr(counts, name) for name in Counts.__struct_fields__})


def wait_of(wait: far.Wait | None) -> Wait | None:
    if wait is None:
        return None
    kind = WaitKind(wait.kind) if wait.kind in KINDS else WaitKind.TURN
    until = stored_or_none(wait.until)
    return Wait(kind, wait.why, until, wait.gate, wait.next, wait.evidence)


def group_of(group: far.ErrorGroup) -> ErrorGroup:
    example = group.example
    return ErrorGroup(
        group.error_class, group.signature, group.count, int(example.item_id), example.reason
    )


def event_of(event: far.Event) -> EventRow:
    return EventRow(
        id=int(event.id),
        at=stored_or_zero(event.at),
        job_id=None if event.job_id is None else int(event.job_id),
        item_id=None if event.item_id is None else int(event.item_id),
        kind=event.kind,
        message=event.message,
    )


def row_of(item: far.Item) -> ItemRow:
    same = (
        "key",
        "line",
        "status",
        "summary",
        "attempts",
        "crashes",
        "error_class",
        "last_error",
        "locked_by",
        "owner",
        "handler",
        "gate",
    )
    return ItemRow(
        id=int(item.id),
        job_id=int(item.job_id),
        due_at=stored_or_zero(item.due_at),
        updated_at=stored_or_zero(item.updated_at),
        result=_text(item.result),
        **{name: getattr(item, name) for name in same},
    )


def detail_of(item: far.ItemWhole) -> ItemDetail:
    same = ("epoch", "strategy", "failures", "suspect")
    return ItemDetail(
        row=row_of(item),
        input=_text(item.input) or "",
        normalized=_text(item.normalized),
        result=_text(item.result),
        leased_at=stored_or_none(item.leased_at),
        deadline_at=stored_or_none(item.deadline_at),
        **{name: getattr(item, name) for name in same},
    )


def attempt_of(attempt: Attempt) -> AttemptRow:
    same = ("number", "epoch", "worker", "strategy", "outcome", "error_class", "reason")
    calls = [_call(call) for call in attempt.calls]
    return AttemptRow(
        leased_at=stored_or_zero(attempt.leased_at),
        waited_us=round(attempt.waited_ms * 1_000),
        ran_us=round(attempt.ran_ms * 1_000),
        ended_at=stored_or_zero(attempt.ended_at),
        calls=_text(calls) if calls else None,
        trace=_trace(attempt),
        **{name: getattr(attempt, name) for name in same},
    )


def worker_of(worker: Worker) -> WorkerRow:
    same = (
        "id",
        "session_id",
        "host",
        "boot_id",
        "pid",
        "started_ticks",
        "version",
        "ttl_s",
        "beat",
        "draining",
        "claim_size",
    )
    return WorkerRow(
        registered_at=stored_or_zero(worker.registered_at),
        beat_at=stored_or_zero(worker.beat_at),
        stopped_at=stored_or_none(worker.stopped_at),
        leases=worker.running,
        **{name: getattr(worker, name) for name in same},
    )


def _trace(attempt: Attempt) -> str | None:
    if attempt.traceback is None:
        return None
    return _text(Trace(attempt.failed_at or "", attempt.traceback))


def _call(call: Call) -> StoredCall:
    return StoredCall(
        at_us=stored_or_zero(call.at),
        verb=call.verb,
        provider=call.provider,
        host=call.host,
        status=call.status or 0,
        kind=CallKind(call.kind),
        bytes=call.bytes,
        ran_ms=call.ran_ms,
        waited_ms=call.waited_ms,
        cause=call.cause,
        url=call.url,
    )


def _text(value: Any) -> str | None:
    return None if value is None else msgspec.json.encode(value).decode()
