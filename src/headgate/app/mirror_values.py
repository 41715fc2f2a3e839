"""Stored mirrors as values of `headgate.schema`."""

from collections.abc import Mapping
from typing import Any

from headgate.app.schema_values import json_value
from headgate.core.json_types import type_names
from headgate.core.redact_values import values_without_secrets
from headgate.core.time_text import moment
from headgate.engine.mirror_diff import RowDifference
from headgate.engine.pass_report import PassWork, SessionWork, SourcePace
from headgate.ports.mirrors import Checkpoint, RowChange, StoredRow, Stream, StreamField
from headgate.schema import mirrors as views

ORDERS = frozenset({"order", "paginator"})
"""Words of a source whose `key` names a field instead of a secret."""


def shown_source(tree: Mapping[str, Any]) -> Mapping[str, Any]:
    """The description of a source without secrets that were written into it."""
    shown: Mapping[str, Any] = _with_keys(values_without_secrets(tree), tree)
    return shown


def _with_keys(shown: Any, stored: Any) -> Any:
    if isinstance(stored, list):
        return [_with_keys(*each) for each in zip(shown, stored, strict=True)]
    if not isinstance(stored, Mapping) or not isinstance(shown, Mapping):
        return shown
    found = {name: _with_keys(shown[name], value) for name, value in stored.items()}
    for name in ORDERS & stored.keys():
        if isinstance(stored[name], Mapping) and "key" in stored[name]:
            found[name]["key"] = stored[name]["key"]
    return found


def stream_view(stream: Stream) -> views.StreamView:
    return views.StreamView(
        id=str(stream.id),
        name=stream.name,
        live=stream.live,
        watermark=stream.watermark,
        full_pass=str(stream.full_pass) if stream.full_pass else None,
    )


def checkpoint_view(checkpoint: Checkpoint) -> views.CheckpointView:
    return views.CheckpointView(
        name=checkpoint.name,
        stream_id=str(checkpoint.stream_id),
        stream=checkpoint.stream,
        after=checkpoint.after,
        mode=checkpoint.mode,
        since=checkpoint.since,
        pages=checkpoint.pages,
        added=checkpoint.added,
        changed=checkpoint.changed,
        unchanged=checkpoint.unchanged,
        repeated=checkpoint.repeated,
        total=checkpoint.total,
        started_at=moment(checkpoint.started_at),
        completed_at=moment(checkpoint.completed_at),
        proof=checkpoint.proof,
        evidence=checkpoint.evidence,
    )


def row_view(row: StoredRow) -> views.RowView:
    return views.RowView(
        number=str(row.number),
        row_id=row.id,
        body=json_value(row.body),
        hash=row.hash,
        updated=row.updated,
        parent=row.parent,
        first_pass=str(row.first_pass),
        seen_pass=str(row.seen_pass),
        first_at=moment(row.first_at),
        changed_at=moment(row.changed_at),
        deleted_at=moment(row.deleted_at),
    )


def change_view(change: RowChange) -> views.RowChangeView:
    return views.RowChangeView(
        id=str(change.id),
        row_id=change.row_id,
        pass_id=str(change.pass_id),
        kind=change.kind,
        before=json_value(change.before),
        at=moment(change.at),
    )


def field_view(field: StreamField) -> views.FieldView:
    return views.FieldView(
        name=field.name,
        types=type_names(field.types).split(", "),
        first_pass=str(field.first_pass),
    )


def difference_view(found: RowDifference) -> views.DifferenceView:
    return views.DifferenceView(
        number=str(found.number),
        row_id=found.id,
        kind=found.kind,
        fields=found.fields,
        before=json_value(found.before),
        after=json_value(found.after),
    )


def report_view(job_id: int, work: PassWork, pace: SourcePace) -> views.PassReport:
    errors = sorted(work.errors.items())
    return views.PassReport(
        id=str(job_id),
        sessions=[_session_view(each) for each in work.sessions],
        errors_by_worker=[
            views.WorkerErrors(worker=worker, errors=count) for worker, count in errors
        ],
        requests=work.requests,
        refusals=work.refusals,
        last_refusal_at=moment(work.last_refusal_at),
        successes_since_refusal=work.successes_since_refusal,
        configured_per_s=pace.configured,
        current_per_s=pace.current,
        backoff_multiplier=pace.backoff,
    )


def _session_view(session: SessionWork) -> views.SessionView:
    return views.SessionView(
        id=session.id,
        worker_count=len(session.workers),
        most_at_once=session.most_at_once,
        started_at=moment(session.started_at),
        ended_at=moment(session.ended_at),
        pages=session.pages,
        rows=session.rows,
        pages_per_s=session.per_s(session.pages),
        rows_per_s=session.per_s(session.rows),
    )
