"""Mirrors: their streams, passes, checkpoints, rows, changes and fields."""

from typing import Any

from headgate.core.mirror import ChangeKind, PassMode, Proof
from headgate.schema.jobs import JobResponse
from headgate.schema.values import Identifier, JsonObject, Moment, WireValue


class StreamView(WireValue, frozen=True, kw_only=True):
    """One kind of row of a mirror."""

    id: Identifier
    name: str
    live: int
    """Rows that are not deleted, as of the last complete pass."""
    watermark: str | None
    """The source's own stamp up to which everything is known."""
    full_pass: Identifier | None
    """The last full pass that was proven; rows that no pass has seen since are deleted."""


class CheckpointView(WireValue, frozen=True, kw_only=True):
    """The state of one stream in one pass."""

    name: str
    stream_id: Identifier
    stream: str
    after: str
    """The checkpoint of the parent stream, which must be complete first; empty: none."""
    mode: PassMode
    since: str | None
    """The stamp from which rows were listed; null: from the beginning."""
    pages: int
    added: int
    changed: int
    unchanged: int
    repeated: int
    """Rows that the pass had seen before: pages overlap, or rows moved between pages."""
    total: int | None
    """The number of rows that the source says the stream has."""
    started_at: Moment
    completed_at: Moment
    proof: Proof | None
    """How we know that no row is missing; null until the checkpoint is complete."""
    evidence: JsonObject | None

    @property
    def rows(self) -> int:
        """Distinct rows that the pass has seen."""
        return self.added + self.changed + self.unchanged

    @property
    def is_proven(self) -> bool:
        return self.proof is not None and self.proof is not Proof.UNPROVEN


class PassView(WireValue, frozen=True, kw_only=True):
    """One pass over a mirror. It is a job: pause, resume, cancel and retry it as one."""

    id: Identifier
    """The id of its job."""
    mirror_id: Identifier
    mirror: str
    job: JobResponse | None
    """Null if the job was deleted; its complete checkpoints stay."""
    checkpoints: list[CheckpointView]

    @property
    def is_proven(self) -> bool:
        """True if every stream is complete and no row of any can be missing."""
        return bool(self.checkpoints) and all(each.is_proven for each in self.checkpoints)


class MirrorView(WireValue, frozen=True, kw_only=True):
    """The durable copy of a source."""

    id: Identifier
    owner: str
    name: str
    history: bool
    """True if changes of rows store the body before."""
    created_at: Moment
    streams: list[StreamView]
    newest: PassView | None
    """The newest pass."""


class MirrorDetail(MirrorView, frozen=True, kw_only=True):
    """A mirror with the description of its source."""

    source: JsonObject
    """Without secrets."""
    digest: str
    """Changes when the same source may give other rows; the next pass is then a full one."""


class PassBegun(WireValue, frozen=True, kw_only=True):
    mirror_id: Identifier
    job_id: Identifier
    resumed: bool
    """True if an unfinished pass goes on; a mirror has one at a time."""
    notes: list[str]
    """What the user should know, such as why a full pass follows."""


class SessionView(WireValue, frozen=True, kw_only=True):
    """One run of a command or server that worked on a pass."""

    id: str
    worker_count: int
    """Processes that worked on the pass."""
    most_at_once: int
    """The most pages that were worked on at the same time."""
    started_at: Moment
    """When its first page was taken."""
    ended_at: Moment
    """When its last page ended."""
    pages: int
    rows: int
    pages_per_s: float | None
    rows_per_s: float | None


class WorkerErrors(WireValue, frozen=True, kw_only=True):
    worker: str
    errors: int


class PassReport(WireValue, frozen=True, kw_only=True):
    """How the work of a pass went: sessions, refusals and pace."""

    id: Identifier
    sessions: list[SessionView]
    errors_by_worker: list[WorkerErrors]
    """Attempts that failed; refusals because of a limit do not count."""
    requests: int
    refusals: int
    """Replies of status 429 and similar."""
    last_refusal_at: Moment
    successes_since_refusal: int
    """Requests that succeeded after the last refusal."""
    configured_per_s: float | None
    """The configured limit of the source; null: none."""
    current_per_s: float | None
    """The rate at present; null: unknown, or no limit."""
    backoff_multiplier: float
    """Configured rate ÷ current rate, at least 1."""


class RowView(WireValue, frozen=True, kw_only=True):
    number: Identifier
    """The order in which rows were first seen."""
    row_id: str
    """The id of the row at its source."""
    body: Any
    hash: str
    updated: str | None
    """The source's own stamp of the last change."""
    parent: str | None
    first_pass: Identifier
    seen_pass: Identifier
    first_at: Moment
    changed_at: Moment
    deleted_at: Moment
    """When the row was found deleted; null: it is live."""


class RowChangeView(WireValue, frozen=True, kw_only=True):
    id: Identifier
    row_id: str
    pass_id: Identifier
    kind: ChangeKind
    before: Any
    """The body before; null if the mirror has no history."""
    at: Moment


class RowDetail(RowView, frozen=True, kw_only=True):
    """A row with the log of its changes, oldest first."""

    changes: list[RowChangeView]


class FieldView(WireValue, frozen=True, kw_only=True):
    """A field that rows of a stream have had."""

    name: str
    types: list[str]
    """The JSON types that were seen."""
    first_pass: Identifier


class DifferenceView(WireValue, frozen=True, kw_only=True):
    """How a row differs between the ends of two passes."""

    number: Identifier
    row_id: str
    kind: ChangeKind
    fields: list[str]
    """Fields that differ; only of a changed row whose two bodies are known."""
    before: Any
    """The body at the end of the first pass; null: the row was absent, or it is unknown."""
    after: Any


class Forgotten(WireValue, frozen=True, kw_only=True):
    """Result of one bounded step of forgetting a mirror."""

    removed: int
    done: bool
    """False: repeat the request, there is more to remove."""
