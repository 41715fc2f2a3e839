"""Stored values as values of `headgate.schema`: ids and times as text, secrets masked."""

from collections.abc import Sequence
from typing import Any

import msgspec

from headgate.core.call import Call, decode_calls
from headgate.core.gates.view import GateView
from headgate.core.gates.wait import Wait
from headgate.core.job import Counts, Job
from headgate.core.redact_text import redacted
from headgate.core.redact_values import source_without_secrets, values_without_secrets
from headgate.core.time_text import as_microseconds, moment
from headgate.core.trace import trace_in
from headgate.core.user import Token, User
from headgate.core.worker import WorkerRow
from headgate.engine.eta import Band, band_in_words
from headgate.engine.gate_control import GateReading
from headgate.engine.why import ending_of
from headgate.ports.reads import AttemptRow, ErrorGroup, EventRow, ItemDetail, ItemRow, ItemRows
from headgate.schema import gates, items, jobs, values
from headgate.schema.access import TokenView, UserView
from headgate.schema.events import EventView
from headgate.schema.system import WorkerView


def counts_view(counts: Counts) -> jobs.CountsView:
    return jobs.CountsView(total=counts.total, **msgspec.structs.asdict(counts))


def eta_view(band: Band | None) -> jobs.Eta | None:
    return band and jobs.Eta(low_s=band.low_s, high_s=band.high_s, words=band_in_words(band))


def job_response(job: Job, counts: Counts) -> jobs.JobResponse:
    return jobs.JobResponse(
        id=str(job.id),
        name=job.name,
        owner=job.owner,
        handler=job.handler,
        state=job.state,
        priority=job.priority,
        source=source_without_secrets(job.source),
        file=job.file,
        client=job.client,
        key_columns=job.key_columns,
        columns=job.columns,
        config=values_without_secrets(job.config),
        open=job.open,
        eager=job.eager,
        fingerprint=job.fingerprint,
        ingest_complete=job.ingest_complete,
        counts=counts_view(counts),
        ingest=job.ingest,
        created_at=moment(job.created_at),
        updated_at=moment(job.updated_at),
        started_at=moment(job.started_at),
        finished_at=moment(job.finished_at),
        last_error=job.last_error and redacted(job.last_error),
        pause_reason=job.pause_reason and redacted(job.pause_reason),
        resume_at=moment(job.resume_at),
    )


def wait_view(wait: Wait | None) -> jobs.WaitView | None:
    if wait is None:
        return None
    return jobs.WaitView(
        kind=wait.kind,
        why=wait.why,
        until=moment(wait.until_us),
        gate=wait.gate,
        next=wait.next,
        evidence=wait.evidence,
    )


def error_group_view(group: ErrorGroup) -> jobs.ErrorGroupView:
    return jobs.ErrorGroupView(
        signature=group.signature,
        error_class=group.error_class,
        count=group.count,
        example=jobs.Example(item_id=str(group.item_id), reason=redacted(group.reason)),
    )


def event_view(row: EventRow) -> EventView:
    return EventView(
        id=str(row.id),
        at=moment(row.at),
        job_id=None if row.job_id is None else str(row.job_id),
        item_id=None if row.item_id is None else str(row.item_id),
        kind=row.kind,
        message=redacted(row.message),
    )


def page_view(page: ItemRows) -> values.Page[items.ItemView]:
    return values.Page(items=[item_view(row) for row in page.items], next=page.next)


def item_view(row: ItemRow, waiting: jobs.WaitView | None = None) -> items.ItemView:
    return items.ItemView(
        id=str(row.id),
        job_id=str(row.job_id),
        owner=row.owner,
        handler=row.handler,
        gate=row.gate,
        key=row.key,
        line=row.line,
        status=row.status,
        summary=row.summary,
        result=json_value(row.result),
        attempts=row.attempts,
        crashes=row.crashes,
        error_class=row.error_class,
        last_error=row.last_error and redacted(row.last_error),
        due_at=moment(row.due_at),
        locked_by=row.locked_by,
        updated_at=moment(row.updated_at),
        waiting=waiting,
    )


def item_whole(
    detail: ItemDetail,
    attempts: Sequence[AttemptRow],
    decision: str | None = None,
    waiting: jobs.WaitView | None = None,
) -> items.ItemWhole:
    row = msgspec.structs.asdict(item_view(detail.row, waiting))
    return items.ItemWhole(
        **row | {"result": json_value(detail.result)},
        epoch=detail.epoch,
        strategy=detail.strategy,
        failures=detail.failures,
        suspect=detail.suspect,
        input=json_value(detail.input),
        normalized=json_value(detail.normalized),
        leased_at=moment(detail.leased_at),
        deadline_at=moment(detail.deadline_at),
        decision=decision,
        history=[attempt_view(attempt) for attempt in attempts],
    )


def why_view(row: ItemRow, wait: Wait | None) -> items.Why:
    ended, todo = ending_of(row) or ("", "")
    return items.Why(
        item_id=str(row.id), status=row.status, waiting=wait_view(wait), ended=ended, todo=todo
    )


def attempt_view(attempt: AttemptRow) -> items.AttemptView:
    trace = trace_in(attempt.trace)
    return items.AttemptView(
        number=attempt.number,
        epoch=attempt.epoch,
        worker=attempt.worker,
        strategy=attempt.strategy,
        outcome=attempt.outcome,
        error_class=attempt.error_class,
        reason=attempt.reason and redacted(attempt.reason),
        leased_at=moment(attempt.leased_at),
        ended_at=moment(attempt.ended_at),
        waited_ms=attempt.waited_us / 1_000,
        ran_ms=attempt.ran_us / 1_000,
        failed_at=trace.where if trace else None,
        traceback=trace.text if trace else None,
        calls=[call_view(call) for call in decode_calls(attempt.calls)],
    )


def call_view(call: Call) -> items.CallView:
    return items.CallView(
        at=moment(call.at_us),
        verb=call.verb,
        kind=call.kind,
        provider=call.provider,
        host=call.host,
        status=call.status,
        bytes=call.bytes,
        ran_ms=call.ran_ms,
        waited_ms=call.waited_ms,
        cause=call.cause,
        url=call.url,
    )


def json_value(text: str | None) -> Any:
    """Stored JSON, which is passed on as it is. Text that is not JSON becomes a string."""
    if text is None:
        return None
    try:
        msgspec.json.decode(text)
    except msgspec.DecodeError:
        return text
    return msgspec.Raw(text.encode())


def worker_view(row: WorkerRow) -> WorkerView:
    return WorkerView(
        id=row.id,
        session_id=row.session_id,
        host=row.host,
        boot_id=row.boot_id,
        pid=row.pid,
        started_ticks=row.started_ticks,
        ttl_s=row.ttl_s,
        version=row.version,
        beat=row.beat,
        running=row.leases,
        claim_size=row.claim_size,
        draining=row.draining,
        registered_at=moment(row.registered_at),
        beat_at=moment(row.beat_at),
        stopped_at=moment(row.stopped_at),
    )


def user_view(user: User) -> UserView:
    return UserView(
        name=user.name,
        role=user.role,
        has_password=user.has_password,
        created_at=moment(user.created_at),
        disabled_at=moment(user.disabled_at),
    )


def token_view(token: Token) -> TokenView:
    return TokenView(
        id=token.id,
        user=token.user,
        kind=token.kind,
        role=token.role,
        label=token.label,
        created_at=moment(token.created_at),
        expires_at=moment(token.expires_at),
        last_used_at=moment(token.last_used_at),
    )


def gate_list(reading: GateReading) -> gates.GateList:
    return gates.GateList(
        items=[gate_of(view) for view in reading.views], now=_moment_s(reading.now_s)
    )


def gate_of(view: GateView) -> gates.Gate:
    return gates.Gate(
        key=view.key,
        kind=view.kind,
        name=view.name,
        configured=view.configured,
        configured_per_s=view.configured_per_s,
        configured_in_flight=view.configured_in_flight,
        learned_per_s=view.learned_per_s,
        learned_in_flight=view.learned_in_flight,
        told=view.told,
        now_per_s=view.now_per_s,
        asked=view.asked,
        stage=view.stage,
        cause=view.cause,
        why=view.why,
        closed=view.closed,
        closed_until=_moment_s(view.closed_until),
        waiting=view.waiting,
        in_flight=view.in_flight,
        replies=view.replies,
        refusals=view.refusals,
        refused_share=view.refused_share,
        latency_s=view.latency_s,
        broken={host: _moment_s(at_s) for host, at_s in view.broken.items()},
        down=_down(view),
        budgets=_budgets(view),
        members=_members(view),
        override=_override(view),
        evidence=[
            gates.EvidenceView(
                at=_moment_s(line.at),
                seen=line.seen,
                decided=line.decided,
                before=line.before,
                after=line.after,
            )
            for line in view.evidence
        ],
    )


def _override(view: GateView) -> gates.OverrideView | None:
    if view.override is None:
        return None
    rate, paused, until_s = view.override.rate, view.override.paused, view.override.until
    return gates.OverrideView(rate=rate, paused=paused, until=_moment_s(until_s))


def _down(view: GateView) -> dict[str, gates.HostDownView]:
    return {
        host: gates.HostDownView(
            until=_moment_s(each.until_s), reason=each.reason, since=_moment_s(each.since_s)
        )
        for host, each in view.down.items()
    }


def _budgets(view: GateView) -> list[gates.BudgetView]:
    return [
        gates.BudgetView(
            name=use.name,
            count=use.count,
            seconds=use.seconds,
            hard=use.hard,
            used=use.used,
            turns_at=_moment_s(use.turns_at),
        )
        for use in view.budgets
    ]


def _members(view: GateView) -> list[gates.MemberView]:
    return [
        gates.MemberView(
            worker=worker,
            seen_at=_moment_s(member.seen),
            in_flight=member.in_flight,
            waiting=member.waiting,
            could_use_per_s=None if member.need < 0 else member.need,
        )
        for worker, member in view.members.items()
    ]


def _moment_s(seconds: float | None) -> str | None:
    """A time of the ledger's clock."""
    return None if seconds is None else moment(as_microseconds(seconds))
