"""Jobs as the API returns them."""

from typing import Any

from headgate.app.api.models import Identifier, Json, Moment, ResponseModel
from headgate.app.api.state import AppState
from headgate.core.gates.wait import Wait
from headgate.core.job import Counts, Job
from headgate.core.redact_text import redacted
from headgate.core.redact_values import source_without_secrets, values_without_secrets
from headgate.core.time_text import moment
from headgate.engine.eta import Band, band_in_words


class CountsView(ResponseModel):
    """Items by status."""

    total: int
    pending: int
    processing: int
    done: int
    not_found: int
    skipped: int
    review: int
    error: int
    cancelled: int


class Eta(ResponseModel):
    """Time left, as a range, and its basis."""

    low_s: float
    high_s: float | None
    words: str


class WaitView(ResponseModel):
    """A wait and its cause."""

    kind: str
    """One of `paused`, `reading`, `worker`, `breaker`, `provider_paused`, `refused`, `budget`,
    `rate`, `cap`, `deferred`, `retry`, `turn`, `handler` and `running`."""
    why: str
    until: Moment
    """End of the wait, if it is known."""
    gate: str
    next: str
    """What happens at `until`, such as `asked again`; empty if the wait ends."""
    evidence: str
    """The observation behind the cause; empty if there is none."""


class JobResponse(ResponseModel):
    id: Identifier
    name: str
    owner: str
    handler: str
    state: str
    priority: int
    source: str
    file: str
    client: str
    key_columns: list[str]
    columns: list[str]
    config: Json | None
    """Null in a list of jobs; read the job to get it."""
    open: bool
    eager: bool
    fingerprint: str
    ingest_complete: bool
    counts: CountsView
    ingest: Json
    created_at: Moment
    updated_at: Moment
    started_at: Moment
    finished_at: Moment
    last_error: str | None
    pause_reason: str | None
    resume_at: Moment


class JobDetail(JobResponse):
    """A job with its progress."""

    rate: float | None
    """Items finished per second: over the last 5 s, or over the last 10 items of a slow job."""
    eta: Eta | None
    limited_by: WaitView | None
    """What limits the rate; null if the job has ended or nothing is left to do."""
    heartbeat: Moment
    """Time of the last sign of life of a worker."""


class JobPage(ResponseModel):
    """Jobs, newest first."""

    items: list[JobDetail]
    next: str | None


def counts_view(counts: Counts) -> CountsView:
    names = CountsView.model_fields
    return CountsView(**{name: int(getattr(counts, name)) for name in names})


def job_values(job: Job, counts: Counts) -> dict[str, Any]:
    """Return the fields that every view of a job has. Secrets are masked."""
    same = (
        "name",
        "owner",
        "handler",
        "priority",
        "file",
        "client",
        "open",
        "eager",
        "fingerprint",
        "ingest_complete",
    )
    times = ("created_at", "updated_at", "started_at", "finished_at", "resume_at")
    return {
        "id": str(job.id),
        "state": str(job.state),
        "source": source_without_secrets(job.source),
        "key_columns": list(job.key_columns),
        "columns": list(job.columns),
        "config": values_without_secrets(job.config),
        "counts": counts_view(counts),
        "ingest": dict(job.ingest),
        "last_error": job.last_error and redacted(job.last_error),
        "pause_reason": job.pause_reason and redacted(job.pause_reason),
        **{name: getattr(job, name) for name in same},
        **{name: moment(getattr(job, name)) for name in times},
    }


def job_view(job: Job, counts: Counts) -> JobResponse:
    return JobResponse(**job_values(job, counts))


def wait_view(wait: Wait | None) -> WaitView | None:
    if wait is None:
        return None
    return WaitView(
        kind=wait.kind,
        why=wait.why,
        until=moment(wait.until_us),
        gate=wait.gate,
        next=wait.next,
        evidence=wait.evidence,
    )


def eta_view(band: Band | None) -> Eta | None:
    return band and Eta(low_s=band.low_s, high_s=band.high_s, words=band_in_words(band))


async def job_detail(app_state: AppState, job: Job) -> JobDetail:
    counts = await app_state.store.reads.counts(job.id)
    limit = await app_state.limit_cache.limit_of(job)
    return JobDetail(
        **job_values(job, counts),
        rate=app_state.monitor.rate(job.id),
        eta=eta_view(app_state.monitor.eta(job, counts.open, limit)),
        limited_by=wait_view(limit.wait),
        heartbeat=moment(app_state.monitor.heartbeat),
    )
