"""Mirrors, passes, rows and differences as text and as JSON."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from headgate.app.cli.output import Output
from headgate.app.cli.render.jobs import job_json, listed_json, plain
from headgate.app.cli.render.times import ago, local_time, span
from headgate.core.status import JobState
from headgate.core.time_text import microseconds_of
from headgate.core.words import counted
from headgate.schema.mirrors import (
    CheckpointView,
    DifferenceView,
    MirrorView,
    PassReport,
    PassView,
    RowDetail,
    RowView,
    SessionView,
)

LONGEST_VALUE = 80


def mirror_json(mirror: MirrorView) -> dict[str, Any]:
    newest = mirror.newest
    shape: dict[str, Any] = plain(mirror)
    if newest is not None and newest.job is not None:
        shape["newest"]["job"] = listed_json(newest.job)
    return shape


def pass_json(shown: PassView, report: PassReport | None) -> dict[str, Any]:
    return {
        **plain(shown),
        "job": None if shown.job is None else job_json(shown.job),
        "proven": shown.is_proven,
        "report": plain(report),
    }


def mirror_cells(mirror: MirrorView, now: int) -> Sequence[object]:
    newest = mirror.newest
    job = newest.job if newest else None
    return (
        mirror.name,
        mirror.owner,
        len(mirror.streams),
        sum(each.live for each in mirror.streams),
        newest.id if newest else None,
        state_of(newest) if newest else "",
        ago(job.updated_at, now) if job else "",
    )


def state_of(shown: PassView) -> str:
    """The state of a pass in words."""
    if shown.job is None:
        return "job deleted"
    if shown.job.state is not JobState.DONE:
        return shown.job.state
    if any(each.completed_at is None for each in shown.checkpoints):
        return "not complete"
    return "proven" if shown.is_proven else "unproven"


def print_pass(screen: Output, shown: PassView, report: PassReport | None) -> None:
    screen.line(f"Pass {shown.id} of {shown.mirror}: {state_of(shown)}", "bold")
    screen.facts(_facts(shown))
    screen.line("")
    screen.table(
        ("STREAM", "MODE", "#PAGES", "#ROWS", "#ADDED", "#CHANGED", "#REPEATED", "#TOTAL", "PROOF"),
        [_checkpoint_cells(each) for each in shown.checkpoints],
    )
    for line in _doubts(shown):
        screen.line(line)
    if report is not None:
        _print_report(screen, report)


def _facts(shown: PassView) -> dict[str, object]:
    job = shown.job
    if job is None:
        return {"job": "it was deleted; its complete streams are still known"}
    failed = f", {job.counts.error:,} failed" if job.counts.error else ""
    took = None
    if job.started_at and job.finished_at:
        took = span((microseconds_of(job.finished_at) - microseconds_of(job.started_at)) / 1e6)
    return {
        "began": local_time(job.created_at),
        "ended": local_time(job.finished_at),
        "took": took,
        "pages": f"{job.counts.finished:,} of {job.counts.total:,} known ones{failed}",
        "paused": job.pause_reason,
        "error": job.last_error,
        "failed pages": f"headgate items ls {job.id} --status ERROR" if job.counts.error else None,
    }


def _checkpoint_cells(each: CheckpointView) -> Sequence[object]:
    return (
        each.name,
        each.mode,
        each.pages,
        each.rows,
        each.added,
        each.changed,
        each.repeated,
        each.total,
        each.proof or "not complete",
    )


def _doubts(shown: PassView) -> Iterator[str]:
    for each in shown.checkpoints:
        if each.proof is not None and not each.is_proven:
            reason = (each.evidence or {}).get("reason", "no proof holds")
            yield f"{each.name} is unproven: {reason}; no row of it was deleted"


def _print_report(screen: Output, report: PassReport) -> None:
    if report.sessions:
        screen.line("")
        screen.table(
            ("SESSION", "BEGAN", "#WORKERS", "#AT ONCE", "#PAGES", "#ROWS", "#PAGES/S", "#ROWS/S"),
            [_session_cells(each) for each in report.sessions],
        )
    screen.line("")
    errors = ", ".join(f"{each.worker} {each.errors:,}" for each in report.errors_by_worker)
    refused = f"{report.refusals:,}"
    if report.last_refusal_at:
        refused += (
            f", the last at {local_time(report.last_refusal_at)};"
            f" {counted(report.successes_since_refusal, 'success', 'successes')} since"
        )
    screen.facts(
        {
            "requests": f"{report.requests:,}",
            "refused": refused,
            "rate": _rate(report),
            "failed attempts": errors,
        }
    )


def _session_cells(each: SessionView) -> Sequence[object]:
    return (
        each.id,
        local_time(each.started_at),
        each.worker_count,
        each.most_at_once,
        each.pages,
        each.rows,
        _per_s(each.pages_per_s),
        _per_s(each.rows_per_s),
    )


def _per_s(rate: float | None) -> str:
    return "" if rate is None else f"{rate:,.1f}"


def _rate(report: PassReport) -> str | None:
    if report.configured_per_s is None:
        return None
    configured = f"at most {report.configured_per_s:,.2f}/s"
    if report.current_per_s is None:
        return configured
    times = f"{report.backoff_multiplier:,.1f} times slower than configured"
    slower = f" ({times})" if report.backoff_multiplier > 1 else ""
    return f"{configured}, now {report.current_per_s:,.2f}/s{slower}"


def row_cells(row: RowView, *, deleted: bool) -> Sequence[object]:
    shown = (row.row_id, row.updated)
    body = json_text(row.body)
    return (*shown, local_time(row.deleted_at), body) if deleted else (*shown, body)


def print_row(screen: Output, row: RowDetail) -> None:
    screen.line(row.row_id, "bold")
    screen.facts(
        {
            "updated": row.updated,
            "parent": row.parent,
            "first seen": f"{local_time(row.first_at)}, pass {row.first_pass}",
            "last seen": f"pass {row.seen_pass}",
            "deleted": local_time(row.deleted_at),
            "body": json_text(row.body),
        }
    )
    for each in row.changes:
        before = f", before: {json_text(each.before)}" if each.before is not None else ""
        screen.line(f"  {local_time(each.at)}  {each.kind} by pass {each.pass_id}{before}")


def difference_json(each: DifferenceView, *, fields: bool) -> dict[str, Any]:
    shape: dict[str, Any] = {"row_id": each.row_id, "kind": each.kind, "fields": each.fields}
    return {**shape, "before": each.before, "after": each.after} if fields else shape


SIGNS = {"added": "+", "changed": "~", "deleted": "-", "restored": "*"}


def difference_lines(each: DifferenceView, *, fields: bool) -> Iterator[str]:
    """A row that differs; with `fields`, also the values of the fields that differ."""
    names = f": {', '.join(each.fields)}" if each.fields else ""
    yield f"{SIGNS[each.kind]} {each.row_id}{'' if fields else names}"
    if not fields or not each.fields:
        return
    before, after = decoded(each.before), decoded(each.after)
    for name in each.fields:
        yield f"    {name}: {_value(before, name)} → {_value(after, name)}"


def _value(body: Mapping[str, Any], name: str) -> str:
    if name not in body:
        return "(absent)"
    text = json_text(body[name])
    return text if len(text) <= LONGEST_VALUE else f"{text[: LONGEST_VALUE - 1]}…"


def decoded(value: Any) -> Any:
    """A body as an object; a store has it as JSON text."""
    return msgspec.json.decode(value) if isinstance(value, msgspec.Raw) else value


def json_text(value: Any) -> str:
    if isinstance(value, msgspec.Raw):
        return bytes(value).decode()
    return msgspec.json.encode(value).decode()
