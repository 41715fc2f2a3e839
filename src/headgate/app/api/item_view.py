"""Items, attempts and calls as the API returns them."""

from typing import Any

import msgspec

from headgate.app.api.job_view import WaitView
from headgate.app.api.models import Identifier, Json, Moment, ResponseModel
from headgate.core.call import Call
from headgate.core.redact_text import redacted
from headgate.core.time_text import moment
from headgate.core.trace import trace_in
from headgate.ports.reads import AttemptRow, ItemDetail, ItemRow

_calls = msgspec.json.Decoder(list[Call])


class ItemView(ResponseModel):
    """An item in a list, without its input."""

    id: Identifier
    job_id: Identifier
    owner: str
    handler: str
    gate: str
    """The item's own gate, if it has one."""
    key: str
    line: int
    status: str
    summary: str
    result: Any
    attempts: int
    crashes: int
    error_class: str | None
    last_error: str | None
    due_at: Moment
    locked_by: str | None
    updated_at: Moment
    waiting: WaitView | None = None
    """Why the item waits; null if it is finished or `waits` was not requested."""


class ItemPage(ResponseModel):
    items: list[ItemView]
    next: str | None


class CallView(ResponseModel):
    """One network or cache operation."""

    at: Moment
    verb: str
    kind: str
    provider: str
    host: str
    status: int | None
    bytes: int
    ran_ms: float
    waited_ms: float
    cause: str
    url: str
    """Without secrets; empty if it was not stored."""


class AttemptView(ResponseModel):
    number: int
    epoch: int
    worker: str
    strategy: int
    outcome: str
    error_class: str | None
    reason: str | None
    leased_at: Moment
    ended_at: Moment
    waited_ms: float
    ran_ms: float
    failed_at: str | None = None
    """The line of handler code that failed, such as `lookup.py:12`."""
    traceback: str | None = None
    """The last frames of handler code, without Headgate's frames and without secrets."""
    calls: list[CallView]


class ItemWhole(ItemView):
    """An item with its input, attempts and calls."""

    epoch: int
    strategy: int
    failures: int
    suspect: bool
    input: Any
    normalized: Any
    leased_at: Moment
    deadline_at: Moment
    decision: str | None = None
    """The last review decision and its reason."""
    history: list[AttemptView]


def item_view(row: ItemRow, waiting: WaitView | None = None) -> ItemView:
    return ItemView(**_row_values(row), result=value_in(row.result), waiting=waiting)


def item_whole(
    detail: ItemDetail, attempts: list[AttemptRow], decision: str | None = None
) -> ItemWhole:
    same = ("epoch", "strategy", "failures", "suspect")
    return ItemWhole(
        **_row_values(detail.row),
        **{name: getattr(detail, name) for name in same},
        **{name: value_in(getattr(detail, name)) for name in ("input", "normalized", "result")},
        leased_at=moment(detail.leased_at),
        deadline_at=moment(detail.deadline_at),
        decision=decision,
        history=[attempt_view(attempt) for attempt in attempts],
    )


def attempt_view(attempt: AttemptRow) -> AttemptView:
    same = ("number", "epoch", "worker", "strategy", "outcome", "error_class")
    calls = _calls.decode(attempt.calls) if attempt.calls else []
    trace = trace_in(attempt.trace)
    return AttemptView(
        **{name: getattr(attempt, name) for name in same},
        reason=attempt.reason and redacted(attempt.reason),
        leased_at=moment(attempt.leased_at),
        ended_at=moment(attempt.ended_at),
        waited_ms=attempt.waited_us / 1_000,
        ran_ms=attempt.ran_us / 1_000,
        failed_at=trace.where if trace else None,
        traceback=trace.text if trace else None,
        calls=[_call_view(call) for call in calls],
    )


def value_in(text: str | None) -> Any:
    """Decode stored JSON. Text that is not JSON is returned as text."""
    if text is None:
        return None
    try:
        return msgspec.json.decode(text)
    except msgspec.DecodeError:
        return text


def _row_values(row: ItemRow) -> Json:
    same = ("key", "line", "summary", "attempts", "crashes", "error_class")
    belongs = ("owner", "handler", "gate")
    return {
        "id": str(row.id),
        "job_id": str(row.job_id),
        "status": str(row.status),
        "due_at": moment(row.due_at),
        "last_error": row.last_error and redacted(row.last_error),
        "locked_by": row.locked_by,
        "updated_at": moment(row.updated_at),
        **{name: getattr(row, name) for name in (*same, *belongs)},
    }


def _call_view(call: Call) -> CallView:
    values = msgspec.structs.asdict(call)
    at = moment(values.pop("at_us"))
    known = {name: values[name] for name in CallView.model_fields if name in values}
    return CallView(at=at, **known)
