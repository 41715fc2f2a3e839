"""A job as clients see it."""

from typing import Any

from headgate.app.api.office import Office
from headgate.app.api.wire import Identifier, Json, Moment, Wire, moment
from headgate.app.masking import shown_config, shown_source
from headgate.core.job import Counts, Job
from headgate.core.status import UNFINISHED
from headgate.engine.explain import band_in_words
from headgate.engine.why import Wait


class CountsView(Wire):
    """How many items stand where."""

    total: int
    pending: int
    processing: int
    done: int
    not_found: int
    skipped: int
    review: int
    error: int
    cancelled: int


class Eta(Wire):
    """How much longer, as a band, and what decides it."""

    low_s: float
    high_s: float | None
    words: str


class WaitView(Wire):
    """A wait and its cause."""

    kind: str
    why: str
    until: Moment
    gate: str


class JobView(Wire):
    """A job."""

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
    config: Json
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


class JobDetail(JobView):
    """A job, and how its work goes."""

    rate: float | None
    """Items finished in a second, over the last minute."""
    eta: Eta | None
    limited_by: WaitView | None
    """What decides its speed."""
    heartbeat: Moment
    """When a worker last showed that it lives."""


class JobPage(Wire):
    """Some jobs, newest first."""

    items: list[JobDetail]
    next: str | None


def counts_view(counts: Counts) -> CountsView:
    """The counters of a job."""
    names = CountsView.model_fields
    return CountsView(**{name: int(getattr(counts, name)) for name in names})


def job_values(job: Job, counts: Counts) -> dict[str, Any]:
    """What every view of a job has; secrets are masked."""
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
        "last_error",
    )
    times = ("created_at", "updated_at", "started_at", "finished_at", "resume_at")
    return {
        "id": str(job.id),
        "state": str(job.state),
        "source": shown_source(job.source),
        "key_columns": list(job.key_columns),
        "columns": list(job.columns),
        "config": shown_config(job.config),
        "counts": counts_view(counts),
        "ingest": dict(job.ingest),
        "pause_reason": job.pause_reason,
        **{name: getattr(job, name) for name in same},
        **{name: moment(getattr(job, name)) for name in times},
    }


def job_view(job: Job, counts: Counts) -> JobView:
    """A job for a list."""
    return JobView(**job_values(job, counts))


def wait_view(wait: Wait | None) -> WaitView | None:
    """A wait, if there is one."""
    if wait is None:
        return None
    return WaitView(kind=wait.kind, why=wait.why, until=moment(wait.until_us), gate=wait.gate)


async def job_detail(office: Office, job: Job) -> JobDetail:
    """A job with everything that is known of its progress."""
    counts = await office.store.reads.counts(job.id)
    unfinished = job.state in UNFINISHED and counts.open > 0
    band = office.pulse.eta(job.id, counts.open) if unfinished else None
    wait = await office.gauges.limit_of(job.id) if unfinished else None
    return JobDetail(
        **job_values(job, counts),
        rate=office.pulse.rate(job.id),
        eta=band and Eta(low_s=band.low_s, high_s=band.high_s, words=band_in_words(band)),
        limited_by=wait_view(wait),
        heartbeat=moment(office.pulse.heartbeat),
    )
