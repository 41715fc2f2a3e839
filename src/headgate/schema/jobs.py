"""Jobs: fields, progress, failures, history, exports; and the results of changes."""

from headgate.core.status import OPEN, UNFINISHED, ItemStatus, JobState
from headgate.schema.values import Identifier, JsonObject, Moment, WireValue


class CountsView(WireValue, frozen=True, kw_only=True):
    """Number of items by status; they add up to `total`."""

    total: int = 0
    pending: int = 0
    processing: int = 0
    done: int = 0
    not_found: int = 0
    skipped: int = 0
    review: int = 0
    error: int = 0
    cancelled: int = 0

    def of(self, status: ItemStatus) -> int:
        """Number of items with that status; the name of a field is a status in lower case."""
        return int(getattr(self, status.lower()))

    @property
    def open(self) -> int:
        return sum(map(self.of, OPEN))

    @property
    def finished(self) -> int:
        return self.total - self.open


class Eta(WireValue, frozen=True, kw_only=True):
    """Time left, as a range, and its basis."""

    low_s: float
    high_s: float | None
    words: str


class WaitView(WireValue, frozen=True, kw_only=True):
    """A wait and its cause."""

    kind: str
    """One of `paused`, `reading`, `worker`, `breaker`, `provider_paused`, `refused`, `budget`,
    `rate`, `cap`, `deferred`, `retry`, `turn`, `handler` and `running`."""
    why: str
    until: Moment
    """End of the wait, if it is known."""
    gate: str
    next: str
    """What happens at `until`, such as `next try`; empty if the wait ends."""
    evidence: str
    """The observation behind the cause; empty if there is none."""


class JobResponse(WireValue, frozen=True, kw_only=True):
    id: Identifier
    name: str
    owner: str
    handler: str
    state: JobState
    priority: int
    source: str
    file: str
    client: str
    key_columns: tuple[str, ...]
    columns: tuple[str, ...]
    config: JsonObject | None
    """Null in a list of jobs; read the job to get it."""
    open: bool
    """True if the job is a queue that takes items until it is closed."""
    eager: bool
    fingerprint: str
    ingest_complete: bool
    counts: CountsView
    ingest: JsonObject
    """Progress and speed of reading the source."""
    created_at: Moment
    updated_at: Moment
    started_at: Moment
    finished_at: Moment
    last_error: str | None
    pause_reason: str | None
    resume_at: Moment

    @property
    def finished(self) -> bool:
        """True if nothing more happens unless a user asks for it."""
        return self.state not in UNFINISHED


class JobDetail(JobResponse, frozen=True, kw_only=True):
    """A job with its progress."""

    rate: float | None
    """Items finished per second: over the last 5 s, or over the last 10 items of a slow job."""
    eta: Eta | None
    limited_by: WaitView | None
    """What limits the rate; null if the job has ended or nothing is left to do."""
    heartbeat: Moment
    """Time of the last sign of life of a worker."""


class SliceDone(WireValue, frozen=True, kw_only=True):
    settled: int
    """Items that the slice finished."""
    remaining: int
    """Items that are still open."""
    more: bool
    """True if another slice would find work."""
    duration_ms: float


class Example(WireValue, frozen=True, kw_only=True):
    item_id: Identifier
    reason: str


class ErrorGroupView(WireValue, frozen=True, kw_only=True):
    """Failures whose messages differ only in numbers, names and addresses."""

    signature: str
    error_class: str
    count: int
    example: Example


class GatePoint(WireValue, frozen=True, kw_only=True):
    """The rate of a gate and the responses of its provider at one time."""

    name: str
    now_per_s: float | None
    latency_s: float | None
    refused_share: float
    in_flight: int


class ReadingView(WireValue, frozen=True, kw_only=True):
    """The progress of a job at one time."""

    at: Moment
    counts: CountsView
    gates: list[GatePoint]


class Accepted(WireValue, frozen=True, kw_only=True):
    job_id: Identifier


class Reprocessed(WireValue, frozen=True, kw_only=True):
    """The number of items that were requeued."""

    job_id: Identifier
    count: int


class FedView(WireValue, frozen=True, kw_only=True):
    """Result of adding items to a queue."""

    job_id: Identifier
    added: int
    known: int
    """Items that were in the queue already and were not added again."""
    bad: int
    problems: list[str]
    """Messages of the first invalid items."""


class BadRowView(WireValue, frozen=True, kw_only=True):
    """A row that cannot be used as it is."""

    row: int
    problem: str


class Preview(WireValue, frozen=True, kw_only=True):
    """The first rows of a file."""

    format: str
    columns: list[str]
    rows: list[JsonObject]
    problems: list[BadRowView]
    notes: list[str]
    missing: list[str]
    """Columns that the handler needs and the file does not have."""
    sheets: list[str]
    """Sheets of a workbook."""
    misread: bool
    """True if the text is not in the encoding it was read in, and the request names none."""
    encoding: str | None
    """An encoding that fits, for `read.encoding`; null if none is known."""


class Arrived(WireValue, frozen=True, kw_only=True):
    source: str
    job_id: Identifier


class Scanned(WireValue, frozen=True, kw_only=True):
    """Result of a scan of all places."""

    jobs: list[Arrived]
    known: int
    """Files that already have a job."""
    problems: list[str]
    """Places that could not be read, and why."""


class ExportView(WireValue, frozen=True, kw_only=True):
    id: Identifier
    job_id: Identifier
    format: str
    state: str
    """`QUEUED`, `RUNNING`, `DONE` or `FAILED`."""
    rows: int
    sha256: str | None
    """Hash of the canonical values. `headgate export JOB --check FILE` compares it."""
    size: int | None
    """In bytes."""
    asked_by: str
    error: str | None
    report: JsonObject | None
    """The record of a finished export: columns, statuses, rows, hash."""
    url: str | None
    """Path of the file; null until the export is done."""
    created_at: Moment
    finished_at: Moment
