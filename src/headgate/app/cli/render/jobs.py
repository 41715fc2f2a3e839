"""Jobs, items and attempts as text and as JSON, without secrets; also times and sizes."""

from datetime import datetime
from typing import Any

import msgspec

from headgate.core.call import Call, calls_in
from headgate.core.job import Counts, Job
from headgate.core.redact_values import source_without_secrets, values_without_secrets
from headgate.core.time_text import moment
from headgate.core.trace import trace_in
from headgate.core.worker import WorkerRow
from headgate.ports.reads import AttemptRow, EventRow, ItemDetail, ItemRow

COUNTED = (
    "total",
    "done",
    "not_found",
    "skipped",
    "review",
    "error",
    "cancelled",
    "pending",
)

INTERNAL = frozenset({"ingest_run", "ingest_position", "reading", "options", "made_before"})
"""Fields of a job that its JSON leaves out."""


def local_time(microseconds: int | None) -> str | None:
    """A stored time in the time zone of this machine. JSON uses UTC instead."""
    if microseconds is None:
        return None
    return f"{datetime.fromtimestamp(microseconds / 1_000_000).astimezone():%Y-%m-%d %H:%M:%S}"


def by_the_clock(microseconds: int, now: int) -> str:
    """A stored time in the time zone of this machine, with the date unless it is today."""
    at, today = (
        datetime.fromtimestamp(each / 1_000_000).astimezone() for each in (microseconds, now)
    )
    return f"{at:%H:%M:%S}" if at.date() == today.date() else f"{at:%Y-%m-%d %H:%M:%S}"


def ago(microseconds: int | None, now: int) -> str:
    """`5 min ago`, or `in 5 min` for a time in the future."""
    if microseconds is None:
        return ""
    seconds = (now - microseconds) / 1_000_000
    if seconds < 0:
        return f"in {span(-seconds)}"
    return f"{span(seconds)} ago"


def span(seconds: float) -> str:
    """A duration in one or two units."""
    if seconds < 1:
        return f"{seconds * 1000:.0f} ms"
    if seconds < 60:
        return f"{seconds:.1f} s" if seconds < 10 else f"{seconds:.0f} s"
    minutes = int(seconds // 60)
    if minutes < 60:
        return f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours < 48 else f"{hours // 24} days"


def volume(size: int) -> str:
    """A number of bytes in a readable unit."""
    amount = float(size)
    for unit in ("B", "kB", "MB", "GB"):
        if amount < 1_000:
            return (
                f"{amount:.0f} {unit}" if unit == "B" or amount >= 100 else f"{amount:.1f} {unit}"
            )
        amount /= 1_000
    return f"{amount:,.1f} TB"


def totals(counts: Counts) -> dict[str, int]:
    """The job's totals by status; they add up to `total`, with running items as `pending`."""
    found = {name: int(getattr(counts, name)) for name in COUNTED}
    found["pending"] = counts.open
    return found


def job_json(job: Job, counts: Counts | None = None) -> dict[str, Any]:
    shape = {name: value for name, value in _timed(job).items() if name not in INTERNAL}
    shape |= {
        "source": source_without_secrets(job.source),
        "config": values_without_secrets(job.config),
    }
    if counts is not None:
        shape["counts"] = {**totals(counts), "processing": counts.processing}
        shape["counts"]["pending"] = counts.pending
    return shape


def listed_json(job: Job, counts: Counts) -> dict[str, Any]:
    """A job of a list, without the config: lists do not read it."""
    shape = job_json(job, counts)
    del shape["config"]
    return shape


def item_json(row: ItemRow) -> dict[str, Any]:
    return {**_timed(row), "result": raw(row.result)}


def detail_json(detail: ItemDetail) -> dict[str, Any]:
    shape = _timed(detail)
    shape = _timed(shape.pop("row") and detail.row) | shape
    for name in ("input", "normalized", "result"):
        shape[name] = raw(shape[name])
    return shape


def attempt_json(attempt: AttemptRow) -> dict[str, Any]:
    shape = _timed(attempt)
    trace = trace_in(shape.pop("trace"))
    return {
        **shape,
        "failed_at": trace and trace.where,
        "traceback": trace and trace.text,
        "calls": [call_json(call) for call in calls_of(attempt)],
    }


def calls_of(attempt: AttemptRow) -> list[Call]:
    return calls_in(attempt.calls)


def call_json(call: Call) -> dict[str, Any]:
    shape = msgspec.structs.asdict(call)
    return {"at": moment(shape.pop("at_us")), **shape}


def event_json(event: EventRow) -> dict[str, Any]:
    return {**_timed(event), "at": moment(event.at)}


def worker_json(worker: WorkerRow) -> dict[str, Any]:
    return _timed(worker)


def raw(text: str | None) -> Any:
    """Stored JSON text, embedded as it is; text that is not JSON becomes a string."""
    if text is None:
        return None
    try:
        msgspec.json.decode(text)
    except msgspec.DecodeError:
        return text
    return msgspec.Raw(text.encode())


def _timed(value: msgspec.Struct) -> dict[str, Any]:
    shape: dict[str, Any] = msgspec.structs.asdict(value)
    for name, field in shape.items():
        if name.endswith("_at") and (field is None or isinstance(field, int)):
            shape[name] = moment(field)
    return shape
